"""Wrong configurations: made from the schema at every setting, and by hand where it cannot tell."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from typing import Any

import yaml
from packages import ROOT

from reproduction import config, files
from reproduction.data import datasets as sets

SCHEMA = files.read_yaml(config.SCHEMA)
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
DATA_SCHEMA = files.read_yaml(config.SCHEMA_OF_DATA)
DATA = {"liver": files.read_yaml(sets.FILE)["liver"]}

#: What is of no use where a number is wanted.
NO_NUMBERS = [
    None,
    True,
    [],
    {},
    "",
    "x",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e9999999",
    "0x10",
    "1_0",
]
#: The same for texts, lists and mappings.
NO_TEXTS, NO_LISTS, NO_MAPPINGS = [None, True, 3, [], {}], [None, 3, "x", {}], [None, 3, "x", []]

Mutation = tuple[str, dict[str, Any]]


def from_schema() -> Iterator[Mutation]:
    """Yield what breaks the schema in one place, and where."""
    yield from _of(SHIPPED, SCHEMA, (), SHIPPED)


def of_data() -> Iterator[Mutation]:
    """Yield data sets of which one entry breaks the schema in one place, and where."""
    yield from _of(DATA, DATA_SCHEMA, (), DATA)


def _of(value: Any, schema: dict[str, Any], path: tuple, base: Any) -> Iterator[Mutation]:
    schema = _chosen(value, schema)
    types = schema.get("type", "string")
    types = [types] if isinstance(types, str) else types
    bad: list[Any] = []
    if {"integer", "number"} & set(types):
        bad += [one for one in NO_NUMBERS if not (one is None and "null" in types)]
        for key, step in (("minimum", -1), ("exclusiveMinimum", 0), ("maximum", 1)):
            if key in schema:
                beyond = schema[key] * 2 if key == "maximum" else schema[key] + step
                bad += [beyond, str(beyond)]
        bad += [0.5] if types[0] == "integer" else [-1e300, 1e-320, 1e300]
    elif "enum" in schema or types == ["string"]:
        bad += NO_TEXTS + (["nothing like it"] if "enum" in schema else [])
    elif types == ["array"]:
        first = list(value or ["x"])[:1]
        bad += NO_LISTS + ([[]] if "minItems" in schema else []) + [[["nested"]], [None]]
        bad += [first * 2] if schema.get("uniqueItems") else []
    elif types == ["object"]:
        bad += NO_MAPPINGS + [{**(value or {}), "surely unknown": 1}, {**(value or {}), 7: 1}]
    for number, one in enumerate(bad):
        yield f"{'.'.join(map(str, path)) or 'all'} #{number}", _with(path, one, base)
    if isinstance(value, dict):
        for key, sub in schema.get("properties", {}).items():
            known = value.get(key, sub.get("default"))
            yield from _of(known, sub, (*path, key), base)
        more = schema.get("additionalProperties")
        # One of each suffices.
        for key in list(value)[:1] if isinstance(more, dict) else ():
            yield from _of(value[key], more, (*path, key), base)
    elif types == ["array"] and value:
        for number, one in enumerate(_of(value[0], schema.get("items", {}), (*path, 0), base)):
            if number < 6:
                yield one


def _chosen(value: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the schema that ``if`` and ``$ref`` choose for a value."""
    if "if" in schema:
        kind = value.get("perturbation") if isinstance(value, dict) else None
        schema = schema["then" if kind == "features" else "else"]
    if "$ref" in schema:
        steps = schema["$ref"].removeprefix("#/").split("/")
        schema = functools.reduce(lambda part, step: part[step], steps, SCHEMA)
    return schema


def _with(path: tuple, value: Any, base: Any) -> dict[str, Any]:
    """Return what is shipped with another value in one place."""
    if not path:
        return value
    changed = copy.deepcopy(base)
    place: Any = changed
    for key in path[:-1]:
        if isinstance(place, dict) and key not in place:
            place[key] = {}
        place = place[key]
    if path[-1] == 0 and isinstance(place, list):
        place[0] = value
    else:
        place[path[-1]] = value
    return changed


def _experiment(name: str, **changes: Any) -> dict[str, Any]:
    changed = copy.deepcopy(SHIPPED)
    changed["experiments"][name].update(changes)
    return changed


def _defaults(**changes: Any) -> dict[str, Any]:
    return {**SHIPPED, "experiment_defaults": changes}


def _training(**changes: Any) -> dict[str, Any]:
    changed = copy.deepcopy(SHIPPED)
    changed["training"]["adult"].update(changes)
    return changed


ALL = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
LONG = "a" * 300
PLAIN = {"task": "covariance", "dataset": "liver", "mechanisms": ["laplace"]}

#: Each by its own sentence.
BY_HAND: dict[str, tuple[dict[str, Any], str]] = {
    "a billion trials": (_defaults(trials=10**9), "trials is 1000000000; .* take days"),
    "1e23 trials": (_defaults(trials=1e23), r"trials is 1e\+23; .* at most 100,000"),
    "400 digits": (_defaults(trials=10**400), r"trials is 10+\.\.\.0+; it must be"),
    "a huge seed": ({**SHIPPED, "seed": 10**400}, "seed is 10+.*below 2"),
    "1e5 sketches": (
        {**SHIPPED, "sketch_multiples": [100000]},
        "is 100000; .*memory of a job",
    ),
    "1e12 sketches": (
        {**SHIPPED, "sketch_multiples": [1e12]},
        r"sketch_multiples\[0\] is 1000000000000.0; ",
    ),
    "many epsilons": (_defaults(epsilons=list(range(1, 200))), "at most 100 claimed"),
    "epsilon 1e400": (_defaults(epsilons=[1, "1e400"]), r"epsilons\[1\] is '1e400'"),
    "epsilon 1e-400": (_defaults(epsilons=[1, 1e-400]), r"epsilons\[1\] is 0.0; "),
    "tau of many nines": (
        {**SHIPPED, "taus": [float("." + "9" * 25)]},
        r"taus\[0\] is 1.0; ",
    ),
    "delta's line end": ({**SHIPPED, "delta": "1/n\n"}, r"delta is '1/n\\n'; "),
    "tables elsewhere": (
        {**SHIPPED, "table_epsilon": 2},
        "table_epsilon, one of experiments.regression.epsilons, is '2'; it must",
    ),
    "another share": ({**SHIPPED, "tau_untuned": 0.6}, r"tau_untuned is '0\.6'; "),
    "training on all": (_experiment("regression", train=345), "train is 345 of 345 records"),
    "training on more": (_experiment("regression", train=10**9), "train is 10+ of 345"),
    "training on one": (_experiment("regression", train=1), "train is 1; .* at least 2"),
    "all features": (_experiment("regression", directions={"a": ALL}), "has every feature"),
    "no direction": (_experiment("regression", directions={}), "directions is empty and mvg"),
    "a line end": (_experiment("regression", directions={"a\n": ["sgpt"]}), r"is 'a\\n'; "),
    "a long direction": (_experiment("regression", directions={LONG: ["sgpt"]}), "at most 50"),
    "zero without target": (
        _experiment("first_pc", mechanisms=["zero"]),
        r"first_pc.mechanisms\[0\] is 'zero'; ",
    ),
    "a direction unknown": (_experiment("regression", directions={"a": ["sgtp"]}), "'sgpt'"),
    "a feature left out": (
        _experiment("section10_2", directions={"a": ["mcv"]}),
        r"directions\.a\[0\] is 'mcv'; it must be one of sgpt, drinks",
    ),
    "a long name": ({**SHIPPED, "experiments": {LONG: PLAIN}}, "at most 50"),
    "a name's line end": ({**SHIPPED, "experiments": {"a\n": PLAIN}}, r"'a\\n'"),
    "a name with a path": ({**SHIPPED, "experiments": {"../a": PLAIN}}, "is '../a'"),
    "twice adult": ({**SHIPPED, "experiments": {"adult": PLAIN}}, "both have 'adult'"),
    "clip 1e-320": (_training(clip=1e-320), r"clip is 1e-320; it must be a number above 0, from"),
    "clip 1e300": (_training(clip=1e300), r"clip is 1e\+300; it must be"),
    "a lot of all": (_training(lot=10**6), "lot is 1000000; make it 48842, the number of rec"),
    "a lot of some": (
        _training(lot=512, records=100),
        "lot is 512; make it 100, the number",
    ),
    "a batch too large": (_training(batch=1024), "batch is 1024; make it 512, the lot, or less"),
    "epochs without end": (_training(epochs=10**9), "epochs is 1000000000; .* take days"),
    "no known reading": ({**SHIPPED, "reading": "zeta=litral"}, "did you mean 'literal'"),
}


def _liver(**changes: Any) -> dict[str, Any]:
    """Return the data sets with other keys of the first one; None takes one away."""
    entry = {**DATA["liver"], **changes}
    return {"liver": {key: value for key, value in entry.items() if value is not None}}


def _file(**changes: Any) -> dict[str, Any]:
    ((name, about),) = DATA["liver"]["files"].items()
    about = {key: value for key, value in {**about, **changes}.items() if value is not None}
    return _liver(files={name: about})


def _scaling(**scaling: Any) -> dict[str, Any]:
    return _liver(scalings={"default": scaling})


#: Entries of data sets, each with its sentence.
DATA_BY_HAND: dict[str, tuple[Any, str]] = {
    "no mapping": ([], r"is \[\]; it must be a mapping of data sets"),
    "no title": (_liver(title=None), "liver lacks the key 'title': what readers call"),
    "no files": (_liver(files=None), "liver lacks the key 'files': a mapping from"),
    "no shape": (_liver(shape=None), r"liver lacks the key 'shape': \[records, columns\]"),
    "no columns": (_liver(columns=None), "liver lacks the key 'columns', the names"),
    "a key misspelt": (_liver(colums=["a"]), "unknown key 'colums'; did you mean 'columns'"),
    "an old key of config.yaml": (
        _liver(rows=3),
        "has the unknown key 'rows'",
    ),
    "no checksum": (_file(sha256=None), "bupa.data lacks the key 'sha256': a SHA-256 of 64"),
    "a short checksum": (_file(sha256="ab"), "sha256 is 'ab'; it must be a SHA-256 of 64 digits"),
    "a long checksum": (_file(sha256="a" * 65), "sha256 is 'a+'; it must be a SHA-256 of 64"),
    "capitals": (_file(sha256="A" * 64), "sha256 is 'A+'; it must be a SHA-256 of 64 digits"),
    "a short checksum of records": (_liver(sha256="ab"), "liver.sha256 is 'ab'; it must be"),
    "no address": (_file(urls=["bupa.data"]), r"urls\[0\] is 'bupa.data'; it must be an address"),
    "another file": (
        _file(path="there/liver.csv"),
        "path is 'there/liver.csv'; it must end in",
    ),
    "three lengths": (_liver(shape=[345, 6, 1]), r"shape is \[345, 6, 1\]; it must be \[records"),
    "more columns": (_liver(shape=[345, 7]), "columns has 6 names where shape has 7"),
    "more rows": (_scaling(method="min_max", rows=999), "default.rows is 999 of 345 records"),
    "no such method": (_scaling(method="minmax"), "method is 'minmax'; did you mean 'min_max'"),
    "no method": (_scaling(rows=9), "scalings.default lacks the key 'method': a function of"),
    "no default": (_liver(scalings={"mine": {"method": "clip"}}), "lacks the key 'default'"),
    "no bounds": (_scaling(method="bounds"), "default lacks the key 'lower', which the method"),
    "bounds of another": (_scaling(method="clip", upper=[1] * 6), "default has the key 'upper', "),
    "few bounds": (
        _scaling(method="bounds", lower=[0], upper=[1] * 6, middle=[0] * 6),
        "default.lower has 1 numbers where shape has 6 columns",
    ),
    "a misspelt reader": ({"livr": DATA["liver"]}, "livr has no reader, .* did you mean 'liver'"),
    "no reader": (
        {"zzz": DATA["liver"]},
        "zzz has no reader, a file workflow/repr.*/zzz.py",
    ),
    "no reader in the file": ({"store": DATA["liver"]}, "store has no reader, .* function read"),
    "a name with a path": ({"../a": DATA["liver"]}, r"'\.\./a'; it must be made of small"),
}
