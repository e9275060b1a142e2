"""Composed releases, which have several parts, as options with answers and receipts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.composed import (
    ComposedMoments,
    Outcome,
    Rows,
)
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.release import comparison
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import Output
from matrixdp.release.outputs.words import by_name
from matrixdp.release.specification import Specification
from matrixdp.release.uncertainty import MomentNoise

#: Notes of a receipt on clipping and on the ridge, beside the noise.
CLIPPING = (
    "records are shrunk to a radius that is chosen in private, see the details; what this takes "
    "from long records is no noise, and no interval covers it"
)
#: Notes of the details on the effect of the radius.
SHRUNK = (
    "records beyond the radius are shrunk to it, which makes variances, eigenvalues and mean "
    "squares too small; the noisy share of these records does not bound by how much"
)
#: What is said of numbers that a radius may make smaller.
TOO_SMALL = (
    "records beyond a radius that was found in private are shrunk to it: where their noisy share, "
    "which is in the details, is large, these numbers may be several times too small; mechanism = "
    '"analyze_gauss" has more noise and none of this'
)
WHOLE = "none: the radius holds all records within the public bounds"
#: Share of a radius that a sum of squares may lose to rounding.
_ROUNDING = 1e-12


def options(spec: Specification, delta: float) -> list[comparison.Option]:
    """Return the release in parts for a specification, as the only option.

    The error of clipped moments is the largest over all radii, with records that fill the radius.

    Raises:
        InputError: no safe noise gives this guarantee.
    """
    query, budget = spec.output.query, {"epsilon": spec.epsilon, "delta": delta}
    assert isinstance(query, SecondMomentQuery)
    mechanism: Mechanism = Centred() if spec.output.about_mean else PrivatelyClipped()
    moments = ComposedMoments.calibrated(mechanism, query, **budget)
    error = max(
        # Over the mean square of an entry of records that fill the radius.
        float(np.sqrt(comparison.variances(candidate).mean()))
        / (candidate.query.domain.radius**2 / candidate.query.features)
        for candidate in moments.radii
    )
    return [comparison.Option(mechanism, moments, error)]


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
    value = output.value(rows())
    # Simulated once for all answers.
    noise = functools.cache(lambda: MomentNoise(release))
    return lambda: output.noisy(release, release.release_value(value), noise)


def noisy(output: Output, release: ComposedMoments, outcome: Outcome) -> Noisy:
    """Return what a release in parts gives to an output."""
    reach = _reach(output.query.domain, outcome.centre)
    part = release.at(outcome.radius)
    return Noisy(
        outcome.moments / outcome.weight,
        part,
        functools.cache(lambda: MomentNoise(part, outcome.centre_std)),
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


def details(output: Output, noisy: Noisy) -> dict[str, Any]:
    """Return what stands beside an answer: answers of parts, and intervals.

    Answers that are divided by a private number of records have no intervals.
    """
    outcome = noisy.outcome
    if outcome is None:
        return output.described(noisy)
    content: dict[str, Any] = {
        "radius_in_half_ranges": outcome.radius,
        "clipping": SHRUNK if noisy.shrinks else WHOLE,
        "noise_of_moments_in_half_ranges": outcome.moments_std / outcome.weight,
    }
    if noisy.shrinks:
        content["noisy_share_of_records_beyond_the_radius"] = noisy.share_beyond
        content["noise_of_this_share"] = outcome.beyond_std / outcome.weight
    if outcome.centre_std and "mean" not in output.headers:
        mean = outcome.centre * output.half + output.middle
        content["mean"] = by_name(output.columns, mean)
    if output.query.private_count:
        content["records"] = outcome.weight * output.query.n_records
    elif outcome.centre_std:
        content["noise_of_mean"] = by_name(output.columns, outcome.centre_std * output.half)
    return content | output.described(noisy)
