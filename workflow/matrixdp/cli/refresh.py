"""Try again for originals where data are simulated, or say where they are."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    shared.results(parser)
    shared.mirror(parser)
    parser.add_argument("--status", action="store_true", help="only say which are simulated")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config
    from matrixdp.data import store

    folders = sorted(Path(options.results, "data").glob("*"))
    if options.status:
        store.warn_of_stand_ins(folders)
        return
    file, mirror = Path("config.yaml"), options.mirror
    if not mirror and file.is_file():
        mirror = config.parse(file.read_text(encoding="utf-8"))["data"]["mirror"]
    store.refresh(folders, mirror=mirror or None)
