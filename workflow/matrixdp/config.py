"""config.yaml: checked against its schema before anything runs, and brought to one form."""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from matrixdp import checks, files, sources, stamps
from matrixdp.checks import InputError, nearest, said, short
from matrixdp.experiments import readings
from matrixdp.places import place
from matrixdp.strict import load
from matrixdp.trials import OF_COMPONENTS, OF_REGRESSION, OF_RELEASES, OF_TRAINING

if TYPE_CHECKING:
    import jsonschema

#: Holds the stamps of the configurations that jobs were planned with, where Snakemake started them.
PLANNED = "MATRIXDP_SETTINGS"

SCHEMA = Path(__file__).parents[1] / "config.schema.yaml"
DATASETS = SCHEMA.with_name("datasets.yaml")

#: The data set of a run on a matrix of one's own, described in the configuration itself.
OWN = "my_matrix"


#: How a text may write a number.
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


def planned(arguments: Sequence[str], file: str | os.PathLike = "config.yaml") -> dict[str, Any]:
    """Return the configuration that Snakemake runs with these arguments.

    Args:
        arguments: of Snakemake, of which those that give a configuration count.
        file: what they change.

    Raises:
        InputError: as for :func:`load` and :func:`resolve`, or a setting is not ``NAME=VALUE``.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", default=[])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    given, _ = parser.parse_known_args(list(arguments))
    merged: dict[str, Any] = {}
    for one in dict.fromkeys([*([file] if Path(file).is_file() else []), *given.configfile]):
        _merge(merged, _mapping(load(one), one))
    for setting in given.config:
        name, equals, text = setting.partition("=")
        if not (equals and re.fullmatch(r"[a-zA-Z_]\w+", name)):
            raise InputError(
                f"--config {short(setting)} is not NAME=VALUE; quote lists and mappings, as in "
                '--config trials=20 "epsilons=[0.1, 1]" "data={source: auto}"'
            )
        value: object = text
        with contextlib.suppress(yaml.YAMLError):
            value = yaml.load(text, Loader=yaml.BaseLoader)
        _merge(merged, {name: value})
    return resolve(merged)


def _merge(into: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _mapping(value: object, source: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise InputError(f"{source} is {short(repr(value))}; it must be a mapping of settings")


def resolve(config: dict[str, Any], files: Iterable[str | os.PathLike] = ()) -> dict[str, Any]:
    """Return the configuration with defaults filled in and numbers in their canonical form.

    Args:
        config: config.yaml as read, with overlays and command line merged in.
        files: what it was read from, to be checked (see :func:`load`).

    Raises:
        InputError: a key is unknown or missing, or a value is not allowed; the message names the
            key, the value, what is allowed and, for a misspelt name, the nearest valid one.
    """
    for file in files:
        load(file)
    with said("config.yaml cannot be used ({why}); correct it"):
        return _resolved(_mapping(config, "config.yaml"))


def _resolved(config: dict[str, Any]) -> dict[str, Any]:
    import jsonschema

    schema = _schema(datasets(config))
    resolved = _completed(config, schema)
    # What a section's entries are called by, where they leave it out: their own names.
    for section, key in (("experiments", "task"), ("training", "dataset")):
        entries = resolved.get(section)
        for name, own in entries.items() if isinstance(entries, dict) else ():
            if isinstance(own, dict):
                own.setdefault(key, name)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(resolved)
    # A misspelt name may be why a key is missing.
    for error in sorted(errors, key=lambda e: (e.validator == "required", [*map(str, e.path)])):
        raise InputError(_sentence(error))
    for settings in (resolved, *resolved["training"].values()):
        for key in settings.keys() & {"epsilons", "taus", "rows", "radii"}:
            settings[key] = sorted({_token(value) for value in settings[key]}, key=Decimal)
        for key in settings.keys() & {"table_epsilon", "public_tau", "delta"}:
            settings[key] = _token(settings[key])
    try:
        resolved["reading"] = readings.find(resolved["reading"]).name
        for name, experiment in resolved["experiments"].items():
            _check_experiment(f"experiments.{name}", experiment, datasets(resolved))
        for name, training in resolved["training"].items():
            _check_training(f"training.{name}", training)
        _check_shown(resolved)
    except InputError as error:
        raise InputError(f"config.yaml: {error}") from None
    for name in resolved["experiments"].keys() & resolved["training"]:
        raise InputError(f"config.yaml: experiments and training both have {name!r}; rename it")
    return resolved


def datasets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what workflow/datasets.yaml says, by data set, and settings of a matrix of one's own.

    See :mod:`matrixdp.own`.
    """
    own = settings.get("matrix")
    return _datasets() | ({OWN: own} if isinstance(own, dict) else {})


@functools.cache
def _datasets() -> dict[str, Any]:
    return _mapping(load(DATASETS), DATASETS)


def entry(settings: Mapping[str, Any], dataset: str) -> str:
    """Return a digest of what datasets.yaml says of a data set, but for what only readers use."""
    found = datasets(settings)[dataset]
    return sources.stamp({key: found[key] for key in found if key not in stamps.WORDS})


def write(config: Mapping[str, Any], results: str | os.PathLike = "results") -> None:
    """Write a resolved configuration where jobs read it, unless it stands there already."""
    target = place("settings", os.fspath(results))
    text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
    if not (target.is_file() and target.read_text(encoding="utf-8") == text):
        files.write_text(target, text)


def read(results: str | os.PathLike = "results") -> dict[str, Any]:
    """Return the resolved configuration of a run.

    Raises:
        InputError: it is not there or damaged.
    """
    file = place("settings", os.fspath(results))
    if not file.is_file():
        raise InputError(f"{file} does not exist; run `snakemake`, which writes it")
    settings = None
    with contextlib.suppress(InputError):
        settings = load(file)
    if not isinstance(settings, dict) or "experiments" not in settings:
        raise InputError(f"{file} is damaged; delete it and run again")
    known = os.environ.get(PLANNED, "").split()
    if known and sources.stamp(settings) not in known:
        raise InputError(
            f"{file} is not the configuration that this job was planned with, as another run has "
            "replaced it; run again, one run at a time"
        )
    return settings


def rows(settings: Mapping[str, Any], experiment: str) -> list[str]:
    """Return the mechanisms or schemes and the reference rows of an experiment."""
    if experiment in settings["training"]:
        return list(settings["training"][experiment]["schemes"])
    return list(release(settings, experiment)["mechanisms"])


def bundles(settings: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return which rows of which experiment one job makes, job by job.

    Where a job makes one row, mechanisms are left out, each of which is a job by its name;
    reference rows, which take no time, are one.
    """
    found = []
    for name, own in (settings["experiments"] | settings["training"]).items():
        chosen, length = rows(settings, name), own["per_job"]
        if name in settings["experiments"] and length == 1:
            chosen = [row for row in chosen if row not in sources.mechanisms()]
            length = len(chosen) or 1
        found += [(name, chosen[at : at + length]) for at in range(0, len(chosen), length)]
    return found


def release(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the settings of an experiment on one release, or raise InputError if it is none."""
    known = settings["experiments"]
    return known[checks.choice([*known, *settings["training"]], experiment=experiment)]


def _schema(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with the names that the sources and datasets.yaml have."""
    schema: dict[str, Any] = load(SCHEMA)
    experiment = schema["properties"]["experiments"]["additionalProperties"]["properties"]
    experiment["task"]["enum"] = [*sources.tasks()]
    experiment["dataset"]["enum"] = [name for name, d in known.items() if "scalings" in d]
    experiment["mechanisms"]["items"]["enum"] = [*OF_RELEASES, *sources.mechanisms()]
    trainings = schema["properties"]["training"]["properties"] = {}
    learning = [name for name, entry in known.items() if "scalings" not in entry]
    for name in sources.trainings():
        trainings[name] = copy.deepcopy(schema["$defs"][sources.kind(name)])
        properties = trainings[name]["properties"]
        properties["dataset"]["enum"] = learning
        properties["schemes"]["items"]["enum"] = [*OF_TRAINING, *sources.schemes(name)]
    return schema


def _token(value: object) -> str:
    """Return the one way to write a number in paths and seeds: 1 and 1.0 are both ``"1"``."""
    return value if isinstance(value, str) else format(Decimal(str(value)).normalize(), "f")


def _check_experiment(where: str, experiment: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raise InputError unless the data set has the features and the task has what it needs."""
    needs = sources.tasks()[experiment["task"]].words.get("needs", ())
    for key in needs:
        if key not in experiment:
            task = experiment["task"]
            raise InputError(f"{where} lacks the key {key!r}, which the task {task} needs")
    of_task = OF_REGRESSION if "target" in needs else OF_COMPONENTS
    for name in experiment["mechanisms"]:
        if name in OF_RELEASES and name not in of_task:
            task = experiment["task"]
            raise InputError(f"{where}.mechanisms has {name}, no baseline of {task}; leave it out")
    dataset = known[experiment["dataset"]]
    records = dataset["scalings"]["default"].get("rows", dataset["shape"][0])
    if "train" in needs and experiment["train"] >= records:
        raise InputError(
            f"{where}.train is {experiment['train']} of {records} records; leave some for testing"
        )
    columns = dataset.get("columns", [])
    features = experiment.get("features", columns)
    for i, name in enumerate(features):
        checks.choice(columns, **{f"{where}.features[{i}]": name})
    for direction, members in experiment["directions"].items():
        for i, name in enumerate(members):
            checks.choice(features, **{f"{where}.directions.{direction}[{i}]": name})
        if len(members) == len(features):
            raise InputError(f"{where}.directions.{direction} has every feature; leave one out")
    for name in _run_over("direction", experiment) if not experiment["directions"] else ():
        raise InputError(f"{where}.directions is empty and {name} needs one; name one or drop it")
    if "target" in experiment:
        checks.choice(features, **{f"{where}.target": experiment["target"]})


def _check_training(where: str, training: Mapping[str, Any]) -> None:
    """Raise InputError if a lot has more records than there are, or a batch more than a lot."""
    total = _datasets()[training["dataset"]]["shape"][0]
    for part, whole, most in (
        ("lot", "the number of records", min(training["records"] or total, total)),
        ("batch", "the lot", training["lot"]),
    ):
        if (training.get(part) or 0) > most:
            raise InputError(
                f"{where}.{part} is {training[part]}; make it {most}, {whole}, or less"
            )


def _check_shown(settings: Mapping[str, Any]) -> None:
    """Raise InputError if tables show an epsilon or a share that is not run."""
    shares = any(_run_over("tau", own) for own in settings["experiments"].values())
    for one, many, wanted in ("table_epsilon", "epsilons", True), ("public_tau", "taus", shares):
        if wanted and settings[one] not in settings[many]:
            found = ", ".join(settings[many])
            raise InputError(
                f"{one} is {settings[one]}, which {many} ({short(found)}) lacks; add it there or "
                "choose one of them"
            )


def _run_over(axis: str, experiment: Mapping[str, Any]) -> list[str]:
    """Return the mechanisms of an experiment that are run over an axis."""
    known = sources.mechanisms()
    return [name for name in experiment["mechanisms"] if name in known and axis in known[name].axes]


def _completed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return ``value`` with the schema's defaults, and with numbers where numbers may stand.

    Snakemake hands over what is nested in ``--config`` as text.
    """
    if isinstance(value, dict):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties") or {}
        defaults = {key: sub["default"] for key, sub in properties.items() if "default" in sub}
        filled = (defaults | value).items()
        return {key: _completed(item, properties.get(key, other)) for key, item in filled}
    if isinstance(value, list):
        return [_completed(item, schema.get("items", {})) for item in value]
    types = schema.get("type", "")
    if isinstance(value, str | float) and ("integer" in types or "number" in types):
        if value == "null" and value in types:
            return None
        if isinstance(value, float) or re.fullmatch(_NUMBER, value):
            number = float(value)
            if not math.isfinite(number):
                return str(value)
            return int(number) if number.is_integer() else number
    return value


def _sentence(error: jsonschema.ValidationError) -> str:
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.path).lstrip(".")
    prefix = f"config.yaml: {where}" if where else "config.yaml"
    schema = error.schema
    if error.validator == "additionalProperties":
        allowed = schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in allowed)
        return f"{prefix} has the unknown key {unknown!r}; {nearest(unknown, allowed)}"
    if error.validator == "enum":
        return f"{prefix} is {error.instance!r}; {nearest(error.instance, schema['enum'])}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"{prefix} lacks the key {missing!r}: {schema['properties'][missing]['description']}"
    value = short(repr(error.instance))
    return f"{prefix} is {value}; it must be {schema.get('description', error.message)}"
