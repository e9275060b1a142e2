from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from matrixdp import library
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.noise import distributions
from matrixdp.privacy.sensitivity import Box, IdentityQuery
from reproduction.mechanisms import registry
from reproduction.mechanisms.wishart import NonPrivateWishart

QUERY = IdentityQuery(Box.cube(3, -1, 1), 20)
RELEASE = Gaussian().calibrate(QUERY, epsilon=1.0, delta=0.01)
NOISE = RELEASE.noise


class Same(distributions.MatrixNormal):
    """Of another author, but it overrides nothing."""


@dataclass(frozen=True, eq=False)
class Named(distributions.MatrixNormal):
    label: str = field(kw_only=True)


class Drawn(distributions.MatrixNormal):
    def _draw(self, streams, stack):
        stack[...] = 0


class Forged(distributions.MatrixNormal):
    def _draw(self, streams, stack):
        stack[...] = 0


Forged.__module__ = "matrixdp.noise.distributions"


def test_classes_of_the_library_and_those_that_override_nothing_are_its_own():
    assert library.owns(NOISE)
    assert library.owns(RELEASE)
    assert library.owns(QUERY)
    assert library.owns(QUERY.domain)
    assert library.owns(Same((3, 20), 2.0))
    assert library.owns(Named((3, 20), 2.0, label="mine"))


@pytest.mark.parametrize("kind", [Drawn, Forged])
def test_a_class_that_overrides_a_method_is_not(kind):
    assert not library.owns(kind((3, 20), 2.0))


def test_nor_is_an_instance_with_a_method_of_its_own_or_a_class_of_another_module():
    noise = replace(NOISE)
    object.__setattr__(noise, "whiten", np.ravel)
    assert not library.owns(noise)
    assert not library.owns(NonPrivateWishart((3, 3), 1.0))
    assert not library.owns(object())


def test_modules_have_the_releases_of_all_mechanisms():
    """A module that is renamed must not make the library's own classes another author's."""
    owned = {module.rpartition(".")[2] for module in library.MODULES}
    assert {"adassp", "clipped", "jl", "exponential", "mvg", "base"} <= owned
    assert registry()
