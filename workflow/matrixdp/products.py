"""Which tables and figures a run makes, and which of them one job makes together.

Names and inputs are read from the text (see :mod:`matrixdp.sources`): nothing heavy is imported.
"""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matrixdp import catalogue, dependence, sources, templates
from matrixdp.places import place

#: Inputs that stand in the project, and those that no job of a run makes.
PRINTED = ("published", "errata")
KEPT = (*PRINTED, "settings")


@dataclass(frozen=True)
class Product:
    """A table or a figure of a run: its name, where it is defined, and what it is made from."""

    name: str
    entry: sources.Entry
    inputs: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def verb(self) -> str:
        """What makes it: ``table`` or ``figure``."""
        return "table" if self.entry.table == "TABLES" else "figure"

    @functools.cached_property
    def origins(self) -> frozenset[str]:
        """The experiments that it rests on; or what else, where it rests on none."""
        parts = {name.partition("/")[::2] for name in self.inputs}
        folders = {folder for folder, _ in parts} - {*KEPT}
        if folders == {"tables"}:
            # What rests on tables alone is read beside the claims.
            return frozenset(["claims"])
        # What only may show another thing is not read beside it.
        needed = {name.partition("/")[0] for name in self.inputs if name not in self.optional}
        for whole in ("claims", "readings", "audit"):
            if whole in (needed or folders):
                return frozenset([whole])
        rows = {stem for folder, stem in parts if folder in ("summary", "comparisons")}
        others = {stem for folder, stem in parts if folder not in KEPT}
        return frozenset(rows or {"theory"} & folders or others)


@dataclass(frozen=True)
class Group:
    """What one job makes.

    Attributes:
        name: of the job.
        products: tables and figures.
        reading: under which reading; empty for the default one.
    """

    name: str
    products: tuple[Product, ...]
    reading: str = ""

    @property
    def place(self) -> str:
        """Where its log is, below that of all logs."""
        folder = "figures" if self.name.startswith("figures") else "tables"
        return "/".join(filter(None, [folder, self.reading, self.name]))

    def names(self, verb: str) -> list[str]:
        """Return the names of its tables (``table``) or figures (``figure``)."""
        return [product.name for product in self.products if product.verb == verb]

    @property
    def verbs(self) -> list[str]:
        """The verbs that make it, tables first: figures may show them."""
        return [verb for verb in ("table", "figure") if self.names(verb)]

    def commands(self, root: str) -> str:
        """Return the commands that make it in a run's folder."""
        under = f" --results {root}" + (f" --reading {self.reading}" if self.reading else "")
        names = {verb: " ".join(self.names(verb)) for verb in self.verbs}
        return " && ".join(f"python -m matrixdp {v} {names[v]}{under}" for v in self.verbs)

    @property
    def origins(self) -> frozenset[str]:
        """What all its products rest on."""
        return self.products[0].origins

    @property
    def inputs(self) -> list[str]:
        """The names of all inputs but those that are made in the same job."""
        own = {f"tables/{name}" for name in self.names("table")}
        return sorted({name for product in self.products for name in product.inputs} - own)

    @property
    def files(self) -> list[str]:
        """The files of a run that it is made from."""
        names = [name for name in self.inputs if name.partition("/")[0] not in KEPT]
        return [str(place(name, "results", self.reading or "default")) for name in names]

    @property
    def outputs(self) -> list[str]:
        """The files that it makes."""
        root = f"results/readings/{self.reading}" if self.reading else "results"
        tables = [f"{root}/tables/{name}" for name in self.names("table")]
        figures = [f"{root}/figures/{name}" for name in self.names("figure")]
        return [
            *(f"{stem}.{suffix}" for stem in tables for suffix in ("csv", "md", "tex", "json")),
            *(f"{stem}.{suffix}" for stem in figures for suffix in ("svg", "png")),
            *(f"{root}/figures/data/{name}.csv" for name in self.names("figure")),
        ]

    def settings(self, config: Mapping[str, Any]) -> str:
        """Return a hash of the settings that it shows, of its own experiments if it has any."""
        if "settings" not in self.inputs:
            return ""
        known = {*config["experiments"], *config["training"]}
        if not self.reading:
            config = {**config, "reading": "default"}
        return sources.stamp(dependence.shown(config, self.origins & known))

    @property
    def digest(self) -> str:
        """The digest of its sources, with what papers print."""
        kept = [place(name) for name in self.inputs if name.partition("/")[0] in PRINTED]
        return sources.digest(
            *(f"cli/{verb}.py" for verb in self.verbs),
            *(product.entry for product in self.products),
            *(path for path in kept if path.is_file()),
            shows=True,
        )


def filled(entries: Mapping[str, sources.Entry], experiments: Mapping[str, str]) -> list[Product]:
    """Return tables or figures with their templates filled, whether a run makes them or not.

    Args:
        entries: :func:`sources.tables` or :func:`sources.figures`.
        experiments: see :func:`matrixdp.templates.fill`.
    """
    return [
        Product(one.name, entry, one.inputs, one.put_in(entry.words.get("optional", ())))
        for name, entry in entries.items()
        for one in templates.fill(
            name, entry.words.get("each", ""), entry.words.get("inputs", ()), experiments
        )
    ]


def products(settings: Mapping[str, Any]) -> list[Product]:
    """Return the tables and figures of a run; those that need what it does not make are left out.

    Args:
        settings: a resolved configuration.
    """
    found = [
        product
        for entries in (sources.tables(), sources.figures())
        for product in filled(entries, templates.kinds(settings))
    ]
    made = made_of(settings) | {
        "data": {
            *settings["training"],
            *(experiment["dataset"] for experiment in settings["experiments"].values()),
        },
        "tables": {product.name for product in found if product.verb == "table"},
        "theory": {*sources.theory()},
    }
    if isinstance(settings.get("matrix"), dict):
        # A matrix of one's own says nothing on the papers.
        made |= {folder: set() for folder in ("claims", "errata", "readings", "theory")}
        made |= {"audit": made["audit"] - {"canaries"}, "published": {*settings["experiments"]}}

    def there(name: str) -> bool:
        folder, _, stem = name.partition("/")
        return stem in made.get(folder, [stem])

    found = [one for one in found if one.inputs and all(map(there, one.inputs))]
    made["tables"] = {product.name for product in found if product.verb == "table"}
    return [
        replace(product, inputs=(*product.inputs, *filter(there, product.optional)))
        for product in found
        if all(map(there, product.inputs))
    ]


def made_of(settings: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the names of what a run makes of trials, by folder."""
    releases, runs = settings["experiments"], {*settings["experiments"], *settings["training"]}
    return {
        "summary": runs,
        "comparisons": runs,
        "readings": {part for name in swept(settings) for part in (name, f"{name}_trials")},
        "audit": {"canaries", *releases, *(f"{name}_sensitivities" for name in releases)},
    }


def leftovers(settings: Mapping[str, Any], results: str | os.PathLike) -> list[Path]:
    """Return files of a run's folder that come from trials, of what the settings have no more.

    Trials, data and features, which take long, are not among them: nothing shows these alone.
    """
    named: dict[str, set[str]] = {"table": {"claims_comparisons"}, "figure": set()}
    for product in products(settings):
        named[product.verb].add(product.name)
    figures = named["figure"]
    wanted = made_of(settings) | {"tables": named["table"]}
    wanted |= {"figures": figures, "figures/data": figures}
    return [
        file
        for folder, names in wanted.items()
        for file in sorted(Path(results, folder).glob("*.*"))
        if file.is_file() and file.name.partition(".")[0] not in names
    ]


def swept(settings: Mapping[str, Any]) -> list[str]:
    """Return the experiments that are run under all readings."""
    return [name for name in settings["experiments"] if not catalogue.experiment(name).part_of]


def grouped(settings: Mapping[str, Any]) -> list[Group]:
    """Return the tables and figures of a run by what they rest on.

    No job needs an experiment for the sake of another. An experiment's own table is made without
    its figures, since many ask for it alone.
    """
    groups: dict[tuple, list[Product]] = {}
    for product in products(settings):
        own = len(product.origins) == 1 and product.origins <= settings["experiments"].keys()
        groups.setdefault((product.origins, product.verb if own else ""), []).append(product)
    named: dict[str, Group] = {}
    for (origins, _), members in groups.items():
        kind = "_and_".join(dict.fromkeys(f"{product.verb}s" for product in members))
        # The name of what they rest on, or of the first one where that is no one name.
        name = f"{kind}_{(min(origins) if len(origins) == 1 else members[0].name)}"
        while name in named:
            name += "_too"
        named[name] = Group(name, tuple(members))
    return list(named.values())


def targets(
    settings: Mapping[str, Any], groups: Iterable[Group]
) -> dict[str, tuple[str, list[str]]]:
    """Return the words on what a person may name after ``snakemake``, and its files, by name.

    Args:
        settings: a resolved configuration; tables of results are those of its reading.
        groups: see :func:`grouped`.
    """
    sets = [
        own["dataset"] for kind in ("experiments", "training") for own in settings[kind].values()
    ]
    files = {f"data/{name}": place(f"data/{name}") for name in sorted({*sets})}
    files |= {name: place(name) for name in ("claims", *(f"readings/{n}" for n in swept(settings)))}
    for group in groups:
        reading = settings["reading"] if under([group], "", settings["experiments"]) else "default"
        for name in group.names("table"):
            files[f"tables/{name}"] = place(f"tables/{name}", reading=reading)
        for name in group.names("figure"):
            files[f"figures/{name}"] = place(f"figures/{name}").with_suffix(".svg")
    found = {}
    for target, (about, *patterns) in catalogue.section("targets").items():
        made = {name for one in patterns for name in fnmatch.filter(files, one)}
        for one in patterns:
            made -= {*fnmatch.filter(files, one[1:])} if one.startswith("!") else set()
        found[target] = about, sorted(str(files[name]) for name in made)
    return found


def notes(
    settings: Mapping[str, Any],
    given: Iterable[str],
    matrix: Mapping[str, Any],
    folder: str = "",
) -> list[str]:
    """Return what to say before a run: what a given setting does not act on, what is not private.

    Args:
        settings: a resolved configuration.
        given: settings of the command line, ``NAME=VALUE``.
        matrix: the configuration of a run on a matrix of one's own, or empty.
        folder: of its results.
    """
    named = {one.partition("=")[0] for one in given}
    own = "private training has {0} of its own, training.NAME.{0}"
    said = [own.format(n) for n in ("trials", "epsilons") if n in named and settings["training"]]
    if "reading" in named and settings["reading"] != "default":
        said.append(
            "the reading acts on the tables of results (mvg, table3 to table5) alone; figures, "
            "training, claims and the report are those of the default reading"
        )
    mark = catalogue.mark(matrix["matrix"]["status"]).text if matrix else ""
    return [*said, f"{folder}: {mark}"] if mark else said


def under(groups: Iterable[Group], reading: str, experiments: Collection[str]) -> list[Group]:
    """Return the tables of these experiments' results under another reading."""
    return [
        Group(f"{group.name}_of_reading", group.products, reading)
        for group in groups
        if group.origins <= {*experiments} and group.verbs == ["table"]
    ]
