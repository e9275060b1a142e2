"""Inject one error at a time into a copy of the project and see whether its tests notice it.

    python tests/mutants/mutate.py [--changed COMMIT] [--seconds N] [--check] [PART OF A PATH ...]

The files ``*.txt`` beside this one list errors (mutants): a path, the tests that notice them as
arguments of pytest, and indented below it one line for each error in that file, ``text ==> other
text``. The text occurs once in the file; ⏎ is the end of a line.

Tests run first without any error, and must pass. With ``--changed`` only errors in files that
differ from a commit are tried. The exit code is 1 where an error cannot be injected, where its
tests do not notice it, and where they fail without it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: Without compiled files, two edits within a second are told apart.
VARIABLES = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
PYTEST = ("-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider")
KILLED, SURVIVED, BROKEN, NOT_RUN = "killed", "SURVIVED", "TESTS FAIL WITHOUT IT", "not run"


class Mutant(NamedTuple):
    """One error: a file, the tests that notice it, a text in the file, and what replaces it."""

    file: str
    tests: tuple[str, ...]
    text: str
    replacement: str

    def __str__(self) -> str:
        return f"{self.file}: {self.text} ==> {self.replacement}".replace("\n", "⏎")

    def inject(self, source: str) -> str:
        """Return the text of the file with the error; ValueError where that cannot be."""
        if source.count(self.text) != 1 or self.text == self.replacement:
            raise ValueError(f"{self}: occurs {source.count(self.text)} times, or changes nothing")
        return source.replace(self.text, self.replacement)

    def check(self) -> None:
        """Raise ValueError or OSError where the error or its tests are not there."""
        self.inject((ROOT / self.file).read_text(encoding="utf-8"))
        files = [word.partition("::")[0] for word in self.tests if not word.startswith("-")]
        if not files:
            raise ValueError(f"{self}: has no tests; name them after the path of its file")
        for name in files:
            (ROOT / name).stat()


def read_mutants() -> list[Mutant]:
    """Return all errors of the lists."""
    mutants, file, tests = [], "", ""
    for path in sorted(ROOT.glob("tests/mutants/*.txt")):
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            if not line.startswith(" "):
                file, _, tests = line.partition(": ")
                continue
            text, _, replacement = line.strip().replace("⏎", "\n").partition(" ==>")
            words = tuple(tests.split())
            mutants.append(Mutant(file, words, text, replacement.removeprefix(" ")))
    return mutants


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


def passes(tests: tuple[str, ...], tree: Path, limit: float | None = None) -> bool:
    """Return whether tests pass in a copy of the project, within a limit in seconds."""
    path = f"{tree / 'src'}{os.pathsep}{tree / 'workflow'}"
    variables = {**os.environ, **VARIABLES, "PYTHONPATH": path}
    settings = {"cwd": tree, "env": variables, "timeout": limit, "capture_output": True}
    try:
        return subprocess.run([sys.executable, *PYTEST, *tests], **settings).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def try_mutants(mutants: list[Mutant], tree: Path, end: float) -> Iterator[str]:
    """Yield whether the tests that some errors share notice each, in a copy of the project."""
    tests, start = mutants[0].tests, time.monotonic()
    sound = start > end or passes(tests, tree)
    limit = 60 + 3 * (time.monotonic() - start)
    for mutant in mutants:
        verdict = NOT_RUN if sound else BROKEN
        if sound and time.monotonic() < end:
            path = tree / mutant.file
            source = path.read_text(encoding="utf-8")
            path.write_text(mutant.inject(source), encoding="utf-8")
            verdict = SURVIVED if passes(tests, tree, limit) else KILLED
            path.write_text(source, encoding="utf-8")
        print(f"{verdict:8}  {mutant}", flush=True)
        yield verdict


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
            mutant.check()
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        return 0
    if options.parts:
        mutants = [row for row in mutants if any(part in row.file for part in options.parts)]
    if options.changed:
        command = ["git", "diff", "--name-only", options.changed]
        changed = subprocess.check_output(command, cwd=ROOT, text=True).split()
        mutants = [row for row in mutants if row.file in changed]
    groups: dict[tuple[str, ...], list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault(mutant.tests, []).append(mutant)
    place, end = threading.local(), time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:

        def start_worker() -> None:
            place.tree = copy_project(Path(folder, str(threading.get_ident()), "project"))

        def try_group(group: list[Mutant]) -> list[str]:
            return [*try_mutants(group, place.tree, end)]

        with ThreadPoolExecutor(options.workers, initializer=start_worker) as pool:
            verdicts = pool.map(try_group, groups.values())
            counts = Counter(verdict for group in verdicts for verdict in group)
    print(f"{len(mutants)} errors: {dict(counts)}")
    return int(bool({SURVIVED, BROKEN} & {*counts}))


if __name__ == "__main__":
    sys.exit(main())
