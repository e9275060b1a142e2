"""Train a feature extractor and write its features."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment")
    shared.results(parser)
    shared.out(parser, "features, labels and settings, npz")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config
    from matrixdp.checks import InputError

    settings = config.read(options.results)
    part = config.part(settings, options.experiment, "nonprivate")
    epochs = settings["training"].get(options.experiment, {}).get("extractor_epochs")
    if epochs is None:
        raise InputError(
            f"{options.experiment} trains on its data as they are; it has no extractor"
        )
    import numpy as np

    from matrixdp import data, files
    from matrixdp.experiments.training import examples, extractor

    found = data.load_arrays(Path(options.results, "data", options.experiment))
    kept = extractor.run(
        examples.Data(found.name, found.status, found.arrays),
        seed=part["seed"],
        epochs=epochs,
        records=part["records"],
    )
    print(f"accuracy of the extractor on the test records: {kept['accuracy']:.4f}")
    with files.replacing(options.out) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **kept)
