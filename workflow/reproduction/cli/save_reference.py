"""Keep a run on the real data as the reference."""

from __future__ import annotations

import os


def run(
    *,
    results: str = "",
    reference: str = "results/reference",
    quick: bool = False,
    mnist: str = "results/mnist",
    images: str = "",
    verdicts: str = "",
) -> None:
    """Run the verb.

    Args:
        results: folder of the run (default: results; of a quick one results/quick)
        reference: folder of the reference (default: results/reference)
        quick: keep the numbers of a quick run beside the full one
        mnist: folder of the run on MNIST, which is kept with a full one (default: results/mnist)
        images: keep this folder of the run on pictures in colour, and nothing else
        verdicts: keep those of this folder of the run with another seed, and nothing else
    """
    from reproduction.report import inputs
    from reproduction.report import reference as reference_run

    if images:
        reference_run.keep(images, os.path.join(reference, inputs.IMAGES))
        return
    if verdicts:
        reference_run.keep_second_seed(verdicts, reference)
        return
    folder = results or ("results/quick" if quick else "results")
    reference_run.keep(folder, reference, quick, "" if quick else mnist)
