"""Train under schemes, all epsilons and trials."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(experiment: str, schemes: Sequence[str], *, results: str = "results", out: str) -> None:
    """Run the verb.

    Args:
        schemes: or nonprivate, random or majority
        out: folder for SCHEME.csv.gz, tidy rows
    """
    from matrixdp import config, dependence, trials
    from matrixdp.experiments.training import base

    settings = config.read(results)
    part = dependence.part(settings, experiment, *schemes)
    place = Path(results, "data", part["dataset"])
    if "extractor_epochs" in settings["training"].get(experiment, {}):
        place = Path(results, "features", f"{experiment}.npz")
    parts = dependence.parts(settings, experiment, schemes, place)
    found = trials.made(out, lambda names, more: base.trials({**part, **more}, names, place), parts)
    for scheme, rows in found.items():
        made = dependence.made_from(settings, experiment, scheme)
        trials.write(rows, Path(out, f"{scheme}.csv.gz"), parts[scheme], **made)
