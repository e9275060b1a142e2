"""Text for the page: Markdown as HTML, and links to the glossary."""

from __future__ import annotations

import re
from collections.abc import Mapping

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

#: HTML in a text is escaped, and addresses of scripts make no link.
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


def html(text: str) -> Markup:
    """Return Markdown as HTML."""
    return Markup(_MARKDOWN.render(text).strip())


def inline(text: str) -> Markup:
    """Return one line of Markdown (code, bold, emphasis, links) as HTML."""
    return Markup(_MARKDOWN.renderInline(text))


def explained(text: str, glossary: Mapping[str, str]) -> Markup:
    """Return HTML in which the first occurrence of each glossary word links to its meaning.

    Words inside a tag, a link or code have no link.
    """
    parts = re.split(
        r"(<(?:a|code|pre|h3)\b.*?</(?:a|code|pre|h3)>|<[^>]*>)", str(text), flags=re.S
    )
    left = {word.lower(): meaning for word, meaning in glossary.items()}

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
