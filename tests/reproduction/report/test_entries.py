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
    figure = figures.build("figure3", inputs.below(tmp_path))
    assert figure.caption.startswith("Nothing to show: nothing of it is in ")
    assert figure.status == "computed"
    put(tmp_path / "theory/settings.csv", "a\n1\n")
    with pytest.raises(InputError, match=r"a file that imgm_settings .* lacks .*; delete"):
        tables.build("imgm_settings", inputs.below(tmp_path))
    (tmp_path / "theory/settings.csv").write_text("")
    with pytest.raises(InputError, match=r"theory/settings\.csv cannot be read .*; delete it"):
        tables.build("imgm_settings", inputs.below(tmp_path))


def test_settings_alone_show_nothing(tmp_path):
    settle(tmp_path)
    files = {"settings": tmp_path / "settings.yaml"}
    for name in ("figure3", "nominal", "curves_regression"):
        with pytest.raises(InputError, match="^settings alone show nothing|is not among the files"):
            figures.write(name, files, tmp_path / "out" / f"{name}.svg")
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
