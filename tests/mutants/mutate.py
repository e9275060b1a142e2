"""Inject one error at a time into copies of the project and see whether a test notices it.

    python tests/mutants/mutate.py [--changed COMMIT] [--seconds N] [--check] [PART OF A PATH ...]

The files ``*.txt`` beside this one list errors (mutants): a path, and indented below it one line
for each error in that file, ``text ==> other text``. The text occurs once; ⏎ is the end of a line.

Each test file runs by itself under coverage. An error is shown to those that run its lines, the
namesake and the quickest first. What is measured is in .snakemake/measurements.json; a test file
that has changed is measured again. With ``--changed`` only errors in files that differ from a
commit are tried, and without a whole measurement only test files that name them are measured.

The exit code is 1 where an error cannot be injected, and where no test file of all notices it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import coverage

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".snakemake/measurements.json"
#: Seconds of tests that an error is shown to at most, by what they take without it.
LIMIT = 300
#: Without compiled files, two edits within a second are told apart.
VARIABLES = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
COVERAGE = """[run]
source = src,workflow
data_file = {}/data
patch = subprocess
"""
PYTEST = ("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider")
KILLED, SURVIVED, UNTESTED, NOT_RUN = "killed", "SURVIVED", "UNTESTED", "not run"


class Mutant(NamedTuple):
    """One error: a file, a text in it, and what replaces the text."""

    file: str
    text: str
    replacement: str

    def __str__(self) -> str:
        return f"{self.file}: {self.text} ==> {self.replacement}".replace("\n", "⏎")

    def inject(self, source: str) -> str:
        """Return the text of the file with the error; ValueError where that cannot be."""
        if source.count(self.text) != 1 or self.text == self.replacement:
            raise ValueError(f"{self}: occurs {source.count(self.text)} times, or changes nothing")
        return source.replace(self.text, self.replacement)

    def lines(self, source: str) -> set[int]:
        """Return the numbers of the lines that it changes."""
        start = source.partition(self.text)[0].count("\n") + 1
        return {*range(start, start + self.text.count("\n") + 1)}


class Measurement(NamedTuple):
    """A test file: its digest, its time, and the digest and the lines of each file that it runs."""

    digest: str
    seconds: float
    files: dict[str, tuple[str, list[int]]]


def read_mutants() -> list[Mutant]:
    """Return all errors of the lists."""
    mutants, file = [], ""
    for path in sorted(ROOT.glob("tests/mutants/*.txt")):
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            if not line.startswith(" "):
                file = line
                continue
            text, _, replacement = line.strip().replace("⏎", "\n").partition(" ==>")
            mutants.append(Mutant(file, text, replacement.removeprefix(" ")))
    return mutants


def digest(name: str) -> str:
    """Return a digest of a file of the project."""
    return sha256((ROOT / name).read_bytes()).hexdigest()


def copy_project(target: Path) -> Path:
    """Copy what git does not ignore to a folder, with the environment and the data beside it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(command, cwd=ROOT, text=True).split("\0"):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for folder, place in ((ROOT / ".venv", target), (ROOT.parent / "shared", target.parent)):
        if folder.exists():
            (place / folder.name).symlink_to(folder.resolve())
    subprocess.run(["git", "init", "-q"], cwd=target, check=True)
    return target


def run_python(tree: Path, limit: float | None, *arguments: str) -> int:
    """Run Python in a copy of the project; return the exit code, or 1 if it takes too long."""
    path = f"{tree / 'src'}{os.pathsep}{tree / 'workflow'}"
    variables = {**os.environ, **VARIABLES, "PYTHONPATH": path}
    settings = {"cwd": tree, "env": variables, "timeout": limit, "capture_output": True}
    try:
        return subprocess.run([sys.executable, *arguments], **settings).returncode
    except subprocess.TimeoutExpired:
        return 1


def measure(test: str, tree: Path) -> Measurement:
    """Run a test file under coverage; one that fails without any error has no files."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "settings")
        settings.write_text(COVERAGE.format(folder))
        command = ("-m", "coverage", "run", f"--rcfile={settings}", *PYTEST, test)
        code = run_python(tree, None, *command)
        lines: dict[str, set[int]] = {}
        for part in Path(folder).glob("data.*"):
            data = coverage.CoverageData(str(part))
            data.read()
            for file in data.measured_files():
                if Path(file).is_relative_to(tree):
                    name = Path(file).relative_to(tree).as_posix()
                    lines.setdefault(name, set()).update(data.lines(file) or ())
    if code:
        print(f"{test} fails without any error, and is shown none", flush=True)
    files = {file: (digest(file), sorted(rows)) for file, rows in lines.items() if rows}
    return Measurement(digest(test), time.monotonic() - start, {} if code else files)


def select_tests(mutant: Mutant, measurements: dict[str, Measurement]) -> list[str]:
    """Return the test files that an error is shown to: they run its lines, or else its file.

    What has changed since it was measured has no lines; what is no code is run by those that name
    it.
    """
    path = ROOT / mutant.file
    lines, current = mutant.lines(path.read_text(encoding="utf-8")), digest(mutant.file)
    pairs = [(name, row.files.get(mutant.file)) for name, row in measurements.items()]
    runs = {name: file for name, file in pairs if file}
    tests = [name for name, (old, numbers) in runs.items() if old == current and lines & {*numbers}]
    tests = tests or [*runs]
    if path.suffix != ".py":
        tests = [name for name in measurements if path.name in (ROOT / name).read_text()]
    tests.sort(key=lambda name: (path.stem not in name, measurements[name].seconds))
    total, selection = 0.0, []
    for name in tests:
        total += measurements[name].seconds
        if total <= LIMIT or not selection:
            selection.append(name)
    return selection


def try_mutant(mutant: Mutant, tests: list[str], limit: float, tree: Path) -> str:
    """Return whether tests kill a mutant in a copy of the project."""
    path = tree / mutant.file
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.inject(source), encoding="utf-8")
    code = run_python(tree, limit, *PYTEST, "-x", *tests)
    path.write_text(source, encoding="utf-8")
    return KILLED if code else SURVIVED


def main() -> int:
    """Try the errors that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="only errors in files whose path has one of these")
    parser.add_argument("--changed", metavar="COMMIT", help="only in files that differ from it")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no other after so many")
    parser.add_argument("--check", action="store_true", help="only see that all can be injected")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    mutants = read_mutants()
    try:
        for mutant in mutants:
            mutant.inject((ROOT / mutant.file).read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        return 0
    parts = options.parts or [""]
    mutants = [row for row in mutants if any(part in row.file for part in parts)]
    tests = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("tests/**/test_*.py"))]
    count = len(tests)
    cache = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    measurements = {name: Measurement(*row) for name, row in cache.items() if name in tests}
    if options.changed:
        command = ["git", "diff", "--name-only", options.changed]
        changed = subprocess.check_output(command, cwd=ROOT, text=True).split()
        mutants = [row for row in mutants if row.file in changed]
        if len(measurements) < count:
            modules = "|".join({Path(row.file).stem for row in mutants}) or "$."
            line = re.compile(rf"\b({modules})(,| import|$)", re.MULTILINE)
            tests = [name for name in tests if line.search((ROOT / name).read_text())]
    stems = {f"test_{Path(row.file).stem}" for row in mutants}
    tests.sort(key=lambda name: Path(name).stem not in stems)
    digests = {name: row.digest for name, row in measurements.items()}
    stale = [name for name in tests if digests.get(name) != digest(name)] if mutants else []
    place, end = threading.local(), time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:

        def start_worker() -> None:
            place.tree = copy_project(Path(folder, str(threading.get_ident()), "project"))

        def try_measure(name: str) -> Measurement | None:
            late = time.monotonic() > end - options.seconds / 2
            return None if late else measure(name, place.tree)

        def judge(mutant: Mutant) -> str:
            selection = select_tests(mutant, measurements)
            if not selection and len(measurements) == len(tests):
                return UNTESTED
            if not selection or time.monotonic() > end:
                return NOT_RUN
            limit = 60 + 3 * sum(measurements[name].seconds for name in selection)
            return try_mutant(mutant, selection, limit, place.tree)

        counts: Counter[str] = Counter()
        with ThreadPoolExecutor(options.workers, initializer=start_worker) as pool:
            news = zip(stale, pool.map(try_measure, stale), strict=True)
            measurements |= {name: row for name, row in news if row}
            CACHE.parent.mkdir(exist_ok=True)
            CACHE.write_text(json.dumps(measurements))
            measurements = {name: row for name, row in measurements.items() if name in tests}
            for mutant, verdict in zip(mutants, pool.map(judge, mutants), strict=True):
                counts[verdict] += 1
                print(f"{verdict:8}  {mutant}", flush=True)
    missing = count - len(measurements) if mutants else 0
    print(f"{len(mutants)} errors: {dict(counts)}; {missing} test files not measured")
    return int(not missing and bool({SURVIVED, UNTESTED} & {*counts}))


if __name__ == "__main__":
    sys.exit(main())
