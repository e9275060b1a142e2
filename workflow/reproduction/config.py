"""Configuration: checks of config.yaml before anything runs, and its canonical form."""

from __future__ import annotations

import copy
import functools
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from matrixdp.checks import InputError, as_input_error, choice, nearest, short
from reproduction import discovery, files
from reproduction.data import datasets as sets
from reproduction.experiments import readings
from reproduction.trials import DEFAULT, OF_COMPONENTS, OF_REGRESSION, OF_TRAINING

if TYPE_CHECKING:
    import jsonschema

SCHEMA = Path(__file__).parents[1] / "config.schema.yaml"
SCHEMA_OF_DATA = SCHEMA.with_name("datasets.schema.yaml")

#: Former keys, and their replacements.
MOVED = {
    "trials": "experiment_defaults.trials (or trials of one experiment)",
    "epsilons": "experiment_defaults.epsilons (or epsilons of one experiment)",
    "public_tau": "tau_untuned",
    "rows": "sketch_multiples",
    "sketch_sizes": "sketch_multiples",
    "radii": "squared_radius_fractions",
    "trials_for_claims": "trials_at_table_epsilon",
}
#: Keys of lists of numbers beside those of mechanisms' grids, which are sorted, and of numbers. All
#: become canonical text.
_LISTS = ("epsilons",)
_NUMBERS = ("table_epsilon", "delta")
#: What is said of a data set that anybody may not have.
NOT_PUBLIC = (
    "does not state public: true; this workflow reads records without noise; for private records "
    "use matrixdp"
)

#: Numbers from which on a matrix of one's own is large, and the limits of its audit (see
#: :class:`matrixdp.auditing.releases.Limits`), which the page states.
LARGE, LIMITS = 200_000, {"audit_pairs": 8, "audit_numbers": 400_000_000}

#: Keys of paths, and of the words for commands.
_PATHS = ("pathvars", "options")


def resolve(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with defaults filled in and numbers in their canonical form.

    Every experiment has its own trials and epsilons afterwards.

    Args:
        config: config.yaml as read, with overlays and command line merged in.

    Raises:
        InputError: see :func:`complete`; or a name, or a combination of values, is not allowed.
    """
    resolved = complete(config)
    _check_shipped()
    resolved["datasets"] = {
        name: _of_csv(name, entry) for name, entry in resolved["datasets"].items()
    }
    _check_public(resolved["datasets"], "config.yaml: datasets.")
    _check_public(sets.entries(), f"workflow/{sets.FILE.name}: ")
    shared, entries = resolved["experiment_defaults"], resolved["experiments"]
    resolved["experiments"] = {name: shared | entry for name, entry in entries.items()}
    runs = [*resolved["experiments"].values(), *resolved["training"].values()]
    mechanisms = discovery.mechanisms().values()
    lists = {*_LISTS, *(entry.values for entry in mechanisms)}
    numbers = {*_NUMBERS, *(entry.untuned for entry in mechanisms)}
    for settings in (resolved, shared, *runs):
        for key in settings.keys() & lists:
            if isinstance(settings[key], list):
                settings[key] = sorted({_token(value) for value in settings[key]}, key=Decimal)
        for key in settings.keys() & numbers:
            settings[key] = _token(settings[key])
    try:
        resolved["reading"] = readings.find(resolved["reading"]).name
        if resolved["reading"] != DEFAULT and resolved["pathvars"]["results"] == "results":
            raise InputError(
                f"reading is {resolved['reading']}, and its results need a folder of their own; "
                "name one as pathvars.results, as workflow/config/zeta_literal.yaml does"
            )
        for name, experiment in resolved["experiments"].items():
            if sizes := resolved["datasets"].get(experiment["dataset"], {}).get("shape"):
                resolved["experiments"][name] |= LIMITS if math.prod(sizes) >= LARGE else {}
            _check_experiment(f"experiments.{name}", experiment, resolved)
        for name, training in resolved["training"].items():
            _check_training(name, training)
    except InputError as error:
        raise InputError(f"config.yaml: {error}") from None
    if not runs:
        raise InputError("config.yaml: experiments and training are both empty; name one to run")
    for name in resolved["experiments"].keys() & resolved["training"]:
        raise InputError(f"config.yaml: experiments and training both have {name!r}; rename it")
    return resolved


def complete(config: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the configuration with the defaults of the schema.

    An experiment that is null is left out: an overlay can take away what config.yaml has.

    Raises:
        InputError: a key is unknown or missing, or a value is not allowed. The message names the
            key, the value, the allowed values and, for a misspelt name, the nearest valid one.
    """
    completed: dict[str, Any] = copy.deepcopy(config)
    # What is no mapping is left to the schema, which refuses it in a sentence.
    keys = completed.keys() if isinstance(completed, dict) else set()
    for kind in keys & {"experiments", "training"}:
        entries = completed[kind] or {}
        if isinstance(entries, dict):
            completed[kind] = {name: entry for name, entry in entries.items() if entry is not None}
    _check_schema(completed, SCHEMA, "config.yaml")
    return completed


def _check_schema(content: Any, schema: Path, file: str) -> None:
    """Check the content of a file by a schema, and put in its defaults.

    Raises:
        InputError: see :func:`complete`; the message begins with the name of the ``file``.
    """
    with as_input_error(f"{file} cannot be used ({{why}}); correct it"):
        errors = [*_validator(schema).iter_errors(content)]
    # Report unknown keys first: a misspelt key is also missing under its right name.
    for error in sorted(errors, key=lambda e: (e.validator == "required", [*map(str, e.path)])):
        raise InputError(_sentence(error, file))


def datasets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of workflow/datasets.yaml, and those of a configuration."""
    return {**sets.entries(), **settings.get("datasets", {})}


def _of_csv(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CSV file of one's own as an entry of workflow/datasets.yaml.

    Each column is centred at the middle of its public bounds, and scaled to [-1, 1].

    Raises:
        InputError: its name is that of another data set, or bounds are in the wrong order.
    """
    where = f"config.yaml: datasets.{name}"
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


def _check_public(entries: Mapping[str, Mapping[str, Any]], where: str) -> None:
    """Check that every data set is stated to be public.

    Raises:
        InputError: one is not.
    """
    for name, entry in entries.items():
        if entry.get("public") is not True:
            raise InputError(f"{where}{name} {NOT_PUBLIC}")


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


def _token(value: object) -> str:
    """Return the canonical text of a number in seeds and rows: 1 and 1.0 are both ``"1"``."""
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
    task = experiment["task"]
    needs = discovery.tasks()[task].words.get("needs", ())
    for key in needs:
        if key not in experiment:
            raise InputError(f"{where} lacks the key {key!r}, which the task {task} needs")
    baselines = OF_REGRESSION if "target" in needs else OF_COMPONENTS
    names = [*baselines, *discovery.mechanisms()]
    try:
        _check_names(f"{where}.mechanisms", experiment["mechanisms"], names)
    except InputError as error:
        raise InputError(f"{error}, or of a package that must be installed first") from None
    key = "claims_at_every_epsilon"
    _check_names(f"{where}.{key}", experiment[key], discovery.mechanisms())
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
    entries = discovery.mechanisms()
    run = {name: entries[name] for name in experiment["mechanisms"] if name in entries}
    directed = [name for name, entry in run.items() if entry.directed]
    for name in directed if not experiment["directions"] else ():
        raise InputError(f"{where}.directions is empty and {name} needs one; name one or drop it")
    if "target" in experiment:
        choice(features, **{f"{where}.target": experiment["target"]})
    result = {f"table_epsilon, one of {where}.epsilons,": settings["table_epsilon"]}
    choice(experiment["epsilons"], **result)
    for entry in (entry for entry in run.values() if entry.parameter):
        if not (values := settings.get(entry.values)):
            raise InputError(
                f"{entry.values}, the values of a mechanism, is missing; name at least one"
            )
        if entry.untuned in settings:
            choice(values, **{entry.untuned: settings[entry.untuned]})


def _check_training(name: str, training: Mapping[str, Any]) -> None:
    """Check that all names of a training are valid, and its lots and batches small enough.

    Raises:
        InputError: a name is unknown, or a lot or batch is too large.
    """
    choice(discovery.trainings(), training=name)
    where = f"training.{name}"
    learning = {name: entry for name, entry in sets.entries().items() if "scalings" not in entry}
    choice([discovery.perturbation(name)], **{f"{where}.perturbation": training["perturbation"]})
    choice(learning, **{f"{where}.dataset": training["dataset"]})
    schemes = [*OF_TRAINING, *discovery.schemes(name)]
    _check_names(f"{where}.schemes", training["schemes"], schemes)
    total = learning[training["dataset"]]["shape"][0]
    for part, meaning, most in (
        ("lot", "the number of records", min(training["records"] or total, total)),
        ("batch", "the lot", training["lot"]),
    ):
        if (training.get(part) or 0) > most:
            raise InputError(
                f"{where}.{part} is {training[part]}; make it {most}, {meaning}, or less"
            )


def _check_names(where: str, names: Sequence[str], allowed: Iterable[str]) -> None:
    """Check that all names are among the allowed ones.

    Raises:
        InputError: a name is not; the message names the nearest allowed one.
    """
    for i, name in enumerate(names):
        choice(allowed, **{f"{where}[{i}]": name})


def check_data_sets(entries: Mapping[str, Any]) -> None:
    """Check the entries of workflow/datasets.yaml, without a look at data.

    Raises:
        InputError: see :func:`complete`; or what they say does not fit together, or to a reader.
    """
    file = f"workflow/{sets.FILE.name}"
    _check_schema(entries, SCHEMA_OF_DATA, file)
    readers = [path.stem for path in sets.READERS.glob("*.py") if _reads(path)]
    for name, entry in entries.items():
        where, (records, columns) = f"{file}: {name}", entry["shape"]
        if name not in readers:
            raise InputError(
                f"{where} has no reader, a file workflow/reproduction/data/{name}.py with a "
                f"function read; {nearest(name, readers)}"
            )
        if "scalings" in entry and "columns" not in entry:
            raise InputError(f"{where} lacks the key 'columns', the names of the features")
        if len(entry.get("columns", range(columns))) != columns:
            raise InputError(
                f"{where}.columns has {len(entry['columns'])} names where shape has {columns}"
            )
        for label, about in entry["files"].items():
            if Path(about.get("path", label)).name != label:
                raise InputError(
                    f"{where}.files.{label}.path is {about['path']!r}; it must end in {label}"
                )
        for label, scaling in entry.get("scalings", {}).items():
            if scaling.get("rows", 1) > records:
                raise InputError(
                    f"{where}.scalings.{label}.rows is {scaling['rows']} of {records} records"
                )
            for key in ("lower", "upper", "middle"):
                if (scaling["method"] == "bounds") != (key in scaling):
                    verb = "has" if key in scaling else "lacks"
                    raise InputError(
                        f"{where}.scalings.{label} {verb} the key {key!r}, which the method bounds "
                        "needs and no other has"
                    )
                if len(scaling.get(key, range(columns))) != columns:
                    raise InputError(
                        f"{where}.scalings.{label}.{key} has {len(scaling[key])} numbers where "
                        f"shape has {columns} columns"
                    )


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
    if entry := settings.get("datasets", {}).get(name):
        if not Path(entry["file"]).expanduser().is_file():
            where = f"config.yaml: datasets.{name}.file"
            raise InputError(f"{where} is {entry['file']!r}, where no file is; correct it")
        return
    for label, about in sets.entries()[name]["files"].items():
        where = f"workflow/{sets.FILE.name}: {name}.files.{label}"
        if "path" in about and not Path(about["path"]).expanduser().is_file():
            raise InputError(f"{where}.path is {about['path']!r}, where no file is; correct it")
        if not (about.keys() & {"path", "urls"} or (mirror and [*Path(mirror).rglob(label)])):
            what = f"{mirror}, the mirror, lacks it" if mirror else "no mirror is named"
            raise InputError(
                f"{where} has neither path nor urls, and {what}; add the path, or set DATA_MIRROR "
                "to a folder that has the file"
            )


@functools.cache
def _check_shipped() -> None:
    check_data_sets(sets.entries())


def _reads(file: Path) -> bool:
    """Return whether a module has a function ``read``."""
    return "\ndef read(" in file.read_text(encoding="utf-8")


def _validator(schema: Path) -> jsonschema.protocols.Validator:
    """Return a validator by the schema, which also puts in defaults."""
    import jsonschema

    draft = jsonschema.Draft7Validator

    def properties(
        validator: Any, parts: Mapping[str, Any], value: Any, schema: Any
    ) -> Iterator[jsonschema.ValidationError]:
        if isinstance(value, dict):
            for name in [name for name in parts if "default" in parts[name]]:
                value.setdefault(name, copy.deepcopy(parts[name]["default"]))
        yield from draft.VALIDATORS["properties"](validator, parts, value, schema)

    # To jsonschema, NaN is a number above any limit, and 2.0 an integer.
    types = draft.TYPE_CHECKER.redefine_many(
        {
            "number": lambda _, value: (
                type(value) is int or (type(value) is float and math.isfinite(value))
            ),
            "integer": lambda _, value: type(value) is int,
        }
    )
    kind = jsonschema.validators.extend(draft, {"properties": properties}, type_checker=types)
    return kind(files.read_yaml(schema))


def _sentence(error: jsonschema.ValidationError, file: str) -> str:
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.path).lstrip(".")
    prefix = f"{file}: {where}" if where else file
    schema = error.schema
    if error.validator == "additionalProperties":
        allowed = schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in allowed)
        if unknown in MOVED and file == "config.yaml":
            return f"{prefix} has the old key {unknown!r}; write {MOVED[unknown]} instead"
        return f"{prefix} has the unknown key {unknown!r}; {nearest(unknown, allowed)}"
    if error.validator == "enum":
        return f"{prefix} is {error.instance!r}; {nearest(error.instance, schema['enum'])}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        parts = schema.get("properties", {missing: schema.get("additionalProperties")})
        return f"{prefix} lacks the key {missing!r}: {parts[missing]['description']}"
    value = short(repr(error.instance))
    sentence = f"{prefix} is {value}; it must be {schema.get('description', error.message)}"
    numbers = error.validator == "type" and {"number", "integer"} & {*_types(schema)}
    if numbers and file == "config.yaml" and isinstance(error.instance, str):
        sentence += " (numbers within --config are text: put them into a file for --configfile)"
    return sentence


def _types(schema: Mapping[str, Any]) -> list[str]:
    return [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
