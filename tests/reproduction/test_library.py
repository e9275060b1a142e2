from dataclasses import dataclass, field, fields, replace

import numpy as np
import pytest

from matrixdp import library
from matrixdp.auditing.releases import Limits, audit_of, judge
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.sensitivity import Box, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms import registry
from reproduction.mechanisms.jl import JohnsonLindenstrauss
from reproduction.mechanisms.noise import MatrixNormal
from reproduction.mechanisms.wishart import NonPrivateWishart

QUERY = RecordsQuery(Box.cube(3, -1, 1), 20)
RELEASE = Gaussian().calibrate(QUERY, epsilon=1.0, delta=0.01)
NOISE = RELEASE.noise


def drawn(self, generator, count):
    return np.zeros((count, *self.shape))


class Same(MatrixNormal):
    """Of another author, who overrides nothing, as yet."""


@dataclass(frozen=True, eq=False)
class Named(MatrixNormal):
    label: str = field(default="mine", kw_only=True)


class Drawn(MatrixNormal):
    sample = drawn


def test_classes_of_the_library_are_its_own():
    for thing in (NOISE, RELEASE, QUERY, QUERY.domain):
        assert library.owns(thing)
        assert library.plain(thing)


@pytest.mark.parametrize("kind", [Same, Named, Drawn])
def test_no_subclass_is_whatever_it_shows_of_itself(kind):
    """A subclass may be changed after it was looked at."""
    noise = kind((3, 20), 2.0)
    assert not library.owns(noise)
    assert not library.plain(replace(RELEASE, noise=noise))


def verdict(release):
    seeds = np.random.default_rng(0).spawn(6)
    result = judge(audit_of(release, seeds[0]), seeds[1:], Limits(runs=2000))
    return str(result["verdict"]).split(":")[0]


def test_only_releases_of_library_classes_are_certified():
    assert verdict(RELEASE) == "certified"
    for kind in (Same, Drawn):
        assert verdict(replace(RELEASE, noise=kind((3, 20), NOISE.size[0, 0]))) != "certified"


class Sequence(list):
    """May show other numbers each time."""


@pytest.mark.parametrize("factor", [Sequence([1.0] * 3), [1.0, 1.0, np.array(None)]])
def test_a_field_that_may_change_is_not_plain(factor):
    noise = MatrixNormal((3, 20), factor)
    assert library.owns(noise)
    assert not library.plain(noise)
    assert not library.plain(replace(RELEASE, noise=noise))


@pytest.mark.parametrize("factor", [[1.0] * 3, (1, 2, 3), np.ones(3), np.float32(1), 2, None])
def test_numbers_of_python_and_numpy_are_plain(factor):
    assert library.plain(MatrixNormal((3, 20), factor))


def test_a_cached_property_leaves_a_release_the_library_s_own():
    query = SecondMomentQuery(Box.cube(2, -1, 1), 20)
    release = PrivatelyClipped().calibrate(query, epsilon=1.0, delta=0.01)
    release.simulate(np.zeros((2, 20)), np.random.default_rng(0), 1)
    assert "_ridges" in vars(release)
    assert library.plain(release)


def test_an_audit_is_that_of_an_adopted_class_alone():
    class Own(type(RELEASE)):
        """Of another author."""

    own = Own(**{one.name: getattr(RELEASE, one.name) for one in fields(RELEASE)})
    assert library.audit_of(own) == library.audit_of(RELEASE) == ""
    sketch = JohnsonLindenstrauss().calibrate(
        SecondMomentQuery(Box.cube(2, -1, 1), 20), epsilon=1.0, delta=0.01
    )
    assert library.audit_of(sketch).endswith("SketchAudit")


def test_nor_is_an_instance_with_a_method_of_its_own_or_a_class_of_another_module():
    noise = replace(NOISE)
    object.__setattr__(noise, "whiten", np.ravel)
    assert not library.owns(noise)
    assert not library.owns(NonPrivateWishart((3, 3), 1.0))
    assert not library.owns(object())


def test_modules_have_the_releases_of_all_mechanisms():
    """A module that is renamed must not make the library's own classes another author's."""
    owned = {module.rpartition(".")[2] for module in library.MODULES}
    assert {"adassp", "clipped", "jl", "exponential", "mvg", "mechanism"} <= owned
    assert registry()


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"tight": False}, "certified"),
        ({"mu": float("nan")}, "refuted"),
        ({"mu": float("nan"), "tight": False}, "refuted"),
        ({"epsilon_delivered": float("nan")}, "refuted"),
        ({"epsilon_delivered": 1.5}, "not refuted"),
        ({"epsilon_delivered": 500.0}, "not refuted"),
        ({"epsilon_delivered": 1 + 1e-12}, "certified"),
    ],
)
def test_declared_numbers_hold(changes, status):
    assert verdict(replace(RELEASE, **changes)) == status
