"""Audits of samplers of a first component: the exact one, and those of two peers.

``python benchmarks/audit_peers.py`` writes benchmarks/audit_peers.csv and the table in
docs/audit.md. OpenDP 0.16.0 and diffprivlib 0.6.6 divide the probability to accept where they must
multiply. Their formula also stands here in code of our own, which is quicker. The packages are
audited where they are installed, in minutes; elsewhere their rows stay. What is audited is a plain
function of one person's record: the sampler, on this record among others that are fixed.
"""

from __future__ import annotations

import csv
import importlib.metadata
import importlib.util
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import matrixdp as mdp
from matrixdp.auditing.neighbours import farthest
from matrixdp.checks import Array
from reproduction.mechanisms.exponential import PPCA
from reproduction.report.parts import replace_parts

ROOT = Path(__file__).resolve().parents[1]
TABLE, PAGE = ROOT / "benchmarks/audit_peers.csv", ROOT / "docs/audit.md"
EXACT, FORMULA, OPENDP, DIFFPRIVLIB = "exact", "formula", "opendp", "diffprivlib"
#: Other records along each of the two axes of the neighbours.
OTHERS = 200
EPSILON = 1.0
#: Largest number of counted runs on each neighbour.
RUNS = 20_000
#: Digits of a direction's products that the audit sees. Last bits can depend on eigenvectors of the
#: records, in our sampler too; what is audited here is the distribution.
DIGITS = 9

#: Maps second moments, a sum over records, to a direction, with random bits of its own.
Sampler = Callable[[Array], Array]


def query_of(columns: int) -> Any:
    """Return the query of one record of norm at most 1, which may be replaced."""
    side = 1 / np.sqrt(columns)
    return mdp.SecondMomentQuery(mdp.Box.cube(columns, -side, side), 1)


def others_of(columns: int) -> Array:
    """Return the sum of x x^T over the other records: copies of both neighbours' records."""
    pair = farthest(query_of(columns))
    axes = np.stack([pair.record, pair.other])
    return OTHERS * axes.T @ axes


def exact_sampler(columns: int) -> Sampler:
    """Return this study's sampler of the exponential mechanism."""
    query = mdp.SecondMomentQuery(query_of(columns).domain, 2 * OTHERS + 1)
    release = PPCA().calibrate(query, epsilon=EPSILON)
    generator = np.random.default_rng(columns)
    return lambda moments: release.simulate(moments / query.n_records, generator, 1)[0]


def formula_sampler(columns: int) -> Sampler:
    """Return the peers' formula in code of our own, which is quicker: many proposals at once."""
    generator = np.random.default_rng(columns)

    def draw(moments: Array) -> Array:
        values, axes = np.linalg.eigh(EPSILON / 4 * moments)
        losses = values[-1] - values
        omega = 1 + 2 * losses / _balance(losses)
        while True:
            y = generator.standard_normal((500, columns)) / np.sqrt(omega)
            squares = y**2 / (y**2).sum(axis=1, keepdims=True)
            chance = np.exp(-squares @ losses) * (squares @ omega) ** (-columns / 2)
            accepted = y[generator.random(len(y)) < chance]
            if len(accepted):
                return np.asarray(axes @ accepted[0] / np.linalg.norm(accepted[0]))

    return draw


def _balance(losses: Array) -> float:
    """Return the root b of sum 1 / (b + 2 l_i) = 1."""
    return float(brentq(lambda b: (1 / (b + 2 * losses)).sum() - 1, 1, len(losses)))


def diffprivlib_sampler(columns: int) -> Sampler:
    """Return diffprivlib's sampler, for a sensitivity of 1."""
    from diffprivlib.mechanisms import Bingham

    draw: Sampler = Bingham(epsilon=EPSILON).randomise
    return draw


def opendp_sampler(columns: int) -> Sampler:
    """Return OpenDP's sampler, whose map states epsilon for one record replaced."""
    import opendp.prelude as dp
    from opendp.extras.numpy import _sscp_domain
    from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    sizes = {"num_features": columns, "norm": 1.0, "p": 2, "size": 2 * OTHERS + 1}
    distance = dp.symmetric_distance()
    private = make_private_eigenvector(_sscp_domain(**sizes, T=float), distance, EPSILON)
    assert private.map(2) == EPSILON
    return lambda moments: np.asarray(private(moments))


#: Samplers, and the numbers of columns at which they are audited.
SAMPLERS: dict[str, tuple[Callable[[int], Sampler], tuple[int, ...]]] = {
    FORMULA: (formula_sampler, (4, 6, 8)),
    EXACT: (exact_sampler, (4, 6, 8)),
    OPENDP: (opendp_sampler, (6,)),
    DIFFPRIVLIB: (diffprivlib_sampler, (6,)),
}
PACKAGES = (OPENDP, DIFFPRIVLIB)
NAMES = {
    FORMULA: "the packages' formula, in our code",
    EXACT: "the exact sampler",
    OPENDP: "OpenDP",
    DIFFPRIVLIB: "diffprivlib",
}


def function_of(draw: Sampler, columns: int) -> Callable[..., Array]:
    """Return the plain function of one record (1, m): a direction's products, (m, m)."""
    others = others_of(columns)

    def release(records: Array) -> Array:
        direction = draw(others + records.T @ records)
        return np.outer(direction, direction).round(DIGITS)

    return release


def reached(name: str, columns: int) -> float:
    """Return the largest loss on these neighbours, of the density that the code draws from.

    The density of an exact sampler at u is exp(-u^T A u), whose normaliser both neighbours share.
    Where the acceptance is divided by (u^T W u)^(d/2), W = I + 2 A / b, it has the factor
    (u^T W u)^-d as well. The loss is largest at u along the record. There A is 0 for one neighbour,
    and one record's share of the exponent for the other.
    """
    # Our exponent has epsilon / 2 where the peers have epsilon / 4.
    share = EPSILON / (2 if name == EXACT else 4)
    if name == EXACT:
        return share
    losses = share * np.array([0.0, 1.0, *[OTHERS + 1.0] * (columns - 2)])
    return float(share + columns * np.log1p(2 * share / _balance(losses)))


def rows() -> Iterator[dict[str, Any]]:
    """Yield a row per sampler and number of columns; of packages, where they are installed."""
    for name, (build, sizes) in SAMPLERS.items():
        if name in PACKAGES and importlib.util.find_spec(name) is None:
            continue
        version = importlib.metadata.version(name) if name in PACKAGES else ""
        for columns in sizes:
            begin, function = time.process_time(), function_of(build(columns), columns)
            result = mdp.audit(function, query_of(columns), epsilon=EPSILON, runs=RUNS)
            row = {"sampler": name, "columns": columns}
            row |= {"records": 2 * OTHERS + 1, "epsilon": EPSILON, "status": result.status}
            row |= {"epsilon_lower": result.epsilon_lower, "reached": reached(name, columns)}
            row |= {"largest": result.epsilon_largest, "runs": result.runs, "seed": result.seed}
            row |= {"seconds": round(time.process_time() - begin), "version": version}
            print(row, flush=True)
            yield row


def read() -> list[dict[str, str]]:
    """Return the rows of the CSV."""
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def page(text: str) -> str:
    """Return docs/audit.md with the rows of the CSV as a table."""
    lines = [
        ["Sampler", "Columns", "Claimed ε", "Proven ε, at least", "Verdict", "Largest loss"],
        ["---"] * 6,
    ]
    for row in read():
        name = f"{NAMES[row['sampler']]} {row['version']}".strip()
        claim = f"{float(row['epsilon']):g}"
        # Rounded down: no more than that is proven.
        proven = f"{math.floor(100 * float(row['epsilon_lower'])) / 100:.2f}"
        loss = f"{float(row['reached']):.2f}"
        lines.append([name, row["columns"], claim, proven, row["status"], loss])
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return replace_parts(text, {"peers": table})


def main() -> None:
    """Audit the samplers, write the CSV and the page; rows of packages not installed stay."""
    lines = list(rows())
    audited = {row["sampler"] for row in lines}
    lines += [row for row in read() if row["sampler"] not in audited]
    with TABLE.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
