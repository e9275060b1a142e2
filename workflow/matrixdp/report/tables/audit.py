"""The tables of the privacy audit, from what its jobs have written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from matrixdp import files
from matrixdp.checks import InputError
from matrixdp.report import markup
from matrixdp.report.markup import Grid, short

TITLES = {
    "regression": "Experiment I, regression",
    "first_pc": "Experiment II, first principal component",
    "covariance": "Experiment III, covariance estimation",
    "section10_2": "Section 10.2, two features",
}

#: Columns that every part of an audit has.
NEEDED = {
    "audit": ("experiment", "label", "epsilon", "tool", "runs", "kappa", "verdict", "note"),
    "sensitivities": ("experiment", "query", "measure", "declared", "found", "verdict"),
    "canaries": ("canary", "mistake", "tool", "caught", "evidence", "control"),
}

_NO_DATA = "No private data are used: only public bounds and the number of records."


def write(
    parts: Iterable[str | os.PathLike],
    *,
    sensitivities: Iterable[str | os.PathLike],
    canaries: str | os.PathLike,
    results: str | os.PathLike,
) -> None:
    """Write ``audit.csv`` and the four tables of the audit (csv, md and tex each).

    Args:
        parts: files of :func:`matrixdp.audit.releases.run`.
        sensitivities: files of :func:`matrixdp.audit.sensitivities.run`.
        canaries: the file of :func:`matrixdp.audit.canaries.run`.
        results: folder; the tables go to its subfolder ``tables``.

    Raises:
        InputError: a file cannot be read, or lacks a column.
    """
    audited = _read(parts, "audit")
    files.write_text(Path(results, "audit.csv"), audited.to_csv(index=False, lineterminator="\n"))
    for stem, table, build in (
        ("audit", audited, audit_grid),
        ("canaries", _read([canaries], "canaries"), canary_grid),
        ("sensitivities", _read(sensitivities, "sensitivities"), sensitivity_grid),
        ("effective_noise", effective_noise(audited), noise_grid),
    ):
        markup.write(Path(results, "tables", stem), table, build(table))


def _read(paths: Iterable[str | os.PathLike], kind: str) -> pd.DataFrame:
    tables = []
    for path in paths:
        try:
            table = pd.read_csv(path, keep_default_na=False, na_values={c: [""] for c in _NUMBERS})
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read ({error}); make it again") from None
        lacking = [column for column in NEEDED[kind] if column not in table.columns]
        if lacking:
            raise InputError(f"{path} lacks the column {lacking[0]!r}; make it again")
        tables.append(table)
    full = [table for table in tables if len(table)]
    return pd.concat(full or tables, ignore_index=True)


_NUMBERS = (
    *("epsilon", "delta", "noise_std", "epsilon_attained", "epsilon_bound", "mu", "curve_error"),
    *("runs", "epsilon_certified", "epsilon_largest", "mu_certified", "scale", "scale_low"),
    *("scale_high", "kappa", "rescaled_std"),
)


def audit_grid(table: pd.DataFrame) -> Grid:
    """Return the audit with one row per mechanism and experiment; the CSV has all variants."""

    def cells(rows: pd.DataFrame) -> list[str]:
        return [
            str(len(rows)),
            _exact(rows),
            _span(rows["epsilon_certified"]),
            _span(rows["epsilon_largest"]),
            _span(rows["runs"], "{:.1e}".format),
            _span(rows["kappa"], _factor),
            _only(rows["tool"]),
            _words(rows["verdict"]),
        ]

    failed = int(table["verdict"].str.startswith(("violated", "undecided")).sum())
    unable = _notes(table)
    nominal = _span(table["epsilon"])
    return Grid(
        name="Audit",
        caption=(
            f"The privacy audit at the nominal epsilon {nominal} and delta 1/n (0 for pure "
            f"mechanisms). {_NO_DATA} Exact: the epsilon that the worst neighbours found attain, "
            "from the exact curve or the largest pointwise loss; a range ends in the proved bound "
            "where that is not attained. Certified: lower bound from runs alone, at 95 % "
            "confidence (Clopper-Pearson), and what the event that was chosen could have certified "
            "at most with as many runs. Slack: the factor by which the noise could shrink at the "
            f"same guarantee. {len(table)} releases were judged, {failed} failed.{unable}"
        ),
        warning=f"{failed} releases failed the audit." if failed else "",
        header=["Mechanism", "Releases", "Exact epsilon", "Certified", "Could certify"]
        + ["Runs", "Slack", "Decided by", "Verdict"],
        groups=_groups(table, cells),
        columns="lrlllllll",
    )


def canary_grid(table: pd.DataFrame) -> Grid:
    """Return the canaries by the tool that must catch them."""
    missed = int((~_true(table["caught"]) | ~_true(table["control"])).sum())
    return Grid(
        name="Canaries",
        caption=(
            "Known ways to get privacy wrong, tried anew in each run. Each must be caught by the "
            "tool named, and that tool must let the same thing done right pass. "
            f"{len(table)} were tried, {missed} failed."
        ),
        warning="" if not missed else f"{missed} canaries were missed or their controls failed.",
        header=["Canary", "Mistake", "Caught", "What the tool saw", "Control passes"],
        groups=[
            (
                f"Must be caught by: {tool}",
                [
                    [row.canary, row.mistake, _yes(row.caught), row.evidence, _yes(row.control)]
                    for row in rows.itertuples()
                ],
            )
            for tool, rows in table.groupby("tool", sort=False)
        ],
        columns=r"lp{0.25\linewidth}lp{0.3\linewidth}l",
    )


def sensitivity_grid(table: pd.DataFrame) -> Grid:
    """Return declared sensitivities beside the largest that an attack found."""
    return Grid(
        name="Sensitivities",
        caption=(
            "Declared sensitivities, and the largest change that a search over pairs of records "
            f"found; f is replayed on full data sets with these neighbours. {_NO_DATA}"
        ),
        warning="",
        header=["Query", "Sensitivity", "Declared", "Found", "Replayed", "Verdict"],
        groups=[
            (
                TITLES.get(str(experiment), str(experiment)),
                [
                    [row.query, row.measure]
                    + [short(number, 4) for number in (row.declared, row.found, row.replayed)]
                    + [row.verdict]
                    for row in rows.itertuples()
                ],
            )
            for experiment, rows in table.groupby("experiment", sort=False)
        ],
        columns="llrrrl",
    )


def effective_noise(table: pd.DataFrame) -> pd.DataFrame:
    """Return, per release with noise of a known size, its noise and what would have been enough."""
    columns = ["experiment", "mechanism", "label", "query", "direction", "variant", "epsilon"]
    columns += ["delta", "noise_std", "kappa", "rescaled_std"]
    return table.loc[table["kappa"].notna(), columns].reset_index(drop=True)


def noise_grid(table: pd.DataFrame) -> Grid:
    """Return the effective noise; MVG's rows are the paper's shapes, rescaled."""

    def cells(rows: pd.DataFrame) -> list[str]:
        return [
            _only(rows["query"]),
            _span(rows["noise_std"]),
            _span(rows["kappa"], _factor),
            _span(rows["rescaled_std"]),
        ]

    return Grid(
        name="Effective noise",
        caption=(
            f"Noise at epsilon {_span(table['epsilon'])}: root mean square standard deviation of "
            "a released entry in the units of the scaled data, the factor kappa by which it could "
            "shrink at the same guarantee, and what is then left: the same shape, exactly "
            "calibrated (for the rows of MVG: MVG, rescaled). Ranges are over directions, shares "
            "and sketch sizes. A sketch or a direction is not a value plus noise and has a factor "
            "only: of a sketch's lift."
        ),
        warning="",
        header=["Mechanism", "Query", "Noise", "Kappa", "Rescaled"],
        groups=_groups(table, cells),
        columns="lllll",
    )


def _groups(
    table: pd.DataFrame, cells: Callable[[pd.DataFrame], list[str]]
) -> list[tuple[str, list[Sequence[str]]]]:
    return [
        (
            TITLES.get(str(experiment), str(experiment)),
            [[str(label), *cells(rows)] for label, rows in part.groupby("label", sort=False)],
        )
        for experiment, part in table.groupby("experiment", sort=False)
    ]


def _span(numbers: pd.Series, form: Callable[[float], str] = short) -> str:
    """Return the one number, or the smallest and the largest."""
    known = numbers.dropna()
    if known.empty:
        return ""
    low, high = form(float(known.min())), form(float(known.max()))
    return low if low == high else f"{low} to {high}"


def _exact(rows: pd.DataFrame) -> str:
    """Return the attained epsilon, up to the bound where that is not attained; mu where it is 0."""
    attained, bound = rows["epsilon_attained"], rows["epsilon_bound"]
    if attained.isna().all():
        return f"at most {_span(bound)}" if bound.notna().any() else ""
    if attained.max() == 0 and rows["mu"].notna().any():
        return f"0 (mu = {_span(rows['mu'])})"
    return _span(pd.concat([attained, bound]))


def _factor(kappa: float) -> str:
    return "1" if abs(kappa - 1) < 1e-3 else short(kappa)


def _only(words: pd.Series) -> str:
    return ", ".join(dict.fromkeys(word for word in words.astype(str) if word and word != "nan"))


def _words(verdicts: pd.Series) -> str:
    """Return the verdict, or each with its number of releases."""
    counts: Mapping[str, int] = verdicts.value_counts(sort=False).to_dict()
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{verdict} ({count})" for verdict, count in counts.items())


def _notes(table: pd.DataFrame) -> str:
    """Return what the black box was too weak for, as a sentence."""
    weak = table[table["note"].astype(str).str.contains("too few for the black box")]
    if weak.empty:
        return ""
    return (
        f" For {len(weak)} exactly calibrated Gaussian releases there were too few runs to reject "
        "a tenth too little noise by the black box alone; the exact curve decides, and the CSV "
        "says which epsilon could be certified."
    )


def _true(answers: pd.Series) -> pd.Series:
    return answers.astype(str) == "True"


def _yes(answer: object) -> str:
    return "yes" if str(answer) == "True" else "NO"
