"""The project in a folder of its own, small enough to run, and what Snakemake says there."""

from __future__ import annotations

import compileall
import contextlib
import functools
import json
import multiprocessing
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import processes
import yaml
from packages import ROOT

#: Every job with its reason and its command.
LOUD = ("--quiet", "host", "--printshellcmds")

#: Nobody listens here: whatever wants to download fails at once.
NOWHERE = "http://127.0.0.1:9"

#: One mechanism of each axis and of none, baselines, all three data sets.
TINY: dict[str, Any] = {
    "experiment_defaults": {"trials": 2, "trials_at_table_epsilon": 0, "epsilons": [0.1, 1]},
    "taus": [0.75],
    "sketch_multiples": [4],
    "audit_runs": 2000,
    "data": {"source": "simulated"},
    "experiments": {
        "regression": {
            "task": "regression",
            "dataset": "liver",
            "target": "drinks",
            "train": 248,
            "directions": {"a": ["sgpt", "drinks"]},
            "mechanisms": ["nonprivate", "mvg_binary", "jl_exact"],
        },
        "first_pc": {
            "task": "first_pc",
            "dataset": "movement",
            "directions": {"a": ["RSS_anchor1"]},
            "mechanisms": ["random", "directional_gaussian"],
        },
        "covariance": {"task": "covariance", "dataset": "ctg", "mechanisms": ["imgm"]},
    },
}


#: Importing Snakemake takes longer than a plan: all runs fork from a process that has done it.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["snakemake.cli", "numpy", "grimp"])


def forked(words: list[str], folder: Path, variables: dict[str, str], output: str) -> None:
    """Run Snakemake in a folder and end, as the program would.

    It ends a second after its last job; in the profile it waits longer.
    """
    from snakemake.cli import main

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    for number, file in enumerate((os.devnull, output, output)):
        os.dup2(os.open(file, os.O_RDWR | os.O_APPEND), number)
    sys.argv[1:] = ["--max-jobs-per-timespan=1000/1s", *words]
    main(sys.argv[1:])


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it printed."""

    code: int
    output: str

    @functools.cached_property
    def counts(self) -> dict[str, int]:
        """Jobs by rule, from the table of job statistics (the last one)."""
        rows = re.findall(r"^(\w+) +(\d+)$", self.output.rpartition("Job stats:")[2], re.MULTILINE)
        return {rule: int(count) for rule, count in rows}

    @functools.cached_property
    def jobs(self) -> set[str]:
        """The jobs whose commands are printed, each by the name of its log."""
        return {*re.findall(r"(?:2?>|tee) (?:\S*/)?results/logs/(\S+)\.log", self.output)}

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return self.code == 0 and "Nothing to be done" in self.output


class TinyProject:
    """A copy of the project in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *command: str | Path, **variables: str) -> Outcome:
        """Run a command here, without network or mirror unless the variables give one."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        return Outcome(done.returncode, done.stdout)

    def snakemake(self, *arguments: str | Path, **variables: str) -> Outcome:
        """Run Snakemake here, see :func:`forked`, without network or mirror as ``run`` does."""
        with tempfile.NamedTemporaryFile("r") as output:
            given = [str(word) for word in arguments], self.folder, environment(**variables)
            process = FORKS.Process(target=forked, args=(*given, output.name))
            process.start()
            process.join(300)
            assert process.exitcode is not None, "Snakemake does not end"
            return Outcome(process.exitcode, output.read())

    def plan(self, *arguments: str | Path, **variables: str) -> Outcome:
        """Return what would be run."""
        outcome = self.snakemake("--dry-run", *LOUD, *arguments, **variables)
        assert outcome.code == 0, outcome.output
        return outcome

    def make(self, *arguments: str | Path, **variables: str) -> Outcome:
        """Run Snakemake and expect success."""
        outcome = self.snakemake(*LOUD, *arguments, **variables)
        assert outcome.code == 0, outcome.output
        return outcome

    def run_make(self, *arguments: str, **variables: str) -> Outcome:
        """Run `make` in an environment that is ready (see with_environment)."""
        return self.run(*self.make_command(*arguments), **variables)

    def make_command(self, *arguments: str) -> list[str]:
        return ["make", f"PYTHON={sys.executable}", f"ARGS={shlex.join(arguments)}"]

    def with_environment(self) -> TinyProject:
        """Give this copy a .venv that is ready: the interpreter that runs the tests."""
        tools = self.folder.with_name("tools")
        tools.mkdir(exist_ok=True)
        script(tools / "uv", "exit 0")
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        assert self.run(*self.make_command(), "setup", PATH=path).code == 0
        script(self.folder / ".venv/bin/snakemake", 'exec "${0%/*}/python" -m snakemake "$@"')
        (library,) = (self.folder / ".venv/lib").glob("python*/site-packages")
        (library / "tests.pth").write_text(sysconfig.get_path("purelib"))
        return self

    def configure(self, **changes: object) -> TinyProject:
        """Write config.yaml: the tiny one with these top-level keys changed."""
        (self.folder / "config.yaml").write_text(yaml.safe_dump({**TINY, **changes}))
        return self

    def copy(self, folder: Path) -> TinyProject:
        """Return a copy with the same contents and times."""
        return TinyProject(Path(shutil.copytree(self.folder, folder, symlinks=True)))

    def results(self, *kinds: str) -> dict[str, bytes]:
        """Return the contents of the files of results/KIND by name, by default what must agree."""
        return {
            str(file.relative_to(self.folder)): file.read_bytes()
            for kind in kinds or ("trials", "summary", "tables")
            for file in sorted((self.folder / "results" / kind).rglob("*"))
            if file.is_file()
        }

    def status(self, dataset: str) -> str:
        """Return whether a prepared data set is ``original`` or ``simulated``."""
        file = self.folder / "results" / "data" / dataset / "provenance.json"
        return json.loads(file.read_text())["status"]


def environment(**variables: str) -> dict[str, str]:
    """Return the variables of a newcomer who has activated nothing and whose network is down."""
    unset = {"DATA_MIRROR", "PYTHONPATH", "VIRTUAL_ENV", "NO_PROXY", "HTTP_PROXY", "HTTPS_PROXY"}
    # As `make` does: compiled modules serve the next job, also in a copy of the project.
    unset |= {"PYTHONDONTWRITEBYTECODE"}
    # Of `make test`, which may have started this.
    unset |= {"ARGS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    kept = {name: text for name, text in os.environ.items() if name.upper() not in unset}
    active = os.path.dirname(sys.executable)
    path = os.pathsep.join(part for part in kept["PATH"].split(os.pathsep) if part != active)
    return {**kept, "PATH": path, "HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE, **variables}


def script(file: Path, commands: str) -> None:
    """Write a program of the shell."""
    file.unlink(missing_ok=True)
    file.write_text(f"#!/bin/sh\n{commands}\n")
    file.chmod(0o755)


def project_files() -> Sequence[str]:
    """Return the files that a commit of everything here would hold."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    return [name for name in names if (ROOT / name).is_file()]


def clone(folder: Path) -> TinyProject:
    """Return a copy of the project as a fresh clone would be, but for the kept results.

    Its modules are compiled: each copy of it would compile them anew.
    """
    for name in project_files():
        if name.startswith("results/"):
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    for package in ("src/matrixdp", "workflow/reproduction"):
        compileall.compile_dir(folder / package, quiet=1)
    return TinyProject(folder)


def jobs_of(*experiments: str, mechanisms: Sequence[str] | None = None) -> set[str]:
    """Return the jobs of the tiny experiments' mechanisms (by default all), and what follows."""
    # Snakemake runs forks of what has imported this file: they import the copy's package.
    from reproduction import discovery

    tables = {"regression": "table3", "first_pc": "table4", "covariance": "table5"}
    found = set()
    for experiment in experiments or tables:
        for name in TINY["experiments"][experiment]["mechanisms"]:
            if mechanisms is None or name in mechanisms:
                found |= {f"trials/{experiment}/default/{name}", f"summary/{experiment}"}
                found |= {f"implied_noise/{experiment}", f"rows/{experiment}"}
                found |= jobs_of_table(tables[experiment])
                if name in discovery.mechanisms():
                    found |= {f"audit/{experiment}/{name}", f"audit/{experiment}"}
    return found


def jobs_of_report() -> set[str]:
    """Return the jobs of the tiny experiments that only sum up and show trials."""
    made = ("trials/", "audit/")
    return {name for name in jobs_of() if not name.startswith(made)} | jobs_of_table("table2")


def jobs_of_table(*names: str) -> set[str]:
    """Return the jobs that make tables of the papers."""
    return {f"tables/{name}" for name in names}


def overlay(folder: Path, **changes: object) -> list[str]:
    """Return the arguments that put settings over those of config.yaml, from a file in a folder."""
    file = folder / "overlay.yaml"
    file.write_text(yaml.safe_dump(changes))
    return ["--configfile", "config.yaml", str(file)]


def started(project: TinyProject, *command: str) -> AbstractContextManager[subprocess.Popen]:
    """Start a program in the project's folder; at the end, kill what is left of it."""
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return processes.started(*command, cwd=project.folder, env=environment(), **quiet)


def processes_below(parent: int, word: bytes) -> list[int]:
    """Return the processes that a run has started whose command has a word, the first one first."""
    children: dict[int, list[int]] = {}
    commands: dict[int, bytes] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(folder.name)] = (folder / "cmdline").read_bytes()
            children.setdefault(above, []).append(int(folder.name))
    matches, pending = [], [parent]
    while pending:
        below = children.get(pending.pop(0), [])
        pending += below
        matches += [process for process in below if word in commands[process]]
    return matches


def wait_for(project: TinyProject, pattern: str, process: subprocess.Popen) -> None:
    """Wait until a run in progress has made a file of this form."""
    limit = time.monotonic() + 100
    while not list(project.folder.glob(pattern)):
        assert process.poll() is None, "the run has ended too early"
        assert time.monotonic() < limit
        time.sleep(0.02)
