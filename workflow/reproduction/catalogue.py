"""Everything that a reader calls by name, each once, from the files of workflow/catalogue.

Code knows identifiers; tables, figures and the page take their words and looks from here. What has
no entry goes by its identifier, and has a look of those in ``unlisted``. The models below explain
all keys.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from reproduction import files
from reproduction.models import Model, Text, Texts, check
from reproduction.trials import BASELINES as BASELINES
from reproduction.trials import CLIPPED as CLIPPED
from reproduction.trials import NONPRIVATE as NONPRIVATE
from reproduction.trials import RANDOM as RANDOM
from reproduction.trials import RECORD_FREE as RECORD_FREE

FOLDER = Path(__file__).parents[1] / "catalogue"

#: Family of a mechanism without an entry.
OTHER = "Other"

#: The mechanisms of the run that is drawn, see :func:`looks_of`.
_RUN: ContextVar[tuple[str, ...]] = ContextVar("_RUN", default=())

PaperName = Literal["MVG", "IMGM"]
Perturbation = Literal["gradients", "features"]
Colour = Annotated[str, Field(pattern="^#[0-9A-Fa-f]{6}$")]


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
    """A scheme of private training for a reader (:class:`Scheme`), with its group."""

    label: str
    group: str
    calibration: str
    status: str = "private"
    note: str = ""


class Metric(Model):
    """A metric for a reader."""

    name: Text
    """What it is called."""
    axis: Text
    """Its name with its unit, on an axis."""
    larger: bool = False
    """Whether a larger value is better."""
    scale: float = 1.0
    """What it is shown times."""
    step: float = 0.0
    """A power of ten; smaller digits of what is shown mean nothing."""


class Mark(Model):
    """The mark that stands first wherever results rest on data of a status."""

    name: Text = ""
    """What such data are called."""
    stamp: Text = ""
    """What stands across a figure."""
    line: Text = ""
    """What stands over a figure."""
    text: Text = ""
    """The same as a sentence."""


class Words(Model):
    """What tables, figures and page call other things than mechanisms and experiments."""

    metrics: dict[str, Metric]
    """Metrics by their name in trial files."""
    columns: dict[str, Text]
    """Columns of data sets that a reader knows by another name than the data have."""
    datasets: dict[str, Text]
    """Data sets whose title is too long for a sentence."""
    setups: dict[Literal["table1", "table2"], dict[str, Text]]
    """The rows of the papers' tables of set-ups: the paper's, then ours."""
    verdicts: dict[str, Text]
    """What the judge's words mean."""
    marks: dict[Literal["simulated", "lossy copy"], Mark]
    """The marks of data by their status."""


class Experiment(Model):
    """An experiment for a reader."""

    name: Text
    """Name and topic make a title ("Experiment I: regression")."""
    topic: Text = ""
    """What it is on."""
    data: Text = ""
    """What its data are called."""
    paper: Literal["", PaperName] = ""
    """Where it comes from."""
    table: int | None = None
    """The number of the paper's table of results (workflow/published/table<number>.csv)."""
    figures: list[str] = Field([])
    """The names of the figures that show it in the paper."""
    part_of: str = ""
    """The experiment that it is read beside, and has no table of its own from."""
    perturbation: Literal["", Perturbation] = ""
    """Of networks: what noise is added to."""
    protected: Text = ""
    """What neighbours differ by, and what counts as public."""
    setup: dict[str, Text] = Field({})
    """What stands in the paper's table of set-ups, whatever the settings are."""
    runs: dict[str, Text] = Field({})
    """What runs in a row of the paper's that cites another mechanism."""
    differences: Text = ""
    """How ours differs from the paper's."""
    conjecture: float | None = None
    """The factor from the plain metric to the unit that we suspect behind the printed one."""
    needs: Text = ""
    """What it would take to run it; such an experiment is not run here."""
    command: str = ""
    """The command that runs it, where the configuration as shipped does not."""
    kept: Text = ""
    """What a kept run of that command has in place of the paper's data and network."""

    _id: str = ""

    @property
    def id(self) -> str:
        """Its identifier."""
        return self._id

    @property
    def title(self) -> str:
        """Name and topic."""
        between = ", " if self.perturbation else ": "
        return f"{self.name}{between}{self.topic}" if self.topic else self.name

    @property
    def results(self) -> str:
        """Stem of the file names of its table and of the published values."""
        return f"table{self.table}" if self.table else self.id


class Experiments(Model):
    """The experiments, one entry each."""

    experiments: dict[str, Experiment]
    """Experiments by identifier."""


class Mechanism(Model):
    """Label and look of a mechanism, a scheme or a baseline."""

    label: Text
    """Its name for readers."""
    colour: Colour
    """Its colour."""
    marker: str
    """Its marker, as matplotlib has it."""
    line: str = "-"
    """Its line."""
    tuned: bool = False
    """Whether its rule was made after looking at results on the papers' data."""


class FurtherLooks(Model):
    """Looks of mechanisms without an entry."""

    looks: dict[Colour, Any]
    """By colour the marker, as matplotlib has it."""
    lines: list[Any]
    """The lines that they have in turn once all looks are taken."""


class Figured(Model):
    """What a figure shows beside mechanisms."""

    label: Text
    """Its name for readers."""
    like: str = ""
    """The mechanism that it looks like."""
    colour: Colour = Look.colour
    """Its colour, where it looks like none."""
    marker: str = Look.marker
    """Its marker."""
    line: str = Look.line
    """Its line."""


class Mechanisms(Model):
    """Labels and looks."""

    tuned: Text
    """What a label says of a rule that was made after looking at results on the papers' data."""
    tuned_mark: Text
    """The same in tables of the page."""
    tuned_note: Text
    """What that mark means there."""
    families: dict[str, dict[str, Mechanism]]
    """Mechanisms and schemes that are read together, in the order of panels and legends."""
    unlisted: FurtherLooks
    """Looks of mechanisms without an entry."""
    legends: dict[str, dict[str, Figured]]
    """What figures show beside mechanisms, in the order of their legends."""


class Scheme(Model):
    """How private training spends its budget."""

    calibration: Text
    """The calibration in words."""
    label: Text = ""
    """Its name, where it differs from that of the mechanism."""
    status: Literal["private", "not private", "distorted"] = "private"
    """Whether it is private; distorted is private, but not what the papers define."""
    note: Text = ""
    """What a reader should know of it."""


class Schemes(Model):
    """Schemes of private training."""

    schemes: dict[Perturbation, dict[str, dict[str, Scheme]]]
    """Schemes by perturbation and group, in the order of tables."""


class Papers(Model):
    """What the papers are on."""

    papers: dict[PaperName, Texts]
    """The mechanisms that each paper brings in."""
    composed: dict[Perturbation, dict[str, Text]]
    """By perturbation the rows that IMGM is, each with the theorem that composes its releases."""
    compared: dict[PaperName, Texts]
    """The others that it compares these with (MVG: Tables 3 to 5 and Section 10.2; IMGM: Section
    5.1). Verdicts on the mechanisms in both lists are corrected together, those on any other by
    themselves."""
    offered: dict[str, Text]
    """What `matrixdp release` offers, as one types it in a specification. Of mechanisms that tie,
    the first such one by the order of families is advised."""


class Glossary(Model):
    """Words that the page explains."""

    glossary: dict[str, Text]
    """Each word with what it means."""


class Citations(Model):
    """The works behind everything."""

    cite: dict[Literal["mechanisms", Perturbation, "datasets"], dict[str, Texts]]
    """Keys of references.bib, by mechanism, by scheme of a perturbation where it cites others than
    the mechanism of that name, and by data set."""


#: The files by their stems; each is checked when it is first read.
FILES: Mapping[str, type[Model]] = {
    "words": Words,
    "experiments": Experiments,
    "mechanisms": Mechanisms,
    "schemes": Schemes,
    "papers": Papers,
    "glossary": Glossary,
    "citations": Citations,
}
_HOMES = {section: stem for stem, model in FILES.items() for section in model.model_fields}


@functools.cache
def read_file(stem: str) -> Model:
    """Return a file of the catalogue.

    Raises:
        InputError: it cannot be read, or has a wrong form. The message names file and key.
    """
    path = FOLDER / f"{stem}.yaml"
    return check(FILES[stem], files.read_yaml(path), f"workflow/catalogue/{path.name}")


def section(name: str) -> Any:
    """Return a section of the files, as its model has it."""
    return getattr(read_file(_HOMES[name]), name)


def metrics() -> dict[str, Metric]:
    """Return every metric by its name in trial files."""
    return section("metrics")


def metric(name: str) -> Metric:
    """Return a metric; without an entry, one with its name in trial files."""
    return metrics().get(name) or Metric(name=name, axis=name)


def mark(status: str) -> Mark:
    """Return the mark of data of a status; its fields are empty where no mark is needed."""
    return section("marks").get(status, Mark())


@functools.cache
def experiments() -> dict[str, Experiment]:
    """Return the experiments with an entry, by identifier."""
    return {name: _identified(about, name) for name, about in section("experiments").items()}


def experiment(name: str) -> Experiment:
    """Return an experiment; without an entry, one with its identifier as name."""
    return experiments().get(name) or _identified(Experiment(name=name), name)


def _identified(about: Experiment, name: str) -> Experiment:
    about._id = name
    return about


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
        name: Legend(_label(entry), family, Look(entry.colour, entry.marker, entry.line))
        for family, members in section("families").items()
        for name, entry in members.items()
    }


@functools.cache
def tuned() -> frozenset[str]:
    """Return the mechanisms whose rule was made after seeing the papers' data."""
    families = section("families").values()
    return frozenset(name for members in families for name, entry in members.items() if entry.tuned)


def paper_rows(paper: str, perturbation: str = "") -> dict[str, str]:
    """Return the mechanisms that a paper's own are run as, each with its condition in words.

    On gradients IMGM composes by one of two theorems, and each is a row. Elsewhere there is no
    condition.
    """
    conditions = section("composed").get(perturbation, {}) if paper == "IMGM" else {}
    return conditions or dict.fromkeys(section("papers")[paper], "")


@functools.cache
def papers_mechanisms() -> frozenset[str]:
    """Return the mechanisms that the papers compare, their own and others'."""
    lists = [*section("papers").values(), *section("compared").values()]
    return frozenset(itertools.chain(*lists))


def compared_mechanisms(paper: str) -> set[str]:
    """Return the papers' own mechanisms, and those that a paper compares them with."""
    return {*itertools.chain(*section("papers").values()), *section("compared")[paper]}


def _label(entry: Mechanism) -> str:
    """Return the label of an entry, with a remark on a tuned rule."""
    return f"{entry.label} ({section('tuned')})" if entry.tuned else entry.label


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
    kinds = [(colour, _as_tuple(marker)) for colour, marker in entry.looks.items()]
    turns = [[Look(*kind, line) for kind in kinds] for line in _as_tuple(entry.lines)]
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
        name: SchemeWords(
            entry.label or label(name), group, entry.calibration, entry.status, entry.note
        )
        for group, members in section("schemes").get(perturbation, {}).items()
        for name, entry in members.items()
    }
