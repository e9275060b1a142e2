"""How often the intervals of a release cover the answer without noise.

``make test-all`` runs this file. It writes benchmarks/coverage.csv and the counts in
docs/coverage.md, and fails if an interval is refuted. With ``--new`` it counts only the cells that
the table lacks, and keeps the rows of all others.

A cell is a data set, an answer, a mechanism and an epsilon. Each of its releases is drawn as a real
one, and counts as covered if all of its intervals hold. Of a list of queries, whose intervals hold
one at a time, a cell reads one answer of each release. The exact answer is that of the records
within their public bounds. A cell is refuted if a binomial test finds a coverage below 95 % at a
level of 1 %, divided by the number of cells (Bonferroni).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.release import Release
from matrixdp.release import choices
from matrixdp.release.outputs import Counts, Grouped, Output
from matrixdp.release.outputs.noisy import Noisy, reader
from matrixdp.release.parser import from_table
from matrixdp.release.records import prepare
from matrixdp.release.uncertainty import KEY, LEVEL
from matrixdp.release.words import by_name, table
from reproduction.report.parts import replace_parts

if TYPE_CHECKING:
    import pandas as pd

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
#: Mechanisms that are asked for; each is a value of the key ``mechanism``.
ADDITIVE, MOMENTS = ("laplace", "gaussian"), ("laplace", "gaussian", "analyze_gauss", "clipped")
#: Name of the column of groups.
GROUP = "group"


class DataSet(NamedTuple):
    """Records, and what is public of them.

    Attributes:
        records: a frame (n, m + 1), whose last column is that of groups.
        bounds: lowest and highest value of each of the m other columns.
        categories: the public groups.
    """

    records: pd.DataFrame
    bounds: Mapping[str, tuple[float, float]]
    categories: Sequence[int]

    @classmethod
    def of(
        cls, records: Any, bounds: Mapping[str, Any], groups: Any, categories: Sequence[int]
    ) -> DataSet:
        """Return a data set of records (n, m) and their groups (n,)."""
        import pandas as pd

        frame = pd.DataFrame(np.asarray(records), columns=[*bounds])
        return cls(frame.assign(**{GROUP: groups}), bounds, categories)


def data_sets() -> dict[str, DataSet]:
    """Return the data sets by name."""
    from sklearn import datasets

    named = {}
    bodies = {"age": (18.0, 90.0), "bmi": (15.0, 45.0), "bp": (60.0, 140.0)}
    frame = datasets.load_diabetes(as_frame=True, scaled=False).frame
    named["diabetes"] = DataSet.of(frame[[*bodies]], bodies, frame.sex, (1, 2))
    wines = {"alcohol": (10.0, 16.0), "hue": (0.0, 2.0), "malic_acid": (0.0, 6.0)}
    wines |= {"color_intensity": (0.0, 15.0), "proline": (0.0, 2000.0)}
    frame = datasets.load_wine(as_frame=True).frame
    named["wine"] = DataSet.of(frame[[*wines]], wines, frame.target, (0, 1, 2))
    cells = {"mean radius": (5.0, 30.0), "mean texture": (5.0, 45.0), "mean area": (0.0, 3000.0)}
    cells |= {"mean smoothness": (0.0, 0.2)}
    frame = datasets.load_breast_cancer(as_frame=True).frame
    named["breast cancer"] = DataSet.of(frame[[*cells]], cells, frame.target, (0, 1))
    stream = np.random.default_rng(1)
    # Most values fill a few percent of their bounds, and a few reach beyond them.
    skew = np.exp(stream.standard_normal((2000, 3)) @ [[1.0, 0.5, 0.5], [0, 1, 0.5], [0, 0, 1]])
    # Means near a corner of the bounds.
    corner = 1 - 0.05 * stream.exponential(size=(1000, 1)) * stream.uniform(0.5, 1.5, (1000, 3))
    positive, sides = dict.fromkeys("abc", (0.0, 50.0)), dict.fromkeys("abc", (-1.0, 1.0))
    named["skewed"] = DataSet.of(skew, positive, stream.integers(10, size=2000), range(10))
    # Groups by the size of a value.
    quarters = np.argsort(np.argsort(corner[:, 0])) // 250
    named["corner"] = DataSet.of(corner, sides, quarters, range(4))
    # A group of few records, one of none, and records of no category.
    uneven = np.repeat([0, 1, 2, -1], [880, 80, 20, 20])
    named[UNEVEN] = DataSet.of(corner, sides, uneven, range(4))
    return named


class Question(NamedTuple):
    """What is asked for in the cells of an answer.

    Attributes:
        answer: the query whose answer is read.
        mechanisms: those that are asked for.
        keys: keys of the request beside those of all.
    """

    answer: str
    mechanisms: Sequence[str]
    keys: Mapping[str, Any]


def _question(name: str, mechanisms: Sequence[str], **keys: Any) -> Question:
    """Return what is asked for where a query is asked for by its name."""
    return Question(name, mechanisms, {"query": name, **keys})


DATA, UNEVEN = ("diabetes", "wine", "breast cancer", "skewed", "corner"), "uneven groups"
ALONE = {
    "mean": _question("mean", ADDITIVE),
    "mean of the values present": _question("mean", ADDITIVE, missing="present"),
    "records": _question("records", ADDITIVE),
    **{name: _question(name, MOMENTS) for name in ("second_moments", "covariance", "components")},
}
#: The first column is the target; there is no cell of the regression, which has no interval.
LISTED = {"query": ["mean", "covariance", "components", "regression"]}
LIST = {f"{name} of a list": Question(name, MOMENTS, LISTED) for name in LISTED["query"][:3]}
GROUPS = {
    "means by group": _question("mean", ADDITIVE, by=GROUP),
    "counts and shares by group": _question("counts", ADDITIVE, by=GROUP),
}
QUESTIONS = {**ALONE, **LIST, **GROUPS}
#: Answers, and the data sets of their cells.
PARTS = (
    (ALONE, DATA),
    (LIST, ("diabetes", "skewed", "corner")),
    (GROUPS, (*DATA, UNEVEN)),
)


class Cell(NamedTuple):
    """A row of the table: what is released of which data set, and how."""

    data: str
    query: str
    mechanism: str
    epsilon: float


def cells() -> list[Cell]:
    """Return all cells."""
    return [
        Cell(data, query, mechanism, epsilon)
        for part, names in PARTS
        for data in names
        for query in part
        for mechanism in part[query].mechanisms
        for epsilon in EPSILONS
    ]


def releases(cell: Cell) -> Iterator[tuple[Any, Any]]:
    """Yield what releases of a cell state, each as its intervals, or None, and the exact answer."""
    data, question = data_sets()[cell.data], QUESTIONS[cell.query]
    if question.keys.get("missing") == "present":
        absent = np.random.default_rng(2).random((len(data.records), len(data.bounds))) < ABSENT
        values = data.records[[*data.bounds]].mask(absent)
        data = data._replace(records=values)
    spec = specification(cell, data)
    (option, *_) = choices.by_noise(spec)
    output = next(one for one in spec.readings if one.name == question.answer)
    exact = exact_answer(output, data.records)
    draw = prepare(spec, option.release)
    read = reader(output, option.release, spec.columns)
    while True:
        yield intervals(output, option.release, read(draw())), exact


def specification(cell: Cell, data: DataSet) -> Output:
    """Return the specification of a release of a cell."""
    keys = QUESTIONS[cell.query].keys
    table = {
        "file": "records.npy",
        "mechanism": cell.mechanism,
        "epsilon": cell.epsilon,
        "delta": 0.0 if cell.mechanism == "laplace" else DELTA,
        "records": len(data.records),
    }
    if keys["query"] != Counts.name:
        bounds = {name: [*sides] for name, sides in data.bounds.items()}
        table |= {"missing": "refuse", "bounds": bounds}
    if keys["query"] == LISTED["query"]:
        table["target"] = next(iter(data.bounds))
    if "by" in keys:
        table["categories"] = {GROUP: [*data.categories]}
    return replace(from_table(Path("release.toml"), table | keys), frame=data.records)


def exact_answer(output: Output, records: pd.DataFrame) -> dict[str, Any]:
    """Return what the intervals of a release are about, from the records within their bounds."""
    rows = np.clip(records[[*output.columns]].to_numpy(), output.box.lower, output.box.upper)
    if isinstance(output, Grouped):
        return exact_by_group(output, rows, records[GROUP].to_numpy())
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


def exact_by_group(output: Grouped, rows: Array, groups: Array) -> dict[str, Any]:
    """Return numbers of records, their shares and means (m,) by group, of rows (n, m)."""
    parts = {name: rows[groups == float(name)] for name in output.row_names}
    counts = {name: len(part) for name, part in parts.items()}
    # A group without records has no mean, and any interval of it is wrong.
    nothing = np.full((1, rows.shape[1]), np.nan)
    return {
        "count": counts,
        "share": {name: number / sum(counts.values()) for name, number in counts.items()},
        "mean": {
            name: by_name(output.columns, (part if len(part) else nothing).mean(axis=0))
            for name, part in parts.items()
        },
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
    return replace_parts(text, {"numbers": numbers})


def main() -> int:
    """Count cells, write the table, and return 1 if an interval is refuted."""
    parser = argparse.ArgumentParser(description="count how often intervals cover")
    parser.add_argument("--new", action="store_true", help="only cells that the table lacks")
    parser.add_argument("--processes", type=int, help="as many as there are cores by default")
    # `make bench` gives all benchmarks the same arguments.
    chosen, _ = parser.parse_known_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    rows = read_table() if chosen.new else {}
    missing = [cell for cell in cells() if cell not in rows]
    with multiprocessing.get_context("spawn").Pool(chosen.processes) as pool:
        for cell, row in zip(missing, pool.imap(count, missing), strict=True):
            rows[cell] = row
            print(row, flush=True)
    table_rows = [rows[cell] for cell in cells()]
    with TABLE.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*table_rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table_rows)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), table_rows), encoding="utf-8")
    return int(any(refuted(row, len(table_rows)) for row in table_rows))


def read_table() -> dict[Cell, dict[str, Any]]:
    """Return the rows of the table by cell."""
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return {
            Cell(row["data"], row["query"], row["mechanism"], float(row["epsilon"])): row
            for row in csv.DictReader(stream)
        }


if __name__ == "__main__":
    sys.exit(main())
