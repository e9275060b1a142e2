"""The tables of the privacy audit, from what its jobs have written."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from matrixdp.auditing import status
from matrixdp.checks import plural
from reproduction import catalogue
from reproduction.report import audit_status, comparisons, markup
from reproduction.report.entries import Tables
from reproduction.report.markup import Cells, Grid, short, span
from reproduction.report.tables.base import Table

#: What the queries of the audit release, in words.
RELEASED = {
    "identity": "records",
    "covariance": "second moments",
    "normal_equations": "second moments",
}

#: By how many times a mechanism's noise could shrink at the same guarantee.
EXCESS = "Noise inflation (times)"

#: What is audited, and what tests the audit.
RELEASE, SENSITIVITY, CONTROL = "releases", "sensitivities", "negative control"


def data(tables: Tables) -> pd.DataFrame:
    """Return releases, declared sensitivities and wrong mechanisms, told apart by ``subject``.

    A sensitivity has its measure as ``configuration``, and a wrong mechanism its mistake in its
    name.
    """
    parts = [_releases(tables).assign(subject=RELEASE)]
    for name, found in tables.items():
        if name.endswith("_sensitivities"):
            words = {"mechanism": "sensitivity of " + found["query"].replace(RELEASED)}
            words |= {"configuration": found["measure"], "tool": "search", "subject": SENSITIVITY}
            parts.append(found.drop(columns="measure").assign(**words))
    if (wrong := tables.get("audit/negative_control")) is not None:
        passes = wrong[["caught", "control"]].astype(str).eq("True")
        verdict = passes["caught"].map({True: "caught", False: "MISSED"})
        verdict = verdict.where(passes["control"], "CONTROL FAILS")
        names = wrong["mechanism"] + ": " + wrong["mistake"]
        columns = {"experiment": "", "mechanism": names, "tool": wrong["tool"], "subject": CONTROL}
        parts.append(pd.DataFrame(columns | {"verdict": verdict, "note": wrong["evidence"]}))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _releases(tables: Tables) -> pd.DataFrame:
    """Return the audited releases of all experiments."""
    others = ("_sensitivities", "/negative_control")
    names = [name for name in tables if name.startswith("audit/") and not name.endswith(others)]
    audits = [tables[name] for name in names]
    return pd.concat([table for table in audits if len(table)] or audits, ignore_index=True)


def finding(table: pd.DataFrame) -> str:
    """Return how many releases failed, and what the audit would detect and has caught."""
    releases = table[table["subject"].eq(RELEASE)]
    failed, power = failures(table)[RELEASE] or "None", releases["shortfall"].max()
    words = "" if pd.isna(power) else f" an audit that finds noise {power:.1%} too small"
    if untested := int(releases["shortfall"].isna().sum()):
        words += f" ({untested} untested)"
    sentences = [f"{failed} of {len(releases)} releases failed{words}", *caught(table)]
    return "; ".join(sentences)


def caught(table: pd.DataFrame) -> list[str]:
    """Return one sentence on the negative control, or none if it was not run."""
    missed, count = failures(table)[CONTROL], int(table["subject"].eq(CONTROL).sum())
    return [f"{count - missed} of {count} wrong mechanisms caught"] if count else []


def failures(table: pd.DataFrame) -> dict[str, int]:
    """Return by subject how many releases and sensitivities fail, and how many wrong ones pass."""
    verdict = table["verdict"].astype(str)
    wrong = {RELEASE: verdict.str.startswith(status.REFUTED), CONTROL: verdict.ne("caught")}
    wrong[SENSITIVITY] = ~verdict.str.startswith("holds")
    of_subject = {subject: table["subject"].eq(subject) for subject in wrong}
    return {subject: int((rows & of_subject[subject]).sum()) for subject, rows in wrong.items()}


def grid(table: pd.DataFrame) -> Grid:
    """Return one row per mechanism and experiment; the CSV has all configurations."""
    cells: Cells = {
        "Mechanism": markup.mechanism,
        "Number": lambda rows: str(len(rows)),
        "Tight epsilon": _exact,
        "Runs prove": "epsilon_certified",
        "Could prove": "epsilon_largest",
        "Runs": lambda rows: span(rows["runs"].dropna().astype(int)),
        EXCESS: inflation,
        "Decided by": "tool",
        "Noise too small by": _power,
        "Verdict": _words,
    }
    searched = int(table["verdict"].str.startswith(status.NOT_REFUTED).sum())
    sentences = [
        f"Failed {subject}: {count}." for subject, count in failures(table).items() if count
    ]
    words = f"{plural(searched, 'release')} of others' classes: not refuted, and not certified."
    sentences += [words] * bool(searched)
    audited = table[table["subject"].ne(CONTROL)]
    grid = markup.grid(audited, "experiment", cells, each=["mechanism"])
    return replace(grid, warning=" ".join(sentences))


def effective_noise(tables: Tables) -> pd.DataFrame:
    """Return, per release whose noise inflation is known, its noise and the noise that suffices.

    A refuted mechanism has no noise that suffices, and so neither ``noise_inflation`` nor
    ``rescaled_std``. ``also`` are other names of the same noise distribution.
    """
    columns = ["experiment", "mechanism", "query", "direction", "configuration", "epsilon"]
    columns += ["delta", "noise_std", "noise_inflation", "rescaled_std", "also"]
    columns += audit_status.COLUMNS
    parts = []
    for experiment, table in _releases(tables).groupby("experiment", sort=False):
        rows = audit_status.joined(table[table["noise_inflation"].notna()], table)
        compared = tables.get(f"comparisons/{experiment}")
        parts.append(rows if compared is None else comparisons.once(rows, compared))
    table = pd.concat(parts, ignore_index=True).reindex(columns=columns)
    wrong = audit_status.refuted(table)
    table.loc[wrong, ["noise_inflation", "rescaled_std"]] = float("nan")
    return table


def noise_finding(table: pd.DataFrame) -> str:
    """Return by how many times MVG's noise exceeds what its guarantee needs; empty for none.

    Where directions come from a private SVD, the noise is a part of their cost, and stands apart.
    """
    times = inflation(mvg_noise(table))
    searched = table[table["mechanism"].eq("mvg_maxpnr") & ~audit_status.refuted(table)]
    also = f", max-PNR {more} times" if (more := inflation(searched)) else ""
    return f"MVG adds {times} times the noise that its guarantee needs{also}" if times else ""


def mvg_noise(table: pd.DataFrame) -> pd.DataFrame:
    """Return MVG's private rows, without noise that is a part of what their directions cost."""
    mvg = table["mechanism"].isin(catalogue.section("papers")["MVG"])
    return table[mvg & table["noise_std"].gt(0) & ~audit_status.refuted(table)]


def _exact(rows: pd.DataFrame) -> str:
    """Return the attained epsilon, and the bound where that is larger; mu where epsilon is 0.

    What is refuted is not private, whatever its declared noise attains.
    """
    attained, bound = rows["epsilon_attained"], rows["epsilon_bound"]
    if rows["subject"].eq(RELEASE).all():
        (row,) = audit_status.by_mechanism(rows).to_dict("records")
        in_doubt = row["audit_status"] == status.DECLARED and attained.isna().all()
        if in_doubt or audit_status.text(row):
            return audit_status.mark(span(bound), row)
    if attained.isna().all():
        return f"at most {span(bound)}" if bound.notna().any() else ""
    if attained.max() == 0 and rows["mu"].notna().any():
        return f"0 (mu = {span(rows['mu'])})"
    return span(pd.concat([attained, bound]))


def inflation(rows: pd.DataFrame) -> str:
    """Return by how many times the noise of rows could shrink, as text; empty for none known."""
    return span(
        rows["noise_inflation"], lambda factor: "1" if abs(factor - 1) < 1e-3 else short(factor)
    )


def _power(rows: pd.DataFrame) -> str:
    """Return the least share of missing noise that the audit would detect."""
    released = rows[rows["subject"].eq(RELEASE)]
    worst = _judged(released)["shortfall"].max(skipna=False)
    return "" if released.empty else "untested" if pd.isna(worst) else f"{worst:.1%}"


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of releases that have a guarantee and were audited."""
    return table[~table["verdict"].astype(str).str.startswith(status.NOT_RUN)]


def _words(rows: pd.DataFrame) -> str:
    """Return the verdict, or each with its number of releases."""
    counts = rows["verdict"].value_counts(sort=False)
    counted = [f"{verdict} ({count})" for verdict, count in counts.items()]
    return "; ".join(counted) if len(counted) > 1 else str(counts.index[0])


TABLES = {
    "audit": Table(
        title="Audit",
        caption=(
            "Tight epsilon: what the worst neighbours attain, up to the proved bound. Runs prove: "
            "a lower bound at 95 % confidence. Noise too small by: the least share found with "
            "probability .95. Certified: the library draws known noise, and the worst neighbours "
            "are proved. Tested: a black box cannot see cut tails, coarse floats or one special "
            "value."
        ),
        finding=finding,
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
        data=effective_noise,
        grid=None,
    ),
}
