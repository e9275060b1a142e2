"""The tables of the privacy audit, from what its jobs have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.checks import plural
from matrixdp.report import markup
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Cells, Grid, short, span
from matrixdp.report.tables.base import Table

#: What the queries of the audit release, in words.
RELEASED = {
    "identity": "records",
    "covariance": "second moments",
    "normal_equations": "second moments",
    "intercept_equations": "second moments",
}

#: By how many times a mechanism's noise could shrink at the same guarantee.
EXCESS = "Noise inflation (times)"

#: First words of verdicts by which a release fails the audit, and of those that leave a doubt.
FAILED, UNDECIDED = "violated", "undecided"
DOUBTFUL = (FAILED, UNDECIDED, "not certifiable")

#: Standing of the epsilon that a mechanism declares, after the audit.
CERTIFIED, DECLARED = "certified", "declared"


def standing(audit: pd.DataFrame) -> dict[str, str]:
    """Return by mechanism whether its epsilon is ``certified`` or only ``declared``.

    It is certified if no release of the mechanism is in doubt. A mechanism that the audit lacks is
    not in the result, since nothing certifies it.
    """
    doubtful = audit["verdict"].astype(str).str.startswith(DOUBTFUL)
    worst = doubtful.groupby(audit["mechanism"], sort=False).any()
    return {name: DECLARED if doubt else CERTIFIED for name, doubt in worst.items()}


def standings(tables: Tables, experiment: str, mechanisms: pd.Series) -> pd.Series:
    """Return :func:`standing` by row of an experiment; empty without its audit, or without a row.

    ``tables`` are inputs by name, ``mechanisms`` the mechanism of each row.
    """
    audit = tables.get(f"audit/{experiment}")
    by_mechanism = {} if audit is None else standing(audit)
    return mechanisms.map(by_mechanism).astype(object).fillna("")


def mark(text: str, row: Mapping[str, Any]) -> str:
    """Return an epsilon with ``declared only`` where nothing certifies it (``standing``)."""
    return f"{text} ({DECLARED} only)" if text and row["standing"] == DECLARED else text


def data(tables: Tables) -> pd.DataFrame:
    """Return the rows of all experiments."""
    full = [table for table in tables.values() if len(table)]
    return pd.concat(full or [*tables.values()], ignore_index=True)


def finding(table: pd.DataFrame) -> str:
    """Return how many releases failed, and what shortfall of noise the audit would detect."""
    failed, power = failures(table) or "None", table["shortfall"].max()
    words = "" if pd.isna(power) else f" an audit that finds noise {power:.1%} too small"
    if untested := int(table["shortfall"].isna().sum()):
        words += f" ({untested} untested)"
    return f"{failed} of {len(table)} releases failed{words}"


def audit_grid(table: pd.DataFrame) -> Grid:
    """Return the audit with one row per mechanism and experiment; the CSV has all variants."""
    cells: Cells = {
        "Mechanism": markup.mechanism,
        "Releases": lambda rows: str(len(rows)),
        "Tight epsilon": _exact,
        "Certified": "epsilon_certified",
        "Could certify": "epsilon_largest",
        "Runs": "runs",
        EXCESS: _excess,
        "Decided by": "tool",
        "Noise too small by": _power,
        "Verdict": _words,
    }
    failed, undecided = failures(table), int(table["verdict"].str.startswith(UNDECIDED).sum())
    grid = markup.grid(table, "experiment", cells, each=["mechanism"])
    sentences = [f"{plural(failed, 'release')} failed the audit."] * bool(failed)
    sentences += [f"The audit is undecided on {plural(undecided, 'release')}."] * bool(undecided)
    return replace(grid, warning=" ".join(sentences))


def known_bug_grid(table: pd.DataFrame) -> Grid:
    """Return the known-bug tests by the tool that must catch them."""
    cells: Cells = {
        "Known bug": "known_bug",
        "Mistake": "mistake",
        "Caught": lambda row: _yes(row["caught"]),
        "What the tool saw": "evidence",
        "Control passes": lambda row: _yes(row["control"]),
    }
    grid = markup.grid(table, "tool", cells, title="Must be caught by: {}".format)
    count = missed(table)
    warning = f"{plural(count, 'known-bug test')} failed." if count else ""
    return replace(grid, warning=warning)


def sensitivity_grid(table: pd.DataFrame) -> Grid:
    """Return declared sensitivities beside the largest that an attack attains."""
    cells: Cells = {"Query": _released, "Sensitivity": "measure"}
    cells |= {name.capitalize(): name for name in ("declared", "found", "replayed", "verdict")}
    return markup.grid(table, "experiment", cells)


def effective_noise(tables: Tables) -> pd.DataFrame:
    """Return, per release whose noise inflation is known, its noise and the noise that suffices."""
    columns = ["experiment", "mechanism", "query", "direction", "variant", "epsilon"]
    columns += ["delta", "noise_std", "kappa", "rescaled_std"]
    table = data(tables)
    return table.loc[table["kappa"].notna(), columns].reset_index(drop=True)


def noise_finding(table: pd.DataFrame) -> str:
    """Return by how many times MVG's noise exceeds what its guarantee needs; empty for none."""
    times = _excess(mvg_noise(table))
    return f"MVG adds {times} times the noise that its guarantee needs" if times else ""


def mvg_noise(table: pd.DataFrame) -> pd.DataFrame:
    """Return MVG's rows, without those whose noise is a part of what their directions cost."""
    mvg = table["mechanism"].isin(catalogue.section("papers")["MVG"])
    return table[mvg & table["noise_std"].gt(0)]


def noise_grid(table: pd.DataFrame) -> Grid:
    """Return the noise; MVG's rows are the paper's shapes, rescaled."""
    cells: Cells = {
        "Mechanism": markup.mechanism,
        "Released": _released,
        "Noise": "noise_std",
        EXCESS: _excess,
        "Would do": "rescaled_std",
    }
    return markup.grid(table, "experiment", cells, each=["mechanism"])


def _exact(rows: pd.DataFrame) -> str:
    """Return the attained epsilon, and the bound where that is larger; mu where epsilon is 0."""
    attained, bound = rows["epsilon_attained"], rows["epsilon_bound"]
    if DECLARED in standing(rows).values() and attained.isna().all():
        return mark(span(bound), {"standing": DECLARED})
    if attained.isna().all():
        return f"at most {span(bound)}" if bound.notna().any() else ""
    if attained.max() == 0 and rows["mu"].notna().any():
        return f"0 (mu = {span(rows['mu'])})"
    return span(pd.concat([attained, bound]))


def _released(row: Any) -> str:
    query = pd.Series(row["query"])
    return markup.format_value(query.map(RELEASED).fillna(query))


def _excess(rows: pd.DataFrame) -> str:
    return span(rows["kappa"], lambda factor: "1" if abs(factor - 1) < 1e-3 else short(factor))


def _power(rows: pd.DataFrame) -> str:
    """Return the least share of missing noise that the audit would detect."""
    worst = _judged(rows)["shortfall"].max(skipna=False)
    return "untested" if pd.isna(worst) else f"{worst:.1%}"


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of releases that have a guarantee and were audited."""
    return table[~table["verdict"].astype(str).str.startswith("not run")]


def _words(rows: pd.DataFrame) -> str:
    """Return the verdict, or each with its number of releases."""
    counts = rows["verdict"].value_counts(sort=False)
    counted = [f"{verdict} ({count})" for verdict, count in counts.items()]
    return "; ".join(counted) if len(counted) > 1 else str(counts.index[0])


def broken(table: pd.DataFrame) -> int:
    """Return how many declared sensitivities the search refutes."""
    return int((~table["verdict"].str.startswith("holds")).sum())


def _sensitivity_finding(table: pd.DataFrame) -> str:
    holds = f"{len(table) - broken(table)} of {len(table)}"
    return f"{holds} declared sensitivities withstand a search for larger changes"


def failures(table: pd.DataFrame) -> int:
    """Return how many releases of the audit's table failed."""
    return int(table["verdict"].str.startswith(FAILED).sum())


def missed(table: pd.DataFrame) -> int:
    """Return how many known bugs were missed, or have a control that fails."""
    return int((table[["caught", "control"]].astype(str) != "True").any(axis=1).sum())


def _yes(answer: object) -> str:
    return "yes" if str(answer) == "True" else "NO"


TABLES = {
    "audit": Table(
        title="Audit",
        caption=(
            "Tight epsilon: what the worst neighbours attain, up to the proved bound. Certified: "
            "lower bound from runs alone at 95 % confidence. Noise inflation: by how much it could "
            "shrink at the same guarantee. Noise too small by: the least share found with "
            "probability .95. No private data are used."
        ),
        finding=finding,
        inputs=("audit/{experiment}",),
        data=data,
        grid=audit_grid,
    ),
    "known_bugs": Table(
        title="Known-bug tests",
        caption=(
            "Known ways to get privacy wrong, tried anew in each run. Each must be caught by the "
            "tool named, and that tool must let the same thing done right pass."
        ),
        finding=lambda table: f"{len(table) - missed(table)} of {len(table)} mistakes are caught",
        inputs=("audit/known_bugs",),
        data=data,
        grid=known_bug_grid,
    ),
    "sensitivities": Table(
        title="Sensitivities",
        caption=(
            "Declared sensitivities, and the largest change that a search over pairs of records "
            "found; the query is replayed on full data sets with these neighbours. No private "
            "data are used: only public bounds and the number of records."
        ),
        finding=_sensitivity_finding,
        inputs=("audit/{experiment}_sensitivities",),
        data=data,
        grid=sensitivity_grid,
    ),
    "effective_noise": Table(
        title="Noise inflation",
        caption=(
            "Root mean square standard deviation of a released entry, in units of the scaled "
            "data; by what factor it could shrink at the same guarantee; and what would do: the "
            "same shape, exactly calibrated. Ranges are over directions, shares and sketch sizes; "
            "the headline leaves out noise beside a private search for directions."
        ),
        finding=noise_finding,
        inputs=("audit/{experiment}",),
        data=effective_noise,
        grid=noise_grid,
    ),
}
