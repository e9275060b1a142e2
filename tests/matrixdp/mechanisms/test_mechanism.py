"""What a release for real use promises: its statement, its rounding, and what it refuses."""

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from mechanismqueries import BUDGET

import matrixdp as mdp
from matrixdp.checks import InputError
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import BrokenPromise
from matrixdp.mechanisms.promise import promised
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import exact_sums, gaussian_dp
from matrixdp.privacy.sensitivity import (
    Ball,
    Box,
    MeanQuery,
    RecordsQuery,
    SecondMomentQuery,
)


@pytest.fixture
def silent(monkeypatch):
    """Leave the noise out of releases, so that they show the rounded value."""
    monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.zeros(count, np.int64))


def test_a_mean_is_no_identity_query_and_a_subclass_is_another_query():
    assert not issubclass(MeanQuery, RecordsQuery)

    class Halved(RecordsQuery):
        l2 = 0.5

    with pytest.raises(InputError, match="query is of type Halved"):
        Gaussian().calibrate(Halved(Box((0.0,), (1.0,)), 9), **BUDGET)


def test_a_mean_of_equal_records_lies_within_its_bounds():
    query = MeanQuery(Box((0.0,), (0.1,)), 3)
    assert query.check(query.value(np.full((1, 3), 0.1))) == pytest.approx(0.1)


@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-10])
@pytest.mark.parametrize("mechanism", [mdp.Gaussian(), mdp.DirectionalGaussian(), None])
def test_delta_is_that_of_the_whole_release(mechanism, delta):
    query = RecordsQuery(Box.cube(50, -1, 1), 100)
    if mechanism is None:
        release = mdp.compare_mechanisms(query, epsilon=1, delta=delta, mechanisms=[Gaussian()])[
            0
        ].release
    else:
        release = mechanism.calibrate(query, epsilon=1, delta=delta)
    stated = release.statement
    assert (stated.delta, stated.adjacency) == (delta, "replace")
    assert stated.epsilon <= 1 + 1e-11
    assert stated.sampler_delta == safe.extra_delta(stated.epsilon, 5000)
    total = gaussian_dp.delta(stated.epsilon, stated.mu) + stated.sampler_delta
    assert 0.999 * delta < total <= delta * (1 + 1e-12)
    # A hundredth less set aside would pass delta.
    assert (
        gaussian_dp.delta(1, release.mu) > delta - 1.01 * stated.sampler_delta or mechanism is None
    )
    apart = release.mu / release.rounding_factor + 2 * safe.STEP * np.sqrt(50)
    assert apart <= stated.mu * (1 + 1e-12)


def test_a_delta_that_the_sampler_alone_uses_up_is_refused():
    query = RecordsQuery(Box.cube(50, -1, 1), 100)
    with pytest.raises(InputError, match="5000 numbers alone needs 3.3e-11"):
        Gaussian().calibrate(query, epsilon=1, delta=1e-11).release(np.zeros((100, 50)))
    pure = Laplace().calibrate(MeanQuery(query.domain, 100), epsilon=1)
    assert (pure.delta, pure.statement.mu) == (0, None)
    assert 0 < pure.statement.delta == pure.statement.sampler_delta < 1e-6
    with pytest.raises(InputError, match="delta is 0; safe noise on 50 numbers"):
        Laplace().calibrate(MeanQuery(query.domain, 100), epsilon=20).release(np.zeros((100, 50)))


def farthest(calibrated):
    """Return the release of the box that lies farthest from 0 and is not refused."""
    low, high = 0.0, 12.0
    for _ in range(40):
        middle = (low + high) / 2
        try:
            assert calibrated(10**middle).rounding_factor
            low = middle
        except InputError:
            high = middle
    return calibrated(10**low)


def exact_change(query):
    """Return the largest change of the value in the l1 norm, as a fraction; of a ball its square.

    Of second moments it is that of their upper triangle.
    """
    domain, share = query.domain, Fraction(query.group, query.n_records)
    lower, upper = ([Fraction(one) for one in side] for side in (domain.lower, domain.upper))
    magnitudes = [max(abs(low), abs(high)) for low, high in zip(lower, upper, strict=True)]
    if isinstance(query, SecondMomentQuery):
        return (sum(magnitudes) ** 2 + sum(one**2 for one in magnitudes)) / 2 * share
    sides = [high - low for low, high in zip(lower, upper, strict=True)]
    change = sum(sides if query.adjacency == "replace" else magnitudes)
    return change * (share if isinstance(query, MeanQuery) else query.group)


def exactly_private(query, scale, epsilon):
    """Return whether Laplace noise of a scale delivers at most a decimal, in exact fractions."""
    return exact_change(query) <= Fraction(float(scale)) * Fraction(repr(epsilon))


def test_laplace_noise_delivers_at_most_the_decimal_that_states_its_epsilon():
    rng, short = np.random.default_rng(0), 0
    for trial in range(300):
        features = int(rng.integers(1, 6))
        lower = rng.uniform(-10, 0, features).round(int(rng.integers(0, 4)))
        upper = lower + rng.uniform(0.1, 9, features).round(int(rng.integers(1, 4)))
        query = (MeanQuery, RecordsQuery, SecondMomentQuery)[trial % 3](
            Box(tuple(lower), tuple(upper)),
            int(rng.integers(2, 900)),
            ("replace", "zero_out")[trial % 2],
            per_person=(None, 3)[trial % 5 == 0],
        )
        # Decimals, parts of a whole, and any float.
        epsilon = (round(rng.uniform(0.01, 3), 2), 1 / (trial + 3), rng.uniform(0, 3))[trial // 100]
        release = Laplace().calibrate(query, epsilon=epsilon)
        (scale,) = {*release.noise.size.ravel()}
        assert exactly_private(query, scale, epsilon)
        assert exact_change(query) <= Fraction(float(scale)) * Fraction(epsilon) * (
            1 - Fraction(1, 2**52)
        )
        short += not exactly_private(query, scale / (1 + 1e-12), epsilon)
    # Not rounded up, many deliver more.
    assert short > 30


TURNED = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
ROTATED = DirectionalGaussian((1 - 1e-6, 1e-6), directions=TURNED)


@pytest.mark.parametrize("mechanism", [Gaussian(), Laplace(), ROTATED], ids=["g", "l", "rotated"])
def test_rounding_near_the_range_limit_keeps_the_promise(silent, mechanism):
    """Values at the limit move by many roundings: neighbours must stay as close as promised."""

    def calibrated(far):
        box = Box((far, far), (far + 1.3, far + 1.7))
        return mechanism.calibrate(MeanQuery(box, 100), **BUDGET)

    release = farthest(calibrated)
    low, high = (np.array(side) for side in vars(release.query.domain).values())
    distribution, (_, unit, budget) = release.noise, release.whitened
    rng, widest = np.random.default_rng(1), 0.0
    for _ in range(100):
        rows = rng.uniform(low, high, (100, 2))
        steps = []
        for last in (np.where([1, 0], low, high), np.where([0, 1], low, high)):
            rows[-1] = last
            released = release.release_value(exact_sums.value(release.query, [rows]))
            white = distribution.whiten(released.T) / release.rounding_factor
            steps.append(np.rint(white / safe.STEP))
        norm = 2 if unit == safe.NORMAL else 1
        widest = max(widest, np.linalg.norm(steps[0] - steps[1], norm) * safe.STEP)
    assert 0.99 * budget < widest <= budget


def test_no_corner_of_the_bounds_passes_the_range_where_directions_rotate(silent):
    def calibrated(far):
        query = RecordsQuery(Box((far, -far - 1), (far + 1, -far)), 1)
        return ROTATED.calibrate(query, **BUDGET)

    release = farthest(calibrated)
    for corner in itertools.product(*zip(*vars(release.query.domain).values(), strict=True)):
        white = release.noise.whiten(np.array(corner)[:, None])
        assert np.abs(white).max() <= 1 / safe.STEP
        released = release.release_value(np.array(corner)[:, None])
        assert released[0] == pytest.approx(corner, abs=1e-4)


def test_directions_that_are_a_little_off_cost_no_privacy():
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((3, 3)))[0] + 1e-9 * rng.standard_normal((3, 3))
    for shares in ((0.8, 0.1, 0.1), (1 / 3, 1 / 3, 1 / 3)):
        mechanism = DirectionalGaussian(shares, directions=basis)
        release = mechanism.calibrate(RecordsQuery(Box.cube(3, -1, 1), 1), **BUDGET)
        moves = np.array([*itertools.product((-2.0, 2.0), repeat=3)])[:, :, None]
        apart = np.linalg.norm(release.noise.whiten(moves), axis=-1).max()
        assert apart == pytest.approx(release.mu, rel=1e-6)
        assert apart <= release.mu * (1 + 1e-12)


class HalfDrawn(Noise):
    """Another author's class, whose sampler draws half of the noise that it declares."""

    def sample(self, generator, count):
        return super().sample(generator, count) / 2


def test_noise_of_another_author_is_simulated_by_its_own_sampler_and_never_released():
    query = RecordsQuery(Box.cube(2, -1, 1), 3)
    release = Gaussian().calibrate(query, epsilon=1.0, delta=0.01)
    foreign = replace(release, noise=HalfDrawn.of(safe.NORMAL, 2.0, query.shape))
    with pytest.raises(InputError, match="no safe noise for HalfDrawn"):
        foreign.release(np.zeros((3, 2)))
    value = np.full((2, 3), 0.5)
    drawn = foreign.simulate(value, np.random.default_rng(0), 4)
    whole = np.random.default_rng(0).standard_normal((4, 2, 3))
    assert drawn == pytest.approx(value + whole)


@dataclass(frozen=True)
class Promising(Gaussian):
    """A calibration that changes what it is asked for."""

    changes: tuple[tuple[str, object], ...] = ()

    def calibrate(self, query, *, epsilon, delta):
        release = super().calibrate(query, epsilon=epsilon, delta=delta)
        changes = dict(self.changes)
        if "query" in changes:
            changes["query"] = replace(query, **dict(changes["query"]))
        return replace(release, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"delta": 1.0}, "promises delta 1, where 0.01 is asked for"),
        ({"epsilon": 3.0}, "promises epsilon 3, where 1 is asked for"),
        ({"epsilon": 1.01}, "promises epsilon 1.01"),
        ({"epsilon": float("nan")}, "promises epsilon nan"),
        ({"query": (("adjacency", "zero_out"),)}, "neighbours of 'zero_out', where 'replace'"),
        ({"query": (("n_records", 2),)}, "among 2 records, where there are 3"),
        ({"query": (("domain", Box.cube(2, 0, 1)),)}, "promises privacy of records in Box"),
    ],
)
def test_a_calibration_that_promises_less_than_is_asked_is_refused(changes, words):
    query = RecordsQuery(Box.cube(2, -1, 1), 3)
    mechanism = Promising(changes=tuple(changes.items()))
    with pytest.raises(BrokenPromise, match=words):
        promised(mechanism, query, epsilon=1.0, delta=0.01)


def test_fewer_records_of_a_person_than_asked_are_refused():
    query = MeanQuery(Box.cube(2, -1, 1), 30, per_person=3)
    mechanism = Promising(changes=(("query", (("per_person", 2),)),))
    with pytest.raises(BrokenPromise, match="2 records of one person, where 3 is asked for"):
        promised(mechanism, query, epsilon=1.0, delta=0.01)


@pytest.mark.parametrize("unit", [{"per_person": 2}, {"adjacency": "add_or_remove"}])
def test_a_mechanism_protects_people_and_private_numbers_only_if_it_says_so(unit):
    class Own(Gaussian):
        sensitivity_only = False

    with pytest.raises(InputError, match="protects one record of a public number"):
        Own().calibrate(MeanQuery(Box.cube(2, -1, 1), 30, **unit), **BUDGET)


def test_a_promise_of_more_than_is_asked_is_fine():
    query = RecordsQuery(Box.cube(2, -1, 1), 3)
    for changes in ({"delta": 0.0}, {"epsilon": 0.5}, {"epsilon": 1 + 1e-12}):
        mechanism = Promising(changes=tuple(changes.items()))
        assert promised(mechanism, query, epsilon=1.0, delta=0.01).epsilon <= 1 + 1e-9


@dataclass(frozen=True)
class Answering(Gaussian):
    """A mechanism that answers with a release of its own."""

    answer: object = None

    def calibrate(self, query, *, epsilon, delta):
        return self.answer


class Agreeable(float):
    def __le__(self, other):
        return True

    def __ge__(self, other):
        return True


@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_a_number_that_compares_as_it_likes_is_no_promise(name):
    query = RecordsQuery(Box.cube(2, -1, 1), 3)
    mechanism = Promising(changes=((name, Agreeable(200.0)),))
    with pytest.raises(BrokenPromise, match=f"promises {name} as a Agreeable"):
        promised(mechanism, query, epsilon=1.0, delta=0.01)
    for number in (1, 1.0, np.float64(1.0)):
        mechanism = Promising(changes=(("epsilon", number),))
        assert promised(mechanism, query, epsilon=1.0, delta=0.01).epsilon == 1


class OwnMoments(SecondMomentQuery):
    """Of another author."""


@pytest.mark.parametrize("kind", [OwnMoments, RecordsQuery])
def test_an_answer_to_another_query_protects_all_records_of_a_person_too(kind):
    query = SecondMomentQuery(Box.cube(2, -1, 1), 30, per_person=5)
    release = mdp.Gaussian().calibrate(RecordsQuery(query.domain, 30), **BUDGET)
    alone = replace(release, query=kind(query.domain, 30))
    with pytest.raises(BrokenPromise, match="1 records of one person, where 5 is asked for"):
        promised(Answering(answer=alone), query, **BUDGET)


@pytest.mark.parametrize("mechanism", [PrivatelyClipped(), Centred(), Centred(0.5)])
@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_or_remove"])
def test_releases_that_read_records_protect_as_many_as_are_asked(mechanism, adjacency):
    query = SecondMomentQuery(Box.cube(2, -1, 1), 30, adjacency, per_person=5)
    assert promised(mechanism, query, **BUDGET).query.per_person == 5


@pytest.mark.parametrize("kind", [MeanQuery, RecordsQuery, SecondMomentQuery])
def test_noise_on_an_answer_of_a_public_number_hides_no_number(kind):
    query = MeanQuery(Box.cube(2, -1, 1), 30, "add_or_remove")
    release = Gaussian().calibrate(kind(query.domain, 30, "zero_out"), **BUDGET)
    with pytest.raises(BrokenPromise, match="'zero_out', where 'add_or_remove' is asked for"):
        promised(Answering(answer=release), query, **BUDGET)
    assert promised(Gaussian(), query, **BUDGET).query == query


class Everything(Box):
    def __eq__(self, other):
        return True

    __hash__ = Box.__hash__


class Halved(MeanQuery):
    """Another author's mean, which clips nothing."""

    def value(self, records):
        return records.sum(axis=-1, keepdims=True) / self.n_records


@pytest.mark.parametrize(
    ("kind", "domain"),
    [
        (MeanQuery, Everything((-0.1,) * 2, (0.1,) * 2)),
        (MeanQuery, Everything((-1.0,) * 2, (1.0,) * 2)),
        (Halved, Ball(0.1, 2)),
        (Halved, Box.cube(2, -0.1, 0.1)),
    ],
)
def test_a_domain_that_does_not_have_all_records_covers_none(kind, domain):
    query = MeanQuery(Box.cube(2, -1, 1), 30)
    release = Gaussian().calibrate(MeanQuery(domain, 30), **BUDGET)
    release = replace(release, query=kind(domain, 30))
    with pytest.raises(BrokenPromise, match="promises privacy of records in"):
        promised(Answering(answer=release), query, **BUDGET)


@pytest.mark.parametrize(
    ("kind", "domain"),
    [(MeanQuery, Ball(0.1, 2)), (Halved, Ball(1.5, 2)), (Halved, Box.cube(2, -1, 1))],
)
def test_a_domain_of_all_records_or_a_ball_that_clips_covers_them(kind, domain):
    query = MeanQuery(Box.cube(2, -1, 1), 30)
    release = Gaussian().calibrate(MeanQuery(domain, 30), **BUDGET)
    release = replace(release, query=kind(domain, 30))
    kept = promised(Answering(answer=release), query, **BUDGET)
    assert kept == replace(release, author="Answering")
