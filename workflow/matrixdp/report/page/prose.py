"""Text for the page: a little Markdown."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_INLINE = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<![\w*])\*([^*]+)\*(?![\w*])"), r"<em>\1</em>"),
    (re.compile(r"\[([^\]]+)\]\(((?:https?://|#)[^)\s]+)\)"), r'<a href="\2">\1</a>'),
)


def html(text: str) -> Markup:
    """Return Markdown as HTML: paragraphs, ``###`` headings, lists, fences, inline marks, links.

    HTML in the text is shown, not obeyed; links are kept if they go to http(s) or into the page.
    """
    blocks = re.split(r"\n\s*\n", text.strip())
    return Markup("\n").join(_block(block) for block in blocks if block.strip())


def inline(text: str) -> Markup:
    """Return one run of Markdown text (code, bold, emphasis, links) as HTML."""
    marked = str(escape(text))
    for pattern, replacement in _INLINE:
        marked = pattern.sub(replacement, marked)
    return Markup(marked)


def _block(block: str) -> Markup:
    lines = block.strip().splitlines()
    if lines[0].startswith("```"):
        code = "\n".join(line for line in lines if not line.startswith("```"))
        return Markup("<pre><code>{}</code></pre>").format(code)
    if lines[0].startswith("### "):
        return Markup("<h3>{}</h3>").format(inline(" ".join(lines).removeprefix("### ")))
    if lines[0].startswith("- "):
        items = re.split(r"\n- ", "\n".join(lines).removeprefix("- "))
        shown = [Markup("<li>{}</li>").format(inline(" ".join(item.split()))) for item in items]
        return Markup("<ul>{}</ul>").format(Markup("").join(shown))
    return Markup("<p>{}</p>").format(inline(" ".join(" ".join(lines).split())))
