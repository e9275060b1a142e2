"""Runs on full disks, in copied folders, with wrong clocks, killed at any instant."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from packages import PATH
from tinyproject import environment, processes_below, started

pytestmark = pytest.mark.nightly

TARGET = ("table3", "-c2")


def small_files():
    """Let no file grow beyond 200 bytes, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))


def with_full_log(plan, target):
    """Return the planned command of a file or folder, with a log that takes nothing."""
    commands = re.findall(
        r"^Shell command: (.*?\.log(?: 2?>&\d)?)$", plan, re.DOTALL | re.MULTILINE
    )
    output = rf"(?:--out|>) (?:{target}|{Path(target).parent})[ ;]"
    (command,) = (each for each in commands if re.search(output, each))
    return ["bash", "-o", "pipefail", "-c", re.sub(r"results/logs/\S+\.log", "/dev/full", command)]


def words_of(done):
    """Return what a command says itself."""
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if not line.startswith("tee: ")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk here")
def test_a_full_disk_is_one_sentence_and_leaves_no_half_file(again):
    targets = [
        "results/data/liver/provenance.json",
        "results/trials/regression/default/mvg_binary.csv.gz",
        "results/summary/regression.csv",
    ]
    planned = again.plan("--force", *targets, "results/settings.yaml").output
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    variables = environment(PYTHONPATH=PATH, PATH=path, LC_ALL="C")
    # A full disk would also cut short the compiled modules.
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    for target in targets:
        folder = (again.folder / target).parent
        before = folder.rename(folder.with_name("before"))
        done = subprocess.run(
            with_full_log(planned, target),
            cwd=again.folder,
            env=variables,
            preexec_fn=small_files,
            capture_output=True,
            text=True,
        )
        assert done.returncode, done.stderr
        (sentence,) = words_of(done)
        assert "cannot be written (file too large); free some space" in sentence
        assert [path for path in folder.rglob("*") if path.is_file()] == []
        shutil.rmtree(folder, ignore_errors=True)
        before.rename(folder)
    # A job of the shell alone, whose file Snakemake takes away.
    done = subprocess.run(
        with_full_log(planned, "results/settings.yaml"),
        cwd=again.folder,
        env=variables,
        preexec_fn=small_files,
        capture_output=True,
        text=True,
    )
    assert done.returncode
    (sentence,) = words_of(done)
    assert "write error: File too large" in sentence


# test_crash.py kills at two instants.
@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("victim", ["workflow", "job", "make"])
def test_a_run_killed_at_any_instant_comes_to_the_same_bytes(fresh, finished, victim):
    fresh.with_environment()
    draw = random.Random(7)
    for instant in [draw.uniform(0.3, 9) for _ in range(20)]:
        with started(fresh, *fresh.make_command(*TARGET)) as run:
            time.sleep(instant)
            name = {"workflow": b"snakemake\0", "job": b"reproduction", "make": b""}[victim]
            processes = processes_below(run.pid, name)
            for process in [run.pid, *processes] if victim == "make" else processes[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            run.wait(120)
        # What a killed start had begun may outlive it for a moment; then its lock is removed, as
        # Snakemake says.
        limit = time.monotonic() + 60
        while processes := processes_below(run.pid, b""):
            assert time.monotonic() < limit, processes
            time.sleep(0.5)
        assert fresh.snakemake("--unlock").code == 0
    last = fresh.run_make(*TARGET)
    assert last.code == 0, last.output
    made = fresh.results()
    assert len(made) >= 3 + 1 + 4
    assert made.items() <= finished.results().items()
    shutil.rmtree(fresh.folder)
