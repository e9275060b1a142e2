"""Summaries with known means, as small as figures allow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from trialrows import trials

from matrixdp.report import comparisons, summary

EPSILONS = ("0.1", "1", "10")
#: Of all experiments, with those that need networks.
KINDS = {
    **dict.fromkeys(("regression", "first_pc", "covariance", "section10_2"), "releases"),
    **dict.fromkeys(("adult", "cora", "imdb"), "training"),
}
METRICS = {
    "regression": "rmse",
    "section10_2": "rmse",
    "first_pc": "delta_rho",
    "covariance": "rss",
}


def row(mechanism: str, mean: float, experiment: str = "regression", **fields: object) -> dict:
    """Return one summary row, at epsilon 1 unless told otherwise."""
    values = dict.fromkeys(summary.COLUMNS, "") | {
        "experiment": experiment,
        "dataset": "liver",
        "data_status": "original",
        "mechanism": mechanism,
        "reading": "default",
        "epsilon": "1",
        "delta": 0.004,
        "epsilon_actual": 1.0,
        "mu_actual": float("nan"),
        "noise_std": float("nan"),
        "metric": METRICS[experiment],
        "mean": mean,
        "sd": 0.1 * abs(mean),
        "ci95": 0.02 * abs(mean),
        "n_trials": 100,
        "select_mean": float("nan"),
        "chosen": True,
    }
    return values | fields


def refused(mechanism: str, epsilon: str, experiment: str = "regression") -> dict:
    """Return the row of a budget without a guarantee."""
    nothing = dict.fromkeys(("mean", "sd", "ci95", "epsilon_actual"), float("nan"))
    note = "no guarantee: the mechanism is not private here"
    return row(mechanism, 0, experiment, epsilon=epsilon, note=note, n_trials=0) | nothing


def curve(mechanism: str, experiment: str, scale: float = 1.0, **fields: object) -> list[dict]:
    """Return rows over the epsilons whose mean is scale / epsilon, mu a tenth of epsilon."""
    return [
        row(
            *(mechanism, scale / float(epsilon), experiment),
            **{
                "epsilon": epsilon,
                "mu_actual": float(epsilon) / 10,
                "mu_exact": "True",
                "noise_std": 5 * scale / float(epsilon),
                **fields,
            },
        )
        for epsilon in EPSILONS
    ]


def experiment(name: str) -> list[dict]:
    """Return a summary with levels, families, directions, tau, rows, and a missing guarantee."""
    mvg, classic = (
        ("mvg_thm2", "analyze_gauss")
        if name == "first_pc"
        else ("mvg_binary",) * 1 + ("gaussian_2006",)
    )
    levels = ["nonprivate", "random", *(["zero"] if METRICS[name] == "rmse" else [])]
    rows = [
        row(level, mean, name, epsilon="")
        for level, mean in zip(levels, (0.05, 9.0, 6.0), strict=False)
    ]
    for mechanism, base in ((mvg, 5.0), ("directional_gaussian", 0.3)):
        for direction, factor in (("a", 1.0), ("b", 2.0)):
            for tau, more, chosen in (("0.55", 1.0, True), ("0.75", 1.5, False)):
                rows += curve(
                    *(mechanism, name, base * factor * more),
                    direction=direction,
                    variant=f"tau={tau}",
                    chosen=chosen,
                )
    for mechanism in ("jl_2012", "jl_exact"):
        for number, chosen in (("2", False), ("8", True)):
            for one in curve(mechanism, name, 4.0 / int(number), variant=f"rows={number}"):
                rows.append(
                    one | {"chosen": chosen, "mu_actual": float("nan"), "noise_std": float("nan")}
                )
    rows += [*curve(classic, name, 0.7)[:2], refused(classic, "10", name)]
    rows += curve("laplace", name, 0.5, mu_actual=float("nan"), mu_exact="")
    rows += curve("analytic_gaussian", name, 0.4)
    rows += [row("ppca", 0, name, epsilon="", note="skipped: it answers other queries")]
    return rows


def pairs(folder: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of a summary, from trials that vary by 1 % about its means."""
    ran = table[table["n_trials"].gt(0)]
    parts = [
        trials(
            *(one["mechanism"], one["mean"] * (1 + 0.01 * np.random.default_rng(i).normal(size=4))),
            **{name: one[name] for name in ("experiment", *comparisons.ROW[1:], "metric")},
        )
        for i, one in enumerate(ran.to_dict("records"))
    ]
    if not parts:
        return pd.DataFrame(columns=comparisons.COLUMNS)
    file = folder / "trials.csv"
    pd.concat(parts).to_csv(file, index=False)
    return comparisons.table([file], table)


def table2() -> pd.DataFrame:
    """Return what figures read of Table 2."""
    return pd.DataFrame(
        {
            "item": ["directions", "bounds"],
            "regression": ["(a) sgpt, drinks; (b) sgpt", "[-1, 1]"],
            "first_pc": ["(a) RSS_anchor1; (b) RSS_anchor2", "[-1, 1]"],
            "covariance": ["(a) LB, ASTV; (b) AC, FM, UC, DL, DS; (iid) none, i.i.d. noise", "21"],
        }
    )


def write(folder: Path, status: str = "original", **rows: list[dict]) -> Path:
    """Write the results of all experiments, or with the given rows instead, below ``folder``."""
    for name in {*METRICS, *rows}:
        table = pd.DataFrame(
            rows[name] if name in rows else experiment(name), columns=[*summary.COLUMNS]
        )
        for kind in ("summary", "comparisons"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        table.assign(data_status=status).to_csv(folder / "summary" / f"{name}.csv", index=False)
        pairs(folder, table).to_csv(folder / "comparisons" / f"{name}.csv", index=False)
    settings = {"experiments": {name: {} for name in (*METRICS, *rows)}, "training": {}}
    (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
    (folder / "tables").mkdir(exist_ok=True)
    table2().to_csv(folder / "tables" / "table2.csv", index=False)
    return folder
