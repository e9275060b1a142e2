"""config.yaml: checked against its schema before anything runs, and brought to one form."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from matrixdp import files, sources
from matrixdp.checks import InputError, nearest
from matrixdp.experiments import readings
from matrixdp.places import place
from matrixdp.trials import NONPRIVATE, RANDOM, REFERENCES

if TYPE_CHECKING:
    import jsonschema

#: Holds the stamp of the configuration that a job was planned with, where Snakemake started it.
PLANNED = "MATRIXDP_SETTINGS"

SCHEMA = Path(__file__).parents[1] / "config.schema.yaml"
DATASETS = SCHEMA.with_name("datasets.yaml")


#: What changes no result: where originals are looked for, and how long the audit may run.
_ASIDE = ("data", "audit_runs")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
        return resolve(yaml.load(text, Loader=_Loader))
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
    import jsonschema

    schema = _load(SCHEMA)
    trainings = {name: schema["$defs"][sources.kind(name)] for name in sources.trainings()}
    schema["properties"]["training"]["properties"] = trainings
    config = _with_numbers(config, schema)
    _check_tasks(config)
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
    below_one = {f"taus[{i}]": tau for i, tau in enumerate(resolved["taus"])}
    below_one |= {key: resolved[key] for key in ("public_tau", "delta")}
    for name, training in resolved["training"].items():
        where = f"training.{name}"
        training["epsilons"] = _grid(f"{where}.epsilons", training["epsilons"])
        training["delta"] = token(training["delta"], f"config.yaml: {where}.delta")
        below_one[f"{where}.delta"] = training["delta"]
        known = [NONPRIVATE, RANDOM, *sources.schemes(name)]
        _check_names(f"{where}.schemes", training["schemes"], known)
    for key, value in below_one.items():
        if value != "1/n" and Decimal(value) >= 1:
            raise InputError(f"config.yaml: {key} is {value}; it must be below 1")
    if Decimal(resolved["rows"][0]) < 1:
        raise InputError(
            f"config.yaml: rows[0] is {resolved['rows'][0]}; a sketch needs at least m rows, 1"
        )
    for name, experiment in resolved["experiments"].items():
        experiment.setdefault("task", name)
        _check_experiment(f"experiments.{name}", experiment, datasets())
        if name in resolved["training"]:
            raise InputError(f"config.yaml: experiments and training both have {name!r}; rename it")
    return resolved


@functools.cache
def datasets() -> dict[str, Any]:
    """Return what workflow/datasets.yaml says, by data set."""
    return _load(DATASETS)


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
    try:
        settings = yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError:
        raise InputError(f"{file} does not exist; run `snakemake`, which writes it") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        settings = None
    if not isinstance(settings, dict) or "experiments" not in settings:
        raise InputError(f"{file} is damaged; delete it and run again")
    if os.environ.get(PLANNED, "") not in ("", sources.stamp(settings)):
        raise InputError(
            f"{file} is not the configuration that this job was planned with, as another run has "
            "replaced it; run again, one run at a time"
        )
    return settings


def part(settings: Mapping[str, Any], experiment: str, *mechanisms: str) -> dict[str, Any]:
    """Return exactly what the rows of mechanisms, schemes or reference rows may depend on.

    Args:
        settings: a resolved configuration.
        experiment: one of its experiments or trainings.
        mechanisms: mechanisms, schemes, and reference rows, which no budget changes.

    Raises:
        InputError: the settings have no such experiment.
    """
    cut: dict[str, Any] = {"experiment": experiment}
    if experiment in settings["training"]:
        own = settings["training"][experiment]
        cut |= {"dataset": experiment, "seed": settings["seed"]}
        cut |= _chosen(own, "trials", "lot", "epochs", "clip", "records")
        if sources.schemes(experiment).keys() & mechanisms:
            cut |= _chosen(own, "epsilons", "delta")
        return cut
    own = _release(settings, experiment)
    cut |= _chosen(own, "task", "dataset", "features", "target", "train")
    cut |= _chosen(settings, "seed", "trials", "adjacency", "reading")
    places = {"direction": (own, "directions"), "tau": (settings, "taus")}
    for name in mechanisms:
        if name in sources.mechanisms():
            cut |= _chosen(settings, "epsilons", "delta")
            for axis in sources.mechanisms()[name].axes:
                cut |= _chosen(*places.get(axis, (settings, axis)))
    return cut


def extraction(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return what the features of a neural experiment may depend on."""
    own = settings["training"].get(experiment, {})
    if "extractor_epochs" not in own:
        raise InputError(f"{experiment} trains on its data as they are; it has no extractor")
    found = {"experiment": experiment, "dataset": experiment, "seed": settings["seed"]}
    return found | _chosen(own, "extractor_epochs", "records")


def swept(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the part of an experiment under all readings: one epsilon, direction and share."""
    found = _at_table_epsilon(settings, experiment)
    # A share that is fixed in public is no choice to be made anew under every reading.
    found |= {"taus": [settings["public_tau"]]} if "taus" in found else {}
    directions = list(found.get("directions", {}).items())[:1]
    return found | ({"directions": dict(directions)} if "directions" in found else {})


def audited(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """Return the part of an experiment's audit, which has no trials of its own."""
    return {**_at_table_epsilon(settings, experiment), "trials": 1}


def _at_table_epsilon(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    tables = {"epsilons": [settings["table_epsilon"]], "reading": readings.DEFAULT}
    return part({**settings, **tables}, experiment, *rows(settings, experiment))


def rows(settings: Mapping[str, Any], experiment: str) -> list[str]:
    """Return the mechanisms or schemes and the reference rows of an experiment."""
    if experiment in settings["training"]:
        return list(settings["training"][experiment]["schemes"])
    return list(_release(settings, experiment)["mechanisms"])


def bundles(settings: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return which schemes of which neural experiment one job trains, job by job."""
    return [
        (name, own["schemes"][start : start + own["per_job"]])
        for name, own in settings["training"].items()
        for start in range(0, len(own["schemes"]), own["per_job"])
    ]


def shown(settings: Mapping[str, Any], experiments: Collection[str]) -> dict[str, Any]:
    """Return what tables, figures and pages on these experiments (empty: on all) may show."""
    cut = {key: value for key, value in settings.items() if key not in _ASIDE}
    for kind in ("experiments", "training") if experiments else ():
        cut[kind] = {name: own for name, own in settings[kind].items() if name in experiments}
    return cut


def _release(settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    known = settings["experiments"]
    if experiment not in known:
        options = [*known, *settings["training"]]
        raise InputError(f"experiment is {experiment!r}; {nearest(experiment, options)}")
    return known[experiment]


def _chosen(source: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: source[key] for key in keys if key in source}


def _load(file: Path) -> dict[str, Any]:
    return yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)


def _grid(key: str, values: list[object]) -> list[str]:
    """Return the canonical tokens of a list of numbers, each once, in their order of size."""
    tokens = {token(value, f"config.yaml: {key}[{i}]") for i, value in enumerate(values)}
    return sorted(tokens, key=Decimal)


def _check_tasks(config: Mapping[str, Any]) -> None:
    """Raise InputError unless every experiment has a task that exists and what it needs."""
    experiments = config.get("experiments")
    for name, experiment in experiments.items() if isinstance(experiments, dict) else ():
        if isinstance(experiment, dict):
            task, known = experiment.get("task", name), sources.tasks()
            if task not in known:
                raise InputError(
                    f"config.yaml: experiments.{name}.task is {task!r}; {nearest(task, known)}"
                )
            for key in known[task].words.get("needs", ()):
                if key not in experiment:
                    raise InputError(
                        f"config.yaml: experiments.{name} lacks the key {key!r}, which the task "
                        f"{task} needs"
                    )


def _check_names(where: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"config.yaml: {where} names {name!r}; {nearest(name, known)}")


def _check_experiment(where: str, experiment: dict[str, Any], datasets: dict[str, Any]) -> None:
    """Raise InputError unless the experiment's data set, mechanisms and features exist."""
    matrices = [name for name, entry in datasets.items() if "scalings" in entry]
    if experiment["dataset"] not in matrices:
        dataset = experiment["dataset"]
        raise InputError(
            f"config.yaml: {where}.dataset is {dataset!r}; {nearest(dataset, matrices)}"
        )
    columns = datasets[experiment["dataset"]].get("columns", [])
    features = experiment.get("features", columns)
    known = [*REFERENCES, *sources.mechanisms()]
    _check_names(f"{where}.mechanisms", experiment["mechanisms"], known)
    _check_names(f"{where}.features", features, columns)
    for direction, members in experiment["directions"].items():
        _check_names(f"{where}.directions.{direction}", members, features)
    if "target" in experiment and experiment["target"] not in features:
        target = experiment["target"]
        raise InputError(f"config.yaml: {where}.target is {target!r}; {nearest(target, features)}")


def _with_numbers(value: Any, schema: dict[str, Any]) -> Any:
    """Return ``value`` with numbers for texts where only numbers may stand.

    Snakemake hands over what is nested in ``--config`` as text.
    """
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        other = schema.get("additionalProperties") or {}
        return {key: _with_numbers(item, properties.get(key, other)) for key, item in value.items()}
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
