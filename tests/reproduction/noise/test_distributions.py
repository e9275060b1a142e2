"""Distributions of the samplers. Each test also rejects a distribution that is slightly wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from noisesamples import (
    DISTRIBUTIONS,
    factor,
    independent,
)
from scipy import stats

from matrixdp.noise import safe, value
from matrixdp.noise.value import Noise
from reproduction.mechanisms import noise
from reproduction.mechanisms.noise import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
    MatrixNormal,
)
from reproduction.stacks import normals

FACTORS = {
    "none": lambda trials, size, seed: None,
    "number": lambda trials, size, seed: 1.5,
    "diagonal": lambda trials, size, seed: np.linspace(1, 2, size),
    "matrix": lambda trials, size, seed: factor(size, seed),
    "diagonals": lambda trials, size, seed: np.random.default_rng(seed).random((trials, size, 1)),
    "matrices": lambda trials, size, seed: factor(size, seed, (trials,)),
}


def as_matrices(value: object, trials: int, size: int) -> np.ndarray:
    """Return the factor as one full matrix per trial."""
    if value is None:
        value = 1.0
    value = np.asarray(value, dtype=float)
    if (value.ndim == 3 and value.shape[2] == 1) or value.ndim < 2:
        value = value * np.eye(size)
    return np.broadcast_to(value, (trials, size, size))


@pytest.mark.parametrize(("trials", "m", "n"), [(700, 3, 20), (5, 1, 1), (3, 3, 3), (2, 2, 1)])
def test_matrix_normal_is_the_product_of_its_factors(trials, m, n):
    plain = np.stack([stream.standard_normal((m, n)) for stream in independent(trials)])
    for row, column in product(FACTORS, FACTORS):
        a, b = FACTORS[row](trials, m, 0), FACTORS[column](trials, n, 1)
        drawn = MatrixNormal((m, n), a, b).trials(independent(trials))
        expected = as_matrices(a, trials, m) @ plain @ as_matrices(b, trials, n).swapaxes(1, 2)
        words = f"{row}, {column}"
        np.testing.assert_allclose(drawn, expected, rtol=1e-10, atol=1e-12, err_msg=words)


def test_dense_column_factor_in_several_blocks():
    """More rows than one product takes, with a last block that is not full."""
    trials, b = 1500, factor(20, 1)
    drawn = MatrixNormal((3, 20), None, b).trials(independent(trials))
    plain = normals(independent(trials), (3, 20))
    np.testing.assert_allclose(drawn, plain @ b.T, rtol=1e-10, atol=1e-12)


# Laplace


def test_laplace_signs_are_fair_and_independent():
    sample = Noise.of(safe.LAPLACE, 1.0, (1, 20_001)).sample(np.random.default_rng(0), 50)[:, 0]
    signs, sizes = np.sign(sample), np.abs(sample) - 1
    pairs = [np.ones_like(signs[:, 1:]), signs[:, :-1], sizes[:, 1:], sizes[:, :-1]]
    pairs.append(np.roll(signs, 8, axis=1)[:, 1:])
    for other in pairs:
        product = signs[:, 1:] * other
        assert abs(product.sum()) < 5 * np.sqrt(np.sum(product**2))


# Blocks


@pytest.mark.parametrize(
    "name", ["laplace", "symmetric laplace", "frobenius", "record_l2", "record_linf", "dense rows"]
)
def test_draws_are_the_same_in_blocks_of_any_size(name, monkeypatch):
    drawn = DISTRIBUTIONS[name].sample(np.random.default_rng(0), 40)
    monkeypatch.setattr(value, "_BLOCK", 50)
    monkeypatch.setattr(noise, "BLOCK", 50)
    again = DISTRIBUTIONS[name].sample(np.random.default_rng(0), 40)
    np.testing.assert_allclose(again, drawn, rtol=1e-12)


# K-norm distributions

SHAPE = (4, 3)
WEIGHTS = np.array([0.5, 1.0, 2.0, 4.0])
KNORMS = {
    # distribution, norms of a sample that follow Gamma(k), k
    "frobenius": (
        partial(FrobeniusExponential, SHAPE),
        lambda z: np.linalg.norm(z, axis=(1, 2)),
        12,
    ),
    "record_l2": (
        partial(ColumnL2Exponential, SHAPE),
        lambda z: np.linalg.norm(z, axis=1).ravel(),
        4,
    ),
    "record_linf": (
        partial(ColumnLinfExponential, SHAPE, weights=WEIGHTS),
        lambda z: np.max(np.abs(z) / WEIGHTS[:, None], axis=1).ravel(),
        4,
    ),
}


@pytest.mark.parametrize(
    "distribution",
    [
        MatrixNormal((1000, 1000), 3.0),
        MatrixNormal((1000, 1000), np.linspace(1, 2, 1000)),
        Noise.of(safe.NORMAL, 3.0, (1000, 1000)),
        Noise.of(safe.NORMAL, 1.0, (1000, 1000), symmetric=True),
        Noise.of(safe.LAPLACE, 3.0, (1000, 1000)),
        Noise.of(safe.LAPLACE, 3.0, (1000, 1000), symmetric=True),
        FrobeniusExponential((1000, 1000), 3.0),
        ColumnL2Exponential((1_000_000, 1), 3.0),
        ColumnLinfExponential((1_000_000, 1), 3.0, np.ones(1_000_000)),
    ],
    ids=lambda distribution: type(distribution).__name__,
)
def test_numbers_have_all_digits_of_float64(distribution):
    """Of half a million numbers with 24 binary digits thousands are equal, of 53 digits none."""
    (drawn,) = distribution.sample(np.random.default_rng(0), 1)
    free = drawn[np.triu_indices(1000)] if getattr(distribution, "symmetric", 0) else drawn.ravel()
    assert len(np.unique(np.abs(free))) > len(free) - 5
    assert len(np.unique(np.abs(free).astype(np.float32))) < len(free) - 1000


@pytest.mark.parametrize("distribution", ["frobenius", "record_l2"])
def test_round_knorms_have_uniform_directions(distribution):
    build, _, d = KNORMS[distribution]
    sample = build(scale=1.0).sample(np.random.default_rng(0), 30_000)
    vectors = sample.reshape(-1, 12) if distribution == "frobenius" else sample[:, :, 1]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for axis in np.vstack([np.eye(d), np.ones(d) / np.sqrt(d)]):
        assert stats.kstest(
            (unit @ axis + 1) / 2, stats.beta((d - 1) / 2, (d - 1) / 2).cdf
        ).pvalue > (1e-4)
    assert abs(np.corrcoef(unit[:, 0], np.linalg.norm(vectors, axis=1))[0, 1]) < 0.03


def test_linf_knorm_has_the_moments_of_its_box():
    """z_i = w_i r u_i: given the largest, the other entries are uniform in the box it spans."""
    sample = ColumnLinfExponential(SHAPE, 1.0, WEIGHTS).sample(np.random.default_rng(0), 40_000)
    z = np.swapaxes(sample, 1, 2).reshape(-1, 4) / WEIGHTS
    assert np.abs(z.mean(axis=0)).max() < 4.5 * z.std() / np.sqrt(len(z))
    assert covariance_like(z, 5 * 6 / 3) < 5
    assert covariance_like(z, 4 * 5 / 3) > 20
    largest = np.abs(z).max(axis=1)
    is_largest = np.abs(z) == largest[:, None]
    others = (z / largest[:, None])[~is_largest]
    assert stats.kstest(others, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert abs(is_largest.mean(axis=0) - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / len(z))


def covariance_like(sample: np.ndarray, variance: float) -> float:
    """Largest score of the second moments against variance x identity, errors from the sample."""
    products = sample[:, :, None] * sample[:, None, :] - variance * np.eye(sample.shape[1])
    return float(np.abs(products.mean(0) / (products.std(0) / np.sqrt(len(sample)))).max())


# What auditors ask of a distribution


@pytest.mark.parametrize(
    "name", [name for name, distribution in DISTRIBUTIONS.items() if distribution.identical_columns]
)
def test_alike_columns_can_be_drawn_in_any_number(name):
    distribution = DISTRIBUTIONS[name]
    wide = replace(distribution, shape=(3, 400)).sample(np.random.default_rng(0), 1)[0]
    many = distribution.sample(np.random.default_rng(0), 400)
    for row in range(3):
        assert stats.ks_2samp(wide[row], many[:, row, 0]).pvalue > 1e-3


# White noise


FACTORED = [
    MatrixNormal((3, 4), a, b)
    for a, b in product(
        (None, 1.5, np.linspace(1, 2, 3), factor(3)), (None, 0.5, np.linspace(1, 2, 4), factor(4))
    )
]


def white_noise() -> np.ndarray:
    """Standard normals of the streams."""
    return normals(independent(5), (12,))


def apart(distribution) -> float:
    """Largest difference of ``sample`` and of coloured white noise, in deviations."""
    drawn = distribution.trials(independent(5))
    coloured = np.stack([distribution.colour(one) for one in white_noise()])
    return float(np.abs(coloured - drawn).max() / np.abs(drawn).max())


@pytest.mark.parametrize("distribution", FACTORED)
def test_samples_are_coloured_white_noise_to_rounding(distribution):
    assert apart(distribution) < 1e-14
    for one in white_noise():
        assert distribution.whiten(distribution.colour(one)) == pytest.approx(one, rel=1e-9)


class ReusedColumn(MatrixNormal):
    def _draw(self, streams, stack):
        super()._draw(streams, stack)
        stack[..., 1] = stack[..., 0]


def test_a_sampler_that_is_not_coloured_white_noise_is_seen():
    assert apart(ReusedColumn((3, 4), 2.0)) > 1e-4
