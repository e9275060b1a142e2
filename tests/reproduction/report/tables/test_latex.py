"""Every kept table in LaTeX: what its JSON shows, and nothing for LaTeX to stumble over."""

import re

import pytest
from packages import KEPT

from reproduction.report import inputs, markup

NAMES = sorted(path.stem for path in (KEPT / "tables").glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_every_kept_table_is_sound_latex(name):
    sheet = inputs.read_sheet(f"tables/{name}", inputs.files_of_folder(KEPT))
    latex = markup.latex(sheet)
    assert latex == (KEPT / f"tables/{name}.tex").read_text(encoding="utf-8")
    assert markup.markdown(sheet) == (KEPT / f"tables/{name}.md").read_text(encoding="utf-8")
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2
    assert re.findall(r"\\(\w+rule)", latex) == [
        "toprule",
        *["midrule"] * len(sheet.groups),
        "bottomrule",
    ]
    plain = re.sub(r"\\[&{}$#%_]", "", latex)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    body = plain[plain.index(r"\toprule") :]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    full = [line for line in rows if "multicolumn" not in line]
    assert len(full) == 1 + sum(len(group.lines) for group in sheet.groups)
    assert {line.count("&") for line in full} == {len(sheet.headings) - 1}
    # pdflatex knows letters with accents, and no other sign beyond ASCII.
    assert re.sub("[À-ÿ]", "", latex).isascii()
