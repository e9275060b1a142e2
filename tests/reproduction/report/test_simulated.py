"""One simulated input is enough: whatever rests on it says SIMULATED, before anything else."""

from __future__ import annotations

import shutil

import pytest
import runfiles

from reproduction.report import markup
from reproduction.report.figures import style

#: Tables and figures, and files of which one alone rests on simulated data.
CASES = {
    "tables/table3": ["rows/regression"],
    "tables/section10_2": ["rows/regression", "rows/section10_2"],
    "tables/table1": ["data/adult", "data/imdb"],
    "tables/imgm_imdb": ["rows/imdb"],
    "figures/curves_first_pc": ["rows/first_pc"],
    "figures/figure1": ["rows/imdb"],
    "figures/readings": ["readings/regression", "readings/covariance"],
}


def first_words(root, name):
    """Return what stands first in every form in which a reader meets a table or figure."""
    kind, _, stem = name.partition("/")
    if kind == "tables":
        sheet = runfiles.build(root, name).sheet()
        latex = markup.latex(sheet).partition(r"\caption{\textbf{")[2]
        return [sheet.warning, markup.markdown(sheet).removeprefix("> **"), latex]
    figure = runfiles.figure(root, stem)
    with style.context():
        texts = [text.get_text() for text in figure.render().texts] or [""]
    assert {*figure.frame["data_status"]} == {figure.status}
    return [figure.caption, texts[0], texts[-1]]


@pytest.mark.parametrize(
    ("name", "source"), [(name, source) for name in CASES for source in CASES[name]]
)
def test_one_simulated_file_marks_the_whole(name, source, root, tmp_path):
    assert "SIMULATED" not in " ".join(first_words(root, name))
    shutil.copytree(root, tmp_path / "run")
    file = tmp_path / "run" / source / "provenance.json"
    file = file if file.exists() else tmp_path / "run" / f"{source}.csv"
    file.write_text(file.read_text().replace("original", "simulated"))
    for text in first_words(tmp_path / "run", name):
        assert text.startswith("SIMULATED"), text
