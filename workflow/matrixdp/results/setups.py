"""Table 2 of the MVG paper: the three set-ups as it prints them, and as they were run here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from matrixdp import files
from matrixdp.checks import InputError
from matrixdp.results import markup, published, summary

#: Row -> its name for a reader: first the paper's rows, then what it leaves open or to the text.
ROWS = {
    "task": "Task",
    "dataset": "Dataset",
    "samples": "Private samples",
    "features": "Features",
    "query": "Query f(X)",
    "query_size": "Query size",
    "metric": "Evaluation metric",
    "algorithm": "MVG algorithm",
    "directions": "Directions",
    "status": "Data status",
    "scaling": "Scaling",
    "bounds": "Public bounds",
    "adjacency": "Neighbours",
    "epsilon": "epsilon",
    "delta": "delta",
    "trials": "Trials",
    "licence": "Licence",
}

EXPERIMENTS = {"regression": "Exp. I", "first_pc": "Exp. II", "covariance": "Exp. III"}

#: What each experiment does here, whatever its settings.
TASKS = {
    "regression": {
        "task": "linear kernel ridge regression, ridge 1",
        "query": "X",
        "metric": "RMSE on clean test records",
        "algorithm": "1",
    },
    "first_pc": {
        "task": "top eigenvector of the symmetrised release",
        "query": "X X^T / n",
        "metric": "Delta rho (Eq. 28)",
        "algorithm": "2, with Theorem 2 and with Theorem 3",
    },
    "covariance": {
        "task": "eigenvectors of the covariance of the released data",
        "query": "X",
        "metric": "RSS (Eq. 29), all components",
        "algorithm": "1",
    },
}

NOT_RUN = "not run"
_NEEDED = (
    *("name", "title", "status", "features", "rows_used", "scaling", "lower", "upper"),
    "licence",
)
_CAPTION = (
    "The three set-ups: as the paper prints them, and as they were run. Where the paper is silent "
    "the choice is ours. Scaling constants and bounds are treated as public, as in the paper."
)


def write(
    *,
    config: Mapping[str, Any],
    provenance_files: Iterable[str | os.PathLike],
    out: str | os.PathLike,
    published_folder: str | os.PathLike = published.FOLDER,
) -> None:
    """Write ``<out>/table2.csv``, ``.md`` and ``.tex``.

    Args:
        config: config.yaml with its defaults filled in.
        provenance_files: the provenance.json of every data set that the experiments use.
        out: folder to write to.
        published_folder: what the paper prints.

    Raises:
        InputError: a provenance file is missing or damaged.
    """
    provenance = {facts["name"]: facts for facts in map(_provenance, provenance_files)}
    table = setups(config, provenance, published.read("table2", published_folder))
    simulated = any(facts["status"] == summary.SIMULATED for facts in provenance.values())
    grid = markup.Grid(
        name="Table 2",
        caption=_CAPTION,
        warning=markup.SIMULATED if simulated else "",
        header=[
            "",
            *(f"{name}, {who}" for name in EXPERIMENTS.values() for who in ("paper", "ours")),
        ],
        groups=[("", [[ROWS[row[0]], *row[1:]] for row in table.to_numpy().tolist()])],
        columns=r"p{0.1\linewidth}" + r"p{0.13\linewidth}" * 6,
    )
    stem = Path(out) / "table2"
    files.write_text(f"{stem}.csv", table.to_csv(index=False, lineterminator="\n"))
    files.write_text(f"{stem}.md", markup.markdown(grid))
    files.write_text(f"{stem}.tex", markup.latex(grid))


def setups(
    config: Mapping[str, Any], provenance: Mapping[str, Mapping[str, Any]], printed: pd.DataFrame
) -> pd.DataFrame:
    """Return ``item`` and, per experiment, ``<experiment>_published`` and ``<experiment>``.

    Args:
        config: config.yaml with its defaults filled in.
        provenance: what provenance.json says, by the name of the data set.
        printed: ``published/table2.csv``.
    """
    table = pd.DataFrame({"item": [*ROWS]})
    cells = printed.pivot(index="item", columns="experiment", values="value")
    for experiment in EXPERIMENTS:
        theirs = cells[experiment].to_dict()
        table[f"{experiment}_published"] = [theirs.get(item, "") for item in ROWS]
        if experiment in config["experiments"]:
            ours = _as_run(experiment, config, provenance)
        else:
            ours = dict.fromkeys(ROWS, NOT_RUN)
        table[experiment] = [ours[item] for item in ROWS]
    return table


def _as_run(
    experiment: str, config: Mapping[str, Any], provenance: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    settings = config["experiments"][experiment]
    if settings["dataset"] not in provenance:
        raise InputError(
            f"there is no provenance of the data set {settings['dataset']}; run `snakemake data`"
        )
    facts = provenance[settings["dataset"]]
    features, records = facts["features"], facts["rows_used"]
    private = settings.get("train", records)
    size = len(features) if TASKS[experiment]["query"] != "X" else private
    delta = config["delta"]
    target = f", of {settings['target']}" if "target" in settings else ""
    return {
        **TASKS[experiment],
        "task": TASKS[experiment]["task"] + target,
        "dataset": facts["title"],
        "samples": f"{private}" + (f", test {records - private}" if private < records else ""),
        "features": f"{len(features)}: {', '.join(features)}",
        "query_size": f"{len(features)} x {size}",
        "directions": _directions(settings),
        "status": facts["status"],
        "scaling": facts["scaling"]["description"],
        "bounds": _bounds(facts["lower"], facts["upper"]),
        "adjacency": config["adjacency"].replace("_", " or ") + " one record",
        "epsilon": ", ".join(config["epsilons"]),
        "delta": f"1/n = 1/{private}" if delta == "1/n" else delta,
        "trials": str(config["trials"]),
        "licence": facts["licence"],
    }


def _directions(settings: Mapping[str, Any]) -> str:
    named = [
        f"({name}) {', '.join(features) or 'none, i.i.d. noise'}"
        for name, features in settings["directions"].items()
    ]
    private = ["private SVD"] if "mvg_maxpnr" in settings["mechanisms"] else []
    return "; ".join([*named, *private])


def _bounds(lower: Iterable[float], upper: Iterable[float]) -> str:
    ends = {f"[{low:g}, {high:g}]" for low, high in zip(lower, upper, strict=True)}
    return ends.pop() if len(ends) == 1 else f"{len(ends)} different intervals, one per feature"


def _provenance(path: str | os.PathLike) -> dict[str, Any]:
    try:
        facts = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error}); run `snakemake data`") from error
    for key in _NEEDED:
        if key not in facts:
            raise InputError(f"{path} lacks {key!r}; delete it and run `snakemake data`")
    return facts
