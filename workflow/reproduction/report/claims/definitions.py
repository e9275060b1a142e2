"""The papers' claims and their tests, from workflow/claims.yaml.

A claim has an ``id``, ``paper``, ``kind`` (what the paper calls it, one of ``KINDS``), ``place``,
``claim`` (in our words), ``shown_by`` (names of the tables, figures and theory that show it) and a
``test`` of one of three types:

- ``compare``: a list of sentences about rows of an experiment, with the keys below. A row is
  ``MECHANISM``, ``MECHANISM/DIRECTION`` or ``EXPERIMENT:MECHANISM/DIRECTION``. The sentences are:

  - ``A beats B``;
  - ``A beats B by 0.003``;
  - ``A beats B 1.5 times``: the error of B over that of A exceeds 1.5;
  - ``A within 0.004 of B``;
  - ``A within 5 % of B``: A may be worse than B by this share of the gap between the best baseline
    and no privacy.

- ``exact``: names of checks in results/theory/exact.csv, all of whose numbers must hold;
  ``otherwise`` may name checks that hold under another ``reading`` of the claim.
- ``not_run``: the reason why there is no test.

The keys beside ``compare`` are:

- ``experiment`` and ``metric`` (one, or a list);
- ``need``: ``all`` of the sentences, or ``any``;
- ``epsilons``: ``table`` (that of the tables), ``all`` or a list (the mean over these), or
  ``informative`` (separately, each epsilon of an experiment at which its rows beat the baseline);
- ``otherwise``: another ``reading`` of the claim, and the sentences to ``compare`` in it;
- ``read_off: true``: no sentence of the paper states the order. Rows that the paper's printed
  intervals do not separate are omitted;
- ``argument``: names of checks as in ``exact`` that decide the claim without trials.

A claim may have a ``note`` for readers. An exact claim may have an ``identity``: the reason why it
is a definition or an identity, which no altered statement could fail. ``same_as`` names a claim
that the same fact decides: the claim has a separate verdict, and is not counted again. A claim of
amounts on all pairs of a claim of their order is the same as that one; on other pairs it is not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import catalogue
from reproduction.report import inputs
from reproduction.report.claims.findings import KINDS

FILE = Path(__file__).parents[3] / "claims.yaml"

PAPERS = ("MVG", "IMGM")
TEST_TYPES = {
    "compare": {
        *("compare", "experiment", "metric", "need", "epsilons", "read_off", "argument"),
        "otherwise",
    },
    "exact": {"exact", "otherwise"},
    "not_run": {"not_run"},
}
OPTIONAL = ("note", "identity", "same_as")
GRIDS = ("table", "all", "informative")
_NUMBER = r"[0-9]*\.?[0-9]+"
_SENTENCE = re.compile(
    rf"(?P<first>\S+) (?:beats (?P<second>\S+)"
    rf"(?: by (?P<by>{_NUMBER})| (?P<times>{_NUMBER}) times)?"
    rf"|within (?:(?P<share>{_NUMBER}) %|(?P<within>{_NUMBER})) of (?P<other>\S+))"
)


@dataclass(frozen=True)
class Row:
    """A row of an experiment; without a direction it is the row that tables show."""

    experiment: str
    mechanism: str
    direction: str | None = None


@dataclass(frozen=True)
class Comparison:
    """One sentence: ``first`` beats ``second`` (by an amount or a factor), or is within an amount.

    Attributes:
        relation: ``beats``, ``by``, ``times``, ``within`` or ``share`` (within a share of the gap).
        amount: 0 for ``beats``, a percentage for ``share``.
        epsilon: epsilon of the rows as text; empty for the epsilons of the claim.
    """

    first: Row
    second: Row
    relation: str = "beats"
    amount: float = 0.0
    epsilon: str = ""

    @property
    def margin(self) -> float:
        """Number that the difference, or for ``times`` the ratio, must exceed."""
        # Subtract from 0: the negative of 0.0 would print as -0.
        return 0 - self.amount if self.relation == "within" else self.amount

    @property
    def absolute(self) -> bool:
        """Whether the amount has the unit of the metric."""
        return self.relation in ("by", "within") and self.amount > 0


def rows(comparisons: Iterable[Comparison]) -> list[Row]:
    """Return the rows of comparisons, each once."""
    return list(
        dict.fromkeys(
            row for comparison in comparisons for row in (comparison.first, comparison.second)
        )
    )


@dataclass(frozen=True)
class Claim:
    """One claim of a paper (see the docstring of this module).

    Attributes:
        test_type: type of the test, one of ``TEST_TYPES``.
        test: the test as in the file.
        comparisons: sentences of ``compare``.
        otherwise: sentences of another reading.
    """

    id: str
    paper: str
    kind: str
    place: str
    claim: str
    shown_by: tuple[str, ...]
    test_type: str
    test: Mapping[str, Any]
    comparisons: tuple[Comparison, ...] = ()
    otherwise: tuple[Comparison, ...] = ()
    note: str = ""
    identity: str = ""
    same_as: str = ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of the compared rows, at most one per experiment."""
        names = self.test["metric"]
        return (names,) if isinstance(names, str) else tuple(names)

    @property
    def larger(self) -> bool:
        """Whether a larger metric is better."""
        return catalogue.metrics()[self.metrics[0]].larger

    @property
    def epsilons(self) -> str | tuple[str, ...]:
        """Epsilons at which the rows are compared: one of ``GRIDS``, or a tuple of texts."""
        scope = self.test.get("epsilons", "table")
        return scope if isinstance(scope, str) else tuple(scope)

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments whose rows are compared."""
        return tuple(dict.fromkeys(row.experiment for row in rows(self.comparisons)))

    @property
    def every(self) -> bool:
        """Whether the claim needs all comparisons; any one suffices otherwise."""
        return bool(self.test.get("need", "all") == "all")


@dataclass(frozen=True)
class Vocabulary:
    """The names that claims may use; schemes count as mechanisms.

    ``exhibits`` are names that ``shown_by`` may have: ``tables/table3``, ``theory/exact``.
    """

    mechanisms: Collection[str]
    experiments: Collection[str]
    checks: Collection[str]
    exhibits: Collection[str]


def read(vocabulary: Vocabulary, path: str | os.PathLike = FILE) -> list[Claim]:
    """Return the claims of a file, in its order.

    Raises:
        InputError: the file cannot be read, a claim names something unknown, or has a wrong form.
            The message has the claim's id.
    """
    with inputs.file_errors(path, inputs.FROM_GIT):
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    claims = [_claim(entry, vocabulary) for entry in entries]
    ids = [claim.id for claim in claims]
    for twice in sorted({name for name in ids if ids.count(name) > 1}):
        raise InputError(f"claim {twice} is there twice; give each claim an id of its own")
    for claim in claims:
        if claim.same_as:
            checks.choice(ids, **{f"claim {claim.id}: same_as": claim.same_as})
    return claims


def _claim(entry: Any, vocabulary: Vocabulary) -> Claim:
    name = entry.get("id") if isinstance(entry, dict) else entry
    who = f"claim {name}"
    needed = {"id", "paper", "kind", "place", "claim", "shown_by", "test"}
    may = " and ".join(OPTIONAL)
    if not isinstance(entry, dict) or not needed <= entry.keys() <= {*needed, *OPTIONAL}:
        raise InputError(f"{who} must have {', '.join(sorted(needed))}, and may have {may}")
    test = entry["test"]
    kinds = [test_type for test_type in TEST_TYPES if isinstance(test, dict) and test_type in test]
    if len(kinds) != 1:
        raise InputError(f"{who} has no single test; give one of {', '.join(TEST_TYPES)}")
    test_type = kinds[0]
    for key in sorted(test.keys() - TEST_TYPES[test_type]):
        checks.choice(sorted(TEST_TYPES[test_type]), **{f"{who}: key of the test": key})
    checks.choice(PAPERS, **{f"{who}: paper": entry["paper"]})
    checks.choice(KINDS, **{f"{who}: kind": entry["kind"]})
    for exhibit in entry["shown_by"]:
        checks.choice(vocabulary.exhibits, **{f"{who}: shown_by": exhibit})
    comparisons: tuple[Comparison, ...] = ()
    other: tuple[Comparison, ...] = ()
    otherwise = test.get("otherwise", {"reading": ""})
    if test_type == "compare":
        comparisons = _comparisons(who, test, vocabulary)
        if "otherwise" in test:
            other = _comparisons(who, {**test, "compare": otherwise["compare"]}, vocabulary)
    check_names = [*test.get("exact", ()), *otherwise.get("exact", ()), *test.get("argument", ())]
    for check in check_names:
        checks.choice(vocabulary.checks, **{f"{who}: check": check})
    fields: dict[str, Any] = {"shown_by": tuple(entry["shown_by"])}
    fields |= {name: " ".join(entry.get(name, "").split()) for name in ("claim", *OPTIONAL)}
    return Claim(**(entry | fields), test_type=test_type, comparisons=comparisons, otherwise=other)


def _comparisons(
    who: str, test: Mapping[str, Any], vocabulary: Vocabulary
) -> tuple[Comparison, ...]:
    metrics = test.get("metric")
    for metric in metrics if isinstance(metrics, list) else [metrics]:
        checks.choice(catalogue.metrics(), **{f"{who}: metric": metric})
    checks.choice(("all", "any"), **{f"{who}: need": test.get("need", "all")})
    if not isinstance(epsilons := test.get("epsilons", "table"), list):
        checks.choice(GRIDS, **{f"{who}: epsilons": epsilons})
    comparisons = []
    for sentence in test["compare"]:
        parts = _SENTENCE.fullmatch(sentence)
        if parts is None:
            raise InputError(
                f"{who}: {sentence!r} is no comparison; write 'A beats B', 'A beats B by 0.1', "
                "'A beats B 1.5 times', 'A within 0.1 of B' or 'A within 5 % of B'"
            )
        relations = ("by", "times", "within", "share")
        relation = next((name for name in relations if parts[name]), "beats")
        first = _row(who, parts["first"], test, vocabulary)
        second = _row(who, parts["second"] or parts["other"], test, vocabulary)
        amount = float(parts[relation]) if relation != "beats" else 0.0
        comparisons.append(Comparison(first, second, relation, amount))
    if not comparisons:
        raise InputError(f"{who} compares nothing; give at least one sentence")
    return tuple(comparisons)


def _row(who: str, text: str, test: Mapping[str, Any], vocabulary: Vocabulary) -> Row:
    place, _, name = text.rpartition(":")
    mechanism, slash, direction = name.partition("/")
    experiment = place or test.get("experiment")
    checks.choice(vocabulary.experiments, **{f"{who}: experiment": experiment})
    checks.choice([*vocabulary.mechanisms, *catalogue.BASELINES], **{f"{who}: row": mechanism})
    return Row(str(experiment), mechanism, direction if slash else None)
