"""Trials of a calibrated mechanism, and the name of its noise.

Trial k draws from its Generator as simulated releases do, so that it is the same however many
trials are run. Trials of the study's and the library's noise are drawn as a stack.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from matrixdp import library
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.centred import CentredMoments
from matrixdp.mechanisms.clipped import PrivatelyClippedMoments
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.mechanisms.programs import Ask, Program, Question
from matrixdp.noise import safe
from matrixdp.noise.value import Noise, upper
from reproduction.stacks import Streams, draw_blocks, normals

#: Names of the library's noise by its law and whether it is symmetric.
NAMES = {
    (safe.NORMAL, False): "MatrixNormal",
    (safe.NORMAL, True): "SymmetricNormal",
    (safe.LAPLACE, False): "Laplace",
    (safe.LAPLACE, True): "SymmetricLaplace",
}

#: Names of the library's programs by their class, so that these may be renamed too.
PROGRAMS = {PrivatelyClippedMoments: "ChosenByHistogram", CentredMoments: "CentredMoments"}


def noise_name(release: CalibratedMechanism) -> str:
    """Return the name of a release's noise in keys of random streams.

    Releases with identically distributed noise have the same name, and so the same draws. A class
    of the study writes its name as ``stream``, so that it may be renamed; one of another package
    has the name of the class.
    """
    if type(release) in PROGRAMS:
        return PROGRAMS[type(release)]
    drawn: object = release
    if isinstance(release, AdditiveMechanism) and not hasattr(release, "stream"):
        drawn = release.noise
        if isinstance(drawn, Noise):
            return NAMES[drawn.law, drawn.symmetric]
    return str(getattr(drawn, "stream", type(drawn).__name__))


def simulate_all(
    release: CalibratedMechanism, values: Iterable[Array], streams: Callable[[], Streams]
) -> Iterator[Array]:
    """Return simulated releases of several values under the same noise, each (trials, ...).

    Noise that is added to a value is drawn once.

    Args:
        release: the calibrated mechanism.
        values: exact values of its query, each for all trials or with one per trial.
        streams: returns one Generator per trial, in the same state each time.

    Raises:
        InputError: as :meth:`matrixdp.mechanisms.mechanism.CalibratedMechanism.simulate`.
    """
    # Before any noise, a value outside the public bounds is refused.
    exact = [release.query.check(value) for value in values]
    if isinstance(release, AdditiveMechanism) and library.plain(release):
        noise = noise_of(release, streams())
        return (noise + value for value in exact)
    return (_simulated(release, value, streams()) for value in exact)


def _simulated(release: CalibratedMechanism, value: Array, streams: Streams) -> Array:
    if library.plain(release):
        if isinstance(release, Program):
            return release.simulated(value, [_drawing(stream) for stream in streams])
        if hasattr(release, "gram_factors"):
            # A task reads of a sketch its Gram matrix and nothing else.
            return np.asarray(release.gram_factors(value, streams))
        if hasattr(release, "trials"):
            return np.asarray(release.trials(value, streams))
    values = value if value.ndim == 3 else itertools.repeat(value, len(streams))
    pairs = zip(values, streams, strict=True)
    return np.concatenate([release.simulate(one, stream, 1) for one, stream in pairs])


def noise_of(question: AdditiveMechanism | Question, streams: Streams) -> Array:
    """Return the noise of each trial, shape (trials, m, n)."""
    if hasattr(question, "noise_of"):
        return np.asarray(question.noise_of(streams))
    noise = question.noise
    if hasattr(noise, "trials"):
        return np.asarray(noise.trials(streams))
    if isinstance(noise, Noise) and noise.law == safe.NORMAL:
        drawn = normals(streams, noise.shape)
        white = drawn[..., *upper(noise.shape[0])] if noise.symmetric else drawn
        return noise.colour(white.reshape(len(streams), noise.count))
    return draw_blocks(streams, noise.sample)


def _drawing(stream: np.random.Generator) -> Ask:
    """Return what answers the questions of a trial."""
    return lambda question, value: noise_of(question, [stream])[0] + value
