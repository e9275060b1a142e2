"""Trials: each from its Generator, and of several values under the same noise."""

import conformance
import numpy as np
import pytest
from mechanismqueries import streams
from registryqueries import built

from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.programs import Program
from matrixdp.privacy.sensitivity import Box, MeanQuery, RecordsQuery, SecondMomentQuery
from reproduction import mechanisms
from reproduction.experiments import draws
from reproduction.mechanisms.adassp import NormalEquations

BOX, COUNT = Box.cube(3, -1, 1), conformance.RECORDS
RECORDS = RecordsQuery(BOX, COUNT)
QUERIES = [RECORDS, MeanQuery(BOX, COUNT), SecondMomentQuery(BOX, COUNT)]
QUERIES += [NormalEquations(BOX, COUNT, target=2)]
CASES = conformance.cases(map(built, mechanisms.registry().values()), QUERIES)
# A test of Gram matrices has the law of sketches.
CASES = [case for case in CASES if case.release.output_type != "sketch"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_trial_is_the_release_of_its_own_value_and_stream(case):
    release, calls = case.release, []
    values = case.value(4), case.value()

    def same():
        calls.append(None)
        return streams(4)

    for value, together in zip(values, draws.simulate_all(release, values, same), strict=True):
        close = {"rtol": 1e-7, "atol": 1e-9 * np.abs(together).max()}
        for k, stream in enumerate(streams(4)):
            exact = value[k] if value.ndim == 3 else value
            alone = release.simulate(exact, stream, 1)[0]
            np.testing.assert_allclose(together[k], alone, **close)
        # Another stream, or another value, would be seen.
        (turned,) = draws.simulate_all(release, [value], lambda: streams(4)[::-1])
        assert not any(np.allclose(*pair) for pair in zip(turned, together, strict=True))
    one, other = (release.simulate(value, streams(1)[0], 1) for value in values[0][:2])
    assert not np.allclose(one, other, rtol=1e-9, atol=0)
    # Noise that is added to a value is drawn once.
    assert len(calls) == (1 if isinstance(release, AdditiveMechanism) else 2)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not isinstance(case.release, Program)], ids=str
)
def test_trials_that_share_a_stream_are_releases_from_it_in_turn(case):
    """So their law is that of the release, which conformance tests."""
    release, value, pair = case.release, case.value(), streams(2)
    (together,) = draws.simulate_all(release, [value], lambda: np.repeat(pair, 5).tolist())
    alone = [release.simulate(value, stream, 5) for stream in streams(2)]
    np.testing.assert_allclose(
        together, np.concatenate(alone), rtol=1e-7, atol=1e-9 * np.abs(together).max()
    )
    assert not np.allclose(*alone)


class Doubled(Gaussian):
    """Another author's class, whose releases have noise of their own."""

    def calibrate(self, query, **budget):
        release = super().calibrate(query, **budget)
        return type("Twice", (type(release),), {"_draw": twice})(**vars(release))


def twice(self, value, generator, count):
    return value + 2 * self.noise.sample(generator, count)


def test_a_release_of_another_author_is_simulated_as_its_class_does():
    release = Doubled().calibrate(RECORDS, epsilon=1.0, delta=0.01)
    value = np.zeros(RECORDS.shape)
    (drawn,) = draws.simulate_all(release, [value], lambda: streams(4))
    for trial, stream in zip(drawn, streams(4), strict=True):
        np.testing.assert_allclose(trial, 2 * release.noise.sample(stream, 1)[0])


def test_a_value_outside_the_public_bounds_is_refused_before_any_noise():
    def none():
        raise AssertionError

    release = Gaussian().calibrate(RECORDS, epsilon=1.0, delta=0.01)
    with pytest.raises(InputError, match="outside its public bounds"):
        draws.simulate_all(release, [np.full(RECORDS.shape, 2.0)], none)
