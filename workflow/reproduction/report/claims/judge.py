"""The judge: a verdict on each claim, from the files of a run (`reproduction.report.claims`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from reproduction import catalogue
from reproduction.report import summary
from reproduction.report.claims import across, exact_claims, intervals
from reproduction.report.claims.controls import Case, Control, Controls, label, swap_subject
from reproduction.report.claims.definitions import Claim, Row
from reproduction.report.claims.trial_evidence import Evidence
from reproduction.report.claims.trial_values import NotRun, TrialValues
from reproduction.report.claims.verdicts import (
    NOT_REPRODUCED,
    ONLY_UNDER,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)
from reproduction.report.inputs import Files
from reproduction.report.markup import short
from reproduction.report.statistics import ENOUGH, LEVEL, Joint, holm

#: Columns of the ledger. A claim says that ``effect`` exceeds ``margin``; ``power`` is the smallest
#: distance from the margin that the trials detect (see
#: :mod:`reproduction.report.claims.trial_evidence`). ``effect_zeros``, ``alike``, ``met_by`` and
#: ``beaten_by`` are controls (:class:`reproduction.report.claims.controls.Control`).
COLUMNS = (
    *("id", "paper", "place", "claim", "claim_type", "statistic", "test", "verdict", "effect"),
    *("effect_low", "effect_high", "margin", "power", "evidence", "p", "p_corrected"),
    *("effect_zeros", "alike", "met_by", "beaten_by"),
    *("readings_holding", "readings_total", "reason", "shown_by", "data_status", "experiments"),
    "same_as",
)
COMPARISONS = ("id", "better", "worse", "relation", "amount", "epsilon", *Evidence._fields[1:-3])

#: The verdict on a claim, its reason, and other entries of ``COLUMNS``.
Finding = dict[str, Any]


class CorrectedEvidence(NamedTuple):
    """The evidence for a claim, with p-value and level corrected over the experiment's claims.

    ``other`` is the evidence for its other reading, which counts as a claim of its own. It is a
    text if that was not run, and None for a claim without one.
    """

    joint: Joint
    evidence: list[Evidence]
    corrected: float
    level: float
    other: CorrectedEvidence | str | None = None

    @property
    def holds(self) -> bool:
        """Whether the claim clearly holds."""
        return self.joint.p_for / self.joint.p * self.corrected < LEVEL

    @property
    def fails(self) -> bool:
        """Whether the claim clearly fails."""
        return self.joint.p_against / self.joint.p * self.corrected < LEVEL


class Judge:
    """A judge of claims on the files of one run.

    Args:
        files: files of the run by name (:mod:`reproduction.report.inputs`).
        epsilon: the tables' epsilon as text.
    """

    def __init__(self, files: Files, *, epsilon: str) -> None:
        self._files = files
        self._book = TrialValues(files)
        self._controls = Controls(self._book, epsilon)
        self._epsilon = epsilon

    def judge(self, claims: Sequence[Claim]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the ledger (``COLUMNS``), and one row per comparison (``COMPARISONS``)."""
        findings: dict[str, Finding] = {}
        outcome: dict[str, tuple[Joint, list[Evidence]]] = {}
        others: dict[str, tuple[Joint, list[Evidence]] | str] = {}
        for claim in claims:
            try:
                if claim.test_type != "compare":
                    findings[claim.id] = exact_claims.finding(claim, self._files)
                elif all(
                    self._book.same_distribution(c.first, c.second) for c in claim.comparisons
                ):
                    findings[claim.id] = _identical(claim)
                else:
                    outcome[claim.id] = self._controls.weigh(
                        claim, intervals.separable(claim, self._book)
                    )
            except NotRun as reason:
                findings[claim.id] = {"verdict": UNDECIDED, "reason": f"not run: {reason}"}
            if claim.id in outcome and claim.otherwise:
                try:
                    others[claim.id] = self._controls.weigh(claim, claim.otherwise)
                except NotRun as reason:
                    others[claim.id] = f"not run: {reason}"
        results = _corrected([claim for claim in claims if claim.id in outcome], outcome, others)
        controls = self._controls.judge(
            Case(
                claim,
                results[claim.id].joint,
                results[claim.id].evidence,
                _outcome(results[claim.id]),
            )
            for claim in claims
            if claim.id in results and not exact_claims.argument(claim, self._files)
        )
        for claim in claims:
            if claim.id in results:
                control = controls.get(claim.id, Control())
                findings[claim.id] = self._ordering(claim, results[claim.id], control)
        untested = dict.fromkeys(("statistic", "test", "evidence", "data_status"), "")
        untested |= dict.fromkeys(("alike", "met_by", "beaten_by"), "")
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
        records = [_record(name, part) for name, (_, parts) in outcome.items() for part in parts]
        return table, pd.DataFrame(records, columns=[*COMPARISONS])

    def _ordering(self, claim: Claim, outcome: CorrectedEvidence, control: Control) -> Finding:
        """Return the verdict on a claim that orders rows, after all checks of its evidence."""
        statuses = {
            self._book.status(part.comparison.first.experiment) for part in outcome.evidence
        }
        finding = self._settle(claim, outcome) | {"data_status": " and ".join(sorted(statuses))}
        finding |= {"p": outcome.joint.p, "p_corrected": outcome.corrected}
        reason = finding["reason"]
        if summary.SIMULATED in statuses:
            reason = "run on simulated data, not on the paper's"
            return finding | {"verdict": UNTESTABLE, "reason": reason}
        if argument := exact_claims.argument(claim, self._files):
            columns = {"test": "argument", "p": float("nan"), "p_corrected": float("nan")}
            reason = f"{argument}; in trials, {reason}"
            return finding | columns | {"verdict": REPRODUCED, "reason": reason}
        if min(part.n_trials for part in outcome.evidence) < ENOUGH:
            reason = f"fewer than {ENOUGH} trials order nothing; {reason}"
            return _otherwise(claim, finding | {"verdict": UNDECIDED, "reason": reason}, outcome)
        finding = _otherwise(claim, finding, outcome)
        if finding["verdict"].startswith(ONLY_UNDER):
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
        comparison = part["comparison"]
        published = self._book.published(comparison.first.experiment)
        values = [
            pd.to_numeric(published["value"][published["mechanism"].eq(row.mechanism)])
            for row in (comparison.first, comparison.second)
            if row.direction is None and row.experiment == comparison.first.experiment
        ]
        if [len(value) for value in values] != [1, 1] or comparison.relation != "beats":
            return ""
        first, second = (float(value.iloc[0]) for value in values)
        ours = part["mean_worse"] / part["mean_better"]
        return (
            f"a ratio of {short(ours, 4)}, where the paper prints one of {short(second / first, 4)}"
        )

    def _settle(self, claim: Claim, outcome: CorrectedEvidence) -> Finding:
        """Return the verdict by the trials alone, with the numbers of the decisive comparison."""
        joint, evidence = outcome.joint, outcome.evidence
        verdict = _outcome(outcome)
        failed = verdict == NOT_REPRODUCED
        part = evidence[joint.strongest_against if failed else joint.weakest]
        prefix = "no clear difference: " if verdict == UNDECIDED else ""
        if len(evidence) > 1 and verdict == REPRODUCED and claim.every:
            prefix = f"the closest of {len(evidence)}: "
        reason = f"{prefix}{_means(part, claim)}"
        if part.comparison.epsilon:
            reason += f" at epsilon {part.comparison.epsilon}"
        return {
            **part._asdict(),
            "test": f"{'paired' if part.paired else 'Welch'} t, Holm",
            "evidence": f"{part.n_trials:,} {'paired ' if part.paired else ''}trials",
            "power": part.detectable(outcome.level),
            "verdict": verdict,
            "reason": reason + intervals.remark(claim, self._book, lambda row: _name(row, claim)),
            "statistic": self._statistic(part, claim),
        }

    def _statistic(self, part: Evidence, claim: Claim) -> str:
        """Return the effect of a comparison in words."""
        metric = self._book.metric(part.comparison.first.experiment)
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
            intervals.separable(claim, self._book),
            epsilon=self._epsilon,
            larger=claim.larger,
            every=claim.every,
            baselines=[
                swap_subject(claim.comparisons, row) for row in self._controls.baselines(claim)
            ],
        )
        finding |= {"readings_holding": share.holding, "readings_total": share.total}
        if finding["verdict"] in (NOT_REPRODUCED, UNDECIDED) and share.sure:
            others = len(share.sure) - 1
            more = f" and {others} more" if others else ""
            finding |= {"verdict": f"{ONLY_UNDER} {share.sure[0]}{more}"}
        elif finding["verdict"] != REPRODUCED and share.holding:
            but = "in none after correction for their number"
            if remaining := share.met_by_baseline:
                but = f"a baseline satisfies the {remaining} that remain after correction too"
            reason = f"it holds in {share.holding} of {share.total} readings, but {but}"
            finding |= {"reason": f"{finding['reason']}; {reason}"}
        return finding


def _corrected(
    claims: Sequence[Claim],
    outcome: Mapping[str, tuple[Joint, list[Evidence]]],
    others: Mapping[str, tuple[Joint, list[Evidence]] | str],
) -> dict[str, CorrectedEvidence]:
    """Return the evidence for claims by their id, corrected over the tests on an experiment.

    Another reading of a claim is a test of its own: a verdict may rest on it.
    """
    tests = {(name, False): evidence for name, evidence in outcome.items()}
    tests |= {(name, True): each for name, each in others.items() if not isinstance(each, str)}
    experiments = {claim.id: claim.experiments[0] for claim in claims}
    values = pd.Series({key: joint.p for key, (joint, _) in tests.items()}, dtype=float)
    families = [experiments[name] for name, _ in tests]
    corrected = values.groupby(families).transform(holm)

    def result(key: tuple[str, bool]) -> CorrectedEvidence:
        level = LEVEL / families.count(experiments[key[0]])
        return CorrectedEvidence(*tests[key], corrected[key], level)

    def other(name: str) -> CorrectedEvidence | str | None:
        reason = others.get(name)
        return reason if reason is None or isinstance(reason, str) else result((name, True))

    return {claim.id: result((claim.id, False))._replace(other=other(claim.id)) for claim in claims}


def _outcome(outcome: CorrectedEvidence) -> str:
    """Return what the trials say of a claim, without any control."""
    return NOT_REPRODUCED if outcome.fails else REPRODUCED if outcome.holds else UNDECIDED


def _otherwise(claim: Claim, finding: Finding, outcome: CorrectedEvidence) -> Finding:
    """Return the finding, with another verdict if the claim holds under its other reading."""
    other = outcome.other
    if other is None or finding["verdict"] not in (NOT_REPRODUCED, UNDECIDED):
        return finding
    reading = claim.test["otherwise"]["reading"]
    if isinstance(other, str):
        return finding | {"reason": f"{finding['reason']}; {reading}: {other}"}
    weakest = other.evidence[other.joint.weakest]
    finding = finding | {"reason": f"{finding['reason']}; {reading}: {_means(weakest, claim)}"}
    if weakest.n_trials >= ENOUGH and other.holds:
        finding["verdict"] = f"{ONLY_UNDER} {reading}"
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
