"""Configuration: checks of config.yaml before anything runs, and its canonical form."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from matrixdp import discovery
from matrixdp.checks import InputError, as_input_error, choice, nearest, short
from matrixdp.experiments import readings
from matrixdp.trials import MEAN, OF_COMPONENTS, OF_REGRESSION, OF_RELEASES, OF_TRAINING, ZERO
from matrixdp.trials import OWN as OWN

if TYPE_CHECKING:
    import jsonschema

#: The parser in C is ten times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

SCHEMA = Path(__file__).parents[1] / "config.schema.yaml"
DATASETS = SCHEMA.with_name("datasets.yaml")

#: A number as text.
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


#: Former keys, and their replacements.
MOVED = {
    "trials": "experiment_defaults.trials (or trials of one experiment)",
    "epsilons": "experiment_defaults.epsilons (or epsilons of one experiment)",
    "public_tau": "taus.public",
    "rows": "sketch_sizes",
    "radii": "squared_radius_fractions",
    "claim_trials": "trials_for_claims",
}
#: Keys of lists of numbers, which are sorted, and of numbers. All become canonical text.
_LISTS = ("epsilons", "grid", "sketch_sizes", "squared_radius_fractions")
_NUMBERS = ("table_epsilon", "public", "delta")


def load(file: str | os.PathLike) -> Any:
    """Return the content of a YAML file.

    Raises:
        InputError: the file cannot be read, or is not YAML.
    """
    with as_input_error(f"{file} is not valid YAML ({{why}}); correct it"):
        return yaml.load(Path(file).read_text(encoding="utf-8"), Loader=_LOADER)


def _mapping(value: object, source: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise InputError(f"{source} is {short(repr(value))}; it must be a mapping of settings")


def resolve(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with defaults filled in and numbers in their canonical form.

    Every experiment has its own trials and epsilons afterwards.

    Args:
        config: config.yaml as read, with overlays and command line merged in.

    Raises:
        InputError: a key is unknown or missing, or a value is not allowed. The message names the
            key, the value, the allowed values and, for a misspelt name, the nearest valid one.
    """
    with as_input_error("config.yaml cannot be used ({why}); correct it"):
        return _resolved(_mapping(config, "config.yaml"))


def _resolved(config: dict[str, Any]) -> dict[str, Any]:
    import jsonschema

    schema = load(SCHEMA)
    resolved = _completed(config, schema, schema)
    trainings = resolved.get("training")
    for name in trainings if isinstance(trainings, dict) else ():
        if name not in discovery.trainings():
            near = nearest(name, discovery.trainings())
            raise InputError(f"config.yaml: training has the unknown key {name!r}; {near}")
    errors = jsonschema.Draft7Validator(schema).iter_errors(resolved)
    # Report unknown keys first: a misspelt key is also missing under its right name.
    for error in sorted(errors, key=lambda e: (e.validator == "required", [*map(str, e.path)])):
        raise InputError(_sentence(error))
    shared, entries = resolved["experiment_defaults"], resolved["experiments"]
    resolved["experiments"] = {name: shared | entry for name, entry in entries.items()}
    runs = [*resolved["experiments"].values(), *resolved["training"].values()]
    for settings in (resolved, resolved["taus"], shared, *runs):
        for key in settings.keys() & set(_LISTS):
            settings[key] = sorted({_token(value) for value in settings[key]}, key=Decimal)
        for key in settings.keys() & set(_NUMBERS):
            settings[key] = _token(settings[key])
    try:
        resolved["reading"] = readings.find(resolved["reading"]).name
        for name, experiment in resolved["experiments"].items():
            _check_experiment(f"experiments.{name}", experiment, resolved)
        for name, training in resolved["training"].items():
            _check_training(name, training)
    except InputError as error:
        raise InputError(f"config.yaml: {error}") from None
    for name in resolved["experiments"].keys() & resolved["training"]:
        raise InputError(f"config.yaml: experiments and training both have {name!r}; rename it")
    return resolved


def datasets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of workflow/datasets.yaml, and that of a person's own matrix.

    The latter is the setting ``matrix``, see :mod:`matrixdp.own`.
    """
    matrix = settings.get("matrix")
    return _datasets() | ({OWN: matrix} if isinstance(matrix, dict) else {})


@functools.cache
def _datasets() -> dict[str, Any]:
    return _mapping(load(DATASETS), DATASETS)


def text(settings: Mapping[str, Any]) -> str:
    """Return a resolved configuration as YAML, without ``data.mirror``, a path of this machine."""
    public = {**settings, "data": {**settings["data"], "mirror": ""}}
    return yaml.safe_dump(public, sort_keys=False, allow_unicode=True)


def _token(value: object) -> str:
    """Return the canonical text of a number in paths and seeds: 1 and 1.0 are both ``"1"``."""
    return value if isinstance(value, str) else format(Decimal(str(value)).normalize(), "f")


def _check_experiment(
    where: str, experiment: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Check that all names of an experiment are valid and the task has the keys that it needs.

    Raises:
        InputError: a name is unknown, or a key is missing or out of range.
    """
    matrices = {name: entry for name, entry in datasets(settings).items() if "scalings" in entry}
    choice(discovery.tasks(), **{f"{where}.task": experiment["task"]})
    choice(matrices, **{f"{where}.dataset": experiment["dataset"]})
    _check_names(
        f"{where}.mechanisms",
        experiment["mechanisms"],
        (*OF_RELEASES, MEAN),
        discovery.mechanisms(),
    )
    needs = discovery.tasks()[experiment["task"]].words.get("needs", ())
    for key in needs:
        if key not in experiment:
            task = experiment["task"]
            raise InputError(f"{where} lacks the key {key!r}, which the task {task} needs")
    of_task = (*OF_REGRESSION, MEAN) if "target" in needs else OF_COMPONENTS
    of_task = (*OF_COMPONENTS, ZERO) if experiment["task"] == "moments_error" else of_task
    for name in experiment["mechanisms"]:
        if name in (*OF_RELEASES, MEAN) and name not in of_task:
            task = experiment["task"]
            raise InputError(f"{where}.mechanisms has {name}, no baseline of {task}; leave it out")
    dataset = matrices[experiment["dataset"]]
    records = dataset["scalings"]["default"].get("rows", dataset["shape"][0])
    if "train" in needs and experiment["train"] >= records:
        raise InputError(
            f"{where}.train is {experiment['train']} of {records} records; leave some for testing"
        )
    columns = dataset.get("columns", [])
    features = experiment.get("features", columns)
    _check_names(f"{where}.features", features, columns)
    for direction, members in experiment["directions"].items():
        _check_names(f"{where}.directions.{direction}", members, features)
        if len(members) == len(features):
            raise InputError(f"{where}.directions.{direction} has every feature; leave one out")
    for name in _run_over("direction", experiment) if not experiment["directions"] else ():
        raise InputError(f"{where}.directions is empty and {name} needs one; name one or drop it")
    if "target" in experiment:
        choice(features, **{f"{where}.target": experiment["target"]})
    taus, epsilons = settings["taus"], experiment["epsilons"]
    _check_member(f"{where}.epsilons", epsilons, table_epsilon=settings["table_epsilon"])
    if _run_over("tau", experiment):
        _check_member("taus.grid", taus["grid"], **{"taus.public": taus["public"]})


def _check_training(name: str, training: Mapping[str, Any]) -> None:
    """Check that all names of a training are valid, and its lots and batches small enough.

    Raises:
        InputError: a name is unknown, or a lot or batch is too large.
    """
    where = f"training.{name}"
    learning = {name: entry for name, entry in _datasets().items() if "scalings" not in entry}
    choice([discovery.kind(name)], **{f"{where}.kind": training["kind"]})
    choice(learning, **{f"{where}.dataset": training["dataset"]})
    _check_names(f"{where}.schemes", training["schemes"], OF_TRAINING, discovery.schemes(name))
    total = learning[training["dataset"]]["shape"][0]
    for part, meaning, most in (
        ("lot", "the number of records", min(training["records"] or total, total)),
        ("batch", "the lot", training["lot"]),
    ):
        if (training.get(part) or 0) > most:
            raise InputError(
                f"{where}.{part} is {training[part]}; make it {most}, {meaning}, or less"
            )


def _check_names(where: str, names: Sequence[str], *valid: Iterable[str]) -> None:
    """Check that all names are among the valid ones.

    Raises:
        InputError: a name is not; the message names the nearest valid one.
    """
    allowed = [name for group in valid for name in group]
    for i, name in enumerate(names):
        choice(allowed, **{f"{where}[{i}]": name})


def _check_member(where: str, values: Sequence[str], **settings: str) -> None:
    """Check that settings are among the values that are run.

    Raises:
        InputError: a setting is not.
    """
    for name, value in settings.items():
        if value not in values:
            raise InputError(
                f"{name} is {value}, which {where} ({short(', '.join(values))}) lacks; add it "
                "there or choose one of them"
            )


def _run_over(axis: str, experiment: Mapping[str, Any]) -> list[str]:
    """Return the mechanisms of an experiment that have a grid along an axis."""
    table = discovery.mechanisms()
    return [name for name in experiment["mechanisms"] if name in table and axis in table[name].axes]


def _completed(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Return a value with the schema's defaults; texts become numbers where the schema has numbers.

    Snakemake passes nested values of ``--config`` as text.
    """
    schema = subschema(schema, value, root)
    if isinstance(value, dict):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties") or {}
        defaults = {key: sub["default"] for key, sub in properties.items() if "default" in sub}
        filled = (defaults | value).items()
        return {key: _completed(item, properties.get(key, other), root) for key, item in filled}
    if isinstance(value, list):
        return [_completed(item, schema.get("items", {}), root) for item in value]
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


def subschema(
    schema: Mapping[str, Any], value: object, root: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the part of the schema ``root`` that ``if`` and ``$ref`` choose for a value."""
    if "if" in schema:
        (key, condition), *_ = schema["if"]["properties"].items()
        met = isinstance(value, dict) and value.get(key) == condition["const"]
        schema = schema["then" if met else "else"]
    if "$ref" in schema:
        steps = schema["$ref"].removeprefix("#/").split("/")
        schema = functools.reduce(lambda part, step: part[step], steps, root)
    return schema


def _sentence(error: jsonschema.ValidationError) -> str:
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.path).lstrip(".")
    prefix = f"config.yaml: {where}" if where else "config.yaml"
    schema = error.schema
    if error.validator == "additionalProperties":
        allowed = schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in allowed)
        if unknown in MOVED:
            return f"{prefix} has the old key {unknown!r}; write {MOVED[unknown]} instead"
        return f"{prefix} has the unknown key {unknown!r}; {nearest(unknown, allowed)}"
    if error.validator == "enum":
        return f"{prefix} is {error.instance!r}; {nearest(error.instance, schema['enum'])}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"{prefix} lacks the key {missing!r}: {schema['properties'][missing]['description']}"
    value = short(repr(error.instance))
    return f"{prefix} is {value}; it must be {schema.get('description', error.message)}"
