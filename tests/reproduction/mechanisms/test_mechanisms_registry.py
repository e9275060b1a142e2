"""What holds of every mechanism of the registry: how it is found, and what it refuses."""

import contextlib
import importlib
import inspect
import itertools
import pkgutil
import sys

import numpy as np
import pytest
from epsilonsteps import guaranteed, rises
from registryqueries import QUERIES, built

import matrixdp.mechanisms
from matrixdp.auditing.releases import audit_of
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import AdditiveMechanism, CalibratedMechanism, NoGuarantee
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.sensitivity import Ball, Box, IdentityQuery, SecondMomentQuery
from reproduction import mechanisms

BAD = [("epsilon", bad) for bad in (0, -1, np.nan, np.inf, "1")]
BAD += [("delta", bad) for bad in (0, -0.1, np.nan, np.inf, 1, 2)]


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
@pytest.mark.parametrize("domain", [Box.cube(4, -1, 1), Box.cube(4, 0, 1), Ball(1.0, 4)], ids=str)
def test_a_delivered_epsilon_is_called_exact_where_neighbours_attain_it(domain, adjacency):
    queries = [kind(domain, 20, adjacency) for kind in (IdentityQuery, SecondMomentQuery)]
    exact = []
    for mechanism, query in itertools.product(map(built, mechanisms.registry().values()), queries):
        if type(query) not in mechanism.queries:
            continue
        with contextlib.suppress(NoGuarantee):
            release = mechanism.calibrate(query, epsilon=1.0, delta=1e-3)
            exact.append(release.epsilon_exact)
            if release.epsilon_exact:
                attained = audit_of(release, np.random.default_rng(0)).attained
                assert attained == pytest.approx(release.epsilon_delivered, rel=1e-4)
    assert sum(exact) > 10
    assert not all(exact)


def test_a_mechanism_is_found_by_its_name_alone():
    for name, entry in mechanisms.registry().items():
        assert mechanisms.find(name) is entry
    with pytest.raises(InputError, match="mechanism is 'laplas'; did you mean 'laplace'"):
        mechanisms.find("laplas")


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_budget_is_refused(name, value):
    given = {"epsilon": 1, "delta": 0.01}
    for mechanism in map(built, mechanisms.registry().values()):
        query = next(query for query in QUERIES if type(query) in mechanism.queries)
        # A pure guarantee needs no delta.
        if name == "delta" and mechanism.calibrate(query, **given).delta == 0:
            continue
        with pytest.raises(InputError, match=f"{name} is {value!r}; it must be"):
            mechanism.calibrate(query, **given | {name: value})


def test_a_query_of_another_kind_is_refused():
    for mechanism in map(built, mechanisms.registry().values()):
        others = [query for query in QUERIES if type(query) not in mechanism.queries]
        assert others
        for query in others:
            with pytest.raises(InputError, match=f"type {type(query).__name__}; .* serves only"):
                mechanism.calibrate(query, epsilon=1, delta=0.01)


#: Names in keys of random streams. Another name is other noise in every kept result.
STREAMS = {
    *("ColumnL2Exponential", "ColumnLinfExponential", "FrobeniusExponential", "GeneralizedGamma"),
    *(
        "Laplace",
        "MatrixNormal",
        "NonPrivateRankOne",
        "NonPrivateWishart",
        "ScaledLaplace",
        "ScaledNormal",
        "SymmetricGeneralizedGamma",
    ),
    *("SymmetricLaplace", "SymmetricNormal", "SymmetrisedNormal"),
    *("AlongPrivateDirections", "CentredMoments", "ChosenByHistogram", "ChosenBySearch"),
    *("PrincipalDirection", "RidgedByHistogram", "RidgedEquations", "Sketch", "Spectrum"),
    "SearchNoise",
}


def below(kind):
    return {kind}.union(*map(below, kind.__subclasses__()))


def test_every_class_that_is_simulated_writes_the_name_of_its_streams():
    for package in (matrixdp.mechanisms, mechanisms):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    classes = [
        kind
        for kind in below(NoiseDistribution) | below(CalibratedMechanism) - below(AdditiveMechanism)
        if kind.__module__.startswith(("matrixdp.", "reproduction."))
        and ".negative_control" not in kind.__module__
        # A class of a test may call itself one of ours.
        and getattr(sys.modules[kind.__module__], kind.__name__, None) is kind
        and not (inspect.isabstract(kind) or kind.__name__.startswith("_"))
    ]
    missing = [kind.__name__ for kind in classes if "stream" not in vars(kind)]
    assert not missing
    names = [kind.stream for kind in classes]
    assert len(set(names)) == len(names)
    assert set(names) == STREAMS


def test_a_class_of_others_has_its_name_in_keys_of_streams():
    class Nameless(NoiseDistribution):
        def _draw(self, streams, stack):
            stack[...] = 0

    assert Nameless((1, 1)).stream == "Nameless"


@pytest.mark.parametrize("name", mechanisms.registry())
def test_noise_falls_with_epsilon(name):
    mechanism = built(mechanisms.registry()[name])
    asked = [query for query in QUERIES if type(query) in mechanism.queries]
    assert asked
    for query in asked:
        risen, compared = rises(mechanism, query)
        assert risen == 0
        assert compared >= 5 or not guaranteed(mechanism, query)
