"""Which tables and figures a run makes, and which of them one job makes together.

Names and inputs are read from the text (see :mod:`matrixdp.sources`): nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from matrixdp import catalogue, sources
from matrixdp import config as configuration
from matrixdp.places import place

RELEASES, TRAINING = "releases", "training"

#: Folders of inputs that stand in the project, not in a run.
KEPT = ("published", "errata", "settings")


@dataclass(frozen=True)
class Product:
    """A table or a figure of a run: its name, where it is defined, and what it is made from."""

    name: str
    entry: sources.Entry
    inputs: tuple[str, ...]

    @property
    def origins(self) -> frozenset[str]:
        """The experiments that it rests on; or what else, where it rests on none."""
        parts = [name.partition("/")[::2] for name in self.inputs]
        folders = {folder for folder, _ in parts} - {*KEPT}
        for whole in ("claims", "readings", "audit"):
            if whole in folders:
                return frozenset([whole])
        rows = {stem for folder, stem in parts if folder in ("summary", "comparisons")}
        others = {name for name in self.inputs if name.partition("/")[0] not in KEPT}
        return frozenset(rows or {"theory"} & folders or others)


@dataclass(frozen=True)
class Group:
    """What one job makes.

    Attributes:
        name: of what it rests on.
        verb: ``table`` or ``figure``.
        products: the tables or figures.
        reading: under which reading; empty for the default one.
    """

    name: str
    verb: str
    products: tuple[Product, ...]
    reading: str = ""

    def under(self, reading: str) -> Group:
        """Return the same tables under another reading."""
        return replace(self, reading=reading)

    @property
    def job(self) -> str:
        """The name of the job."""
        return f"{self.verb}s_{self.name}" + ("_of_reading" if self.reading else "")

    @property
    def place(self) -> str:
        """Where its log is, below that of all logs."""
        return "/".join(filter(None, [f"{self.verb}s", self.reading, self.name]))

    @property
    def names(self) -> list[str]:
        """The names of its tables or figures."""
        return [product.name for product in self.products]

    @property
    def origins(self) -> frozenset[str]:
        """What all its products rest on."""
        return self.products[0].origins

    @property
    def inputs(self) -> list[str]:
        """The names of all inputs but those that are made in the same job."""
        own = {f"tables/{name}" for name in self.names} if self.verb == "table" else set()
        return sorted({name for product in self.products for name in product.inputs} - own)

    def settings(self, config: Mapping[str, Any]) -> str:
        """Return a hash of the settings that it shows, of its own experiments if it has any."""
        if "settings" not in self.inputs:
            return ""
        known = {*config["experiments"], *config["training"]}
        return sources.stamp(configuration.shown(config, self.origins & known))

    @property
    def has_readings(self) -> bool:
        """Whether it can be made under another reading: the table of one experiment's results."""
        summaries = [name for name in self.inputs if name.startswith("summary/")]
        return len(summaries) == 1 and any(
            product.entry.words.get("each") == RELEASES for product in self.products
        )

    @property
    def files(self) -> list[str]:
        """The files of a run that it is made from."""
        names = [name for name in self.inputs if name.partition("/")[0] not in KEPT]
        return [str(place(name, "results", self.reading or "default")) for name in names]

    @property
    def outputs(self) -> list[str]:
        """The files that it makes."""
        if self.verb == "figure":
            stems = [f"results/figures/{name}" for name in self.names]
            data = [f"results/figures/data/{name}.csv" for name in self.names]
            return [f"{stem}.{suffix}" for stem in stems for suffix in ("svg", "png")] + data
        root = f"results/readings/{self.reading}" if self.reading else "results"
        formats = ("csv", "md", "tex", "json")
        return [f"{root}/tables/{name}.{suffix}" for name in self.names for suffix in formats]

    @property
    def digest(self) -> str:
        """The digest of its sources, with what papers print."""
        kept = [place(name) for name in self.inputs if name.partition("/")[0] in KEPT]
        entries = [product.entry for product in self.products]
        return sources.digest(*entries, *(path for path in kept if path.is_file()), shows=True)


def products(entries: Mapping[str, sources.Entry], settings: Mapping[str, Any]) -> list[Product]:
    """Return the tables or figures of a run: templates filled, those of other experiments left out.

    Args:
        entries: :func:`sources.tables` or :func:`sources.figures`.
        settings: a resolved configuration.
    """
    kinds = dict.fromkeys(settings["experiments"], RELEASES)
    kinds |= dict.fromkeys(settings["training"], TRAINING)
    found = []
    for name, entry in entries.items():
        given, optional = (entry.words.get(key, ()) for key in ("inputs", "optional"))
        each = entry.words.get("each", "")
        if not each:
            # Without a template, an input with a place for an experiment stands for all of them.
            filled = [
                one.format(experiment=experiment)
                for one in given
                for experiment in (settings["experiments"] if "{" in one else [""])
            ]
            found.append((name, entry, filled, optional))
        for experiment in [k for k in kinds if kinds[k] == each]:
            about = catalogue.experiment(experiment)
            if about.part_of or ("{figure}" in name and not about.figures):
                continue
            words = {"experiment": experiment, "results": about.results, "title": about.title}
            words["figure"] = next(iter(about.figures), "")
            inputs = [one.format(**words) for one in given]
            found.append((name.format(**words), entry, inputs, optional))
    tables = {name for name, entry, _, _ in found if entry.table == "TABLES"}
    tables = tables or {product.name for product in products(sources.tables(), settings)}
    return [
        Product(name, entry, (*inputs, *(one for one in optional if _made(one, settings, tables))))
        for name, entry, inputs, optional in found
        if all(_made(one, settings, tables) for one in inputs)
    ]


def _made(name: str, settings: Mapping[str, Any], tables: Collection[str]) -> bool:
    """Return whether a run with these settings has an input."""
    folder, _, stem = name.partition("/")
    releases = settings["experiments"]
    if folder in ("summary", "comparisons"):
        return stem in releases or stem in settings["training"]
    if folder == "readings":
        return stem in swept(settings)
    if folder == "audit":
        return stem == "canaries" or stem.removesuffix("_sensitivities") in releases
    if folder == "data":
        datasets = {experiment["dataset"] for experiment in releases.values()}
        return stem in datasets or stem in settings["training"]
    if folder == "tables":
        return stem in tables
    return folder != "theory" or stem in sources.theory()


def swept(settings: Mapping[str, Any]) -> list[str]:
    """Return the experiments that are run under all readings."""
    return [name for name in settings["experiments"] if not catalogue.experiment(name).part_of]


def grouped(found: Iterable[Product]) -> list[Group]:
    """Return the products by what they rest on, so that a job needs no experiment for another."""
    groups: dict[frozenset[str], list[Product]] = {}
    for product in found:
        groups.setdefault(product.origins, []).append(product)
    named: dict[str, Group] = {}
    for origins, members in groups.items():
        # The name of what they rest on, or of the first one where that is no one name.
        name = min(origins) if len(origins) == 1 else members[0].name
        name = name.replace("/", "_")
        while name in named:
            name += "_too"
        verb = "table" if members[0].entry.table == "TABLES" else "figure"
        named[name] = Group(name, verb, tuple(members))
    return list(named.values())
