"""Plain Markdown files, such as README, with sentences of ``workflow/texts`` between two marks."""

from __future__ import annotations

import re
import textwrap

from reproduction.report.inputs import Files
from reproduction.report.sentences import Sentences

#: What stands between the marks, with the name of the text before it.
_PART = re.compile(r"(<!-- workflow/texts/(\S+), .*?-->\n).*?(<!-- end -->)", re.DOTALL)

WIDTH = 118


def fill_sentences(text: str, of_run: Files) -> str:
    """Return a file's content with its sentences by the numbers of a run.

    Raises:
        InputError: a sentence does not hold in the run.
    """
    sentences = Sentences(of_run)

    def part(match: re.Match[str]) -> str:
        return f"{match[1]}{wrap_markdown(sentences.text(match[2]))}{match[3]}"

    return _PART.sub(part, text)


def wrap_markdown(text: str) -> str:
    """Return Markdown with its paragraphs and items filled; tables keep their lines."""
    parts = re.split(r"\n\n+|\n(?=- |\|)", text.strip())
    between = re.findall(r"\n\n+|\n(?=- |\|)", text.strip())
    lines = [part if part.startswith("|") else _filled(part) for part in parts]
    ends = ["\n" * min(len(end), 2) for end in between]
    return "".join(line + end for line, end in zip(lines, [*ends, "\n"], strict=True))


def _filled(paragraph: str) -> str:
    indent = "  " if paragraph.startswith("- ") else ""
    return textwrap.fill(
        " ".join(paragraph.split()),
        WIDTH,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
