"""Write the sentences of README and docs/results.md again, with the kept results' numbers."""

from __future__ import annotations

FILES = ("README.md", "docs/results.md")


def run() -> None:
    """Run the verb."""
    from pathlib import Path

    from reproduction.cli.report import KEPT
    from reproduction.files import write_text
    from reproduction.report import inputs, texts

    of_run = inputs.files_of_folder(KEPT)
    for file in FILES:
        text = Path(file).read_text(encoding="utf-8")
        if (now := texts.fill_sentences(text, of_run)) != text:
            write_text(file, now)
            print(f"{file} has other sentences now")
