"""Equations of whitening and colouring hold to rounding, or one missing direction breaks them."""

import numpy as np
import pytest

from matrixdp.auditing import probes
from matrixdp.noise import distributions

FACTOR = np.eye(21) + 0.4 * np.random.default_rng(0).normal(size=(21, 21))


def defect(noise, symmetric=False):
    return probes.defect(noise, symmetric, np.random.default_rng(3))


@pytest.mark.parametrize("factor", [1.0, np.geomspace(1e-4, 1, 21), FACTOR])
@pytest.mark.parametrize("columns", [21, 2126])
def test_noise_of_the_library_has_no_defect(factor, columns):
    assert not defect(distributions.MatrixNormal((21, columns), factor))


@pytest.mark.parametrize(
    "noise",
    [
        distributions.SymmetricNormal((6, 6), 1.0, 0.7),
        distributions.SymmetrisedNormal((21, 21), FACTOR),
        distributions.SymmetricLaplace((6, 6), 0.1),
        distributions.LaplaceNoise((6, 4), 0.1),
    ],
    ids=lambda noise: type(noise).__name__,
)
def test_nor_has_other_noise_of_the_library(noise):
    assert not defect(noise, symmetric=noise.shape[0] == noise.shape[1])


class Missing(distributions.MatrixNormal):
    """Colours without one random direction."""

    def colour(self, white):
        direction = np.random.default_rng(1).standard_normal(white.shape)
        direction /= np.linalg.norm(direction)
        return super().colour(white - (white @ direction) * direction)


class ShortColour(distributions.MatrixNormal):
    """One entry has a tenth less noise than the factors declare."""

    def colour(self, white):
        white = white.copy()
        white[7] *= 0.9
        return super().colour(white)


class Short(ShortColour):
    """The same, and it is whitened accordingly."""

    def whiten(self, z):
        white = super().whiten(z).copy()
        white[..., 7] /= 0.9
        return white


class BackDoor(distributions.MatrixNormal):
    """Large values are whitened as if they were small ones."""

    def whiten(self, z):
        return super().whiten(z) / max(1.0, float(np.linalg.norm(z)) / 100)


@pytest.mark.parametrize("shape", [(21, 21), (21, 2126)])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Missing, probes.ANSWER),
        (ShortColour, probes.ANSWER),
        (Short, probes.COVARIANCE),
        (BackDoor, probes.LINEAR),
    ],
)
def test_one_direction_or_entry_of_441_and_of_44_646_is_seen(kind, words, shape):
    assert defect(kind(shape, FACTOR)) == words
