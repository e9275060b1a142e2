"""CPU seconds and memory of releases of large files, beside programs that merely read these files.

Run it as ``python benchmarks/files.py``; it takes about three minutes, and a gibibyte of disk for
temporary files. Each release is ``python -m matrixdp release`` in a process of its own, with a new
account, on one thread. CPU seconds are the least of some repeats, as other work on the machine only
adds to them; so are wall seconds, to which it adds far more. Memory is the most that a process had.

Targets are ratios within a run: a folder of parts takes what one file of its records takes, and a
covariance by ``clipped``, which needs the records several times, parses the text of CSV once.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 2
#: Records of a row group of Parquet, and of a text that is repeated until a file of CSV is full.
ROW_GROUP, TEXT = 1_000_000, 10_000


class Table(NamedTuple):
    """Random records in [0, 1]: a file, or a folder of parts."""

    kind: str
    rows: int
    columns: int
    parts: int = 1

    @property
    def name(self) -> str:
        """Name of the file, or of the folder."""
        name = f"{self.kind}-{self.rows}"
        return f"{name}-parts" if self.parts > 1 else f"{name}.{self.kind}"

    @property
    def label(self) -> str:
        """What lines of the result call it."""
        parts = f", {self.parts} parts" * (self.parts > 1)
        return f"{self.kind} {self.rows:,} x {self.columns}{parts}"

    @property
    def header(self) -> list[str]:
        """Names of its columns."""
        return [f"c{k}" for k in range(self.columns)]

    def files(self, folder: Path) -> list[Path]:
        """Return the paths of its files."""
        path = folder / self.name
        return [path / f"{k}.{self.kind}" for k in range(self.parts)] if self.parts > 1 else [path]


class Case(NamedTuple):
    """What is done with a table, and the case before it with which it is compared.

    Attributes:
        table, action: names of the case.
        command: arguments of Python.
        base: table and action of the other case.
        limits: targets of the ratios to it, of CPU seconds and of memory.
    """

    table: Table
    action: str
    command: Sequence[str]
    base: tuple[Table, str] | None = None
    limits: tuple[float | None, float | None] = (None, None)


class Usage(NamedTuple):
    """What a process took."""

    cpu: float
    wall: float
    megabytes: float


#: Tables in one file, and each in parts.
TABLES: tuple[tuple[Table, Table | None], ...] = (
    (Table("parquet", 8_000_000, 4), Table("parquet", 8_000_000, 4, parts=8)),
    (Table("csv", 100_000, 20), Table("csv", 100_000, 20, parts=8)),
    (Table("csv", 2_000_000, 20), None),
)

#: What is released: a query, and its mechanism.
MEAN, COVARIANCE, CLIPPED = (
    ("mean", "gaussian"),
    ("covariance", "analyze_gauss"),
    ("covariance", "clipped"),
)
#: Targets: parts beside one file, in CPU seconds and memory; to parse a text once, where it was
#: parsed four times, beside a mean, which needs it once.
SAME, ONCE = (1.2, 1.1), (1.5, None)

#: Programs that read the file PATH once, by its kind: a name, the package that each needs, and its
#: text. Releases are compared with the first one.
READINGS = {
    "parquet": [
        (
            "batches of pyarrow",
            "pyarrow",
            """
from pyarrow import parquet
with parquet.ParquetFile(PATH, pre_buffer=False) as file:
    for batch in file.iter_batches():
        [column.to_numpy() for column in batch.columns]
""",
        ),
        ("pandas.read_parquet", "pandas", "import pandas; pandas.read_parquet(PATH)"),
    ],
    "csv": [
        ("numpy.loadtxt", "numpy", "import numpy; numpy.loadtxt(PATH, delimiter=',', skiprows=1)"),
        ("pandas.read_csv", "pandas", "import pandas; pandas.read_csv(PATH)"),
    ],
}

SPECIFICATION = """
file = "{name}"
query = "{query}"
mechanism = "{mechanism}"
records = {rows}
epsilon = 1.0
delta = 1e-9
total = {{epsilon = 2.0, delta = 1e-8}}
missing = "refuse"

[bounds]
{bounds}
"""

#: A release of the merged sums of parts, as of several machines one after another.
SUMS = """
import json
import sys
import matrixdp as mdp

request = json.loads(sys.argv[1])
merged = sum(mdp.sums("covariance", path, **request) for path in sys.argv[2:])
budget = {"epsilon": 1.0, "delta": 1e-9, "total": {"epsilon": 2.0, "delta": 1e-8}}
mdp.make_release(merged, mechanism="analyze_gauss", even_if_useless=True, **budget)
"""


def write(table: Table, folder: Path) -> None:
    """Write a table to a folder; its parts are those of the one file where the kind is Parquet."""
    import numpy as np

    files, rows = table.files(folder), table.rows // table.parts
    files[0].parent.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    if table.kind == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        whole = pa.table([*rng.uniform(size=(table.columns, table.rows))], table.header)
        for k, file in enumerate(files):
            parquet.write_table(whole.slice(k * rows, rows), file, row_group_size=ROW_GROUP)
        return
    for file in files:
        block = rng.uniform(size=(min(rows, TEXT), table.columns))
        lines = [",".join(f"{value:.6f}" for value in row) + "\n" for row in block]
        with file.open("w", encoding="utf-8") as out:
            out.write(",".join(table.header) + "\n")
            for start in range(0, rows, len(lines)):
                out.writelines(lines[: rows - start])


def readings(table: Table, folder: Path) -> list[Case]:
    """Return the programs that read a table once."""
    path = repr(str(folder / table.name))
    return [
        Case(table, name, ["-c", text.replace("PATH", path)])
        for name, package, text in READINGS[table.kind]
        if importlib.util.find_spec(package)
    ]


def release(table: Table, query: str, mechanism: str, folder: Path) -> Case:
    """Return a release of a table, whose specification is written to its folder."""
    specification = folder / f"{table.name}-{query}-{mechanism}.toml"
    text = SPECIFICATION.format(
        name=table.name,
        query=query,
        mechanism=mechanism,
        rows=table.rows,
        bounds="\n".join(f"{name} = [0, 1]" for name in table.header),
    )
    specification.write_text(text, encoding="utf-8")
    words = ["-m", "matrixdp", "release", str(specification), "--even-if-useless"]
    return Case(table, f"{query}, {mechanism}", [*words, "--out", str(folder / "out")])


def merged_sums(parts: Table, folder: Path) -> Case:
    """Return a release of the merged sums of the parts of a table."""
    bounds = {name: [0, 1] for name in parts.header}
    request = {"bounds": bounds, "records": parts.rows, "missing": "refuse"}
    command = ["-c", SUMS, json.dumps(request), *map(str, parts.files(folder))]
    return Case(parts, "covariance, merged sums", command)


def cases(table: Table, parts: Table | None, folder: Path) -> list[Case]:
    """Return what is done with a table, and with its parts."""
    cases = readings(table, folder)
    first = table, cases[0].action
    for query, mechanism in (MEAN, COVARIANCE, CLIPPED):
        case = release(table, query, mechanism, folder)
        if table.kind == "csv" and (query, mechanism) == CLIPPED:
            cases.append(case._replace(base=(table, ", ".join(MEAN)), limits=ONCE))
        else:
            cases.append(case._replace(base=first))
        if parts:
            case = release(parts, query, mechanism, folder)
            cases.append(case._replace(base=(table, case.action), limits=SAME))
    if parts:
        cases.append(merged_sums(parts, folder)._replace(base=(table, ", ".join(COVARIANCE))))
    return cases


def run(command: Sequence[str]) -> Usage:
    """Run Python with these arguments; return what it took.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    variables = {"PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, **variables},
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        _, status, took = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(said.read().decode())
    # KiB, but bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return Usage(took.ru_utime + took.ru_stime, wall, took.ru_maxrss * unit / 1e6)


def measured(case: Case, folder: Path) -> Usage:
    """Return what a case in a folder takes: the least seconds of repeats, and the most memory."""
    took = []
    for _ in range(REPEATS):
        shutil.rmtree(folder / "out", ignore_errors=True)
        for account in folder.glob("*.privacy.*"):
            account.unlink()
        took.append(run(case.command))
    cpu, wall, megabytes = zip(*took, strict=True)
    return Usage(min(cpu), min(wall), max(megabytes))


def results(table: Table, parts: Table | None) -> Iterator[tuple[Case, Usage, Usage | None]]:
    """Yield each case of a table as soon as it is measured, what it takes, and what its base took.

    Files are written in processes of their own, as a process begins with the memory of its parent.
    """
    with tempfile.TemporaryDirectory() as name:
        for one in filter(None, (table, parts)):
            run([__file__, "--write", name, *map(str, one)])
        seen: dict[tuple[Table, str], Usage] = {}
        for case in cases(table, parts, Path(name)):
            took = seen[case.table, case.action] = measured(case, Path(name))
            yield case, took, seen[case.base] if case.base else None


def compared(case: Case, took: Usage, base: Usage | None) -> tuple[str, list[str]]:
    """Return the end of a case's line, its ratios to its base, and a sentence for each miss."""
    if not base or not case.base:
        return "", []
    ratios = took.cpu / base.cpu, took.megabytes / base.megabytes
    table, action = case.base
    misses = [
        f"{case.table.label}, {case.action}: {ratio:.2f} times the {what} of {table.label}, "
        f"{action}; the target is {most:g}"
        for what, ratio, most in zip(("CPU seconds", "memory"), ratios, case.limits, strict=True)
        if most and ratio > most
    ]
    targets = [f"{most:g}" if most else "" for most in case.limits]
    whose = action if table == case.table else "one file"
    return f" {ratios[0]:6.2f} {targets[0]:>4} {ratios[1]:6.2f} {targets[1]:>4}  {whose}", misses


def main() -> int:
    """Print a line for each case as soon as it is measured; return 1 if a target is missed."""
    print(f"{'file':32} {'what':25} {'CPU s':>6} {'wall s':>6} {'MB':>5}", end=" ")
    print(f"{'CPU':>6} {'most':>4} {'MB':>6} {'most':>4}  as ratios to", flush=True)
    missed: list[str] = []
    for table, parts in TABLES:
        if table.kind == "parquet" and not importlib.util.find_spec("pyarrow"):
            print(f"{table.label} is left out, as it needs the package pyarrow")
            continue
        for case, took, base in results(table, parts):
            ratios, misses = compared(case, took, base)
            numbers = f"{took.cpu:6.2f} {took.wall:6.2f} {took.megabytes:5.0f}"
            print(f"{case.table.label:32} {case.action:25} {numbers}{ratios}", flush=True)
            missed += misses
    for sentence in missed:
        print(sentence)
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        place, kind, *numbers = sys.argv[2:]
        write(Table(kind, *map(int, numbers)), Path(place))
        sys.exit(0)
    sys.exit(main())
