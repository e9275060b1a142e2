"""Text for the page: a little Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from markupsafe import Markup, escape

_INLINE = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<![\w*])\*([^*]+)\*(?![\w*])"), r"<em>\1</em>"),
    (re.compile(r"\[([^\]]+)\]\(((?:https?://|#)[^)\s]+)\)"), r'<a href="\2">\1</a>'),
)


def html(text: str) -> Markup:
    """Return Markdown as HTML: paragraphs, ``###`` headings, lists, fences, inline marks, links.

    HTML in the text is escaped. Links work if they lead to http(s) addresses or into the page.
    """
    blocks = re.split(r"\n\s*\n", text.strip())
    return Markup("\n").join(_block(block) for block in blocks if block.strip())


def inline(text: str) -> Markup:
    """Return one run of Markdown text (code, bold, emphasis, links) as HTML."""
    marked = str(escape(text))
    for pattern, replacement in _INLINE:
        marked = pattern.sub(replacement, marked)
    return Markup(marked)


def explained(text: str, glossary: Mapping[str, str]) -> Markup:
    """Return HTML in which the first occurrence of each glossary word links to its meaning.

    Words inside a tag, a link or code have no link.
    """
    parts = re.split(
        r"(<(?:a|code|pre|h3)\b.*?</(?:a|code|pre|h3)>|<[^>]*>)", str(text), flags=re.S
    )
    left = dict(glossary)

    def link(match: re.Match[str]) -> str:
        word = match[0].lower().replace("ε", "epsilon")
        if (meaning := left.pop(word, None)) is None:
            return match[0]
        anchor = re.sub(r"[^a-z0-9]+", "-", word)
        return f'<a class="term" href="#term-{anchor}" title="{escape(meaning)}">{match[0]}</a>'

    words = "|".join(re.escape(word).replace("epsilon", "(?:epsilon|ε)") for word in glossary)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(rf"\b(?:{words})(?!\w)", link, parts[i], flags=re.IGNORECASE)
    return Markup("".join(parts))


def _block(block: str) -> Markup:
    lines = block.strip().splitlines()
    if lines[0].startswith("```"):
        code = "\n".join(line for line in lines if not line.startswith("```"))
        return Markup("<pre><code>{}</code></pre>").format(code)
    if lines[0].startswith("### "):
        return Markup("<h3>{}</h3>").format(inline(" ".join(lines).removeprefix("### ")))
    if lines[0].startswith("- "):
        items = re.split(r"\n- ", "\n".join(lines).removeprefix("- "))
        entries = [Markup("<li>{}</li>").format(inline(" ".join(item.split()))) for item in items]
        return Markup("<ul>{}</ul>").format(Markup("").join(entries))
    return Markup("<p>{}</p>").format(inline(" ".join(" ".join(lines).split())))
