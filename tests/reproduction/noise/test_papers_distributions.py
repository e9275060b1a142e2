"""Distributions of the samplers. Each test also rejects a distribution that is slightly wrong."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from noisesamples import independent

from matrixdp.checks import InputError
from reproduction.bingham import Bingham
from reproduction.mechanisms.noise import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
    MatrixNormal,
)


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
        distribution = build()
        one = isinstance(distribution, Bingham)
        distribution.sample(*((independent(2),) if one else (np.random.default_rng(0), 2)))
