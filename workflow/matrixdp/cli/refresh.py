"""Try again for originals where data are simulated, or say where they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def run(
    arguments: Sequence[str] = (),
    *,
    results: str = "results",
    mirror: str = "",
    status: bool = False,
    check: bool = False,
) -> None:
    """Run the verb.

    Args:
        arguments: of snakemake, after --; the configuration that they give may name a mirror
        status: only say which are simulated
        check: only check that configuration
    """
    from matrixdp import config

    if check:
        config.planned(arguments)
        return
    from matrixdp.data import store

    folders = sorted(Path(results, "data").glob("*"))
    if status:
        store.warn_of_stand_ins(folders)
        return
    mirror = mirror or os.environ.get("DATA_MIRROR", "")
    if not mirror and (arguments or Path("config.yaml").is_file()):
        mirror = config.planned(arguments)["data"]["mirror"]
    store.refresh(folders, mirror=mirror or None)
