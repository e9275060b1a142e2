"""CPU time of starting: Python, its packages and what each kind of job imports before it computes.

Run it as ``python benchmarks/startup.py``; it takes about half a minute. Times are medians of
repeats, on one thread. Below them, where the folder ``results`` holds a run, what its jobs took,
how much of that was starting, and so the share that was computing.
"""

from __future__ import annotations

import csv
import os
import resource
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 3

PACKAGES = ("numpy", "scipy.special", "pandas", "yaml", "jax", "matplotlib.figure")

#: What the jobs import whose benchmarks lie in a folder of that name below results/benchmarks.
STUDY = "from matrixdp.experiments import study; study.registry()"
KINDS = {
    "data": "import matrixdp.data.store",
    "trials": STUDY,
    "readings": STUDY,
    "training": "from matrixdp.experiments import training; training.registry()",
    "features": "import matrixdp.experiments.training.extractor",
    "audit": "import matrixdp.audit.releases",
    "theory": "import matrixdp.theory",
    "summary": "import matrixdp.report.summary",
    "tables": "import matrixdp.report.tables.comparison",
    "figures": "import matrixdp.report.figures.base",
    "report": "import matrixdp.report.page",
    "others": "import matrixdp.cli",
}


def cpu(statement: str) -> float:
    """Return the CPU seconds of a Python that runs one statement."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow"), "OMP_NUM_THREADS": "1"}
    times = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def jobs(results: Path) -> dict[str, list[float]]:
    """Return the CPU seconds of a run's jobs by kind, as Snakemake has measured them."""
    folder = results / "benchmarks"
    found = defaultdict(list)
    for file in sorted(folder.rglob("*.tsv")):
        kind, *names = file.relative_to(folder).with_suffix("").parts
        if kind == "trials" and (results / "data" / names[0] / "arrays.npz").exists():
            kind = "training"
        with file.open(encoding="utf-8") as stream:
            rows = csv.DictReader(stream, delimiter="\t")
            found[kind if kind in KINDS else "others"] += [float(row["cpu_time"]) for row in rows]
    return found


def main() -> int:
    """Print the tables."""
    empty = cpu("pass")
    print(f"{'starting':40} {'CPU s':>7}")
    print(f"{'python -c pass':40} {empty:7.2f}")
    for package in PACKAGES:
        print(f"{f'import {package}, beyond that':40} {cpu(f'import {package}') - empty:7.2f}")
    starts = {kind: cpu(statement) for kind, statement in KINDS.items()}
    for kind, seconds in starts.items():
        print(f"{f'a job that does nothing: {kind}':40} {seconds:7.2f}")

    found = jobs(ROOT / "results")
    if not found:
        print("The folder results holds no run, whose jobs could be told here.")
        return 0
    print(
        f"\n{'jobs of the last run':16} {'jobs':>5} {'CPU s':>7} {'starting':>9} {'computing':>9}"
    )
    total = starting = 0.0
    for kind, times in found.items():
        start = sum(min(starts[kind], seconds) for seconds in times)
        total, starting = total + sum(times), starting + start
        _print(kind, len(times), sum(times), start)
    _print("all", sum(map(len, found.values())), total, starting)
    # What Snakemake itself takes belongs here.
    return 0


def _print(kind: str, count: int, seconds: float, start: float) -> None:
    share = 1 - start / seconds if seconds else 0
    print(f"{kind:20} {count:5} {seconds:7.1f} {start:9.1f} {share:9.0%}")


if __name__ == "__main__":
    sys.exit(main())
