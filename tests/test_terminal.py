"""What `make` shows of a run, and how it ends by Ctrl-C."""

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import snakemake_logger_plugin_plain as plain

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, ROOT / "workflow" / "snakemake_logger_plugin_plain", "--cores=2"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
SNAKEFILE = """
rule all:
    input: "results/report.html", "results/b"
rule trials_of_a:
    output: "results/a"
    message: "Trials: a"
    shell: "touch {output}"
rule page:
    input: "results/a"
    output: "results/{name}"
    log: "results/{name}.log"
    shell:
        "echo A sentence that says why. > {log}; touch started;"
        "[ {wildcards.name} != slow ] || sleep 60; touch {output}; [ {wildcards.name} != bad ]"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    return tmp_path


def run(folder, *arguments):
    """Run the small workflow; return the exit code and the lines shown."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
    )
    return done.returncode, done.stdout.splitlines()


def test_a_run_takes_a_line_a_job_and_ends_with_where_to_look(folder):
    code, (jobs, first, *two, done, look) = run(folder)
    assert code == 0
    assert jobs.startswith("4 jobs.")
    assert first.split() == ["0", "of", "4", "done", "Trials:", "a"]
    assert [line.split()[-1] for line in two] == ["Page", "Page"]
    assert done == "4 jobs done in about 1 min."
    assert look == "Look at results/report.html."
    assert run(folder)[1] == [
        "Nothing to be done: all that was asked for is up to date.",
        "Look at results/report.html.",
    ]


def test_a_dry_run_says_why(folder):
    code, lines = run(folder, "-n")
    assert code == 0
    assert lines[0] == "Trials: a. Missing output files: results/a"
    assert lines[-1] == "4 jobs would run; this was a dry run."
    assert len(lines) == 4


def test_a_failing_job_shows_its_own_sentence(folder):
    code, lines = run(folder, "results/bad")
    assert code == 1
    assert lines[-4:] == [
        "FAILED: Page",
        "    A sentence that says why.",
        "    (log: results/bad.log)",
        "1 of 2 jobs failed; once mended, the same command goes on.",
    ]


def test_an_error_in_the_workflow_shows_no_places_in_it(folder):
    (folder / "Snakefile").write_text(
        "from snakemake.exceptions import WorkflowError\nraise WorkflowError('Mend epsilons.')\n"
    )
    assert run(folder) == (1, ["Mend epsilons."])


def test_ctrl_c_ends_with_a_sentence(folder):
    with subprocess.Popen(
        [*COMMAND, "results/slow"],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        limit = time.monotonic() + 60
        while not (folder / "started").exists():
            assert running.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        shown = running.communicate(timeout=60)[0].splitlines()
    # By the signal, as a shell expects it of what Ctrl-C stops.
    assert running.returncode == -signal.SIGINT
    assert shown[-1] == "Stopped. The same command goes on from here."
    assert len(shown) == 5


# The handler by itself


@pytest.fixture
def handler(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {"verbose": False, "printshellcmds": False, "debug_dag": False, "dryrun": False}
    return plain.LogHandler(SimpleNamespace(**settings), None)


def send(handler, message="", level=logging.INFO, **extra):
    record = logging.makeLogRecord({"msg": message, "levelno": level, **extra})
    handler.emit(record)


def job(handler, number, rule="trials"):
    job = {"jobid": number, "rule_msg": "", "rule_name": rule, "output": ["x"], "input": []}
    send(handler, event="job_info", **job)


def test_warnings_come_last(handler, capsys):
    send(handler, event="run_info", stats={"trials": 1, "total": 1})
    send(handler, "Simulated.", logging.WARNING)
    job(handler, 1)
    send(handler, event="job_finished", job_id=1)
    handler.close()
    handler.close()
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "Simulated.",
        "1 jobs done in about 1 min.",
    ]


def test_the_time_left_is_that_of_jobs_of_the_same_kind(handler, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(plain.time, "monotonic", lambda: clock[0])
    handler.start = 0.0
    send(handler, event="run_info", stats={"train_a": 2, "train_b": 10, "trials": 8, "total": 20})
    for number in range(8):
        assert bool(handler.time_left()) == (number >= 3)
        job(handler, number)
        clock[0] += 10
        send(handler, event="job_finished", job_id=number)
    job(handler, 8, "train_a")
    clock[0] += 600
    send(handler, event="job_finished", job_id=8)
    # Eleven trainings of 600 s, one at a time.
    assert handler.time_left() == ", about 1 h 50 min left"
    job(handler, 9, "train_b")
    clock[0] += 300
    assert handler.time_left() == ", about 1 h 45 min left"


def test_a_full_disk_is_named_where_a_log_is_empty(handler, capsys, monkeypatch, tmp_path):
    def full(dir):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(plain.tempfile, "TemporaryFile", full)
    (tmp_path / "log").touch()
    send(handler, event="job_error", jobid=1, rule_name="a", log=[str(tmp_path / "log")])
    assert f"    {tmp_path} cannot be written: No space left on device." in capsys.readouterr().out


def test_a_closed_terminal_stops_nothing(handler, monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    send(handler, event="run_info", stats={"trials": 1, "total": 1})
    handler.close()
