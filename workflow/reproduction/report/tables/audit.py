"""The table of the privacy audit, from what its jobs have written."""

from __future__ import annotations

import pandas as pd

from matrixdp import status
from matrixdp.checks import plural
from reproduction import catalogue
from reproduction.report import audit_status, markup
from reproduction.report.inputs import Run
from reproduction.report.markup import short, span
from reproduction.report.sheet import Cell
from reproduction.report.tables.base import Column, Table, lines

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


CAPTION = (
    "Delivered epsilon: what the worst neighbours attain, up to the proved bound. Runs prove: a "
    "lower bound at 95 % confidence. Noise too small by: the least share found with probability "
    ".95. Certified: the library draws known noise, and the worst neighbours are proved. Tested: a "
    "black box cannot see cut tails, coarse floats or one special value."
)


def build(run: Run) -> Table:
    """Return one line per mechanism and experiment; the CSV has all configurations."""
    frame = rows(run)
    audited = frame[frame["subject"].ne(CONTROL)]
    return Table(
        title="Audit",
        caption=CAPTION,
        frame=frame,
        columns=COLUMNS,
        groups=lines(audited, "experiment", title=_title, each=["mechanism"]),
        warning=warning(frame),
    )


def rows(run: Run) -> pd.DataFrame:
    """Return releases, declared sensitivities and wrong mechanisms, told apart by ``subject``.

    A sensitivity has its measure as ``configuration``, and a wrong mechanism its mistake in its
    name. ``status`` is that of a release, or whether a sensitivity holds and a wrong mechanism is
    caught.
    """
    parts = [releases(run).assign(subject=RELEASE)]
    for name in run.experiments:
        if (declared := run.get(f"audit/{name}_sensitivities")) is not None:
            words = {"mechanism": "sensitivity of " + declared["query"].replace(RELEASED)}
            words |= {"configuration": declared["measure"], "tool": "search"}
            parts.append(declared.drop(columns="measure").assign(**words, subject=SENSITIVITY))
    if (wrong := run.get("audit/negative_control")) is not None:
        passes = wrong[["caught", "control"]].astype(str).eq("True")
        verdict = passes["caught"].map({True: "caught", False: "MISSED"})
        verdict = verdict.where(passes["control"], "CONTROL FAILS")
        names = wrong["mechanism"] + ": " + wrong["mistake"]
        columns = {"experiment": "", "mechanism": names, "tool": wrong["tool"], "subject": CONTROL}
        columns |= {"status": verdict, "verdict": verdict, "note": wrong["evidence"]}
        parts.append(pd.DataFrame(columns))
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def releases(run: Run) -> pd.DataFrame:
    """Return the audited releases of all experiments."""
    audits = [*run.each("audit").values()]
    return pd.concat([table for table in audits if len(table)] or audits, ignore_index=True)


def caught_sentences(table: pd.DataFrame) -> list[str]:
    """Return one sentence on the negative control, or none if it was not run."""
    missed, count = failures(table)[CONTROL], int(table["subject"].eq(CONTROL).sum())
    return [f"{count - missed} of {count} wrong mechanisms caught"] if count else []


def failures(table: pd.DataFrame) -> dict[str, int]:
    """Return by subject how many releases and sensitivities fail, and how many wrong ones pass."""
    is_status = table["status"].eq
    wrong = {RELEASE: is_status(status.REFUTED), CONTROL: ~is_status("caught")}
    wrong[SENSITIVITY] = ~is_status("holds")
    of_subject = {subject: table["subject"].eq(subject) for subject in wrong}
    return {subject: int((rows & of_subject[subject]).sum()) for subject, rows in wrong.items()}


def warning(table: pd.DataFrame) -> str:
    """Return what failed, and how many releases are only not refuted; empty for neither."""
    sentences = [
        f"Failed {subject}: {count}." for subject, count in failures(table).items() if count
    ]
    if searched := int(table["status"].eq(status.NOT_REFUTED).sum()):
        words = f"{plural(searched, 'release')} of others' classes: not refuted, and not certified."
        sentences.append(words)
    return " ".join(sentences)


def _title(experiment: str) -> str:
    return catalogue.experiment(experiment).title


def _exact(rows: pd.DataFrame) -> str | Cell:
    """Return the attained epsilon, and the bound where that is larger; mu where epsilon is 0.

    What is refuted is not private, whatever its declared noise attains.
    """
    attained, bound = rows["epsilon_attained"], rows["epsilon_bound"]
    if rows["subject"].eq(RELEASE).all():
        (row,) = audit_status.summarise_audit(rows).to_dict("records")
        in_doubt = row["audit_status"] == status.DECLARED and attained.isna().all()
        if in_doubt or audit_status.text(row):
            return audit_status.mark(span(bound), row)
    if attained.isna().all():
        return f"at most {span(bound)}" if bound.notna().any() else ""
    if attained.max() == 0 and rows["mu"].notna().any():
        return Cell("0", note=f"(mu = {span(rows['mu'])})")
    return span(_ends(rows))


def _ends(rows: pd.DataFrame) -> pd.Series:
    return pd.concat([rows["epsilon_attained"], rows["epsilon_bound"]])


def inflation(rows: pd.DataFrame) -> str:
    """Return by how many times the noise of rows could shrink, as text; empty for none known."""
    return span(
        rows["noise_inflation"], lambda factor: "1" if abs(factor - 1) < 1e-3 else short(factor)
    )


def _shortfall(rows: pd.DataFrame) -> float:
    """Return the least share of missing noise that the audit would detect; NaN for none."""
    audited = rows["subject"].eq(RELEASE) & rows["status"].ne(status.NOT_RUN)
    return float(rows.loc[audited, "detectable_effect"].max(skipna=False))


def _power(rows: pd.DataFrame) -> str:
    """Return the least share of missing noise that the audit would detect, as text."""
    if not rows["subject"].eq(RELEASE).any():
        return ""
    worst = _shortfall(rows)
    return "untested" if pd.isna(worst) else f"{worst:.1%}"


def _words(rows: pd.DataFrame) -> str:
    """Return the verdict, or each with its number of releases."""
    counts = rows["verdict"].value_counts(sort=False)
    counted = [f"{verdict} ({count})" for verdict, count in counts.items()]
    return "; ".join(counted) if len(counted) > 1 else str(counts.index[0])


COLUMNS = (
    Column("Mechanism", markup.mechanism),
    Column("Number", lambda rows: str(len(rows)), len),
    Column("Delivered epsilon", _exact, lambda rows: _ends(rows).min()),
    Column("Runs prove", "epsilon_certified", "epsilon_certified"),
    Column("Could prove", "epsilon_largest", "epsilon_largest"),
    Column("Runs", lambda rows: span(rows["runs"].dropna().astype(int)), "runs"),
    Column(EXCESS, inflation, "noise_inflation"),
    Column("Decided by", "tool"),
    Column("Noise too small by", _power, _shortfall),
    Column("Verdict", _words),
)
