"""Draw a figure, and write the data and the words that it shows."""

from __future__ import annotations

from collections.abc import Sequence


def run(recipe: str, files: Sequence[str], *, out: str) -> None:
    """Run the verb.

    Args:
        recipe: name of the figure in workflow/reproduction/report/figures
        files: what it is made from, settings.yaml of the run among them
        out: the figure as SVG; PNG, JSON and data/*.csv are written beside it
    """
    from reproduction.report import figures, inputs

    figures.write(recipe, inputs.by_name(files), out)
