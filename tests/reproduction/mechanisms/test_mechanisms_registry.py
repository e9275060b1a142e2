"""What holds of every mechanism of the registry: how it is found, and what it refuses."""

import contextlib
import importlib
import inspect
import itertools
import pkgutil
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from registryqueries import built

import matrixdp.mechanisms
from matrixdp.auditing.releases import audit_of
from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import CalibratedMechanism, NoGuarantee
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.sensitivity import Ball, Box, RecordsQuery, SecondMomentQuery
from reproduction import mechanisms
from reproduction.experiments import draws
from reproduction.mechanisms.directional import AllocatedGaussian, Averaged
from reproduction.mechanisms.exponential import PPCA
from reproduction.mechanisms.mvg import MVG


@pytest.mark.parametrize(
    ("domain", "adjacency"),
    [
        (Box.cube(4, -1, 1), "replace"),
        (Ball(1.0, 4), "zero_out"),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in (
                (Box.cube(4, -1, 1), "zero_out"),
                (Box.cube(4, 0, 1), "replace"),
                (Box.cube(4, 0, 1), "zero_out"),
                (Ball(1.0, 4), "replace"),
            )
        ),
    ],
    ids=str,
)
def test_a_delivered_epsilon_is_called_exact_where_neighbours_attain_it(domain, adjacency):
    queries = [kind(domain, 20, adjacency) for kind in (RecordsQuery, SecondMomentQuery)]
    exact = []
    for mechanism, query in itertools.product(map(built, mechanisms.registry().values()), queries):
        if type(query) not in mechanism.queries:
            continue
        with contextlib.suppress(NoGuarantee):
            release = mechanism.calibrate(query, epsilon=1.0, delta=1e-3)
            exact.append(release.tight)
            if release.tight:
                attained = audit_of(release, np.random.default_rng(0)).attained
                assert attained == pytest.approx(release.epsilon_delivered, rel=1e-4)
    assert sum(exact) > 10
    assert not all(exact)


def test_a_mechanism_is_found_by_its_name_alone():
    for name, entry in mechanisms.registry().items():
        assert mechanisms.find_mechanism(name) is entry
    with pytest.raises(InputError, match="mechanism is 'laplas'; did you mean 'laplace'"):
        mechanisms.find_mechanism("laplas")


#: Names in keys of random streams. Another name is other noise in every kept result: it stays where
#: a class is renamed.
STREAMS = {
    *("ColumnL2Exponential", "ColumnLinfExponential", "FrobeniusExponential", "GeneralizedGamma"),
    *("MatrixNormal", "NonPrivateRankOne", "NonPrivateWishart", "SymmetricGeneralizedGamma"),
    *("AlongPrivateDirections", "CentredMoments", "ChosenByHistogram", "ChosenBySearch"),
    *("PrincipalDirection", "RidgedByHistogram", "RidgedEquations", "Sketch", "Spectrum"),
    *("SearchNoise", "SymmetricNormal", "Laplace", "SymmetricLaplace", "SymmetrisedNormal"),
}


def below(kind):
    return {kind}.union(*map(below, kind.__subclasses__()))


def test_every_class_that_is_simulated_has_the_name_of_its_streams():
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
    of_study = [kind for kind in classes if kind.__module__.startswith("reproduction.")]
    assert all("stream" in vars(kind) for kind in of_study)
    names = [getattr(kind, "stream", draws.PROGRAMS.get(kind, kind.__name__)) for kind in classes]
    names += [Averaged.stream, *draws.NAMES.values()]
    # The matrix normal noise of both is one.
    assert Counter(names) - Counter(STREAMS) == {"MatrixNormal": 1}
    assert set(names) == STREAMS


RECORDS, MOMENTS = RecordsQuery(Box.cube(2, -1, 1), 20), SecondMomentQuery(Box.cube(2, -1, 1), 20)


@pytest.mark.parametrize(
    ("mechanism", "query", "name"),
    [
        (Gaussian(), RECORDS, "MatrixNormal"),
        (Gaussian(), MOMENTS, "SymmetricNormal"),
        (Laplace(), RECORDS, "Laplace"),
        (Laplace(), MOMENTS, "SymmetricLaplace"),
        (AllocatedGaussian(), MOMENTS, "SymmetrisedNormal"),
        (MVG(), RECORDS, "MatrixNormal"),
        (PrivatelyClipped(), MOMENTS, "ChosenByHistogram"),
        (PPCA(), MOMENTS, "PrincipalDirection"),
    ],
)
def test_noise_of_one_distribution_has_one_name_of_streams(mechanism, query, name):
    assert draws.noise_name(mechanism.calibrate(query, epsilon=1.0, delta=0.01)) == name


def test_a_class_of_others_has_its_name_in_keys_of_streams():
    class Nameless(NoiseDistribution):
        def sample(self, generator, count):
            return np.zeros((count, *self.shape))

    release = Gaussian().calibrate(RECORDS, epsilon=1.0, delta=0.01)
    assert draws.noise_name(replace(release, noise=Nameless((2, 20)))) == "Nameless"
