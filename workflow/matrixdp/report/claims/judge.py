"""The judge: a verdict on each claim, from the files of a run (see `matrixdp.report.claims`)."""

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

#: Kinds of claims: proved or computed; true or false by definition; tested by trials.
THEOREM, IDENTITY, EXPERIMENT = "theorem", "identity", "experiment"

#: Columns of the ledger. A claim says that ``effect`` exceeds ``margin``; ``power`` is the smallest
#: distance from the margin that the trials detect (see :mod:`matrixdp.report.claims.evidence`).
COLUMNS = (
    *("id", "paper", "place", "claim", "kind", "statistic", "test", "verdict", "effect"),
    *("effect_low", "effect_high", "margin", "power", "evidence", "p", "p_corrected"),
    *("readings_holding", "readings_total", "reason", "shown_by", "data_status", "experiments"),
    "same_as",
)
COMPARISONS = ("id", "better", "worse", "kind", "amount", "epsilon", *Evidence._fields[1:-2])

#: The verdict on a claim, its reason, and other entries of ``COLUMNS``.
Finding = dict[str, Any]


class Weighed(NamedTuple):
    """The evidence for a claim, with p-value and level corrected over the experiment's claims."""

    joint: Joint
    evidence: list[Evidence]
    corrected: float
    level: float


class Judge:
    """A judge of claims on the files of one run.

    Args:
        results: folder of the run.
        experiments: names of its experiments and trainings.
        epsilon: the tables' epsilon as text.
    """

    def __init__(
        self, results: str | os.PathLike, *, experiments: Collection[str], epsilon: str = "1"
    ) -> None:
        self._root = Path(results)
        self._book = Trialbook(results, experiments)
        self._epsilon = epsilon

    def judge(self, claims: Sequence[Claim]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the ledger (``COLUMNS``), and one row per comparison (``COMPARISONS``)."""
        findings: dict[str, Finding] = {}
        weighed: dict[str, tuple[Joint, list[Evidence]]] = {}
        for claim in claims:
            try:
                if claim.kind != "compare":
                    findings[claim.id] = self._exact(claim)
                elif all(self._book.same_law(c.first, c.second) for c in claim.comparisons):
                    findings[claim.id] = self._identical(claim)
                else:
                    weighed[claim.id] = self._weigh(claim, self._comparisons_to_judge(claim))
            except NotRun as reason:
                findings[claim.id] = {"verdict": UNDECIDED, "reason": f"not run: {reason}"}
        compared = [claim for claim in claims if claim.id in weighed]
        values = pd.Series({name: joint.p for name, (joint, _) in weighed.items()}, dtype=float)
        families = {claim.id: claim.experiments[0] for claim in compared}
        corrected = values.groupby(families).transform(holm)
        for claim in compared:
            level = LEVEL / [*families.values()].count(families[claim.id])
            result = Weighed(*weighed[claim.id], corrected[claim.id], level)
            findings[claim.id] = self._ordering(claim, result)
        untested = dict.fromkeys(("statistic", "test", "evidence", "data_status"), "")
        rows = [
            vars(claim)
            | untested
            | {"kind": _kind(claim)}
            | findings[claim.id]
            | _describe(claim, findings[claim.id])
            for claim in claims
        ]
        counts = dict.fromkeys(("readings_holding", "readings_total"), "Int64")
        table = pd.DataFrame(rows, columns=[*COLUMNS]).astype(counts)
        records = [_record(name, part) for name, (_, parts) in weighed.items() for part in parts]
        return table, pd.DataFrame(records, columns=[*COMPARISONS])

    def _weigh(
        self, claim: Claim, comparisons: Sequence[Comparison], book: Trialbook | None = None
    ) -> tuple[Joint, list[Evidence]]:
        """Return the evidence for comparisons, which are the claim's or take their place."""
        parts = gather(claim, book or self._book, self._epsilon, comparisons)
        p_values = [part.p_for for part in parts], [part.p_against for part in parts]
        return jointly(*p_values, claim.every), parts

    def _ordering(self, claim: Claim, weighed: Weighed) -> Finding:
        """Return the verdict on a claim that orders rows, after all checks of its evidence."""
        statuses = {
            self._book.status(part.comparison.first.experiment) for part in weighed.evidence
        }
        finding = self._settle(claim, weighed) | {"data_status": " and ".join(sorted(statuses))}
        finding |= {"p": weighed.joint.p, "p_corrected": weighed.corrected}
        reason = finding["reason"]
        if summary.SIMULATED in statuses:
            reason = "run on simulated data, not on the paper's"
            return finding | {"verdict": UNTESTABLE, "reason": reason}
        if argued := self._argued(claim):
            columns = {"test": "argument", "p": float("nan"), "p_corrected": float("nan")}
            reason = f"{argued}; in trials, {reason}"
            return finding | columns | {"verdict": REPRODUCED, "reason": reason}
        if min(part.n_trials for part in weighed.evidence) < ENOUGH:
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
        met = (row for row in guesses if self._meets(row, claim))
        if finding["verdict"] != NOT_REPRODUCED and (guess := next(met, None)):
            reason = f"the {_label(guess)} meets it too; ours: {reason}"
            finding |= {"verdict": UNINFORMATIVE, "reason": reason}
        like = (row for row in guesses if self._is_like(row, claim))
        if finding["verdict"] == UNDECIDED and (guess := next(like, None)):
            finding["reason"] += f"; nor can ours be told from the {_label(guess)}"
        return self._over_readings(claim, finding)

    def _without_data(self, claim: Claim) -> str:
        """Return the verdict on the same noise without data, where all records are zero.

        A verdict that zeros give too does not depend on the data. The result is empty where zeros
        decide nothing, and for claims about results without privacy.
        """
        rows = {row.mechanism for row in ledger.rows(claim.comparisons)}
        if rows & {catalogue.NONPRIVATE, *catalogue.CLIPPED}:
            return ""
        try:
            joint, parts = self._weigh(
                claim, self._comparisons_to_judge(claim), self._book.control()
            )
        except NotRun:
            return ""
        if min(part.n_trials for part in parts) < ENOUGH:
            return ""
        met, failed = joint.p_for < LEVEL, joint.p_against < LEVEL
        return REPRODUCED if met and not failed else NOT_REPRODUCED if failed and not met else ""

    def _other_unit(self, claim: Claim) -> str:
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

    def _otherwise(self, claim: Claim, finding: Finding) -> Finding:
        """Return the finding, with another verdict if the claim's ``otherwise`` holds."""
        if not claim.otherwise or finding["verdict"] not in (NOT_REPRODUCED, UNDECIDED):
            return finding
        reading = claim.test["otherwise"]["reading"]
        try:
            joint, parts = self._weigh(claim, claim.otherwise)
        except NotRun as reason:
            return finding | {"reason": f"{finding['reason']}; {reading}: not run: {reason}"}
        weakest = parts[joint.weakest]
        first, second = (
            self._name(row, claim) for row in (weakest.comparison.first, weakest.comparison.second)
        )
        means = (
            f"{first}: {short(weakest.mean_better, 4)}; {second}: {short(weakest.mean_worse, 4)}"
        )
        finding = finding | {"reason": f"{finding['reason']}; {reading}: {means}"}
        if weakest.n_trials >= ENOUGH and joint.p_for < LEVEL:
            finding["verdict"] = f"{ONLY_UNDER} {reading}"
        return finding

    def _settle(self, claim: Claim, weighed: Weighed) -> Finding:
        """Return the verdict by the trials alone, with the numbers of the decisive comparison."""
        joint, evidence, corrected, level = weighed
        prefix, part = "", evidence[joint.weakest]
        if joint.p_against / joint.p * corrected < LEVEL:
            verdict, part = NOT_REPRODUCED, evidence[joint.strongest_against]
        elif joint.p_for / joint.p * corrected < LEVEL:
            verdict = REPRODUCED
        else:
            verdict, prefix = UNDECIDED, "no clear difference: "
        if len(evidence) > 1 and verdict == REPRODUCED and claim.every:
            prefix = f"the closest of {len(evidence)}: "
        first, second = (
            self._name(row, claim) for row in (part.comparison.first, part.comparison.second)
        )
        metric = self._book.metric(part.comparison.first.experiment)
        operator = "over" if part.comparison.kind == "times" else "minus"
        ends = (first, second) if claim.larger else (second, first)
        reason = f"{first}: {short(part.mean_better, 4)}; {second}: {short(part.mean_worse, 4)}"
        if part.comparison.epsilon:
            reason += f" at epsilon {part.comparison.epsilon}"
        return {
            **part._asdict(),
            "test": f"{'paired' if part.paired else 'Welch'} t, Holm",
            "evidence": f"{part.n_trials:,} {'paired ' if part.paired else ''}trials",
            "power": part.detectable(level),
            "verdict": verdict,
            "reason": prefix + reason + self._print(claim),
            "statistic": f"{metric} of {ends[0]} {operator} that of {ends[1]}",
        }

    def _identical(self, claim: Claim) -> Finding:
        """Return the verdict on rows with the same noise distribution."""
        holds = [comparison.kind == "within" for comparison in claim.comparisons]
        return {
            "kind": IDENTITY,
            "verdict": REPRODUCED if (all if claim.every else any)(holds) else NOT_REPRODUCED,
            "reason": "the two are one law of noise under two names: neither is ever better",
            "test": "identity",
            "evidence": "one law of noise",
        }

    def _argued(self, claim: Claim) -> str:
        """Return the argument that decides a claim without trials; empty for none."""
        checks = claim.test.get("argument", ())
        try:
            numbers = self._numbers(checks) if checks else None
        except NotRun:
            numbers = None
        if numbers is None or not numbers["holds"].all():
            return ""
        number = numbers.iloc[0]
        return f"by construction, {number['statistic']}: {short(number['value'], 2)}"

    def _comparisons_to_judge(self, claim: Claim) -> Sequence[Comparison]:
        """Return the comparisons of a claim that are judged.

        If the claim is read off the paper's numbers, the paper's intervals must separate the rows.
        NotRun: they separate none.
        """
        if not claim.test.get("read_off"):
            return claim.comparisons
        close = _unseparated(claim.comparisons)
        separated = [comparison for comparison in claim.comparisons if comparison not in close]
        if not separated:
            raise NotRun("the paper's own intervals separate none of the rows")
        return separated

    def _print(self, claim: Claim) -> str:
        """Return a clause on rows that the paper's own intervals do not separate; may be empty."""
        close = " or ".join(
            " from ".join(self._name(row, claim) for row in (comparison.first, comparison.second))
            for comparison in _unseparated(claim.comparisons)
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
        """Return whether a baseline meets the claim in place of its subject."""
        joint, _ = self._weigh(claim, _swap_subject(claim, guess))
        return joint.p_for < LEVEL <= joint.p_against

    def _is_like(self, guess: Row, claim: Claim) -> bool:
        """Return whether no clear difference separates the claim's subject from a baseline."""
        joint, _ = self._weigh(claim, [Comparison(claim.comparisons[0].first, guess)])
        return joint.p >= LEVEL

    def _guesses(self, claim: Claim) -> list[Row]:
        """Return the baselines that use no record and that the claim does not mention."""
        experiment = claim.comparisons[0].first.experiment
        taken = {row.mechanism for row in ledger.rows(claim.comparisons)}
        rows = [Row(experiment, name) for name in catalogue.GUESSES if name not in taken]
        return [row for row in rows if self._book.has(row)]

    def _over_readings(self, claim: Claim, finding: Finding) -> Finding:
        """Return the finding with counts of readings, and the verdict that other readings give."""
        if len(claim.experiments) > 1 or claim.test.get("epsilons", "table") != "table":
            return finding
        swept = across.read(self._root / "readings" / f"{claim.experiments[0]}.csv")
        if swept is None:
            return finding
        share = across.share(
            swept,
            self._comparisons_to_judge(claim),
            epsilon=self._epsilon,
            larger=claim.larger,
            every=claim.every,
            guesses=[_swap_subject(claim, guess) for guess in self._guesses(claim)],
        )
        finding |= {"readings_holding": share.holding, "readings_total": share.total}
        if finding["verdict"] in (NOT_REPRODUCED, UNDECIDED) and share.sure:
            others = len(share.sure) - 1
            more = f" and {others} more" if others else ""
            finding |= {"verdict": f"{ONLY_UNDER} {share.sure[0]}{more}"}
        elif finding["verdict"] != REPRODUCED and share.holding:
            but = "in none after correction for their number"
            if share.guessed:
                but = f"a baseline satisfies the {share.guessed} that remain after correction too"
            reason = f"it holds in {share.holding} of {share.total} readings, but {but}"
            finding |= {"reason": f"{finding['reason']}; {reason}"}
        return finding

    def _exact(self, claim: Claim) -> Finding:
        """Return the verdict on an exact claim. NotRun: the claim has no test, or no numbers."""
        if claim.kind == "not_run":
            raise NotRun(" ".join(claim.test["not_run"].split()))
        numbers = self._numbers(claim.test["exact"])
        # The first failing number, or else the first one.
        number = numbers.sort_values("holds", kind="stable").iloc[0]
        reason = f"{number['statistic']}: {short(number['value'], 4)}"
        if number["holds"]:
            verdict = REPRODUCED
            reason = reason if len(numbers) == 1 else f"all {len(numbers)} numbers hold; {reason}"
        else:
            reason += f", should be {number['relation']} {short(number['expected'], 4)}"
            verdict, otherwise = NOT_REPRODUCED, claim.test.get("otherwise")
            if otherwise and self._numbers(otherwise["exact"])["holds"].all():
                verdict = f"{ONLY_UNDER} {otherwise['reading']}"
        columns = {"statistic": number["statistic"], "effect": number["value"]}
        columns |= {
            "test": "numeric",
            "evidence": f"{len(numbers)} number{'s' * (len(numbers) > 1)}",
        }
        return {"verdict": verdict, "reason": reason, **columns}

    def _numbers(self, names: Sequence[str]) -> pd.DataFrame:
        """Return the numbers of checks. NotRun: a check has none."""
        path = self._root / "theory" / "exact.csv"
        if not path.is_file():
            raise NotRun("results/theory/exact.csv is missing")
        numbers = pd.read_csv(path)
        if {*names} - {*numbers["check"]}:
            raise NotRun("a check is missing in results/theory/exact.csv")
        return numbers[numbers["check"].isin(names)]


def _kind(claim: Claim) -> str:
    """Return the kind of a claim, apart from identities by equal noise distributions."""
    if claim.kind in ("compare", "not_run"):
        return EXPERIMENT
    return IDENTITY if claim.identity else THEOREM


def _unseparated(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons whose rows the paper's printed intervals do not separate."""
    unseparated = []
    for comparison in comparisons:
        published = inputs.read(
            f"published/{catalogue.experiment(comparison.first.experiment).results}", ""
        )
        cells = [
            published[published["mechanism"].eq(row.mechanism) & published["interval"].ne("")]
            for row in (comparison.first, comparison.second)
            if row.experiment == comparison.first.experiment and row.direction is None
        ]
        if len(cells) == 2 and all(len(cell) == 1 for cell in cells):
            (a, b), margins = (
                [float(cell[name].iloc[0]) for cell in cells] for name in ("value", "interval")
            )
            if covers(a - b, *margins):
                unseparated.append(comparison)
    return unseparated


def _describe(claim: Claim, finding: Finding) -> dict[str, str]:
    """Return the text columns of a claim: the full reason, and lists of names."""
    reason = ". ".join(filter(None, [finding["reason"], claim.note])).strip(".")
    lists = {"shown_by": claim.shown_by, "experiments": claim.experiments}
    return {"reason": reason} | {name: " ".join(names) for name, names in lists.items()}


def _label(guess: Row) -> str:
    return catalogue.label(guess.mechanism).lower()


def _swap_subject(claim: Claim, guess: Row) -> list[Comparison]:
    """Return the claim's comparisons with a baseline in place of their subject."""
    subject = claim.comparisons[0].first
    return [
        replace(
            comparison,
            first=guess if comparison.first == subject else comparison.first,
            second=guess if comparison.second == subject else comparison.second,
        )
        for comparison in claim.comparisons
    ]


def _record(name: str, part: Evidence) -> dict[str, object]:
    """Return the row of ``COMPARISONS`` for one comparison of the claim ``name``."""
    better, worse = (
        f"{row.experiment}:{row.mechanism}" + (f"/{row.direction}" if row.direction else "")
        for row in (part.comparison.first, part.comparison.second)
    )
    names = {"id": name, "better": better, "worse": worse}
    return part._asdict() | vars(part.comparison) | names
