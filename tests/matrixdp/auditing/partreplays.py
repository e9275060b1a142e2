"""Real releases in several parts: the noise of each part, and replays of all parts.

Records may enter such a release through the answers of its parts alone. So a program that receives
the same noisy answers on other records must give the same release. A program that reads the data
once more, or adds less noise than it declares, does not. The change of the answers on neighbours,
over their noise, gives mu.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixdp.auditing import real
from matrixdp.auditing.audit import Finding, Scale
from matrixdp.auditing.composition import Answers, Noise, Undeclared
from matrixdp.auditing.neighbours import random_records, worst
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.clipped import ShellQuery
from matrixdp.mechanisms.composed import ComposedMoments
from matrixdp.mechanisms.programs import Part
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import MeanQuery

#: Number of replayed pairs of data sets that are far apart, and of replayed pairs of neighbours.
#: ``SIZES`` are the sizes, used in turn, of the records that neighbours share.
PAIRS, NEIGHBOURS = 16, 12
SIZES = 1.0, 0.1, 0.01


def executed(release: ComposedMoments, stream: np.random.Generator) -> Finding:
    """Return the finding of replays: the share of other releases, and mu over the declared mu.

    mu is the larger of two: of the worst neighbours of each part, and of replayed neighbours. A
    null record can be replayed as one of zeros, where these lie within the bounds; one that is
    removed is left out.
    """
    query = release.query
    other = []
    for _ in range(PAIRS):
        first, second = (random_records(query, stream) for _ in range(2))
        other.append(_apart(release, first, second, int(stream.integers(2**32))) is None)
    mus = [float(np.linalg.norm([_worst(part, stream) for part in release.parts]))]
    mean = MeanQuery(query.domain, query.n_records, query.adjacency, per_person=query.per_person)
    pairs = [
        worst(target, lambda d: np.linalg.norm(d, axis=(-2, -1)), stream)[:2]
        for target in (mean, query)
    ]
    # A part that reads norms alone changes most between a full record and a record of zeros.
    pairs.append((pairs[1][0], np.zeros_like(pairs[1][0])))
    within = isinstance(query.domain, Ball) or query.domain.contains_zero
    for number in range(NEIGHBOURS if within or query.adjacency != "zero_out" else 0):
        first = SIZES[number % len(SIZES)] * random_records(query, stream)
        second = first.copy()
        sides = zip((first, second), pairs[number // len(SIZES) % len(pairs)], strict=True)
        for data, record in sides:
            data[:, : query.group] = np.reshape(record, (-1, query.features)).T
        if query.private_count:
            second = second[:, query.group :]
        apart = _apart(release, first, second, int(stream.integers(2**32)))
        mus.append(np.inf if apart is None else apart)
    return Finding(float(np.mean(other)), max(mus) / release.mu)


def scale(release: ComposedMoments, stream: np.random.Generator) -> Scale:
    """Return the test of the first part whose real noise fails it, or of the last part."""
    for part in release.parts:
        for part_release in part.releases:
            result = real.scale(part_release, stream)
            if result.verdict != "right":
                return result
    return result


def _apart(release: ComposedMoments, first: Array, second: Array, seed: int) -> float | None:
    """Return the distance of the parts' answers over their noise; None if releases differ."""
    answers = Answers(Noise(seed))
    repeated = Answers(repeated=answers)
    try:
        released = release.run(lambda: [first.T], answers)
        again = release.run(lambda: [second.T], repeated)
    except (InputError, Undeclared):
        # A part out of order, or one that the first run did not ask for.
        return None
    if len(answers.parts) != len(release.parts) or not _same(released, again):
        return None
    return repeated.apart(answers)


def _same(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    flat, other = (np.concatenate([np.ravel(x) for x in outcome]) for outcome in (first, second))
    return flat.shape == other.shape and np.allclose(flat, other, rtol=1e-9, atol=0)


def _worst(part: Part, stream: np.random.Generator) -> float:
    """Return the largest change of a part's answer on neighbours, over its noise."""

    def white(release: AdditiveGaussian) -> float:
        query, whiten = release.query, release.noise.whiten
        if isinstance(query, ShellQuery):
            # All records of a person move from one shell to another, or are added to one.
            moves = np.array([[1.0], [0.0 if query.private_count else -1.0]])
            change = query.group * np.eye(query.features)[:, :2] @ moves
            return float(np.linalg.norm(whiten(change)))
        return worst(query, lambda d: np.linalg.norm(whiten(d), axis=-1), stream).size

    return max(white(release) for release in part.releases)
