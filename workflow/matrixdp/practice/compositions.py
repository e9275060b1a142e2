"""Composed releases, which have several parts, as options with answers and receipts."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.base import GaussianRelease, Mechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.composed import Composed, Outcome, clipped_moments
from matrixdp.practice import answers, recommend, uncertainty
from matrixdp.practice.specification import Specification
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import SecondMomentQuery

#: Note of a receipt on clipping, beside the noise.
CLIPPING = (
    "records are shrunk to a radius that is chosen in private, see the details; what this takes "
    "from long records is no noise, and not stated here"
)


def options(spec: Specification, delta: float) -> list[recommend.Option]:
    """Return the release of clipped moments for a specification, as the only option.

    Its error is the largest over all radii, with records that fill the radius.

    Raises:
        InputError: no safe noise gives this guarantee.
    """
    about_mean = spec.kind in answers.WITH_CONSTANT
    assert isinstance(spec.query, SecondMomentQuery)
    release = clipped_moments(spec.query, epsilon=spec.epsilon, delta=delta, about_mean=about_mean)
    mechanism: Mechanism = Centred() if about_mean else PrivatelyClipped()
    error = max(
        float(np.sqrt(recommend.variances(candidate).mean())) / _filled(candidate)
        for candidate in release.radii
    )
    return [recommend.Option(mechanism, release, recommend.variances(release.widest), error)]


def _filled(release: GaussianRelease) -> float:
    """Return the mean square of an entry of records that fill the radius of a release."""
    return release.query.domain.radius**2 / release.query.features


def says(spec: Specification, best: recommend.Option) -> str:
    """Return the size of the noise of clipped moments, in plain words."""
    if spec.kind == "regression":
        return (
            "what the noise means for predictions follows from a radius that is chosen in private"
        )
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


def answer(spec: Specification, outcome: Outcome, middle: Array, half: Array) -> Array:
    """Return the answer of a release, as :func:`matrixdp.practice.answers.answer` does."""
    if spec.kind == "second_moments":
        return outcome.moments * np.outer(half, half)
    return answers.about_mean(
        spec.kind,
        outcome.estimate,
        outcome.moments_std,
        middle,
        half,
        number=spec.number,
        **spec.line_options,
    )


def details(spec: Specification, release: Composed, outcome: Outcome) -> dict[str, Any]:
    """Return the answers of the parts and intervals; the guarantee covers both."""
    centre = outcome.centre * spec.half + spec.middle
    content: dict[str, Any] = {
        "radius_in_half_ranges": outcome.radius,
        "noise_of_moments_in_half_ranges": outcome.moments_std,
    }
    if outcome.centre_std:
        content["mean"] = dict(zip(spec.columns, centre.tolist(), strict=True))
        noise = outcome.centre_std * spec.half
        content["noise_of_mean"] = dict(zip(spec.columns, noise.tolist(), strict=True))
    part = release.at(outcome.radius)
    if spec.kind in uncertainty.KINDS and isinstance(spec.query.domain, Box):
        simulated = uncertainty.Noise(part, outcome.centre_std)
        content |= uncertainty.details(
            spec, simulated, outcome.estimate, outcome.moments, outcome.moments_std
        )
    elif spec.kind == "second_moments":
        widths = part.interval(uncertainty.LEVEL) * np.outer(spec.half, spec.half)
        content |= uncertainty.moments_table(spec.columns, widths)
    return content
