"""Train a feature extractor and write its features."""

from __future__ import annotations

from pathlib import Path


def run(experiment: str, *, results: str = "results", out: str) -> None:
    """Run the verb.

    Args:
        out: features, labels and settings, npz
    """
    from matrixdp import config
    from matrixdp.experiments.training import extractor

    part = config.extraction(config.read(results), experiment)
    extractor.write(part, Path(results, "data", part["dataset"]), out)
