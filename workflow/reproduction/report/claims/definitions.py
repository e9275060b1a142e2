"""The papers' claims and their tests, from workflow/claims.yaml.

A test is one of three. ``compare`` has sentences about rows of an experiment. A row is
``MECHANISM``, ``MECHANISM/DIRECTION`` or ``EXPERIMENT:MECHANISM/DIRECTION``. The sentences are:

- ``A beats B``;
- ``A beats B by 0.003``;
- ``A beats B 1.5 times``: the error of B over that of A exceeds 1.5;
- ``A within 0.004 of B``;
- ``A within 5 % of B``: A may be worse than B by this share of the gap between the best baseline
  and no privacy.

``exact`` names checks in results/theory/exact.csv, and ``not_run`` says why there is no test. The
models below explain all keys.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, model_validator

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import catalogue, files
from reproduction.models import Label, Model, Text, Texts, check
from reproduction.report import inputs

FILE = Path(__file__).parents[3] / "claims.yaml"

Paper = Literal["MVG", "IMGM"]
PAPERS: tuple[str, ...] = get_args(Paper)
#: What a paper calls a claim.
Kind = Literal[
    "theorem",
    "lemma",
    "example",
    "step of a proof",
    "equation",
    "remark",
    "setting",
    "experiment",
]
#: Epsilons by a word.
Grid = Literal["table", "all", "each", "informative"]

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
        rounding: half a unit of the amount's last printed digit.
        epsilon: epsilon of the rows as text; empty for the epsilons of the claim.
    """

    first: Row
    second: Row
    relation: str = "beats"
    amount: float = 0.0
    rounding: float = 0.0
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


def _check_sentence(sentence: str) -> str:
    if _SENTENCE.fullmatch(sentence) is None:
        raise ValueError(
            f": {sentence!r} is no comparison; write 'A beats B', 'A beats B by 0.1', "
            "'A beats B 1.5 times', 'A within 0.1 of B' or 'A within 5 % of B'"
        )
    return sentence


Sentences = Annotated[
    list[Annotated[str, AfterValidator(_check_sentence)]], Field(None, min_length=1)
]


class Reading(Model):
    """Another reading of a claim, or a narrower one, under which alone the claim may hold."""

    reading: Text
    """What it reads in another way, or the condition."""
    compare: Sentences
    """Sentences that are tested in their place."""
    epsilons: Grid | Texts | None = None
    """Epsilons at which they are tested, if not at those of the claim."""
    exact: Texts = Field([])
    """Checks that are asked in their place."""


class Test(Model):
    """What decides a claim: one of ``compare``, ``exact`` and ``not_run``."""

    compare: Sentences
    """Sentences about rows of an experiment."""
    exact: Texts = Field([])
    """Checks in results/theory/exact.csv, all of whose numbers must hold."""
    not_run: Text = ""
    """Why there is no test."""
    experiment: str = ""
    """The experiment of rows that name none."""
    metric: str | Texts = Field([])
    """The metric of the rows, or those of several experiments."""
    need: Literal["all", "any"] = "all"
    """Whether all sentences must hold, or any."""
    epsilons: Grid | Texts = "table"
    """``table`` (that of the tables), ``all`` or a list (the mean over these), ``each`` (a test at
    each that the rows have), or ``informative`` (the claim needs each epsilon of an experiment at
    which its rows beat the baseline)."""
    read_off: bool = False
    """True if no sentence of the paper states the order. Rows that the paper's printed intervals do
    not separate are omitted."""
    argument: Texts = Field([])
    """Checks, as in ``exact``, that decide the claim without trials."""
    otherwise: Reading | None = None
    """Another reading, under which alone the claim may hold."""

    @model_validator(mode="after")
    def _has_one(self) -> Test:
        present = [name for name in ("compare", "exact", "not_run") if getattr(self, name)]
        if len(present) != 1:
            raise ValueError(" must have one of compare, exact and not_run")
        further = self.model_fields_set - {*present, "otherwise"}
        if present != ["compare"] and further:
            raise ValueError(f" has {', '.join(sorted(further))}, which goes with compare alone")
        return self


class Claim(Model):
    """A claim of a paper, and what decides it."""

    id: Label
    """Its name, such as M16."""
    paper: Paper
    """The paper that makes it."""
    kind: Kind
    """What the paper calls it; an experiment is a claim on results."""
    place: Text
    """Where it stands in the paper."""
    claim: Text
    """What is claimed, in our words."""
    shown_by: Texts
    """Tables, figures and theory that show it, such as tables/table3."""
    test: Test
    """What decides it."""
    note: Text = ""
    """What a reader should know beside the verdict."""
    identity: Text = ""
    """Why it is a definition or an identity, which no altered statement could fail."""
    same_as: str = ""
    """The claim that it counts with: it states nothing beyond that."""

    @functools.cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The sentences of ``compare``."""
        return tuple(map(self._comparison, self.test.compare or ()))

    @functools.cached_property
    def otherwise(self) -> tuple[Comparison, ...]:
        """The sentences of the other reading."""
        other = self.test.otherwise
        return tuple(map(self._comparison, other.compare or () if other else ()))

    @property
    def checks(self) -> list[str]:
        """The checks that it names."""
        other = self.test.otherwise.exact if self.test.otherwise else []
        return [*self.test.exact, *other, *self.test.argument]

    @property
    def metrics(self) -> list[str]:
        """The metrics of the compared rows, at most one per experiment."""
        names = self.test.metric
        return [names] if isinstance(names, str) else names

    @property
    def larger(self) -> bool:
        """Whether a larger metric is better."""
        return catalogue.metrics()[self.metrics[0]].larger

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments whose rows are compared."""
        return tuple(dict.fromkeys(row.experiment for row in rows(self.comparisons)))

    @property
    def every(self) -> bool:
        """Whether the claim needs all comparisons; any one suffices otherwise."""
        return self.test.need == "all"

    def _comparison(self, sentence: str) -> Comparison:
        parts = _SENTENCE.fullmatch(sentence)
        assert parts is not None, sentence  # the model has checked it
        relations = ("by", "times", "within", "share")
        relation = next((name for name in relations if parts[name]), "beats")
        sides = self._row(parts["first"]), self._row(parts["second"] or parts["other"])
        if relation == "beats":
            return Comparison(*sides)
        digits = len(parts[relation].partition(".")[2])
        return Comparison(*sides, relation, float(parts[relation]), 0.5 * 10.0**-digits)

    def _row(self, text: str) -> Row:
        experiment, _, name = text.rpartition(":")
        mechanism, slash, direction = name.partition("/")
        return Row(experiment or self.test.experiment, mechanism, direction if slash else None)


@dataclass(frozen=True)
class Vocabulary:
    """The names that claims may use; schemes count as mechanisms.

    ``exhibits`` are names that ``shown_by`` may have: ``tables/table3``, ``theory/exact``.
    """

    mechanisms: Collection[str]
    experiments: Collection[str]
    checks: Collection[str]
    exhibits: Collection[str]

    def check(self, claim: Claim) -> None:
        """Raise InputError if a claim names something unknown."""
        who = f"claim {claim.id}"
        for exhibit in claim.shown_by:
            checks.choice(self.exhibits, **{f"{who}: shown_by": exhibit})
        for name in claim.checks:
            checks.choice(self.checks, **{f"{who}: check": name})
        for metric in claim.metrics:
            checks.choice(catalogue.metrics(), **{f"{who}: metric": metric})
        mechanisms = [*self.mechanisms, *catalogue.BASELINES]
        for row in rows([*claim.comparisons, *claim.otherwise]):
            checks.choice(self.experiments, **{f"{who}: experiment": row.experiment})
            checks.choice(mechanisms, **{f"{who}: row": row.mechanism})


def read_definitions(vocabulary: Vocabulary, path: str | os.PathLike = FILE) -> list[Claim]:
    """Return the claims of a file, in its order.

    Raises:
        InputError: the file cannot be read, a claim names something unknown, or has a wrong form.
            The message has the claim's id.
    """
    with inputs.file_errors(path, inputs.FROM_GIT):
        entries: list[Any] = files.read_yaml(path)
    claims = [check(Claim, entry, f"claim {_name(entry)}") for entry in entries]
    ids = [claim.id for claim in claims]
    for twice in sorted({name for name in ids if ids.count(name) > 1}):
        raise InputError(f"claim {twice} is there twice; give each claim an id of its own")
    for claim in claims:
        vocabulary.check(claim)
        if claim.same_as:
            checks.choice(ids, **{f"claim {claim.id}: same_as": claim.same_as})
    return claims


def _name(entry: Any) -> Any:
    return entry.get("id") if isinstance(entry, dict) else entry
