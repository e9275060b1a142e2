"""The papers' theory as numbers: this package collects the ``THEORY`` of every file.

Each entry is a function of a seed that returns one tidy frame, the data of a figure. It computes
with the same mechanisms and samplers that the experiments run.
"""

from __future__ import annotations

import os
import sys

from reproduction import discovery, files


def write_theory(name: str, *, seed: int, out: str | os.PathLike) -> None:
    """Write the table of one computation to the CSV ``out``.

    The same seed gives the same bytes.
    """
    table = discovery.find_entry(sys.modules[__name__], "THEORY", theory=name)(seed)
    # Twelve digits: the last ones depend on the processor.
    files.write_text(out, table.to_csv(index=False, lineterminator="\n", float_format="%.12g"))
