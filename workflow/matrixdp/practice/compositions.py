"""Releases in several parts: how they stand beside the others, and what they answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.base import GaussianRelease, Mechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.composed import Composed, Outcome, clipped_moments
from matrixdp.practice import answers, recommend
from matrixdp.practice.specification import Specification
from matrixdp.privacy.sensitivity import SecondMomentQuery

#: What a receipt states beside the noise.
CLIPPING = (
    "records are shrunk to a radius that is chosen in private, see the details; what this takes "
    "from long records is no noise, and not stated here"
)


def options(asked: Specification, delta: float) -> list[recommend.Option]:
    """Return the release of clipped moments that is asked for, as the only option.

    Its error is the worst of all radii, each filled by the records.

    Raises:
        InputError: there is no safe noise at this guarantee.
    """
    about_mean = asked.asked in answers.WITH_CONSTANT
    assert isinstance(asked.query, SecondMomentQuery)
    release = clipped_moments(
        asked.query, epsilon=asked.epsilon, delta=delta, about_mean=about_mean
    )
    mechanism: Mechanism = Centred() if about_mean else PrivatelyClipped()
    error = max(
        float(np.sqrt(recommend.variances(one).mean())) / _filled(one) for one in release.radii
    )
    return [recommend.Option(mechanism, release, recommend.variances(release.widest), error)]


def _filled(release: GaussianRelease) -> float:
    """Return the mean square of an entry of records that fill the radius of a release."""
    return release.query.domain.radius**2 / release.query.features


def says(asked: Specification, best: recommend.Option) -> str:
    """Return what the noise of clipped moments means, in plain words."""
    if asked.asked == "regression":
        return (
            "what the noise means for predictions follows from a radius that is chosen in private"
        )
    share = "what records that fill the radius allow, which is chosen in private"
    if best.error >= 1:
        return f"noise of {best.error:,.3g} times {share}"
    return f"noise of {best.error:.2%} of {share}"


def in_words(release: Composed) -> list[str]:
    """Return what each part spends, a sentence each."""
    return [
        f"{part['part']}: {part['share']:.0%} of the budget, mu {part['mu']:.3g}"
        for part in release.costs
    ]


def answer(asked: Specification, outcome: Outcome, middle: Array, half: Array) -> Array:
    """Return what a release says, as :func:`matrixdp.practice.answers.answer` does."""
    if asked.asked == "second_moments":
        return outcome.moments * np.outer(half, half)
    return answers.about_mean(
        asked.asked, outcome.estimate, outcome.moments_std, middle, half, number=asked.number
    )


def details(asked: Specification, outcome: Outcome) -> dict[str, Any]:
    """Return what the parts answered, which is as private as the release."""
    centre = outcome.centre * asked.half + asked.middle
    found: dict[str, Any] = {
        "radius_in_half_ranges": outcome.radius,
        "noise_of_moments_in_half_ranges": outcome.moments_std,
    }
    if outcome.centre_std:
        found["mean"] = dict(zip(asked.columns, centre.tolist(), strict=True))
        noise = outcome.centre_std * asked.half
        found["noise_of_mean"] = dict(zip(asked.columns, noise.tolist(), strict=True))
    return found
