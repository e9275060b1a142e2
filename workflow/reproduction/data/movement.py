"""MovementAAL: radio signal strengths of four anchors along 314 walks, one file a walk."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from matrixdp.checks import Array


def read(members: Mapping[str, bytes]) -> Array:
    """Return the records of all walks in the order of their numbers, shape (13197, 4)."""
    walks = sorted(members, key=lambda name: int(re.findall(r"\d+", name)[-1]))
    # The first line of each file names the columns, with or without a leading #.
    lines = [line for walk in walks for line in members[walk].decode().splitlines()[1:]]
    return np.loadtxt(lines, delimiter=",", ndmin=2)
