"""Every mechanism on your records: the example of the docs, its marks, what it leaves alone."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys

import numpy as np
import pandas as pd
import pytest
from tinyproject import ROOT, TINY

from matrixdp.checks import InputError
from reproduction import catalogue, config, discovery, my_matrix
from reproduction.data import load, store
from reproduction.trials import MY_MATRIX

TEXT = (ROOT / "src/matrixdp/own_matrix.md").read_text(encoding="utf-8")
(WINE,) = re.findall(r"^```toml\n(# wine.toml\n.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
(MAKE,) = re.findall(r"^\.venv/bin/python (-c '.*?')$", TEXT, re.MULTILINE | re.DOTALL)
(RUN,) = re.findall(r"^\.venv/bin/snakemake (my_matrix .*)$", TEXT, re.MULTILINE)
MARK = catalogue.mark("private")

SPECIFICATION = """
file = "people.csv"
query = {query}
records = 4
epsilon = 2

missing = "refuse"
[bounds]
age = [20, 120]
income = [-10, 40]
"""
RECORDS = "income,age\n50,30\n-10,20\n40,120\n0,10\n"


@pytest.fixture
def described(tmp_path):
    """Return a function that writes a specification and returns the configuration of its run."""

    def write(query='"second_moments"', people=RECORDS, **changes):
        (tmp_path / "people.csv").write_text(people)
        text = SPECIFICATION.format(query=query)
        for old, new in changes.items():
            text = re.sub(rf"^{old} =.*", new, text, flags=re.M)
        (tmp_path / "people.toml").write_text(text)
        return my_matrix.configuration({**TINY, "matrix": str(tmp_path / "people.toml")})

    return write


def prepared(settings, folder):
    entry = settings["datasets"][MY_MATRIX] | {"file": settings["matrix"]}
    store.prepare(MY_MATRIX, out=folder, source=settings["data"]["source"], entry=entry)
    return load(folder)


def test_the_configuration_is_that_of_one_experiment_on_all_mechanisms(described):
    settings = described()
    ((name, experiment),) = settings["experiments"].items()
    assert (name, experiment["task"]) == ("my_second_moments", "moments_error")
    assert experiment["mechanisms"] == ["nonprivate", "zero", *discovery.mechanisms()]
    assert experiment["recommended"] == "laplace", "a pure guarantee is asked for"
    assert settings["training"] == {}
    assert (settings["table_epsilon"], experiment["epsilons"]) == ("2", ["0.1", "1", "2"])
    assert settings["delta"] == "1/n"
    with_delta = described(epsilon="epsilon = 2\ndelta = 1e-5\nimportance = {income = 2}")
    assert with_delta["delta"] == "0.00001"
    (experiment,) = with_delta["experiments"].values()
    assert experiment["directions"] == {"a": ["income"]}


def test_the_audit_of_a_large_matrix_is_limited(described):
    (small,) = described()["experiments"].values()
    (large,) = described(records=f"records = {my_matrix.LARGE // 2}")["experiments"].values()
    assert large == small | my_matrix.LIMITS


@pytest.mark.parametrize("mechanism", ["clipped", "adassp"])
def test_a_mechanism_in_parts_is_compared_as_all_others(described, mechanism):
    text = f'"regression"\ntarget = "age"\nmechanism = "{mechanism}"\nintercept = false'
    settings, plain = (
        described(query=query, epsilon="epsilon = 2\ndelta = 1e-5")
        for query in (text, '"regression"\ntarget = "age"\nintercept = false')
    )
    assert settings["experiments"] == plain["experiments"]
    assert settings["datasets"] == plain["datasets"]


def test_the_matrix_is_clipped_and_scaled_by_its_public_bounds(described, tmp_path):
    data = prepared(described(), tmp_path / "data")
    assert (data.features, data.status) == (("age", "income"), "private")
    np.testing.assert_allclose(data.matrix[0] * 120, [30, 20, 120, 20])
    np.testing.assert_allclose(data.matrix[1] * 40, [40, -10, 40, 0])
    # The audit leaves records out: the box holds zero.
    assert (data.lower, data.upper) == ((0, -0.25), (1, 1))
    public = described(epsilon="epsilon = 2\npublic = true")
    assert prepared(public, tmp_path / "data").status == "original"


def test_no_hash_and_no_path_of_a_private_file_is_written(described, tmp_path):
    settings = described()
    prepared(settings, tmp_path / "data")
    written = (tmp_path / "data/provenance.json").read_text()
    provenance = json.loads(written)
    assert provenance["files"] == [{"file": "people.csv"}]
    assert provenance["content_sha256"] == {"expected": None, "found": None}
    assert not re.search(r"[0-9a-f]{64}", written)
    assert str(tmp_path) not in written + config.text(settings)


def test_the_baseline_of_a_regression_is_the_mean_of_the_target(described, tmp_path):
    settings = described('"regression"\ntarget = "income"\nimportance = {age = 2}')
    (experiment,) = settings["experiments"].values()
    assert (experiment["target"], experiment["train"]) == ("income", 3)
    assert {"mean", "target_mean"} <= {*experiment["mechanisms"]}
    assert not {"zero", "random"} & {*experiment["mechanisms"]}
    assert experiment["task"] == "intercept_regression"
    assert experiment["directions"] == {"a": ["age"]}
    data = prepared(settings, tmp_path / "data")
    assert (data.lower, data.upper) == ((-1, -1), (1, 1))
    np.testing.assert_allclose(data.matrix[1], [1, -1, 1, -0.6])


def test_nothing_on_the_papers_is_made(described, shipped, tmp_path):
    described()
    outcome = shipped.plan("my_matrix", "--config", f"matrix={tmp_path / 'people.toml'}")
    made = {*re.findall(r"my_matrix/people/(?:tables|figures)/(\w+)\.", outcome.output)}
    assert {"my_second_moments", "curves_my_second_moments", "audit", "advice", "price"} <= made
    assert not {"table1", "table2", "claims", "errata", "nominal", "explainer"} & made
    assert "negative_control" not in outcome.counts


def test_no_bundle_of_private_results_is_made(described, shipped, tmp_path):
    specification = tmp_path / "people.toml"
    described()
    of_matrix = ("all", "--config", f"matrix={specification}")
    counts = shipped.plan(*of_matrix).counts
    assert counts["report"] == 1
    assert "ro_crate" not in counts
    bundle = shipped.snakemake(
        "results/my_matrix/people/ro-crate-metadata.json", "-n", *of_matrix[1:]
    )
    assert bundle.code != 0
    described(epsilon="epsilon = 2\npublic = true")
    assert shipped.plan(*of_matrix).counts["ro_crate"] == 1


@pytest.mark.parametrize(
    ("query", "changes", "sentence"),
    [
        ('"mean"', {}, "query is 'mean'"),
        ('"second_moments"\nradius = 1.0', {}, "no radius"),
        (
            '"first_component"\nperson = "name"\nper_person = 3\nadjacency = "replace"',
            {},
            "no person and no radius",
        ),
        ('"first_component"\nadjacency = "add_or_remove"', {}, "a public number of records"),
        ('"second_moments"', {"income": ""}, "two columns or more"),
        (
            '"second_moments"',
            {"epsilon": 'epsilon = 1\npublic = "yes"'},
            "it must be true or false",
        ),
        ('"second_moments', {}, "cannot be read as TOML"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(described, query, changes, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        described(query, **changes)
    assert "people.toml" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        (RECORDS + "1,2\n", "has 5 records where 4 are stated"),
        ("", "is empty; give a file of records"),
        (RECORDS.replace("30", "old"), "has no number in record 1"),
        ("age,income\n" + "30,1\n" * 4, "feature age is 30.0 in every record"),
    ],
)
def test_a_bad_file_is_said_in_one_sentence(described, tmp_path, records, sentence):
    settings = described(people=records)
    with pytest.raises(InputError, match=sentence):
        prepared(settings, tmp_path / "data")


def test_each_matrix_has_a_folder_of_its_own():
    assert my_matrix.folder("some/where/wine.toml") == "wine"
    assert my_matrix.folder("my people (2).toml") == "my_people_2_"


def test_without_a_matrix_the_target_says_how_to_name_one(unrun):
    outcome = unrun.snakemake("my_matrix", "--dry-run")
    assert outcome.code != 0
    assert "config.yaml: matrix names no file; write one, see README" in outcome.output
    assert "Traceback" not in outcome.output


#: Files of mechanisms that `make test` runs on the docs' example; `make faults` runs all.
FEW = ("laplace.py", "gaussian.py", "mvg.py")


@pytest.mark.slow
def test_the_example_of_the_docs(fresh, request):
    fresh.configure(audit_runs=2000)
    if not request.config.getoption("--long", False):
        for file in (fresh.folder / "workflow/reproduction/mechanisms").glob("*.py"):
            if file.name not in FEW:
                file.write_text(file.read_text().replace("\nMECHANISMS = {", "\nOTHERS = {"))
    fresh.run(sys.executable, *shlex.split(MAKE))
    records = fresh.folder / "wine.csv"
    described = WINE.replace('"wine.csv"', f'"{records}"')
    (fresh.folder / "wine.toml").write_text(described.replace("public = true", "#"))
    words = shlex.split(RUN)
    done = fresh.make(*words, "-c2")
    assert done.counts["matrix"] == 1
    assert {file.name for file in (fresh.folder / "results").iterdir()} == {"my_matrix"}
    results = fresh.folder / "results" / "my_matrix" / "wine"
    table = pd.read_csv(results / "tables" / "my_second_moments.csv")
    assert {"nonprivate", "zero", "laplace", "goe", "mvg_binary"} <= {*table["mechanism"]}
    assert {*table["data_status"]} == {"private"}
    text = (results / "tables" / "my_second_moments.md").read_text()
    assert text.startswith(f"> **{MARK.text}**")
    assert "`matrixdp recommend` takes Gaussian orthogonal ensemble." in text
    audit = pd.read_csv(results / "tables" / "audit.csv")
    audit = audit[audit["subject"].eq("releases")]
    assert {*audit["experiment"]} == {"my_second_moments"}
    assert audit["verdict"].str.startswith(("certified", "tested")).all()
    assert {*pd.read_csv(results / "tables" / "advice.csv")["experiment"]} == {"my_second_moments"}
    page = (results / "report.html").read_text()
    assert "<title>NOT PRIVATE: Every mechanism on" in page
    assert "**My matrix: second moments.** wine.csv: " in text
    assert 'role="alert"><strong>Not private: wine.csv.</strong>' in page
    assert 'id="figures-curves-my-second-moments"' in page
    assert "Table 3" not in page
    drawn = pd.read_csv(results / "figures" / "data" / "curves_my_second_moments.csv")
    assert {*drawn["data_status"]} == {"private"}
    for file in (results / "figures").glob("*.json"):
        assert json.loads(file.read_text())["caption"].startswith(MARK.text)
    for file in (results / "tables").glob("*.csv"):
        rows = pd.read_csv(file)
        if "data_status" in rows:
            assert {*rows["data_status"]} == {"private"}
            assert MARK.text in file.with_suffix(".md").read_text()
    written = {file: file.read_bytes() for file in results.rglob("*") if file.is_file()}
    digest = hashlib.sha256(records.read_bytes()).hexdigest()
    for secret in (digest, digest[:12], str(fresh.folder)):
        assert not [file for file, content in written.items() if secret.encode() in content]
    assert fresh.make(*words).idle

    (fresh.folder / "wine.toml").write_text(WINE)
    done = fresh.make("results/my_matrix/wine/data/my_matrix/provenance.json", *words[1:], "-c1")
    provenance = json.loads((results / "data" / "my_matrix" / "provenance.json").read_text())
    assert provenance["status"] == "original"
    assert catalogue.mark("original").text == ""
    assert MARK.stamp not in done.output
