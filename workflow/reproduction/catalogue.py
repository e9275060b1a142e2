"""Labels and looks for readers, from workflow/catalogue.yaml."""

from __future__ import annotations

import contextlib
import functools
import itertools
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproduction import files
from reproduction.trials import BASELINES as BASELINES
from reproduction.trials import CLIPPED as CLIPPED
from reproduction.trials import NONPRIVATE as NONPRIVATE
from reproduction.trials import RANDOM as RANDOM
from reproduction.trials import RECORD_FREE as RECORD_FREE

FILE = Path(__file__).parents[1] / "catalogue.yaml"

#: Family of a mechanism without an entry.
OTHER = "Other"

#: The mechanisms of the run that is drawn, see :func:`looks_of`.
_RUN: ContextVar[tuple[str, ...]] = ContextVar("_RUN", default=())


@dataclass(frozen=True)
class Metric:
    """A metric for a reader; the YAML file explains the fields."""

    name: str
    axis: str
    larger: bool = False
    scale: float = 1.0
    step: float = 0.0


@dataclass(frozen=True)
class Look:
    """Colour, marker and line of a mechanism in every figure."""

    colour: str = "#444444"
    marker: Any = "8"
    line: Any = "-"


@dataclass(frozen=True)
class Legend:
    """Label, family and look of a mechanism, a scheme or a baseline."""

    label: str
    family: str = OTHER
    look: Look = Look()


@dataclass(frozen=True)
class SchemeWords:
    """A scheme of private training for a reader; the YAML file explains the fields."""

    label: str
    group: str
    calibration: str
    status: str = "private"
    note: str = ""


@dataclass(frozen=True)
class Mark:
    """The mark on results from data of a status; the YAML file explains the fields."""

    name: str = ""
    stamp: str = ""
    line: str = ""
    text: str = ""


@dataclass(frozen=True)
class Experiment:
    """An experiment for a reader; the YAML file explains the fields."""

    id: str
    name: str
    topic: str = ""
    data: str = ""
    paper: str = ""
    table: int | None = None
    figures: tuple[str, ...] = ()
    part_of: str = ""
    perturbation: str = ""
    protected: str = ""
    setup: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)
    differences: str = ""
    conjecture: float | None = None
    needs: str = ""
    command: str = ""

    @property
    def title(self) -> str:
        """Name and topic."""
        between = ", " if self.perturbation else ": "
        return f"{self.name}{between}{self.topic}" if self.topic else self.name

    @property
    def results(self) -> str:
        """Stem of the file names of its table and of the published values."""
        return f"table{self.table}" if self.table else self.id


@functools.cache
def _file() -> dict[str, Any]:
    return dict(files.read_yaml(FILE))


def section(name: str) -> Any:
    """Return a section of the YAML file."""
    return _file()[name]


@functools.cache
def metrics() -> dict[str, Metric]:
    """Return every metric by its name in trial files."""
    return {name: Metric(**entry) for name, entry in section("metrics").items()}


def metric(name: str) -> Metric:
    """Return a metric; without an entry, one with its name in trial files."""
    return metrics().get(name) or Metric(name, name)


def mark(status: str) -> Mark:
    """Return the mark of data of a status; its fields are empty where no mark is needed."""
    return Mark(**section("marks").get(status, {}))


@functools.cache
def experiments() -> dict[str, Experiment]:
    """Return the experiments with an entry, by identifier."""
    return {
        name: Experiment(name, **{**entry, "figures": tuple(entry.get("figures", ()))})
        for name, entry in section("experiments").items()
    }


def experiment(name: str) -> Experiment:
    """Return an experiment; without an entry, one with its identifier as name."""
    return experiments().get(name) or Experiment(name, name)


def column(name: str) -> str:
    """Return the name of a data set's column for readers, by default that in the data."""
    return section("columns").get(name, name)


def setups(name: str) -> dict[str, str]:
    """Return the rows of a table of set-ups, ``table1`` or ``table2``, with their names."""
    return section("setups")[name]


@functools.cache
def legends() -> dict[str, Legend]:
    """Return the legends of mechanisms, schemes and baselines, in the order of panels."""
    return {
        name: Legend(_label(entry), family, Look(**entry))
        for family, members in section("families").items()
        for name, entry in ((name, dict(entry)) for name, entry in members.items())
    }


@functools.cache
def tuned() -> frozenset[str]:
    """Return the mechanisms whose rule was made after seeing the papers' data."""
    families = section("families").values()
    return frozenset(
        name for members in families for name, entry in members.items() if entry.get("tuned")
    )


def rows_of(paper: str, perturbation: str = "") -> dict[str, str]:
    """Return the mechanisms that a paper's own are run as, each with its condition in words.

    On gradients IMGM composes by one of two theorems, and each is a row. Elsewhere there is no
    condition.
    """
    conditions = section("composed").get(perturbation, {}) if paper == "IMGM" else {}
    return conditions or dict.fromkeys(section("papers")[paper], "")


@functools.cache
def of_papers() -> frozenset[str]:
    """Return the mechanisms that the papers compare, their own and others'."""
    lists = [*section("papers").values(), *section("compared").values()]
    return frozenset(itertools.chain(*lists))


def _label(entry: dict[str, Any]) -> str:
    """Remove the label from an entry and return it, with a remark on a tuned rule."""
    words = [entry.pop("label"), f"({section('tuned')})"]
    return " ".join(words if entry.pop("tuned", False) else words[:1])


def shorten_remark(text: str, mark: str = "") -> str:
    """Return a text with a mark, by default the page's, for the remark on a tuned rule."""
    return text.replace(f" ({section('tuned')})", mark or section("tuned_mark"))


def label(name: str, perturbation: str = "") -> str:
    """Return the label of a mechanism, a baseline or a scheme of a perturbation."""
    entries: dict[str, Legend | SchemeWords] = {**legends(), **schemes(perturbation)}
    return entries[name].label if name in entries else name


def look(name: str) -> Look:
    """Return the look of a mechanism, a scheme or a baseline."""
    return legends()[name].look if name in legends() else unlisted((*_RUN.get(), name))[name]


def unlisted(names: Iterable[str]) -> dict[str, Look]:
    """Return the looks of the names without an entry, all different until there is none left.

    Each name has a place among the looks, and takes the next one that is free. So a further name
    at the end changes no other, and elsewhere few.
    """
    entry = section("unlisted")
    kinds = [(colour, _as_tuple(marker)) for colour, marker in entry["looks"].items()]
    turns = [[Look(*kind, line) for kind in kinds] for line in _as_tuple(entry["lines"])]
    looks: dict[str, Look] = {}
    for name in dict.fromkeys(names):
        if name not in legends():
            first = zlib.crc32(name.encode()) % len(turns[0])
            choice = [look for turn in turns for look in (*turn[first:], *turn[:first])]
            looks[name] = next((x for x in choice if x not in looks.values()), choice[0])
    return looks


def _as_tuple(value: Any) -> Any:
    """Return lists as tuples at all levels, as matplotlib wants its markers and lines."""
    return tuple(map(_as_tuple, value)) if isinstance(value, list | tuple) else value


@contextlib.contextmanager
def looks_of(names: Iterable[str]) -> Iterator[None]:
    """Give the mechanisms of a run without an entry looks of their own, inside this context."""
    token = _RUN.set(tuple(names))
    try:
        yield
    finally:
        _RUN.reset(token)


def family(name: str) -> str:
    """Return the family of a mechanism or scheme; ``Other`` for one without an entry."""
    return legends()[name].family if name in legends() else OTHER


def rank(name: str) -> tuple[int, str]:
    """Return a key that sorts by family; names without an entry come last, in order."""
    order = list(legends())
    return (order.index(name) if name in order else len(order)), name


@functools.cache
def schemes(perturbation: str) -> dict[str, SchemeWords]:
    """Return the schemes that perturb ``gradients`` or ``features``, in the order of tables."""
    return {
        name: SchemeWords(**{"label": label(name), "group": group, **entry})
        for group, members in section("schemes").get(perturbation, {}).items()
        for name, entry in members.items()
    }
