"""Try again for originals where data are simulated, or say where they are."""

from __future__ import annotations

import os
from pathlib import Path


def run(*, results: str = "results", mirror: str = "", status: bool = False) -> None:
    """Run the verb.

    Args:
        status: only say which are simulated
    """
    from matrixdp import config
    from matrixdp.data import store

    folders = sorted(Path(results, "data").glob("*"))
    if status:
        store.warn_of_stand_ins(folders)
        return
    file, mirror = Path("config.yaml"), mirror or os.environ.get("DATA_MIRROR", "")
    if not mirror and file.is_file():
        mirror = config.parse(file.read_text(encoding="utf-8"))["data"]["mirror"]
    store.refresh(folders, mirror=mirror or None)
