"""What a release draws of records, how a file holds it, and what an output reads of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixdp.checks import Array, as_input_error
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.in_parts import ComposedMoments, Outcome
from matrixdp.mechanisms.moments import CONSTANT, MeanCovariance, positive
from matrixdp.mechanisms.release import Release
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sizes import SizeQuery
from matrixdp.release.uncertainty import MomentNoise

if TYPE_CHECKING:
    from matrixdp.release.outputs.output import Output

#: What a release draws: the noisy value of its query, or the outcome of its parts.
Draw = Array | Outcome

#: Share of a radius that a sum of squares may lose to rounding.
_ROUNDING = 1e-12

#: Columns of a matrix of records in a trial at most, and the seed of its noise.
_RECORDS, _SEED = 1000, 0
#: Draws that a trial's description simulates.
TRIAL_DRAWS = 20


@dataclass(frozen=True)
class Noisy:
    """A noisy value in half ranges, before an answer is read from it.

    Attributes:
        value: noisy value of the query; for an output about a mean the covariance as the noise
            left it, (m, m).
        release: the release that drew it.
        noise: its noise of moments, to simulate.
        mean, weight: noisy mean (m,), and number of records over the stated one; for outputs about
            a mean.
        outcome: what all parts of a release in parts gave.
        shrinks: whether a private radius shrinks records.
    """

    value: Array
    release: Release
    noise: MomentNoise
    mean: Array | None = None
    weight: Array | float = 1.0
    outcome: Outcome | None = None
    shrinks: bool = False

    @classmethod
    def of_parts(
        cls,
        output: Output,
        release: Release,
        outcome: Outcome,
        noise: MomentNoise | None = None,
    ) -> Noisy:
        """Return what a release in parts gives to an output; ``noise`` is that at its radius."""
        reach = _reach(output.query.domain, outcome.centre)
        return cls(
            outcome.moments / outcome.weight,
            release,
            noise or MomentNoise(release.at(outcome.radius), outcome.centre_std),
            mean=outcome.centre,
            weight=outcome.weight,
            outcome=outcome,
            shrinks=outcome.radius < reach * (1 - _ROUNDING),
        )

    @property
    def part(self) -> AdditiveMechanism:
        """The release with additive noise that drew the value, one of several radii in parts."""
        return self.noise.release

    @LazyProperty
    def estimate(self) -> MeanCovariance:
        """Mean and covariance, projected to positive semi-definite."""
        assert self.mean is not None
        return MeanCovariance(self.mean, positive(self.value), np.asarray(self.weight))

    @property
    def share_beyond(self) -> float:
        """Noisy share of the records that a private radius shrinks; 0 where none does."""
        if self.outcome is None:
            return 0.0
        return float(np.clip(self.outcome.beyond / self.outcome.weight, 0, 1))


#: Maps a draw to what it gives to an output.
Reader = Callable[[Draw], Noisy]


def reader(
    output: Output, release: Release, columns: Sequence[str] | None = None, **size: int
) -> Reader:
    """Return a function from a draw to what it gives; ``draws=`` limits simulations of noise.

    Args:
        output: what is read.
        release: what drew it.
        columns: those of the draw in their order, if it is another one than that of the output.
    """
    order = [(columns or output.columns).index(name) for name in output.columns]

    def read(draw: Draw) -> Noisy:
        draw = _reorder(draw, order)
        if not isinstance(draw, Outcome):
            return output.noisy(MomentNoise(release.widest, **size), draw)
        noise = MomentNoise(release.at(draw.radius), draw.centre_std, **size)
        return Noisy.of_parts(output, release, draw, noise)

    return read


def _reorder(draw: Draw, order: Sequence[int]) -> Draw:
    """Return a draw of moments with its columns in another order; a constant stays in its place."""
    if [*order] == [*range(len(order))]:
        return draw
    if isinstance(draw, Outcome):
        return draw._replace(moments=draw.moments[np.ix_(order, order)], centre=draw.centre[order])
    columns = np.delete(np.arange(len(draw)), CONSTANT)
    places = np.insert(columns[order], len(draw) + CONSTANT, len(draw) + CONSTANT)
    return draw[np.ix_(places, places)]


def _reach(domain: Box | Ball, centre: Array) -> float:
    """Return the largest distance of a record within its bounds from a centre (m,)."""
    if isinstance(domain, Ball):
        return domain.radius + float(np.linalg.norm(centre))
    sides = np.abs([np.array(domain.lower) - centre, np.array(domain.upper) - centre])
    return float(np.linalg.norm(sides.max(axis=0)))


def trial_draws(output: Output, release: Release) -> Iterator[Draw]:
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
        for trial in trial_draws(output, release):
            describe(few, trial)


def draw_content(draw: Draw) -> dict[str, Any]:
    """Return a draw as JSON holds it, to the last bit."""
    if isinstance(draw, Outcome):
        return {name: np.asarray(value).tolist() for name, value in draw._asdict().items()}
    return {"value": draw.tolist()}


def stored_draw(stored: Mapping[str, Any]) -> Draw:
    """Return the draw that :func:`draw_content` holds."""
    if "value" in stored:
        return np.array(stored["value"], dtype=float)
    parts: dict[str, Any] = {
        name: np.array(part) if isinstance(part, list) else part for name, part in stored.items()
    }
    return Outcome(**parts)
