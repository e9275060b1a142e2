"""Compare a run with the kept results of a full one."""

from __future__ import annotations


def run(
    *,
    results: str = "results",
    reference: str = "results/reference",
    out: str = "",
) -> None:
    """Run the verb.

    Args:
        reference: folder of the reference (default: results/reference)
        out: differences, CSV (default: verify.csv in the folder of the run)
    """
    from reproduction.report import reference as reference_run

    print(reference_run.verify(results, reference, out or f"{results}/verify.csv"))
