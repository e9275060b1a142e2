"""Fetch, check and prepare a data set."""

from __future__ import annotations

import os


def run(
    dataset: str,
    *,
    source: str = "auto",
    seed: int = 0,
    out: str,
    mirror: str = "",
    scaling: str = "default",
    entry: str = "null",
) -> None:
    """Run the verb.

    Args:
        source: auto, original or simulated (default: auto)
        out: folder for the arrays and provenance.json; a further scaling is in one below
        scaling: its name (default: that of the experiments)
        entry: a CSV file of one's own, a JSON object (default: an entry of datasets.yaml)
    """
    import json

    from reproduction.data import store

    mirror = mirror or os.environ.get("DATA_MIRROR", "")
    options = {"mirror": mirror or None, "entry": json.loads(entry)}
    store.prepare(dataset, out=out, source=source, seed=seed, scaling=scaling, **options)
