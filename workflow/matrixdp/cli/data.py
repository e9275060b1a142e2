"""Verbs that get and describe data."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from matrixdp import config
from matrixdp.cli.options import Verb, seed_number


def add(verb: Verb) -> None:
    """Add this file's verbs to the command line."""
    data = verb("data", _data, "fetch, check and prepare a data set")
    data.add_argument("dataset")
    data.add_argument("--source", default="auto", help="auto, original or simulated")
    data.add_argument(
        "--seed", type=seed_number, default=0, help="root seed of a simulated stand-in"
    )
    data.add_argument("--scaling", default="default", help="its name in datasets.yaml")
    data.add_argument("--like", help="a prepared folder whose records to scale")
    data.add_argument("--out", required=True, help="folder for the arrays and provenance.json")
    _add_mirror(data)

    refresh = verb("refresh", _refresh, "try again for originals where data are simulated")
    refresh.add_argument("--results", default="results")
    _add_mirror(refresh)

    status = verb("status", _status, "say which data are simulated stand-ins")
    status.add_argument("--results", default="results")


def _add_mirror(added: argparse.ArgumentParser) -> None:
    """Add the option that names a mirror."""
    added.add_argument(
        "--mirror",
        default=os.environ.get("DATA_MIRROR", ""),
        help="folder with the original files, looked in first (default: DATA_MIRROR)",
    )


def _data(options: argparse.Namespace) -> None:
    from matrixdp import data

    source, mirror, seed = options.source, options.mirror or None, options.seed
    if options.like:
        # The same records, from where they are already.
        like = data.load(options.like)
        source, seed = like.status, like.provenance.get("seed", seed)
        kept = Path(options.like, "downloads")
        mirror = kept if kept.is_dir() else mirror
    data.prepare(
        options.dataset,
        out=options.out,
        source=source,
        mirror=mirror,
        seed=seed,
        scaling_name=options.scaling,
    )


def _refresh(options: argparse.Namespace) -> None:
    from matrixdp import data

    file = Path("config.yaml")
    mirror = options.mirror
    if not mirror and file.is_file():
        mirror = config.parse(file.read_text(encoding="utf-8"))["data"]["mirror"]
    data.refresh(sorted(Path(options.results, "data").glob("*")), mirror=mirror or None)


def _status(options: argparse.Namespace) -> None:
    from matrixdp import data

    data.warn_of_stand_ins(sorted(Path(options.results, "data").glob("*")))
