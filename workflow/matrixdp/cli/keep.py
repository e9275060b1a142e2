"""Keep a full run on original data as the reference."""

from __future__ import annotations


def run(
    *, results: str = "results", reference: str = "results/reference", quick: bool = False
) -> None:
    """Run the verb.

    Args:
        reference: folder of what is kept (default: results/reference)
        quick: keep the numbers of a quick run beside it
    """
    from matrixdp.report import reference as reference_run

    reference_run.keep(results, reference, quick)
