"""Inject one error at a time into copies of the project and see whether a test notices it.

    python tests/mutants/mutate.py [--changed COMMIT] [--seconds N] [--check] [PART OF A PATH ...]

The files ``*.txt`` beside this one list errors (mutants): a path, and indented below it one line
for each error in that file, ``text ==> other text``. The text occurs once; ⏎ is the end of a line.

Which tests are asked is measured: each test file has run by itself under coverage, and an error is
shown to those that run its lines, the namesake and the quickest first. What was measured is kept in
.snakemake/mutants.json and measured again for test files that have changed. With ``--changed`` only
errors in files that differ from a commit are tried, and only test files that import them measured.

The exit code is 1 where an error cannot be injected, and where none of all test files notices it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import coverage

ROOT, HERE = Path(__file__).resolve().parents[2], Path(__file__).resolve().parent
KEPT = ROOT / ".snakemake/mutants.json"
#: Seconds of tests that an error is shown to at most, by what they take without it.
LIMIT = 300
#: Without compiled files, two edits within a second are told apart.
VARIABLES = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
COVERAGE = """[run]
source = src,workflow
data_file = {}/data
parallel = true
patch = subprocess
"""


@dataclass(frozen=True)
class Mutant:
    """One error: what it replaces in which file."""

    file: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {self.old} ==> {self.new}".replace("\n", "⏎")

    def change(self, text: str) -> str:
        """Return the text of the file with the error.

        Raises:
            ValueError: what is replaced does not occur exactly once, or nothing would change.
        """
        if text.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self}: occurs {text.count(self.old)} times, or changes nothing")
        return text.replace(self.old, self.new)

    def lines(self, text: str) -> set[int]:
        """Return the numbers of the lines that it changes."""
        start = text[: text.index(self.old)].count("\n") + 1
        return {*range(start, start + self.old.count("\n") + 1)}


def read() -> list[Mutant]:
    """Return all errors of the lists."""
    mutants, file = [], ""
    for path in sorted(HERE.glob("*.txt")):
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            if not line.startswith(" "):
                file = line
                continue
            old, _, new = line.strip().replace("⏎", "\n").partition(" ==>")
            mutants.append(Mutant(file, old, new.removeprefix(" ")))
    return mutants


def digest(name: str) -> str:
    """Return a digest of a file of the project."""
    return sha256((ROOT / name).read_bytes()).hexdigest()


def copy(target: Path) -> Path:
    """Copy what git does not ignore to a folder, with the environment and the data beside it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(command, cwd=ROOT, text=True).split("\0"):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    for folder, here in ((ROOT / ".venv", target), (ROOT.parent / "shared", target.parent)):
        if folder.exists():
            (here / folder.name).symlink_to(folder.resolve())
    subprocess.run(["git", "init", "-q"], cwd=target, check=True)
    return target


def execute(tree: Path, limit: float | None, *words: str) -> int:
    """Run Python with words in a tree; return the exit code, or 1 if it takes too long."""
    path = f"{tree / 'src'}{os.pathsep}{tree / 'workflow'}"
    variables = {**os.environ, **VARIABLES, "PYTHONPATH": path}
    try:
        return subprocess.run(
            [sys.executable, *words], cwd=tree, env=variables, timeout=limit, capture_output=True
        ).returncode
    except subprocess.TimeoutExpired:
        return 1


def measure(test: str, tree: Path) -> dict:
    """Run a test file under coverage; return its seconds, whether it passes, and its lines."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "settings")
        settings.write_text(COVERAGE.format(folder))
        words = ["-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q", "-n0"]
        code = execute(tree, None, *words, "-p", "no:cacheprovider", test)
        lines: dict[str, set[int]] = {}
        for part in Path(folder).glob("data.*"):
            data = coverage.CoverageData(str(part))
            data.read()
            for file in data.measured_files():
                if Path(file).is_relative_to(tree):
                    name = Path(file).relative_to(tree).as_posix()
                    lines.setdefault(name, set()).update(data.lines(file) or ())
    return {
        "digest": digest(test),
        "passes": code == 0,
        "seconds": time.monotonic() - start,
        "lines": {file: sorted(numbers) for file, numbers in lines.items()},
        "files": {file: digest(file) for file in lines},
    }


def importing(files: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the test files that import one of some modules by name, or are named after one."""
    names = "|".join({Path(file).stem for file in files})
    word = re.compile(rf"\bimport\b.*\b({names})\b|^from \S*\b({names})\b import", re.MULTILINE)
    return [
        test
        for test in known
        if word.search((ROOT / test).read_text()) or re.search(rf"test_({names})\.py$", test)
    ]


def candidates(mutant: Mutant, measured: dict[str, dict]) -> list[str]:
    """Return the test files that an error is shown to: they run its lines, or else its file.

    What is no code, or has changed since it was measured, has no lines: then its file, or the code
    that names it, counts.
    """
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    passing = {name: one for name, one in measured.items() if one["passes"]}
    lines, now = mutant.lines(text), digest(mutant.file)
    chosen = [
        name
        for name, one in passing.items()
        if one["files"].get(mutant.file) == now and lines & {*one["lines"][mutant.file]}
    ]
    chosen = chosen or [name for name, one in passing.items() if mutant.file in one["files"]]
    if not mutant.file.endswith(".py"):
        named = Path(mutant.file).name
        chosen = [name for name in passing if named in (ROOT / name).read_text(encoding="utf-8")]
    namesake = f"test_{Path(mutant.file).stem}.py"
    chosen.sort(key=lambda name: (Path(name).name != namesake, passing[name]["seconds"]))
    total, shown = 0.0, []
    for name in chosen:
        total += passing[name]["seconds"]
        if total <= LIMIT or not shown:
            shown.append(name)
    return shown


def verdict(mutant: Mutant, asked: list[str], tree: Path, limit: float) -> str:
    """Return what tests say of an error: ``noticed``, ``MISSED``, or ``UNTESTED`` without any."""
    if not asked:
        return "UNTESTED"
    before = (tree / mutant.file).read_text(encoding="utf-8")
    (tree / mutant.file).write_text(mutant.change(before), encoding="utf-8")
    try:
        words = ["-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", *asked]
        return "MISSED" if execute(tree, limit, *words) == 0 else "noticed"
    finally:
        (tree / mutant.file).write_text(before, encoding="utf-8")


def main() -> int:
    """Try the errors that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="only errors in files whose path has one of these")
    parser.add_argument("--changed", metavar="COMMIT", help="only in files that differ from it")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no other after so many")
    parser.add_argument("--check", action="store_true", help="only see that all can be injected")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    mutants, end = read(), time.monotonic() + given.seconds
    try:
        for mutant in mutants:
            mutant.change((ROOT / mutant.file).read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if given.check:
        return 0
    if given.parts:
        mutants = [one for one in mutants if any(part in one.file for part in given.parts)]
    every = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("tests/**/test_*.py"))]
    known, kept = every, json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if given.changed:
        command = ["git", "diff", "--name-only", given.changed]
        changed = {*subprocess.check_output(command, cwd=ROOT, text=True).split()}
        mutants = [one for one in mutants if one.file in changed]
        if not kept.keys() >= {*every}:
            known = importing({one.file for one in mutants}, every) if mutants else []
    namesakes = {f"test_{Path(one.file).stem}.py" for one in mutants}
    known = sorted(known, key=lambda name: Path(name).name not in namesakes)
    stale = [name for name in known if kept.get(name, {}).get("digest") != digest(name)]
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.workers) as pool:
        trees: queue.Queue[Path] = queue.Queue()
        for number in range(given.workers if mutants else 0):
            trees.put(copy(Path(folder, str(number), "project")))

        def work(job, late, before=end):
            tree = trees.get()
            try:
                return job(tree) if time.monotonic() < before else late
            finally:
                trees.put(tree)

        # Half of the time is for that.
        half, jobs = end - given.seconds / 2, [partial(measure, name) for name in stale]
        news = pool.map(lambda job: work(job, None, half), jobs)
        kept |= {name: one for name, one in zip(stale, news, strict=True) if one}
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept))
        measured = {name: kept[name] for name in known if name in kept}
        for name in (name for name, one in measured.items() if not one["passes"]):
            print(f"{name} fails without any error, and is not asked", flush=True)

        def judge(mutant):
            asked = candidates(mutant, measured)
            if not asked and len(measured) < len(known):
                return "not tried"
            limit = 60 + 3 * sum(measured[name]["seconds"] for name in asked)
            return work(lambda tree: verdict(mutant, asked, tree, limit), "not tried")

        for mutant, said in zip(mutants, pool.map(judge, mutants), strict=True):
            counts[said] = counts.get(said, 0) + 1
            print(f"{said:9}  {mutant}", flush=True)
    print(f"{len(mutants)} errors: {counts or 'none in the files that changed'}")
    if missing := len({*every} - {*measured}):
        print(f"{missing} test files were not asked; `make mutants` asks all")
        return 0
    return int(bool({"MISSED", "UNTESTED"} & {*counts}))


if __name__ == "__main__":
    sys.exit(main())
