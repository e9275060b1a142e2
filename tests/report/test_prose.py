from __future__ import annotations

import pytest

from matrixdp.report import markup
from matrixdp.report.page import prose


def test_blocks_become_html():
    text = (
        "### A *b*\n\nOne `x < y`\nand **two**.\n\n- first\n  goes on\n- second\n\n```\na  <b>\n```"
    )
    assert prose.html(text).split("\n") == [
        "<h3>A <em>b</em></h3>",
        "<p>One <code>x &lt; y</code> and <strong>two</strong>.</p>",
        "<ul><li>first goes on</li><li>second</li></ul>",
        "<pre><code>a  &lt;b&gt;</code></pre>",
    ]


def test_markup_in_text_is_shown_and_not_obeyed():
    assert "<script>" not in prose.html("<script>alert(1)</script>")
    assert "href" not in prose.inline("[x](javascript:alert(1))")
    assert prose.inline("[x](https://a.example/b)") == '<a href="https://a.example/b">x</a>'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.226", 1.226),
        ("~3.989", 3.989),
        ("20.02 ± 0.43", 20.02),
        ("(1.14 ± 0.18)e-5", 1.14e-5),
        ("0 (mu = 2.5e-4)", 0),
        ("0.134 (mu ≤ 0.098)", 0.134),
        ("≤ 0.46", 0.46),
        ("-2e-3", -0.002),
        ("1,900", 1900),
        ("85 %", 85),
        ("inf", float("inf")),
        ("", None),
        ("within", None),
        ("248, test 97", None),
        ("0.01, 0.03", None),
        ("[-1, 1]", None),
        ("6 x 248", None),
    ],
)
def test_cells_sort_by_the_number_that_they_show(text, value):
    assert prose.number(text) == (value if value is None else pytest.approx(value))


def test_columns_of_numbers_are_known():
    rows = [["a", "1.5 ± 0.2", "within", ""], ["c", "", "", ""]]
    grid = markup.Grid(
        header=["Method", "Value", "Verdict", "Empty"],
        groups=[("", rows), ("Beyond", [["d", "~12", "3", ""]]), ("Nothing", [])],
    )
    assert prose.numeric(grid) == [False, True, False, False]
