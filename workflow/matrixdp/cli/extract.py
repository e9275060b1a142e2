"""Train a feature extractor and write its features."""

from __future__ import annotations

from pathlib import Path


def run(experiment: str, *, results: str = "results", out: str) -> None:
    """Run the verb.

    Args:
        out: features, labels and settings, npz
    """
    from matrixdp import config, dependence, files, sources, stamps
    from matrixdp.experiments.training import extractor

    part = dependence.extraction(config.read(results), experiment)
    folder = Path(results, "data", part["dataset"])
    code = sources.digest("cli/extract.py", sources.extractors()[experiment])
    made = sources.stamp([part, stamps.of_data(folder), code])
    if not files.restored(made, out):
        extractor.write(part, folder, out)
        files.keep(made, out)
