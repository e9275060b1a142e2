"""Noise as one value: its draws, variances, bounds and what it refuses."""

import numpy as np
import pytest

from matrixdp.checks import InputError
from matrixdp.noise import safe
from matrixdp.noise.value import Noise, unit_numbers

ROWS = np.array([[1.0], [2.0], [3.0]])
BASIS = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
NOISES = {
    "rows": Noise(safe.NORMAL, ROWS, (3, 5)),
    "along directions": Noise(safe.NORMAL, ROWS, (3, 5), basis=BASIS),
    "a size an entry": Noise(safe.NORMAL, ROWS * np.arange(1.0, 6), (3, 5)),
    "symmetric": Noise(safe.NORMAL, 2.0 - np.eye(3), (3, 3), symmetric=True),
    "symmetric along directions": Noise(safe.NORMAL, ROWS * ROWS.T, (3, 3), True, BASIS),
    "laplace": Noise.of(safe.LAPLACE, 2.0, (3, 5)),
    "symmetric laplace": Noise(safe.LAPLACE, ROWS * ROWS.T, (3, 3), symmetric=True),
}


def white_of(noise):
    """Return the numbers of which ``sample`` is made."""
    rows, columns = noise.shape
    drawn = unit_numbers(noise.law, np.random.default_rng(0), (5, rows, columns))
    return drawn[:, *np.triu_indices(rows)] if noise.symmetric else drawn.reshape(5, -1)


def apart(noise):
    """Largest difference of ``sample`` and of coloured white noise, in deviations."""
    drawn = noise.sample(np.random.default_rng(0), 5)
    return np.abs(noise.colour(white_of(noise)) - drawn).max() / np.abs(drawn).max()


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_samples_are_coloured_white_noise_to_rounding(noise):
    white = white_of(noise)
    assert white.shape == (5, noise.count)
    assert apart(noise) < 1e-14
    assert noise.whiten(noise.colour(white)) == pytest.approx(white, rel=1e-9)
    assert len(np.unique(white)) == white.size


class ExactDiagonal(Noise):
    def sample(self, generator, count):
        return super().sample(generator, count) * (1 - np.eye(self.shape[0]))


class UnevenRows(Noise):
    def sample(self, generator, count):
        return super().sample(generator, count) * np.linspace(0.999, 1, self.shape[0])[:, None]


@pytest.mark.parametrize(
    "wrong",
    [
        ExactDiagonal.of(safe.NORMAL, 1.0, (4, 4), symmetric=True),
        UnevenRows.of(safe.LAPLACE, 0.5, (3, 4)),
    ],
)
def test_a_sampler_that_is_not_coloured_white_noise_is_seen(wrong):
    assert apart(wrong) > 1e-4


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_variances_are_those_of_coloured_units(noise):
    unit = 1.0 if noise.law == safe.NORMAL else 2.0
    squares = sum(unit * noise.colour(one) ** 2 for one in np.eye(noise.count))
    assert np.broadcast_to(noise.variances, noise.shape) == pytest.approx(squares, rel=1e-12)
    assert noise.deviation == pytest.approx(np.sqrt(squares.mean()), rel=1e-12)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_no_values_within_a_bound_are_whitened_beyond_the_largest(noise):
    rng = np.random.default_rng(1)
    bound = rng.uniform(1, 2, noise.shape)
    bound = (bound + bound.T) / 2 if noise.symmetric else bound
    signs = np.sign(rng.standard_normal((2000, *noise.shape)))
    signs = np.sign(signs + signs.swapaxes(1, 2) + 0.5) if noise.symmetric else signs
    reached = np.abs(noise.whiten(signs * bound)).max(axis=0)
    largest = noise.largest(bound)
    assert (reached <= largest * (1 + 1e-12)).all()
    assert (reached > 0.5 * largest).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cauchy", ROWS, (3, 5)), "law is 'cauchy'"),
        ((safe.NORMAL, 0 * ROWS, (3, 5)), "size holds 0.0; every size must be above 0"),
        ((safe.NORMAL, np.nan * ROWS, (3, 5)), "entries must be finite"),
        ((safe.NORMAL, ROWS, (2, 5)), "size has shape"),
        ((safe.NORMAL, ROWS, (3, 3), True), "must be symmetric and of shape"),
        ((safe.NORMAL, ROWS, (3, 5), False, ROWS * ROWS.T), "orthonormal"),
        ((safe.LAPLACE, ROWS, (3, 5), False, BASIS), "has no basis"),
    ],
)
def test_noise_that_is_none_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        Noise(*arguments)


def test_what_was_calibrated_stays_as_it_is():
    sizes = ROWS.copy()
    noise = Noise(safe.NORMAL, sizes, (3, 5))
    sizes[:] = 1e-9
    assert noise.size[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        noise.size[:] = 1e-9
    assert noise.times(0.5).size[2, 0] == 1.5
