"""The Makefile: set-up, and what it starts. Nothing is installed here."""

import contextlib
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import time

import pytest
from packages import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="there is no make here")

LOCKS = ["workflow/requirements.lock", "workflow/development.lock"]


def script(file, commands):
    """Write a program of the shell."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)  # perhaps a link to the interpreter
    file.write_text(f"#!/bin/sh\n{commands}\n")
    file.chmod(0o755)
    return file


class Folder:
    """A project of a Makefile and two locks, with a uv that only notes what it is called with."""

    def __init__(self, root):
        self.root = root / "it's a project"
        (self.root / "workflow").mkdir(parents=True)
        shutil.copy(ROOT / "Makefile", self.root)
        for lock in LOCKS:
            (self.root / lock).write_text("a==1 --hash=x\n")
        self.calls = root / "calls"
        self.tools = root / "tools"
        self.uv = script(self.tools / "uv", f'echo "$@" >>{self.calls}')

    def command(self, *words):
        return ["make", "-C", self.root, f"PYTHON={sys.executable}", *words]

    def variables(self):
        # Under `make test` the outer make's own arguments stand in the environment.
        outer = {"ARGS", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
        path = f"{self.tools}{os.pathsep}{os.environ['PATH']}"
        return {**{k: v for k, v in os.environ.items() if k not in outer}, "PATH": path}

    def make(self, *words):
        """Run make; return its exit code and all that it says but make's own words."""
        done = subprocess.run(
            self.command(*words), env=self.variables(), capture_output=True, text=True, timeout=100
        )
        lines = (done.stdout + done.stderr).splitlines()
        return done.returncode, [line for line in lines if line[:5] not in ("make:", "make[")]

    def noted(self):
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        return lines

    def with_snakemake(self, commands):
        """Set up, and put a program where Snakemake would be."""
        assert self.make("setup")[0] == 0
        self.noted()
        return script(self.root / ".venv/bin/snakemake", commands)


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


# What is wrong with this Python


def test_a_python_that_is_old_or_missing_is_one_sentence(folder, tmp_path):
    old = script(tmp_path / "old", 'case "$*" in *version_info*) exit 1;; esac')
    for python in (str(old), "no-such-python"):
        code, lines = folder.make("setup", f"PYTHON={python}")
        assert code == 2
        assert lines == [
            f"{python} is missing or older than Python 3.11: install a newer one and say "
            "`make PYTHON=python3.12`."
        ]


# When .venv is made anew


def test_setup_is_done_once_and_checks_hashes(folder):
    code, lines = folder.make("setup")
    assert (code, lines) == (0, ["Setting up .venv with uv: half a minute ..."])
    assert folder.noted() == [
        "pip install --quiet --python .venv/bin/python --require-hashes"
        " -r workflow/requirements.lock -r workflow/development.lock"
    ]
    assert folder.make("setup") == (0, [])
    assert folder.noted() == []
    assert {path.name for path in folder.root.iterdir()} == {
        *("Makefile", "workflow", ".venv"),
    }


def test_the_package_is_there_without_activation_from_any_folder(folder, tmp_path):
    (folder.root / "src/matrixdp").mkdir(parents=True)
    (folder.root / "src/matrixdp/__main__.py").write_text("import sys; print(sys.argv[1:])")
    assert folder.make("setup")[0] == 0
    command = [folder.root / ".venv/bin/matrixdp", "release", "a b.toml"]
    said = subprocess.check_output(command, cwd=tmp_path, env=folder.variables(), text=True)
    assert said == "['release', 'a b.toml']\n"


@pytest.mark.parametrize("change", [*LOCKS, "lock in the environment", "python", "place"])
def test_setup_is_done_anew_after_a_change_of(change, folder, tmp_path):
    assert folder.make("setup")[0] == 0
    words = []
    if change in LOCKS:
        (folder.root / change).write_text("a==2 --hash=x\n")
    elif change == "lock in the environment":
        # Activated, it makes itself anew.
        words = [f"PYTHON={folder.root}/.venv/bin/python"]
        (folder.root / LOCKS[0]).write_text("a==2 --hash=x\n")
    elif change == "python":
        python = shlex.quote(sys.executable)
        newer = f'[ "$1" != -V ] || exec echo Python 3.11.99; exec {python} "$@"'
        words = [f"PYTHON={script(tmp_path / 'newer', newer)}"]
    else:
        folder.root = folder.root.rename(tmp_path / "moved")
    theirs = folder.root / ".venv" / "old package"
    theirs.touch()
    assert folder.make("setup", *words)[0] == 0
    assert len(folder.noted()) == 2
    assert not theirs.exists()


def test_an_interrupted_setup_is_not_trusted(folder):
    script(folder.uv, "echo no network >&2; exit 1")
    code, lines = folder.make("setup")
    assert code == 2
    assert lines[1:] == [
        "no network",
        "The set-up failed: check the network and the space on the disk and start again.",
    ]
    half = folder.root / ".venv" / "half a package"
    half.touch()
    script(folder.uv, "exit 0")
    assert folder.make("setup")[0] == 0
    assert not half.exists()


def test_an_environment_that_is_half_deleted_is_deleted_again(folder, tmp_path):
    assert folder.make("setup")[0] == 0
    half = folder.root / ".venv" / "half a package"
    half.touch()
    (folder.root / "workflow/requirements.lock").write_text("a==2 --hash=x\n")
    # Who deletes dies on the way, after the programs.
    script(folder.tools / "rm", '/bin/rm -rf .venv/bin; [ "$1" = -f ] && exec /bin/rm "$@"; exit 1')
    dies = script(tmp_path / "dies", "rm -f .venv/stamp*; exit 1")
    real = shlex.quote(sys.executable)
    python = f'case "$*" in *_base_executable*) echo {dies};; *) exec {real} "$@";; esac'
    assert folder.make("setup", f"PYTHON={script(tmp_path / 'python', python)}")[0] == 2
    assert half.exists()
    (folder.tools / "rm").unlink()
    assert folder.make("setup")[0] == 0
    assert not half.exists()


def test_a_setup_waits_for_the_installer_of_one_that_was_killed(folder, tmp_path):
    begins = tmp_path / "begins"
    script(
        folder.uv,
        f"echo begin >>{folder.calls}; touch {begins}; sleep 2; echo end >>{folder.calls}",
    )
    first = subprocess.Popen(folder.command("setup"), env=folder.variables())
    while not begins.exists():
        assert first.poll() is None
        time.sleep(0.01)
    first.kill()
    first.wait()
    assert folder.make("setup")[0] == 0
    assert folder.noted() in (["begin", "end"], ["begin", "end"] * 2)


def test_an_environment_of_a_users_own_is_filled_and_not_wiped(folder):
    theirs = folder.root / ".venv" / "theirs"
    theirs.parent.mkdir()
    theirs.touch()
    assert folder.make("setup")[0] == 0
    assert theirs.exists()
    assert len(folder.noted()) == 1


def test_what_a_linked_environment_leads_to_is_left_alone(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (folder.root / ".venv").symlink_to(tmp_path / "elsewhere")
    assert folder.make("setup") == (2, [".venv is a link: remove it and start again."])
    assert not list((tmp_path / "elsewhere").iterdir())


# What is started


def test_arguments_reach_snakemake_as_words(folder):
    folder.with_snakemake('printf "<%s>" "$@"; echo')
    (line,) = folder.make("ARGS=table4 --config 'data={source: x}'")[1]
    words = "<--logger><lines><--quiet><host><--show-failed-logs>"
    assert line == f"{words}<table4><--config><data={{source: x}}>"
    (line,) = folder.make("quick", "ARGS=-n")[1]
    assert line.endswith("<--show-failed-logs><-n><--configfile><workflow/config/quick.yaml>")


@pytest.mark.parametrize("target", ["quick", "second-seed"])
def test_a_target_with_settings_of_its_own_says_how_to_put_others_on_top(target, folder):
    """Snakemake would heed the last file alone."""
    folder.with_snakemake('printf "<%s>" "$@"; echo')
    code, (sentence,) = folder.make(target, "ARGS=-n --configfile mine.yaml")
    assert code == 2
    assert sentence.startswith(f"make {target} has settings of its own; ")
    (advice,) = re.findall("`make ARGS='(.*) YOURS.yaml'`", sentence)
    ways = ([target, "ARGS=-n"], [f"ARGS={advice} -n"])
    own, advised = (re.findall("<[^<]*>", *folder.make(*words)[1]) for words in ways)
    assert sorted(own) == sorted(advised)


@pytest.mark.parametrize("home", ["/", "/no/such/folder", "", "tmp"])
def test_a_home_that_is_none_is_one_in_the_project(home, folder, tmp_path):
    folder.with_snakemake('echo "$HOME"')
    home = home if home != "tmp" else str(tmp_path)
    command, variables = folder.command("ARGS=-n"), folder.variables()
    said = subprocess.check_output(command, env={**variables, "HOME": home}, text=True)
    expected = home if home == str(tmp_path) else f"{folder.root}/.snakemake"
    assert expected in said.splitlines()


def test_help_lists_every_target(folder):
    targets = "all quick mnist images second-seed plan verify reference kept-page kept-article"
    targets += " check-figures docs test test-all mutants bench lint slurm"
    text = subprocess.check_output(folder.command("help"), env=folder.variables(), text=True)
    for target in (*targets.split(), "clean", "help"):
        assert f"make {target}: " in text


# With Snakemake itself

SNAKEFILE = """
rule all:
    input: "results/tables/table3.md"

rule table:
    output: "results/tables/{name}.md"
    log: "results/logs/tables/{name}.log"
    message: "Table: {wildcards.name}"
    benchmark: "results/benchmarks/tables/{name}.tsv"
    shell: "touch {output} {log}"
"""


@pytest.fixture
def small(folder):
    """A folder with a workflow of one rule."""
    folder.with_snakemake(f'exec {shlex.quote(sys.executable)} -m snakemake -c1 "$@"')
    (folder.root / "Snakefile").write_text(SNAKEFILE)
    # What shows a run.
    for name in ("src", "workflow/reproduction", "workflow/snakemake_logger_plugin_lines"):
        (folder.root / name).symlink_to(ROOT / name)
    return folder


@pytest.mark.nightly
def test_a_plan_names_causes_before_counts(small):
    code, lines = small.make("plan")
    assert code == 0
    assert lines[0] == "Table: table3: missing"
    assert lines[-1].split() == ["total", "2"]
    code, lines = small.make()
    assert code == 0
    # No line for each job; its end says how many there were.
    assert lines[1:] == ["2 of 2 jobs done"]
    assert small.make("plan")[1][0].startswith("Nothing to be done")
    text = SNAKEFILE.replace("touch {output}", "touch  {output}")
    (small.root / "Snakefile").write_text(text)
    lines = small.make("plan")[1]
    assert lines[0] == "Table: table3: Code has changed since last execution"
    # By the run before.
    assert lines[-1].startswith("This takes about ")


@pytest.mark.nightly
def test_on_a_terminal_one_line_is_renewed_and_errors_stay(small):
    """In a file there is no line in the first minute: see the test of a plan."""
    text = SNAKEFILE.replace(
        "touch {output}", "sleep 3; echo no luck >{log}; exit 7; touch {output}"
    )
    (small.root / "Snakefile").write_text(text)
    ours, terminal = pty.openpty()
    streams = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
    run = subprocess.Popen(small.command(), env=small.variables(), **streams)
    os.close(terminal)
    shown = b""
    # Linux says of a terminal that nobody has open any more that it cannot be read.
    with contextlib.suppress(OSError):
        while read := os.read(ours, 4096):
            shown += read
    os.close(ours)
    assert run.wait(100) == 2
    lines = shown.decode().split("\n")
    (renewed, *_) = (line for line in lines if "0 of 2 jobs done" in line)
    states = renewed.split("\r\033[K")[1:]
    assert len(states) > 1
    assert any("longest: Table: table3 (" in state for state in states)
    assert any("no luck" in line for line in lines)


@pytest.mark.nightly
def test_cleaning_deletes_what_the_workflow_made_and_nothing_of_a_users(small, tmp_path):
    assert small.make()[0] == 0
    assert small.make("ARGS=results/tables/other.md")[0] == 0
    (tmp_path / "elsewhere").mkdir()
    theirs = ["tables/notes.md", ".hidden", "reference/a.csv", "logs/my.log", "benchmarks/my.tsv"]
    for file in (small.root / "results" / name for name in theirs):
        file.parent.mkdir(exist_ok=True)
        file.write_text("theirs")
    (tmp_path / "elsewhere/poster.pdf").touch()
    (small.root / "results/figures").symlink_to(tmp_path / "elsewhere")
    # Nothing is installed for it.
    (small.root / "workflow/requirements.lock").write_text("a==2 --hash=x\n")
    for _ in range(2):
        code, lines = small.make("clean")
        assert code == 0, lines
        assert small.noted() == []
    others = ["tables/other.md", "logs/tables/other.log", "benchmarks/tables/other.tsv"]
    files = [path for path in (small.root / "results").rglob("*") if path.is_file()]
    left = {str(path.relative_to(small.root / "results")) for path in files}
    assert left == {*theirs, *others}
    assert all((small.root / "results" / name).read_text() == "theirs" for name in theirs)
    assert (small.root / "results/figures/poster.pdf").exists()


def test_cleaning_without_an_environment_is_one_sentence(folder):
    code, lines = folder.make("clean")
    assert code == 2
    assert lines == ["There is no .venv/bin/snakemake: say `make setup`."]
    assert not (folder.root / ".venv").exists()


def definitions(makefile):
    """Return the lines that are no recipes, each as make before 4.3 reads it: up to a # ."""
    lines = makefile.replace("\\\n", " ").splitlines()
    return [re.split(r"(?<!\\)#", line)[0] for line in lines if not line.startswith("\t")]


def test_no_comment_begins_within_a_call():
    """GNU make 3.81 to 4.2, of macOS and older systems, ends a call at its first #."""

    def unbalanced(text):
        calls = [line for line in definitions(text) if "$(" in line]
        return [line for line in calls if line.count("(") != line.count(")")]

    text = (ROOT / "Makefile").read_text()
    assert not unbalanced(text)
    assert unbalanced(text.replace("$(HELP)", "##"))
