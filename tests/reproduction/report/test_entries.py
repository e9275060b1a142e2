"""Entries of tables and figures: templates, inputs over experiments, and what is missing."""

import pandas as pd
import pytest
from samplerun import put, settle

from matrixdp.checks import InputError
from reproduction.report import entries, inputs, tables

RUN = {"regression": "releases", "section10_2": "releases", "new": "releases", "imdb": "training"}


def entry(**fields):
    given = {"title": "A", "caption": "B.", "inputs": ("theory/x",), "data": lambda tables: None}
    return entries.Entry(**{**given, **fields})


def test_a_template_is_made_once_for_each_experiment_that_it_fits():
    each = entry(title="{table}", inputs=("summary/{experiment}", "theory/x"), each="releases")
    drawn = entry(each="training", title="{title}")
    known = entries.expand({"{results}": each, "f_{experiment}": drawn, "x": entry()}, RUN)
    assert [*known] == ["table3", "new", "f_imdb", "x"]
    assert known["table3"].title == "Table 3"
    assert known["new"].inputs == ("summary/new", "theory/x")
    assert known["f_imdb"].title == "IMDB, private features"
    both = entries.expand({"imgm_{experiment}": drawn, "{figure}": entry(each="releases")}, RUN)
    assert [*both] == ["imgm_imdb", "figure4_left"]


def test_an_input_may_stand_for_those_of_all_experiments_on_releases():
    audit = entry(inputs=("settings", "audit/{experiment}"))
    found = entries.expand({"a": audit}, RUN)["a"].inputs
    assert found == ("settings", "audit/regression", "audit/section10_2", "audit/new")


def test_data_get_their_inputs_and_the_experiment(tmp_path):
    seen = []

    def data(experiment, tables):
        seen.append((experiment, sorted(tables)))
        return pd.DataFrame({"a": [1]})

    put(tmp_path / "theory/x.csv", "data_status\noriginal\n")
    put(tmp_path / "data/liver/provenance.json", '{"status": "simulated"}')
    optional = ("data/liver", "data/ctg")
    template = entry(inputs=("theory/x",), optional=optional, data=data, each="training")
    frame, status = entries.expand({"x": template}, {"imdb": "training"})["x"].collect(tmp_path)
    assert seen == [("imdb", ["data/liver", "theory/x"])]
    assert (frame["a"].tolist(), status) == ([1], "simulated")


def test_what_is_missing_is_said_and_what_is_damaged_is_refused(tmp_path):
    one = entry(data=lambda tables: tables["theory/x"][["b"]])
    frame, status = one.collect(tmp_path)
    assert one.describe(frame) == "Nothing to show: theory/x has not been made yet."
    assert status == "computed"
    put(tmp_path / "theory/x.csv", "b\n")
    assert (
        one.describe(one.collect(tmp_path)[0]) == "Nothing to show: nothing of it is in theory/x."
    )
    put(tmp_path / "theory/x.csv", "a\n1\n")
    with pytest.raises(InputError, match="one of theory/x lacks .*; delete it and run again"):
        one.collect(tmp_path)


def test_every_table_names_inputs_that_have_a_place(tmp_path):
    settle(tmp_path, training={"imdb": {}})
    for name, table in tables.registry(entries.experiments(tmp_path)).items():
        assert "{" not in name + table.title + "".join(table.inputs)
        assert isinstance(inputs.missing(table.inputs, tmp_path), list)


def test_the_headline_is_the_finding_of_rows_with_enough_trials():
    one = entry(title="Topic", finding=lambda frame: f"best is {frame['a'].max()}")
    frame = pd.DataFrame({"a": [1, 2, 3, 9], "n_trials": [100, 10, 0, 9]})
    assert one.headline(frame) == "best is 3"
    assert one.headline(frame.assign(a=5)) == "best is 5"
    # Fewer than ten trials crown nobody, nor do rows without any.
    assert one.headline(frame[frame["n_trials"].lt(10)]) == "Topic"
    assert one.headline(frame[["a"]]) == "best is 9"
    assert one.headline(pd.DataFrame({"note": ["missing"], "data_status": ["x"]})) == "Topic"
    assert entry(title="Topic").headline(frame) == "Topic"
    assert entry(title="Topic", finding=lambda frame: "").headline(frame) == "Topic"
