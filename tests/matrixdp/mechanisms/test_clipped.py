"""Clipped second moments, with a radius that is public, chosen, or searched for."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import special, stats

from matrixdp.auditing import neighbours, releases, replay
from matrixdp.checks import InputError
from reproduction.experiments import study
from reproduction.experiments.settings import Settings
from reproduction.mechanisms.adaptive import FAILURE, SEARCH, TRACE, AdaptiveCovariance, losses
from reproduction.mechanisms.base import Entry
from matrixdp.mechanisms.clipped import (
    PUBLIC,
    ClippedMoments,
    PrivatelyClipped,
    attained,
    clipped,
    shells,
)
from matrixdp.mechanisms.gaussian import GOE
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Ball, Box, SecondMomentQuery, second_moments
from mechanismqueries import CTG, LIVER, assert_standard, budget, one_stream, streams

MOMENTS = SecondMomentQuery(LIVER.domain, 248)
UNIT = SecondMomentQuery(CTG.domain, 2126)
ZEROED = replace(MOMENTS, adjacency="zero_out")
QUERIES = [MOMENTS, UNIT, ZEROED, SecondMomentQuery(Ball(2.0, 4), 50)]


def records(query, seed=0, spread=0.6):
    """Records of the box, most of them short and some of full norm."""
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    rng = np.random.default_rng(seed)
    return np.clip(spread * rng.standard_normal((query.features, query.n_records)), lower, upper)


# The distribution


@pytest.mark.parametrize("query", QUERIES, ids=repr)
@pytest.mark.parametrize("share", [1 / 4, 1 / 16, 1 / 64])
def test_noise_is_that_of_the_ball(query, share):
    release = ClippedMoments(share).calibrate(query, epsilon=1, delta=0.01)
    root = np.sqrt(2) if query.adjacency == "replace" else 1
    largest = share * query.domain.radius**2
    sigma = root * largest / query.n_records / gaussian.mu(1, 0.01)
    assert release.noise.diagonal_std == pytest.approx(sigma, rel=1e-12)
    assert release.noise.off_diagonal_std == pytest.approx(sigma / np.sqrt(2), rel=1e-12)
    assert release.mu == pytest.approx(gaussian.mu(1, 0.01), rel=1e-12)


def test_half_a_per_cent_less_noise_is_not_private_by_likelihood_ratios_of_worst_neighbours():
    """Monte Carlo of delta: P(L > epsilon) - e^epsilon P'(L > epsilon), L from the two values."""
    epsilon, delta, runs = 1.0, 0.01, 400_000
    release = ClippedMoments(1 / 4).calibrate(MOMENTS, epsilon=epsilon, delta=delta)
    radius = np.sqrt(6 / 4)
    # Two records of the box that are orthogonal after clipping.
    pair = np.zeros((2, 6, 248))
    pair[0, :3, 0], pair[1, 3:, 0] = 1, 1
    values = release.query.value(pair)
    assert np.trace(values[0]) * 248 == pytest.approx(radius**2)
    whitened = release.noise.whiten(values[0] - values[1])
    mu = np.linalg.norm(whitened)
    # Whitened, one release is a normal about the other: one coordinate decides.
    loss = mu * np.random.default_rng(0).standard_normal(runs) + mu**2 / 2

    def delta_of(scale):
        shifted = loss / scale + (1 / scale**2 - 1 / scale) * mu**2 / 2
        return np.maximum(0, -np.expm1(epsilon - shifted)).mean()

    error = np.maximum(0, -np.expm1(epsilon - loss)).std() / np.sqrt(runs)
    assert delta_of(1.0) == pytest.approx(delta, abs=4 * error)
    assert gaussian.epsilon(delta, mu) == pytest.approx(epsilon, rel=1e-9)
    assert gaussian.delta(epsilon, mu / 0.995) > delta * 1.01


def test_one_feature_cannot_turn_and_needs_less():
    line = SecondMomentQuery(Box((-1.0,), (1.0,)), 20)
    release = ClippedMoments(1 / 4).calibrate(line, epsilon=1, delta=0.01)
    assert release.noise.diagonal_std == pytest.approx(0.25 / 20 / gaussian.mu(1, 0.01), rel=1e-12)
    assert release.mu_exact
    found = release.mu * replay.ratio(release, line, np.random.default_rng(0))
    assert found <= release.mu * (1 + 1e-9)


def test_drawn_noise_has_its_scale():
    release = ClippedMoments().calibrate(MOMENTS, **budget(MOMENTS))
    value = release.query.value(records(MOMENTS))
    drawn = release.simulate(value, one_stream(70_000)) - value
    assert_standard(release.noise.whiten(drawn))


def test_a_share_of_one_is_the_ensemble_on_the_box():
    whole, ensemble = (one.calibrate(UNIT, **budget(UNIT)) for one in (ClippedMoments(1), GOE()))
    assert whole.noise_std == ensemble.noise_std
    # All records are in [0, 1]^m, where zeroing one is the worst: sqrt(2) less than in a ball.
    assert whole.noise.diagonal_std == pytest.approx(
        21 / 2126 / gaussian.mu(1, 1 / 2126), rel=1e-12
    )


def test_clipping_keeps_directions_and_short_records():
    query = clipped(MOMENTS, PUBLIC)
    found = records(MOMENTS)
    kept = query.domain.clip(found)
    norms = np.linalg.norm(found, axis=0)
    short = norms <= query.domain.radius
    assert 0 < short.sum() < 248
    np.testing.assert_array_equal(kept[:, short], found[:, short])
    np.testing.assert_allclose(np.linalg.norm(kept[:, ~short], axis=0), query.domain.radius)
    cosines = (kept * found).sum(axis=0) / np.linalg.norm(kept, axis=0) / norms
    np.testing.assert_allclose(cosines, 1)
    np.testing.assert_array_equal(query.domain.clip(np.zeros((6, 1))), np.zeros((6, 1)))
    np.testing.assert_allclose(query.value(found), kept @ kept.T / 248, rtol=1e-12)


@pytest.mark.parametrize("share", [0, -1, 1.01, float("nan")])
def test_bad_shares_are_refused(share):
    with pytest.raises(InputError, match="squared_radius_fraction is"):
        ClippedMoments(share)


# Neighbours


@pytest.mark.parametrize("query", [MOMENTS, UNIT, QUERIES[2]], ids=repr)
@pytest.mark.parametrize("mechanism", [ClippedMoments(1 / 4), ClippedMoments(1 / 64)])
def test_a_replay_from_the_box_stays_within_mu(mechanism, query):
    release = mechanism.calibrate(query, epsilon=1, delta=0.01)
    found = release.mu * replay.ratio(release, query, np.random.default_rng(0))
    assert 0.5 * release.mu < found <= release.mu * (1 + 1e-9)


def test_a_search_over_records_of_the_box_attains_the_radius_and_no_more():
    """Records are clipped in the search itself: nothing of the query's own sensitivity is used."""
    for query in (MOMENTS, UNIT):
        ball = clipped(query, 1 / 4)

        def size(pair, ball=ball):
            one, other = (ball.domain.clip(side.T).T for side in pair)
            return neighbours.frobenius(neighbours.changes(ball, one, other))

        rng = np.random.default_rng(0)
        lower, upper = np.array(query.domain.lower), np.array(query.domain.upper)
        corners = np.where(
            rng.random((2, 400_000 // query.features, query.features)) < 0.5, lower, upper
        )
        if query is UNIT:
            corners[1] = np.where(corners[0] > 0, 0, 1)
        found = size(corners).max()
        assert found <= ball.l2_sensitivity * (1 + 1e-12)
        assert found > ball.l2_sensitivity * (1 - 1e-9)
        assert attained(query, ball.domain.radius)


def test_mu_is_a_bound_where_no_records_of_the_box_attain_it():
    narrow = SecondMomentQuery(Box((-1.0, -0.1), (1.0, 0.1)), 20)
    release = ClippedMoments(1 / 4).calibrate(narrow, epsilon=1, delta=0.01)
    assert not release.mu_exact
    assert ClippedMoments(1 / 4).calibrate(MOMENTS, epsilon=1, delta=0.01).mu_exact
    far = SecondMomentQuery(Box((1.0, 1.0), (2.0, 2.0)), 20)
    assert not ClippedMoments(1 / 4).calibrate(far, epsilon=1, delta=0.01).mu_exact


@pytest.mark.parametrize("mechanism", [ClippedMoments(), PrivatelyClipped(), AdaptiveCovariance()])
def test_the_audit_knows_the_family(mechanism):
    release = mechanism.calibrate(MOMENTS, epsilon=1, delta=1 / 248)
    found = releases.audit_of(release, np.random.default_rng(0))
    assert found.tool == ("exact curve" if mechanism == ClippedMoments() else "composition")
    assert found.mu == pytest.approx(gaussian.mu(1, 1 / 248), rel=1e-6)
    assert found.bound == pytest.approx(1, rel=1e-6)
    row = releases.judge(found, np.random.default_rng(1).spawn(5), releases.Limits(3000))
    assert row["verdict"].startswith("certified")


@pytest.mark.parametrize(
    ("mechanism", "epsilon"), [(PrivatelyClipped(), 0.1), (AdaptiveCovariance(), 1.0)]
)
def test_the_audit_sees_half_a_per_cent_less_noise_in_any_part(mechanism, epsilon):
    release = mechanism.calibrate(MOMENTS, epsilon=epsilon, delta=1 / 248)
    names = {"candidates", "count_std", "trace_std", "search", "rest"} & {*vars(release)}
    for name in names:
        part = getattr(release, name)
        if name == "candidates":
            distributions = (
                replace(
                    one.noise,
                    diagonal_std=0.995 * one.noise.diagonal_std,
                    off_diagonal_std=0.995 * one.noise.off_diagonal_std,
                )
                for one in part
            )
            part = tuple(
                replace(a, noise=distribution)
                for a, distribution in zip(part, distributions, strict=True)
            )
        else:
            part = part / 0.995 if name in ("search", "rest") else 0.995 * part
        weak = releases.audit_of(replace(release, **{name: part}), np.random.default_rng(0))
        assert weak.bound > epsilon * (1 + 1e-6), name


# A radius that is paid for


def test_budgets_add_up():
    for epsilon in (0.01, 1, 100):
        mu = gaussian.mu(epsilon, 1 / 248)
        private = PrivatelyClipped().calibrate(MOMENTS, epsilon=epsilon, delta=1 / 248)
        counted = np.sqrt(2) / private.count_std
        spent = [np.hypot(counted, part.mu) for part in private.candidates]
        np.testing.assert_allclose(spent, mu, rtol=1e-9)
        assert counted**2 / mu**2 == pytest.approx(0.1)
        assert private.epsilon_actual == pytest.approx(epsilon, rel=1e-9)
        searched = AdaptiveCovariance().calibrate(MOMENTS, epsilon=epsilon, delta=1 / 248)
        trace = 1 / 248 / searched.trace_std
        assert trace**2 / mu**2 == pytest.approx(TRACE)
        # The corner of the trade-off curve of pure epsilon-DP lies on the Gaussian one.
        corner = special.expit(-searched.search)
        shift = mu * np.sqrt(SEARCH)
        assert stats.norm.cdf(-stats.norm.ppf(corner) - shift) == pytest.approx(corner, rel=1e-9)
        for number in range(6):
            moments, spectrum = searched.part(number)
            own = (
                spectrum.query.l2_sensitivity / spectrum.eigenvalue_std
                if spectrum.eigenvalue_std
                else 0
            )
            assert np.hypot(moments.mu, own) == pytest.approx(mu * np.sqrt(3 / 4))


def test_pure_privacy_is_gaussian_privacy_at_all_points_of_its_curve():
    """Type II errors of a test at level a: (epsilon, 0) allows no fewer than mu does."""
    for mu in (0.01, 0.3, 2.0, 8.0):
        epsilon = special.log_ndtr(mu / 2) - special.log_ndtr(-mu / 2)
        a = np.append(np.linspace(1e-6, 1 - 1e-6, 10_001), stats.norm.cdf(-mu / 2))
        pure = np.maximum(1 - np.exp(epsilon) * a, np.exp(-epsilon) * (1 - a))
        shifted = stats.norm.cdf(-stats.norm.ppf(a) - mu)
        assert (pure >= shifted - 1e-12).all()
        looser = np.maximum(1 - np.exp(1.01 * epsilon) * a, np.exp(-1.01 * epsilon) * (1 - a))
        assert (looser < shifted * (1 - 1e-6)).any()


def test_shells_count_squared_norms_and_neighbours_move_two():
    squares = np.array([1.0, 0.51, 0.49, 0.2, 0.01, 0.0])
    np.testing.assert_array_equal(shells(2 * np.sqrt(squares)[None], 2.0, 4), [2, 1, 1, 2])
    stack = np.stack([records(MOMENTS), records(MOMENTS, seed=1)])
    np.testing.assert_array_equal(
        shells(stack, np.sqrt(6), 9), [shells(one, np.sqrt(6), 9) for one in stack]
    )
    other = stack[0].copy()
    other[:, 0] = 0
    moved = shells(stack[0], np.sqrt(6), 9) - shells(other, np.sqrt(6), 9)
    assert sorted(moved[moved != 0]) == [-1, 1]


def test_the_private_radius_follows_the_noise_and_the_records():
    release = PrivatelyClipped().calibrate(MOMENTS, epsilon=1, delta=1 / 248)
    quiet = PrivatelyClipped().calibrate(MOMENTS, epsilon=1e4, delta=1 / 248)
    short, long = records(MOMENTS, spread=0.05), records(MOMENTS, spread=2.0)
    given = streams(50)
    # Without noise to speak of nothing is clipped; where all is noise, short records choose less.
    assert (quiet.choose(long, given) == 0).all()
    assert release.choose(short, given).mean() > release.choose(long, given).mean() + 2


@pytest.mark.parametrize("mechanism", [PrivatelyClipped(), AdaptiveCovariance()])
def test_trials_depend_on_their_own_stream_and_records_alone(mechanism):
    release = mechanism.calibrate(MOMENTS, epsilon=1, delta=1 / 248)
    stack = np.stack([records(MOMENTS, seed=k, spread=0.1 * 3**k) for k in range(4)])
    together = release.simulate(release.query.value(stack), streams(4))
    assert together.shape == (4, 6, 6)
    for k in range(4):
        alone = release.simulate(stack[k], streams(4)[k : k + 1])
        np.testing.assert_allclose(together[k], alone[0], rtol=1e-12)


@pytest.mark.parametrize("mechanism", [PrivatelyClipped(), AdaptiveCovariance()])
def test_a_chosen_release_brings_the_ridge_of_its_noise(mechanism):
    release = mechanism.calibrate(MOMENTS, epsilon=1, delta=1 / 248)
    found, given = records(MOMENTS), streams(20)
    numbers = release.choose(found, given)
    for k, released in enumerate(release.simulate(found, streams(20))):
        noisy, part = release.part(int(numbers[k]))
        drawn = part.simulate(part.query.value(found), [given[k]])[0]
        # On the diagonal of the orthogonal ensemble s is that of the rms times sqrt(2 m / (m + 1)).
        ridge = 2 * noisy.noise_std * np.sqrt(12 / 7) * np.sqrt(6)
        np.testing.assert_allclose(released, drawn + ridge * np.eye(6), rtol=1e-9)
    first = PrivatelyClipped().calibrate(MOMENTS, epsilon=1, delta=1 / 248).candidates[0]
    assert moments_ridge(first.noise_std, 6) == pytest.approx(
        2 * first.noise.diagonal_std * np.sqrt(6)
    )


def test_the_adaptive_method_keeps_eigenvalues_in_their_range_and_long_records_whole():
    release = AdaptiveCovariance().calibrate(MOMENTS, epsilon=3, delta=1 / 248)
    for number in (0, 1, 4, 5):
        _, spectrum = release.part(number)
        drawn = spectrum.simulate(spectrum.query.value(records(MOMENTS)), streams(40))
        eigenvalues = np.linalg.eigvalsh(drawn)
        assert eigenvalues.min() > -1e-12
        assert eigenvalues.max() <= spectrum.query.max_norm * (1 + 1e-12)
    # Where all records are of full norm, the first smaller radius loses far more than noise.
    full, short = np.ones((6, 248)), 0.02 * np.ones((6, 248))
    given = streams(50)
    steps = {"full": release.choose(full, given) // 2, "short": release.choose(short, given) // 2}
    assert steps["full"].max() <= 1
    assert steps["short"].mean() > steps["full"].mean() + 1


def test_counts_get_the_noise_that_is_paid_for(monkeypatch):
    release = PrivatelyClipped().calibrate(MOMENTS, epsilon=1, delta=1 / 248)
    noisy = []
    monkeypatch.setattr(
        type(release),
        "_best",
        lambda _, counts: noisy.append(counts) or np.zeros(len(counts), int),
    )
    release.choose(records(MOMENTS), one_stream(150_000))
    exact = shells(records(MOMENTS), np.sqrt(6), 9)
    assert_standard((noisy[0] - exact) / release.count_std)


def test_the_search_has_the_noise_of_a_sparse_vector(monkeypatch):
    """Where every answer is -t, the first one passes if 4 L - 2 L' >= t epsilon."""
    release = AdaptiveCovariance().calibrate(MOMENTS, epsilon=1, delta=1 / 248)
    below, traces, a, b, runs = 4.0, [], 4.0, 2.0, 100_000

    def expected(_, trace, steps):
        traces.append(trace)
        level = np.full((1, len(steps)), below / release.search / 248)
        return level, np.repeat(2 * level, len(trace), axis=0)

    monkeypatch.setattr(type(release), "expected", expected)
    tiny = np.full((6, 248), 1e-30)
    stopped = (release.choose(tiny, one_stream(runs)) == 0).mean()
    tail = (a**2 * np.exp(-below / a) - b**2 * np.exp(-below / b)) / (2 * (a**2 - b**2))
    assert stopped == pytest.approx(tail, abs=4 * np.sqrt(tail * (1 - tail) / runs))
    # The trace is clipped to at most 1 and at least 0: what is seen is the middle of its noise.
    half = np.full((6, 248), np.sqrt(0.5))
    strong = AdaptiveCovariance().calibrate(MOMENTS, epsilon=300, delta=1 / 248)
    strong.choose(half, one_stream(2000))
    centre = 0.5 + strong.trace_std * np.sqrt(2 * np.log(8 / FAILURE))
    white = (traces[-1] - centre) / strong.trace_std
    assert abs(white.std() - 1) < 0.08
    assert abs(white.mean()) < 0.1


def test_a_record_moves_the_answers_of_the_search_by_one_at_most():
    steps = np.arange(80)
    single = losses(np.append(np.geomspace(1e-30, 1, 2000), 0.0)[:, None], steps)
    moved = np.abs(single[:, None] - single[None, ::50]).max()
    assert 1 - 1e-6 < moved <= 1
    rng = np.random.default_rng(0)
    squares = rng.beta(0.2, 2, 300)
    taken = [np.maximum(0, squares - 4.0**-j).sum() for j in steps]
    bound = losses(squares, steps)
    assert (bound >= np.array(taken) - 1e-9).all()
    assert (np.diff(bound) >= 0).all()


def test_eigenvalues_that_go_apart_have_noise_of_their_own():
    release = AdaptiveCovariance().calibrate(MOMENTS, epsilon=300, delta=1 / 248)
    _, spectrum = release.part(1)
    value = spectrum.query.value(records(MOMENTS))
    drawn = np.linalg.eigvalsh(spectrum.simulate(value, one_stream(4000)))
    gaps = np.diff(np.linalg.eigvalsh(value)).min()
    assert gaps > 6 * spectrum.eigenvalue_std
    white = (drawn - np.linalg.eigvalsh(value)) / spectrum.eigenvalue_std
    assert abs(white.std() - 1) < 0.02


class _Declared(SecondMomentQuery):
    """Says that it clips, and does not."""

    def value(self, records):
        return second_moments(records)

    def check(self, value):
        return np.asarray(value)


@dataclass(frozen=True)
class _Unclipped(ClippedMoments):
    def calibrate(self, query, *, epsilon, delta):
        release = super().calibrate(query, epsilon=epsilon, delta=delta)
        own = release.query
        return replace(release, query=_Declared(own.domain, own.n_records, own.adjacency))


@pytest.mark.parametrize(("kind", "right"), [(ClippedMoments, True), (_Unclipped, False)])
def test_the_audit_of_an_experiment_replays_what_a_mechanism_clips(kind, right, monkeypatch):
    monkeypatch.setattr(study, "find", lambda name: Entry(kind))
    settings = Settings("x", seed=1, trials=1, epsilons=("1",))
    (row,) = releases.run("clipped", {"covariance": MOMENTS}, settings, releases.Limits(3000))
    expected = "certified: tight" if right else "refuted: a replay on two neighbours shows it"
    assert row["verdict"] == expected


def test_one_feature_is_refused():
    with pytest.raises(InputError, match="1 feature"):
        single = SecondMomentQuery(Box((0.0,), (1.0,)), 9)
        AdaptiveCovariance().calibrate(single, epsilon=1, delta=0.1)
