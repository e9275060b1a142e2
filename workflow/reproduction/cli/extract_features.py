"""Train a feature extractor and write its features."""

from __future__ import annotations

from pathlib import Path


def run(*, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        settings: settings that the features depend on, a JSON object
        data: arrays.npz of the prepared data set
        out: features, labels and settings, npz
    """
    from reproduction import job_settings
    from reproduction.experiments.training import extractor

    extractor.write_features(job_settings.load_settings(settings), Path(data).parent, out)
