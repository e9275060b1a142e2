"""Releases of columns with private bounds: first the bounds, then the answer within them.

The whole guarantee is charged once, before any noise is drawn. Columns with public bounds may stand
beside private ones. The calibration of both parts, and so the receipt, follows from public facts:
the second part is calibrated to records in half ranges of whatever bounds the first part finds.
Values beyond these are clipped, so that no interval covers the answer without clipping.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism, Budget, delta_for_noise
from matrixdp.mechanisms.composed import InParts
from matrixdp.mechanisms.private_bounds import (
    BETA,
    MISSING,
    OTHERS,
    SHARE,
    PrivatelyBounded,
    SizeQuery,
    laplace,
    normal,
)
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Box
from matrixdp.release import ledger
from matrixdp.release.comparison import Option
from matrixdp.release.outputs import Output
from matrixdp.release.specification import Specification

#: Returns intervals and other details of an answer.
Details = Callable[[], dict[str, Any]]
#: Returns an answer and its details, with fresh noise.
Draw = Callable[[], tuple[Array, Details]]

#: Factor that keeps parts slightly small, so that rounding never overspends the whole.
_BELOW = 1 - 1e-9
#: What stands for the words of an interval that would cover an answer without clipping.
_ALONE = "noise_alone"


def options(
    spec: Specification, delta: float, rank: Callable[[Specification], list[Option]]
) -> list[Option]:
    """Return the options for a specification with private bounds, the least noise first.

    Their errors are in half ranges of the private bounds.

    Args:
        spec: specification with private bounds.
        delta: the delta that the account leaves for the release.
        rank: returns the options of a specification with public bounds.

    Raises:
        InputError: no safe noise gives this guarantee.
    """
    within_bounds, sizes = replace(spec, private=()), SizeQuery.of(spec.query, len(spec.private))
    most = max(option.release.numbers for option in rank(replace(within_bounds, mu=None)))
    remainder = delta_for_noise(spec.epsilon, delta, sizes.features + most) * _BELOW
    if not delta:
        search = laplace(sizes, spec.epsilon * SHARE * _BELOW)
        second = replace(within_bounds, epsilon=spec.epsilon * (1 - SHARE) * _BELOW)
    else:
        mu = float(gaussian.mu(spec.epsilon, remainder))
        mu = mu if spec.mu is None else min(mu, spec.mu * _BELOW)
        search = normal(sizes, np.sqrt(SHARE) * mu * _BELOW, Budget(spec.epsilon, remainder))
        rest = np.sqrt(1 - SHARE) * mu * _BELOW
        epsilon = float(gaussian.epsilon(delta, rest))
        second = replace(within_bounds, epsilon=epsilon, delta=delta, mu=rest)
    return [
        replace(option, release=PrivatelyBounded(search, option.inner, spec.epsilon, delta))
        for option in rank(second)
        if (option.release.mu is None) == (not delta)
    ]


def prepare(
    spec: Specification,
    release: PrivatelyBounded,
    rows: Iterable[Array],
    second: Callable[[Specification, AdditiveMechanism | InParts, Output], Draw],
) -> Draw:
    """Read the records, and return a function that draws the bounds and the answer within them.

    The answer is empty where a column has no bounds.

    Args:
        spec: specification with private bounds.
        release: its release.
        rows: blocks (k, m) of the records, in the columns' units, with ``MISSING`` for a missing
            value of a private column.
        second: as this function, for a specification whose bounds are known.
    """
    ledger.check(release)
    sizes = release.search.query
    assert isinstance(sizes, SizeQuery)
    places = _places(spec)
    counts = sizes.counts(block[:, places] for block in rows)

    def draw() -> tuple[Array, Details]:
        sides = release.bounds(release.search.add_noise(counts, os.urandom))
        table = {"private_bounds": dict(zip(spec.private, sides, strict=True))}
        if not all(sides):
            return np.empty((0, 0)), lambda: table
        bounded = within(spec, [side for side in sides if side])
        answer, describe = second(bounded, release.inner, bounded.output)()
        return answer, lambda: {**table, **_noise_alone(bounded, release.inner, describe())}

    return draw


def _places(spec: Specification) -> list[int]:
    return [spec.columns.index(name) for name in spec.private]


def within(spec: Specification, sides: Sequence[tuple[float, float]]) -> Specification:
    """Return a specification with these bounds of its private columns, in their order.

    Its query, in half ranges, stays: it allows records of all signs, whatever the bounds.
    """
    places, (lower, upper) = _places(spec), np.array([spec.box.lower, spec.box.upper])
    lower[places], upper[places] = np.transpose(sides)
    box = Box(tuple(lower.tolist()), tuple(upper.tolist()))
    # The mean of the values present leaves missing ones out.
    middle = np.nan if spec.present else box.middle
    fill = np.where(spec.fill == MISSING, middle, spec.fill)
    bounded = replace(spec, box=box, fill=fill, private=()).by(spec.mechanism)
    return replace(bounded, query=spec.query)


def _noise_alone(
    spec: Specification, release: AdditiveMechanism | InParts, details: dict[str, Any]
) -> dict[str, Any]:
    """Return the details of an answer, in whose names no interval covers more than the noise."""
    if isinstance(release, AdditiveMechanism):
        details = {**spec.output.widths(release), **details}
    return {name.replace("interval", _ALONE): value for name, value in details.items()}


def fills(spec: Specification) -> dict[str, Any]:
    """Return what a missing value of each column counts as, for a receipt."""
    words = "the middle of its private bounds"
    return {
        name: words if value == MISSING else value
        for name, value in zip(spec.columns, spec.fill.tolist(), strict=True)
    }


def statement(spec: Specification, option: Option) -> dict[str, Any]:
    """Return the entries of a receipt on the two parts."""
    release = option.release
    assert isinstance(release, PrivatelyBounded)
    return {
        "parts": release.costs,
        "noise_over_half_range": option.error,
        "private_bounds": f"those of {', '.join(spec.private)} are the ends of the outermost bins "
        "of a noisy histogram over powers of two whose counts are above thresholds, and stand in "
        "the details; values beyond them are clipped, and what this takes is no noise, and not "
        "stated here",
        "thresholds_of_counts": [*release.thresholds],
        "noise_std_of_counts": release.search.noise_std * release.search.rounding_factor,
        "probabilities_that_an_empty_bin_is_above": [BETA, OTHERS],
    }


def budget_lines(release: PrivatelyBounded) -> list[str]:
    """Return a line on each part of the budget, and on how many records a bound needs."""
    shares = [f"{part['part']}: {part['share']:.0%} of the budget" for part in release.costs]
    return [
        *shares,
        f"bounds: a power of two counts from about {release.thresholds[0]:,.0f} records",
    ]


def no_hope(option: Option) -> str:
    """Return a phrase on why no bounds can be found, from public facts; nothing where they can."""
    release = option.release
    if not isinstance(release, PrivatelyBounded):
        return ""
    most, records = release.thresholds[0], release.query.n_records
    if most < records:
        return ""
    return (
        f"private bounds need about {most:,.0f} records that share a power of two, and there are "
        f"{records:,}"
    )


def failure(details: dict[str, Any]) -> str:
    """Return a sentence on the columns that have no bounds."""
    names = [repr(name) for name, sides in details["private_bounds"].items() if sides is None]
    return (
        f"no bounds were found for {', '.join(names)}, so that nothing is released, and the charge "
        "stays; state public bounds, or take fewer private columns or a larger epsilon"
    )
