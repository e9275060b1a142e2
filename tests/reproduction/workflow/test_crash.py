"""Runs that are killed, and runs that meet another."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import time

import processes
import pytest
from tinyproject import environment, processes_below, started, wait_for


def unlock_and_run(project, *target):
    """Expect what says how to remove a lock, follow it, and run to the end."""
    refused = project.run_make(*target)
    assert refused.code == 2
    assert "say `.venv/bin/snakemake --unlock` and start again" in refused.output
    assert project.snakemake("--unlock").code == 0
    last = project.run_make(*target)
    assert last.code == 0, last.output


def test_a_killed_run_is_continued_to_the_same_bytes(fresh, finished):
    fresh.with_environment()
    target = ["table3", "-c1"]
    with started(fresh, *fresh.make_command(*target)) as run:
        wait_for(fresh, "results/trials/*/*/*.csv.gz", run)
        second = fresh.run_make(*target)
        assert second.code == 2
        assert "--unlock" in second.output
        # The workflow alone: its job lives on.
        (workflow,) = processes_below(run.pid, b"snakemake\0")
        os.kill(workflow, signal.SIGKILL)
        run.wait(60)
        data = fresh.folder / "results" / "data" / "liver" / "matrix.npy"
        written = data.stat().st_mtime_ns
    # What is left of the lock could be that of a run on another machine, so that Snakemake asks.
    unlock_and_run(fresh, *target)

    made = fresh.results()
    assert len(made) == 3 + 1 + 4
    assert made.items() <= finished.results().items()
    assert data.stat().st_mtime_ns == written
    assert not list((fresh.folder / "results").rglob(".*"))


@pytest.mark.nightly
def test_after_a_closed_terminal_the_next_run_says_how_to_go_on(fresh):
    """The hang-up ends the shell and all that runs in it, and Snakemake removes no lock."""
    fresh.with_environment()
    target = ["table3", "-c1"]
    ours, terminal = pty.openpty()
    # The shell of a session of its own, whose terminal is the first one that it opens.
    words = ["sh", "-c", 'exec <"$0" >"$0" 2>&1; "$@"; exit 0', os.ttyname(terminal)]
    words += fresh.make_command(*target)
    with processes.started(*words, cwd=fresh.folder, env=environment()) as shell:
        wait_for(fresh, "results/trials/*/*/*.csv.gz", shell)
        os.close(terminal)
        os.close(ours)
        assert shell.wait(60) == -signal.SIGHUP
        limit = time.monotonic() + 60
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < limit:
                os.killpg(shell.pid, 0)
                time.sleep(0.02)
        assert time.monotonic() < limit, "something of the run has not heard of it"
    unlock_and_run(fresh, *target)
