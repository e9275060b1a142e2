"""CPU time of starting: Python, its packages and what each kind of job imports before it computes.

Run it as ``python benchmarks/startup.py``; it takes about half a minute. Times are medians of
repeats, on one thread. Below them stands what Snakemake takes to plan this workflow, and to run a
job that does nothing.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATH = os.pathsep.join([str(ROOT / "src"), str(ROOT / "workflow")])
REPEATS = 3
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

PACKAGES = ("numpy", "scipy.special", "pandas", "yaml", "jax", "matplotlib.figure")

#: What the jobs of a kind import.
STUDY = (
    "import reproduction.experiments.study; from reproduction import mechanisms; "
    "mechanisms.registry()"
)
KINDS = {
    "data": "import reproduction.data.store",
    "trials": STUDY,
    "readings": STUDY,
    "training": "from reproduction.experiments import training; training.find_training('adult')",
    "features": "import reproduction.experiments.training.extractor",
    "audit": "import reproduction.auditing.experiment",
    "theory": "import reproduction.theory",
    "summary": "import reproduction.report.summary",
    "tables": "import reproduction.report.tables.paper_table",
    "figures": "import reproduction.report.figures.base",
    "report": "import reproduction.report.page",
    "others": "import reproduction.cli",
}


#: Jobs that do next to nothing, to see what Snakemake takes for one.
TOY = """
rule all:
    input: expand("{{i}}.txt", i=range({jobs}))
rule one:
    output: "{{i}}.txt"
    log: "{{i}}.log"
    benchmark: "{{i}}.tsv"
    shell: "touch {{output}} > {{log}}"
"""
TOYS = 30


def cpu(statement: str) -> float:
    """Return the CPU seconds of a Python that runs one statement."""
    return cpu_of("-c", statement)


def cpu_of(*arguments: str, folder: Path = ROOT, repeats: int = REPEATS) -> float:
    """Return the CPU seconds of a Python with these arguments, and of all that it starts."""
    environment = {**os.environ, "PYTHONPATH": PATH, "OMP_NUM_THREADS": "1"}
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments], check=True, env=environment, cwd=folder, **QUIET
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def snakemake() -> tuple[float, float]:
    """Return the CPU seconds to read and plan this workflow, and to run one job of any."""
    words = ("-m", "snakemake", "--cores", "1", "--quiet", "all")
    toys = []
    for count in (1, TOYS):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "Snakefile").write_text(TOY.format(jobs=count), encoding="utf-8")
            toys.append(cpu_of(*words, folder=Path(folder), repeats=1))
    return cpu_of(*words, "--dry-run"), (toys[1] - toys[0]) / (TOYS - 1)


def main() -> int:
    """Print the tables."""
    empty = cpu("pass")
    print(f"{'starting':40} {'CPU s':>7}")
    print(f"{'python -c pass':40} {empty:7.2f}")
    for package in PACKAGES:
        print(f"{f'import {package}, beyond that':40} {cpu(f'import {package}') - empty:7.2f}")
    for kind, statement in KINDS.items():
        print(f"{f'a job that does nothing: {kind}':40} {cpu(statement):7.2f}")
    plan, each = snakemake()
    print(f"\nSnakemake: {plan:.1f} CPU s to read and plan, {each:.3f} for a job that does nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
