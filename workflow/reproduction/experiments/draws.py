"""Trials of a calibrated mechanism: several values under the same noise, and the noise's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.base import CalibratedMechanism
from matrixdp.noise import safe
from matrixdp.noise.distributions import Streams
from matrixdp.noise.value import Noise

#: Names of the library's noise by its law and whether it is symmetric.
NAMES = {
    (safe.NORMAL, False): "MatrixNormal",
    (safe.NORMAL, True): "SymmetricNormal",
    (safe.LAPLACE, False): "Laplace",
    (safe.LAPLACE, True): "SymmetricLaplace",
}


def noise_name(release: CalibratedMechanism) -> str:
    """Return the name of a release's noise in keys of random streams.

    Releases with identically distributed noise have the same name, and so the same draws. A class
    of the study writes its name as ``stream``, so that it may be renamed; others have the name of
    the class.
    """
    drawn: object = release
    if isinstance(release, AdditiveMechanism) and not hasattr(release, "stream"):
        drawn = release.noise
        if isinstance(drawn, Noise):
            return NAMES[drawn.unit, drawn.symmetric]
    return str(getattr(drawn, "stream", type(drawn).__name__))


def simulate_all(
    release: CalibratedMechanism, values: Iterable[Array], streams: Callable[[], Streams]
) -> Iterator[Array]:
    """Return simulated releases of several values under the same noise, each (trials, ...).

    Noise that a release draws apart from its value is drawn once.

    Args:
        release: the calibrated mechanism.
        values: exact values of its query, each for all trials or with one per trial.
        streams: returns one Generator per trial, in the same state each time.

    Raises:
        InputError: as :meth:`matrixdp.mechanisms.base.CalibratedMechanism.simulate`.
    """
    # Of a release that draws its noise apart from the value.
    separable: Any = release
    if not hasattr(separable, "draw_noise"):
        return (release.simulate(value, streams()) for value in values)
    # Before any noise, a value outside the public bounds is refused.
    exact = [release.query.check(value) for value in values]
    noise = separable.draw_noise(streams())
    return (separable.combined(value, noise) for value in exact)
