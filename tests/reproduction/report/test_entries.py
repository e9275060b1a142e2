"""Entries of tables and figures: their inputs and titles, and what is missing or damaged."""

import pandas as pd
import pytest
import runfiles
from samplerun import put, settle

from matrixdp.checks import InputError
from reproduction import discovery
from reproduction.report import entries, figures, inputs, tables


def entry(**fields):
    given = {"title": "A", "caption": "B.", "data": lambda tables: None}
    return entries.Recipe(**{**given, **fields})


@pytest.mark.parametrize(
    ("title", "experiment", "topic"),
    [
        ("{table}", "regression", "Table 3"),
        ("{table}", "of_tomorrow", "of_tomorrow"),
        ("Noise: {title}", "imdb", "Noise: IMDB, private features"),
        ("A price", "", "A price"),
    ],
)
def test_a_title_may_name_the_experiment_and_its_table(title, experiment, topic):
    frame = pd.DataFrame({"a": [1]})
    frame.attrs["experiment"] = experiment
    one = entry(title=title)
    assert (one.topic(frame), one.headline(frame)) == (topic, topic)


def test_the_recipes_of_one_experiment_are_told_by_their_text():
    for package, table, known in (
        (tables, "TABLES", discovery.tables()),
        (figures, "FIGURES", discovery.figures()),
    ):
        every = discovery.collect(package, table)
        assert {name: one.of_experiment for name, one in every.items()} == {
            name: one.words.get("of_experiment", False) for name, one in known.items()
        }
    names = [f"tables/{name}" for name in runfiles.TABLES]
    for name in [*names, *(f"figures/{name}" for name in runfiles.FIGURES)]:
        assert runfiles.entry(name).of_experiment == bool(runfiles.recipe(name)[1]), name


def test_data_get_their_inputs_and_the_experiment(tmp_path):
    seen = []

    def data(*experiment, tables):
        seen.append((*experiment, sorted(tables)))
        return pd.DataFrame({"a": [1]})

    settle(tmp_path)
    put(tmp_path / "theory/x.csv", "data_status\noriginal\n")
    put(tmp_path / "data/liver/provenance.json", '{"status": "simulated"}')
    every = inputs.below(tmp_path)
    files = {name: every[name] for name in ("theory/x", "data/liver", "settings")}
    frame, status = entry(data=lambda tables: data(tables=tables)).collect(files)
    assert seen == [(["data/liver", "settings", "theory/x"],)]
    assert (frame["a"].tolist(), status) == ([1], "simulated")
    assert frame.attrs.pop("mechanisms") == ["laplace"]
    assert frame.attrs == {"experiment": "", "claimed_epsilon": 1.0}


def test_data_of_one_experiment_get_its_name(root):
    files = runfiles.files(root, "tables/imgm_imdb")
    seen = []

    def data(experiment, tables):
        seen.append((experiment, [*tables]))
        return pd.DataFrame({"a": [1]})

    frame, status = entry(of_experiment=True, data=data).collect(files)
    assert seen == [("imdb", ["summary/imdb", "comparisons/imdb", "settings"])]
    assert (frame.attrs["experiment"], status) == ("imdb", "original")


def test_what_is_empty_is_said_and_what_is_damaged_is_refused(tmp_path):
    one = entry(data=lambda tables: tables["theory/x"][["b"]])
    settle(tmp_path)
    put(tmp_path / "theory/x.csv", "b\n")
    every = inputs.below(tmp_path)
    files = {name: every[name] for name in ("theory/x", "settings")}
    frame, status = one.collect(files)
    assert one.describe(frame) == "Nothing to show: nothing of it is in theory/x."
    assert status == "computed"
    put(tmp_path / "theory/x.csv", "a\n1\n")
    with pytest.raises(InputError, match="one of theory/x, settings lacks .*; delete it and run"):
        one.collect(files)
    (tmp_path / "theory/x.csv").unlink()
    with pytest.raises(InputError, match=r"theory/x\.csv cannot be read .*; delete it and run"):
        one.collect(files)


@pytest.mark.parametrize(("package", "table"), [(tables, "TABLES"), (figures, "FIGURES")])
def test_settings_alone_show_nothing(package, table, tmp_path):
    settle(tmp_path)
    files = {"settings": tmp_path / "settings.yaml"}
    for recipe in discovery.collect(package, table):
        with pytest.raises(InputError, match="^settings alone show nothing; name the files that"):
            package.write(recipe, files, tmp_path / "out" / f"{recipe}.csv")
    assert not (tmp_path / "out").exists()


def test_one_experiment_is_shown_at_a_time(root):
    files = runfiles.files(root, "tables/imgm_imdb") | runfiles.files(root, "tables/imgm_adult")
    with pytest.raises(InputError, match="has 2 summaries; name that of the one experiment"):
        tables.write("training", files, root / "nowhere/imgm_imdb.csv")


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
