"""What Tables 3 to 5 come to, in sentences that hold for the numbers at hand.

Every sentence is chosen by a test on the table; where the numbers change, so does the sentence.
"Clearly" means that the 95 % interval of a difference does not cover 0. Trials share their splits,
which this ignores: it errs on the side of saying less.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from matrixdp.checks import InputError
from matrixdp.report import statistics, summary
from matrixdp.report.markup import short
from matrixdp.report.tables.comparison import NOT_RUN

#: How a sentence stands to the paper.
AGREES, CONTRADICTS, NOTE = "agrees", "contradicts", "note"
WITHIN = "within"
#: Rows of the paper's tables that are not private.
REFERENCES = ("nonprivate", "random")

TITLES = {
    3: "Experiment I: regression",
    4: "Experiment II: first principal component",
    5: "Experiment III: covariance",
}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """One sentence, and whether it agrees with the paper, contradicts it, or is beside it."""

    tone: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """What became of one table of the paper.

    Attributes:
        number, title: which table.
        headline: the shortest true summary.
        rows: the paper's rows.
        findings: sentences with their evidence.
    """

    number: int
    title: str
    headline: str
    rows: Sequence[Row]
    findings: Sequence[Finding]

    @property
    def judged(self) -> int:
        """Rows of the paper that have a verdict."""
        return len(self._judged(everything=True))

    @property
    def met(self) -> int:
        """Rows of the paper whose value is met within the 95 % interval."""
        return self._judged(everything=True).count(WITHIN)

    @property
    def judged_private(self) -> int:
        """Like ``judged``, without the non-private row and the random guess."""
        return len(self._judged(everything=False))

    @property
    def met_private(self) -> int:
        """Like ``met``, without the non-private row and the random guess."""
        return self._judged(everything=False).count(WITHIN)

    def _judged(self, *, everything: bool) -> list[str]:
        rows = [row for row in self.rows if everything or row["mechanism"] not in REFERENCES]
        return [row["verdict"] for row in rows if row["verdict"] not in ("", NOT_RUN)]


def read(path: str | os.PathLike) -> pd.DataFrame:
    """Return one of Tables 3 to 5 as :func:`matrixdp.report.tables.comparison.write` left it.

    Raises:
        InputError: the file is not such a table.
    """
    text = ["method", "mechanism", "variant", "direction", "published", "published_ci"]
    text += ["epsilon", "data_status", "reading", "verdict", "note"]
    try:
        frame = pd.read_csv(path, dtype=dict.fromkeys(text, str))
        frame[text] = frame[text].fillna("")
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"{path} is not a whole table ({reason}); delete it and run again"
        ) from error
    return frame


def outcome(number: int, table: pd.DataFrame) -> Outcome:
    """Return what became of Table 3, 4 or 5; on simulated data nothing is compared."""
    paper = table[table["published"] != ""]
    rows = paper.to_dict("records")
    found: list[Finding] = []
    if table["data_status"].eq(summary.SIMULATED).any():
        headline = "Run on simulated data: nothing is compared with the paper."
    elif not paper["mean"].notna().any():
        headline = "Not run."
    elif not _private(table):
        headline = "No private row was run."
    elif paper["ci95"][paper["mean"].notna()].isna().any():
        headline = "One trial per cell: there are no intervals, and so no verdicts."
    else:
        headline, found = _JUDGES[number](table)
        found += _slack(table)
    return Outcome(number, TITLES[number], headline, rows, found)


def times(factor: float) -> str:
    """Return a factor as a person says it, to two digits: 1.1, 23, 1,900."""
    if not math.isfinite(factor) or factor <= 0:
        return short(factor, 2)
    digits = 1 - math.floor(math.log10(factor))
    return f"{round(factor, digits):,.{max(digits, 0)}f}" if factor < 1e6 else short(factor, 2)


def _regression(table: pd.DataFrame) -> tuple[str, list[Finding]]:
    nonprivate, zero, guess = (_row(table, name) for name in ("nonprivate", "zero", "random"))
    private = _private(table)
    found = []
    if nonprivate and guess and nonprivate["verdict"] != WITHIN:
        found.append(
            Finding(
                NOTE,
                f"Rows without any privacy differ from the paper too: our non-private error is "
                f"{times(nonprivate['ratio'])} times the printed one and our random guess "
                f"{times(guess['ratio'])} times. The printed unit cannot be RMSE on data scaled to "
                "[-1, 1]. If it is RMSE / sqrt(248), a conjecture, the two ratios are "
                f"{_shown(nonprivate['ratio_conjectured'])} and "
                f"{_shown(guess['ratio_conjectured'])}.",
            )
        )
    headline = f"{_verdict_count(table)}."
    if zero:
        better = [row for row in private if _clearly_below(row, zero)]
        headline = (
            f"{len(better)} of {len(private)} private rows are clearly better than a constant "
            "prediction."
            if better
            else "Uninformative: no private row is clearly better than a constant prediction."
        )
        found.append(
            Finding(
                AGREES if better else CONTRADICTS,
                f"Predicting the same average for everyone has RMSE {_shown(zero['mean'])}. Of "
                f"the paper's {len(private)} private rows {len(better) or 'none'} is clearly "
                f"better; they lie {_range(row['mean'] for row in private)}.",
            )
        )
    if zero and nonprivate:
        printed = float(nonprivate["published"])
        best = min(float(row["published"]) for row in private) / printed
        constant = zero["mean"] / nonprivate["mean"]
        if best > constant:
            found.append(
                Finding(
                    CONTRADICTS,
                    f"In multiples of the non-private error, the best private row that the paper "
                    f"prints stands at {_shown(best)}; the constant prediction costs only "
                    f"{_shown(constant)}. By that measure each printed private result is worse "
                    "than a prediction that uses no record.",
                )
            )
    return headline, [*found, _against_baselines(table, "mvg_binary")]


def _first_pc(table: pd.DataFrame) -> tuple[str, list[Finding]]:
    nonprivate, guess = (_row(table, name) for name in ("nonprivate", "random"))
    theorem2, theorem3 = (_row(table, name) for name in ("mvg_thm2", "mvg_thm3"))
    found = []
    if nonprivate and guess and nonprivate["verdict"] == guess["verdict"] == WITHIN:
        found.append(
            Finding(
                AGREES,
                "The non-private row and the random guess agree with the paper. The scale is the "
                "paper's, so what differs below is due to the mechanisms.",
            )
        )
    if theorem2 and theorem3:
        better = _clearly_below(theorem3, theorem2)
        found.append(
            Finding(
                AGREES if better else CONTRADICTS,
                f"MVG with Theorem 3 ({_shown(theorem3['mean'])}) is "
                f"{'clearly' if better else 'not clearly'} better than with Theorem 2 "
                f"({_shown(theorem2['mean'])}); the paper says that it is better.",
            )
        )
    mvg = [row for row in (theorem2, theorem3) if row]
    others = [row for row in _private(table) if not row["mechanism"].startswith("mvg")]
    headline = f"{_verdict_count(table)}."
    if mvg and others:
        ours, best = min(mvg, key=_mean), min(others, key=_mean)
        ahead = [row for row in others if _clearly_below(row, ours)]
        if ahead:
            headline = (
                f"Not MVG: {len(ahead)} of {_count(others, 'baseline')} beat MVG, the best by a "
                f"factor of {times(ours['mean'] / best['mean'])}."
            )
            listed = ", ".join(f"{row['method']} {short(row['mean'], 2)}" for row in ahead)
            found.append(
                Finding(
                    CONTRADICTS,
                    f"The paper ranks MVG with Theorem 3 first. Here the best MVG row has Delta "
                    f"rho {_shown(ours['mean'])}, and these baselines are clearly below it: "
                    f"{listed}.",
                )
            )
        elif all(_clearly_below(ours, row) for row in others):
            headline = "Confirmed: MVG is clearly better than every baseline."
            found.append(Finding(AGREES, headline))
    chance = [row for row in _private(table) if guess and not _clearly_below(row, guess)]
    if guess and chance:
        found.append(
            Finding(
                NOTE,
                f"No better than a random direction ({_shown(guess['mean'])}): "
                + ", ".join(f"{row['method']} {_shown(row['mean'])}" for row in chance)
                + ".",
            )
        )
    return headline, found


def _covariance(table: pd.DataFrame) -> tuple[str, list[Finding]]:
    guess = _row(table, "random")
    private = _private(table)
    found = []
    headline = f"{_verdict_count(table)}."
    if guess:
        better = [row for row in private if _clearly_below(row, guess)]
        headline = (
            f"{len(better)} of {len(private)} private rows are clearly better than a random basis."
            if better
            else "Chance level: no private row is clearly better than a random basis."
        )
        found.append(
            Finding(
                AGREES if better else CONTRADICTS,
                f"A random orthonormal basis has RSS {_shown(guess['mean'])}. Of the paper's "
                f"{len(private)} private rows {len(better) or 'none'} is clearly better; they lie "
                f"{_range(row['mean'] for row in private)}."
                + ("" if better else " Such a table compares noise with noise."),
            )
        )
        found.append(
            Finding(
                NOTE,
                "If the factor 1e-2 in the header of the paper's table is a slip, a conjecture, "
                "our private rows over the printed ones lie "
                f"{_range(row['ratio_conjectured'] for row in private)}; our random guess is "
                f"{_shown(guess['ratio_conjectured'])} times the printed one, which stays "
                "unexplained.",
            )
        )
    found.append(_against_baselines(table, "mvg_binary"))
    narrow = [_row(table, name) for name in ("analyze_gauss_analytic", "jl_exact")]
    moments = [row for row in narrow if row and guess and _clearly_below(row, guess)]
    if guess and moments:
        listed = ", ".join(
            f"{row['method']} {_shown(row['mean'])} ({times(guess['mean'] / row['mean'])} times "
            "below chance)"
            for row in moments
        )
        found.append(
            Finding(
                NOTE,
                f"The covariance is not out of reach at this guarantee. Mechanisms that release "
                f"only second moments instead of all the records: {listed}.",
            )
        )
    return headline, found


_JUDGES: Mapping[int, Callable[[pd.DataFrame], tuple[str, list[Finding]]]] = {
    3: _regression,
    4: _first_pc,
    5: _covariance,
}


def _slack(table: pd.DataFrame) -> list[Finding]:
    """Return by how much MVG's noise could shrink: mu allowed over mu spent, noise of one shape."""
    exact = _row(table, "directional_gaussian")
    rows = [row for row in _private(table) if row["mechanism"].startswith("mvg")]
    rows = [row for row in rows if row["noise_std"] > 0 and row["mu_actual"] > 0]
    if not exact or not rows:
        return []
    allowed = exact["mu_actual"]
    spent = "; ".join(
        f"{row['method']} spends mu = {short(row['mu_actual'], 2)}, so that its noise could be "
        f"{times(allowed / row['mu_actual'])} times smaller"
        for row in rows
    )
    text = f"This guarantee allows a Gaussian mechanism mu = {short(allowed, 2)}. {spent}."
    return [Finding(NOTE, text)]


def _against_baselines(table: pd.DataFrame, mechanism: str) -> Finding:
    mvg = _row(table, mechanism)
    others = [row for row in _private(table) if not row["mechanism"].startswith("mvg")]
    if mvg is None or not others:
        return Finding(NOTE, "There is nothing to compare MVG with: rows were not run.")
    ahead = sum(_clearly_below(mvg, row) for row in others)
    behind = sum(_clearly_below(row, mvg) for row in others)
    return Finding(
        AGREES if ahead == len(others) else CONTRADICTS,
        f"The paper ranks MVG before its {_count(others, 'baseline')}. Here {mvg['method']} is "
        f"clearly better than {ahead or 'none'} of them, clearly worse than {behind or 'none'}, "
        f"and cannot be told from {len(others) - ahead - behind or 'any'}.",
    )


def _verdict_count(table: pd.DataFrame) -> str:
    paper = table[table["published"] != ""]
    return f"{paper['verdict'].eq(WITHIN).sum()} of {len(paper)} published values are met"


def _row(table: pd.DataFrame, mechanism: str) -> Row | None:
    """Return the first row of a mechanism that was run."""
    rows = table[table["mechanism"].eq(mechanism) & table["mean"].notna()]
    return None if rows.empty else rows.iloc[0].to_dict()


def _private(table: pd.DataFrame) -> list[Row]:
    """Return the paper's private rows that were run."""
    free = table["mechanism"].isin(REFERENCES)
    return table[table["published"].ne("") & ~free & table["mean"].notna()].to_dict("records")


def _clearly_below(row: Row, other: Row) -> bool:
    found = statistics.verdict(other["mean"], other["ci95"], row["mean"], row["ci95"])
    return found == "lower"


def _mean(row: Row) -> float:
    return row["mean"]


def _count(rows: Sequence[Row], word: str) -> str:
    return f"{len(rows)} {word}" + ("" if len(rows) == 1 else "s")


def _shown(value: float) -> str:
    """Return a value with three digits, trailing zeros too."""
    return f"{value:#.3g}".rstrip(".") if 1e-3 <= abs(value) < 1e3 else short(value)


def _range(values: Iterable[float]) -> str:
    each = list(values)
    return f"between {_shown(min(each))} and {_shown(max(each))}"
