"""Every file that a job opens is an input, its code or an output, so that no edit is missed.

The jobs note what Python opens and which folders it lists. That leaves out what C libraries open by
themselves (fonts, time zones), what a program opens that a job starts, and files that are mapped
into memory by another name.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from test_training import TINY as TRAINING
from tinyproject import ROOT

from reproduction import environment

pytestmark = pytest.mark.nightly

#: Notes in a file per job its command, what it opens to read, and the folders that it lists.
MAIN = """
import atexit, json, os, sys
opened, listed = set(), set()
def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path, mode, flags = arguments
        reads = "r" in mode or "+" in mode if mode else flags & os.O_ACCMODE != os.O_WRONLY
        if reads:
            opened.add(os.path.abspath(os.fsdecode(path)))
    elif event in ("os.listdir", "os.scandir") and not isinstance(arguments[0], int):
        listed.add(os.path.abspath(os.fsdecode(arguments[0] or ".")))
def write():
    content = {"words": sys.argv[1:], "opened": sorted(opened), "listed": sorted(listed)}
    content["path"] = [os.path.abspath(place) for place in sys.path]
    with open(os.path.join("noted", f"{os.getpid()}.json"), "w") as stream:
        json.dump(content, stream)
os.makedirs("noted", exist_ok=True)
atexit.register(write)
sys.addaudithook(note)
from reproduction.cli import main
sys.exit(main())
"""

#: One job of each verb, but of those whose inputs are a whole run (see ``WHOLE``).
TARGETS = [
    "results/data/adult/provenance.json",
    "results/data/ctg/provenance.json",
    "results/features/imdb.npz",
    "results/trials/regression/default/mvg_binary.csv.gz",
    "results/trials/regression/default/jl_exact.csv.gz",
    "results/trials/first_pc/default/random.csv.gz",
    "results/trials/adult/default/imgm.csv.gz",
    "results/trials/adult/default/nonprivate.csv.gz",
    "results/trials/imdb/default/imgm_amplified.csv.gz",
    "results/summary/regression.csv",
    "results/audit/regression/jl_exact.csv",
    "results/audit/regression.csv",
    "results/audit/first_pc_sensitivities.csv",
    "results/audit/negative_control.csv",
    "results/readings/covariance_trials.csv.gz",
    "results/readings/covariance.csv",
    "results/held_out_trials.csv.gz",
    "results/held_out.csv",
    "results/theory/ellipses.csv",
    "results/theory/exact.csv",
    "results/claims.csv",
    "results/tables/table3.csv",
    "results/figures/curves_first_pc.svg",
    "results/citations_regression.bib",
]
VERBS = [
    "prepare",
    "extract-features",
    "trials",
    "train",
    "summary",
    "audit",
    "attack",
    "negative-control",
]
VERBS += ["readings", "gather", "held-out", "theory", "claims", "table", "figure"]
VERBS += ["citations", "implied-noise"]

#: Verbs on a whole run, and what their rules declare beside the files of it.
WHOLE = {
    "report": ["CITATION.cff"],
    "article": ["CITATION.cff", "results/reference/settings.yaml"],
    "ro-crate": [],
}

#: Files that a verb may open besides, and what keeps its results right.
BESIDES = {
    # The entry of its data set is a param.
    "prepare": {"workflow/datasets.yaml"},
    # Facts on the machine, which are marked as such; and of what original a data set is a copy.
    "report": {"pyproject.toml", "workflow/datasets.yaml"},
    "ro-crate": {"pyproject.toml"},
    # In its own temporary folder, which it deletes.
    "article": {"figures"},
}

#: What JAX has compiled, by a digest of the program, the versions and the options.
COMPILED = f"{environment.FIXED['JAX_COMPILATION_CACHE_DIR']}/"

#: Help, and what finds mechanisms of other packages.
APART = {"workflow/reproduction/cli/__init__.py"}
APART |= {"workflow/reproduction/plugins.py", "workflow/reproduction/terminal.py"}

#: Folders of registries: their files are read as text, to find the one that is then imported.
REGISTRIES = ["mechanisms", "theory", "experiments/tasks", "experiments/training", "cli"]
REGISTRIES += ["experiments/schemes", "report/tables", "report/figures"]
REGISTRIES = ["src/matrixdp/cli", *(f"workflow/reproduction/{name}" for name in REGISTRIES)]


@pytest.fixture(scope="session")
def noted(once, finished):
    """Return by verb what jobs have opened and listed, with the records that Snakemake keeps."""

    def fill(folder):
        project = finished.copy(folder).configure(training=TRAINING)
        (folder / "workflow" / "reproduction" / "__main__.py").write_text(MAIN)
        project.make("--force", "-c2", "--", *TARGETS)

    project = once("noted", fill)
    records = {}
    for file in (project.folder / ".snakemake" / "metadata").rglob("*"):
        if file.is_file():
            record = json.loads(file.read_text())
            records[command(record["shellcmd"])] = record
    jobs: dict[str, list] = {}
    for file in (project.folder / "noted").iterdir():
        note = json.loads(file.read_text())
        if record := records.get(tuple(note["words"])):
            jobs.setdefault(note["words"][0], []).append((note, record))
    return project.folder, jobs


def command(text):
    """Return the verb and the arguments of a command, without what becomes of its output."""
    words = shlex.split(text or "")
    start = words.index("reproduction") + 1 if "reproduction" in words else len(words)
    ends = (place for place, word in enumerate(words) if word in (">", "2>&1"))
    return tuple(words[start : next(ends, None)])


def of_python(path, folder):
    """Return whether a file or folder is one of Python, of the system, or temporary."""
    if Path(path).is_relative_to(folder):
        return False
    places = {*sysconfig.get_paths().values(), tempfile.gettempdir(), "/usr", "/etc", "/lib"}
    # A `.venv` may be a link.
    places |= {*map(os.path.realpath, places)}
    places |= {"/proc", "/sys", "/dev", str(Path.home() / ".cache"), str(Path.home() / ".config")}
    return any(Path(path).is_relative_to(place) for place in places)


def undeclared(folder, note, record):
    """Return what a job has opened or listed that its rule does not declare."""
    verb, *words = note["words"]
    # A command names its outputs; each is first written beside it, under a name of its own.
    declared = {*record["input"], *words, *note["path"], *BESIDES.get(verb, ()), *APART}
    declared |= {*re.findall(r"'([^' ]+)(?: [^']*)? [0-9a-f]{12}'", " ".join(record["params"]))}
    opened = {_source(Path(path), folder) for path in note["opened"] if not of_python(path, folder)}
    missed = {
        name
        for name, is_text in opened
        if name not in declared
        and not (is_text and name.rpartition("/")[0] in REGISTRIES)
        and not name.rpartition("/")[2].startswith(".matrixdp-")
        and not name.startswith(COMPILED)
    }
    # An import looks through these; a file is replaced beside what a killed job has left.
    outputs = [folder / word for word in words if "/" in word]
    beside_figures = ("data",) if verb == "figure" else ()
    outputs += [place.parent / name for place in outputs for name in beside_figures]
    beside = {*map(Path, note["path"]), *(place.parent for place in outputs)}
    # Every file of it counts as code.
    beside |= {folder / "workflow" / "article"}
    homes = [folder / "src" / "matrixdp", folder / "workflow" / "reproduction", *outputs]
    return missed | {
        f"{path}/"
        for path in map(Path, note["listed"])
        if path not in beside
        and not any(path.is_relative_to(home) for home in homes)
        and not of_python(path, folder)
    }


def _source(path, folder):
    """Return the file that is opened (of a compiled module its code), and whether it is a text."""
    compiled = path.suffix == ".pyc"
    if compiled:
        path = path.parents[1] / f"{path.name.partition('.')[0]}.py"
    name = str(path.relative_to(folder) if path.is_relative_to(folder) else path)
    return name, path.suffix == ".py" and not compiled


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_job_opens_is_declared(verb, noted):
    folder, jobs = noted
    assert jobs[verb]
    missed = {" ".join(note["words"]): undeclared(folder, note, job) for note, job in jobs[verb]}
    assert {job: sorted(names) for job, names in missed.items() if names} == {}


@pytest.mark.parametrize("verb", WHOLE)
def test_what_is_opened_for_a_whole_run_is_declared(verb, unrun, tmp_path):
    project = unrun.copy(tmp_path / "project")
    (project.folder / "workflow" / "reproduction" / "__main__.py").write_text(MAIN)
    kept = project.folder / "results" / "reference"
    # Runs of their own have settings of their own.
    apart = shutil.ignore_patterns("quick", "images")
    shutil.copytree(ROOT / "results" / "reference", kept, ignore=apart)
    files = [str(path.relative_to(project.folder)) for path in kept.rglob("*") if path.is_file()]
    paths = sorted(files)
    if verb != "ro-crate":
        published = project.folder.glob("workflow/published/*.csv")
        paths += [str(path.relative_to(project.folder)) for path in published]
        paths += ["workflow/errata.yaml"]
    words = [verb, *paths, "--out", f"results/made.{verb}"]
    done = project.run(sys.executable, "-m", "reproduction", *words, PYTHONPATH="src:workflow")
    assert done.code == 0, done.output
    (note,) = (json.loads(file.read_text()) for file in (project.folder / "noted").iterdir())
    modules = [f"cli.{verb.replace('-', '_')}"]
    if verb != "ro-crate":
        # Page and article build the tables that they show.
        tables = sorted((project.folder / "workflow/reproduction/report/tables").glob("[a-z]*.py"))
        modules += [f"report.tables.{path.stem}" for path in tables]
    code = project.run(
        sys.executable,
        "-c",
        f"from reproduction import imports; print(*imports.files(*{modules}), sep='\\n')",
        PYTHONPATH="src:workflow",
    )
    files = [os.path.relpath(line, project.folder) for line in code.output.splitlines()]
    record = {"input": [*paths, *WHOLE[verb], *files], "params": []}
    assert undeclared(project.folder, note, record) == set()
