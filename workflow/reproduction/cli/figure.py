"""Draw a figure, and write the data and the words that it shows."""

from __future__ import annotations

from collections.abc import Sequence


def run(figure: str, files: Sequence[str], *, experiment: str = "", out: str) -> None:
    """Run the verb.

    Args:
        figure: its recipe, such as nominal or curves, a file of report/figures
        files: what it is made from, settings.yaml of the run among them
        experiment: the one that it is of, if it is of one
        out: the figure as SVG; PNG, JSON and data/*.csv are written beside it
    """
    from reproduction.report import figures, inputs

    figures.write_figure(figure, inputs.files_by_name(files), out, experiment=experiment)
