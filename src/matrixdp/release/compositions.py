"""Composed releases, which have several parts, as options with answers and receipts."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveGaussian, Mechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.composed import (
    Composed,
    ComposedMoments,
    Outcome,
)
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.release import answers, recommend, uncertainty
from matrixdp.release.answers import Output
from matrixdp.release.specification import Specification

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
WHOLE = "none: the radius holds all records within the public bounds"
#: Share of a radius that a sum of squares may lose to rounding.
_ROUNDING = 1e-12
RIDGE_OF_NOISE = (
    "a ridge shrinks all coefficients where the released moments of the other columns are not far "
    "larger than their noise, which the released numbers decide; what this takes from them is no "
    "noise, and not in the standard errors"
)


def options(spec: Specification, delta: float) -> list[recommend.Option]:
    """Return the release in parts for a specification, as the only option.

    The error of clipped moments is the largest over all radii, with records that fill the radius.

    Raises:
        InputError: no safe noise gives this guarantee.
    """
    query, budget = spec.query, {"epsilon": spec.epsilon, "delta": delta}
    about_mean = spec.query_name in answers.WITH_CONSTANT
    assert isinstance(query, SecondMomentQuery)
    mechanism: Mechanism = Centred() if about_mean else PrivatelyClipped()
    moments = ComposedMoments.calibrated(mechanism, query, **budget)
    error = max(
        float(np.sqrt(recommend.variances(candidate).mean())) / _filled(candidate)
        for candidate in moments.radii
    )
    return [recommend.Option(mechanism, moments, recommend.variances(moments.widest), error)]


def _filled(release: AdditiveGaussian) -> float:
    """Return the mean square of an entry of records that fill the radius of a release."""
    return release.query.domain.radius**2 / release.query.features


def says(spec: Specification, best: recommend.Option) -> str:
    """Return the size of the noise of clipped moments, in plain words."""
    share = "what records that fill the radius allow, which is chosen in private"
    if best.error >= 1:
        return f"noise of {best.error:,.3g} times {share}"
    return f"noise of {best.error:.2%} of {share}"


def in_words(release: Composed) -> list[str]:
    """Return a line on the budget of each part."""
    return [
        f"{part['part']}: {part['share']:.0%} of the budget, mu {part['mu']:.3g}"
        for part in release.costs
    ]


def answer(spec: Specification, output: Output, outcome: Outcome) -> Array:
    """Return the answer of a release, as :func:`matrixdp.release.answers.answer` does."""
    if spec.query_name == "second_moments":
        return outcome.moments / outcome.weight * np.outer(output.half, output.half)
    return answers.about_mean(output, outcome.estimate, outcome.moments_std)


def _reach(domain: Box | Ball, centre: Array) -> float:
    """Return the largest distance of a record within its bounds from a centre (m,)."""
    if isinstance(domain, Ball):
        return domain.radius + float(np.linalg.norm(centre))
    sides = np.abs([np.array(domain.lower) - centre, np.array(domain.upper) - centre])
    return float(np.linalg.norm(sides.max(axis=0)))


def details(spec: Specification, release: ComposedMoments, outcome: Outcome) -> dict[str, Any]:
    """Return the answers of the parts and intervals; the guarantee covers both.

    Answers that are divided by a private number of records have no intervals.
    """
    clipped = outcome.radius < _reach(spec.query.domain, outcome.centre) * (1 - _ROUNDING)
    centre = outcome.centre * spec.half + spec.middle
    content: dict[str, Any] = {
        "radius_in_half_ranges": outcome.radius,
        "clipping": SHRUNK if clipped else WHOLE,
        "noise_of_moments_in_half_ranges": outcome.moments_std / outcome.weight,
    }
    if spec.query_name == "covariance":
        content |= spec.output.unclipped(spec.columns, outcome.estimate.mean)
        content |= spec.output.raw(spec.columns, outcome.moments / outcome.weight)
    if clipped:
        share = float(np.clip(outcome.beyond / outcome.weight, 0, 1))
        content["noisy_share_of_records_beyond_the_radius"] = share
        content["noise_of_this_share"] = outcome.beyond_std / outcome.weight
    # The answer of a covariance has the mean.
    if outcome.centre_std and spec.query_name != "covariance":
        content["mean"] = answers.table(spec.columns, centre)
    if spec.query.private_count:
        return {**content, "records": outcome.weight * spec.query.n_records}
    if outcome.centre_std:
        noise = outcome.centre_std * spec.half
        content["noise_of_mean"] = answers.table(spec.columns, noise)
    part = release.at(outcome.radius)
    if spec.query_name in uncertainty.KINDS and isinstance(spec.query.domain, Box):
        simulated = uncertainty.MomentNoise(part, outcome.centre_std)
        content |= uncertainty.details(
            spec, simulated, outcome.estimate, outcome.moments, outcome.moments_std, clipped=clipped
        )
    elif spec.query_name == "second_moments":
        widths = part.interval(uncertainty.LEVEL) * np.outer(spec.half, spec.half)
        content |= uncertainty.moments_table(spec.columns, widths, clipped=clipped)
    return content
