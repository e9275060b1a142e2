"""Options that several verbs have."""

from __future__ import annotations

import argparse
import os


def results(parser: argparse.ArgumentParser, default: str = "results") -> None:
    """Add the option that names a run's folder."""
    parser.add_argument("--results", default=default, help=f"a run's folder (default: {default})")


def out(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option that says where to write."""
    parser.add_argument("--out", required=True, help=what)


def reading(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses a reading."""
    parser.add_argument("--reading", default="default", help="its name, or knob=value+...")


def seed(parser: argparse.ArgumentParser, what: str = "root of all random streams") -> None:
    """Add the option that sets a root seed."""
    parser.add_argument("--seed", type=_seed, default=0, help=what)


def mirror(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a mirror."""
    parser.add_argument(
        "--mirror",
        default=os.environ.get("DATA_MIRROR", ""),
        help="folder with the original files, looked in first (default: DATA_MIRROR)",
    )


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)
