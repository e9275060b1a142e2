from __future__ import annotations

import pytest
from samplerun import put
from trialrows import trials

from matrixdp.checks import InputError
from reproduction.report import inputs, summary


def test_every_kind_of_input_has_its_form(tmp_path, saved):
    summary.write([saved(trials("laplace", [0.1, 0.2]))], tmp_path / "summary/regression.csv")
    put(tmp_path / "theory/exact.csv", "check,value\nNA,\n")
    put(tmp_path / "tables/table3.csv", "epsilon,published\n1,1.220\n,\n")
    put(tmp_path / "data/liver/provenance.json", '{"status": "original"}')
    put(tmp_path / "settings.yaml", "seed: 1\nreading: default\n")
    assert inputs.read("summary/regression", tmp_path)["mechanism"].tolist() == ["laplace"]
    exact = inputs.read("theory/exact", tmp_path)
    assert exact["check"].tolist() == ["NA"]
    assert exact["value"].isna().all()
    table = inputs.read("tables/table3", tmp_path)
    assert table.iloc[0].to_dict() == {"epsilon": "1", "published": "1.220"}
    assert inputs.read("data/liver", tmp_path) == {"status": "original"}
    assert inputs.read("settings", tmp_path) == {"seed": 1, "reading": "default"}
    assert inputs.read("published/table3", tmp_path)["value"].iloc[0] == "1.226"
    assert {"id", "place"} <= inputs.read("errata", tmp_path)[0].keys()


def test_what_no_paper_prints_is_an_empty_frame(tmp_path):
    nothing = inputs.read("published/of_tomorrow", tmp_path)
    assert nothing.empty
    assert list(nothing.columns) == list(inputs.read("published/table3", tmp_path).columns)


def test_what_is_missing_is_named(tmp_path):
    put(tmp_path / "theory/exact.csv", "a\n1\n")
    names = ("tables/table3", "theory/exact", "published/of_tomorrow", "errata")
    assert inputs.missing(names, tmp_path) == ["tables/table3"]


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("theory/exact", "theory/exact.csv", ""),
        ("theory/exact", "theory/other.csv", "a\n"),
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
        inputs.read(name, tmp_path)
