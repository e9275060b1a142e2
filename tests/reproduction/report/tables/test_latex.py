"""Every kept table in LaTeX: no cell is lost, nothing is left for LaTeX to stumble over."""

import re

import pytest
from packages import KEPT

from reproduction.report import markup

TABLES = sorted(path.with_suffix(".json") for path in (KEPT / "tables").glob("*.md"))
NAMES = [path.stem for path in TABLES]


@pytest.mark.parametrize("path", TABLES, ids=NAMES)
def test_every_kept_table_is_sound_latex(path):
    grid = markup.read(path)
    latex = markup.latex(grid)
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2
    assert re.findall(r"\\(\w+rule)", latex) == [
        "toprule",
        *["midrule"] * len(grid.groups),
        "bottomrule",
    ]
    plain = re.sub(r"\\[&{}$#%_]", "", latex)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    body = plain[plain.index(r"\toprule") :]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    full = [line for line in rows if "multicolumn" not in line]
    assert len(full) == 1 + sum(len(rows) for _, rows in grid.groups)
    assert {line.count("&") for line in full} == {len(grid.header) - 1}
    # pdflatex knows letters with accents, and no other sign beyond ASCII.
    assert re.sub("[À-ÿ]", "", latex).isascii()


def test_the_kept_latex_is_that_of_the_kept_tables():
    texts = {path: path.with_suffix(".tex") for path in TABLES if path.with_suffix(".tex").exists()}
    assert {"table3", "imgm_adult"} <= {path.stem for path in texts}
    for path, text in texts.items():
        assert text.read_text(encoding="utf-8") == markup.latex(markup.read(path))
