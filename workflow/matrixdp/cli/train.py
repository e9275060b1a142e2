"""Train under one scheme, all epsilons and trials."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment")
    parser.add_argument("scheme", help="a scheme, or nonprivate or random")
    shared.results(parser)
    shared.out(parser, "tidy rows, gzipped CSV")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import checks, config, data, trials
    from matrixdp.experiments import training
    from matrixdp.experiments.training import base, examples, extractor

    settings = config.read(options.results)
    checks.choice(settings["training"], experiment=options.experiment)
    part = config.part(settings, options.experiment, options.scheme)
    if "extractor_epochs" in settings["training"][options.experiment]:
        given = extractor.load(Path(options.results, "features", f"{options.experiment}.npz"))
    else:
        found = data.load_arrays(Path(options.results, "data", options.experiment))
        given = examples.Data(found.name, found.status, found.arrays)
    own = {key: part[key] for key in ("lot", "epochs", "clip", "records") if key in part}
    chosen = base.Settings(
        experiment=options.experiment,
        seed=part["seed"],
        trials=part["trials"],
        epsilons=tuple(part.get("epsilons", ())),
        delta=float(part.get("delta", "0.00001")),
    )
    kind = dataclasses.replace(training.registry()[options.experiment], **own)
    trials.write(base.run(kind, options.scheme, given, chosen), options.out)
