"""Write the works behind a run's mechanisms, schemes and data sets, as BibTeX."""

from __future__ import annotations

from collections.abc import Sequence


def run(files: Sequence[str], *, out: str) -> None:
    """Run the verb.

    Args:
        files: summaries, provenance of their data sets, CITATION.cff, settings.yaml of the run
        out: the BibTeX file
    """
    from reproduction.report import citations, inputs

    citations.write_citations(inputs.files_by_name(files), out)
