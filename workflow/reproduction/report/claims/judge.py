"""From claims to the ledger in one pass: tests, decision, columns.

Each claim that orders rows is one or several tests (:mod:`reproduction.report.claims.evidence`),
which are corrected together, and decided. Its controls follow, and its columns.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.files import write_text
from reproduction.report import findings, inputs, summary
from reproduction.report.claims import across, controls, evidence, exact_claims, printed
from reproduction.report.claims.controls import Control
from reproduction.report.claims.definitions import Claim, Row
from reproduction.report.claims.evidence import Case, Evidence
from reproduction.report.claims.trials import NotRun, Trials
from reproduction.report.findings import (
    NARROWER,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)
from reproduction.report.inputs import Files
from reproduction.report.markup import short
from reproduction.report.statistics import ENOUGH, LEVEL, holm

#: Columns of the comparisons behind the verdicts.
COMPARISONS = ("id", "better", "worse", "relation", "amount", "epsilon", *Evidence._fields[1:-2])


@dataclass(frozen=True)
class Tests:
    """The tests of a claim that orders rows.

    Attributes:
        case: the claim as printed.
        other: the claim in its other reading, if it has one.
        missing: why that was not run.
    """

    case: Case
    other: Case | None = None
    missing: str = ""


@dataclass(frozen=True)
class Decision:
    """A verdict, its condition, and its reasons."""

    verdict: str
    condition: str = ""
    reasons: list[str] = field(default_factory=list)


def write(
    claims: Sequence[Claim], files: Files, out: str | os.PathLike, comparisons: str | os.PathLike
) -> None:
    """Write the verdicts on claims, and the comparisons behind them, as CSV.

    Args:
        claims: the claims.
        files: files of the run by name.
        out: the verdicts.
        comparisons: the comparisons.
    """
    judge = Judge(files, epsilon=inputs.read("settings", files)["table_epsilon"])
    for file, table in zip((out, comparisons), judge.judge(claims), strict=True):
        write_text(file, table.to_csv(index=False, lineterminator="\n"))


class Judge:
    """A judge of claims on the files of one run.

    Args:
        files: files of the run by name (:mod:`reproduction.report.inputs`).
        epsilon: the tables' epsilon as text.
    """

    def __init__(self, files: Files, *, epsilon: str) -> None:
        self._files = files
        self._trials = Trials(files, epsilon)

    def judge(self, claims: Sequence[Claim]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the ledger, and one row per comparison (``COMPARISONS``)."""
        by_id: dict[str, dict[str, Any]] = {}
        tests: dict[str, Tests] = {}
        for claim in claims:
            try:
                if not claim.comparisons:
                    by_id[claim.id] = exact_claims.finding(claim, self._files)
                elif all(
                    self._trials.same_distribution(c.first, c.second) for c in claim.comparisons
                ):
                    by_id[claim.id] = _identical(claim)
                else:
                    tests[claim.id] = self._tests(claim)
            except NotRun as reason:
                by_id[claim.id] = {"verdict": UNDECIDED, "reasons": [f"not run: {reason}"]}
        tests = _corrected(tests)
        arguments = {
            name: exact_claims.argument(each.case.claim, self._files)
            for name, each in tests.items()
        }
        tested = [each.case for name, each in tests.items() if not arguments[name]]
        by_claim = controls.judge(tested, self._trials)
        for name, each in tests.items():
            decision = self._decide(each, arguments[name])
            by_id[name] = self._numbers(each.case) | vars(decision)
            if decision.verdict == UNTESTABLE:
                continue
            if arguments[name]:
                by_id[name] |= {"test": "argument", "p": float("nan"), "p_corrected": float("nan")}
            elif each.case.enough and decision.verdict != NARROWER:
                by_id[name] |= _control(by_claim.get(name, Control()))
                holding, total = self._readings(each.case.claim)
                by_id[name] |= {"readings_holding": holding, "readings_total": total}
        rows = [_columns(claim, by_id[claim.id]) for claim in claims]
        records = [
            _record(name, part) for name, each in tests.items() for part in each.case.evidence
        ]
        return findings.frame(rows), pd.DataFrame(records, columns=[*COMPARISONS])

    def _tests(self, claim: Claim) -> Tests:
        """Return the tests of a claim, before any correction. NotRun: trials are missing."""

        def test(comparisons: Any) -> Case:
            return evidence.weigh(
                claim, evidence.parts(claim, comparisons, self._trials), self._trials
            )

        case = test(printed.separable(claim, self._trials))
        if not claim.otherwise:
            return Tests(case)
        try:
            return Tests(case, test(claim.otherwise))
        except NotRun as reason:
            return Tests(case, missing=f"not run: {reason}")

    def _decide(self, tests: Tests, argument: str) -> Decision:
        """Return the decision on a claim that orders rows."""
        case, claim = tests.case, tests.case.claim
        if summary.SIMULATED in self._statuses(case):
            return Decision(UNTESTABLE, reasons=["run on simulated data, not on the paper's"])
        reasons = [*self._means(case), *self._inseparable(claim)]
        if argument:
            return Decision(
                REPRODUCED, reasons=[argument, f"in trials, {reasons[0]}", *reasons[1:]]
            )
        verdict = case.verdict
        if not case.enough:
            verdict = UNDECIDED
            reasons = [f"fewer than {ENOUGH} trials order nothing", *reasons]
        if verdict in (NOT_REPRODUCED, UNDECIDED) and claim.test.otherwise:
            reading, other = claim.test.otherwise.reading, tests.other
            if other is None:
                reasons.append(f"{reading}: {tests.missing}")
            else:
                weakest = other.evidence[other.joint.weakest]
                reasons.append(f"{reading}: {_means(weakest, claim)}")
                if weakest.n_trials >= ENOUGH and other.verdict == REPRODUCED:
                    return Decision(NARROWER, reading, reasons)
        if verdict == REPRODUCED and case.enough:
            reasons += self._printed_ratio(case)
        return Decision(verdict, reasons=reasons)

    def _means(self, case: Case) -> list[str]:
        """Return the means of the decisive comparison in words."""
        claim, verdict, part = case.claim, case.verdict, case.evidence[case.decisive]
        prefix = "no clear difference: " if verdict == UNDECIDED else ""
        if len(case.evidence) > 1 and verdict == REPRODUCED and claim.every:
            prefix = f"the closest of {len(case.evidence)}: "
        at = f" at epsilon {part.comparison.epsilon}" if part.comparison.epsilon else ""
        return [f"{prefix}{_means(part, claim)}{at}"]

    def _inseparable(self, claim: Claim) -> list[str]:
        """Return a clause on rows whose difference may be 0 by the paper's intervals, if any."""
        close = " or ".join(
            " and ".join(_name(row, claim) for row in (each.first, each.second))
            for each in printed.inseparable(claim.comparisons, self._trials)
        )
        omitted = ", and are left out" if claim.test.read_off else ""
        clause = f"by the paper's own intervals the difference of {close} may be 0{omitted}"
        return [clause] if close else []

    def _printed_ratio(self, case: Case) -> list[str]:
        """Return a clause on the printed ratio of the two rows that decide, beside ours, if any."""
        part = case.evidence[case.decisive]
        if (ratio := printed.ratio(part.comparison, self._trials)) is None:
            return []
        ours = short(part.mean_worse / part.mean_better, 4)
        return [f"a ratio of {ours}, where the printed errors have one of {short(ratio, 4)}"]

    def _numbers(self, case: Case) -> dict[str, Any]:
        """Return the numbers of the decisive comparison of a test."""
        part = case.evidence[case.decisive]
        comparison = part.comparison
        metric = self._trials.metric(comparison.first.experiment)
        operator = "over" if comparison.relation == "times" else "minus"
        rows = [comparison.first, comparison.second]
        first, second = (
            _name(row, case.claim) for row in (rows if case.claim.larger else rows[::-1])
        )
        return part._asdict() | {
            "relation": comparison.relation,
            "epsilons": " ".join(sorted(case.parts[case.decisive].epsilons, key=float)),
            "test": f"{'paired' if part.paired else 'Welch'} t, Holm",
            "evidence": f"{part.n_trials:,} {'paired ' if part.paired else ''}trials",
            "power": part.detectable(case.level),
            "p": case.joint.p,
            "p_corrected": case.corrected,
            "statistic": f"{metric} of {first} {operator} that of {second}",
            "data_status": " and ".join(sorted(self._statuses(case))),
        }

    def _statuses(self, case: Case) -> set[str]:
        return {self._trials.status(part.comparison.first.experiment) for part in case.evidence}

    def _readings(self, claim: Claim) -> across.Count:
        """Return the number of readings in which a claim holds."""
        if len(claim.experiments) > 1 or claim.test.epsilons != "table":
            return across.Count()
        by_reading = across.read(claim.experiments[0], self._files)
        if by_reading is None:
            return across.Count()
        return across.count(
            by_reading,
            printed.separable(claim, self._trials),
            epsilon=self._trials.epsilon,
            larger=claim.larger,
            every=claim.every,
        )


def _corrected(tests: dict[str, Tests]) -> dict[str, Tests]:
    """Return tests with p-value and level corrected over all tests on an experiment.

    Another reading of a claim is a test of its own: a verdict may rest on it.
    """
    cases = [case for each in tests.values() for case in (each.case, each.other) if case]
    families = [case.claim.experiments[0] for case in cases]
    p = pd.Series([case.joint.p for case in cases], dtype=float)
    corrected = iter(
        replace(case, corrected=each, level=LEVEL / families.count(family))
        for case, each, family in zip(
            cases, p.groupby(families).transform(holm), families, strict=True
        )
    )
    return {
        name: replace(each, case=next(corrected), other=next(corrected) if each.other else None)
        for name, each in tests.items()
    }


def _identical(claim: Claim) -> dict[str, Any]:
    """Return the verdict on rows with the same noise distribution."""
    holds = [comparison.relation == "within" for comparison in claim.comparisons]
    return {
        "verdict": REPRODUCED if (all if claim.every else any)(holds) else NOT_REPRODUCED,
        "reasons": ["the two are identically distributed: neither is ever better"],
        "test": "identity",
        "evidence": "identical distributions",
    }


def _control(control: Control) -> dict[str, Any]:
    """Return the columns of controls."""
    names = ("met_by", "beaten_by", "even_with", "unit_met_by")
    return {
        "effect_zeros": control.effect_zeros,
        "alike": "" if control.alike is None else str(control.alike),
        "unit_verdict": control.unit_verdict,
        "unit_amounts": " ".join(map(short, control.unit_amounts)),
    } | {name: " ".join(row.mechanism for row in getattr(control, name)) for name in names}


def _columns(claim: Claim, finding: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a claim in the ledger."""
    return {
        **claim.model_dump(include={"id", "paper", "place", "claim", "note", "same_as"}),
        **finding,
        "claim_type": claim.kind,
        "reasons": findings.dump(finding["reasons"]),
        "shown_by": " ".join(claim.shown_by),
        "experiments": " ".join(claim.experiments),
    }


def _name(row: Row, claim: Claim) -> str:
    """Return the name of a row for readers, in a claim."""
    label = catalogue.label(row.mechanism)
    details = [f"direction {row.direction}"] if row.direction else []
    if len(claim.experiments) > 1:
        details.append(catalogue.experiment(row.experiment).name)
    return f"{label} ({', '.join(details)})" if details else label


def _means(part: Evidence, claim: Claim) -> str:
    """Return the means of the two rows of a comparison as text."""
    first, second = (_name(row, claim) for row in (part.comparison.first, part.comparison.second))
    return f"{first}: {short(part.mean_better, 4)}; {second}: {short(part.mean_worse, 4)}"


def _record(name: str, part: Evidence) -> dict[str, object]:
    """Return the row of ``COMPARISONS`` for one comparison of the claim ``name``."""
    better, worse = (
        f"{row.experiment}:{row.mechanism}" + (f"/{row.direction}" if row.direction else "")
        for row in (part.comparison.first, part.comparison.second)
    )
    names = {"id": name, "better": better, "worse": worse}
    return part._asdict() | vars(part.comparison) | names
