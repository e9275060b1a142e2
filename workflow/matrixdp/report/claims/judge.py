"""From the files of a run to a verdict on each claim (see :mod:`matrixdp.report.claims`)."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import inputs, summary
from matrixdp.report.claims import across, ledger
from matrixdp.report.claims.evidence import Evidence, gather
from matrixdp.report.claims.ledger import Claim, Comparison, Row
from matrixdp.report.claims.trialbook import NotRun, Trialbook
from matrixdp.report.markup import short
from matrixdp.report.statistics import ENOUGH, LEVEL, Joint, covers, holm, jointly

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
ONLY_UNDER, UNINFORMATIVE = "reproduced only under", "uninformative"
UNDECIDED, UNTESTABLE = "undecided", "untestable here"

#: What a claim is: proved or computed; true or false by definition; or a matter of trials.
THEOREM, IDENTITY, EXPERIMENT = "theorem", "identity", "experiment"

#: ``margin`` is what the claim asks the effect to be above, ``power`` how far from it an effect
#: must be for these trials to show it (see :mod:`matrixdp.report.claims.evidence`).
COLUMNS = (
    *("id", "paper", "place", "claim", "kind", "statistic", "test", "verdict", "effect"),
    *("effect_low", "effect_high", "margin", "power", "evidence", "p", "p_corrected"),
    *("readings_holding", "readings_total", "reason", "shown_by", "data_status", "experiments"),
    "same_as",
)
COMPARISONS = ("id", "better", "worse", "kind", "amount", "epsilon", *Evidence._fields[1:-2])

#: What becomes of a claim: its verdict and reason, and what else of ``COLUMNS`` there is.
Finding = dict[str, Any]


class Weighed(NamedTuple):
    """The evidence for a claim, with the p-value and the level corrected over its experiment's."""

    joint: Joint
    evidence: list[Evidence]
    corrected: float
    level: float


class Judge:
    """Judges claims on the files of one run, with its experiments and the tables' epsilon."""

    def __init__(
        self, results: str | os.PathLike, *, experiments: Collection[str], epsilon: str = "1"
    ) -> None:
        self._root = Path(results)
        self._book = Trialbook(results, experiments)
        self._epsilon = epsilon

    def judge(self, claims: Sequence[Claim]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the ledger (``COLUMNS``), and one row per comparison (``COMPARISONS``)."""
        found: dict[str, Finding] = {}
        weighed: dict[str, tuple[Joint, list[Evidence]]] = {}
        for claim in claims:
            try:
                if claim.kind != "compare":
                    found[claim.id] = self._exact(claim)
                elif all(self._book.same_law(c.first, c.second) for c in claim.comparisons):
                    found[claim.id] = self._identical(claim)
                else:
                    weighed[claim.id] = self._weigh(claim, self._asked(claim))
            except NotRun as reason:
                found[claim.id] = {"verdict": UNDECIDED, "reason": f"not run: {reason}"}
        compared = [claim for claim in claims if claim.id in weighed]
        values = pd.Series({name: joint.p for name, (joint, _) in weighed.items()}, dtype=float)
        families = {claim.id: claim.experiments[0] for claim in compared}
        corrected = values.groupby(families).transform(holm)
        for claim in compared:
            level = LEVEL / [*families.values()].count(families[claim.id])
            whole = Weighed(*weighed[claim.id], corrected[claim.id], level)
            found[claim.id] = self._ordering(claim, whole)
        untested = dict.fromkeys(("statistic", "test", "evidence", "data_status"), "")
        rows = [
            vars(one) | untested | {"kind": _kind(one)} | found[one.id] | _told(one, found[one.id])
            for one in claims
        ]
        counts = dict.fromkeys(("readings_holding", "readings_total"), "Int64")
        table = pd.DataFrame(rows, columns=[*COLUMNS]).astype(counts)
        listed = [_listed(name, one) for name, (_, parts) in weighed.items() for one in parts]
        return table, pd.DataFrame(listed, columns=[*COMPARISONS])

    def _weigh(
        self, claim: Claim, comparisons: Sequence[Comparison], book: Trialbook | None = None
    ) -> tuple[Joint, list[Evidence]]:
        """Return the evidence for a claim's comparisons, or for others put in their place."""
        parts = gather(claim, book or self._book, self._epsilon, comparisons)
        p_values = [one.p_for for one in parts], [one.p_against for one in parts]
        return jointly(*p_values, claim.every), parts

    def _ordering(self, claim: Claim, found: Weighed) -> Finding:
        statuses = {self._book.status(one.comparison.first.experiment) for one in found.evidence}
        finding = self._settle(claim, found) | {"data_status": " and ".join(sorted(statuses))}
        finding |= {"p": found.joint.p, "p_corrected": found.corrected}
        reason = finding["reason"]
        if summary.SIMULATED in statuses:
            reason = "run on simulated data, not on the paper's"
            return finding | {"verdict": UNTESTABLE, "reason": reason}
        if argued := self._argued(claim):
            told = {"test": "argument", "p": float("nan"), "p_corrected": float("nan")}
            reason = f"{argued}; in trials, {reason}"
            return finding | told | {"verdict": REPRODUCED, "reason": reason}
        if min(one.n_trials for one in found.evidence) < ENOUGH:
            reason = f"fewer than {ENOUGH} trials order nothing; {reason}"
            return self._otherwise(claim, finding | {"verdict": UNDECIDED, "reason": reason})
        if finding["verdict"] == NOT_REPRODUCED and (unit := self._other_unit(claim)):
            finding |= {"verdict": UNINFORMATIVE, "reason": f"{unit}; ours: {reason}"}
            return self._over_readings(claim, finding)
        if finding["verdict"] == self._without_data(claim):
            reason = f"the same noise on records of zeros gives the same; ours: {reason}"
            return self._over_readings(
                claim, finding | {"verdict": UNINFORMATIVE, "reason": reason}
            )
        finding = self._otherwise(claim, finding)
        if finding["verdict"].startswith(ONLY_UNDER):
            return finding
        guesses = self._guesses(claim)
        met = (one for one in guesses if self._meets(one, claim))
        if finding["verdict"] != NOT_REPRODUCED and (guess := next(met, None)):
            reason = f"the {_called(guess)} meets it too; ours: {reason}"
            finding |= {"verdict": UNINFORMATIVE, "reason": reason}
        like = (one for one in guesses if self._is_like(one, claim))
        if finding["verdict"] == UNDECIDED and (guess := next(like, None)):
            finding["reason"] += f"; nor can ours be told from the {_called(guess)}"
        return self._over_readings(claim, finding)

    def _without_data(self, claim: Claim) -> str:
        """Return what the same mechanisms come to on records of zeros; empty for neither.

        What they meet or fail alike, the data have no part in. A result without privacy has data.
        """
        rows = {row.mechanism for row in ledger.rows(claim.comparisons)}
        if rows & {catalogue.NONPRIVATE, *catalogue.CLIPPED}:
            return ""
        try:
            joint, parts = self._weigh(claim, self._asked(claim), self._book.control())
        except NotRun:
            return ""
        if min(one.n_trials for one in parts) < ENOUGH:
            return ""
        met, failed = joint.p_for < LEVEL, joint.p_against < LEVEL
        return REPRODUCED if met and not failed else NOT_REPRODUCED if failed and not met else ""

    def _other_unit(self, claim: Claim) -> str:
        """Say what an amount would be in the unit that we suspect a paper of; or nothing."""
        factors = {catalogue.experiment(name).conjecture for name in claim.experiments}
        amounts = [one.amount for one in claim.comparisons if one.absolute]
        if not amounts or len(factors) > 1 or None in factors:
            return ""
        (factor,) = factors
        said = " and ".join(short(one) for one in dict.fromkeys(amounts))
        other = " and ".join(short(one / float(factor or 1)) for one in dict.fromkeys(amounts))
        return f"{said} in the printed unit is {other} in the one that we suspect"

    def _otherwise(self, claim: Claim, finding: Finding) -> Finding:
        """Return the finding, with the verdict of the claim's other reading where it holds."""
        if not claim.otherwise or finding["verdict"] not in (NOT_REPRODUCED, UNDECIDED):
            return finding
        reading = claim.test["otherwise"]["reading"]
        try:
            joint, parts = self._weigh(claim, claim.otherwise)
        except NotRun as reason:
            return finding | {"reason": f"{finding['reason']}; {reading}: not run: {reason}"}
        one = parts[joint.weakest]
        first, second = (
            self._name(row, claim) for row in (one.comparison.first, one.comparison.second)
        )
        means = f"{first}: {short(one.mean_better, 4)}; {second}: {short(one.mean_worse, 4)}"
        finding = finding | {"reason": f"{finding['reason']}; {reading}: {means}"}
        if one.n_trials >= ENOUGH and joint.p_for < LEVEL:
            finding["verdict"] = f"{ONLY_UNDER} {reading}"
        return finding

    def _settle(self, claim: Claim, found: Weighed) -> Finding:
        """Return the verdict of the trials alone, with the comparison that decides it."""
        joint, evidence, corrected, level = found
        prefix, one = "", evidence[joint.weakest]
        if joint.p_against / joint.p * corrected < LEVEL:
            verdict, one = NOT_REPRODUCED, evidence[joint.strongest_against]
        elif joint.p_for / joint.p * corrected < LEVEL:
            verdict = REPRODUCED
        else:
            verdict, prefix = UNDECIDED, "no clear difference: "
        if len(evidence) > 1 and verdict == REPRODUCED and claim.every:
            prefix = f"the closest of {len(evidence)}: "
        first, second = (
            self._name(row, claim) for row in (one.comparison.first, one.comparison.second)
        )
        metric = self._book.metric(one.comparison.first.experiment)
        operator = "over" if one.comparison.kind == "times" else "minus"
        ends = (first, second) if claim.larger else (second, first)
        reason = f"{first}: {short(one.mean_better, 4)}; {second}: {short(one.mean_worse, 4)}"
        if one.comparison.epsilon:
            reason += f" at epsilon {one.comparison.epsilon}"
        return {
            **one._asdict(),
            "test": f"{'paired' if one.paired else 'Welch'} t, Holm",
            "evidence": f"{one.n_trials:,} {'paired ' if one.paired else ''}trials",
            "power": one.detectable(level),
            "verdict": verdict,
            "reason": prefix + reason + self._print(claim),
            "statistic": f"{metric} of {ends[0]} {operator} that of {ends[1]}",
        }

    def _identical(self, claim: Claim) -> Finding:
        """Return the verdict on rows that are one law of noise under two names."""
        holds = [one.kind == "within" for one in claim.comparisons]
        return {
            "kind": IDENTITY,
            "verdict": REPRODUCED if (all if claim.every else any)(holds) else NOT_REPRODUCED,
            "reason": "the two are one law of noise under two names: neither is ever better",
            "test": "identity",
            "evidence": "one law of noise",
        }

    def _argued(self, claim: Claim) -> str:
        """Return the argument that decides a claim whatever the trials; or nothing."""
        named = claim.test.get("argument", ())
        try:
            numbers = self._numbers(named) if named else None
        except NotRun:
            numbers = None
        if numbers is None or not numbers["holds"].all():
            return ""
        shown = numbers.iloc[0]
        return f"by construction, {shown['statistic']}: {short(shown['value'], 2)}"

    def _asked(self, claim: Claim) -> Sequence[Comparison]:
        """Return the comparisons of a claim; if it is from print, those that print separates."""
        if not claim.test.get("read_off"):
            return claim.comparisons
        close = _unseparated(claim.comparisons)
        left = [one for one in claim.comparisons if one not in close]
        if not left:
            raise NotRun("the paper's own intervals separate none of the rows")
        return left

    def _print(self, claim: Claim) -> str:
        """Say which comparisons of a claim the paper's own intervals do not separate."""
        close = " or ".join(
            " from ".join(self._name(row, claim) for row in (one.first, one.second))
            for one in _unseparated(claim.comparisons)
        )
        left = ", and are left out" if claim.test.get("read_off") else ""
        return f"; the paper's own intervals do not separate {close}{left}" if close else ""

    def _name(self, row: Row, claim: Claim) -> str:
        label = catalogue.label(row.mechanism)
        details = [f"direction {row.direction}"] if row.direction else []
        if len(claim.experiments) > 1:
            details.append(catalogue.experiment(row.experiment).name)
        return f"{label} ({', '.join(details)})" if details else label

    def _meets(self, guess: Row, claim: Claim) -> bool:
        """Return whether a guess meets the claim in place of its subject."""
        joint, _ = self._weigh(claim, _swapped(claim, guess))
        return joint.p_for < LEVEL <= joint.p_against

    def _is_like(self, guess: Row, claim: Claim) -> bool:
        """Return whether the subject of the claim cannot be told from a guess."""
        joint, _ = self._weigh(claim, [Comparison(claim.comparisons[0].first, guess)])
        return joint.p >= LEVEL

    def _guesses(self, claim: Claim) -> list[Row]:
        """Return the rows that use no record, but for those that the claim is about."""
        experiment = claim.comparisons[0].first.experiment
        taken = {row.mechanism for row in ledger.rows(claim.comparisons)}
        rows = [Row(experiment, name) for name in catalogue.GUESSES if name not in taken]
        return [row for row in rows if self._book.has(row)]

    def _over_readings(self, claim: Claim, finding: Finding) -> Finding:
        if len(claim.experiments) > 1 or claim.test.get("epsilons", "table") != "table":
            return finding
        swept = across.read(self._root / "readings" / f"{claim.experiments[0]}.csv")
        if swept is None:
            return finding
        share = across.share(
            swept,
            self._asked(claim),
            epsilon=self._epsilon,
            larger=claim.larger,
            every=claim.every,
            guesses=[_swapped(claim, guess) for guess in self._guesses(claim)],
        )
        finding |= {"readings_holding": share.holding, "readings_total": share.total}
        if finding["verdict"] in (NOT_REPRODUCED, UNDECIDED) and share.sure:
            others = len(share.sure) - 1
            more = f" and {others} more" if others else ""
            finding |= {"verdict": f"{ONLY_UNDER} {share.sure[0]}{more}"}
        elif finding["verdict"] != REPRODUCED and share.holding:
            but = "in none once corrected for their number"
            if share.guessed:
                but = f"a guess meets it too in the {share.guessed} left once corrected"
            reason = f"it holds in {share.holding} of {share.total} readings, but {but}"
            finding |= {"reason": f"{finding['reason']}; {reason}"}
        return finding

    def _exact(self, claim: Claim) -> Finding:
        if claim.kind == "not_run":
            raise NotRun(" ".join(claim.test["not_run"].split()))
        wanted = self._numbers(claim.test["exact"])
        # The first number that fails, if one does.
        shown = wanted.sort_values("holds", kind="stable").iloc[0]
        reason = f"{shown['statistic']}: {short(shown['value'], 4)}"
        if shown["holds"]:
            verdict = REPRODUCED
            reason = reason if len(wanted) == 1 else f"all {len(wanted)} numbers hold; {reason}"
        else:
            reason += f", should be {shown['relation']} {short(shown['expected'], 4)}"
            verdict, otherwise = NOT_REPRODUCED, claim.test.get("otherwise")
            if otherwise and self._numbers(otherwise["exact"])["holds"].all():
                verdict = f"{ONLY_UNDER} {otherwise['reading']}"
        told = {"statistic": shown["statistic"], "effect": shown["value"]}
        told |= {"test": "numeric", "evidence": f"{len(wanted)} number{'s' * (len(wanted) > 1)}"}
        return {"verdict": verdict, "reason": reason, **told}

    def _numbers(self, names: Sequence[str]) -> pd.DataFrame:
        """Return the numbers of checks, all of which must have some (NotRun)."""
        path = self._root / "theory" / "exact.csv"
        if not path.is_file():
            raise NotRun("results/theory/exact.csv is missing")
        numbers = pd.read_csv(path)
        if {*names} - {*numbers["check"]}:
            raise NotRun("a check is missing in results/theory/exact.csv")
        return numbers[numbers["check"].isin(names)]


def _kind(claim: Claim) -> str:
    """Return what a claim is, unless its rows turn out to be one law."""
    if claim.kind in ("compare", "not_run"):
        return EXPERIMENT
    return IDENTITY if claim.identity else THEOREM


def _unseparated(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of rows that the intervals which the paper prints do not separate."""
    found = []
    for one in comparisons:
        printed = inputs.read(f"published/{catalogue.experiment(one.first.experiment).results}", "")
        cells = [
            printed[printed["mechanism"].eq(row.mechanism) & printed["interval"].ne("")]
            for row in (one.first, one.second)
            if row.experiment == one.first.experiment and row.direction is None
        ]
        if len(cells) == 2 and all(len(cell) == 1 for cell in cells):
            (a, b), margins = (
                [float(cell[name].iloc[0]) for cell in cells] for name in ("value", "interval")
            )
            if covers(a - b, *margins):
                found.append(one)
    return found


def _told(claim: Claim, finding: Finding) -> dict[str, str]:
    said = ". ".join(filter(None, [finding["reason"], claim.note])).strip(".")
    lists = {"shown_by": claim.shown_by, "experiments": claim.experiments}
    return {"reason": said} | {name: " ".join(names) for name, names in lists.items()}


def _called(guess: Row) -> str:
    return catalogue.label(guess.mechanism).lower()


def _swapped(claim: Claim, guess: Row) -> list[Comparison]:
    """Return the claim's comparisons with a guess in place of their subject."""
    subject = claim.comparisons[0].first
    return [
        replace(
            one,
            first=guess if one.first == subject else one.first,
            second=guess if one.second == subject else one.second,
        )
        for one in claim.comparisons
    ]


def _listed(name: str, one: Evidence) -> dict[str, object]:
    better, worse = (
        f"{row.experiment}:{row.mechanism}" + (f"/{row.direction}" if row.direction else "")
        for row in (one.comparison.first, one.comparison.second)
    )
    which = {"id": name, "better": better, "worse": worse}
    return one._asdict() | vars(one.comparison) | which
