"""What a release gives to an output, with additive noise or in several parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.composed import (
    ComposedMoments,
    Outcome,
    Rows,
)
from matrixdp.privacy.domain import Ball, Box
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import Output
from matrixdp.release.uncertainty import MomentNoise

#: Share of a radius that a sum of squares may lose to rounding.
_ROUNDING = 1e-12


def prepare(
    output: Output, release: AdditiveMechanism | ComposedMoments, rows: Rows
) -> Callable[[], Noisy]:
    """Read records, and return a function that draws what a release gives to an output.

    Bad records are refused here, before any noise is drawn.

    Args:
        output: what is read, with the query of the release.
        release: calibrated mechanism.
        rows: returns the scaled records in blocks (k, m); each call starts anew.
    """
    if isinstance(release, ComposedMoments):
        run = release.prepare(rows)
        return lambda: noisy(output, release, run())
    # Simulated once for all answers.
    value, noise = output.value(rows()), MomentNoise(release)
    return lambda: output.noisy(noise, release.release_value(value))


def noisy(output: Output, release: ComposedMoments, outcome: Outcome) -> Noisy:
    """Return what a release in parts gives to an output."""
    reach = _reach(output.query.domain, outcome.centre)
    return Noisy(
        outcome.moments / outcome.weight,
        release,
        MomentNoise(release.at(outcome.radius), outcome.centre_std),
        mean=outcome.centre,
        weight=outcome.weight,
        outcome=outcome,
        shrinks=outcome.radius < reach * (1 - _ROUNDING),
    )


def _reach(domain: Box | Ball, centre: Array) -> float:
    """Return the largest distance of a record within its bounds from a centre (m,)."""
    if isinstance(domain, Ball):
        return domain.radius + float(np.linalg.norm(centre))
    sides = np.abs([np.array(domain.lower) - centre, np.array(domain.upper) - centre])
    return float(np.linalg.norm(sides.max(axis=0)))
