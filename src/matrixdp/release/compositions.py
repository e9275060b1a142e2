"""What a release draws of records, how a file holds it, and what an output reads of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from matrixdp.checks import Array, as_input_error
from matrixdp.mechanisms.in_parts import ComposedMoments, Outcome
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.mechanisms.release import Release
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sizes import SizeQuery
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import Output
from matrixdp.release.uncertainty import MomentNoise

#: What a release draws: the noisy value of its query, or the outcome of its parts.
Draw = Array | Outcome

#: Maps a draw to what it gives to an output.
Reader = Callable[[Draw], Noisy]

#: Share of a radius that a sum of squares may lose to rounding.
_ROUNDING = 1e-12

#: Columns of a matrix of records in a trial at most, and the seed of its noise.
_RECORDS, _SEED = 1000, 0
#: Draws that a trial's description simulates.
TRIAL_DRAWS = 20


def reader(output: Output, release: Release, **size: int) -> Reader:
    """Return a function from a draw to what it gives; ``draws=`` limits simulations of noise."""

    def read(draw: Draw) -> Noisy:
        if not isinstance(draw, Outcome):
            return output.noisy(MomentNoise(release.widest, **size), draw)
        noise = MomentNoise(release.at(draw.radius), draw.centre_std, **size)
        return noisy(output, release, draw, noise)

    return read


def noisy(
    output: Output, release: Release, outcome: Outcome, noise: MomentNoise | None = None
) -> Noisy:
    """Return what a release in parts gives to an output; ``noise`` is that at its radius."""
    reach = _reach(output.query.domain, outcome.centre)
    return Noisy(
        outcome.moments / outcome.weight,
        release,
        noise or MomentNoise(release.at(outcome.radius), outcome.centre_std),
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


def trials(output: Output, release: Release) -> Iterator[Draw]:
    """Yield two draws around public values, which no record decides, by simulated noise.

    An answer is described for them before any charge, so that nothing but the noise is new to what
    describes the real one. The values are those of records in the middle of their bounds, or of
    zeros, and of records at their upper bounds; of a release in parts the largest radius and the
    smallest.
    """
    stream, query = np.random.default_rng(_SEED), output.query
    if isinstance(release, ComposedMoments):
        for part in (release.radii[0], release.radii[-1]):
            noise = part.noise.sample(stream, 1)[0]
            centre = release.centre_std * stream.standard_normal(len(output.columns))
            sizes = part.noise_std, part.query.domain.radius
            yield Outcome(noise, *sizes, centre, release.centre_std)
        return
    widest, is_matrix = release.widest, release.query.output_type == "matrix"
    for largest in (0.0, float(query.n_records) if isinstance(query, SizeQuery) else 1.0):
        value = np.full(query.shape, largest)
        if output.constant:
            value[CONSTANT, 0 if value.shape[1] == 1 else CONSTANT] = 1.0
        value += widest.noise.sample(stream, 1)[0]
        yield value[:, :_RECORDS].T if is_matrix else value


def rehearse(
    name: str,
    output: Output,
    release: Release,
    describe: Callable[[Reader, Draw], object],
) -> None:
    """Describe an answer of a release for draws around public values, before any charge.

    Args:
        name: what messages call the answer.
        output, release: as of :func:`reader`.
        describe: describes a draw by a reader of little simulated noise.

    Raises:
        InputError: it cannot be described.
    """
    sentence = (
        f"the answer of {name} cannot be described, as a trial on public values shows ({{why}}), "
        "and nothing was charged"
    )
    with as_input_error(sentence, "ask for another query"):
        few = reader(output, release, draws=TRIAL_DRAWS)
        for trial in trials(output, release):
            describe(few, trial)


def content(draw: Draw) -> dict[str, Any]:
    """Return a draw as JSON holds it, to the last bit."""
    if isinstance(draw, Outcome):
        return {name: np.asarray(value).tolist() for name, value in draw._asdict().items()}
    return {"value": draw.tolist()}


def from_content(stored: Mapping[str, Any]) -> Draw:
    """Return the draw that :func:`content` holds."""
    if "value" in stored:
        return np.array(stored["value"], dtype=float)
    parts: dict[str, Any] = {
        name: np.array(part) if isinstance(part, list) else part for name, part in stored.items()
    }
    return Outcome(**parts)
