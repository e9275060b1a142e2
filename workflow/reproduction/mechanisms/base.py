"""Entries of the registry of mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matrixdp.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Entry:
    """A mechanism that config.yaml names, with the axes of its parameter grid.

    ``build`` makes the mechanism from one value per axis:

    - ``direction`` (argument ``important``): indices of the features that get the larger share,
      empty for i.i.d. noise;
    - ``tau``: the share of these features;
    - ``rows``: rows of a sketch as a multiple of m;
    - ``radius``: squared clipping radius as a share of the largest squared norm.
    """

    build: Callable[..., Mechanism]
    axes: tuple[str, ...] = ()
