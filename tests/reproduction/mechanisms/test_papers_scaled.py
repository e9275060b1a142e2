"""Mechanisms in units of the bounds: their noise, and what they refuse."""

import pytest

import matrixdp as mdp
from matrixdp.mechanisms.scaled import Scaled
from reproduction.mechanisms.jl import JohnsonLindenstrauss

BOX = mdp.Box((0.0, -2.0), (120.0, 2e5))
GIVEN = {"epsilon": 1.0, "delta": 1e-6}


def test_what_does_not_fit_is_refused():
    with pytest.raises(mdp.InputError, match="a ball bounds the records"):
        Scaled(mdp.Gaussian()).calibrate(mdp.MeanQuery(mdp.Ball(1.0, 2), 30), **GIVEN)
    with pytest.raises(mdp.InputError, match="only one that adds noise"):
        Scaled(JohnsonLindenstrauss()).calibrate(mdp.SecondMomentQuery(BOX, 30), **GIVEN)
