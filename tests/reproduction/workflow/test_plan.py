"""What Snakemake plans: how many jobs a target has, and what a change runs again.

Numbers of jobs and their names are the workflow's contract, so these tests read dry runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil

import pytest
import yaml
from tinyproject import ROOT, TINY, jobs_of, jobs_of_report, jobs_of_table, overlay

from reproduction import discovery

pytestmark = pytest.mark.nightly

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
SHIPPED, TRAINING = CONFIG["experiments"], CONFIG["training"]
TABLES = {"table3": "regression", "table4": "first_pc", "table5": "covariance"}
SHOWN = {"settings", *jobs_of_table("table2", *TABLES)}
MATRICES = len({experiment["dataset"] for experiment in SHIPPED.values()})
QUICK = ["--configfile", "config.yaml", "workflow/config/quick.yaml"]


def counted(*experiments):
    """Return how many jobs of each rule the summaries of experiments need from nothing."""
    return {
        "matrix": len({SHIPPED[name]["dataset"] for name in experiments}),
        "trials": sum(len(SHIPPED[name]["mechanisms"]) for name in experiments),
        "summary": len(experiments),
        "settings": 1,
    }


def audited(*experiments):
    """Return how many jobs of each rule the audits of experiments are, one for each mechanism."""
    rows = [row for name in experiments for row in SHIPPED[name]["mechanisms"]]
    return {
        "audit_releases": sum(row in discovery.mechanisms() for row in rows),
        "gather_audit": len(experiments),
    }


def shown(*experiments):
    """Return how many jobs of each rule the tables and figures of experiments need."""
    joined = dict.fromkeys(("implied_noise", "rows"), len(experiments))
    tested = dict.fromkeys(("held_out", "gather_held_out"), 1)
    return {**counted(*experiments), **audited(*experiments), **joined, **tested}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("table4", {**shown("first_pc"), "table": 1}),
        (
            "results/figures/curves_first_pc.svg",
            {**shown("first_pc"), "figure": 1},
        ),
        (
            "readings",
            {
                **audited(*TABLES.values()),
                **dict.fromkeys(("readings_trials", "gather_readings"), len(TABLES)),
                **dict.fromkeys(("figure", "settings"), 1),
                "matrix": MATRICES,
                "scaling": 4,
            },
        ),
    ],
)
def test_jobs_of_a_target(target, expected, shipped):
    named = {} if target in expected or "/" in target else {target: 1}
    total = sum(expected.values()) + len(named)
    assert shipped.plan(target).counts == {**expected, **named, "total": total}


def test_jobs_of_a_quick_run_are_the_steps_of_its_rows(shipped):
    counts = shipped.plan("all", *QUICK).counts
    quick = yaml.safe_load((ROOT / "workflow/config/quick.yaml").read_text())
    rows = [each["mechanisms"] for each in quick["experiments"].values()]
    assert counts["trials"] == sum(map(len, rows))
    assert counts["train"] == sum(len(each["schemes"]) for each in quick["training"].values())
    # It runs every mechanism and baseline of the full run.
    full = {name for each in SHIPPED.values() for name in each["mechanisms"]}
    assert {name for names in rows for name in names} == full


def test_schemes_with_one_noise_are_trained_once_where_both_are_run(shipped):
    summary, pair = "results/summary/adult.csv", {"matrix_mechanism": "gaussian_2014"}
    outcome = shipped.plan(summary)
    assert "trials/adult/default/gaussian_2014" in outcome.jobs
    assert "trials/adult/default/matrix_mechanism" not in outcome.jobs
    # Its rows stand under both names.
    assert f'"same_as": {json.dumps(pair)}}}' in outcome.output
    assert '"same_as": {}}' in shipped.plan("results/summary/covariance.csv").output
    alone = '{"adult": {"perturbation": "gradients", "schemes": ["matrix_mechanism"]}}'
    outcome = shipped.plan(summary, "--config", f"training={alone}")
    assert "trials/adult/default/matrix_mechanism" in outcome.jobs
    assert '"same_as": {}}' in outcome.output


def test_a_reading_has_results_of_its_own(shipped):
    literal = ("--configfile", "workflow/config/zeta_literal.yaml")
    outcome = shipped.plan("table4", *literal)
    assert "results/zeta_literal/tables/table4.csv" in outcome.output
    assert (counted("first_pc") | {"table": 1}).items() <= outcome.counts.items()
    counts = shipped.plan("all", *literal).counts
    assert counts["table"] == len(SHIPPED)
    assert not {"train", "figure", "judge_claims", "report"} & counts.keys()


def test_every_named_target_can_be_planned(shipped):
    lines = shipped.snakemake("--list-target-rules", "--quiet", "all").output.splitlines()
    names = [line.split(" (")[0] for line in lines]
    # Each says what it makes.
    assert not [line for line in lines if line.isidentifier()]
    # Overlays of their own add these.
    aside = {"mnist", "cifar10_features", "svhn_features"}
    targets = [name for name in names if name.isidentifier() and name not in aside]
    assert {"all", "data", "mvg", "imgm", "figure1", "table1", "table2", *TABLES} <= set(targets)
    outcome = shipped.plan(*targets)
    # A job is planned once, whoever asks for it.
    assert outcome.counts["matrix"] == MATRICES
    assert outcome.counts["learning_set"] == len(TRAINING)
    assert outcome.counts["negative_control"] == outcome.counts["report"] == 1


def test_a_target_asks_for_all_of_its_files(again):
    (again.folder / "results" / "tables" / "table4.md").unlink()
    assert again.plan("table4").jobs == {"tables/table4"}


def test_the_rule_graph_fits_a_page_and_stands_in_contributing(shipped):
    graph = shipped.snakemake("all", "--rulegraph", "--quiet", "all").output
    names = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)"', graph, re.MULTILINE))
    assert 15 <= len(names) <= 28
    edges = re.findall(r"^\s*(\d+) -> (\d+)", graph, re.MULTILINE)
    planned = {(names[one], names[other]) for one, other in edges}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = set()
    for line in text.partition("```mermaid\ngraph TD\n")[2].partition("```")[0].splitlines():
        ones, _, others = line.strip().partition(" --> ")
        drawn |= {(one, other) for one in ones.split(" & ") for other in others.split(" & ")}
    assert drawn == {(one, other) for one, other in planned if other != "all"}


#: A change of settings, and the jobs of a finished run of the tables that it reruns.
SETTINGS = {
    "numbers written otherwise": (
        {"experiment_defaults": {"epsilons": [1.0, 0.10]}, "taus": [0.750]},
        set(),
    ),
    # Tables may show any setting; they take no time.
    "a grid": ({"sketch_multiples": [4, 8]}, jobs_of(mechanisms=["jl_exact"]) | SHOWN),
    "the seed": ({"seed": 1}, jobs_of() | {"data/liver", "data/movement", "data/ctg"} | SHOWN),
    "one more mechanism": (
        {
            "experiments": {
                "regression": {
                    "mechanisms": [*TINY["experiments"]["regression"]["mechanisms"], "laplace"]
                }
            }
        },
        {
            name.replace("jl_exact", "laplace")
            for name in jobs_of("regression", mechanisms=["jl_exact"])
        }
        | SHOWN,
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_changed_setting_reruns_what_it_changes(name, finished, tmp_path):
    setting, expected = SETTINGS[name]
    assert finished.plan("mvg", *overlay(tmp_path, **setting)).jobs == expected


def test_one_more_experiment_reruns_no_other(finished, tmp_path):
    more = SHIPPED["section10_2"]
    # It has a key that no other one has.
    assert not any(more.keys() <= each.keys() for each in TINY["experiments"].values())
    files = [f"results/tables/{name}.csv" for name in TABLES]
    planned = finished.plan(*files, *overlay(tmp_path, experiments={"section10_2": more})).jobs
    assert planned == {"settings", *(f"tables/{name}" for name in TABLES)}


def test_a_scaling_that_was_deleted_is_made_again_before_what_reads_it(again):
    by_reading = "results/readings/covariance_trials.csv.gz"
    again.make(by_reading, "-c1")
    scaling = again.folder / "results/data/ctg/centred"
    content = [file.read_bytes() for file in sorted(scaling.iterdir())]
    assert len(content) == 2
    for file in scaling.iterdir():
        file.unlink()
    jobs = {"data/ctg/centred", "readings/covariance_trials"}
    assert again.make(by_reading, "-c1", "--forcerun", "readings_trials").jobs == jobs
    assert [file.read_bytes() for file in sorted(scaling.iterdir())] == content


def test_another_reading_needs_its_scaling_alone(shipped):
    stored = ("reading=movement=as_stored", "pathvars={results: results/stored}")
    outcome = shipped.plan("table4", "--config", *stored)
    assert outcome.counts["scaling"] == 1
    assert "data/movement/as_stored/matrix.npy" in outcome.output
    assert "scaling" not in shipped.plan("table4").counts


def commented(text):
    return f"{text}\n# A remark.\n"


def coded(text):
    return f"{text}\nassert True\n"


def edit(project, name, change=coded):
    """Change a file of the package, by default so that something runs when it is imported."""
    file = project.folder / "workflow" / "reproduction" / name
    before = file.read_text()
    after = change(before)
    assert after != before
    file.write_text(after)


def test_only_what_is_missing_or_has_changed_is_computed(again, tmp_path):
    """A copy of a run's folder and new times of its files rerun nothing."""
    copied = type(again)(tmp_path / "copied")
    # As `cp -r` and an archive do: every file has a new time, in any order.
    shutil.copytree(again.folder, copied.folder, symlinks=True, copy_function=shutil.copyfile)
    for file in (copied.folder / name for name in ("results", "src", "workflow", "config.yaml")):
        for path in [file, *file.rglob("*")]:
            os.utime(path)
    assert copied.plan("mvg").idle
    # By their times alone, all would be computed again.
    assert not copied.plan("mvg", "--max-checksum-file-size", "1").idle
    # What has changed: see test_an_edit_reruns_what_rests_on_it.
    (copied.folder / "results/tables/table4.tex").unlink()
    assert copied.plan("mvg").jobs == {"tables/table4"}


LIBRARY = "../../src/matrixdp"
RELEASES = {name for name in jobs_of() if name.startswith(("trials/", "audit/", "summary/"))}
#: What follows from trials and from no audit.
TRIED = {name for name in jobs_of() if name.startswith(("trials/", "summary/", "implied_noise/"))}
TABLE2 = jobs_of_table("table2")
DATA = {f"data/{name}" for name in ("liver", "movement", "ctg")}

#: An edit of a file, and the jobs of a finished run of the tables that it reruns.
EDITS = {
    "a comment in what everything imports": (
        f"{LIBRARY}/checks.py",
        commented,
        jobs_of() | DATA | TABLE2,
    ),
    "the version of a package": (
        "../requirements.lock",
        lambda text: text.replace("\nnumpy==", "\nnumpy==9"),
        jobs_of() | DATA | TABLE2,
    ),
    "the version of a linter": (
        "../development.lock",
        lambda text: text.replace("\nruff==", "\nruff==9"),
        set(),
    ),
    "how a command is read": ("verbs.py", coded, jobs_of() | DATA | TABLE2),
    "the library's command line": (f"{LIBRARY}/cli/__init__.py", coded, set()),
    "help on verbs": ("cli/__init__.py", coded, set()),
    "what finds mechanisms of packages": ("plugins.py", coded, set()),
    "the version": (
        f"{LIBRARY}/version.py",
        lambda text: text.replace('VERSION = "', 'VERSION = "9'),
        set(),
    ),
    "words on labels": ("../catalogue/words.yaml", commented, jobs_of_report()),
    "words on readings": (
        "../readings.yaml",
        lambda text: commented(text.replace("title: ", "title: A ").replace("lacks", "has not")),
        set(),
    ),
    "a value of a reading": (
        "../readings.yaml",
        lambda text: text.replace("half: true", "half: 1"),
        (RELEASES | jobs_of_report()) - TABLE2,
    ),
    "a network": ("experiments/training/lstm.py", coded, set()),
    "an entry of another data set": (
        "../datasets.yaml",
        lambda text: text.replace("0e8440cb", "0e8440cc"),
        set(),
    ),
    "the reader of another data set": ("data/adult.py", coded, set()),
    "the reader of a data set": (
        "data/movement.py",
        commented,
        jobs_of("first_pc") | {"data/movement"} | TABLE2,
    ),
    "a mechanism": ("mechanisms/jl.py", coded, jobs_of(mechanisms=["jl_exact"])),
    "a task": (
        "experiments/tasks/components.py",
        coded,
        jobs_of("first_pc", "covariance"),
    ),
    "an audit": (
        "auditing/sketch.py",
        coded,
        jobs_of(mechanisms=["jl_exact"])
        - {"trials/regression/default/jl_exact"}
        - {"summary/regression", "implied_noise/regression"},
    ),
    "what audits have in common": (
        f"{LIBRARY}/auditing/releases.py",
        coded,
        jobs_of() - TRIED,
    ),
    "what some mechanisms import": (
        "mechanisms/allocation.py",
        coded,
        jobs_of(mechanisms=["mvg_binary", "directional_gaussian"]),
    ),
    "the printed numbers of a table": (
        "../published/table3.csv",
        lambda text: f"{text}\n",
        jobs_of_table("table3") | {"implied_noise/regression", "rows/regression"},
    ),
    "how summaries are made": (
        "report/statistics.py",
        coded,
        jobs_of_report(),
    ),
    "which settings a job gets": ("job_settings.py", coded, jobs_of() | TABLE2),
    "a private scheme": ("experiments/schemes/features.py", coded, set()),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_what_rests_on_it(name, again):
    place, change, expected = EDITS[name]
    edit(again, place, change)
    assert again.plan("mvg").jobs == expected


def test_a_dry_run_names_the_file_or_the_setting_that_has_changed(again, tmp_path):
    setting = overlay(tmp_path, sketch_multiples=[4, 8])
    reasons = re.findall("^Reason: (.*)$", again.plan("mvg", *setting).output, re.M)
    changes = [reason for reason in reasons if "Params have changed" in reason]
    sizes = ('["4"]', '["4", "8"]')
    assert any(all(f'"sketch_multiples": {size}' in text for size in sizes) for text in changes)
    edit(again, "mechanisms/jl.py")
    reasons = re.findall("^Reason: (.*)$", again.plan("mvg").output, re.M)
    edits = [reason for reason in reasons if "jl.py" in reason]
    # Its trials and its audit; no file that all have is named.
    assert len(edits) == 2
    assert not any("checks.py" in reason for reason in reasons)
    edit(again, "seeds.py")
    reasons = re.findall("^Reason: (.*)$", again.plan("results/data/ctg/matrix.npy").output, re.M)
    assert [re.findall(r"\S*\.py", reason) for reason in reasons] == [
        ["'workflow/reproduction/seeds.py"] * 2
    ]


def test_a_file_that_cannot_be_imported_stops_what_names_it_alone(again):
    edit(again, "mechanisms/jl.py", lambda text: f"{text}\nraise KeyError('size')\n")
    assert again.plan("table4").idle
    outcome = again.snakemake("results/trials/regression/default/jl_exact.csv.gz", "-c1")
    assert outcome.code, outcome.output
    says = "jl.py, which has jl_exact, cannot be imported (KeyError: 'size'); correct it"
    assert says in outcome.output


def test_rules_that_meet_the_package_of_another_place_stop(shipped):
    """Else the hashes of that code would be kept; without the logger the rules find their own."""
    outcome = shipped.snakemake("--dry-run", "--logger", "lines")
    assert outcome.code
    assert f"the rules of {shipped.folder} have met the package of {ROOT};" in outcome.output
    assert "Traceback" not in outcome.output
