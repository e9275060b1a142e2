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
    scaling: str = "",
) -> None:
    """Run the verb.

    Args:
        source: auto, original or simulated (default: auto)
        out: folder for the arrays and provenance.json; further scalings are in folders below
        scaling: one scaling alone (default: all)
    """
    from reproduction.data import store

    mirror = mirror or os.environ.get("DATA_MIRROR", "")
    store.prepare(
        dataset, out=out, source=source, seed=seed, scaling=scaling, mirror=mirror or None
    )
