"""config.yaml: checked against its schema before anything runs, and brought to one form."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from matrixdp import sources
from matrixdp.checks import InputError, nearest
from matrixdp.experiments import readings

SCHEMA = Path(__file__).parents[1] / "config.schema.yaml"
DATASETS = SCHEMA.with_name("datasets.yaml")

#: Rows of every experiment that need no mechanism.
REFERENCES = {"nonprivate", "random"}


def token(value: object, name: str = "value") -> str:
    """Return the one way to write a number in paths and seeds: 1, 1.0 and "1" are all ``"1"``.

    Raises:
        InputError: the value is not a finite number above 0.
    """
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not (number.is_finite() and number > 0):
        raise InputError(f"{name} is {value!r}; it must be a finite number above 0")
    return format(number.normalize(), "f")


def parse(text: str) -> dict[str, Any]:
    """Return the configuration that a text in YAML or JSON holds (see :func:`resolve`).

    Raises:
        InputError: the text is not YAML, or what it says is not allowed.
    """
    try:
        return resolve(yaml.safe_load(text))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"config.yaml is not valid YAML ({reason}); correct it") from None


def resolve(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with defaults filled in and numbers in their canonical form.

    Args:
        config: config.yaml as read, with overlays and command line merged in.

    Raises:
        InputError: a key is unknown or missing, or a value is not allowed; the message names the
            key, the value, what is allowed and, for a misspelt name, the nearest valid one.
    """
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    config = _with_numbers(config, schema)
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(config), key=lambda error: list(map(str, error.path)))
    if errors:
        raise InputError(_sentence(errors[0]))
    resolved = _with_defaults(config, schema)
    for key in ("epsilons", "taus", "rows"):
        resolved[key] = _grid(key, resolved[key])
    for key in ("table_epsilon", "public_tau"):
        resolved[key] = token(resolved[key], f"config.yaml: {key}")
    try:
        resolved["reading"] = readings.find(resolved["reading"]).name
    except InputError as error:
        raise InputError(f"config.yaml: {error}") from None
    if resolved["delta"] != "1/n":
        resolved["delta"] = token(resolved["delta"], "config.yaml: delta")
    below_one = [(f"taus[{i}]", tau) for i, tau in enumerate(resolved["taus"])]
    for key, value in [*below_one, *((key, resolved[key]) for key in ("public_tau", "delta"))]:
        if value != "1/n" and Decimal(value) >= 1:
            raise InputError(f"config.yaml: {key} is {value}; it must be below 1")
    for name, training in resolved["training"].items():
        where = f"training.{name}"
        training["epsilons"] = _grid(f"{where}.epsilons", training["epsilons"])
        training["delta"] = token(training["delta"], f"config.yaml: {where}.delta")
        if Decimal(training["delta"]) >= 1:
            raise InputError(
                f"config.yaml: {where}.delta is {training['delta']}; it must be below 1"
            )
        known = REFERENCES | sources.schemes(name).keys()
        for scheme in training["schemes"]:
            if scheme not in known:
                raise InputError(
                    f"config.yaml: {where}.schemes names {scheme!r}; {nearest(scheme, known)}"
                )
    if Decimal(resolved["rows"][0]) < 1:
        raise InputError(
            f"config.yaml: rows[0] is {resolved['rows'][0]}; a sketch needs at least m rows, 1"
        )
    datasets = yaml.safe_load(DATASETS.read_text(encoding="utf-8"))
    for name, experiment in resolved["experiments"].items():
        _check_names(f"config.yaml: experiments.{name}", experiment, datasets)
    return resolved


def _grid(key: str, values: list[object]) -> list[str]:
    """Return the canonical tokens of a list of numbers, each once, in their order of size."""
    tokens = {token(value, f"config.yaml: {key}[{i}]") for i, value in enumerate(values)}
    return sorted(tokens, key=Decimal)


def _check_names(where: str, experiment: dict[str, Any], datasets: dict[str, Any]) -> None:
    """Raise InputError unless the experiment's mechanisms and features exist."""
    known = REFERENCES | {"zero"} | sources.mechanisms().keys()
    columns = datasets[experiment["dataset"]]["columns"]
    features = experiment.get("features", columns)
    named = [(f"{where}.mechanisms", name, known) for name in experiment["mechanisms"]]
    named += [(f"{where}.features", name, columns) for name in features]
    for direction, members in experiment["directions"].items():
        named += [(f"{where}.directions.{direction}", name, features) for name in members]
    for place, name, allowed in named:
        if name not in allowed:
            raise InputError(f"{place} names {name!r}; {nearest(name, allowed)}")
    if "target" in experiment and experiment["target"] not in features:
        target = experiment["target"]
        raise InputError(f"{where}.target is {target!r}; {nearest(target, features)}")


def _with_numbers(value: Any, schema: dict[str, Any]) -> Any:
    """Return ``value`` with numbers for texts where only numbers may stand.

    Snakemake hands over what is nested in ``--config`` as text.
    """
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return {key: _with_numbers(item, properties.get(key, {})) for key, item in value.items()}
    allowed = schema.get("type", [])
    types = {allowed} if isinstance(allowed, str) else {*allowed}
    if isinstance(value, str) and types & {"integer", "number"} and "string" not in types:
        number = yaml.safe_load(value)
        return number if number is None or isinstance(number, int | float) else value
    return value


def _with_defaults(value: Any, schema: dict[str, Any]) -> Any:
    """Return ``value`` with the schema's defaults for the keys that it leaves out."""
    if not isinstance(value, dict):
        return value
    properties = dict(schema.get("properties", {}))
    filled = {key: sub["default"] for key, sub in properties.items() if "default" in sub}
    filled |= value
    return {
        key: _with_defaults(item, properties.get(key, schema.get("additionalProperties") or {}))
        for key, item in filled.items()
    }


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
    return f"{prefix} is {error.instance!r}; it must be {schema.get('description', error.message)}"
