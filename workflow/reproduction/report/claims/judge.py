"""The judge: a verdict on each claim, from the files of a run (`reproduction.report.claims`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.report import summary
from reproduction.report.claims import across, controls, exact_claims, intervals
from reproduction.report.claims.controls import Control, label, swap_subject
from reproduction.report.claims.definitions import Claim, Row
from reproduction.report.claims.evidence import Case, Evidence, weigh
from reproduction.report.claims.findings import (
    NARROWER,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)
from reproduction.report.claims.trials import NotRun, Trials
from reproduction.report.inputs import Files
from reproduction.report.markup import short
from reproduction.report.statistics import ENOUGH, LEVEL, holm

#: Columns of the ledger. A claim says that ``effect`` exceeds ``margin``; ``power`` is the smallest
#: distance from the margin that the trials detect (see
#: :mod:`reproduction.report.claims.evidence`). ``effect_zeros``, ``alike``, ``met_by`` and
#: ``beaten_by`` are controls (:class:`reproduction.report.claims.controls.Control`).
COLUMNS = (
    *("id", "paper", "place", "claim", "claim_type", "statistic", "test", "verdict", "condition"),
    *("effect", "effect_low", "effect_high", "margin", "power", "evidence", "p", "p_corrected"),
    *("effect_zeros", "alike", "met_by", "beaten_by"),
    *("readings_holding", "readings_total", "reason", "shown_by", "data_status", "experiments"),
    "same_as",
)
COMPARISONS = ("id", "better", "worse", "relation", "amount", "epsilon", *Evidence._fields[1:-2])

#: The verdict on a claim, its reason, and other entries of ``COLUMNS``.
Finding = dict[str, Any]


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
        """Return the ledger (``COLUMNS``), and one row per comparison (``COMPARISONS``)."""
        findings: dict[str, Finding] = {}
        cases: dict[tuple[str, bool], Case] = {}
        missing: dict[str, str] = {}
        for claim in claims:
            try:
                if claim.test_type != "compare":
                    findings[claim.id] = exact_claims.finding(claim, self._files)
                elif all(
                    self._trials.same_distribution(c.first, c.second) for c in claim.comparisons
                ):
                    findings[claim.id] = _identical(claim)
                else:
                    comparisons = intervals.separable(claim, self._trials)
                    cases[claim.id, False] = weigh(claim, comparisons, self._trials)
            except NotRun as reason:
                findings[claim.id] = {"verdict": UNDECIDED, "reason": f"not run: {reason}"}
                continue
            if (claim.id, False) in cases and claim.otherwise:
                try:
                    cases[claim.id, True] = weigh(claim, claim.otherwise, self._trials)
                except NotRun as reason:
                    missing[claim.id] = f"not run: {reason}"
        cases = _corrected(cases)
        primary = {name: case for (name, other), case in cases.items() if not other}
        tested = [
            case for case in primary.values() if not exact_claims.argument(case.claim, self._files)
        ]
        by_claim = controls.judge(tested, self._trials)
        for name, case in primary.items():
            other = cases.get((name, True), missing.get(name))
            findings[name] = self._finding(case, other, by_claim.get(name, Control()))
        texts = ("statistic", "test", "condition", "evidence", "data_status")
        untested = dict.fromkeys((*texts, "alike", "met_by", "beaten_by"), "")
        rows = [
            vars(claim)
            | untested
            | {"claim_type": claim.kind}
            | findings[claim.id]
            | _describe(claim, findings[claim.id])
            for claim in claims
        ]
        counts = dict.fromkeys(("readings_holding", "readings_total"), "Int64")
        table = pd.DataFrame(rows, columns=[*COLUMNS]).astype(counts)
        records = [_record(name, part) for name, case in primary.items() for part in case.evidence]
        return table, pd.DataFrame(records, columns=[*COMPARISONS])

    def _finding(self, case: Case, other: Case | str | None, control: Control) -> Finding:
        """Return the verdict on a claim that orders rows, after all checks of its evidence.

        ``other`` is the claim in its other reading, or why that was not run; None without one.
        """
        claim = case.claim
        statuses = {self._trials.status(part.comparison.first.experiment) for part in case.evidence}
        finding = self._by_trials(case) | {"data_status": " and ".join(sorted(statuses))}
        reason = finding["reason"]
        if summary.SIMULATED in statuses:
            reason = "run on simulated data, not on the paper's"
            return finding | {"verdict": UNTESTABLE, "reason": reason}
        if argument := exact_claims.argument(claim, self._files):
            columns = {"test": "argument", "p": float("nan"), "p_corrected": float("nan")}
            reason = f"{argument}; in trials, {reason}"
            return finding | columns | {"verdict": REPRODUCED, "reason": reason}
        if case.n_trials < ENOUGH:
            reason = f"fewer than {ENOUGH} trials order nothing; {reason}"
            return _otherwise(claim, finding | {"verdict": UNDECIDED, "reason": reason}, other)
        finding = _otherwise(claim, finding, other)
        if finding["verdict"] == NARROWER:
            return finding
        finding |= self._controlled(claim, finding, control)
        return self._over_readings(claim, finding)

    def _controlled(self, claim: Claim, finding: Finding, control: Control) -> Finding:
        """Return the columns on the controls of a claim, and the reason with what they show."""
        clauses = [finding["reason"]]
        if finding["verdict"] == REPRODUCED and (printed := self._printed(claim, finding)):
            clauses.append(printed)
        clauses.append(control.unit)
        if control.met_by:
            clauses.append(f"the {label(control.met_by[0])} meets it too")
        if control.beaten_by:
            clauses.append(f"in direction alone: the {label(control.beaten_by[0])} is better")
        if control.even_with:
            clauses.append(f"nor can ours be told from the {label(control.even_with[0])}")
        if control.alike is not None:
            effect = short(control.effect_zeros, 4)
            here = "most of it" if control.alike else "not clearly most of it"
            clauses.append(f"with every record at zero the effect is {effect}, {here}")
        return {
            "effect_zeros": control.effect_zeros,
            "alike": "" if control.alike is None else str(control.alike),
            "met_by": " ".join(row.mechanism for row in control.met_by),
            "beaten_by": " ".join(row.mechanism for row in control.beaten_by),
            "reason": "; ".join(filter(None, clauses)),
        }

    def _printed(self, claim: Claim, part: Mapping[str, Any]) -> str:
        """Return the printed ratio of the two rows that decide, beside ours; empty for none."""
        cells = self._trials.printed(part["comparison"])
        if not cells or part["comparison"].relation != "beats":
            return ""
        first, second = (float(cell["value"]) for cell in cells)
        ours = part["mean_worse"] / part["mean_better"]
        printed = short(second / first, 4)
        return f"a ratio of {short(ours, 4)}, where the printed errors have one of {printed}"

    def _by_trials(self, case: Case) -> Finding:
        """Return the verdict by the trials alone, with the numbers of the decisive comparison."""
        claim, verdict, part = case.claim, case.verdict, case.evidence[case.decisive]
        prefix = "no clear difference: " if verdict == UNDECIDED else ""
        if len(case.evidence) > 1 and verdict == REPRODUCED and claim.every:
            prefix = f"the closest of {len(case.evidence)}: "
        reason = f"{prefix}{_means(part, claim)}"
        if part.comparison.epsilon:
            reason += f" at epsilon {part.comparison.epsilon}"
        return {
            **part._asdict(),
            "test": f"{'paired' if part.paired else 'Welch'} t, Holm",
            "evidence": f"{part.n_trials:,} {'paired ' if part.paired else ''}trials",
            "power": part.detectable(case.level),
            "p": case.joint.p,
            "p_corrected": case.corrected,
            "verdict": verdict,
            "reason": reason + intervals.remark(claim, self._trials, lambda row: _name(row, claim)),
            "statistic": self._statistic(part, claim),
        }

    def _statistic(self, part: Evidence, claim: Claim) -> str:
        """Return the effect of a comparison in words."""
        metric = self._trials.metric(part.comparison.first.experiment)
        operator = "over" if part.comparison.relation == "times" else "minus"
        names = _names(part, claim)
        first, second = names if claim.larger else names[::-1]
        return f"{metric} of {first} {operator} that of {second}"

    def _over_readings(self, claim: Claim, finding: Finding) -> Finding:
        """Return the finding with counts of readings, and the verdict that other readings give."""
        if len(claim.experiments) > 1 or claim.test.get("epsilons", "table") != "table":
            return finding
        by_reading = across.read(claim.experiments[0], self._files)
        if by_reading is None:
            return finding
        share = across.share(
            by_reading,
            intervals.separable(claim, self._trials),
            epsilon=self._trials.epsilon,
            larger=claim.larger,
            every=claim.every,
            baselines=[
                swap_subject(claim.comparisons, row)
                for row in controls.baselines(claim, self._trials)
            ],
        )
        finding |= {"readings_holding": share.holding, "readings_total": share.total}
        if finding["verdict"] in (NOT_REPRODUCED, UNDECIDED) and share.sure:
            others = len(share.sure) - 1
            more = f" and {others} more" if others else ""
            finding |= {"verdict": NARROWER, "condition": f"{share.sure[0]}{more}"}
        elif finding["verdict"] != REPRODUCED and share.holding:
            but = "in none after correction for their number"
            if remaining := share.met_by_baseline:
                but = f"a baseline satisfies the {remaining} that remain after correction too"
            reason = f"it holds in {share.holding} of {share.total} readings, but {but}"
            finding |= {"reason": f"{finding['reason']}; {reason}"}
        return finding


def _corrected(cases: Mapping[tuple[str, bool], Case]) -> dict[tuple[str, bool], Case]:
    """Return cases with p-value and level corrected over the tests on an experiment.

    Another reading of a claim is a test of its own: a verdict may rest on it.
    """
    families = [case.claim.experiments[0] for case in cases.values()]
    p = pd.Series([case.joint.p for case in cases.values()], dtype=float)
    corrected = p.groupby(families).transform(holm)
    return {
        key: replace(case, corrected=p, level=LEVEL / families.count(family))
        for (key, case), p, family in zip(cases.items(), corrected, families, strict=True)
    }


def _otherwise(claim: Claim, finding: Finding, other: Case | str | None) -> Finding:
    """Return the finding, with another verdict if the claim holds under its other reading."""
    if other is None or finding["verdict"] not in (NOT_REPRODUCED, UNDECIDED):
        return finding
    reading = claim.test["otherwise"]["reading"]
    if isinstance(other, str):
        return finding | {"reason": f"{finding['reason']}; {reading}: {other}"}
    weakest = other.evidence[other.joint.weakest]
    finding = finding | {"reason": f"{finding['reason']}; {reading}: {_means(weakest, claim)}"}
    if weakest.n_trials >= ENOUGH and other.verdict == REPRODUCED:
        finding |= {"verdict": NARROWER, "condition": reading}
    return finding


def _identical(claim: Claim) -> Finding:
    """Return the verdict on rows with the same noise distribution."""
    holds = [comparison.relation == "within" for comparison in claim.comparisons]
    return {
        "verdict": REPRODUCED if (all if claim.every else any)(holds) else NOT_REPRODUCED,
        "reason": "the two are identically distributed: neither is ever better",
        "test": "identity",
        "evidence": "identical distributions",
    }


def _describe(claim: Claim, finding: Finding) -> dict[str, str]:
    """Return the text columns of a claim: the full reason, and lists of names."""
    reason = ". ".join(filter(None, [finding["reason"], claim.note])).strip(".")
    lists = {"shown_by": claim.shown_by, "experiments": claim.experiments}
    return {"reason": reason} | {name: " ".join(names) for name, names in lists.items()}


def _name(row: Row, claim: Claim) -> str:
    """Return the name of a row for readers, in a claim."""
    label = catalogue.label(row.mechanism)
    details = [f"direction {row.direction}"] if row.direction else []
    if len(claim.experiments) > 1:
        details.append(catalogue.experiment(row.experiment).name)
    return f"{label} ({', '.join(details)})" if details else label


def _names(part: Evidence, claim: Claim) -> tuple[str, str]:
    """Return the names of the two rows of a comparison."""
    return _name(part.comparison.first, claim), _name(part.comparison.second, claim)


def _means(part: Evidence, claim: Claim) -> str:
    """Return the means of the two rows of a comparison as text."""
    first, second = _names(part, claim)
    return f"{first}: {short(part.mean_better, 4)}; {second}: {short(part.mean_worse, 4)}"


def _record(name: str, part: Evidence) -> dict[str, object]:
    """Return the row of ``COMPARISONS`` for one comparison of the claim ``name``."""
    better, worse = (
        f"{row.experiment}:{row.mechanism}" + (f"/{row.direction}" if row.direction else "")
        for row in (part.comparison.first, part.comparison.second)
    )
    names = {"id": name, "better": better, "worse": worse}
    return part._asdict() | vars(part.comparison) | names
