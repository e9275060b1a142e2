from __future__ import annotations

from reproduction.report.page import prose


def test_blocks_become_html():
    text = "### A *b*\n\nOne `x < y`\nand **two**.\n\n- first\n  goes on\n- second\n"
    assert prose.html(text).split("\n") == [
        "<h3>A <em>b</em></h3>",
        "<p>One <code>x &lt; y</code>",
        "and <strong>two</strong>.</p>",
        *("<ul>", "<li>first", "goes on</li>", "<li>second</li>", "</ul>"),
    ]


def test_markup_in_text_is_shown_and_not_obeyed():
    assert "<script>" not in prose.html("<script>alert(1)</script>")
    assert "href" not in prose.inline("[x](javascript:alert(1))")
    assert prose.inline("[x](https://a.example/b)") == '<a href="https://a.example/b">x</a>'
