from __future__ import annotations

import pandas as pd
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


def test_a_table_survives_markdown():
    grid = markup.Grid(
        name="Table 9",
        caption="What it shows. More.",
        warning="Beware.",
        header=["Method", "Value", "Verdict"],
        groups=[
            ("", [["a | b", "1.5 ± 0.2", "within"], ["c", "", ""]]),
            ("Beyond", [["d", "~12", "higher"]]),
        ],
        columns="lrl",
    )
    table = prose.from_markdown(markup.markdown(grid))
    assert (table.name, table.caption, table.warning) == (grid.name, grid.caption, grid.warning)
    assert table.header == tuple(grid.header)
    assert [
        (title, [[cell.text for cell in row] for row in rows]) for title, rows in table.groups
    ] == grid.groups
    assert table.numeric == (False, True, False)


def test_a_data_frame_as_table():
    table = prose.from_frame(pd.DataFrame({"a": ["x", None], "b": ["1", "2e3"]}))
    ((_, rows),) = table.groups
    assert [[cell.text for cell in row] for row in rows] == [["x", "1"], ["", "2e3"]]
    assert table.numeric == (False, True)


def test_a_table_without_rows_has_no_groups():
    assert prose.from_markdown("**T.** c\n\n| a |\n| --- |\n").groups == ()
