"""docs/audit.md: its examples print what they say."""

import doctest
import re

import pytest
from packages import ROOT


@pytest.mark.nightly
def test_the_page_on_audits_prints_what_comes_out(capsys):
    text = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(pycon|python)\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) == 5
    session = {"__name__": "page"}
    for language, code in blocks:
        if language == "python":
            exec(code, session)
            session["test_nothing_refutes_the_release"]()
            continue
        for example in doctest.DocTestParser().get_examples(code):
            exec(compile(example.source, "<page>", "single"), session)
            assert capsys.readouterr().out == example.want
