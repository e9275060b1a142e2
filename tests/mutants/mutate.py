"""Inject one error at a time into copies of the project and see which tests notice it.

    python tests/mutants/mutate.py [--group NAME] [-k WORD] [--workers N]

Each ``GROUP.yaml`` beside this file lists errors (mutants), each with the keys

    name      what is wrong, in words
    privacy   whether it would harm a guarantee or its statement (default: false)
    file      the file that it stands in, from the project's folder
    function  the function or class that it stands in, as ``Table.show`` (default: anywhere)
    old, new  what is replaced by what; ``old`` occurs exactly once in the file or function
    pattern   in place of ``old`` a regular expression; ``new`` may name its groups
    tests     test files, or pytest's ids, of which at least one must fail
    survives  only where no test can notice it: the reason

A run of all groups writes ``README.md`` beside this file. The exit code is 1 where a mutant
survives without a reason, dies in spite of one, or breaks its tests before they can judge it.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT, HERE = Path(__file__).resolve().parents[2], Path(__file__).resolve().parent
#: Seconds after which the tests of one mutant are given up.
LIMIT = 900
#: For pytest in a tree. Without compiled files, two edits within a second are told apart.
VARIABLES = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True)
class Mutant:
    """One error; the module's docstring explains the fields."""

    group: str
    name: str
    file: str
    new: str
    tests: tuple[str, ...]
    old: str = ""
    pattern: str = ""
    function: str = ""
    privacy: bool = False
    survives: str = ""

    def change(self, text: str) -> str:
        """Return the text of the file with the error.

        Raises:
            ValueError: what is replaced does not occur exactly once, or nothing would change.
        """
        start, end = span(text, self.function)
        matches = [*re.finditer(self.pattern or re.escape(self.old), text[start:end])]
        if len(matches) == 1:
            (match,) = matches
            new = match.expand(self.new) if self.pattern else self.new
            if new != match[0]:
                return text[: start + match.start()] + new + text[start + match.end() :]
        what, where = self.pattern or self.old, f"{self.file} {self.function}".strip()
        raise ValueError(
            f"{self.group}: {self.name}: `{what}` occurs {len(matches)} times in {where}, or stays"
        )

    def apply(self, root: Path) -> str:
        """Write the error into a tree and return the file's text before (:meth:`change`)."""
        before = (root / self.file).read_text()
        (root / self.file).write_text(self.change(before))
        return before


def span(text: str, name: str) -> tuple[int, int]:
    """Return where a function or class begins and ends in a module; all of it without a name.

    Raises:
        ValueError: there is none of this name.
    """
    if not name:
        return 0, len(text)
    node: Any = ast.parse(text)
    for part in name.split("."):
        node = next((one for one in node.body if getattr(one, "name", "") == part), None)
        if node is None:
            raise ValueError(f"there is no {name}")
    lines = text.splitlines(keepends=True)
    return len("".join(lines[: node.lineno - 1])), len("".join(lines[: node.end_lineno]))


def read(folder: Path) -> list[Mutant]:
    """Return the mutants of all groups in a folder."""
    return [
        Mutant(**{"group": path.stem, **entry, "tests": tuple(entry["tests"])})
        for path in sorted(folder.glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text())
    ]


def copy(root: Path, target: Path) -> Path:
    """Copy what git does not ignore to ``target``, with the environment and data beside it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(command, cwd=root, text=True).split("\0"):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
    for folder, here in ((root / ".venv", target), (root.parent / "shared", target.parent)):
        if folder.exists():
            (here / folder.name).symlink_to(folder.resolve())
    subprocess.run(["git", "init", "-q"], cwd=target, check=True)
    return target


def judge(mutant: Mutant | None, tests: Sequence[str], tree: Path) -> str:
    """Return what tests say of a mutant, or of a tree without one, which is left as it was.

    Returns:
        ``killed`` (a test fails), ``survived``, or ``broken``: they could not run, or too long.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    variables = {
        **os.environ,
        **VARIABLES,
        "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'workflow'}",
    }
    before = mutant.apply(tree) if mutant else ""
    try:
        done = subprocess.run(
            command, cwd=tree, env=variables, timeout=LIMIT, capture_output=True, check=False
        )
        return {0: "survived", 1: "killed"}.get(done.returncode, "broken")
    except subprocess.TimeoutExpired:
        return "broken"
    finally:
        if mutant:
            (tree / mutant.file).write_text(before)


def judged(mutants: Sequence[Mutant], root: Path, workers: int) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant with its verdict, in their order.

    Raises:
        ValueError: a mutant cannot be applied, or tests fail without any.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        trees: queue.Queue[Path] = queue.Queue()
        for number in range(workers):
            trees.put(copy(root, Path(folder, str(number), "project")))

        def work(mutant: Mutant | None, tests: Sequence[str]) -> str:
            tree = trees.get()
            try:
                return judge(mutant, tests, tree)
            finally:
                trees.put(tree)

        needed = sorted({test for mutant in mutants for test in mutant.tests})
        alone = pool.map(lambda test: work(None, [test]), needed)
        for test, verdict in zip(needed, alone, strict=True):
            if verdict != "survived":
                raise ValueError(f"{test} fails without any mutant")
        yield from zip(mutants, pool.map(lambda m: work(m, m.tests), mutants), strict=True)


def report(verdicts: Sequence[tuple[Mutant, str]]) -> str:
    """Return the page: how many mutants of each group die, and why the others do not."""
    lines = ["# Errors injected, and what the tests noticed", ""]
    lines += ["`make mutants` writes this page; `mutate.py` says how.", ""]
    lines += ["| group | mutants | killed | of them privacy | killed |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    for group in [*dict.fromkeys(m.group for m, _ in verdicts), "all"]:
        members = [(m, v == "killed") for m, v in verdicts if group in (m.group, "all")]
        private = [killed for m, killed in members if m.privacy]
        counts = len(members), sum(k for _, k in members), len(private), sum(private)
        lines.append("| " + " | ".join(map(str, (group, *counts))) + " |")
    left = [(m, v) for m, v in verdicts if v != "killed"]
    lines += ["", "| not killed | group | why |", "| --- | --- | --- |"] if left else []
    for mutant, verdict in left:
        why = mutant.survives or ("the tests could not run" if verdict == "broken" else "NO REASON")
        name = f"{mutant.name} ({mutant.file})" + " **(privacy)**" * mutant.privacy
        lines.append(f"| {name} | {mutant.group} | {why} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Judge the mutants that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group", help="only this group")
    parser.add_argument("-k", default="", metavar="WORD", help="only mutants with this in the name")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    known = read(HERE)
    mutants = [m for m in known if given.group in (None, m.group) and given.k in m.name]
    verdicts, wrong = [], 0
    try:
        for mutant, verdict in judged(mutants, ROOT, given.workers):
            verdicts.append((mutant, verdict))
            wrong += verdict != ("survived" if mutant.survives else "killed")
            print(f"{verdict:8}  {mutant.group}: {mutant.name}", flush=True)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    page = report(verdicts)
    print(f"\n{page}")
    if mutants == known:
        (HERE / "README.md").write_text(page)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
