"""Compare a run with the kept results of one with the same trials."""

from __future__ import annotations


def run(*, results: str = "results", reference: str = "results/reference") -> None:
    """Run the verb.

    Args:
        reference: folder of the reference (default: results/reference)
    """
    from reproduction.report import reference as reference_run

    print(reference_run.verify(results, reference))
