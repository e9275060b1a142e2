"""Verbs that the workflow's rules call; ``python -m reproduction VERB --help`` explains one.

A verb is a module of this package, as in :mod:`reproduction.verbs`. This file holds help and counts
as the code of no job: nothing here changes a result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from reproduction import terminal, verbs

#: The help text of every verb.
VERBS = verbs.texts(sorted(Path(__file__).parent.glob("[!_]*.py")))

_DESCRIPTION = """The steps of the workflow, which `snakemake` calls.

A release of a matrix of your own is made by the library: see `matrixdp --help`.
"""

#: Options that several verbs have.
_SHARED = {
    "results": "a run's folder (default: results)",
    "seed": "root of all random streams (default: 0)",
    "mirror": "folder with the original files, looked in first (default: DATA_MIRROR)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    terminal.keep_last_words()
    return verbs.call(words, "python -m reproduction", __name__, VERBS, _DESCRIPTION, _SHARED)
