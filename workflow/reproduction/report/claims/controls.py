"""Controls of claims that order rows: noise without data, baselines, and the suspected unit.

A verdict says what happened in the trials. Its controls say what that tells, and replace no
verdict. They are tests, too, and are corrected together, over all controls of all claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reproduction import catalogue
from reproduction.report.claims import definitions
from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.intervals import separable
from reproduction.report.claims.trial_evidence import Evidence, gather
from reproduction.report.claims.trial_values import NotRun, TrialValues
from reproduction.report.claims.verdicts import NOT_REPRODUCED, REPRODUCED
from reproduction.report.markup import short
from reproduction.report.statistics import ENOUGH, LEVEL, Joint, combine, holm, mean_of

#: A result comes out alike without data if surely more than this share of its effect is there.
SHARE = 0.5

#: Kinds of controls: noise on records of zeros; a baseline that meets the claim in place of its
#: subject, is better than the subject, or differs from it; the amounts in the suspected unit.
ZEROS, MEETS, BEATS, DIFFERS = "zeros", "meets", "beats", "differs"
UNIT_HOLDS, UNIT_FAILS, UNIT_MEETS = "unit holds", "unit fails", "unit meets"


@dataclass(frozen=True)
class Case:
    """A claim with its evidence, and what the trials say: one of the verdicts."""

    claim: Claim
    joint: Joint
    evidence: list[Evidence]
    verdict: str

    @property
    def decisive(self) -> int:
        """Index of the comparison that decides."""
        failed = self.verdict == NOT_REPRODUCED
        return self.joint.strongest_against if failed else self.joint.weakest


@dataclass(frozen=True)
class Control:
    """What the controls of a claim show.

    Attributes:
        effect_zeros: the effect of the decisive comparison on records of zeros; NaN if untested.
        alike: whether more than ``SHARE`` of the result is there on zeros; None if untested.
        met_by: baselines that meet the claim, too, in place of its subject.
        beaten_by: baselines that are better than the subject of a claim that holds.
        even_with: baselines that the subject of an open claim cannot be told from.
        unit: a clause on the claim's amounts in the suspected unit; empty without amounts.
    """

    effect_zeros: float = float("nan")
    alike: bool | None = None
    met_by: tuple[Row, ...] = ()
    beaten_by: tuple[Row, ...] = ()
    even_with: tuple[Row, ...] = ()
    unit: str = ""


class Controls:
    """The evidence of a run for claims, and for the controls of claims.

    Args:
        book: trials of the run.
        epsilon: the tables' epsilon as text.
    """

    def __init__(self, book: TrialValues, epsilon: str) -> None:
        self._book = book
        self._epsilon = epsilon

    def weigh(
        self, claim: Claim, comparisons: Sequence[Comparison], book: TrialValues | None = None
    ) -> tuple[Joint, list[Evidence]]:
        """Return the evidence for comparisons, which are the claim's or take their place."""
        parts = gather(claim, book or self._book, self._epsilon, comparisons)
        p_values = [part.p_for for part in parts], [part.p_against for part in parts]
        return combine(*p_values, claim.every), parts

    def judge(self, cases: Iterable[Case]) -> dict[str, Control]:
        """Return the controls of claims by their id, corrected over all tests of all of them."""
        cases = [case for case in cases if _trials(case.evidence) >= ENOUGH]
        tests = {
            (case.claim.id, kind, row): p
            for case in cases
            for kind, row, p in self._tests(case, self._zeros(case))
        }
        corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
        return {case.claim.id: self._control(case, corrected) for case in cases}

    def baselines(self, claim: Claim) -> list[Row]:
        """Return the baselines that use no record and that the claim does not mention."""
        experiment = claim.comparisons[0].first.experiment
        mentioned = {row.mechanism for row in definitions.rows(claim.comparisons)}
        rows = [Row(experiment, name) for name in catalogue.RECORD_FREE if name not in mentioned]
        return [row for row in rows if self._book.has(row)]

    def _tests(
        self, case: Case, zeros: list[Evidence] | None
    ) -> Iterator[tuple[str, Row | None, float]]:
        """Yield the kind of each control, its baseline, and its two-sided p-value."""
        claim, subject = case.claim, case.claim.comparisons[0].first
        if zeros:
            yield ZEROS, None, _p_alike(case, zeros)
        for row in self.baselines(claim):
            if case.verdict != NOT_REPRODUCED:
                yield MEETS, row, self.weigh(claim, swap_subject(claim.comparisons, row))[0].p_for
            if case.verdict == REPRODUCED:
                yield BEATS, row, self.weigh(claim, [Comparison(row, subject)])[0].p_for
            elif case.verdict != NOT_REPRODUCED:
                yield DIFFERS, row, self.weigh(claim, [Comparison(subject, row)])[0].p
        if amounts := _in_suspected_unit(claim):
            joint, _ = self.weigh(claim, amounts)
            yield UNIT_HOLDS, None, joint.p_for
            yield UNIT_FAILS, None, joint.p_against
            for row in self.baselines(claim):
                yield UNIT_MEETS, row, self.weigh(claim, swap_subject(amounts, row))[0].p_for

    def _zeros(self, case: Case) -> list[Evidence] | None:
        """Return the evidence of the same noise on records of zeros; None without such trials.

        Claims about results without privacy have none.
        """
        rows = {row.mechanism for row in definitions.rows(case.claim.comparisons)}
        if rows & {catalogue.NONPRIVATE, *catalogue.CLIPPED}:
            return None
        try:
            comparisons = separable(case.claim, self._book)
            _, parts = self.weigh(case.claim, comparisons, self._book.control())
        except NotRun:
            return None
        usable = all(part.by_trial is not None for part in [*parts, *case.evidence])
        decided = case.verdict in (REPRODUCED, NOT_REPRODUCED)
        return parts if usable and decided and _trials(parts) >= ENOUGH else None

    def _control(self, case: Case, corrected: dict[tuple[str, str, Row | None], float]) -> Control:
        clear = {key[1:]: p < LEVEL for key, p in corrected.items() if key[0] == case.claim.id}

        def rows(kind: str, outcome: bool = True) -> tuple[Row, ...]:
            return tuple(
                row
                for (of, row), is_clear in clear.items()
                if of == kind and is_clear == outcome and row
            )

        zeros = self._zeros(case) if (ZEROS, None) in clear else None
        unit = ""
        if (UNIT_HOLDS, None) in clear:
            met = rows(UNIT_MEETS)
            if clear[UNIT_HOLDS, None]:
                outcome = f"it holds{f', as for the {label(met[0])}' if met else ''}"
            else:
                outcome = "it fails too" if clear[UNIT_FAILS, None] else "it is open"
            unit = f"in the unit that we suspect ({_converted(case.claim)}) {outcome}"
        return Control(
            effect_zeros=zeros[case.decisive].effect if zeros else float("nan"),
            alike=clear.get((ZEROS, None)),
            met_by=rows(MEETS),
            beaten_by=rows(BEATS),
            even_with=rows(DIFFERS, outcome=False),
            unit=unit,
        )


def swap_subject(comparisons: Sequence[Comparison], baseline: Row) -> list[Comparison]:
    """Return comparisons with a baseline in place of their subject, the first row."""
    subject = comparisons[0].first
    return [
        replace(
            comparison,
            first=baseline if comparison.first == subject else comparison.first,
            second=baseline if comparison.second == subject else comparison.second,
        )
        for comparison in comparisons
    ]


def label(baseline: Row) -> str:
    """Return the name of a baseline within a sentence."""
    return catalogue.label(baseline.mechanism).lower()


def _trials(parts: Sequence[Evidence]) -> int:
    return min(part.n_trials for part in parts)


def _p_alike(case: Case, zeros: Sequence[Evidence]) -> float:
    """Return the p-value of "at most ``SHARE`` of the result is there on zeros".

    It tests the difference of trials on data and on zeros, which share their noise, against what
    remains of our result. The result is how far the comparisons that carry it exceed, or miss,
    their margin: the decisive one if that is enough, and otherwise all of them, of which the least
    clear one counts.
    """
    met = case.verdict == REPRODUCED
    carriers = range(len(zeros)) if met == case.claim.every else [case.decisive]
    p_values = []
    for i in carriers:
        on_data, on_zeros = case.evidence[i].by_trial, zeros[i].by_trial
        assert on_data is not None
        assert on_zeros is not None
        difference = mean_of((on_data - on_zeros).dropna().to_numpy())
        rest = (1 - SHARE) * float(on_data.mean())
        p_values.append(2 * (difference.below(rest) if met else difference.above(rest)))
    return min(1.0, float(max(p_values)))


def _in_suspected_unit(claim: Claim) -> list[Comparison]:
    """Return the comparisons with amounts in the suspected unit; empty without amounts or unit."""
    factors = {catalogue.experiment(name).conjecture for name in claim.experiments}
    if not any(part.absolute for part in claim.comparisons) or len(factors) > 1 or None in factors:
        return []
    (factor,) = factors
    return [
        replace(part, amount=part.amount / float(factor or 1)) if part.absolute else part
        for part in claim.comparisons
    ]


def _converted(claim: Claim) -> str:
    """Return the claim's amounts in the suspected unit, each once."""
    amounts = [part.amount for part in _in_suspected_unit(claim) if part.absolute]
    return " and ".join(short(amount) for amount in dict.fromkeys(amounts))
