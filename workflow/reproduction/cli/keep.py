"""Keep a full run on original data as the reference."""

from __future__ import annotations


def run(
    *, results: str = "results", reference: str = "results/reference", quick: bool = False
) -> None:
    """Run the verb.

    Args:
        reference: folder of the reference (default: results/reference)
        quick: keep the numbers of a quick run beside the full one
    """
    from reproduction.report import reference as reference_run

    reference_run.keep(results, reference, quick)
