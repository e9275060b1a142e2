"""The first screen of the page and of README: sentences that answer a reader's three questions.

The catalogue has the words; claims, comparisons and advice have the judgements. This module puts
numbers into the words. A sentence is left out if the run lacks its numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.report import audit_status, comparisons, inputs, summary
from reproduction.report.audit_status import NOT_PRIVATE
from reproduction.report.claims import findings
from reproduction.report.claims.verdicts import EXPERIMENT, REPRODUCED
from reproduction.report.inputs import Files
from reproduction.report.markup import short, span
from reproduction.report.statistics import ENOUGH
from reproduction.report.tables import advice, audit, effective_noise, imgm_settings

Words = Mapping[str, Any]

#: The column of tight epsilons.
TIGHT = "epsilon_delivered"


class Run:
    """The files of a run behind answers and cards; a missing file is an empty frame.

    Args:
        files: files of the run by name, its settings among them.
    """

    def __init__(self, files: Files) -> None:
        self.files = files
        self.settings = inputs.read("settings", files)
        self.claimed_epsilon = float(self.settings["table_epsilon"])

    def table(self, name: str, at: bool = False) -> pd.DataFrame:
        """Return an input by its name; with ``at``, only its rows at the tables' epsilon."""
        if name not in self.files or [*(table := inputs.read(name, self.files))] == ["note"]:
            return pd.DataFrame()
        if not at or "epsilon" not in table:
            return table
        return table[pd.to_numeric(table["epsilon"], errors="coerce").eq(self.claimed_epsilon)]

    def runs(self) -> list[str]:
        """Return the names of all experiments and trainings in the settings."""
        return [*self.settings["experiments"], *(self.settings.get("training") or ())]

    def published(self, name: str) -> pd.DataFrame:
        """Return a paper's numbers; a frame without rows where it prints none."""
        file = f"published/{name}"
        present = {file: inputs.read(file, self.files)} if file in self.files else {}
        return inputs.published(name, present)

    def experiments(self) -> dict[str, pd.DataFrame]:
        """Return the table rows of each experiment, in the catalogue's order.

        Parts of other experiments are left out, and so are those on simulated data, which answer
        nothing about the papers.
        """
        return {**self._experiments}

    @functools.cached_property
    def _experiments(self) -> dict[str, pd.DataFrame]:
        tables, order = {}, [*catalogue.experiments()]
        for name in sorted(
            self.runs(), key=lambda name: order.index(name) if name in order else 1000
        ):
            rows = self.table(f"summary/{name}")
            if rows.empty or catalogue.experiment(name).part_of:
                continue
            if not rows["data_status"].eq(summary.SIMULATED).any():
                tables[name] = audit_status.joined(summary.default(rows), self.audit(name))
        return tables

    def audit(self, experiment: str) -> pd.DataFrame:
        """Return the audited releases of an experiment."""
        rows = self.table("tables/audit")
        if rows.empty:
            return rows
        return rows[rows["subject"].eq(audit.RELEASE) & rows["experiment"].eq(experiment)]

    def advice(self) -> dict[str, pd.Series]:
        """Return each experiment's advice for the task that allows most; few trials give none."""
        rows = self.table("tables/advice", at=True)
        if rows.empty:
            return {}
        enough = {name for name, rows in self.experiments().items() if trials(rows) >= ENOUGH}
        rows = rows[rows["experiment"].isin(enough)]
        return {str(name): group.iloc[-1] for name, group in rows.groupby("experiment", sort=False)}

    def verdicts(self, experiment: str, names: list[str]) -> dict[str, str]:
        """Return the verdicts on mechanisms' table rows against the best record-free baseline.

        What is refuted has the words for that as its verdict
        (:mod:`reproduction.report.audit_status`).
        """
        compared = self.table(f"comparisons/{experiment}")
        if compared.empty:
            return {}
        rows = self.experiments()[experiment]
        baseline, at = summary.trivial(rows), pd.to_numeric(rows["epsilon"], errors="coerce")
        rows = rows[
            at.eq(self.claimed_epsilon) & rows["mechanism"].isin(names) & rows["mean"].notna()
        ]
        outcomes = comparisons.verdicts(rows, compared, baseline)
        words = map(audit_status.text, rows.to_dict("records"))
        each = (word or outcome for word, outcome in zip(words, outcomes, strict=True))
        return dict(zip(rows["mechanism"], each, strict=True))

    def refuted(self, paper: str) -> bool:
        """Return whether the audit refutes a mechanism of a paper in some experiment."""
        rows = pd.concat([pd.DataFrame(), *self.experiments().values()])
        if rows.empty:
            return False
        names = catalogue.section("papers")[paper]
        return bool(audit_status.refuted(rows[rows["mechanism"].isin(names)]).any())

    def trials(self) -> dict[int, list[str]]:
        """Return the names of experiments, grouped by their trials of a row.

        The smallest number at the claimed epsilon, which all answers are on.
        """
        by_count: dict[int, list[str]] = {}
        for name, rows in self.experiments().items():
            at = pd.to_numeric(rows["epsilon"], errors="coerce")
            rows = rows[at.eq(self.claimed_epsilon) | at.isna()]
            by_count.setdefault(trials(rows), []).append(catalogue.experiment(name).name)
        return by_count


def trials(rows: pd.DataFrame) -> int:
    """Return the smallest positive number of trials in the rows; 0 if there is none."""
    ran = rows.loc[rows["n_trials"].gt(0), "n_trials"]
    return 0 if ran.empty else int(ran.min())


def answers(run: Run) -> dict[str, list[str]]:
    """Return sentences in Markdown by the question that they answer.

    Raises:
        InputError: a file is damaged.
    """
    claims = run.table("claims")
    reproduced = set() if claims.empty else {*claims.loc[claims["verdict"].eq(REPRODUCED), "id"]}
    by_question: dict[str, list[str]] = {}
    for question, sentences in catalogue.section("answers").items():
        for name, entry in sentences.items():
            if reproduced.issuperset(entry.get("needs", ())) and (
                text := SENTENCES[name](run, entry)
            ):
                by_question.setdefault(question, []).append(" ".join(text.split()))
    return by_question


def _outcomes(run: Run, paper: str) -> dict[str, dict[str, int]] | None:
    """Return the counts of verdicts on a paper's claims by their group."""
    claims = run.table("claims")
    claims = claims[claims["paper"].eq(paper)] if len(claims) else claims
    if claims.empty or any(trials(rows) < ENOUGH for rows in _of(run, paper).values()):
        return None
    return {group: findings.outcomes(claims, group) for group in findings.GROUPS}


def _of(run: Run, paper: str) -> dict[str, pd.DataFrame]:
    """Return the table rows of the experiments for which a paper has a table of results."""
    return {
        name: rows
        for name, rows in run.experiments().items()
        if catalogue.experiment(name).paper == paper and catalogue.experiment(name).table
    }


def _mvg_claims(run: Run, entry: Words) -> str | None:
    if (outcomes := _outcomes(run, "MVG")) is None or not (experiments := _of(run, "MVG")):
        return None
    useless = []
    for name in experiments:
        published = run.published(catalogue.experiment(name).results)
        stands = run.verdicts(name, [*{*published["mechanism"]} - {*catalogue.BASELINES}])
        stands = {k: word for k, word in stands.items() if not word.startswith(NOT_PRIVATE)}
        if stands and comparisons.BETTER not in stands.values():
            useless.append(catalogue.experiment(name).name)
    claims = run.table("claims")
    controls = findings.controlled(claims[claims["paper"].eq("MVG")], EXPERIMENT)
    return entry["text"].format(
        **_counts(outcomes),
        **{name: entry[name].format(count=n) if n else "" for name, n in controls.items()},
        useless=entry["useless"].format(names=" and ".join(useless)) if useless else "",
    )


def _mvg_theorems(run: Run, entry: Words) -> str | None:
    if (outcomes := _outcomes(run, "MVG")) is None:
        return None
    return entry["text"].format(**_counts(outcomes))


def _imgm_claims(run: Run, entry: Words) -> str | None:
    rows = [run.table(f"comparisons/{name}") for name in run.experiments()]
    pairs = comparisons.oriented(pd.concat(rows)) if any(map(len, rows)) else pd.DataFrame()
    outcomes = _outcomes(run, "IMGM")
    if pairs.empty or outcomes is None or run.refuted("IMGM"):
        return None
    of_both = pairs["mechanism"].eq("imgm") & pairs["against"].eq("analytic_gaussian")
    same = pairs.loc[of_both & pairs["experiment"].isin(_releases(run)), "same_distribution"]
    if not len(same) or not same.astype(bool).all():
        return None
    return entry["text"].format(**_counts(outcomes))


def _counts(outcomes: Mapping[str, dict[str, int]]) -> dict[str, str]:
    """Return by group the number of claims, and in words how many have which verdict."""
    totals = {f"{group}_count": str(sum(counts.values())) for group, counts in outcomes.items()}
    return totals | {group: findings.phrase(counts) for group, counts in outcomes.items()}


def _releases(run: Run) -> list[str]:
    """Return the experiments that add noise once; training on gradients composes many releases."""
    return [
        name for name in run.experiments() if catalogue.experiment(name).perturbation != "gradients"
    ]


def inflation(run: Run) -> str:
    """Return by how many times MVG's noise exceeds what its guarantee needs; empty if unknown."""
    noise = run.table("tables/effective_noise", at=True)
    return "" if noise.empty else span(effective_noise.mvg_noise(noise)["noise_inflation"], short)


def _mvg_guarantee(run: Run, entry: Words) -> str | None:
    if run.refuted("MVG") or not (times := inflation(run)):
        return None
    tight = ""
    mvg = _delivered(run, catalogue.section("papers")["MVG"])
    # Of its own experiments; in those of others we compose it.
    if len(mvg := mvg[mvg["experiment"].isin([*_of(run, "MVG")])] if len(mvg) else mvg):
        # Where directions are paid for, MVG's noise is only a part of the cost.
        searched = mvg["noise_std"].isna()
        parts = (mvg.loc[rows, "epsilon_delivered"] for rows in (~searched, searched))
        noise, search = (short(part.max(), 2) for part in parts)
        cost = run.table("tables/effective_noise", at=True)
        cost = cost.loc[cost["mechanism"].isin(mvg.loc[searched, "mechanism"]), "noise_inflation"]
        also = entry["search"].format(search=search, times=span(cost, short)) if search else ""
        claimed_epsilon = short(run.claimed_epsilon)
        tight = entry["tight"].format(claimed_epsilon=claimed_epsilon, mvg=noise, search=also)
    return entry["text"].format(times=times, tight=tight)


def _imgm_guarantee(run: Run, entry: Words) -> str | None:
    rows = run.table("theory/settings", at=True)
    if rows.empty or run.refuted("IMGM"):
        return None
    ours, whole = (imgm_settings.on_features(rows, every)[TIGHT] for every in (False, True))
    if ours.empty or not whole.gt(run.claimed_epsilon).all():
        return None
    features, every = _format_range(ours), _format_range(whole)
    return entry["text"].format(
        claimed_epsilon=short(run.claimed_epsilon),
        features=features,
        readings=entry["readings"].format(every=every) if every != features else "",
    )


def _imgm_gradients(run: Run, entry: Words) -> str | None:
    rows = run.table("theory/settings", at=True)
    imgm, *others = (_delivered(run, [row]) for row in catalogue.rows_of("IMGM", "gradients"))
    if rows.empty or imgm.empty or run.refuted("IMGM"):
        return None
    code = rows.loc[rows["lots"].eq("paper") & rows["scheme"].eq("imgm_code"), TIGHT].max()
    composed = imgm[~imgm["experiment"].isin(_releases(run))]
    if composed.empty or not code > run.claimed_epsilon:
        return None
    theory = rows[rows["perturbation"].eq("gradients") & rows["scheme"].eq("imgm")]
    kairouz = pd.concat(others)
    kairouz = kairouz[~kairouz["experiment"].isin(_releases(run))] if len(kairouz) else kairouz
    other = ""
    if len(kairouz):
        names = (catalogue.experiment(name).name for name in kairouz["experiment"].unique())
        other = entry["other"].format(
            kairouz=_format_range(kairouz[TIGHT]), names=" and ".join(names)
        )
    return entry["text"].format(
        claimed_epsilon=short(run.claimed_epsilon),
        imgm=_format_range(pd.concat([composed[TIGHT], theory[TIGHT]])),
        count=len({*composed["dataset"], *theory["dataset"]}),
        other=other,
        code=short(code, 2),
    )


def _delivered(run: Run, mechanisms: Collection[str]) -> pd.DataFrame:
    """Return the rows of some mechanisms at the tables' epsilon that have a tight one."""
    rows = pd.concat([pd.DataFrame(), *run.experiments().values()])
    if rows.empty:
        return rows
    at = pd.to_numeric(rows["epsilon"], errors="coerce").eq(run.claimed_epsilon)
    ours = rows["mechanism"].isin(mechanisms)
    return rows[at & ours & rows["epsilon_delivered"].notna()]


def _format_range(values: pd.Series) -> str:
    return span(values, lambda value: short(value, 2))


def _advice(run: Run, entry: Words) -> str | None:
    best = "; ".join(
        entry["best" if row["beats_baseline"] in (True, "True") else "none"].format(
            topic=advice.topic(row), label=catalogue.marked(row["best"])
        )
        for row in advice.by_topic(run.advice())
    )
    mark = catalogue.section("tuned_mark")
    note = f" {mark} {catalogue.section('tuned_note')}." if mark in best else ""
    claimed = short(run.claimed_epsilon)
    return entry["text"].format(claimed_epsilon=claimed, best=best, tuned=note) if best else None


#: Functions from a run and an entry of the catalogue to the sentence; None for none.
SENTENCES: Mapping[str, Callable[[Run, Words], str | None]] = {
    "mvg_claims": _mvg_claims,
    "mvg_theorems": _mvg_theorems,
    "imgm_claims": _imgm_claims,
    "mvg_guarantee": _mvg_guarantee,
    "imgm_guarantee": _imgm_guarantee,
    "imgm_gradients": _imgm_gradients,
    "advice": _advice,
}
