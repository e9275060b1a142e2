"""Write tables in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(tables: Sequence[str]) -> None:
    """Run the verb.

    Args:
        tables: JSON files of tables; what is written lies beside each, as .tex
    """
    from reproduction import files
    from reproduction.report import inputs, markup

    for path in map(Path, tables):
        with inputs.file_errors(path):
            grid = markup.read(path)
        files.write_text(path.with_suffix(".tex"), markup.latex(grid))
