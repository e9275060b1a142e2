"""Controls of claims that order rows: noise without data, and baselines that use no record.

A verdict says what happened in the trials. Its controls say what that tells, and replace no
verdict. They are tests, too, and are corrected together, over all controls of all claims.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reproduction import catalogue
from reproduction.report import contrasts
from reproduction.report.claims import definitions
from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.evidence import Case, Evidence, Part, weigh
from reproduction.report.claims.trials import NotRun, Trials
from reproduction.report.findings import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from reproduction.report.statistics import LEVEL, holm
from reproduction.trials import CONTROL

#: A result comes out alike without data if surely more than this share of its effect is there.
SHARE = 0.5

#: Kinds of controls: noise on records of zeros; a baseline that meets the claim in place of its
#: subject, is better than the subject, or differs from it; meets it in the suspected unit.
ZEROS, MEETS, BEATS, DIFFERS = "zeros", "meets", "beats", "differs"
UNIT_MEETS = "unit meets"


@dataclass(frozen=True)
class Control:
    """What the controls of a claim show.

    Attributes:
        effect_zeros: the effect of the decisive comparison on records of zeros; NaN if untested.
        alike: whether more than ``SHARE`` of the result is there on zeros; None if untested.
        met_by: baselines that meet the claim, too, in place of its subject.
        beaten_by: baselines that are better than the subject of a claim that holds.
        even_with: baselines that the subject of an open claim cannot be told from.
        unit_met_by: baselines that meet the claim in the suspected unit.
    """

    effect_zeros: float = math.nan
    alike: bool | None = None
    met_by: tuple[Row, ...] = ()
    beaten_by: tuple[Row, ...] = ()
    even_with: tuple[Row, ...] = ()
    unit_met_by: tuple[Row, ...] = ()


def compute_controls(
    pairs: Iterable[tuple[Case, Case | None]], trials: Trials
) -> dict[str, Control]:
    """Return the controls of claims by their id, corrected over all tests of all of them.

    Args:
        pairs: the test that decides each claim, and that in the suspected unit, if it has one.
        trials: trials of the run.
    """
    pairs = [(case, unit) for case, unit in pairs if case.enough]
    zeros = {case.claim.id: _zeros(case, trials) for case, _ in pairs}
    tests = {
        (case.claim.id, kind, row): p
        for case, unit in pairs
        for kind, row, p in _tests(case, unit, zeros[case.claim.id], trials)
    }
    clear: dict[str, dict[tuple[str, Row | None], bool]] = {name: {} for name in zeros}
    for (name, kind, row), p in zip(tests, holm(list(tests.values())), strict=True):
        clear[name][kind, row] = p < LEVEL
    by_id = {case.claim.id: case for case, _ in pairs}
    return {name: _control(case, zeros[name], clear[name]) for name, case in by_id.items()}


def _baselines(claim: Claim, trials: Trials) -> list[Row]:
    """Return the baselines that use no record and that the claim does not mention."""
    experiment = claim.comparisons[0].first.experiment
    mentioned = {row.mechanism for row in definitions.rows(claim.comparisons)}
    rows = [Row(experiment, name) for name in catalogue.RECORD_FREE if name not in mentioned]
    return [row for row in rows if trials.has(row)]


def _tests(
    case: Case, unit: Case | None, zeros: list[Evidence], trials: Trials
) -> Iterator[tuple[str, Row | None, float]]:
    """Yield the kind of each control, its baseline, and its two-sided p-value."""
    claim, subject = case.claim, case.claim.comparisons[0].first
    at = dict.fromkeys(part.epsilons for part in case.parts if part.comparison.first == subject)

    def test(parts: Sequence[Part]) -> Case:
        return weigh(claim, parts, trials)

    if zeros:
        yield ZEROS, None, _p_alike(case, zeros)
    for row in _baselines(claim, trials):
        if case.verdict != NOT_REPRODUCED:
            yield MEETS, row, test(_swap(case.parts, subject, row)).joint.p_for
        if case.verdict == REPRODUCED:
            better = [Part(Comparison(row, subject), epsilons) for epsilons in at]
            yield BEATS, row, test(better).joint.p_for
        elif case.verdict != NOT_REPRODUCED:
            differ = [Part(Comparison(subject, row), epsilons) for epsilons in at]
            yield DIFFERS, row, test(differ).joint.p
        if unit and unit.verdict == REPRODUCED:
            yield UNIT_MEETS, row, test(_swap(unit.parts, subject, row)).joint.p_for


def _zeros(case: Case, trials: Trials) -> list[Evidence]:
    """Return the evidence of the same noise on records of zeros; empty without such trials.

    Claims about results without privacy, and open ones, have none.
    """
    rows = {row.mechanism for row in definitions.rows(case.claim.comparisons)}
    without_noise = rows & {catalogue.NONPRIVATE, *catalogue.CLIPPED}
    if without_noise or case.verdict == UNDECIDED:
        return []
    try:
        on_zeros = weigh(case.claim, case.parts, trials, CONTROL)
    except NotRun:
        return []
    return on_zeros.evidence if on_zeros.enough else []


def _control(
    case: Case, zeros: list[Evidence], clear: dict[tuple[str, Row | None], bool]
) -> Control:
    def rows(kind: str, outcome: bool = True) -> tuple[Row, ...]:
        return tuple(
            row
            for (of, row), is_clear in clear.items()
            if row and (of, is_clear) == (kind, outcome)
        )

    return Control(
        effect_zeros=zeros[case.decisive].effect if zeros else math.nan,
        alike=clear.get((ZEROS, None)),
        met_by=rows(MEETS),
        beaten_by=rows(BEATS),
        even_with=rows(DIFFERS, outcome=False),
        unit_met_by=rows(UNIT_MEETS),
    )


def _swap(parts: Sequence[Part], subject: Row, baseline: Row) -> list[Part]:
    """Return comparisons with a baseline in place of their subject."""

    def swap(row: Row) -> Row:
        return baseline if row == subject else row

    return [
        Part(replace(each, first=swap(each.first), second=swap(each.second)), epsilons)
        for each, epsilons in parts
    ]


def _p_alike(case: Case, zeros: Sequence[Evidence]) -> float:
    """Return the p-value of "at most ``SHARE`` of the result is there on zeros".

    It tests the contrast of trials on data and on zeros, which share their noise, against what
    remains of our result. The result is how far the comparisons that carry it exceed, or miss,
    their margin: the decisive one if that is enough, and otherwise all of them, of which the least
    clear one counts.
    """
    met = case.verdict == REPRODUCED
    carriers = range(len(zeros)) if met == case.claim.every else [case.decisive]
    p_values = []
    for i in carriers:
        samples = zip(case.evidence[i].samples, zeros[i].samples, strict=True)
        lost = contrasts.estimate(*(on_data - on_zeros for on_data, on_zeros in samples))
        rest = (1 - SHARE) * case.evidence[i].surplus.value
        p_values.append(2 * (lost.below(rest) if met else lost.above(rest)))
    return min(1.0, float(max(p_values)))
