"""Tables and figures refuse what they cannot show, each in one sentence."""

import pytest
import runfiles
from packages import KEPT
from samplerun import put, settle

from matrixdp.checks import InputError
from reproduction.report import figures, inputs, tables


def test_what_is_empty_is_said_and_what_is_damaged_is_refused(tmp_path):
    settle(tmp_path)
    put(tmp_path / "theory/ellipses.csv", "panel\n")
    figure = figures.build("figure3", inputs.files_of_folder(tmp_path))
    assert figure.caption.startswith("Nothing to show: nothing of it is in ")
    assert figure.status == "computed"
    put(tmp_path / "theory/settings.csv", "a\n1\n")
    with pytest.raises(InputError, match=r"a file that imgm_settings .* lacks .*; delete"):
        tables.build("imgm_settings", inputs.files_of_folder(tmp_path))
    (tmp_path / "theory/settings.csv").write_text("")
    with pytest.raises(InputError, match=r"theory/settings\.csv cannot be read .*; delete it"):
        tables.build("imgm_settings", inputs.files_of_folder(tmp_path))


def test_settings_alone_show_nothing(tmp_path):
    settle(tmp_path)
    files = {"settings": tmp_path / "settings.yaml"}
    for name in ("figure3", "nominal", "curves_regression"):
        recipe, words = runfiles.recipe(f"figures/{name}")
        with pytest.raises(InputError, match="^settings alone show nothing|is not among the files"):
            figures.write_figure(recipe, files, tmp_path / "out" / f"{name}.svg", **words)
    for name in ("table3", "claims", "against_regression_laplace"):
        recipe, words = runfiles.recipe(f"tables/{name}")
        with pytest.raises(InputError, match=" is not among the files of this step; run"):
            tables.write_table(recipe, files, tmp_path / "out" / f"{name}.csv", **words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("recipe", "words", "message"),
    [
        ("paper_tabel", {}, "table is 'paper_tabel'; did you mean 'paper_table'"),
        ("base", {}, "table is 'base'; it must be one of"),
        ("claims", {"experiment": "first_pc"}, "claims is of a whole run; leave --experiment out"),
        ("paper_table", {}, "paper_table is of one experiment; add --experiment NAME"),
        ("against_each", {"experiment": "first_pc"}, "and one mechanism; add --mechanism NAME"),
        ("against_each", ("first_pc", "laplac"), "did you mean 'laplace'"),
        ("against_each", ("first_pc", "nonprivate"), "must be one of"),
    ],
)
def test_a_table_that_cannot_be_is_one_sentence(recipe, words, message, tmp_path):
    if isinstance(words, tuple):
        words = dict(zip(("experiment", "mechanism"), words, strict=True))
    with pytest.raises(InputError, match=message):
        files = runfiles.files(KEPT, "tables/table4")
        tables.write_table(recipe, files, tmp_path / "table.csv", **words)
    assert not [*tmp_path.iterdir()]
