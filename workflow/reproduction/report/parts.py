"""Parts of Markdown files that a program writes, each between two marks of its name."""

from __future__ import annotations

from collections.abc import Mapping


def replace_parts(text: str, parts: Mapping[str, str]) -> str:
    """Return a file's content with the parts of these names replaced.

    Raises:
        ValueError: a part has no place in the file.
    """
    for name, part in parts.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, opened, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not (opened and closed):
            raise ValueError(f"no place for the part {name}: write {start}and {end}")
        text = f"{before}{start}\n{part}\n{end}{after}"
    return text
