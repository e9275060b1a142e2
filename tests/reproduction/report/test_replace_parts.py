"""Parts of Markdown files that a program writes."""

import pytest

from reproduction.report.parts import replace_parts

TEXT = "before\n<!-- a -->\n\nold\n\n<!-- end of a -->\nafter\n"


def test_a_part_is_replaced_and_all_else_stays():
    new = replace_parts(TEXT, {"a": "new\n"})
    assert new == TEXT.replace("old", "new")
    assert replace_parts(new, {"a": "new\n"}) == new


@pytest.mark.parametrize("text", ["before\n", TEXT.replace("end of", "end")])
def test_a_part_without_a_place_is_refused(text):
    with pytest.raises(ValueError, match="no place for the part a: write"):
        replace_parts(text, {"a": "new\n"})
