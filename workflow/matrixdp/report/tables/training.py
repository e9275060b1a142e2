"""Adult, Cora and IMDB: what every scheme of the IMGM paper gives, and how private it really is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.experiments import schemes
from matrixdp.experiments.readings import DEFAULT
from matrixdp.experiments.schemes.base import Scheme
from matrixdp.report import markup, statistics, summary
from matrixdp.report.markup import interval, short
from matrixdp.report.tables import comparison


@dataclass(frozen=True)
class Experiment:
    """An experiment for a reader.

    Attributes:
        name: of its data set.
        release: what is private in it, in two or three words.
        kind: of its schemes (see :func:`matrixdp.experiments.schemes.registry`).
        protected: what neighbours differ by, and what counts as public.
    """

    name: str
    release: str
    kind: str
    protected: str

    @property
    def title(self) -> str:
        """Its name and what it releases."""
        return f"{self.name}, {self.release}"


EXPERIMENTS = {
    "adult": Experiment(
        "Adult",
        "private gradients",
        "gradients",
        "one record, added or removed; the scaling constants count as public",
    ),
    "cora": Experiment(
        "Cora",
        "private gradients (for labels)",
        "gradients",
        "one training label, with its loss added or removed; the graph and the features are public",
    ),
    "imdb": Experiment(
        "IMDB",
        "private features",
        "features",
        "the features of one record, replaced; the feature extractor and the labels count as "
        "public",
    ),
}

#: Titles of reference rows, and of rows of a scheme that is no longer there.
REFERENCES, FURTHER = "", "Further schemes"

#: Other readings of what the paper leaves open, in words.
READINGS = {
    "classifier=bias": "a classifier with a bias; test features divided like those of the training",
    "classifier=bias_undivided": "a classifier with a bias; test features not divided",
}

_OTHER_READINGS = (
    "The paper does not say whether its linear classifier has a bias, nor whether test features "
    "are scaled as the noisy ones are. The first rows, and all figures, are of a classifier "
    "without a bias, for which the scale does not matter; the others follow, with the same noise."
)

#: Columns of the CSV, in order.
COLUMNS = (
    *("experiment", "scheme", "label", "group", "calibration", "remark", "status"),
    *("epsilon", "delta", "noise_std", "epsilon_actual", "verdict"),
    *("mean", "ci95", "n_trials", "data_status", "note"),
)

PRIVATE, NOT_PRIVATE = "private", comparison.NOT_PRIVATE
#: Relative error that an epsilon may have.
ROUNDING = 1e-6


def registry(experiment: str) -> dict[str, Scheme]:
    """Return the schemes that an experiment can run, by name."""
    return schemes.registry(EXPERIMENTS[checks.choice(EXPERIMENTS, experiment=experiment)].kind)


def labels(experiment: str) -> dict[str, str]:
    """Return the names of an experiment's schemes and of reference rows for a reader."""
    return comparison.LABELS | {name: one.label for name, one in registry(experiment).items()}


def grouped(experiment: str, names: Iterable[str]) -> dict[str, list[str]]:
    """Return schemes by the title under which they stand, in the order of tables and panels.

    Reference rows come first, under no title; names of no known scheme come last.
    """
    names = {*names}
    titles = dict.fromkeys(comparison.LABELS, REFERENCES)
    titles |= {name: scheme.group for name, scheme in registry(experiment).items()}
    titles |= dict.fromkeys(sorted(names - titles.keys()), FURTHER)
    found: dict[str, list[str]] = {}
    for name, title in titles.items():
        if name in names:
            found.setdefault(title, []).append(name)
    return found


def table(results: pd.DataFrame, reading: str = DEFAULT) -> pd.DataFrame:
    """Return one row per scheme and nominal epsilon (``COLUMNS``), in the order of :func:`grouped`.

    ``epsilon_actual`` is the epsilon that the noise really gives at ``delta``. ``verdict`` is ``not
    private`` where that exceeds the nominal one; elsewhere the scheme's ``status``, or ``private``
    where a wrong calibration happens to add enough noise.

    Args:
        results: the summary of one experiment.
        reading: the reading to show.
    """
    results = results[results["reading"] == reading]
    (experiment,) = results["experiment"].unique()
    known = registry(experiment)
    names = labels(experiment)
    groups = grouped(experiment, results["mechanism"])
    title_of = {name: title for title, members in groups.items() for name in members}
    order = {name: place for place, name in enumerate(title_of)}
    rows = results.rename(columns={"mechanism": "scheme"}).assign(
        label=lambda rows: [names.get(name, name) for name in rows["scheme"]],
        group=lambda rows: rows["scheme"].map(title_of),
        calibration=lambda rows: [_told(known, name, "calibration") for name in rows["scheme"]],
        remark=lambda rows: [_told(known, name, "note") for name in rows["scheme"]],
        status=lambda rows: [_told(known, name, "status") for name in rows["scheme"]],
        _place=lambda rows: rows["scheme"].map(order),
        _epsilon=lambda rows: pd.to_numeric(rows["epsilon"], errors="coerce"),
    )
    rows["verdict"] = [_verdict(row) for row in rows.to_dict("records")]
    rows = rows.sort_values(["_place", "_epsilon"], na_position="first", ignore_index=True)
    return rows[[*COLUMNS]]


def write(
    experiment: str, *, summary_file: str | os.PathLike, out: str | os.PathLike, epsilon: str = "1"
) -> None:
    """Write ``<out>/imgm_<experiment>`` and ``imgm_<experiment>_grid``, each ``.csv .md .tex``.

    The first has every number in its CSV, and those at one epsilon in its other forms; the second
    the accuracies over all epsilons, as a person reads them.

    Args:
        experiment: adult, cora or imdb.
        summary_file: its summary.
        out: folder to write to.
        epsilon: canonical token of the epsilon to show; the largest one stands in for one that
            was not run.

    Raises:
        InputError: there is no such experiment, or the summary is damaged or of another one.
    """
    about = EXPERIMENTS[checks.choice(EXPERIMENTS, experiment=experiment)]
    results = summary.read(summary_file)
    if others := {*results["experiment"]} - {experiment}:
        raise InputError(
            f"{summary_file} is of {' and '.join(sorted(others))}; give the summary of {experiment}"
        )
    found = table(results)
    epsilons = sorted({*found["epsilon"]} - {""}, key=float)
    if epsilon not in epsilons:
        epsilon = epsilons[-1] if epsilons else ""
    warning = markup.SIMULATED if found["data_status"].eq(summary.SIMULATED).any() else ""
    at = markup.Grid(
        name=about.title,
        caption=f"{_setting(found, about)} Rows are at nominal epsilon = {epsilon}; true epsilon "
        "is what the noise gives at the same delta. Noise: standard deviation of the noise on one "
        "entry (root mean square over entries). Not private: true epsilon exceeds the nominal one "
        "(a wrong calibration stays private where it adds enough noise); distorted: noise that is "
        "not what the paper defines. "
        f"{same_noise(found)}".rstrip(),
        warning=warning,
        header=[
            *("Scheme", "How the noise is calibrated", "Noise (std)", "True epsilon"),
            *("Accuracy (%)", "Verdict"),
        ],
        groups=_by_title(found[found["epsilon"].isin(["", epsilon])], _cells),
        columns=r"p{0.22\linewidth}p{0.36\linewidth}rrrl",
    )
    shown = ["label", *epsilons]
    readings = [DEFAULT, *sorted({*results["reading"]} - {DEFAULT})]
    lines = pd.DataFrame(
        [
            {"reading": reading, **_over_epsilons(rows, epsilons)}
            for reading in readings
            for _, rows in table(results, reading).groupby("scheme", sort=False)
        ]
    )
    # Groups of other readings say which, under the titles of the default one.
    titles = [
        ". ".join(filter(None, [READINGS.get(reading, "").capitalize(), title]))
        for reading, title in zip(lines["reading"], lines["group"], strict=True)
    ]
    grid = markup.Grid(
        name=f"{about.title}: over epsilon",
        caption=f"{_setting(found, about)} Accuracy in percent by nominal epsilon, and in "
        "brackets the true epsilon." + (f" {_OTHER_READINGS}" if len(readings) > 1 else ""),
        warning=warning,
        header=["Scheme", *epsilons],
        groups=_by_title(lines.assign(group=titles), lambda row: [row[n] for n in shown]),
        columns=r"p{0.22\linewidth}" + "r" * len(epsilons),
    )
    markup.write(Path(out, f"imgm_{experiment}"), found, at)
    markup.write(
        Path(out, f"imgm_{experiment}_grid"), lines.rename(columns={"label": "scheme"}), grid
    )


def same_noise(found: pd.DataFrame) -> str:
    """Return a sentence on schemes that add the same noise at every epsilon, or nothing."""
    noise = found[found["noise_std"].notna()].assign(noise=found["noise_std"].map("{:.9g}".format))
    by_scheme = noise.groupby("label", sort=False)[["epsilon", "noise"]]
    alike: dict[tuple[str, ...], list[str]] = {}
    for label, rows in by_scheme:
        alike.setdefault(tuple(rows.agg(" ".join, axis=1)), []).append(str(label))
    said = [" and ".join(labels) for labels in alike.values() if len(labels) > 1]
    return f"One and the same noise: {'; '.join(said)}." if said else ""


def _told(known: Mapping[str, Scheme], name: str, what: str) -> str:
    """Return what a scheme says of itself; nothing of a reference row."""
    return getattr(known[name], what) if name in known else ""


def _verdict(row: Mapping[str, Any]) -> str:
    if row["scheme"] in comparison.LABELS:
        return ""
    if np.isnan(row["mean"]):
        return str(row["note"]).partition(":")[0] or comparison.NOT_RUN
    if row["epsilon_actual"] > float(row["epsilon"]) * (1 + ROUNDING):
        return NOT_PRIVATE
    return PRIVATE if row["status"] == NOT_PRIVATE else str(row["status"])


def _setting(found: pd.DataFrame, about: Experiment) -> str:
    trials = found["n_trials"][found["n_trials"] > 0]
    counts = " to ".join(map(str, sorted({trials.min(), trials.max()}))) if len(trials) else "no"
    law = " (Student's t)" if trials.min() < statistics.LARGE_SAMPLE else ""
    return (
        f"Test accuracy, mean over {counts} trials ± half of the 95 % confidence interval"
        f"{law}; delta = {short(found['delta'].max())}. Protected: "
        f"{about.protected}. Data: {found['data_status'].iloc[0]}."
    )


def _by_title(
    rows: pd.DataFrame, cells: Callable[[Mapping[str, Any]], list[str]]
) -> list[tuple[str, list[list[str]]]]:
    return [
        (str(title), [cells(row) for row in members.to_dict("records")])
        for title, members in rows.groupby("group", sort=False)
    ]


def _cells(row: Mapping[str, Any]) -> list[str]:
    numbers = [short(row[name]) for name in ("noise_std", "epsilon_actual")]
    accuracy = interval(100 * row["mean"], 100 * row["ci95"])
    told = ": ".join(filter(None, [row["calibration"], row["remark"]]))
    return [row["label"], told, *numbers, accuracy, row["verdict"]]


def _over_epsilons(rows: pd.DataFrame, epsilons: Sequence[str]) -> dict[str, str]:
    """Return one line of the grid; a reference row has the same accuracy at every epsilon."""
    cells: dict[str, str] = {}
    for row in rows.to_dict("records"):
        accuracy = interval(100 * row["mean"], 100 * row["ci95"])
        delivered = short(row["epsilon_actual"])
        shown = accuracy + (f" [{delivered}]" if delivered else "") if accuracy else row["verdict"]
        cells |= dict.fromkeys([row["epsilon"]] if row["epsilon"] else epsilons, shown)
    first = rows.iloc[0]
    empty = dict.fromkeys(epsilons, "")
    return {"group": first["group"], "label": first["label"], **empty, **cells}
