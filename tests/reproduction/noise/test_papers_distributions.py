"""Distributions of the samplers. Each test also rejects a distribution that is slightly wrong."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from exactness import same_draws
from noisesamples import (
    DISTRIBUTIONS,
    covariance_score,
    factor,
    independent,
    repeated,
)
from scipy import stats

from matrixdp.checks import InputError
from matrixdp.noise import distributions
from reproduction.bingham import Bingham
from reproduction.mechanisms.noise import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
    MatrixNormal,
)
from reproduction.theory import samplers

# Normals


def test_covariance_is_the_kronecker_product():
    a, b = factor(3), factor(4, 1)
    sigma, psi = a @ a.T, b @ b.T
    factored = MatrixNormal((3, 4), a, b).sample(repeated(40_000))
    joint = samplers.kronecker_normal(repeated(40_000, 1), sigma, psi)
    for sample in (factored, joint):
        by_columns = np.swapaxes(sample, 1, 2).reshape(-1, 12)
        assert covariance_score(by_columns, np.kron(psi, sigma)) < 5
        # Neither a transposed factor nor the other order of the product passes.
        assert covariance_score(by_columns, np.kron(psi, a.T @ a)) > 20
        assert covariance_score(by_columns, np.kron(b.T @ b, sigma)) > 20
        assert covariance_score(sample.reshape(-1, 12), np.kron(psi, sigma)) > 20
    direction = np.random.default_rng(2).normal(size=(3, 4))
    projections = [np.sum(sample * direction, axis=(1, 2)) for sample in (factored, joint)]
    assert stats.ks_2samp(*projections).pvalue > 1e-3
    std = np.sqrt(np.sum(direction * (sigma @ direction @ psi)))
    for projection in projections:
        assert stats.kstest(projection / std, "norm").pvalue > 1e-3


# One stream per trial, and input

SAMPLERS = {
    "normals": partial(distributions.normals, shape=(3, 5)),
    **{name: distribution.sample for name, distribution in DISTRIBUTIONS.items()},
    "bingham": Bingham(np.diag([0.0, -30.0, -50.0, -80.0])).sample,
}


@pytest.mark.parametrize("sampler", [*SAMPLERS.values()][:-1], ids=[*SAMPLERS][:-1])
def test_out_is_filled(sampler):
    fresh = sampler(independent(3))
    out = np.full(fresh.shape, np.nan)
    assert sampler(independent(3), out=out) is out
    assert same_draws(out, fresh)
    for wrong in (out[:2], np.asfortranarray(out), out.astype(np.float32)):
        with pytest.raises(InputError, match="out is"):
            sampler(independent(3), out=wrong)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (partial(MatrixNormal, (3, 5), np.ones(5)), "row_factor has shape"),
        (
            partial(MatrixNormal, (3, 5), None, np.ones((3, 5))),
            "column_factor has shape",
        ),
        (partial(MatrixNormal, (3, 5), np.nan), "must be finite"),
        (partial(FrobeniusExponential, (3, 5), 0.0), "scale is 0"),
        (partial(ColumnL2Exponential, (3, 5), -1.0), "scale is -1"),
        (partial(ColumnLinfExponential, (3, 5), 1.0, [1.0]), "weights has shape"),
        (partial(Bingham, [[1.0, 2.0], [0.0, 1.0]]), "not a symmetric"),
        (partial(Bingham, np.ones((2, 3))), "must end in 3 x 3"),
        (partial(Bingham, np.stack([np.eye(3)] * 3)), "for 2 streams"),
    ],
)
def test_bad_input_is_named(build, message):
    with pytest.raises(InputError, match=message):
        build().sample(independent(2))
