from __future__ import annotations

from pathlib import Path

import pytest
from samplerun import put, settle
from trialrows import trials

from matrixdp.checks import InputError
from reproduction.report import inputs, summary


def test_every_kind_of_input_has_its_form(tmp_path, saved):
    summary.write_summary(
        [saved(trials("laplace", [0.1, 0.2]))], tmp_path / "summary/regression.csv"
    )
    put(tmp_path / "theory/exact.csv", "check,value\nNA,\n")
    put(tmp_path / "tables/table3.csv", "epsilon,published\n1,1.220\n,\n")
    put(tmp_path / "data/liver/provenance.json", '{"status": "original"}')
    put(tmp_path / "settings.yaml", "seed: 1\nreading: default\n")
    files = inputs.files_of_folder(tmp_path)
    assert inputs.read_input("summary/regression", files)["mechanism"].tolist() == ["laplace"]
    exact = inputs.read_input("theory/exact", files)
    assert exact["check"].tolist() == ["NA"]
    assert exact["value"].isna().all()
    table = inputs.read_input("tables/table3", files)
    assert table.iloc[0].to_dict() == {"epsilon": 1, "published": "1.220"}
    assert inputs.read_input("data/liver", files) == {"status": "original"}
    assert inputs.read_input("settings", files) == {"seed": 1, "reading": "default"}
    assert inputs.read_input("published/table3", files)["value"].iloc[0] == "1.226"
    assert {"id", "place"} <= inputs.read_input("errata", files)[0].keys()


def test_files_have_the_same_names_listed_or_in_their_folder(tmp_path, monkeypatch):
    root = tmp_path / "results/mine"
    settle(root)
    names = {
        "summary/regression": "summary/regression.csv",
        "trials/regression/default/laplace.csv.gz": "trials/regression/default/laplace.csv.gz",
        "tables/table3.md": "tables/table3.md",
        "figures/data/nominal": "figures/data/nominal.csv",
        "data/liver": "data/liver/provenance.json",
        "claims": "claims.csv",
        "settings": "settings.yaml",
    }
    for file in names.values():
        put(root / file, "")
    own = {name: root / file for name, file in names.items()}
    project = {"published/table3": inputs.PUBLISHED / "table3.csv", "errata": inputs.ERRATA}
    assert inputs.files_by_name([*own.values(), *project.values()]) == own | project
    below = inputs.files_of_folder(root)
    assert {name: below[name] for name in own | project} == own | project
    printed = {f"published/{path.stem}" for path in inputs.PUBLISHED.glob("*.csv")}
    assert below.keys() == own.keys() | {"errata"} | printed
    # Of several configurations the last one is the run's.
    kept = tmp_path / "second_seed/settings.yaml"
    put(kept, "")
    assert inputs.files_by_name([kept, *own.values()]) == own | {"second_seed/settings": kept}
    monkeypatch.chdir(tmp_path)
    relative = {name: path.relative_to(tmp_path) for name, path in own.items()}
    assert inputs.files_by_name(map(str, relative.values())) == relative


@pytest.mark.parametrize("root", ["results", "results/quick", "results/reference", "elsewhere"])
@pytest.mark.parametrize(
    ("run", "file"),
    [
        ("images", "rows/cifar10_features"),
        ("second_seed", "claims"),
    ],
)
def test_the_file_of_a_kept_run_has_one_name_in_every_run(root, run, file):
    folder = Path("results/reference", run)
    assert inputs._name(folder / f"{file}.csv", Path(root)) == f"{run}/{file}"
    assert inputs._name(folder / f"{file}.csv", folder) == file


def test_what_no_paper_prints_is_an_empty_frame():
    run = inputs.Run({"published/table3": inputs.PUBLISHED / "table3.csv"})
    nothing, printed = run.published("of_tomorrow"), run.published("table3")
    assert nothing.empty
    assert list(nothing.columns) == list(printed.columns)


def test_what_is_missing_is_named_with_the_command_that_makes_it(tmp_path):
    put(tmp_path / "theory/exact.csv", "a\n1\n")
    absent = tmp_path / "tables/table3.csv"
    with pytest.raises(InputError) as caught:
        inputs.files_by_name([tmp_path / "theory/exact.csv", absent])
    assert str(caught.value) == f"{absent} is missing; run `snakemake {absent}`"
    with pytest.raises(InputError, match=r"exact\.csv has no settings\.yaml beside it; name that"):
        inputs.files_by_name([tmp_path / "theory/exact.csv"])
    with pytest.raises(InputError, match="^tables/table3 is not among the files of this step; run"):
        inputs.read_input("tables/table3", inputs.files_of_folder(tmp_path))


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("theory/exact", "theory/exact.csv", ""),
        ("data/liver", "data/liver/provenance.json", "{"),
        ("data/liver", "data/liver/provenance.json", "[1]"),
        ("settings", "settings.yaml", "a: ["),
        ("settings", "settings.yaml", ""),
        ("summary/regression", "summary/regression.csv", "a\n1\n"),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path, name, file, content):
    put(tmp_path / file, content)
    with pytest.raises(InputError, match=r"(cannot be read|is not a whole).*\(.+\); delete it and"):
        inputs.read_input(name, inputs.files_of_folder(tmp_path))
