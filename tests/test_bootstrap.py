"""Set-up, the lock on the folder, and going on after a kill. No real environment is made here."""

import ast
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import processes
import pytest

import bootstrap
from bootstrap import Project, SetupError

ROOT = Path(__file__).parents[1]
process = functools.partial(processes.started, text=True)
HOLDER = """
import sys, time, pathlib, bootstrap
with bootstrap.Project(pathlib.Path(sys.argv[1])).locked():
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def project(tmp_path):
    """A project whose Python notes down what it is called with."""
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow" / "requirements.lock").write_text("a==1 \\\n    --hash=x\nb==2\n")
    return Project(tmp_path, (3, 11, 7))


class Runner:
    """Stands in for venv and pip: notes the commands, makes the folder, fails when told to."""

    def __init__(self, project, fail=""):
        self.project, self.fail, self.commands = project, fail, []

    def __call__(self, command):
        self.commands.append(" ".join(command))
        assert not self.project.ready()
        if "--clear" in command:
            shutil.rmtree(self.project.venv, ignore_errors=True)
        if "venv" in command:
            make_venv(self.project)
        if self.fail and self.fail in self.commands[-1]:
            raise SetupError("no network")


def make_venv(project, script="exit 0"):
    library = "python{}.{}".format(*project.version)
    (project.venv / "lib" / library).mkdir(parents=True, exist_ok=True)
    project.python.parent.mkdir(exist_ok=True)
    project.python.write_text(f"#!/bin/sh\n{script}\n")
    project.python.chmod(0o755)


def prepared(project, uv=None):
    """Prepare and return the commands that it took."""
    runner = Runner(project)
    project.prepare(uv, runner)
    assert project.ready()
    return runner.commands


# What is wrong with this Python


def test_an_old_python_is_told_which_one_is_needed():
    bootstrap.check_python((3, 11, 0))
    bootstrap.check_python((4, 0, 0))
    with pytest.raises(SetupError, match=r"Python 3\.9 .* needs Python 3\.11 .*PYTHON=python3\.11"):
        bootstrap.check_python((3, 9, 18))


def test_an_old_python_can_read_the_file():
    ast.parse(Path(bootstrap.__file__).read_text(), feature_version=(3, 8))


def test_missing_ensurepip_names_the_debian_package():
    bootstrap.check_modules("venv", "ensurepip")
    with pytest.raises(SetupError, match=r"without ensurepip.*apt install python3-venv"):
        bootstrap.check_modules("venv", "ensurepip", find=lambda name: name == "venv" or None)


def test_an_unknown_command_is_refused_in_one_line(capsys):
    assert bootstrap.main(["tset"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("'tset' is no command: choose from run, test, mutants, bench, setup,")
    assert said.endswith("slurm, clean, docs, page, redraw, verify, keep.\n")


# When .venv is made anew


def test_setup_is_done_once(project):
    venv, pip = prepared(project)
    assert "-m venv --clear" in venv
    assert pip.endswith(f"install --no-input --require-hashes -r {project.requirements}")
    assert prepared(project) == []


def test_uv_needs_no_pip_in_the_environment(project):
    venv, install = prepared(project, uv="/opt/uv")
    assert "--without-pip" in venv
    assert install.startswith(f"/opt/uv pip install --python {project.python} --require-hashes")


@pytest.mark.parametrize("change", ["lock", "python", "place"])
def test_setup_is_done_anew_after_a_change_of(change, project, tmp_path):
    prepared(project)
    if change == "lock":
        project.requirements.write_text("a==2\n")
    elif change == "python":
        project = Project(project.root, (3, 11, 8))
    else:
        shutil.copytree(project.root, tmp_path / "moved")
        project = Project(tmp_path / "moved", project.version)
    assert not project.ready()
    assert "--clear" in prepared(project)[0]


def test_what_a_linked_environment_leads_to_is_left_alone(project, tmp_path):
    elsewhere = Project(tmp_path / "elsewhere", project.version)
    make_venv(elsewhere)
    project.venv.symlink_to(elsewhere.venv)
    # Also where it bears our stamp, as after a copy of the folder.
    for stamped in (False, True):
        with pytest.raises(SetupError, match=r"\.venv is a link to .*elsewhere.*left as it is"):
            project.prepare(None, Runner(project))
        assert elsewhere.python.exists()
        if not stamped:
            project.stamp.write_text("another lock")
    project.stamp.write_text(project.fingerprint())
    assert prepared(project) == []


@pytest.mark.parametrize("step", ["-m venv", "-m pip"])
def test_an_interrupted_setup_is_not_trusted(step, project):
    with pytest.raises(SetupError, match="no network"):
        project.prepare(None, Runner(project, fail=step))
    assert not project.ready()
    assert len(prepared(project)) == 2


def test_a_half_filled_environment_is_wiped(project):
    with pytest.raises(SetupError, match="no network"):
        project.prepare(None, Runner(project, fail="-m pip"))
    assert "--clear" in prepared(project)[0]


def test_a_users_own_environment_is_filled_and_not_wiped(project):
    make_venv(project)
    (project.venv / "theirs").touch()
    assert "--clear" not in prepared(project)[0]
    assert (project.venv / "theirs").exists()


def test_a_users_environment_of_another_python_is_wiped(project):
    make_venv(Project(project.root, (3, 10, 1)))
    assert "--clear" in prepared(project)[0]


def test_a_failing_step_shows_its_last_lines(project):
    script = "import sys\nfor i in range(30): print('line', i)\nsys.exit(3)"
    with pytest.raises(SetupError, match="line 29\nCheck the network") as caught:
        project.execute([sys.executable, "-c", script])
    assert "line 22\n" in str(caught.value)
    assert "line 21\n" not in str(caught.value)


def test_progress_is_counted(project, capsys):
    project.execute([sys.executable, "-c", "print('Collecting x\\n' * 20 + 'Installing all')"])
    assert capsys.readouterr().out.splitlines() == [
        "  fetched 10 of about 2 packages",
        "  fetched 20 of about 2 packages",
        "  installing them",
    ]


# The lock on the folder


def test_a_second_start_is_refused_at_once(project):
    with (
        project.locked(),
        pytest.raises(SetupError, match=rf"process {os.getpid()}\) is still at work"),
        Project(project.root).locked(),
    ):
        pass
    with project.locked():
        pass


def assert_locked(project, message="still at work"):
    with pytest.raises(SetupError, match=message), project.locked():
        pass


def test_the_lock_is_free_after_its_holder_was_killed(project):
    path = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    command = [sys.executable, "-c", HOLDER, project.root]
    with process(*command, env=path, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == "held\n"
        assert_locked(project, f"process {holder.pid}")
    with project.locked():
        pass


def test_a_child_of_a_killed_setup_keeps_the_lock(project):
    with contextlib.ExitStack() as stack:
        with project.locked():
            stack.enter_context(process("sleep", "60", pass_fds=project.held))
        assert_locked(project)
    with project.locked():
        pass


def test_a_folder_that_cannot_be_written_is_named(project):
    project.lock_file.parent.touch()
    assert_locked(project, f"{project.root} cannot be written .*copy the project")


def test_a_full_disk_is_no_traceback(monkeypatch, capsys):
    def full(project, arguments):
        raise OSError(28, "No space left on device", "results")

    monkeypatch.setitem(bootstrap.COMMANDS, "run", full)
    assert bootstrap.main(["run"]) == 1
    assert capsys.readouterr().err == "results: No space left on device; mend that first.\n"


# Deleting what runs have made


@pytest.fixture
def results(project, tmp_path):
    for name in ("reference/tables", "tables"):
        (project.root / "results" / name).mkdir(parents=True)
    (project.root / "results" / "report.html").touch()
    (tmp_path / "elsewhere").mkdir()
    (project.root / "results" / "linked").symlink_to(tmp_path / "elsewhere")
    return project.root / "results"


def test_cleaning_spares_what_is_kept(project, results, tmp_path):
    bootstrap.clean(project)
    assert [path.name for path in results.iterdir()] == ["reference"]
    assert (results / "reference" / "tables").is_dir()
    assert (tmp_path / "elsewhere").is_dir()


def test_nothing_is_cleaned_while_a_run_is_on(project, results, monkeypatch):
    with project.locked(), pytest.raises(SetupError, match="still at work"):
        bootstrap.clean(Project(project.root))
    monkeypatch.setattr(bootstrap, "snakemakes", lambda folder: [77])
    with pytest.raises(SetupError, match=r"by hand \(process 77\) is still at work"):
        bootstrap.clean(project)
    assert (results / "report.html").exists()


# What is started


@pytest.fixture
def started(project, monkeypatch):
    """Run a command with a Python that only notes its arguments; return what it noted."""
    make_venv(project, 'echo "$@" >> "$(dirname "$0")/../../calls"; exit ${EXIT_CODE:-0}')
    project.stamp.write_text(project.fingerprint())
    monkeypatch.setattr(
        Project, "become", lambda self, *arguments, **_: self.call(*arguments) or None
    )

    def start(command, *arguments):
        result = bootstrap.COMMANDS[command](project, arguments)
        return result, (project.root / "calls").read_text().splitlines()

    return start


RUN = f"workflow/{bootstrap.SHOWN}"


def test_a_first_run_starts_snakemake_alone(started):
    assert started("run", "table4", "-c1") == (None, [f"{RUN} table4 -c1"])


def described(project, requested):
    """Leave what a run on simulated data leaves."""
    file = project.root / "results" / "data" / "liver" / "provenance.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"status": "simulated", "requested": requested}, indent=2))


def test_a_run_on_simulated_data_that_were_asked_for_tries_nothing(started, project):
    described(project, requested="simulated")
    assert started("run")[1] == [RUN]


def test_a_later_run_tries_again_for_original_data(started, project):
    described(project, requested="auto")
    assert started("run")[1] == ["-m matrixdp refresh", RUN]


@pytest.mark.parametrize("flag", ["-n", "-np", "--dry-run", "--dryrun"])
def test_a_dry_run_changes_nothing(flag, started, project):
    described(project, requested="auto")
    assert started("run", flag)[1] == [f"{RUN} {flag}"]


def test_a_failing_refresh_ends_the_run(started, project, monkeypatch):
    described(project, requested="auto")
    monkeypatch.setenv("EXIT_CODE", "7")
    assert started("run") == (7, ["-m matrixdp refresh"])


def test_tests_run_in_two_processes_unless_told_otherwise(started):
    assert started("test", "-n0", "-k", "x")[1] == ["-m pytest -n 2 -n0 -k x"]


@pytest.mark.parametrize("uv", [None, "/opt/uv"])
def test_what_slurm_needs_is_added_with_what_made_the_environment(uv, project, monkeypatch):
    prepared(project, uv)
    executed = []
    monkeypatch.setattr(shutil, "which", lambda name: uv)
    monkeypatch.setattr(Project, "execute", lambda self, command: executed.append(command))
    bootstrap.slurm(project)
    start = ["/opt/uv", "pip"] if uv else [str(project.python), "-m", "pip"]
    assert executed[0][: len(start)] == start
    assert executed[0][-1].startswith("snakemake-executor-plugin-slurm")


def test_mutants_are_judged_in_the_environment(started):
    assert started("mutants", "--group", "study")[1] == ["tests/mutants/mutate.py --group study"]


def test_every_benchmark_is_run(started, project, monkeypatch):
    monkeypatch.setenv("EXIT_CODE", "1")
    (project.root / "benchmarks").mkdir()
    files = [project.root / "benchmarks" / name for name in ("a.py", "b.py")]
    for file in files:
        file.touch()
    assert started("bench", "--short") == (1, [f"{file} --short" for file in files])


def test_children_see_no_other_python_path(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert project.environment()["PYTHONPATH"] == str(project.root / "workflow")


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("all", "run"),
        ("quick", "run --configfile config.yaml workflow/config/quick.yaml"),
        ("test", "test"),
        ("mutants", "mutants"),
        ("bench", "bench"),
        ("clean", "clean"),
        ("slurm", "slurm"),
        ("docs", "docs"),
    ],
)
def test_make_targets(target, command):
    if not shutil.which("make"):
        pytest.skip("there is no make here")
    # Under `make test` the outer make's own arguments stand in the environment.
    clean = {key: text for key, text in os.environ.items() if "MAKE" not in key and key != "ARGS"}
    made = subprocess.check_output(
        ["make", "-n", "-C", ROOT, "PYTHON=py", target], env=clean, text=True
    )
    assert [line.split() for line in made.splitlines() if "bootstrap" in line] == [
        ["py", "workflow/bootstrap.py", *command.split()]
    ]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the system has no /proc")
def test_a_snakemake_started_by_hand_is_left_alone(started, project):
    (project.root / ".snakemake" / "locks").mkdir(parents=True)
    (project.root / ".snakemake" / "locks" / "0.output.lock").touch()
    (project.root / "snakemake").write_text("print(flush=True); import time; time.sleep(60)")
    command = [sys.executable, "snakemake"]
    with process(*command, cwd=project.root, stdout=subprocess.PIPE) as by_hand:
        by_hand.stdout.readline()
        with pytest.raises(SetupError, match=rf"by hand \(process {by_hand.pid}\) is still"):
            started("run", "table4")
    assert started("run", "table4")[1] == [
        "-m snakemake --quiet all --unlock table4",
        f"{RUN} table4",
    ]


# With Snakemake itself

SNAKEFILE = """
rule all:
    output: "done"
    shell: "if [ -e go ]; then touch {output}; else touch started; sleep 60; fi"
"""


@pytest.mark.slow
def test_a_killed_run_is_continued(tmp_path):
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    (tmp_path / "workflow").mkdir()
    shutil.copy(ROOT / "workflow" / "bootstrap.py", tmp_path / "workflow")
    shown = Path("workflow", bootstrap.SHOWN)
    shutil.copytree(ROOT / shown, tmp_path / shown)
    (tmp_path / "workflow" / "requirements.lock").write_text("a==1\n")
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    project = Project(tmp_path)
    make_venv(project, f'exec "{sys.executable}" "$@"')
    project.stamp.write_text(project.fingerprint())
    run = [sys.executable, tmp_path / "workflow" / "bootstrap.py", "run"]

    def outcome():
        return subprocess.run(run, capture_output=True, text=True, timeout=100)

    # The profile is in force if Snakemake starts at all: it must be told the number of cores.
    with process(*run, stderr=subprocess.PIPE) as first:
        limit = time.monotonic() + 100
        while not (tmp_path / "started").exists():
            assert first.poll() is None, first.stderr.read()
            assert time.monotonic() < limit
            time.sleep(0.05)
        refused = outcome()
        assert refused.returncode == 1
        assert f"Another start (process {first.pid})" in refused.stderr
        first.kill()
        first.wait()
        # Its job lives on, as after a crash, and its locks are in the way.
        (tmp_path / "go").touch()
        continued = outcome()
    assert continued.returncode == 0, continued.stderr
    assert "The last run was interrupted" in continued.stdout
    assert (tmp_path / "done").exists()
