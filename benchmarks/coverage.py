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
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.release import choices, compositions
from matrixdp.release.comparison import Option
from matrixdp.release.parser import read
from matrixdp.release.specification import Specification
from matrixdp.release.uncertainty import KEY, LEVEL

ROOT = Path(__file__).resolve().parents[1]
#: Shares of values that are missing where the mean of those present is asked for.
ABSENT = 0.15
TABLE, PAGE = ROOT / "benchmarks/coverage.csv", ROOT / "docs/coverage.md"
#: Releases of a cell, and the level of the test of all cells together.
RELEASES, TEST_LEVEL = 2000, 0.01
#: Probability with which a shortfall is found.
POWER = 0.99
EPSILONS = (1.0, 3.0)
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


def specification(
    folder: Path, records: np.ndarray, bounds: Bounds, query: str, mechanism: str, epsilon: float
) -> Specification:
    """Return the specification of a release of records in a file of this folder."""
    np.save(folder / "records.npy", records)
    columns = [str(number) for number in range(len(bounds))]
    delta = 0.0 if mechanism == "laplace" else DELTA
    lines = [
        f'file = "records.npy"\nquery = "{"mean" if query == PRESENT else query}"',
        f'mechanism = "{mechanism}"\nepsilon = {epsilon}\ndelta = {delta}',
        f'records = {len(records)}\nmissing = "{"present" if query == PRESENT else "refuse"}"',
        "[bounds]",
        *(f"{name} = {[*pair]}" for name, pair in zip(columns, bounds.values(), strict=True)),
    ]
    path = folder / "release.toml"
    path.write_text("\n".join(lines))
    return read(path)


def exact_answer(spec: Specification, records: np.ndarray) -> Any:
    """Return what the intervals of a release are about, from the records within their bounds.

    The nesting is that of the files of a release.
    """
    names = spec.columns
    rows = np.clip(records, spec.box.lower, spec.box.upper)
    if spec.query_name == "records":
        return [by_name(names, row) for row in rows]
    mean, covariance = np.nanmean(rows, axis=0), np.cov(rows.T, bias=True)
    if spec.query_name == "mean":
        means = by_name(names, mean)
        return {"mean": means} if spec.present else means
    if spec.query_name == "second_moments":
        moments = rows.T @ rows / len(rows)
        return {name: by_name(names, row) for name, row in zip(names, moments, strict=True)}
    if spec.query_name == "covariance":
        rows = {name: by_name(names, row) for name, row in zip(names, covariance, strict=True)}
        return {"mean": by_name(names, mean), "covariance": rows}
    half = spec.box.widths / 2
    return {"eigenvalue": np.linalg.eigvalsh(covariance / np.outer(half, half))[::-1].tolist()}


def by_name(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    """Return numbers by column."""
    return dict(zip(names, values.tolist(), strict=True))


def covers(interval: Any, exact: Any) -> bool:
    """Return whether all intervals hold; both have the same nesting."""
    if isinstance(interval, Mapping):
        return all(covers(part, exact[name]) for name, part in interval.items())
    if interval is None:
        # An empty cell has none.
        return True
    if isinstance(exact, list):
        return all(covers(part, one) for part, one in zip(interval, exact, strict=True))
    low, high = interval
    rounding = 1e-9 * (abs(exact) + high - low)
    return bool(low - rounding <= exact <= high + rounding)


def stated(spec: Specification, option: Option, numbers: np.ndarray, details: Any) -> Any:
    """Return the intervals that the files of a release state, or None."""
    if intervals := details.get(KEY):
        return intervals
    widths = details.get(f"{KEY}_plus_or_minus")
    if widths is None and isinstance(option.release, AdditiveMechanism):
        widths = spec.output.widths(option.release).get(f"{KEY}_plus_or_minus")
    if widths is None:
        return None
    names = spec.columns
    if spec.query_name == "second_moments":
        rows = zip(names, numbers, strict=True)
        return {name: _about(by_name(names, row), widths[name]) for name, row in rows}
    if spec.query_name == "records":
        return [_about(by_name(names, row), widths) for row in numbers]
    return _about(by_name(names, numbers[0]), widths)


def _about(numbers: Mapping[str, float], widths: Mapping[str, float]) -> dict[str, Any]:
    return {key: (number - widths[key], number + widths[key]) for key, number in numbers.items()}


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


def count(cell: Cell) -> dict[str, Any]:
    """Return a row: how many releases of a cell state intervals, and how many of these miss."""
    _, records, bounds = next(entry for entry in data_sets() if entry[0] == cell.data)
    if cell.query == PRESENT:
        absent = np.random.default_rng(2).random(records.shape) < ABSENT
        records = np.where(absent, np.nan, records)
    stated_count = misses = 0
    with tempfile.TemporaryDirectory() as folder:
        spec = specification(Path(folder), records, bounds, *cell[1:])
        option = choices.options(spec)[0]
        spec = choices.spec_of(spec, option)
        exact = exact_answer(spec, records)
        draw = compositions.prepare(
            spec.output, option.release, lambda: [spec.output.scaled(records)]
        )
        for _ in range(RELEASES):
            numbers, describe = draw()
            intervals = stated(spec, option, numbers, describe())
            if intervals is not None:
                stated_count += 1
                misses += not covers(intervals, exact)
    return {**cell._asdict(), "releases": RELEASES, "stated": stated_count, "misses": misses}


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
