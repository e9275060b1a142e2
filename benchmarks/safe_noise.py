"""Safe noise as a ratio to float64 normals, and a stream of records larger than memory.

Run it as ``python benchmarks/safe_noise.py``; with ``stream`` it also makes releases of a file of
ten million records of 50 columns, 4 GB in the folder of temporary files (minutes). Times are CPU
time, of noise the best of several; memory is that beside the file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from matrixdp.noise import safe
from matrixdp.release import parser, plans

COUNT, REPEATS = 1_000_000, 7
#: Times the normals, with bits from the operating system.
MOST = 8
#: Queries and mechanisms of releases of many records, and the rest of their specification.
RELEASES = [("second_moments", "gaussian"), ("regression", "recommend")]
SPECIFICATION = """
file = "file.npy"
query = "{query}"
mechanism = "{mechanism}"
records = {records}
epsilon = 1
delta = 1e-9
total = {{epsilon = 1.1, delta = 2e-9}}
{target}
missing = "refuse"
[bounds]
"""


def cost(work: Callable[[], object]) -> float:
    """Return the least CPU time of several, in seconds."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


class Memory(threading.Thread):
    """The most memory of this process that is no copy of a file, in MB, while it runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self._done = 0.0, threading.Event()

    def run(self) -> None:
        """Look every 20 ms; only Linux says it."""
        while not self._done.wait(0.02):
            status = Path("/proc/self/status").read_text(encoding="ascii")
            (line,) = [line for line in status.splitlines() if line.startswith("RssAnon")]
            self.most = max(self.most, int(line.split()[1]) / 1024)

    def stop(self) -> float:
        """Return the most so far."""
        self._done.set()
        self.join()
        return self.most


def stream(records: int, columns: int) -> None:
    """Print the CPU time and memory of releases of a file that is mapped into memory."""
    block = np.random.default_rng(0).uniform(-1, 1, (1 << 14, columns))
    with tempfile.TemporaryDirectory() as name:
        folder, left = Path(name), records
        with (folder / "file.npy").open("wb") as file:
            layout = {"descr": "<f8", "fortran_order": False, "shape": (records, columns)}
            np.lib.format.write_array_header_1_0(file, layout)
            while left:
                block[: min(left, len(block))].tofile(file)
                left -= min(left, len(block))
        bounds = "\n".join(f"{column} = [-1, 1]" for column in range(columns))
        for query, mechanism in RELEASES:
            given = {"query": query, "mechanism": mechanism, "records": records}
            given["target"] = 'target = "0"' if query == "regression" else ""
            (folder / "s.toml").write_text(SPECIFICATION.format(**given) + bounds)
            memory = Memory()
            memory.start()
            start = time.process_time()
            plans.make(parser.read(folder / "s.toml"), folder / f"{query}_{mechanism}")
            took = time.process_time() - start
            most = memory.stop()
            size = f"{records:,} x {columns}"
            print(f"{query} by {mechanism} of {size}: {took:.1f} s, {most:.0f} MB at most")
            (folder / "file.npy.privacy.json").unlink()


def main() -> int:
    """Print a row a distribution; return 1 if a target is missed."""
    stream_of, missed = np.random.default_rng(1), 0
    normals = cost(lambda: stream_of.standard_normal(COUNT))
    for name, unit in (("Gaussian", safe.NORMAL), ("Laplace", safe.LAPLACE)):
        seeded = cost(lambda unit=unit: safe.noise(unit, COUNT, stream_of.bytes)) / normals
        real = cost(lambda unit=unit: safe.noise(unit, COUNT, os.urandom)) / normals
        verdict = "" if real <= MOST else f"  above {MOST}"
        missed += real > MOST
        print(f"{name}: {seeded:.1f} times standard_normal, {real:.1f} with system bits{verdict}")
    if sys.argv[1:] == ["stream"]:
        stream(10_000_000, 50)
    return int(missed > 0)


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
