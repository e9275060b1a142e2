"""Readings: consistent choices of the details that the papers leave open.

workflow/readings.yaml names every open question, its values, and what it acts on. A reading gives
each question one value. Its canonical name lists the questions that differ from their first value.
Experiments run under the default reading, and under each that differs from it in one question.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import files
from reproduction.trials import DEFAULT as DEFAULT

CATALOGUE = Path(__file__).parents[2] / "readings.yaml"

#: Values of ``acts_on``, or prefixes, for questions that set no parameter of a mechanism or a task.
ADJACENCY, ROW, DATA = "adjacency", "row", "data."

#: Value that stands for the Frobenius norm of the query's value on the private data.
FROM_DATA = "data"

Parameters = Mapping[str, Any]
Thing = TypeVar("Thing")


@dataclass(frozen=True, eq=False)
class Question:
    """A detail that a paper leaves open; workflow/readings.yaml explains the fields."""

    name: str
    title: str
    about: str
    acts_on: str
    values: Mapping[str, Any]
    experiments: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    not_private: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """The value in the default reading."""
        return next(iter(self.values))

    @property
    def is_parameter(self) -> bool:
        """Whether the question sets a parameter of a mechanism or a task."""
        return self.acts_on not in (ADJACENCY, ROW) and not self.acts_on.startswith(DATA)


@functools.cache
def questions() -> Mapping[str, Question]:
    """Return all questions by name, in the order that canonical names have."""
    tuples = ("experiments", "spares", "not_private")
    return MappingProxyType(
        {
            name: Question(name, **entry | {key: tuple(entry.get(key, ())) for key in tuples})
            for name, entry in _catalogue()["questions"].items()
        }
    )


@functools.cache
def _catalogue() -> dict[str, Any]:
    return dict(files.read_yaml(CATALOGUE))


@dataclass(frozen=True)
class Reading:
    """A reading of the papers: values by question; a missing question has its default.

    Raises:
        InputError: a question or a value is unknown; the message names the nearest one.
    """

    choices: Mapping[str, str]

    def __post_init__(self) -> None:
        for name, value in self.choices.items():
            question = questions()[checks.choice(questions(), reading=name)]
            checks.choice(question.values, **{f"reading.{name}": str(value)})
        choices = {name: str(self.choices[name]) for name in questions() if name in self.choices}
        changes = {
            name: value for name, value in choices.items() if value != questions()[name].default
        }
        object.__setattr__(self, "choices", MappingProxyType(changes))

    @property
    def name(self) -> str:
        """The canonical name: ``default``, or ``question=value+question=value``."""
        return "+".join(f"{name}={value}" for name, value in self.choices.items()) or DEFAULT

    @property
    def private(self) -> bool:
        """Whether all guarantees hold under the reading."""
        return all(
            value not in questions()[name].not_private for name, value in self.choices.items()
        )

    @property
    def parameters(self) -> Parameters:
        """Parameters by ``Class.parameter`` that :func:`adjust_mechanism` changes."""
        settings = self._settings().items()
        return {
            question.acts_on: setting for question, setting in settings if question.is_parameter
        }

    @property
    def rows(self) -> Mapping[str, str]:
        """Mechanisms in place of those that the paper's rows have by default."""
        rows: dict[str, str] = {}
        for question, setting in self._settings().items():
            rows |= setting if question.acts_on == ROW else {}
        return rows

    def scaling(self, dataset: str) -> str:
        """Return the name of the data set's scaling in datasets.yaml."""
        return self._setting(f"{DATA}{dataset}", DEFAULT)

    def adjacency(self, default: str) -> str:
        """Return the adjacency of the reading; ``default`` where it sets none."""
        return self._setting(ADJACENCY, default)

    def _settings(self) -> dict[Question, Any]:
        return {
            questions()[name]: questions()[name].values[value]
            for name, value in self.choices.items()
        }

    def _setting(self, key: str, default: str) -> str:
        settings = (
            value for question, value in self._settings().items() if question.acts_on == key
        )
        return next(settings, default)


def find_reading(reading: str | Mapping[str, str]) -> Reading:
    """Return a reading from its name in readings.yaml, its canonical name, or its choices.

    Raises:
        InputError: the name, a question or a value is unknown, or a question occurs twice.
    """
    if isinstance(reading, Mapping):
        return Reading(reading)
    entries = _catalogue()["readings"]
    if "=" not in reading:
        return Reading(entries[checks.choice(entries, reading=reading)])
    parts = [part.partition("=") for part in reading.split("+")]
    names = [name for name, _, _ in parts]
    if len(set(names)) < len(names):
        raise InputError(f"reading is {reading!r}; it may have each question once")
    return Reading({name: value for name, _, value in parts})


def variations(asked: Iterable[Question]) -> list[Reading]:
    """Return the default reading, and then all that differ from it in one of the questions."""
    changes = [
        Reading({question.name: value})
        for question in asked
        for value in question.values
        if value != question.default
    ]
    return [Reading({}), *changes]


def acting_questions(
    experiment: str, mechanism: str, *, dataset: str, things: Iterable[object], adjacent: bool
) -> list[Question]:
    """Return the questions that act on one mechanism of an experiment.

    Questions that act on ``row`` are ignored: they choose between mechanisms and change none.

    Args:
        experiment: name of the experiment.
        mechanism: name of a mechanism or baseline.
        dataset: name of the data set.
        things: dataclasses with parameters: the task, and the mechanism if it is no baseline.
        adjacent: whether the neighbouring relation matters.
    """
    keys = {f"{DATA}{dataset}"} | ({ADJACENCY} if adjacent else set())
    keys |= {key for thing in things for key in parameters(thing)}
    return [
        question
        for question in questions().values()
        if experiment in question.experiments
        and mechanism not in question.spares
        and question.acts_on in keys
    ]


def parameters(thing: object) -> Parameters:
    """Return the parameters of a dataclass and of the dataclasses in it, by ``Class.parameter``."""
    values: dict[str, Any] = {}
    for key, _, value in _fields(thing):
        values |= {key: value, **parameters(value)}
    return values


def adjust_mechanism(thing: Thing, changes: Parameters) -> Thing:
    """Return a dataclass with changed parameters, in itself and in the dataclasses in it.

    ``changes`` has new values by ``Class.parameter``; classes that do not occur are ignored.
    """
    new = {}
    for key, field, value in _fields(thing):
        if key in changes:
            new[field] = changes[key]
        elif changes.keys() & parameters(value).keys():
            new[field] = adjust_mechanism(value, changes)
    if not new or not dataclasses.is_dataclass(thing) or isinstance(thing, type):
        return thing
    return dataclasses.replace(thing, **new)


def _fields(thing: object) -> Iterator[tuple[str, str, Any]]:
    """Yield ``Class.parameter``, parameter and value of a dataclass; nothing for other objects.

    A class is not an object with values, even where it is that of a dataclass.
    """
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            yield f"{type(thing).__name__}.{field.name}", field.name, value
