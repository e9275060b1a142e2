"""Configuration: checks of config.yaml before anything runs, and its canonical form."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, Discriminator, Field, PlainSerializer, Tag, model_validator

from matrixdp.checks import InputError, choice
from reproduction import catalogue, discovery, job_settings
from reproduction.data import datasets as sets
from reproduction.experiments import readings
from reproduction.files import read_yaml
from reproduction.models import Label, Model, Name, Number, Texts, check, optional_field
from reproduction.trials import (
    DEFAULT,
    NONPRIVATE,
    OF_COMPONENTS,
    OF_REGRESSION,
    OF_TRAINING,
    RECORD_FREE,
)

#: Numbers from which on a matrix of one's own is large, and the limits of its audit (see
#: :class:`matrixdp.auditing.releases.Limits`), which the page states.
LARGE, LIMITS = 200_000, {"audit_pairs": 8, "audit_numbers": 400_000_000}

#: What overlays are put on: the configuration of the folder where it runs, or the project's.
_BASES = Path("config.yaml"), Path(__file__).parents[2] / "config.yaml"

#: Keys of paths, and of the words for commands.
_PATHS = ("pathvars", "options")


def _token(value: float | str) -> str:
    """Return the canonical text of a number in seeds and rows: 1 and 1.0 are both ``"1"``."""
    return format(Decimal(str(value)).normalize(), "f") if value != "1/n" else str(value)


def _tokens(values: list[float]) -> list[str]:
    return [_token(value) for value in sorted({*values})]


def _below(folder: str) -> str:
    """Return a folder below the one where it runs; ValueError for another."""
    parts = folder.split("/")
    reference = parts[:2] == ["results", "reference"]
    # Snakemake takes braces for wildcards.
    if reference or folder[:1] == "." or {*"~{}"} & {*folder} or {"", ".."} & {*parts}:
        raise ValueError
    return folder


def _kind(training: object) -> str:
    get = training.get if isinstance(training, dict) else partial(getattr, training)
    return "Features" if get("perturbation", None) == "features" else "Gradients"


def _present(runs: dict[str, Any] | None) -> dict[str, Any]:
    """Return the runs that an overlay does not take away by null."""
    return {name: run for name, run in (runs or {}).items() if run is not None}


_TOKEN, _GRID = PlainSerializer(_token), PlainSerializer(_tokens)
_LIST = Field(min_length=1, max_length=100)
_Delta = Annotated[float, Field(ge=1e-15, lt=1)]
_Epsilon = Annotated[float, Field(ge=1e-6, le=1_000_000)]
_Share = Annotated[float, Field(ge=1e-6, le=0.999999)]
_Multiple = Annotated[float, Field(ge=1, le=1000)]
_Fraction = Annotated[float, Field(ge=1e-6, le=1)]
_Bounds = Annotated[
    list[Number], Field(min_length=2, max_length=2, description="[lowest, highest]")
]


class Pathvars(Model):
    """Where results go."""

    results: Annotated[str, AfterValidator(_below)] = "results"
    """A folder below the one where it runs, such as results/quick, for these results alone."""


class Data(Model):
    """Where the data come from."""

    source: Literal["auto", "original", "simulated"] = "auto"
    """Auto is the originals, or stand-ins where no mirror is named and no address answers."""
    mirror: str = ""
    """A folder that holds the original files, or empty; the variable DATA_MIRROR goes before it."""


class Csv(sets.Words):
    """A CSV file with names of columns in its first line."""

    file: str = Field(min_length=1)
    """The path of the file."""
    records: int = Field(ge=2)
    """The number of records."""
    bounds: dict[str, _Bounds] = Field(min_length=2)
    """The columns that are used, two or more, each with its public bounds, [lowest, highest]."""
    title: str = optional_field(min_length=1)
    """What readers call the data set, or left out."""


class Defaults(Model):
    """What every experiment has that does not say otherwise."""

    trials: int = Field(100, ge=1, le=100_000)
    """The trials of every row; 100,000 take days."""
    trials_at_table_epsilon: int = Field(5000, ge=0, le=1_000_000)
    """The trials of every row shown at table_epsilon, where these are more; 1,000,000 take days."""
    epsilons: Annotated[list[_Epsilon], _LIST, _GRID] = Field(
        [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000]
    )
    """Claimed epsilons."""


class ExperimentSettings(Defaults):
    """What one experiment runs."""

    task: str
    """The name of a task, such as covariance."""
    dataset: str
    """The name of a data set in workflow/datasets.yaml or below datasets."""
    features: Texts = optional_field(min_length=2)
    """Names of features; the others are left out before all else."""
    target: str = optional_field()
    """The feature that a regression predicts."""
    train: int = optional_field(ge=2)
    """The private training records of a regression."""
    claims_at_every_epsilon: Texts = Field([])
    """Mechanisms that have trials_at_table_epsilon trials at every epsilon."""
    directions: dict[Label, Texts] = Field({})
    """Noise directions by name, each a list of features that get the larger share, or empty."""
    mechanisms: Texts = Field(min_length=1)
    """Mechanisms, and the baselines nonprivate, clipped_64, clipped_16, clipped_4, zero,
    constant, axes and random."""


class Training(Model):
    """What one neural experiment runs."""

    perturbation: Literal["gradients", "features"]
    """What noise is added to."""
    dataset: str
    """The name of a data set for networks, such as adult."""
    trials: int = Field(5, ge=1, le=10_000)
    """The trials of every row, each of which trains a network."""
    records: int | None = Field(None, ge=2)
    """How many training records to use, or null for all."""
    epsilons: Annotated[list[Annotated[float, Field(ge=1e-6, le=1000)]], _LIST, _GRID] = Field(
        [0.01, 0.05, 0.1, 0.2, 0.5, 1]
    )
    """Claimed epsilons."""
    delta: Annotated[_Delta, _TOKEN] = 1e-5
    """The claimed delta."""
    lot: int = Field(ge=1)
    """The records of a lot (gradients) or a batch (features)."""
    epochs: int = Field(ge=1, le=10_000)
    """The passes over the training records; 10,000 take days."""
    schemes: Texts = Field(min_length=1)
    """Schemes, and the baselines nonprivate, random and majority."""


class Gradients(Training):
    """What one experiment on private gradients runs."""

    clip: Number = Field(1, ge=1e-6, le=1_000_000)
    """The largest l2 norm of one record's gradient."""
    batch: int | None = Field(None, ge=1)
    """The records of a batch for schemes that add noise to every batch of a lot, or null for the
    whole lot."""


class Features(Training):
    """What one experiment on private features runs."""

    extractor_epochs: int = Field(ge=1, le=1000)
    """The passes that train the feature extractor; 1,000 take days."""
    width: float = optional_field(ge=1 / 64, le=1)
    """The share of the paper's units in the layers of an extractor of colour pictures, all but the
    released one; 1 if left out."""


_Training = Annotated[
    Annotated[Gradients, Tag("Gradients")] | Annotated[Features, Tag("Features")],
    Discriminator(_kind),
]


class Config(Model):
    """What to run."""

    seed: int = Field(2026, ge=0, le=2**63 - 1)
    """The root of all random streams, below 2^63."""
    delta: Annotated[Literal["1/n"] | _Delta, _TOKEN] = "1/n"
    """The claimed delta; n private records."""
    table_epsilon: Annotated[_Epsilon, _TOKEN] = 1
    """The epsilon that the tables show, one of epsilons."""
    taus: Annotated[list[_Share], _LIST, _GRID] = Field([0.55, 0.65, 0.75, 0.85, 0.95])
    """The shares for the important directions that are tried."""
    tau_untuned: Annotated[_Share, _TOKEN] = 0.75
    """One of taus, the share shown as chosen without looking at results."""
    sketch_multiples: Annotated[list[_Multiple], _LIST, _GRID] = Field([2, 4, 8, 20, 50])
    """The sizes of sketches that are tried, as multiples of the number of features; 1,000 fill the
    memory of a job."""
    squared_radius_fractions: Annotated[list[_Fraction], _LIST, _GRID] = Field(
        [0.015625, 0.0625, 0.25, 1]
    )
    """Squared radii that records are clipped to, as fractions of the largest squared norm."""
    reading: str | dict[str, Any] = "default"
    """A name from workflow/readings.yaml or a mapping of its questions to values."""
    data: Data = Field(default_factory=Data)
    """Where the data come from."""
    experiment_defaults: Defaults = Field(default_factory=Defaults)
    """What every experiment has that does not say otherwise."""
    experiments: Annotated[dict[Name, ExperimentSettings | None] | None, AfterValidator(_present)]
    """The experiments on releases to run, by name; null leaves one of config.yaml out."""
    training: Annotated[dict[str, _Training | None] | None, AfterValidator(_present)] = Field({})
    """The neural experiments to run, by name; null leaves one of config.yaml out."""
    pathvars: Pathvars = Field(default_factory=Pathvars)
    """Where results go."""
    options: str = ""
    """The options of snakemake that give this configuration, for the commands on the page."""
    adjacency: Literal["replace", "zero_out"] = "replace"
    """What neighbours are: replace one record, or zero_out, set one to zero; n is public."""
    audit_runs: int | None = Field(None, ge=1, le=10**9)
    """A limit on the audit's black-box runs per neighbour, of which a billion take hours; null lets
    it run until a tenth too little noise would be caught."""
    datasets: dict[Name, Csv] = Field({})
    """CSV files of one's own, by name."""

    @model_validator(mode="after")
    def _give_defaults(self) -> Config:
        for entry in _present(self.experiments).values():
            for key in Defaults.model_fields.keys() - entry.model_fields_set:
                setattr(entry, key, getattr(self.experiment_defaults, key))
        return self


def resolve(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with defaults filled in and numbers in their canonical form.

    Every experiment has its own trials and epsilons afterwards. One that is null is left out: an
    overlay can take away what config.yaml has.

    Args:
        config: config.yaml as read, with overlays and command line merged in.

    Raises:
        InputError: see :func:`reproduction.models.check`; or a name, or a combination of values,
            is not allowed.
    """
    resolved = check(Config, config, "config.yaml").model_dump()
    _check_left_out(config)
    check(sets.Entries, sets.entries(), f"workflow/{sets.FILE.name}")
    try:
        _complete(resolved)
    except InputError as error:
        raise InputError(f"config.yaml: {error}") from None
    return resolved


def _check_left_out(config: Mapping[str, Any]) -> None:
    """Check that there is what an overlay leaves out by null, in config.yaml or the papers.

    Raises:
        InputError: there is no run of such a name.
    """
    for key in ("experiments", "training"):
        runs = config.get(key) or {}
        # A run that is null in config.yaml itself has its name there.
        files = [file for file in _BASES if file.is_file()]
        names = [name for file in files for name in read_yaml(file).get(key) or {}]
        # An overlay may leave out what the one below it has added.
        names += discovery.trainings() if key == "training" else []
        for name in runs.keys() - _present(runs):
            if name not in names:
                choice(dict.fromkeys(names), **{f"config.yaml: a name that is null in {key}": name})


def _complete(resolved: dict[str, Any]) -> None:
    """Complete a configuration by what other files have, and check it against them.

    Raises:
        InputError: a name, or a combination of values, is not allowed.
    """
    experiments, trainings = resolved["experiments"], resolved["training"]
    resolved["datasets"] = {
        name: _of_csv(name, entry) for name, entry in resolved["datasets"].items()
    }
    resolved["reading"] = readings.find_reading(resolved["reading"]).name
    if resolved["reading"] != DEFAULT and resolved["pathvars"]["results"] == "results":
        raise InputError(
            f"reading is {resolved['reading']}, and its results need a folder of their own; "
            "name one as pathvars.results, as workflow/config/zeta_literal.yaml does"
        )
    for name, entry in experiments.items():
        shape = resolved["datasets"].get(entry["dataset"], {}).get("shape", [0])
        entry |= LIMITS if math.prod(shape) >= LARGE else {}
        _check_experiment(f"experiments.{name}", entry, resolved)
    for name, training in trainings.items():
        _check_training(name, training)
    if not experiments and not trainings:
        raise InputError("experiments and training are both empty; name one to run")
    for name in experiments.keys() & trainings:
        raise InputError(f"experiments and training both have {name!r}; rename it")


def datasets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of workflow/datasets.yaml, and those of a configuration."""
    return {**sets.entries(), **settings.get("datasets", {})}


def _of_csv(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CSV file of one's own as an entry of workflow/datasets.yaml.

    Each column is centred at the middle of its public bounds, and scaled to [-1, 1].

    Raises:
        InputError: its name is that of another data set, or bounds are in the wrong order.
    """
    where = f"datasets.{name}"
    if name in sets.entries():
        raise InputError(f"{where} has the name of a data set of the papers; rename it")
    for column, (low, high) in entry["bounds"].items():
        if not low < high:
            raise InputError(
                f"{where}.bounds.{column} is [{low}, {high}]; write the lower one first"
            )
    lower, upper = (list(map(float, side)) for side in zip(*entry["bounds"].values(), strict=True))
    middle = [(low + high) / 2 for low, high in zip(lower, upper, strict=True)]
    scaling = {"method": "bounds", "lower": lower, "upper": upper, "middle": middle}
    words = {key: value for key, value in entry.items() if key not in ("records", "bounds")}
    return {
        "title": Path(entry["file"]).name,
        **words,
        "files": {},
        "shape": [entry["records"], len(lower)],
        "columns": [*entry["bounds"]],
        "scalings": {"default": scaling},
    }


def public(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved configuration without what changes none of one's own numbers."""
    result = {**settings, "data": {**settings["data"], "mirror": ""}}
    result["datasets"] = {
        name: {**entry, "file": Path(entry["file"]).name}
        for name, entry in settings["datasets"].items()
    }
    return {name: value for name, value in result.items() if name not in _PATHS}


def text(settings: Mapping[str, Any]) -> str:
    """Return what is public of a resolved configuration as YAML."""
    return yaml.safe_dump(public(settings), sort_keys=False, allow_unicode=True)


def _check_experiment(
    where: str, experiment: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Check that all names of an experiment are valid and the task has the keys that it needs.

    Raises:
        InputError: a name is unknown, or a key is missing or out of range.
    """
    matrices = {name: entry for name, entry in datasets(settings).items() if "scalings" in entry}
    task = choice(discovery.tasks(), **{f"{where}.task": experiment["task"]})
    dataset = matrices[choice(matrices, **{f"{where}.dataset": experiment["dataset"]})]
    needs = discovery.tasks()[task].words.get("needs", ())
    for key in needs:
        if key not in experiment:
            raise InputError(f"{where} lacks the key {key!r}, which the task {task} needs")
    mechanisms, columns = discovery.mechanisms(), dataset.get("columns", [])
    baselines = OF_REGRESSION if "target" in needs else OF_COMPONENTS
    features = experiment.get("features", columns)
    try:
        _check_names(f"{where}.mechanisms", experiment["mechanisms"], [*baselines, *mechanisms])
    except InputError as error:
        raise InputError(f"{error}, or of a package that must be installed first") from None
    key = "claims_at_every_epsilon"
    _check_names(f"{where}.{key}", experiment[key], mechanisms)
    _check_names(f"{where}.features", features, columns)
    if "target" in experiment:
        choice(features, **{f"{where}.target": experiment["target"]})
    records = dataset["scalings"]["default"].get("rows", dataset["shape"][0])
    if "train" in needs and experiment["train"] >= records:
        raise InputError(
            f"{where}.train is {experiment['train']} of {records} records; leave some for testing"
        )
    for direction, members in experiment["directions"].items():
        _check_names(f"{where}.directions.{direction}", members, features)
        if len(members) == len(features):
            raise InputError(f"{where}.directions.{direction} has every feature; leave one out")
    key = f"table_epsilon, one of {where}.epsilons,"
    choice(experiment["epsilons"], **{key: settings["table_epsilon"]})
    for name in filter(mechanisms.__contains__, experiment["mechanisms"]):
        entry = mechanisms[name]
        if entry.directed and not experiment["directions"]:
            raise InputError(
                f"{where}.directions is empty and {name} needs one; add one or drop it"
            )
        if entry.parameter and not settings.get(entry.values):
            raise InputError(f"{entry.values}, the values of {name}, is missing; name at least one")
        if entry.parameter and entry.untuned in settings:
            choice(settings[entry.values], **{entry.untuned: settings[entry.untuned]})


def _check_training(name: str, training: Mapping[str, Any]) -> None:
    """Check that all names of a training are valid, and its lots and batches small enough.

    Raises:
        InputError: a name is unknown, or a lot or batch is too large.
    """
    choice(discovery.trainings(), training=name)
    where = f"training.{name}"
    learning = {name: entry for name, entry in sets.entries().items() if "scalings" not in entry}
    choice([discovery.perturbation(name)], **{f"{where}.perturbation": training["perturbation"]})
    dataset = learning[choice(learning, **{f"{where}.dataset": training["dataset"]})]
    names = [*OF_TRAINING, *discovery.schemes(name)]
    _check_names(f"{where}.schemes", training["schemes"], names)
    records = min(training["records"] or math.inf, dataset["shape"][0])
    for key, most, meaning in (
        ("lot", records, "the number of records"),
        ("batch", training["lot"], "the lot"),
    ):
        if (value := training.get(key) or 0) > most:
            raise InputError(f"{where}.{key} is {value}; make it {most}, {meaning}, or less")


def _check_names(where: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Check that all names are among the allowed ones; InputError names the nearest one."""
    for i, name in enumerate(names):
        choice(allowed, **{f"{where}[{i}]": name})


def check_places(settings: Mapping[str, Any], results: str) -> None:
    """Check that a run may write here, and that files of data that it has not prepared exist.

    Args:
        settings: a resolved configuration.
        results: the folder of all results.

    Raises:
        InputError: the folder cannot be written, its name is that of a file, or data lack a file.
    """
    if not os.access(".snakemake" if os.path.isdir(".snakemake") else ".", os.W_OK):
        raise InputError(
            f"you may not write to {os.getcwd()}; run in a clone of your own, or name a folder by "
            "--directory"
        )
    first = results.partition("/")[0]
    if os.path.isfile(first):
        raise InputError(f"{first} is a file, where the folder of all results goes; move it away")
    if settings["data"]["source"] == "simulated":
        return
    mirror = os.environ.get("DATA_MIRROR") or settings["data"]["mirror"]
    runs = [*settings["experiments"].values(), *settings["training"].values()]
    for name in sorted({run["dataset"] for run in runs}):
        if not os.path.isfile(f"{results}/data/{name}/provenance.json"):
            check_originals(name, mirror, settings)


def check_originals(name: str, mirror: str, settings: Mapping[str, Any]) -> None:
    """Check that every original file of a data set has a place, without a look at its content.

    Raises:
        InputError: one has not, or there is no file.
    """
    if entry := settings["datasets"].get(name):
        if not Path(entry["file"]).expanduser().is_file():
            where = f"config.yaml: datasets.{name}.file"
            raise InputError(f"{where} is {entry['file']!r}, where no file is; correct it")
        return
    for label, file in sets.entries()[name]["files"].items():
        if not ("urls" in file or (mirror and [*Path(mirror).rglob(label)])):
            what = f"{mirror}, the mirror, lacks it" if mirror else "no mirror is named"
            raise InputError(
                f"workflow/{sets.FILE.name}: {name}.files.{label} has no urls, and {what}; set "
                "DATA_MIRROR to a folder that has the file"
            )


def restrict_rows(
    settings: Mapping[str, Any], names: Mapping[str, Collection[str]]
) -> dict[str, Any]:
    """Return settings with the experiments in ``names``, and of their rows these and the baselines.

    Raises:
        InputError: an experiment or a row is not in the settings.
    """
    parts: dict[str, dict[str, Any]] = {"experiments": {}, "training": {}}
    for run, wanted in names.items():
        kind = "training" if run in settings["training"] else "experiments"
        entry = settings[kind].get(run)
        missing = [run] if entry is None else {*wanted} - {*job_settings.rows(settings, run)}
        if missing:
            command = catalogue.experiment(run).command
            raise InputError(
                f"{', '.join(sorted(missing))} is no part of this run"
                + (f"; `{command}` runs it" if command else "; add it to the configuration")
            )
        key = "schemes" if kind == "training" else "mechanisms"
        # A row that is not run has the trials of the one that it equals.
        equal = {job_settings.same_as(settings, run).get(row) for row in wanted}
        free = {NONPRIVATE, *RECORD_FREE}
        chosen = [row for row in entry[key] if row in {*free, *wanted, *equal}]
        parts[kind][run] = {**entry, key: chosen}
    return {**settings, **parts}
