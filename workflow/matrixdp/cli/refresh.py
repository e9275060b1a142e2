"""Try again for originals where data are simulated."""

from __future__ import annotations

import os
from pathlib import Path


def run(*, results: str = "results", mirror: str = "") -> None:
    """Run the verb."""
    from matrixdp import config
    from matrixdp.data import store

    folders = sorted(Path(results, "data").glob("*"))
    mirror = mirror or os.environ.get("DATA_MIRROR", "")
    if not mirror and Path("config.yaml").is_file():
        mirror = config.resolve(config.load("config.yaml"))["data"]["mirror"]
    store.refresh(folders, mirror=mirror or None)
