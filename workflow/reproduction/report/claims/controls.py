"""Controls of claims that order rows: baselines, noise without data, and the suspected unit.

A verdict says nothing about a mechanism if a baseline or the noise alone gives it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reproduction import catalogue
from reproduction.report.claims import definitions
from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.intervals import separable
from reproduction.report.claims.trial_evidence import Evidence, gather
from reproduction.report.claims.trial_values import NotRun, TrialValues
from reproduction.report.claims.verdicts import NOT_REPRODUCED, REPRODUCED
from reproduction.report.markup import short
from reproduction.report.statistics import ENOUGH, LEVEL, Joint, combine


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

    def without_data(self, claim: Claim) -> str:
        """Return the verdict on the same noise without data, where all records are zero.

        A verdict that zeros give too does not depend on the data. The result is empty where zeros
        decide nothing, and for claims about results without privacy.
        """
        rows = {row.mechanism for row in definitions.rows(claim.comparisons)}
        if rows & {catalogue.NONPRIVATE, *catalogue.CLIPPED}:
            return ""
        try:
            joint, parts = self.weigh(claim, separable(claim, self._book), self._book.control())
        except NotRun:
            return ""
        if min(part.n_trials for part in parts) < ENOUGH:
            return ""
        met, failed = joint.p_for < LEVEL, joint.p_against < LEVEL
        return REPRODUCED if met and not failed else NOT_REPRODUCED if failed and not met else ""

    def baselines(self, claim: Claim) -> list[Row]:
        """Return the baselines that use no record and that the claim does not mention."""
        experiment = claim.comparisons[0].first.experiment
        mentioned = {row.mechanism for row in definitions.rows(claim.comparisons)}
        rows = [Row(experiment, name) for name in catalogue.RECORD_FREE if name not in mentioned]
        return [row for row in rows if self._book.has(row)]

    def meets(self, baseline: Row, claim: Claim) -> bool:
        """Return whether a baseline meets the claim in place of its subject."""
        joint, _ = self.weigh(claim, swap_subject(claim, baseline))
        return joint.p_for < LEVEL <= joint.p_against

    def equals(self, baseline: Row, claim: Claim) -> bool:
        """Return whether no clear difference separates the claim's subject from a baseline."""
        joint, _ = self.weigh(claim, [Comparison(claim.comparisons[0].first, baseline)])
        return joint.p >= LEVEL


def swap_subject(claim: Claim, baseline: Row) -> list[Comparison]:
    """Return the claim's comparisons with a baseline in place of their subject."""
    subject = claim.comparisons[0].first
    return [
        replace(
            comparison,
            first=baseline if comparison.first == subject else comparison.first,
            second=baseline if comparison.second == subject else comparison.second,
        )
        for comparison in claim.comparisons
    ]


def other_unit(claim: Claim) -> str:
    """Return a clause on the claim's amounts in the suspected unit; empty without amounts."""
    factors = {catalogue.experiment(name).conjecture for name in claim.experiments}
    amounts = [part.amount for part in claim.comparisons if part.absolute]
    if not amounts or len(factors) > 1 or None in factors:
        return ""
    (factor,) = factors
    amount_text = " and ".join(short(amount) for amount in dict.fromkeys(amounts))
    converted = " and ".join(
        short(amount / float(factor or 1)) for amount in dict.fromkeys(amounts)
    )
    return f"{amount_text} in the printed unit is {converted} in the one that we suspect"
