"""The tables of the privacy audit, from what its jobs have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import markup
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Grid, short, span
from matrixdp.report.tables.base import Table

#: How verdicts of the audit begin that leave a mechanism in doubt.
DOUBTFUL = ("violated", "undecided")


def data(tables: Tables) -> pd.DataFrame:
    """Return the rows of all experiments."""
    full = [table for table in tables.values() if len(table)]
    return pd.concat(full or [*tables.values()], ignore_index=True)


def caption(table: pd.DataFrame) -> str:
    """Return what was judged, and how."""
    text = catalogue.caption(
        "audit", epsilon=span(table["epsilon"]), releases=len(table), failed=_failed(table)
    )
    weak = int(table["note"].astype(str).str.contains("too few for the black box").sum())
    return f"{text} {catalogue.caption('audit_weak', releases=weak)}" if weak else text


def audit_grid(table: pd.DataFrame) -> Grid:
    """Return the audit with one row per mechanism and experiment; the CSV has all variants."""

    def cells(rows: pd.DataFrame) -> dict[str, str]:
        return {
            "Mechanism": catalogue.label(rows["mechanism"].iloc[0]),
            "Releases": str(len(rows)),
            "Exact epsilon": _exact(rows),
            "Certified": span(rows["epsilon_certified"]),
            "Could certify": span(rows["epsilon_largest"]),
            "Runs": span(rows["runs"], "{:.1e}".format),
            "Slack": span(rows["kappa"], _factor),
            "Decided by": _only(rows["tool"]),
            "Verdict": _words(rows["verdict"]),
        }

    failed = _failed(table)
    grid = markup.grid(table, "experiment", cells, "lrlllllll", title=_title, each=["mechanism"])
    return replace(grid, warning=f"{failed} releases failed the audit." if failed else "")


def canary_caption(table: pd.DataFrame) -> str:
    """Return what canaries are, and how many were tried."""
    return catalogue.caption("canaries", tried=len(table), failed=_missed(table))


def canary_grid(table: pd.DataFrame) -> Grid:
    """Return the canaries by the tool that must catch them."""

    def cells(row: Mapping[str, Any]) -> dict[str, str]:
        return {
            "Canary": row["canary"],
            "Mistake": row["mistake"],
            "Caught": _yes(row["caught"]),
            "What the tool saw": row["evidence"],
            "Control passes": _yes(row["control"]),
        }

    columns = r"lp{0.25\linewidth}lp{0.3\linewidth}l"
    grid = markup.grid(table, "tool", cells, columns, title="Must be caught by: {}".format)
    missed = _missed(table)
    warning = f"{missed} canaries were missed or their controls failed." if missed else ""
    return replace(grid, warning=warning)


def sensitivity_grid(table: pd.DataFrame) -> Grid:
    """Return declared sensitivities beside the largest that an attack found."""

    def cells(row: Mapping[str, Any]) -> dict[str, str]:
        numbers = {
            name.capitalize(): short(row[name], 4) for name in ("declared", "found", "replayed")
        }
        words = {"Query": row["query"], "Sensitivity": row["measure"]}
        return words | numbers | {"Verdict": row["verdict"]}

    return markup.grid(table, "experiment", cells, "llrrrl", title=_title)


def effective_noise(tables: Tables) -> pd.DataFrame:
    """Return, per release with noise of a known size, its noise and what would have been enough."""
    columns = ["experiment", "mechanism", "query", "direction", "variant", "epsilon"]
    columns += ["delta", "noise_std", "kappa", "rescaled_std"]
    table = data(tables)
    return table.loc[table["kappa"].notna(), columns].reset_index(drop=True)


def noise_caption(table: pd.DataFrame) -> str:
    """Return what the sizes of noise are."""
    return catalogue.caption("effective_noise", epsilon=span(table["epsilon"]))


def noise_grid(table: pd.DataFrame) -> Grid:
    """Return the effective noise; MVG's rows are the paper's shapes, rescaled."""

    def cells(rows: pd.DataFrame) -> dict[str, str]:
        return {
            "Mechanism": catalogue.label(rows["mechanism"].iloc[0]),
            "Query": _only(rows["query"]),
            "Noise": span(rows["noise_std"]),
            "Kappa": span(rows["kappa"], _factor),
            "Rescaled": span(rows["rescaled_std"]),
        }

    return markup.grid(table, "experiment", cells, "lllll", title=_title, each=["mechanism"])


def _title(experiment: str) -> str:
    return catalogue.experiment(experiment).title


def _exact(rows: pd.DataFrame) -> str:
    """Return the attained epsilon, up to the bound where that is not attained; mu where it is 0."""
    attained, bound = rows["epsilon_attained"], rows["epsilon_bound"]
    if attained.isna().all():
        return f"at most {span(bound)}" if bound.notna().any() else ""
    if attained.max() == 0 and rows["mu"].notna().any():
        return f"0 (mu = {span(rows['mu'])})"
    return span(pd.concat([attained, bound]))


def _factor(kappa: float) -> str:
    return "1" if abs(kappa - 1) < 1e-3 else short(kappa)


def _only(words: pd.Series) -> str:
    return ", ".join(words.dropna().astype(str).unique())


def _words(verdicts: pd.Series) -> str:
    """Return the verdict, or each with its number of releases."""
    counts = verdicts.value_counts(sort=False)
    said = [f"{verdict} ({count})" for verdict, count in counts.items()]
    return "; ".join(said) if len(said) > 1 else str(counts.index[0])


def _failed(table: pd.DataFrame) -> int:
    return int(table["verdict"].str.startswith(DOUBTFUL).sum())


def _missed(table: pd.DataFrame) -> int:
    return int((table[["caught", "control"]].astype(str) != "True").any(axis=1).sum())


def _yes(answer: object) -> str:
    return "yes" if str(answer) == "True" else "NO"


TABLES = {
    "audit": Table(
        title="Audit",
        caption=caption,
        inputs=("audit/{experiment}",),
        data=data,
        grid=audit_grid,
    ),
    "canaries": Table(
        title="Canaries",
        caption=canary_caption,
        inputs=("audit/canaries",),
        data=data,
        grid=canary_grid,
    ),
    "sensitivities": Table(
        title="Sensitivities",
        caption=catalogue.caption("sensitivities"),
        inputs=("audit/{experiment}_sensitivities",),
        data=data,
        grid=sensitivity_grid,
    ),
    "effective_noise": Table(
        title="Effective noise",
        caption=noise_caption,
        inputs=("audit/{experiment}",),
        data=effective_noise,
        grid=noise_grid,
    ),
}
