"""From claims to the ledger in one pass: tests, decision, columns.

Each claim that orders rows is one or several tests (:mod:`reproduction.report.claims.evidence`),
which are corrected together, and decided. Its controls follow, and its columns.
"""

from __future__ import annotations

import functools
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
from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.evidence import Case, Evidence
from reproduction.report.claims.trials import NotRun, Trials
from reproduction.report.findings import (
    DEPENDS,
    EPSILON,
    NARROWER,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    UNIT,
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
        cases: the claim as printed: one test, or one at each epsilon.
        mean: by the mean over these epsilons, which decides nothing; None for one test.
        unit: the claim in the suspected unit, if it has amounts and a unit is suspected.
        other: the claim in its other reading, if it has one.
        missing: why that was not run.
        epsilon: that of the tables, as text.
    """

    cases: Sequence[Case]
    mean: Case | None = None
    unit: Case | None = None
    other: Case | None = None
    missing: str = ""
    epsilon: str = ""

    @property
    def verdict(self) -> str:
        """What the tests as printed, and in the suspected unit, say together."""
        found = {case.verdict for case in self.cases if case.enough}
        opposite = {REPRODUCED, NOT_REPRODUCED}
        unit = {self.unit.verdict} if self.unit and found else set()
        if found | unit >= opposite:
            return DEPENDS
        return next(iter(found & opposite), UNDECIDED)

    @property
    def case(self) -> Case:
        """The test whose numbers are shown: at the tables' epsilon, if it has the verdict.

        Otherwise it is the clearest one that has it.
        """
        decided = [case for case in self.cases if case.verdict == self.verdict]
        paper = [case for case in self.cases if _epsilons(case) == {self.epsilon}]
        shown = [case for case in paper if case in decided or not decided]
        return min(shown or decided or self.cases, key=lambda case: case.joint.p)


@dataclass(frozen=True)
class Decision:
    """A verdict, its condition, and its reasons."""

    verdict: str
    condition: str = ""
    reasons: list[str] = field(default_factory=list)


def write_verdicts(
    claims: Sequence[Claim], files: Files, out: str | os.PathLike, comparisons: str | os.PathLike
) -> None:
    """Write the verdicts on claims, and the comparisons behind them, as CSV.

    Args:
        claims: the claims.
        files: files of the run by name.
        out: the verdicts.
        comparisons: the comparisons.
    """
    judge = Judge(files, epsilon=inputs.read_input("settings", files)["table_epsilon"])
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
        self._values_of_readings = functools.cache(self._read_values_of_readings)

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
        tested = [(each.case, each.unit) for name, each in tests.items() if not arguments[name]]
        by_claim = controls.compute_controls(tested, self._trials)
        for name, each in tests.items():
            decision = self._decide(each, arguments[name])
            by_id[name] = self._numbers(each) | vars(decision)
            if decision.verdict == UNTESTABLE:
                continue
            if arguments[name]:
                by_id[name] |= {"test": "argument", "p": float("nan"), "p_corrected": float("nan")}
            elif each.case.enough and decision.verdict != NARROWER:
                by_id[name] |= _control(by_claim.get(name, Control()))
                by_id[name] |= _unit(each.unit)
                count = self._readings(each.case.claim)._asdict()
                by_id[name] |= {f"readings_{key}": value for key, value in count.items()}
        rows = [_columns(claim, by_id[claim.id]) for claim in claims]
        records = [
            _record(name, part)
            for name, each in tests.items()
            for case in each.cases
            for part in case.evidence
        ]
        return findings.frame(rows), pd.DataFrame(records, columns=[*COMPARISONS])

    def _tests(self, claim: Claim) -> Tests:
        """Return the tests of a claim, before any correction. NotRun: trials are missing."""

        def weigh(comparisons: Sequence[Comparison], epsilons: str | list[str]) -> list[Case]:
            parts = evidence.tests(comparisons, epsilons, claim, self._trials)
            return [evidence.weigh(claim, each, self._trials) for each in parts]

        comparisons = printed.disjoint_in_print(claim, self._trials)
        cases = weigh(comparisons, claim.test.epsilons)
        mean = weigh(comparisons, "all")[0] if len(cases) > 1 else None
        unit = None
        if suspected := evidence.convert_unit(claim, cases[0].parts):
            unit = evidence.weigh(claim, suspected, self._trials)
        tests = Tests(cases, mean, unit, epsilon=self._trials.epsilon)
        if not (other := claim.test.otherwise) or not claim.otherwise:
            return tests
        try:
            (case,) = weigh(claim.otherwise, other.epsilons or claim.test.epsilons)
            return replace(tests, other=case)
        except NotRun as reason:
            return replace(tests, missing=f"not run: {reason}")

    def _decide(self, tests: Tests, argument: str) -> Decision:
        """Return the decision on a claim that orders rows."""
        case, verdict, claim = tests.case, tests.verdict, tests.case.claim
        if summary.SIMULATED in self._statuses(case):
            return Decision(UNTESTABLE, reasons=["run on simulated data, not on the paper's"])
        reasons = [*self._differences(tests), *self._inseparable(claim)]
        if argument:
            reasons = [argument, f"in trials {reasons[0]}", *reasons[1:]]
            return Decision(REPRODUCED, reasons=reasons)
        if not case.enough:
            reasons = [f"fewer than {ENOUGH} trials order nothing", *reasons]
        if printed.passes(claim, self._trials) is False:
            return Decision(UNDECIDED, reasons=["the paper's own table fails this test", *reasons])
        if verdict in (NOT_REPRODUCED, UNDECIDED) and claim.test.otherwise:
            reading, other = claim.test.otherwise.reading, tests.other
            if other is None:
                reasons.append(f"under {reading}: {tests.missing}")
            else:
                weakest = other.joint.weakest
                ordered = other.enough and other.verdict != UNDECIDED
                means = f"under {reading}, {self._means(other, weakest, ordered=ordered)}"
                if other.evidence[weakest].n_trials >= ENOUGH and other.verdict == REPRODUCED:
                    # The reason that decides comes first.
                    reasons = [means, f"as printed {reasons[0]}", *reasons[1:]]
                    return Decision(NARROWER, reading, reasons)
                reasons.append(means)
        if verdict == DEPENDS:
            return Decision(DEPENDS, EPSILON if len(tests.cases) > 1 else UNIT, reasons)
        if verdict == REPRODUCED:
            reasons += self._printed_ratio(case)
        return Decision(verdict, reasons=reasons)

    def _differences(self, tests: Tests) -> list[str]:
        """Return what decides in words, and the means over several epsilons, which decide nothing.

        Where each epsilon is a test, what is decided at which one comes first.
        """
        case = tests.case
        claim, verdict, part = case.claim, case.verdict, case.evidence[case.decisive]
        ordered, prefix = case.enough and verdict != UNDECIDED, ""
        means, count = self._means(case, case.decisive, ordered=ordered), len(case.evidence)
        if count > 1 and claim.every and verdict == REPRODUCED:
            prefix = f"in the closest of {count} comparisons "
        elif count > 1 and claim.every and verdict == NOT_REPRODUCED and tests.mean is None:
            holds = f"{case.n_hold or 'none'} hold{'' if case.n_hold > 1 else 's'}"
            prefix = f"of {count} comparisons {holds}; in the clearest that fails "
        if tests.mean is not None:
            mean = self._means(tests.mean, tests.mean.decisive, ordered=False)
            return [f"{_by_epsilon(tests)}; {prefix}{means}", mean]
        if verdict == UNDECIDED:
            order = part.comparison.relation == "beats"
            prefix = "no difference is clear: " if order else "it is open: "
        return [f"{prefix}{means}"]

    def _means(self, case: Case, index: int, ordered: bool) -> str:
        """Return the means of the two rows of a comparison of a test as a sentence.

        It says which one is better: an order only where it is ``ordered`` by a test, an amount
        always, beside the one that is asked for.
        """
        claim, part, epsilons = case.claim, case.evidence[index], case.parts[index].epsilons
        rows = (part.comparison.first, part.comparison.second)
        metric = catalogue.metric(self._trials.metric(rows[0].experiment)).name
        at = f"at epsilon {part.comparison.epsilon} " if part.comparison.epsilon else ""
        if len(epsilons) > 1:
            at = f"by the mean over {len(epsilons)} epsilons "
        first, second = (
            f"{short(mean, 4)} for {_name(row, claim)}"
            for mean, row in zip((part.mean_better, part.mean_worse), rows, strict=True)
        )
        than, requirement = _compare(part)
        if part.comparison.relation == "beats" and not ordered:
            than = " and"
        return f"{at}{metric} is {first}{than} {second}{requirement}"

    def _inseparable(self, claim: Claim) -> list[str]:
        """Return a clause on rows whose difference may be 0 by the paper's intervals, if any."""
        rivals: dict[Row, list[str]] = {}
        for each in printed.close_in_print(claim.comparisons, self._trials):
            rivals.setdefault(each.first, []).append(_name(each.second, claim))
        close = [f"{_name(row, claim)} may equal {' or '.join(to)}" for row, to in rivals.items()]
        omitted = ", so that they are left out" if claim.test.read_off else ""
        return [f"by the paper's own intervals {each}{omitted}" for each in close]

    def _printed_ratio(self, case: Case) -> list[str]:
        """Return a clause on the printed ratio of the two rows that decide, beside ours, if any."""
        part = case.evidence[case.decisive]
        if (ratio := printed.ratio(part.comparison, self._trials)) is None:
            return []
        ours = short(part.mean_worse / part.mean_better, 4)
        return [f"the ratio of these errors is {ours} here and {short(ratio, 4)} in print"]

    def _numbers(self, tests: Tests) -> dict[str, Any]:
        """Return the numbers of the comparison that decides a claim."""
        case = tests.case
        part = case.evidence[case.decisive]
        epsilons = {epsilon for each in tests.cases for epsilon in _epsilons(each)}
        passes = printed.passes(case.claim, self._trials)
        comparison = part.comparison
        metric = self._trials.metric(comparison.first.experiment)
        operator = "over" if comparison.relation == "times" else "minus"
        rows = [comparison.first, comparison.second]
        first, second = (
            _name(row, case.claim) for row in (rows if case.claim.larger else rows[::-1])
        )
        return part._asdict() | {
            "relation": comparison.relation,
            "epsilons": " ".join(sorted(epsilons, key=float)),
            "printed_values": {True: "pass", False: "fail", None: ""}[passes],
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

    def _read_values_of_readings(self, experiment: str) -> across.ReadingValues | None:
        return across.read_reading_values(experiment, self._files)

    def _readings(self, claim: Claim) -> across.Count:
        """Return the number of readings in which a claim holds."""
        if len(claim.experiments) > 1 or claim.test.epsilons != "table":
            return across.Count()
        by_reading = self._values_of_readings(claim.experiments[0])
        if by_reading is None:
            return across.Count()
        return across.count(
            by_reading,
            printed.disjoint_in_print(claim, self._trials),
            epsilon=self._trials.epsilon,
            larger=claim.larger,
            every=claim.every,
        )


def _corrected(tests: dict[str, Tests]) -> dict[str, Tests]:
    """Return tests with p-value and level corrected over all tests on an experiment.

    Each epsilon, other reading and other unit is a test of its own: a verdict may rest on it.
    """
    cases = [
        case
        for each in tests.values()
        for case in (*each.cases, each.unit, each.other)
        if case is not None
    ]
    families = [case.claim.experiments[0] for case in cases]
    p = pd.Series([case.joint.p for case in cases], dtype=float)
    corrected = iter(
        replace(case, corrected=each, level=LEVEL / families.count(family))
        for case, each, family in zip(
            cases, p.groupby(families).transform(holm), families, strict=True
        )
    )
    return {
        name: replace(
            each,
            cases=[next(corrected) for _ in each.cases],
            unit=next(corrected) if each.unit else None,
            other=next(corrected) if each.other else None,
        )
        for name, each in tests.items()
    }


def _compare(part: Evidence) -> tuple[str, str]:
    """Return how the first row of a comparison differs from the second, and what is asked for."""
    relation, even = part.comparison.relation, float(part.comparison.relation == "times")
    allowed = f"be worse by {short(-part.margin)}" if part.margin else "not be worse"
    requirement = {
        "by": f", where better by {short(part.margin)} is claimed",
        "times": f", where better by a factor of {short(part.margin)} is claimed",
        "within": f", where it may {allowed}",
        "share": f", where it may {allowed}",
    }.get(relation, "")
    if part.effect == even:
        return " and", requirement
    is_better = part.effect > even
    amount = ""
    if relation == "times":
        factor = part.effect if is_better else 1 / part.effect
        amount = f" by a factor of {short(factor, 4)}"
    elif relation != "beats":
        amount = f" by {short(abs(part.effect))}"
    return f", {'better' if is_better else 'worse'}{amount} than", requirement


def _by_epsilon(tests: Tests) -> str:
    """Return a clause on what is decided at which epsilon."""
    outcomes = {REPRODUCED: "it holds", NOT_REPRODUCED: "it fails", UNDECIDED: "it is open"}
    at = [case.parts[0].comparison.epsilon for case in tests.cases]
    clauses = []
    for verdict, words in outcomes.items():
        here = [case.verdict == verdict for case in tests.cases]
        some = [epsilon for epsilon, is_here in zip(at, here, strict=True) if is_here]
        if all(here):
            clauses.append(f"{words} at each of {len(at)} epsilons, {at[0]} to {at[-1]}")
        elif some:
            clauses.append(f"{words} at epsilon {findings.join_words(some)}")
    return ", ".join(clauses)


def _epsilons(case: Case) -> set[str]:
    """Return the epsilons of a test."""
    return {epsilon for part in case.parts for epsilon in part.epsilons}


def _identical(claim: Claim) -> dict[str, Any]:
    """Return the verdict on rows with the same noise distribution."""
    holds = [comparison.relation == "within" for comparison in claim.comparisons]
    return {
        "verdict": REPRODUCED if (all if claim.every else any)(holds) else NOT_REPRODUCED,
        "reasons": ["both draw noise of one distribution, so that neither is ever better"],
        "test": "identity",
        "evidence": "identical distributions",
    }


def _control(control: Control) -> dict[str, Any]:
    """Return the columns of controls."""
    names = ("met_by", "beaten_by", "even_with", "unit_met_by")
    return {
        "effect_zeros": control.effect_zeros,
        "alike": "" if control.alike is None else str(control.alike),
    } | {name: " ".join(row.mechanism for row in getattr(control, name)) for name in names}


def _unit(unit: Case | None) -> dict[str, str]:
    """Return the columns on the suspected unit."""
    if unit is None:
        return {}
    amounts = [part.comparison.amount for part in unit.parts if part.comparison.absolute]
    return {
        "unit_verdict": unit.verdict,
        "unit_amounts": " ".join(map(short, dict.fromkeys(amounts))),
    }


def _columns(claim: Claim, finding: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a claim in the ledger."""
    return {
        **claim.model_dump(include={"id", "paper", "place", "claim", "note", "same_as"}),
        **finding,
        "claim_type": claim.kind,
        "reasons": findings.dump_reasons(finding["reasons"]),
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


def _record(name: str, part: Evidence) -> dict[str, object]:
    """Return the row of ``COMPARISONS`` for one comparison of the claim ``name``."""
    better, worse = (
        f"{row.experiment}:{row.mechanism}" + (f"/{row.direction}" if row.direction else "")
        for row in (part.comparison.first, part.comparison.second)
    )
    names = {"id": name, "better": better, "worse": worse}
    return part._asdict() | vars(part.comparison) | names
