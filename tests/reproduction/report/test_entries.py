"""Recipes of tables and figures refuse what they cannot show, each in one sentence."""

import pandas as pd
import pytest
import runfiles
from packages import KEPT
from samplerun import put, settle

from matrixdp.checks import InputError
from reproduction import discovery
from reproduction.report import entries, figures, inputs, tables


def entry(**fields):
    given = {"title": "A", "caption": "B.", "data": lambda tables: None}
    return entries.Recipe(**{**given, **fields})


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


def test_settings_alone_show_nothing(tmp_path):
    settle(tmp_path)
    files = {"settings": tmp_path / "settings.yaml"}
    for recipe in discovery.collect(figures, "FIGURES"):
        with pytest.raises(InputError, match="^settings alone show nothing; name the files that"):
            figures.write(recipe, files, tmp_path / "out" / f"{recipe}.svg")
    for name in ("table3", "claims", "against_regression_laplace"):
        with pytest.raises(InputError, match=" is not among the files of this step; run"):
            tables.write(name, files, tmp_path / "out" / f"{name}.csv")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tabel3", "table is 'tabel3'; did you mean 'table3'"),
        ("imgm_regression", "table is 'imgm_regression'"),
        ("comparison", "table is 'comparison'"),
        ("against_first_pc_laplac", "did you mean 'laplace'"),
        ("against_first_pc_nonprivate", "must be one of"),
        ("against_first_pc_", "must be one of"),
    ],
)
def test_a_table_that_cannot_be_is_one_sentence(name, message, tmp_path):
    with pytest.raises(InputError, match=message):
        tables.write(name, runfiles.files(KEPT, "tables/table4"), tmp_path / "table.csv")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["settings", "comparisons/regression"])
def test_a_file_that_is_missing_is_named(name, tmp_path):
    files = runfiles.files(KEPT, "tables/table3")
    del files[name]
    with pytest.raises(InputError, match=f"^{name} is not among the files of this step; run"):
        tables.write("table3", files, tmp_path / "table3.csv")


def test_the_headline_is_the_finding_of_rows_with_enough_trials():
    one = entry(title="Topic", finding=lambda frame: f"best is {frame['a'].max()}")
    frame = pd.DataFrame({"a": [1, 2, 3, 9], "n_trials": [100, 10, 0, 9]})
    assert one.headline(frame) == "best is 3"
    # Fewer than ten trials crown nobody, nor do rows without any.
    assert one.headline(frame[frame["n_trials"].lt(10)]) == "Topic"
    assert one.headline(pd.DataFrame({"note": ["missing"], "data_status": ["x"]})) == "Topic"
