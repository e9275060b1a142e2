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

#: What is audited, and the title of the known bugs.
RELEASE, SENSITIVITY, BUG = "releases", "sensitivities", "known-bug tests"
BUGS = "Known bugs, which the tool named must catch"

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
    """Return releases, declared sensitivities and known bugs, told apart by ``kind``.

    A sensitivity has its measure as ``variant``, and a known bug its mistake in its name.
    """
    parts = [_releases(tables).assign(kind=RELEASE)]
    for name, found in tables.items():
        if name.endswith("_sensitivities"):
            words = {"mechanism": "sensitivity of " + found["query"].replace(RELEASED)}
            words |= {"variant": found["measure"], "tool": "search", "kind": SENSITIVITY}
            parts.append(found.drop(columns="measure").assign(**words))
    if (bugs := tables.get("audit/known_bugs")) is not None:
        passes = bugs[["caught", "control"]].astype(str).eq("True")
        verdict = passes["caught"].map({True: "caught", False: "MISSED"})
        verdict = verdict.where(passes["control"], "CONTROL FAILS")
        names = bugs["known_bug"] + ": " + bugs["mistake"]
        columns = {"experiment": "", "mechanism": names, "tool": bugs["tool"], "kind": BUG}
        parts.append(pd.DataFrame(columns | {"verdict": verdict, "note": bugs["evidence"]}))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _releases(tables: Tables) -> pd.DataFrame:
    """Return the audited releases of all experiments."""
    of_bugs = ("_sensitivities", "/known_bugs")
    audits = [table for name, table in tables.items() if not name.endswith(of_bugs)]
    return pd.concat([table for table in audits if len(table)] or audits, ignore_index=True)


def finding(table: pd.DataFrame) -> str:
    """Return how many releases failed, and what shortfall of noise the audit would detect."""
    releases = table[table["kind"].eq(RELEASE)]
    failed, power = failures(table)[RELEASE] or "None", releases["shortfall"].max()
    words = "" if pd.isna(power) else f" an audit that finds noise {power:.1%} too small"
    if untested := int(releases["shortfall"].isna().sum()):
        words += f" ({untested} untested)"
    return f"{failed} of {len(releases)} releases failed{words}"


def failures(table: pd.DataFrame) -> dict[str, int]:
    """Return by kind how many releases failed, sensitivities are refuted, and bugs got through."""
    verdict = table["verdict"].astype(str)
    wrong = {RELEASE: verdict.str.startswith(FAILED), BUG: verdict.ne("caught")}
    wrong[SENSITIVITY] = ~verdict.str.startswith("holds")
    of_kind = {kind: table["kind"].eq(kind) for kind in wrong}
    return {kind: int((rows & of_kind[kind]).sum()) for kind, rows in wrong.items()}


def grid(table: pd.DataFrame) -> Grid:
    """Return one row per mechanism and experiment, and the known bugs; the CSV has all variants."""
    cells: Cells = {
        "Mechanism": markup.mechanism,
        "Number": lambda rows: str(len(rows)),
        "Tight epsilon": _exact,
        "Certified": "epsilon_certified",
        "Could certify": "epsilon_largest",
        "Runs": lambda rows: span(rows["runs"].dropna().astype(int)),
        EXCESS: _excess,
        "Decided by": "tool",
        "Noise too small by": _power,
        "Verdict": _words,
    }
    undecided = int(table["verdict"].str.startswith(UNDECIDED).sum())
    sentences = [f"Failed {kind}: {count}." for kind, count in failures(table).items() if count]
    sentences += [f"The audit is undecided on {plural(undecided, 'release')}."] * bool(undecided)
    titles = table["experiment"].map(
        lambda name: catalogue.experiment(name).title if name else BUGS
    )
    grid = markup.grid(table, titles, cells, title=str, each=["mechanism"])
    return replace(grid, warning=" ".join(sentences))


def effective_noise(tables: Tables) -> pd.DataFrame:
    """Return, per release whose noise inflation is known, its noise and the noise that suffices."""
    columns = ["experiment", "mechanism", "query", "direction", "variant", "epsilon"]
    columns += ["delta", "noise_std", "kappa", "rescaled_std"]
    table = _releases(tables)
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
    released = rows[rows["kind"].eq(RELEASE)]
    worst = _judged(released)["shortfall"].max(skipna=False)
    return "" if released.empty else "untested" if pd.isna(worst) else f"{worst:.1%}"


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of releases that have a guarantee and were audited."""
    return table[~table["verdict"].astype(str).str.startswith("not run")]


def _words(rows: pd.DataFrame) -> str:
    """Return the verdict, or each with its number of releases."""
    counts = rows["verdict"].value_counts(sort=False)
    counted = [f"{verdict} ({count})" for verdict, count in counts.items()]
    return "; ".join(counted) if len(counted) > 1 else str(counts.index[0])


TABLES = {
    "audit": Table(
        title="Audit",
        caption=(
            "Tight epsilon: what the worst neighbours attain, up to the proved bound. Certified: "
            "lower bound from runs alone at 95 % confidence. Noise too small by: the least share "
            "found with probability .95. Sensitivities are searched for larger changes. Known bugs "
            "are tried anew: the tool must catch each, and let the right thing pass. No private "
            "data are used."
        ),
        finding=finding,
        inputs=("audit/{experiment}", "audit/{experiment}_sensitivities"),
        optional=("audit/known_bugs",),
        data=data,
        grid=grid,
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
