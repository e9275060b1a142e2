"""Wrong configurations: made from the schema at every setting, and by hand where it cannot tell."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from matrixdp import config

ROOT = Path(__file__).parents[2]
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))

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
    yield from _of(SHIPPED, config._schema(config._datasets()), ())


def _of(value: Any, schema: dict[str, Any], path: tuple) -> Iterator[Mutation]:
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
        yield f"{'.'.join(map(str, path)) or 'all'} #{number}", _with(path, one)
    if isinstance(value, dict):
        for key, sub in schema.get("properties", {}).items():
            known = value.get(key, sub.get("default"))
            yield from _of(known, sub, (*path, key))
        more = schema.get("additionalProperties")
        # One of each suffices.
        for key in list(value)[:1] if isinstance(more, dict) else ():
            yield from _of(value[key], more, (*path, key))
    elif types == ["array"] and value:
        for number, one in enumerate(_of(value[0], schema.get("items", {}), (*path, 0))):
            if number < 6:
                yield one


def _with(path: tuple, value: Any) -> dict[str, Any]:
    """Return the shipped configuration with another value in one place."""
    if not path:
        return value
    changed = copy.deepcopy(SHIPPED)
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


def _training(**changes: Any) -> dict[str, Any]:
    changed = copy.deepcopy(SHIPPED)
    changed["training"]["adult"].update(changes)
    return changed


ALL = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
LONG = "a" * 300
PLAIN = {"task": "covariance", "dataset": "liver", "mechanisms": ["laplace"]}

#: Each by its own sentence.
BY_HAND: dict[str, tuple[dict[str, Any], str]] = {
    "a billion trials": ({**SHIPPED, "trials": 10**9}, "trials is 1000000000; .* take days"),
    "1e23 trials": ({**SHIPPED, "trials": 1e23}, "trials is 9+1611392; .* at most 100,000"),
    "400 digits": ({**SHIPPED, "trials": 10**400}, r"trials is 10+\.\.\.0+; it must be"),
    "a huge seed": ({**SHIPPED, "seed": 10**400}, "seed is 10+.*below 2"),
    "1e5 sketches": ({**SHIPPED, "rows": [1e5]}, r"rows\[0\] is 100000; .*memory of a job"),
    "1e12 sketches": ({**SHIPPED, "rows": [1e12]}, r"rows\[0\] is 1000000000000; "),
    "many epsilons": ({**SHIPPED, "epsilons": list(range(1, 200))}, "at most 100 nominal"),
    "epsilon 1e400": ({**SHIPPED, "epsilons": [1, "1e400"]}, r"epsilons\[1\] is '1e400'"),
    "epsilon 1e-400": ({**SHIPPED, "epsilons": [1, "1e-400"]}, r"epsilons\[1\] is 0; "),
    "tau of many nines": ({**SHIPPED, "taus": ["." + "9" * 25]}, r"taus\[0\] is 1; "),
    "delta's line end": ({**SHIPPED, "delta": "1/n\n"}, r"delta is '1/n\\n'; "),
    "tables elsewhere": ({**SHIPPED, "table_epsilon": 2}, "table_epsilon is 2, which epsilons"),
    "another share": ({**SHIPPED, "public_tau": 0.6}, r"public_tau is 0\.6, which taus"),
    "training on all": (_experiment("regression", train=345), "train is 345 of 345 records"),
    "training on more": (_experiment("regression", train=10**9), "train is 10+ of 345"),
    "training on one": (_experiment("regression", train=1), "train is 1; .* at least 2"),
    "all features": (_experiment("regression", directions={"a": ALL}), "has every feature"),
    "no direction": (_experiment("regression", directions={}), "directions is empty and mvg"),
    "a line end": (_experiment("regression", directions={"a\n": ["sgpt"]}), r"is 'a\\n'; "),
    "a long direction": (_experiment("regression", directions={LONG: ["sgpt"]}), "at most 50"),
    "zero without target": (
        _experiment("first_pc", mechanisms=["zero"]),
        "first_pc.mechanisms has zero, no baseline of first_pc",
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
    "clip 1e300": (_training(clip=1e300), "clip is 1000.*; it must be"),
    "a lot of all": (_training(lot=10**6), "lot is 1000000; make it 48842, the number of rec"),
    "a lot of some": (
        _training(lot=512, records=100),
        "lot is 512; make it 100, the number",
    ),
    "a batch too large": (_training(batch=1024), "batch is 1024; make it 512, the lot, or less"),
    "epochs without end": (_training(epochs=10**9), "epochs is 1000000000; .* take days"),
    "no known reading": ({**SHIPPED, "reading": "zeta=litral"}, "did you mean 'literal'"),
}

#: Files, not only what they mean: a part of the sentence, and by name the bytes that it is said of.
_FILES: dict[str, dict[str, bytes]] = {
    "not valid YAML": {
        "a zero byte": b"trials: 3\x00\n",
        "an open list": b"epsilons: [1, 2\n",
        "an open quote": b"reading: 'default\n",
        "two documents": b"trials: 3\n---\ntrials: 4\n",
        "too many digits": b"trials: " + b"1" * 5000 + b"\n",
        "JSON that ends early": b'{"trials": 3',
    },
    "byte 15 is not UTF-8": {"latin-1": b"trials: 3 # caf\xe9\n"},
    "is not UTF-8": {"utf-16": "trials: 3\n".encode("utf-16")},
    "line 2": {"a tab": b"data:\n\tsource: auto\n"},
    "line 3": {"a bad indent": b"data:\n    source: auto\n  mirror: x\n"},
    r"is \['trials'\]; it must be a mapping": {"a list": b"- trials\n"},
    "is 'trials'; it must be a mapping": {"a word": b"trials\n"},
    "is None; it must be a mapping": {"nothing": b""},
    "line 3: the key trials stands there twice": {
        "a key twice": b"trials: 3\nseed: 1\ntrials: 4\n"
    },
    "the key source stands": {"a key twice below": b"data: {source: auto, source: original}\n"},
    "could not determine a constructor": {
        "an unknown tag": b"trials: !three 3\n",
        "a call": b"trials: !!python/object/apply:os.system [exit]\n",
    },
    "undefined alias": {"an unknown anchor": b"trials: *three\n"},
    "refers to itself": {
        "itself": b"data: &a {source: *a}\n",
        "itself in a list": b"epsilons: &a [*a]\n",
        "itself at the top": b"&a\nexperiments: *a\n",
    },
    "refers to itself, or holds too much": {
        "laughs": b"a: &a [1,1,1,1,1,1,1,1,1]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in b"bcdefghi"
        ),
    },
    "1:30 stands for 90; write it in decimal": {"base 60": b"epsilons: [1:30]\n"},
    r"1:30\.5 stands for 90\.5": {"base 60 in a fraction": b"epsilons: [1:30.5]\n"},
    "line 1: 010 stands for 8; write it in decimal": {"base 8": b"trials: 010\n"},
    "0x10 stands for 16": {"base 16": b"trials: 0x10\n"},
    "0b11 stands for 3": {"base 2": b"trials: 0b11\n"},
    "1_0 stands for 10": {"an underscore": b"trials: 1_0\n"},
    "recursion": {"deep": b"a: " + b"[" * 5000 + b"]" * 5000 + b"\n"},
    "trials is datetime.date": {"a date": b"trials: 2018-01-01\n"},
    "epsilons is {1, 2}": {"a set": b"epsilons: !!set {1, 2}\n"},
    "reading is b'hello'": {"bytes": b"reading: !!binary aGVsbG8=\n"},
}
FILES = {name: (text, said) for said, files in _FILES.items() for name, text in files.items()}

#: Words after snakemake, and a part of the sentence.
ARGUMENTS: dict[str, tuple[list[str], str]] = {
    "no value": (["--config", "trials"], "--config trials is not NAME=VALUE; quote lists"),
    "an unquoted list": (["--config", "epsilons=[1,", "2]"], r"--config 2\] is not NAME=VALUE"),
    "a path": (["--config", "data.source=original"], "data.source=original is not NAME=VALUE"),
    "a number": (["--config", "3=4"], "3=4 is not NAME=VALUE"),
    "an open list": (["--config", "trials=[1"], r"trials is '\[1'; it must be a whole number"),
    "an open list of epsilons": (["--config", "epsilons=[1"], r"epsilons is '\[1'; it must be"),
    "nothing": (["--config", "trials="], "trials is"),
    "1e9999999": (["--config", "trials=1e9999999"], "trials is '1e9999999'"),
    "an unknown key": (["-C", "trails=3"], "unknown key 'trails'; did you mean 'trials'"),
    "base 60": (["--config", "epsilons=[1:30]"], r"epsilons\[0\] is '1:30'"),
    "a missing file": (["--configfile", "missing.yaml"], "missing.yaml is not there"),
    "a folder": (["--configfile", "."], ". is not there, or no file"),
    "a device": (["--configfile", "/dev/zero"], "/dev/zero is not there, or no file"),
    "a missing second file": (["--configfiles", "config.yaml", "no.yaml"], "no.yaml is not there"),
}
