"""What `make` and `make plan` say of a run."""

import subprocess
import sys
from pathlib import Path

import pytest
from packages import PATH

from reproduction import terminal

COUNTS = {"trials": 2, "table": 1, "total": 3}
SECONDS = {"trials": 60.0, "table": 2.0}
BEFORE = "Union of exclusive params before and now across all output: before:"


def changed(before, now):
    return f"Params have changed since last execution: {BEFORE} {before} now: {now} "


HASHES = "0123456789ab", "ba9876543210"
LISTS = [
    f"['workflow/reproduction/a.py {one}', 'src/b.py {HASHES[0]}', 'r.yaml without title {one}']"
    for one in HASHES
]


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("Missing output files: a.csv", "missing"),
        ("Missing output files: a.csv; Input files updated by another job: b.csv", ""),
        ("Input files updated by another job: b.csv", ""),
        ("Updated input files: table3.csv", "Updated input files: table3.csv"),
        ("Code has changed since last execution", "Code has changed since last execution"),
        (changed(*(f"'src/a.py {one}'" for one in HASHES)), "edited: src/a.py"),
        # Of a list the files alone that have changed.
        (changed(*LISTS), "edited: r.yaml, workflow/reproduction/a.py"),
        (changed("<nothing exclusive>", f"'src/a.py {HASHES[0]}'"), "edited: src/a.py"),
        (
            changed('\'{"trials": 2, "seed": 1}\'', '\'{"trials": 3, "seed": 1}\''),
            "settings: trials 2 -> 3",
        ),
        (changed("0.1", "0.2"), "settings: 0.1 -> 0.2"),
    ],
)
def test_a_plan_says_why_in_a_few_words(reason, cause):
    assert terminal.cause(reason) == cause


def test_a_plan_lists_causes_counts_and_the_time():
    jobs = [
        ("Trials: a", "Missing output files: a"),
        ("Table: b", "Input files updated by another job: a"),
    ]
    *lines, last = terminal.plan(jobs, COUNTS, SECONDS)
    assert lines[0] == "Trials: a: missing"
    assert [line.split() for line in lines[1:]] == [["trials", "2"], ["table", "1"], ["total", "3"]]
    assert "about 2 min of one core" in last
    # Nothing is said of times that nobody knows.
    assert len([*terminal.plan(jobs, COUNTS, {"table": 2})]) == len(lines)


def test_a_run_says_how_far_it_is_how_long_is_left_and_what_runs_longest():
    progress = terminal.Progress(SECONDS, cores=2)
    progress.left.update({"trials": 2, "table": 1})
    progress.start(1, "trials", "Trials: a", now=0)
    progress.start(2, "trials", "Trials: b", now=30)
    # 122 s of one core are left, less 40 and 10.
    line = progress.line(now=40)
    assert line == "0 of 3 jobs done, about 36 s left, longest: Trials: a (40 s)"
    progress.end(1, now=50)
    assert progress.line(now=50).startswith("1 of 3 jobs done, about 21 s left, longest: Trials: b")
    # Longer than any job of this rule took: it may end at any time, and the table is to come.
    late = progress.line(now=500)
    assert late.startswith("1 of 3 jobs done, at least 1 s left, longest: Trials: b")
    progress.left["table"] = 0
    assert progress.line(now=500) == "1 of 2 jobs done, longest: Trials: b (8 min)"
    progress.left["table"] = 1
    progress.end(2, now=90)
    assert progress.means() == {"trials": 55}
    # The first run knows of the rules that it has seen, and else says nothing of time.
    assert terminal.Progress({}, left=progress.left).line(now=0) == "0 of 1 jobs done"


def test_times_of_a_run_stand_beside_its_results_and_go_before_those_of_the_kept_one(tmp_path):
    kept, run = tmp_path / "kept", tmp_path / "results"
    terminal.write_seconds(kept, SECONDS)
    assert terminal.read_seconds(run, kept) == SECONDS
    terminal.write_seconds(run, {"trials": 7})
    assert terminal.read_seconds(run, kept) == {"trials": 7, "table": 2}
    # A run that needs one rule forgets no other.
    terminal.write_seconds(run, {"figure": 3})
    assert terminal.read_seconds(run) == {"trials": 7, "figure": 3}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk here")
@pytest.mark.parametrize("stream", ["9", ""])
def test_what_a_full_log_cannot_take_is_on_the_terminal(stream, tmp_path):
    """As in a rule, whose command ends in `> LOG 2>&1`."""
    words = f"{sys.executable} -m reproduction trials zero --settings '' --data a --out b"
    command = f"MATRIXDP_TERMINAL={stream} 9>&2 PYTHONPATH={PATH} {words} > LOG 2>&1"
    for log in ("/dev/full", tmp_path / "log"):
        done = subprocess.run(
            ["bash", "-c", command.replace("LOG", str(log))], text=True, stderr=-1
        )
        assert done.returncode
        shown = "no JSON object with an experiment" in done.stderr
        assert shown == (stream == "9" and log == "/dev/full")
    assert (tmp_path / "log").read_text().count("\n") == 1
