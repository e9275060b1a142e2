"""Releases as people make them: a file of records, its specification, the command, the answer.

A specification is stated by its keys, each the smallest difference from one that is valid.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import matrixdp as mdp
from matrixdp import cli
from matrixdp.auditing import evidence
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.release import choices, parser, storage
from matrixdp.release.comparison import Option
from matrixdp.release.outputs import OUTPUTS, Output

#: 400 records of ages and incomes, some of them beyond their bounds.
ROWS = np.column_stack([np.linspace(0, 130, 400), np.linspace(3e5, 0, 400)])
#: A request that is valid; its total is what it spends.
VALID: dict[str, Any] = {
    "file": "people.csv",
    "query": "mean",
    "records": 400,
    "epsilon": 2.0,
    "delta": 1e-6,
    "missing": "refuse",
    "bounds": {"age": [0, 120], "income": [0, 200_000]},
}
#: Half ranges of its columns, which are also the middles.
HALF = np.array([60.0, 100_000.0])
#: A total with room for several requests, and a mechanism whose draws are of moments.
TOTAL = {"total": {"epsilon": 9.0, "delta": 1e-5}, "mechanism": "analyze_gauss"}


def save(path: Path, rows: Any = ROWS, names: Sequence[str] = ("age", "income")) -> None:
    """Write records (n, m) to a CSV file."""
    np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="")


def toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        items = (f"{json.dumps(str(key))} = {toml(item)}" for key, item in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value).replace("Infinity", "inf").replace("NaN", "nan")


def text(releases: Sequence[dict[str, Any]] = (), **keys: Any) -> str:
    """Return a specification of ``VALID`` with some keys changed; those that are None are left out.

    Its total is what it spends, if no other one is stated.
    """
    keys = {**VALID, **keys}
    if "total" not in keys:
        keys["total"] = {name: keys[name] for name in ("epsilon", "delta")}
    if releases:
        keys |= dict.fromkeys(("query", "epsilon", "delta"))
    lines = [f"{key} = {toml(value)}" for key, value in keys.items() if value is not None]
    for release in releases:
        lines += ["[[release]]", *(f"{key} = {toml(value)}" for key, value in release.items())]
    return "\n".join([*lines, ""])


def write(folder: Path, **keys: Any) -> Path:
    """Write a specification; return its path."""
    path = folder / "spec.toml"
    path.write_text(text(**keys), encoding="utf-8")
    return path


def spec(folder: Path, **keys: Any) -> Output:
    """Return a specification as the library reads it."""
    return parser.read(write(folder, **keys))


def fit(
    query: str, box: mdp.Box, records: int, *, epsilon: float, delta: float, **keys: Any
) -> Output:
    """Return the specification of records in memory, whose columns have numbers."""
    columns = tuple(map(str, range(box.features)))
    budget = {"epsilon": epsilon, "delta": delta}
    sizes = {"columns": columns, "box": box, "records": records}
    return OUTPUTS[query](**sizes, fill=box.middle, **budget, **keys)


def options(spec: Output) -> list[Option]:
    """Return the mechanisms that can answer a specification, the one that is taken first."""
    return choices.ordered(choices.simulated(spec, choices.candidates(spec)))


def run(
    folder: Path, out: str = "out", verb: str = "release", insist: bool = False, **keys: Any
) -> int:
    """Carry out a verb on a specification; return its exit status.

    Args:
        insist: release what is useless too.
    """
    words = [verb, str(write(folder, **keys))]
    if verb == "release":
        words += ["--out", str(folder / out), *["--even-if-useless"] * insist]
    return cli.main(words)


def charges(folder: Path, file: str = "people.csv") -> list[dict[str, Any]]:
    """Return the charges of the account of a file; none where there is no account."""
    account = folder / f"{file}.privacy.json"
    return json.loads(account.read_text())["releases"] if account.exists() else []


def leaves(content: Any, path: str = "") -> dict[str, Any]:
    """Return the numbers and texts of a nested content by their paths, as ``approx`` takes them."""
    if not isinstance(content, dict | list | tuple):
        return {path: content}
    items = content.items() if isinstance(content, dict) else enumerate(content)
    return {k: v for key, item in items for k, v in leaves(item, f"{path}/{key}").items()}


class Answer(NamedTuple):
    """What a release wrote.

    Attributes:
        header, rows: the cells of its table, as texts.
        numbers: those cells that are numbers (rows, columns).
        receipt, details: the contents of these files; no details are none.
        page: the receipt in words.
    """

    header: list[str]
    rows: list[list[str]]
    numbers: np.ndarray
    receipt: dict[str, Any]
    details: dict[str, Any]
    page: str


def read(folder: Path, query: str = "mean", out: str = "out") -> Answer:
    """Return what a release wrote."""
    place = folder / out
    header, *rows = [line.split(",") for line in (place / f"{query}.csv").read_text().splitlines()]
    labels = header[0] == ""
    numbers = [[float(cell or "nan") for cell in row[labels:]] for row in rows]
    file = place / f"{query}.details.json"
    return Answer(
        header,
        rows,
        np.array(numbers),
        json.loads((place / f"{query}.receipt.json").read_text()),
        json.loads(file.read_text()) if file.exists() else {},
        (place / f"{query}.receipt.md").read_text(encoding="utf-8"),
    )


# --- What an account keeps ---------------------------------------------------------------------


def stored(folder: Path) -> list[storage.Stored]:
    """Return what the account keeps of its charges, the first one first."""
    names = [charge["answer"] for charge in charges(folder)]
    return [storage.content(folder / name) for name in names]


def moments(draw: dict[str, Any], weighted: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the noisy mean and covariance of a draw in half ranges, columns as stated."""
    if "moments" in draw:
        return np.array(draw["centre"]), np.array(draw["moments"]) / draw["weight"]
    value = np.array(draw["value"])
    value /= value[CONSTANT, CONSTANT] if weighted else 1.0
    columns = np.delete(np.arange(len(value)), CONSTANT)
    mean = value[CONSTANT, columns]
    return mean, value[np.ix_(columns, columns)] - np.outer(mean, mean)


# --- A release as a black box ------------------------------------------------------------------


class Proof(NamedTuple):
    """Whether pairs of releases refute a claim, and the epsilon that they prove at least."""

    refuted: bool
    epsilon: float


def prove(
    release: Callable[[int, bool], float], pairs: int, above: float, delta: float, claimed: float
) -> Proof:
    """Return what pairs of releases of two neighbours prove, by an event fixed in advance.

    Both neighbours get the same random bits, pair by pair. The level is that of one test.

    Args:
        release: returns the published number of a pair's first (True) or second neighbour.
        above: the event is a number above this one.
        delta, claimed: the claim.
    """
    numbers = [[release(pair, first) for first in (True, False)] for pair in range(pairs)]
    one, other = np.transpose(numbers) > above
    both = (one & other).sum()
    counts = evidence.Counts(both, one.sum() - both, other.sum() - both, pairs)
    (wealth,) = evidence.log_wealth(counts, evidence.bets([np.exp(claimed)], delta))
    refuted = bool(wealth >= -np.log(1 - evidence.SUSPECTED))
    return Proof(refuted, float(evidence.epsilon(counts, delta)))
