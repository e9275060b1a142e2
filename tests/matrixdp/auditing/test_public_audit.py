"""``matrixdp.audit``: classes, words, inputs; wrong functions are in test_wrong_functions."""

import json
from dataclasses import replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from conformance import library_mechanisms
from scipy import stats

import matrixdp as mdp
from matrixdp.auditing.places import Places
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, ADJACENCIES
from matrixdp.testing import assert_not_refuted

BOX = mdp.Box.cube(3, 0.0, 1.0)
N = 20
MEAN = mdp.MeanQuery(BOX, n_records=N)
MOMENTS = mdp.SecondMomentQuery(mdp.Ball(1.0, features=3), n_records=50)
CLAIM = {"epsilon": 1.0, "delta": 1e-6}
STD = MEAN.l2_sensitivity / float(gaussian_dp.mu(1.0, 1e-6))


#: Bounds without zero, where a null record lies outside.
FAR = mdp.Box((2.0, 5.0), (3.0, 9.0))


class Scaled(Mechanism):
    """Gaussian noise times a factor, which the release does not declare."""

    queries = frozenset({mdp.MeanQuery, mdp.SecondMomentQuery})

    def __init__(self, factor):
        self.factor = factor

    def calibrate(self, query, *, epsilon, delta):
        release = mdp.Gaussian().calibrate(query, epsilon=epsilon, delta=delta)
        return replace(release, noise=release.noise.times(self.factor))


class Half(mdp.Gaussian):
    """Another author's subclass, which calibrates to twice the epsilon and declares half of it."""

    def calibrate(self, query, *, epsilon, delta):
        release = super().calibrate(query, epsilon=2 * epsilon, delta=delta)
        return replace(release, epsilon=epsilon, epsilon_delivered=epsilon)


def of_noise(factor, law="normal"):
    def release(records, generator):
        scale = factor * (STD if law == "normal" else MEAN.l1_sensitivity)
        return records.mean(axis=0) + getattr(generator, law)(0.0, scale, 3)

    return release


def hidden(factor, seed=5):
    own = np.random.default_rng(seed)
    return lambda records: of_noise(factor, "laplace")(records, own)


def on_one_entry(records, generator):
    value = records.mean(axis=0)
    value[0] += generator.normal(0.0, STD)
    return value


def of_the_largest_record(records, generator):
    return records.mean(axis=0) + generator.normal(0.0, STD * (1 + 0.01 * records.max()), 3)


def scaled_outside(records, generator):
    return records.mean(axis=0) + STD * (1 + 0.01 * records.max()) * generator.standard_normal(3)


def drawn_until_small(records, generator):
    for _ in range(20_000):
        answer = records.mean(axis=0) + generator.normal(0.0, STD, 3)
        if np.abs(answer).max() <= 1:
            return answer
    # Where nothing limits the draws of an audit, its test fails, and does not hang.
    raise RuntimeError("draws without end")


def rounded(records, generator):
    return np.round(of_noise(1.0)(records, generator), 3)


def audit(mechanism, query=MEAN, runs=500, **claim):
    return mdp.audit(mechanism, query, **{**CLAIM, **claim}, runs=runs)


@pytest.mark.parametrize(
    ("mechanism", "query", "delta"),
    [
        (mdp.Gaussian(), MEAN, 1e-6),
        (mdp.Gaussian(), MOMENTS, 1e-6),
        (mdp.Laplace(), mdp.RecordsQuery(BOX, 50), 0.0),
        (mdp.AnalyzeGauss(), MOMENTS, 1e-6),
        (mdp.Gaussian(), mdp.SecondMomentQuery(mdp.Ball(1.0, 2), 50), 1e-6),
        (mdp.Gaussian(), mdp.SecondMomentQuery(mdp.Box.cube(2, -1e60, 1e60), 50), 1e-6),
        (mdp.Gaussian(), replace(MEAN, per_person=2), 1e-6),
        (mdp.Gaussian(), replace(MEAN, adjacency=ADD_OR_REMOVE), 1e-6),
        (mdp.Gaussian(), mdp.RecordsQuery(BOX, 50, per_person=2), 1e-6),
        (mdp.Laplace(), mdp.RecordsQuery(mdp.Ball(2.0, 3), 50, "zero_out", per_person=3), 0.0),
        (mdp.Gaussian(), mdp.RecordsQuery(FAR, 50, "zero_out"), 1e-6),
        (mdp.Laplace(), mdp.MeanQuery(FAR, 50, "zero_out", per_person=2), 0.0),
    ],
)
def test_mechanisms_of_the_library_are_certified(mechanism, query, delta):
    result = audit(mechanism, query, delta=delta)
    assert result.status == "certified"
    assert result.detectable_effect < 0.02
    assert "calibrates next" in result.limitations
    assert result.epsilon_attained <= 1 + 1e-9
    release = mechanism.calibrate(query, epsilon=1.0, delta=delta)
    assert audit(release, query, delta=delta).verdict == result.verdict
    assert result.upper == 1.0
    assert type(release).__name__ in result.verdict
    # A calibrated mechanism that promises less than the claim.
    refuted = audit(release, query, epsilon=0.9, delta=delta)
    assert refuted.status == "refuted"
    assert "; promise)" in str(refuted)


DOMAINS = (mdp.Box((0.0, -1.0), (1.0, 3.0)), mdp.Ball(2.0, 2), FAR)
#: One record, some of those that there are, and more than there are.
GROUPS = (None, 2, 9)


def every_query(kind, records=7):
    """Return queries of a class, of all bounds, adjacencies and sizes of a person's records."""
    for domain, adjacency, most in product(DOMAINS, (*ADJACENCIES, ADD_OR_REMOVE), GROUPS):
        if (kind, adjacency) != (mdp.RecordsQuery, ADD_OR_REMOVE):
            yield kind(domain, records, adjacency, per_person=most)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [mdp.MeanQuery, mdp.RecordsQuery, mdp.SecondMomentQuery])
@pytest.mark.parametrize("mechanism", library_mechanisms(), ids=repr)
def test_whatever_the_library_calibrates_is_certified(mechanism, kind):
    for query, delta in product(every_query(kind), (0.0, 1e-6)):
        try:
            release = mechanism.calibrate(query, epsilon=1.0, delta=delta)
        except mdp.InputError:
            continue
        result = audit(release, query, runs=200, delta=delta)
        assert result.status == "certified", (query, str(result))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("records", "per_person"), [(50, None), (50, 2), (1, None)], ids=["one", "two", "all"]
)
@pytest.mark.parametrize("mechanism", [PrivatelyClipped(), Centred()], ids=repr)
def test_a_release_in_parts_of_a_private_number_is_certified(mechanism, records, per_person):
    """One record of a person or two; or all, so that the neighbour has no record."""
    query = replace(MOMENTS, n_records=records, adjacency=ADD_OR_REMOVE, per_person=per_person)
    assert audit(mechanism, query, runs=200).status == "certified"


@pytest.mark.parametrize("adjacency", [*ADJACENCIES, ADD_OR_REMOVE])
@pytest.mark.parametrize("mechanism", [PrivatelyClipped(), Centred()], ids=repr)
def test_a_release_in_parts_is_certified_where_bounds_exclude_zero(mechanism, adjacency):
    """No record of all others is one of zeros there, and a null record is in no bounds."""
    query = mdp.SecondMomentQuery(FAR, 50, adjacency)
    assert audit(mechanism, query, runs=200).status == "certified"


@pytest.mark.parametrize("mechanism", [Scaled(0.8), Scaled(0.99), Half()])
def test_too_little_noise_of_another_class_is_refuted(mechanism):
    assert audit(mechanism).status == "refuted"
    assert audit(Scaled(1.0)).status == "not refuted"


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_a_function_with_too_little_noise_is_refuted(law):
    delta = 1e-6 if law == "normal" else 0.0
    for factor in (0.5, 0.99):
        assert audit(of_noise(factor, law), delta=delta).status == "refuted"
    right = audit(of_noise(1.0, law), delta=delta)
    assert right.verdict == "not refuted"
    assert right.upper is None
    assert right.epsilon_attained == pytest.approx(1.0)


def shifted_inside(records, generator):
    """Shift the answer where some record lies in the middle of the box."""
    inside = (np.abs(records - 0.5) < 0.3).all(axis=1).any()
    return of_noise(1.0, "laplace")(records, generator) + inside


@pytest.mark.parametrize(
    ("function", "adjacency"),
    # Where a record is replaced, one of a walk lies inside; where one is removed, none does.
    [(shifted_inside, "zero_out"), (hidden(0.1), "replace"), (hidden(0.4), "replace")],
)
def test_wrong_functions_are_refuted(function, adjacency):
    query = replace(MEAN, adjacency=adjacency)
    result = audit(function, query, delta=0.0, runs=20_000)
    assert result.status == "refuted"
    assert result.epsilon_lower > 1


def test_randomness_of_its_own_is_not_refuted():
    assert audit(hidden(1.0), delta=0.0).status == "not refuted"


@pytest.mark.parametrize(
    ("function", "objection"),
    [
        (of_the_largest_record, "the noise's scale, a parameter of normal, depends on the records"),
        (scaled_outside, "the noise's scale depends on the records"),
        (drawn_until_small, "how often it draws depends on the records"),
        (lambda records, generator: hidden(1.0, None)(records), "randomness besides its Generator"),
    ],
)
def test_replays_object_to_noise_that_depends_on_the_records(function, objection):
    result = audit(function)
    assert result.status == "not refuted"
    assert objection in result.verdict


def test_an_audit_ends_where_a_function_does_not():
    # In bounds it draws once or twice; a record far away makes it draw for ever.
    result = audit(drawn_until_small, runs=200)
    assert "on which it draws without end" in result.limitations


def test_bets_refute_on_their_own():
    # No replay computes the epsilon: its bound is that of runs which share bits.
    def release(records, generator):
        return np.round(of_noise(0.5, "laplace")(records, generator), 6)

    result = audit(release, delta=0.0, runs=20_000)
    assert result.status == "refuted"
    assert result.tool == "black box"


def test_a_matrix_of_noise_is_seen_whole():
    # Correlated noise hides what each entry alone would show, in the direction of the change.
    mixing = np.array([[1.0, -0.9, 0.0], [-0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])

    def release(records, generator):
        return records.mean(axis=0) + 3 * STD * mixing @ generator.standard_normal(3)

    shift = np.ones(3) / N
    mu = float(np.linalg.norm(np.linalg.solve(3 * STD * mixing, shift)))
    result = audit(release)
    assert result.epsilon_attained >= float(gaussian_dp.epsilon(1e-6, mu)) * (1 - 1e-9)
    assert result.status == "refuted"


@pytest.mark.parametrize(("factor", "status"), [(1.0, "not refuted"), (0.999, "refuted")])
def test_noise_that_differs_by_direction_is_judged_where_it_is_least(factor, status):
    """In a ball the farthest records lie in any direction, and the worst ones in that alone."""
    query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=8)
    release = mdp.DirectionalGaussian(shares=(0.7, 0.3)).calibrate(query, **CLAIM)
    noise = release.noise.times(factor)

    def function(records, generator):
        return query.value(records.T) + noise.sample(generator, 1)[0]

    result = mdp.audit(function, query, **CLAIM, runs=500)
    assert result.status == status
    assert result.epsilon_attained == pytest.approx(1.0, rel=0.01)


def by_covariance(factor):
    covariance = (factor * STD) ** 2 * np.eye(3)
    return lambda records, rng: rng.multivariate_normal(records.mean(axis=0), covariance)


def by_entries(factor):
    def release(records, rng):
        return [column.mean() + rng.normal(scale=factor * STD) for column in records.T]

    return release


def by_scipy(factor):
    def release(records, rng):
        return stats.norm.rvs(records.mean(axis=0), factor * STD, random_state=rng)

    return release


@pytest.mark.parametrize("make", [by_covariance, by_entries, by_scipy])
def test_noise_that_is_drawn_otherwise_is_recorded_too(make):
    # Replays decide, which need no runs.
    right = audit(make(1.0), runs=100)
    assert right.verdict == "not refuted"
    assert right.tool == "replay of draws"
    assert audit(make(0.99), runs=100).status == "refuted"


def of_a_child(records, generator):
    (child,) = generator.spawn(1)
    return of_noise(0.01)(records, generator) + child.normal(0.0, STD, 3)


def of_bits(records, generator):
    child = np.random.default_rng(generator.bit_generator.random_raw())
    return of_noise(0.01)(records, generator) + child.normal(0.0, STD, 3)


def test_noise_that_is_not_recorded_counts_for_no_refutation():
    # What is recorded is a hundredth of the noise, and would be much too small alone.
    assert audit(of_bits).status == "not refuted"


def test_the_noise_of_a_child_is_recorded():
    result = audit(of_a_child)
    assert result.tool == "replay of draws"
    assert result.epsilon_attained < 1


@pytest.mark.parametrize("adjacency", [*ADJACENCIES, ADD_OR_REMOVE])
@pytest.mark.parametrize("per_person", [None, 2])
@pytest.mark.parametrize("domain", [mdp.Box((-1.0, 0.0), (1.0, 3.0)), mdp.Ball(2.0, features=2)])
def test_functions_get_neighbours_within_bounds(adjacency, per_person, domain):
    query = mdp.MeanQuery(domain, 7, adjacency, per_person=per_person)
    places = Places(query, np.random.default_rng(0))
    changed = {pair.place + k for pair in places.pairs for k in range(query.group)}
    assert changed == {*range(7)}
    for pair in places.pairs:
        first, second = pair.sides
        for side in (first, second):
            np.testing.assert_allclose(domain.clip(side.T).T, side, rtol=1e-12)
        if query.add_or_remove:
            assert len(second) == 7 - query.group
            assert {*map(tuple, second)} <= {*map(tuple, first)}
        else:
            assert 0 < (first != second).any(axis=1).sum() <= query.group
        assert len(first) == 7


def test_every_record_changes_and_many_are_searched_for_a_jump():
    assert Places(MEAN, np.random.default_rng(0)).count == N
    query = replace(MEAN, n_records=3000)
    places = Places(query, np.random.default_rng(0))
    assert {0, 1500, 2999} <= {pair.place for pair in places.pairs}
    jumps = [*places.steepest(lambda records: np.median(records, axis=0))]
    moved = max(np.abs(np.subtract(*(np.median(s, axis=0) for s in p.sides))).max() for p in jumps)
    assert moved >= 0.5


def test_one_seed_gives_one_result():
    one, other = (audit(rounded, runs=100, seed=3) for _ in range(2))
    assert str(one) == str(other)
    assert one.to_dict() == other.to_dict()
    assert one.to_dict() != audit(rounded, runs=100, seed=4).to_dict()


def test_a_result_says_what_it_saw():
    result = audit(lambda x, rng: of_noise(1.0)(np.clip(np.nan_to_num(x), 0, 1), rng))
    lines = str(result).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("not refuted (")
    assert "epsilon 1, delta 1e-06" in lines[0]
    assert lines[1].startswith("epsilon at least 1, computed; at most: none proved; tried: ")
    assert f"at {N} of {N} places" in lines[1]
    assert lines[2].startswith("not seen: ")
    assert "records out of bounds" not in lines[2]
    texts = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert texts["status"] == "not refuted"
    wrong = audit(on_one_entry)
    assert json.loads(json.dumps(wrong.to_dict(), allow_nan=False))["epsilon_attained"] == "inf"
    with pytest.raises(mdp.InputError, match="neither true nor false"):
        bool(result)


def test_assert_not_refuted_shows_the_three_lines():
    claim = {**CLAIM, "runs": 100, "caller_clips": True}
    assert_not_refuted(of_noise(1.0), MEAN, **claim)
    lines = r"refuted, not not refuted:\nrefuted.*\nepsilon at least .*\nnot seen: "
    with pytest.raises(AssertionError, match=lines):
        assert_not_refuted(of_noise(0.5), MEAN, **claim)
    with pytest.raises(AssertionError, match="not certified"):
        assert_not_refuted(of_noise(1.0), MEAN, **claim, at_least="certified")
    with pytest.raises(mdp.InputError, match="at_least is 'refuted'"):
        assert_not_refuted(of_noise(1.0), MEAN, **claim, at_least="refuted")


class Once(mdp.Gaussian):
    """Another author's subclass, which calibrates rightly once."""

    calls: ClassVar = []

    def calibrate(self, query, *, epsilon, delta):
        self.calls.append(query)
        factor = 1 if len(self.calls) == 1 else 10
        release = super().calibrate(query, epsilon=factor * epsilon, delta=delta)
        return replace(release, epsilon=epsilon, epsilon_delivered=epsilon)


def test_the_certificate_is_of_one_calibrated_object():
    right = Once().calibrate(MEAN, **CLAIM)
    assert audit(right).status == "certified"
    for wrong in (Scaled(0.99), Half()):
        assert audit(wrong.calibrate(MEAN, **CLAIM)).status == "refuted"
    other = replace(MEAN, n_records=N + 1)
    assert audit(Scaled(1.0).calibrate(other, **CLAIM)).status == "refuted"
    Once.calls.clear()
    assert audit(Once()).status == "refuted"
    assert audit(Scaled(1.0)).status == "not refuted"


def test_a_function_of_a_private_number_of_records():
    query = replace(MEAN, adjacency=ADD_OR_REMOVE)

    def release(records, generator):
        scale = query.l1_sensitivity
        return records.sum(axis=0) / N + generator.laplace(0, scale, 3)

    def of_the_number(records, generator):
        return len(records) + generator.laplace(0, 0.2)

    assert audit(release, query, delta=0.0).status == "not refuted"
    assert audit(of_the_number, query, delta=0.0).status == "refuted"


@pytest.mark.filterwarnings("error")
def test_a_change_that_nothing_hides_is_refuted_without_a_warning():
    query = mdp.MeanQuery(mdp.Box.cube(1, 0, 1), n_records=20)
    large = lambda records, _: np.array([1e10 * records.sum()])  # noqa: E731
    assert mdp.audit(large, query, epsilon=1, runs=500).status == "refuted"
