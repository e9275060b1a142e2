"""How often the intervals of a release cover the answer without noise.

``make test-all`` runs this file. It writes benchmarks/coverage.csv and the counts in
docs/coverage.md, and fails if an interval is refuted.

A cell is a data set, a query, a mechanism and an epsilon. Each of its releases is drawn as a real
one, and counts as covered if all of its intervals hold. The exact answer is that of the records
within their public bounds. A cell is refuted if a binomial test finds a coverage below 95 % at a
level of 1 %, divided by the number of cells (Bonferroni).
"""

from __future__ import annotations

import csv
import itertools
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.release import Release
from matrixdp.release import choices
from matrixdp.release.outputs import Output
from matrixdp.release.outputs.noisy import Noisy, reader
from matrixdp.release.parser import from_table
from matrixdp.release.uncertainty import KEY, LEVEL
from matrixdp.release.words import by_name, table

ROOT = Path(__file__).resolve().parents[1]
#: Shares of values that are missing where the mean of those present is asked for.
ABSENT = 0.15
TABLE, PAGE = ROOT / "benchmarks/coverage.csv", ROOT / "docs/coverage.md"
#: Releases of a cell, and the level of the test of all cells together.
RELEASES, TEST_LEVEL = 2000, 0.01
#: Probability with which a shortfall is found.
POWER = 0.99
EPSILONS = (1.0, 3.0)
#: Name of the widths of intervals about the answer in files, and of these intervals here.
WIDTHS, ANSWER = f"{KEY}_plus_or_minus", "answer"
DELTA = 1e-6
#: Mechanisms by query. Each is a value of the key ``mechanism``.
MOMENTS = ("laplace", "gaussian", "analyze_gauss", "clipped")
PRESENT = "mean of the values present"
MECHANISMS = {
    "mean": ("laplace", "gaussian"),
    PRESENT: ("laplace", "gaussian"),
    "records": ("laplace", "gaussian"),
    "second_moments": MOMENTS,
    "covariance": MOMENTS,
    "components": MOMENTS,
}
Bounds = Mapping[str, tuple[float, float]]


def data_sets() -> Iterator[tuple[str, np.ndarray, Bounds]]:
    """Yield names, records (n, m) and public bounds."""
    from sklearn import datasets

    bodies = {"age": (18.0, 90.0), "bmi": (15.0, 45.0), "bp": (60.0, 140.0)}
    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    yield "diabetes", frame[[*bodies]].to_numpy(), bodies
    wines = {"alcohol": (10.0, 16.0), "hue": (0.0, 2.0), "malic_acid": (0.0, 6.0)}
    wines |= {"color_intensity": (0.0, 15.0), "proline": (0.0, 2000.0)}
    yield "wine", datasets.load_wine(as_frame=True).frame[[*wines]].to_numpy(), wines
    cells = {"mean radius": (5.0, 30.0), "mean texture": (5.0, 45.0), "mean area": (0.0, 3000.0)}
    cells |= {"mean smoothness": (0.0, 0.2)}
    frame = datasets.load_breast_cancer(as_frame=True).frame
    yield "breast cancer", frame[[*cells]].to_numpy(), cells
    stream = np.random.default_rng(1)
    # Most values fill a few percent of their bounds, and a few reach beyond them.
    skew = np.exp(stream.standard_normal((2000, 3)) @ [[1.0, 0.5, 0.5], [0, 1, 0.5], [0, 0, 1]])
    yield "skewed", skew, dict.fromkeys("abc", (0.0, 50.0))
    # Means near a corner of the bounds.
    corner = 1 - 0.05 * stream.exponential(size=(1000, 1)) * stream.uniform(0.5, 1.5, (1000, 3))
    yield "corner", corner, dict.fromkeys("abc", (-1.0, 1.0))


class Cell(NamedTuple):
    """A row of the table: what is released of which data set, and how."""

    data: str
    query: str
    mechanism: str
    epsilon: float


def cells() -> list[Cell]:
    """Return all cells."""
    names = [name for name, _, _ in data_sets()]
    pairs = [(query, name) for query, listed in MECHANISMS.items() for name in listed]
    return [Cell(data, *pair, epsilon) for data in names for pair in pairs for epsilon in EPSILONS]


def releases(cell: Cell) -> Iterator[tuple[Any, Any]]:
    """Yield what releases of a cell state, each as its intervals, or None, and the exact answer."""
    _, records, bounds = next(entry for entry in data_sets() if entry[0] == cell.data)
    if cell.query == PRESENT:
        absent = np.random.default_rng(2).random(records.shape) < ABSENT
        records = np.where(absent, np.nan, records)
    spec = specification(cell, bounds, len(records))
    (option, *_) = choices.by_noise(spec)
    output, release = spec, option.release
    exact = exact_answer(output, records)
    draw = release.prepare(lambda: [output.scaled(records)])
    read = reader(output, release)
    while True:
        yield intervals(output, release, read(draw())), exact


def specification(cell: Cell, bounds: Bounds, records: int) -> Output:
    """Return the specification of a release of a cell, of a number of records."""
    present = cell.query == PRESENT
    table = {
        "file": "records.npy",
        "query": "mean" if present else cell.query,
        "mechanism": cell.mechanism,
        "epsilon": cell.epsilon,
        "delta": 0.0 if cell.mechanism == "laplace" else DELTA,
        "records": records,
        "missing": "present" if present else "refuse",
        "bounds": {name: [*sides] for name, sides in bounds.items()},
    }
    return from_table(Path("release.toml"), table)


def exact_answer(output: Output, records: Array) -> dict[str, Any]:
    """Return what the intervals of a release are about, from the records within their bounds."""
    rows = np.clip(records, output.box.lower, output.box.upper)
    mean = by_name(output.columns, np.nanmean(rows, axis=0))
    if output.leaves_missing_out:
        return {"mean": mean}
    covariance, half = np.cov(rows.T, bias=True), output.box.widths / 2
    answers = {
        "records": rows,
        "mean": rows.mean(axis=0),
        "second_moments": rows.T @ rows / len(rows),
    }
    return {
        "mean": mean,
        "covariance": table(output.columns, covariance),
        "eigenvalue": np.linalg.eigvalsh(covariance / np.outer(half, half))[::-1],
        ANSWER: answers.get(output.name),
    }


def intervals(output: Output, release: Release, noisy: Noisy) -> Any:
    """Return the ends (..., 2) of the intervals that the files of a release state, or None."""
    content = output.described(noisy)
    if isinstance(release, AdditiveMechanism):
        # These do not depend on the answer: its receipt has them.
        content |= output.widths(release) if output.has_intervals else {}
    if WIDTHS not in content:
        return content.get(KEY)
    answer, widths = output.answer(noisy), array(content[WIDTHS])
    return {ANSWER: np.stack([answer - widths, answer + widths], axis=-1)}


def array(numbers: Any) -> Array:
    """Return numbers by column as an array."""
    if isinstance(numbers, Mapping):
        return np.array([array(part) for part in numbers.values()])
    return np.asarray(numbers)


def covers(limits: Any, exact: Any) -> bool:
    """Return whether all intervals hold; parts have the same names as in the exact answer."""
    if isinstance(limits, Mapping):
        return all(covers(part, exact[name]) for name, part in limits.items())
    low, high = np.moveaxis(array(limits), -1, 0)
    rounding = 1e-9 * (np.abs(exact) + high - low)
    return bool(np.all((low - rounding <= exact) & (exact <= high + rounding)))


def count(cell: Cell) -> dict[str, Any]:
    """Return a row: how many releases of a cell state intervals, and how many of these miss."""
    having = misses = 0
    for limits, exact in itertools.islice(releases(cell), RELEASES):
        if limits is not None:
            having += 1
            misses += not covers(limits, exact)
    return {**cell._asdict(), "releases": RELEASES, "stated": having, "misses": misses}


def refuted(row: Mapping[str, Any], number: int) -> bool:
    """Return whether a cell among a number of cells covers less than ``LEVEL``.

    A release without an interval misses nothing.
    """
    chance = binom.sf(int(row["misses"]) - 1, int(row["releases"]), 1 - LEVEL)
    return bool(chance < TEST_LEVEL / number)


def shortfall(number: int) -> float:
    """Return the largest coverage that each cell's test refutes with probability ``POWER``."""
    limit = binom.isf(TEST_LEVEL / number, RELEASES, 1 - LEVEL) + 1
    miss = brentq(lambda p: binom.sf(limit - 1, RELEASES, p) - POWER, 1 - LEVEL, 0.5)
    return 1 - float(miss)


def page(text: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return docs/coverage.md with the counts in their place."""
    having = [row for row in rows if int(row["stated"])]
    least = min(1 - int(row["misses"]) / int(row["releases"]) for row in having)
    numbers = (
        f"{len(rows)} cells, {len(having)} with an interval, of which the least covers "
        f"{least:.2%}; {sum(refuted(row, len(rows)) for row in rows)} refuted. With a probability "
        f"of {POWER:.0%} the test refutes a cell that covers {shortfall(len(rows)):.2%} or less.\n"
    )
    start, end = "<!-- numbers -->\n", "<!-- end of numbers -->\n"
    before, _, rest = text.partition(start)
    return f"{before}{start}\n{numbers}\n{end}{rest.partition(end)[2]}"


def main() -> int:
    """Count all cells, write the table, and return 1 if an interval is refuted."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with multiprocessing.get_context("spawn").Pool() as pool:
        rows = []
        for row in pool.imap(count, cells()):
            rows.append(row)
            print(row, flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return int(any(refuted(row, len(rows)) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
