"""The level and the power of ``mdp.audit``: how often it refutes honest and wrong releases.

``python benchmarks/audit_power.py`` writes benchmarks/audit_power.csv and the table of
docs/audit.md. A cell is a release, as a class or as a plain function, with a claim; it is audited
with several seeds. The shares of refutations have exact binomial intervals (Clopper & Pearson,
1934). Wrong classes and their correct twins are those of the tests of the study's audit.
"""

from __future__ import annotations

import csv
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/reproduction/auditing"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from wrong.base import Author, Independent, normal_release, pure_release, standard
from wrong.cases import CASES

import matrixdp as mdp
from matrixdp.checks import Array
from matrixdp.noise import safe
from matrixdp.noise.value import Noise as LibraryNoise
from matrixdp.privacy.sensitivity import Query
from matrixdp.status import CERTIFIED, NOT_REFUTED, REFUTED
from reproduction.auditing import negative_control
from reproduction.mechanisms.wishart import calibrate_wishart as wishart
from reproduction.report.parts import replace_parts

ROOT = Path(__file__).resolve().parents[1]
TABLE, PAGE = ROOT / "benchmarks/audit_power.csv", ROOT / "docs/audit.md"
#: Confidence of the intervals.
CONFIDENCE = 0.95
#: Seeds of a cell: where the outcome may well depend on them, of other noise of ours, elsewhere.
SEEDS, FEW, ONE = 10, 3, 1
EPSILONS, DELTA = (0.3, 1.0, 3.0), 1e-3
#: Shares of the noise that is missing.
SHORT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
#: Largest share that a class's own test may miss.
LITTLE = 0.02
HONEST, WRONG = "honest", "wrong"
#: Wrong releases, too, whose event the search does not know or the runs do not meet.
RARE = "rare"
#: A class with noise of its author's; a function of records and a Generator, which is replayed; and
#: a function with randomness of its own, of which runs alone tell.
FORMS = CLASS, FUNCTION, HIDDEN = "class", "function", "hidden"
COLUMNS = (
    *("truth", "form", "release", "short", "query", "epsilon", "delta", "seeds"),
    *("refuted", "low", "high", NOT_REFUTED, CERTIFIED, "runs", "seconds"),
)

QUERIES: dict[str, Query] = {
    "mean": mdp.MeanQuery(mdp.Box.cube(4, -1, 1), 50),
    "moments": mdp.SecondMomentQuery(mdp.Box.cube(3, -1, 1), 50),
    "records": mdp.RecordsQuery(mdp.Box.cube(3, -1, 1), 5),
}
#: The width of a cell in scales of the noise.
CELL = 1e-4
#: Queries of the functions of :func:`rare_events`.
RARE_QUERIES: dict[str, Query] = {
    "one": mdp.MeanQuery(mdp.Box.cube(1, 0, 1), 50),
    "10 counts": mdp.MeanQuery(mdp.Box.cube(10, 0, 1), 50),
    "20 counts": mdp.MeanQuery(mdp.Box.cube(20, 0, 1), 50),
}

#: Noise of a plain function: maps a Generator and a shape to noise.
Noise = Callable[[np.random.Generator, tuple[int, ...]], Array]


class Cell(NamedTuple):
    """A release and its claim; ``short`` is the share of the noise that is missing."""

    truth: str
    form: str
    release: str
    query: Query
    epsilon: float
    delta: float
    subject: Any
    short: float = 0.0
    seeds: int = ONE


def release_of(query: Query, noise: Noise) -> Callable[..., Array]:
    """Return the plain function that adds noise to the query's value of records, one per row."""

    def release(records: Array, generator: np.random.Generator) -> Array:
        value = query.value(records.T)
        return value + noise(generator, value.shape)

    return release


def hidden(release: Callable[..., Array]) -> Callable[[Array], Array]:
    """Return a function of the records alone, with a Generator of its own."""
    generator = np.random.default_rng(0)
    return lambda records: release(records, generator)


def normal(std: float) -> Noise:
    """Return Gaussian noise of a standard deviation."""
    return lambda generator, shape: generator.normal(0, std, shape)


def laplace(scale: float) -> Noise:
    """Return Laplace noise of a scale."""
    return lambda generator, shape: generator.laplace(0, scale, shape)


class ShortNormal(Independent):
    """Gaussian noise that draws 1 - ``short`` of the size that it declares."""

    short = 0.0

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        return super().sample(generator, count) * (1 - self.short)


class ShortLaplace(LibraryNoise):
    """Laplace noise that draws 1 - ``short`` of the size that it declares."""

    short = 0.0

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        return super().sample(generator, count) * (1 - self.short)


def author(noise: type, short: float, query: Query) -> Author:
    """Return a mechanism of another author, whose noise is short of what it declares."""
    kind: Any = type(noise.__name__, (noise,), {"short": short})

    def build(query: Query, epsilon: float, delta: float) -> Any:
        if issubclass(kind, ShortLaplace):
            scale = query.l1_sensitivity / epsilon
            std = float(np.sqrt(2) * scale)
            return pure_release(query, epsilon, kind.of(safe.LAPLACE, scale, query.shape), std)
        std = standard(query, epsilon, delta)
        return normal_release(query, epsilon, delta, kind(query.shape, std), noise_std=std)

    return Author(type(query), build)


def forms(short: float, query: Query, epsilon: float) -> Iterator[tuple[str, str, float, Any]]:
    """Yield form, noise, delta and release whose noise is short, for each kind of noise."""
    std = standard(query, epsilon, DELTA) * (1 - short)
    scale = query.l1_sensitivity / epsilon * (1 - short)
    yield CLASS, "Gaussian", DELTA, author(ShortNormal, short, query)
    yield CLASS, "Laplace", 0.0, author(ShortLaplace, short, query)
    for name, delta, noise in (("Gaussian", DELTA, normal(std)), ("Laplace", 0.0, laplace(scale))):
        yield FUNCTION, name, delta, release_of(query, noise)
        yield HIDDEN, name, delta, hidden(release_of(query, noise))


def honest_cells() -> Iterator[Cell]:
    """Yield honest releases: the library's, a foreign author's, and plain functions."""
    pure = (mdp.Laplace(),)
    approximate = (
        mdp.Gaussian(),
        mdp.DirectionalGaussian(),
        mdp.AnalyzeGauss(),
    )
    for query in QUERIES.values():
        for relation in ("replace", "zero_out"):
            related = replace(query, adjacency=relation)
            for form, name, delta, subject in forms(0.0, related, 1.0):
                yield Cell(HONEST, form, name, related, 1.0, delta, subject, seeds=FEW)
            for epsilon in EPSILONS:
                for mechanism in (*pure, *approximate):
                    if type(query) in mechanism.queries:
                        delta = 0.0 if mechanism in pure else DELTA
                        name = f"matrixdp.{type(mechanism).__name__}"
                        yield Cell(HONEST, CLASS, name, related, epsilon, delta, mechanism)


def short_cells() -> Iterator[Cell]:
    """Yield releases whose noise is short by several shares."""
    query = QUERIES["mean"]
    for short in SHORT:
        for form, name, delta, subject in forms(short, query, 1.0):
            doubtful = form == HIDDEN or (form == CLASS and short <= LITTLE)
            seeds = SEEDS if doubtful else FEW
            yield Cell(WRONG, form, name, query, 1.0, delta, subject, short, seeds)


def mistakes() -> Iterator[Cell]:
    """Yield other mistakes as plain functions, then wrong classes of the tests."""
    mean, moments = QUERIES["mean"], QUERIES["moments"]
    assert isinstance(moments, mdp.SecondMomentQuery)
    std, of_moments = (standard(query, 1.0, DELTA) for query in (mean, moments))
    triangle = of_moments * moments.triangle_l2_sensitivity / moments.l2_sensitivity
    people = mdp.MeanQuery(mdp.Box.cube(4, -1, 1), 51, per_person=3)

    def of_data(records: Array, generator: np.random.Generator) -> Array:
        size = np.abs(records).max()
        return mean.value(records.T) + generator.normal(0, std * size, (4, 1))

    def some(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return generator.normal(0, std, shape) * (np.arange(4)[:, None] < 2)

    def equal(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return np.full(shape, generator.normal(0, std))

    def mirrored(size: float, diagonal: float = 1.0) -> Noise:
        def noise(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
            upper = np.triu(generator.normal(0, size, shape))
            return upper + np.triu(upper, 1).T - (1 - diagonal) * np.diag(np.diag(upper))

        return noise

    zeroed = replace(moments, adjacency="zero_out")
    one = standard(replace(people, per_person=None), 1.0, DELTA)
    pure = standard(mean, 1.0, DELTA)
    large = np.sqrt(2 * np.log(1.25 / DELTA)) * mean.l2_sensitivity / 10
    root = mdp.SecondMomentQuery(mdp.Ball(1.0, 20), 50, "zero_out")
    functions: tuple[tuple[str, Query, float, float, Any], ...] = (
        ("no noise", mean, 1.0, DELTA, release_of(mean, normal(0.0))),
        ("noise on half of the entries", mean, 1.0, DELTA, release_of(mean, some)),
        ("the same noise on all entries", mean, 1.0, DELTA, release_of(mean, equal)),
        ("noise of the largest entry of the data", mean, 1.0, DELTA, of_data),
        ("Gaussian noise, no delta", mean, 1.0, 0.0, release_of(mean, normal(pure))),
        (
            "noise for one record of a person's 3",
            people,
            1.0,
            DELTA,
            release_of(people, normal(one)),
        ),
        (
            "classic formula at epsilon 10",
            mean,
            10.0,
            DELTA,
            release_of(mean, normal(float(large))),
        ),
        *(
            (name, moments, 1.0, DELTA, release_of(moments, noise))
            for name, noise in (
                ("noise of zeroing out, replaced", normal(standard(zeroed, 1.0, DELTA))),
                ("no noise on the diagonal", mirrored(triangle, 0.0)),
                ("each product twice, noise for once", normal(triangle)),
            )
        ),
        (
            "Laplace noise for 2 sqrt(p) / n",
            *(root, 1.0, 0.0),
            release_of(root, laplace(2 * np.sqrt(20) / 50)),
        ),
    )
    for name, query, epsilon, delta, subject in functions:
        yield Cell(WRONG, FUNCTION, name, query, epsilon, delta, subject)
    yield from controls()
    for case in CASES:
        about = (case.name, case.query, case.epsilon, case.delta, case.mechanism(True))
        yield Cell(WRONG, CLASS, *about)


def sparse_vector(share: float, stops: bool) -> Callable[..., Array]:
    """Return a wrong sparse vector technique for epsilon 1 (Lyu, Su & Li 2017, Figure 1).

    Each column asks whether its count is above a share of the records. Algorithm 3 stops at the
    first that is, and shows its noisy count. Algorithm 6 answers all, with noise for one.
    """

    def release(records: Array, generator: np.random.Generator) -> Array:
        counts = np.count_nonzero(records > 0.5, axis=0)
        threshold = share * len(records) + generator.laplace(0, 2)
        noisy = counts + generator.laplace(0, 2, counts.size)
        above = noisy >= threshold
        if not stops:
            return above.astype(float)
        answer = np.where(np.cumsum(above) > 0, 0.0, -1.0)
        if above.any():
            answer[np.argmax(above)] = noisy[np.argmax(above)]
        return answer

    return release


def marked(cell: bool) -> Callable[..., Array]:
    """Return a noisy mean whose answer shows exactly whether some record is above a half.

    The last of nine digits is even or odd; or else answers leave a small cell beside their centre.
    """
    scale = RARE_QUERIES["one"].l1_sensitivity

    def release(records: Array, generator: np.random.Generator) -> Array:
        noise = generator.laplace(0, scale, 1)
        mark = int((records > 0.5).any())
        if cell:
            inside = np.abs(noise - scale) < CELL * scale / 2
            return np.asarray(records.mean(axis=0) + noise + mark * inside * CELL * scale)
        digits = np.round((records.mean(axis=0) + noise) * 1e9)
        return np.asarray((digits - digits % 2 + mark) / 1e9)

    return release


def rare_events() -> Iterator[Cell]:
    """Yield wrong functions that the search misses, and one that shows why."""
    functions: tuple[tuple[str, str, Any], ...] = (
        ("SVT 3", "20 counts", sparse_vector(0.5, stops=True)),
        ("SVT 6, far thresholds", "10 counts", sparse_vector(0.8, stops=False)),
        ("SVT 6, near thresholds", "10 counts", sparse_vector(0.5, stops=False)),
        ("parity of a digit", "one", marked(cell=False)),
        ("cell of 1e-4", "one", marked(cell=True)),
    )
    for name, query, subject in functions:
        yield Cell(RARE, FUNCTION, name, RARE_QUERIES[query], 1.0, 0.0, subject, seeds=FEW)


def controls() -> Iterator[Cell]:
    """Yield the wrong releases of the study's negative control that are classes or functions."""
    for name in ("noise / sqrt(batch)", "epsilon / q", "inverted Bingham ratio"):
        release = negative_control.CASES[name].build(True)
        about = (name, release.query, release.epsilon, release.delta, release)
        yield Cell(WRONG, CLASS, *about)
    query = mdp.SecondMomentQuery(mdp.Ball(1.0, 4), 50)
    yield Cell(WRONG, CLASS, "Wishart noise", query, 1.0, 0.0, wishart(query, 1.0))
    run, release, query = negative_control.CASES["radius of the data"].build(True)
    about = ("radius of the data", query, release.epsilon, release.delta)
    yield Cell(WRONG, FUNCTION, *about, run)


def cells() -> Iterator[Cell]:
    """Yield all cells."""
    yield from short_cells()
    yield from mistakes()
    yield from honest_cells()
    yield from rare_events()


def interval(hits: int, count: int) -> tuple[float, float]:
    """Return the exact interval of a share."""
    tail = (1 - CONFIDENCE) / 2
    low = float(beta.ppf(tail, hits, count - hits + 1)) if hits else 0.0
    return low, float(beta.isf(tail, hits + 1, count - hits)) if hits < count else 1.0


def row_of(cell: Cell) -> dict[str, Any]:
    """Audit a cell with its seeds, and return its row."""
    budget = {"epsilon": cell.epsilon, "delta": cell.delta}
    statuses: Counter[str] = Counter()
    runs, begin = [], time.process_time()
    for seed in range(cell.seeds):
        result = mdp.audit(cell.subject, cell.query, **budget, seed=seed)
        statuses[result.status] += 1
        runs.append(result.runs)
    low, high = interval(statuses[REFUTED], cell.seeds)
    about = {"truth": cell.truth, "form": cell.form, "release": cell.release, "short": cell.short}
    about |= {"query": f"{cell.query.name}, {cell.query.adjacency}", **budget, "seeds": cell.seeds}
    return {
        **about,
        "refuted": statuses[REFUTED],
        "low": f"{low:.3f}",
        "high": f"{high:.3f}",
        **{status: statuses[status] for status in (NOT_REFUTED, CERTIFIED)},
        "runs": round(float(np.mean(runs))),
        "seconds": f"{(time.process_time() - begin) / cell.seeds:.2f}",
    }


Rows = list[Mapping[str, str]]


def level(rows: Rows) -> str:
    """Return how many audits of honest releases refuted them, as a sentence."""
    honest = [row for row in rows if row["truth"] == HONEST]
    audits, hits = (sum(int(row[name]) for row in honest) for name in ("seeds", REFUTED))
    most = interval(hits, audits)[1]
    return (
        f"{hits} of {audits} audits of {len(honest)} honest releases refuted them: at most "
        f"{most:.1%}, at 95 %.\n"
    )


def short_table(rows: Rows) -> str:
    """Return the shares of refutations by the size of the missing noise, in Markdown."""
    part = [row for row in rows if float(row["short"])]
    sizes = sorted({float(row["short"]) for row in part})
    lines = []
    for form, name in dict.fromkeys((row["form"], row["release"]) for row in part):
        shares = {float(r["short"]): r for r in part if (r["form"], r["release"]) == (form, name)}
        lines.append([f"{name}, {form}", *(_share(shares[size]) for size in sizes)])
    return _markdown(["Noise too small by", *(f"{size:.0%}" for size in sizes)], lines)


#: What shows the records in the functions of :func:`rare_events`, and the epsilon that they reach.
REACHED = {
    "SVT 3": ("a low noisy count after 19 columns below the threshold", "10"),
    "SVT 6, far thresholds": ("columns below and above, where counts are near 40", "5"),
    "SVT 6, near thresholds": ("columns below and above, where counts are near 25", "5"),
    "parity of a digit": ("whether the ninth digit is even, in every answer", "∞"),
    "cell of 1e-4": ("an answer in a cell of 10⁻⁴ scales of the noise", "∞"),
}


def rare_table(rows: Rows) -> str:
    """Return what shows the records in functions that are missed, and how many audits see it."""
    lines = [
        (row["release"], *REACHED[row["release"]], f"{row[REFUTED]} of {row['seeds']}")
        for row in rows
        if row["truth"] == RARE
    ]
    return _markdown(["Function", "What shows a record", "Its ε", "Audits that refute it"], lines)


def mistake_count(rows: Rows) -> str:
    """Return how many mistakes of other kinds are refuted by every audit, as a sentence."""
    part = [row for row in rows if row["truth"] == WRONG and not float(row["short"])]
    always = [row for row in part if row[REFUTED] == row["seeds"]]
    return f"Every audit refutes {len(always)} of {len(part)} mistakes of other kinds.\n"


def _share(row: Mapping[str, str]) -> str:
    return f"{int(row['refuted']) / int(row['seeds']):.0%}"


def _markdown(header: list[str], lines: Iterable[Iterable[object]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def page(text: str) -> str:
    """Return docs/audit.md with what the CSV says in its places."""
    rows = read(TABLE)
    parts = {"level": level, "power": short_table, "mistakes": mistake_count, "rare": rare_table}
    return replace_parts(text, {name: part(rows) for name, part in parts.items()})


def read(path: Path) -> Rows:
    """Return the rows of a CSV."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def main() -> None:
    """Audit all cells, and write the CSV and the page."""
    rows = []
    for cell in cells():
        rows.append(row_of(cell))
        print(rows[-1], flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
