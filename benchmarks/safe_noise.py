"""Safe noise as a ratio to float64 normals, and a stream of records larger than memory.

Run it as ``python benchmarks/safe_noise.py``; with ``stream`` it also sums second moments of ten
million records of 50 columns, block by block (minutes). Times are CPU time, the best of several.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))

from matrixdp import safe
from matrixdp.privacy import exact
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import SecondMomentQuery

COUNT, REPEATS = 1_000_000, 7
#: Times the normals, with bits from the operating system.
MOST = 8


def cost(work: Callable[[], object]) -> float:
    """Return the least CPU time of several, in seconds."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def stream(records: int, columns: int) -> None:
    """Print the CPU time and memory of second moments whose records come in blocks."""
    block = np.random.default_rng(0).uniform(-1, 1, (1 << 14, columns))

    def blocks() -> Iterator[np.ndarray]:
        left = records
        while left:
            yield block[: min(left, len(block))]
            left -= min(left, len(block))

    start = time.process_time()
    exact.value(SecondMomentQuery(Box.cube(columns, -1, 1), records), blocks())
    took = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"second moments of {records:,} x {columns}: {took:.1f} s, at most {memory:.0f} MB in all"
    )


def main() -> None:
    """Print a row a law."""
    stream_of = np.random.default_rng(1)
    normals = cost(lambda: stream_of.standard_normal(COUNT))
    for name, unit in (("Gaussian", safe.NORMAL), ("Laplace", safe.LAPLACE)):
        seeded = cost(lambda unit=unit: safe.noise(unit, COUNT, stream_of.bytes)) / normals
        real = cost(lambda unit=unit: safe.noise(unit, COUNT, os.urandom)) / normals
        verdict = "" if real <= MOST else f"  above {MOST}"
        print(f"{name}: {seeded:.1f} times standard_normal, {real:.1f} with system bits{verdict}")
    if sys.argv[1:] == ["stream"]:
        stream(10_000_000, 50)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
