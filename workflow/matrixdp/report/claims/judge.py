"""From the files of a run to a verdict on each claim (see :mod:`matrixdp.report.claims`)."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from matrixdp import catalogue
from matrixdp.checks import InputError
from matrixdp.report import summary
from matrixdp.report.claims import across
from matrixdp.report.claims.evidence import Evidence, gather
from matrixdp.report.claims.ledger import Claim, Comparison, Row
from matrixdp.report.claims.trialbook import NotRun, Trialbook
from matrixdp.report.markup import short
from matrixdp.report.statistics import LEVEL, Joint, holm, jointly

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
ONLY_UNDER, UNINFORMATIVE = "reproduced only under", "uninformative"
UNDECIDED, UNTESTABLE = "undecided", "untestable here"

COLUMNS = (
    *("id", "paper", "place", "claim", "statistic", "test", "verdict", "effect", "effect_low"),
    *("effect_high", "p", "p_corrected", "readings_holding", "readings_total", "reason"),
    *("shown_by", "data_status", "experiments"),
)
COMPARISONS = (
    *("id", "better", "worse", "kind", "amount", "mean_better", "mean_worse", "effect"),
    *("effect_low", "effect_high", "p_for", "p_against", "paired", "n_trials"),
)


@dataclass(frozen=True)
class Finding:
    """One row of the ledger, but for what stands in the claim itself; see ``COLUMNS``."""

    verdict: str
    reason: str
    statistic: str = ""
    test: str = ""
    effect: float = float("nan")
    effect_low: float = float("nan")
    effect_high: float = float("nan")
    p: float = float("nan")
    p_corrected: float = float("nan")
    readings_holding: int | None = None
    readings_total: int | None = None
    data_status: str = ""


class Judge:
    """Judges claims on the files of one run.

    Args:
        results: the run's folder.
        experiments: those of the run's configuration.
        epsilon: canonical token of the tables' epsilon.
    """

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
            if claim.kind == "compare":
                try:
                    weighed[claim.id] = self._weigh(claim)
                except NotRun as reason:
                    found[claim.id] = Finding(UNDECIDED, f"not run: {reason}")
            else:
                found[claim.id] = self._exact(claim)
        compared = [claim for claim in claims if claim.id in weighed]
        corrected = _corrected(compared, weighed)
        for claim in compared:
            found[claim.id] = self._ordering(claim, *weighed[claim.id], corrected[claim.id])
        rows = [
            vars(found[claim.id])
            | {name: getattr(claim, name) for name in ("id", "paper", "place", "claim")}
            | {"shown_by": " ".join(claim.shown_by), "experiments": " ".join(claim.experiments)}
            | {"reason": ". ".join(filter(None, [found[claim.id].reason, claim.note])).strip(".")}
            for claim in claims
        ]
        listed = [_listed(name, one) for name, (_, parts) in weighed.items() for one in parts]
        ledger_rows = pd.DataFrame(rows, columns=[*COLUMNS])
        counts = ["readings_holding", "readings_total"]
        ledger_rows[counts] = ledger_rows[counts].astype("Int64")
        return ledger_rows, pd.DataFrame(listed, columns=[*COMPARISONS])

    def _weigh(self, claim: Claim) -> tuple[Joint, list[Evidence]]:
        evidence = gather(claim, self._book, self._epsilon)
        return _together(evidence, claim.every), evidence

    def _ordering(
        self, claim: Claim, joint: Joint, evidence: Sequence[Evidence], corrected: float
    ) -> Finding:
        statuses = {self._book.status(one.comparison.first.experiment) for one in evidence}
        paired = all(one.paired for one in evidence)
        test = f"{'paired' if paired else 'Welch'} t, Holm"
        finding = self._settle(claim, joint, evidence, corrected)
        finding = replace(finding, test=test, p=joint.p, p_corrected=corrected)
        finding = replace(finding, data_status=" and ".join(sorted(statuses)))
        if summary.SIMULATED in statuses:
            return replace(
                finding, verdict=UNTESTABLE, reason="run on simulated data, not on the paper's"
            )
        if all(self._book.same_law(c.first, c.second) for c in claim.comparisons):
            reason = f"the two add the same noise, and differ by chance alone; {finding.reason}"
            return replace(finding, verdict=UNDECIDED, reason=reason)
        if finding.verdict != NOT_REPRODUCED and (guess := self._met_by(claim)):
            name = catalogue.label(guess).lower()
            finding = replace(
                finding,
                verdict=UNINFORMATIVE,
                reason=f"the {name} meets it too; ours: {finding.reason}",
            )
        if finding.verdict == UNDECIDED and (guess := self._like(claim)):
            name = catalogue.label(guess).lower()
            reason = f"{finding.reason}; nor can ours be told from the {name}"
            finding = replace(finding, reason=reason)
        return self._over_readings(claim, finding)

    def _settle(
        self, claim: Claim, joint: Joint, evidence: Sequence[Evidence], corrected: float
    ) -> Finding:
        """Return the verdict of the trials alone, with the comparison that decides it."""
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
        return Finding(
            verdict,
            prefix + reason,
            statistic=f"{metric} of {ends[0]} {operator} that of {ends[1]}",
            effect=one.effect,
            effect_low=one.effect_low,
            effect_high=one.effect_high,
        )

    def _name(self, row: Row, claim: Claim) -> str:
        label = catalogue.label(row.mechanism)
        details = [f"direction {row.direction}"] if row.direction else []
        if len(claim.experiments) > 1:
            details.append(catalogue.experiment(row.experiment).name)
        return f"{label} ({', '.join(details)})" if details else label

    def _met_by(self, claim: Claim) -> str:
        """Return the guess that meets the claim in place of its subject, or nothing."""
        for guess in self._guesses(claim):
            evidence = gather(claim, self._book, self._epsilon, _swapped(claim, guess))
            joint = _together(evidence, claim.every)
            if joint.p_for < LEVEL <= joint.p_against:
                return guess.mechanism
        return ""

    def _like(self, claim: Claim) -> str:
        """Return a guess that the subject of the claim cannot be told from, or nothing."""
        subject = claim.comparisons[0].first
        for guess in self._guesses(claim):
            found = gather(claim, self._book, self._epsilon, [Comparison(subject, guess)])
            if _together(found, every=True).p >= LEVEL:
                return guess.mechanism
        return ""

    def _guesses(self, claim: Claim) -> list[Row]:
        """Return the rows that use no record, but for those that the claim is about."""
        experiment = claim.comparisons[0].first.experiment
        taken = {row.mechanism for one in claim.comparisons for row in (one.first, one.second)}
        rows = [Row(experiment, name) for name in catalogue.GUESSES if name not in taken]
        return [row for row in rows if self._book.has(row)]

    def _over_readings(self, claim: Claim, finding: Finding) -> Finding:
        if len(claim.experiments) > 1 or claim.test.get("epsilons", "table") != "table":
            return finding
        table = across.read(self._root / "readings" / f"{claim.experiments[0]}.csv")
        if table is None:
            return finding
        share = across.share(
            table,
            claim.comparisons,
            epsilon=self._epsilon,
            larger=claim.larger,
            every=claim.every,
            guesses=[_swapped(claim, guess) for guess in self._guesses(claim)],
        )
        finding = replace(finding, readings_holding=share.holding, readings_total=share.total)
        if finding.verdict in (NOT_REPRODUCED, UNDECIDED) and share.sure:
            others = len(share.sure) - 1
            more = f" and {others} more" if others else ""
            finding = replace(finding, verdict=f"{ONLY_UNDER} {share.sure[0]}{more}")
        return finding

    def _exact(self, claim: Claim) -> Finding:
        if claim.kind == "not_run":
            return Finding(UNDECIDED, f"not run: {' '.join(claim.test['not_run'].split())}")
        if claim.kind == "theory":
            return self._limits(claim)
        numbers = self._theory("exact")
        if numbers is None:
            return Finding(UNDECIDED, "not run: results/theory/exact.csv is missing")
        verdict, shown = _all_hold(numbers, claim.test["exact"])
        otherwise = claim.test.get("otherwise")
        if (
            verdict == NOT_REPRODUCED
            and otherwise
            and _all_hold(numbers, otherwise["exact"])[0] == REPRODUCED
        ):
            verdict = f"{ONLY_UNDER} {otherwise['reading']}"
        if shown is None:
            return Finding(verdict, "not run: a check is missing in results/theory/exact.csv")
        reason = f"{shown['statistic']}: {short(shown['value'], 4)}"
        if not shown["holds"]:
            reason += f", should be {shown['relation']} {short(shown['expected'], 4)}"
        else:
            count = numbers["check"].isin(claim.test["exact"]).sum()
            reason = reason if count == 1 else f"all {count} numbers hold; {reason}"
        statistic, value = str(shown["statistic"]), float(shown["value"])
        return Finding(verdict, reason, statistic=statistic, test="numeric", effect=value)

    def _limits(self, claim: Claim) -> Finding:
        """Judge limits on rows of a table of theory; measured numbers stay in that table."""
        for limit in claim.test["theory"]:
            table = self._theory(limit["table"])
            if table is None:
                return Finding(
                    UNDECIDED, f"not run: results/theory/{limit['table']}.csv is missing"
                )
            try:
                for column, value in limit["where"].items():
                    table = table[table[column] == value]
                found = table[limit["column"]]
            except KeyError as error:
                raise InputError(
                    f"claim {claim.id}: theory table {limit['table']} has no column {error}"
                ) from None
            if found.empty:
                raise InputError(
                    f"claim {claim.id}: theory table {limit['table']} has no row with "
                    f"{', '.join(f'{k} = {v}' for k, v in limit['where'].items())}"
                )
            where = ", ".join(map(str, limit["where"].values()))
            if not found.max() <= limit["at_most"]:
                reason = f"{limit['column']} of {where} is above {limit['at_most']}"
                return Finding(NOT_REPRODUCED, reason, test="numeric")
        count = len(claim.test["theory"])
        return Finding(REPRODUCED, f"all {count} measured numbers are within it", test="numeric")

    def _theory(self, name: str) -> pd.DataFrame | None:
        path = self._root / "theory" / f"{name}.csv"
        return pd.read_csv(path) if path.is_file() else None


def _together(evidence: Sequence[Evidence], every: bool) -> Joint:
    return jointly([one.p_for for one in evidence], [one.p_against for one in evidence], every)


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


def _corrected(
    claims: Sequence[Claim], weighed: Mapping[str, tuple[Joint, list[Evidence]]]
) -> dict[str, float]:
    """Return Holm's corrected p-values, over the claims on one experiment."""
    families: dict[str, list[str]] = {}
    for claim in claims:
        families.setdefault(claim.comparisons[0].first.experiment, []).append(claim.id)
    found: dict[str, float] = {}
    for names in families.values():
        values = holm([weighed[name][0].p for name in names])
        found |= dict(zip(names, values.tolist(), strict=True))
    return found


def _all_hold(numbers: pd.DataFrame, checks: Sequence[str]) -> tuple[str, pd.Series | None]:
    """Return whether all numbers of the checks hold, and one to show: the first that fails."""
    if set(checks) - set(numbers["check"]):
        return UNDECIDED, None
    rows = numbers[numbers["check"].isin(checks)]
    fails = rows[~rows["holds"]]
    return (NOT_REPRODUCED, fails.iloc[0]) if len(fails) else (REPRODUCED, rows.iloc[0])


def _listed(name: str, one: Evidence) -> dict[str, object]:
    better, worse = (
        f"{row.experiment}:{row.mechanism}" + (f"/{row.direction}" if row.direction else "")
        for row in (one.comparison.first, one.comparison.second)
    )
    which = {"id": name, "better": better, "worse": worse}
    return vars(one) | vars(one.comparison) | which
