"""Clipped second moments, with a radius that is public, chosen, or searched for."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from mechanismqueries import (
    CTG_MOMENTS,
    LIVER_MOMENTS,
    Unclipped,
    budget,
    radii,
    records,
    streams,
)
from scipy import special, stats

from matrixdp.auditing import releases
from matrixdp.checks import InputError
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Box, SecondMomentQuery
from reproduction.auditing import experiment
from reproduction.experiments import study
from reproduction.job_settings import Settings
from reproduction.mechanisms import adaptive
from reproduction.mechanisms.adaptive import FAILURE, SEARCH, TRACE, AdaptiveCovariance, losses
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.clipped import ClippedMoments


@pytest.mark.parametrize(
    ("mechanism", "epsilon"), [(PrivatelyClipped(), 0.1), (AdaptiveCovariance(), 1.0)]
)
def test_the_audit_sees_half_a_per_cent_less_noise_in_any_part(mechanism, epsilon):
    release = mechanism.calibrate(LIVER_MOMENTS, epsilon=epsilon, delta=1 / 248)
    names = {"candidates", "count_std", "trace_std", "search", "rest"} & {*vars(release)}
    for name in names:
        part = getattr(release, name)
        if name == "candidates":
            part = tuple(replace(one, noise=one.noise.times(0.995)) for one in part)
        else:
            part = part / 0.995 if name in ("search", "rest") else 0.995 * part
        weak = releases.audit_of(replace(release, **{name: part}), np.random.default_rng(0))
        assert weak.bound > epsilon * (1 + 1e-6), name


# A radius that is paid for


def test_budgets_add_up():
    for epsilon in (0.01, 1, 100):
        mu = gaussian_dp.mu(epsilon, 1 / 248)
        private = PrivatelyClipped().calibrate(LIVER_MOMENTS, epsilon=epsilon, delta=1 / 248)
        counted = np.sqrt(2) / private.count_std
        spent = [np.hypot(counted, part.mu) for part in private.candidates]
        np.testing.assert_allclose(spent, mu, rtol=1e-9)
        assert counted**2 / mu**2 == pytest.approx(0.1)
        assert private.epsilon_delivered == pytest.approx(epsilon, rel=1e-9)
        searched = AdaptiveCovariance().calibrate(LIVER_MOMENTS, epsilon=epsilon, delta=1 / 248)
        trace = 1 / 248 / searched.trace_std
        assert trace**2 / mu**2 == pytest.approx(TRACE)
        # The corner of the trade-off curve of pure epsilon-DP lies on the Gaussian one.
        corner = special.expit(-searched.search)
        shift = mu * np.sqrt(SEARCH)
        assert stats.norm.cdf(-stats.norm.ppf(corner) - shift) == pytest.approx(corner, rel=1e-9)
        for number in range(6):
            moments, spectrum = searched.release_at(number)
            own = (
                spectrum.query.l2_sensitivity / spectrum.eigenvalue_std
                if spectrum.eigenvalue_std
                else 0
            )
            assert np.hypot(moments.mu, own) == pytest.approx(mu * np.sqrt(3 / 4))


@pytest.mark.parametrize("mechanism", [PrivatelyClipped(), AdaptiveCovariance()])
def test_a_chosen_release_brings_the_ridge_of_its_noise(mechanism):
    release = mechanism.calibrate(LIVER_MOMENTS, epsilon=1, delta=1 / 248)
    found = records(LIVER_MOMENTS)
    for again, stream in zip(streams(20), streams(20), strict=True):
        released = release.simulate(found, again, 1)[0]
        at = release.release_at(int(radii(release, found, stream, 1)[0]))
        noisy, part = at if isinstance(at, tuple) else (at, at)
        drawn = part.simulate(part.query.value(found), stream, 1)[0]
        # On the diagonal of the orthogonal ensemble s is that of the rms times sqrt(2 m / (m + 1)).
        ridge = 2 * noisy.noise_std * np.sqrt(12 / 7) * np.sqrt(6)
        np.testing.assert_allclose(released, drawn + ridge * np.eye(6), rtol=1e-9)
    first = PrivatelyClipped().calibrate(LIVER_MOMENTS, epsilon=1, delta=1 / 248).candidates[0]
    assert moments_ridge(first.noise_std, 6) == pytest.approx(
        2 * first.noise.size[0, 0] * np.sqrt(6)
    )


def test_the_adaptive_method_keeps_eigenvalues_in_their_range_and_long_records_whole():
    release = AdaptiveCovariance().calibrate(LIVER_MOMENTS, epsilon=3, delta=1 / 248)
    for number in (0, 1, 4, 5):
        _, spectrum = release.release_at(number)
        drawn = spectrum.simulate(
            spectrum.query.value(records(LIVER_MOMENTS)), np.random.default_rng(0), 40
        )
        eigenvalues = np.linalg.eigvalsh(drawn)
        assert eigenvalues.min() > -1e-12
        assert eigenvalues.max() <= spectrum.query.largest_norm * (1 + 1e-12)
    # Where all records are of full norm, the first smaller radius loses far more than noise.
    full, short = np.ones((6, 248)), 0.02 * np.ones((6, 248))
    steps = {
        name: radii(release, one, np.random.default_rng(0), 50) // 2
        for name, one in (("full", full), ("short", short))
    }
    assert steps["full"].max() <= 1
    assert steps["short"].mean() > steps["full"].mean() + 1


def turned(number):
    """Return by how much rounding of the moments turns eigenvectors of a release at epsilon 0.1."""
    release = AdaptiveCovariance().calibrate(LIVER_MOMENTS, epsilon=0.1, delta=1 / 248)
    _, spectrum = release.release_at(number)
    value = spectrum.query.value(records(LIVER_MOMENTS))
    rounded = value * (1 + 1e-15 * np.random.default_rng(5).choice([-1, 1], value.shape))
    first, second = (
        np.linalg.eigh(spectrum.simulate(moments, np.random.default_rng(0), 40))[1]
        for moments in (value, (rounded + rounded.T) / 2)
    )
    # Signs of eigenvectors are arbitrary.
    return np.abs(np.abs(first) - np.abs(second)).max()


def test_rounding_decides_no_eigenvector_of_the_adaptive_method(monkeypatch):
    for number in (0, 1):
        assert turned(number) < 1e-6
    # Where clipped eigenvalues are equal, it does.
    monkeypatch.setattr(adaptive, "SPREAD", 0.0)
    for number in (0, 1):
        assert turned(number) > 0.1


def test_the_search_has_the_noise_of_a_sparse_vector(monkeypatch):
    """Where every answer is -t, the first one passes if 4 L - 2 L' >= t epsilon."""
    release = AdaptiveCovariance().calibrate(LIVER_MOMENTS, epsilon=1, delta=1 / 248)
    below, traces, a, b, runs = 4.0, [], 4.0, 2.0, 20_000

    def expected(_, trace, steps):
        traces.append(trace)
        level = np.full(len(steps), below / release.search / 248)
        return level, 2 * level

    monkeypatch.setattr(type(release), "expected", expected)
    tiny = np.full((6, 248), 1e-30)
    stopped = (radii(release, tiny, np.random.default_rng(0), runs) == 0).mean()
    tail = (a**2 * np.exp(-below / a) - b**2 * np.exp(-below / b)) / (2 * (a**2 - b**2))
    assert stopped == pytest.approx(tail, abs=4 * np.sqrt(tail * (1 - tail) / runs))
    # The trace is clipped to at most 1 and at least 0: what is seen is the middle of its noise.
    half = np.full((6, 248), np.sqrt(0.5))
    strong = AdaptiveCovariance().calibrate(LIVER_MOMENTS, epsilon=300, delta=1 / 248)
    radii(strong, half, np.random.default_rng(0), 2000)
    centre = 0.5 + strong.trace_std * np.sqrt(2 * np.log(8 / FAILURE))
    white = (np.array(traces[-2000:]) - centre) / strong.trace_std
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


@dataclass(frozen=True)
class _Unclipped(ClippedMoments):
    def calibrate(self, query, *, epsilon, delta):
        release = super().calibrate(query, epsilon=epsilon, delta=delta)
        own = release.query
        return replace(release, query=Unclipped(own.domain, own.n_records, own.adjacency))


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "right"), [(ClippedMoments, True), (_Unclipped, False)])
def test_the_audit_of_an_experiment_replays_what_a_mechanism_clips(kind, right, monkeypatch):
    monkeypatch.setattr(study, "find_mechanism", lambda name: MechanismEntry(kind))

    def unchecked(mechanism, query, **budget):
        return mechanism.calibrate(query, **budget)

    # A query of another author with a smaller ball is refused at once; a replay finds it too.
    monkeypatch.setattr(study, "promised", unchecked)
    settings = Settings("x", seed=1, trials=1, epsilons=("1",))
    (row,) = experiment.run(
        "clipped", {"covariance": LIVER_MOMENTS}, settings, releases.Limits(3000)
    )
    assert row["verdict"].startswith("certified: tight" if right else "refuted: ")


def test_one_feature_is_refused():
    with pytest.raises(InputError, match="1 feature"):
        single = SecondMomentQuery(Box((0.0,), (1.0,)), 9)
        AdaptiveCovariance().calibrate(single, epsilon=1, delta=0.1)


def test_noise_is_that_of_the_ball_whose_squared_radius_is_the_share():
    release = ClippedMoments(1 / 16).calibrate(LIVER_MOMENTS, epsilon=1, delta=0.01)
    sigma = np.sqrt(2) * 6 / 16 / 248 / gaussian_dp.mu(1, 0.01)
    sizes = np.where(np.eye(release.query.features), sigma, sigma / np.sqrt(2))
    assert release.noise.size == pytest.approx(sizes, rel=1e-12)


def test_one_feature_cannot_turn_and_needs_less():
    line = SecondMomentQuery(Box((-1.0,), (1.0,)), 20)
    release = ClippedMoments(1 / 4).calibrate(line, epsilon=1, delta=0.01)
    assert release.noise.size[0, 0] == pytest.approx(0.25 / 20 / gaussian_dp.mu(1, 0.01), rel=1e-12)
    assert release.tight
    found = release.mu * releases.replayed(release, line, np.random.default_rng(0))
    assert found <= release.mu * (1 + 1e-9)


def test_a_share_of_one_is_the_ensemble_on_the_box():
    whole, ensemble = (
        one.calibrate(CTG_MOMENTS, **budget(CTG_MOMENTS)) for one in (ClippedMoments(1), Gaussian())
    )
    assert whole.noise_std == pytest.approx(ensemble.noise_std, rel=1e-12)
    # All records are in [0, 1]^m, where zeroing one is the worst: sqrt(2) less than in a ball.
    assert whole.noise.size[0, 0] == pytest.approx(
        21 / 2126 / gaussian_dp.mu(1, 1 / 2126), rel=1e-12
    )


def test_mu_is_a_bound_where_no_records_of_the_box_attain_it():
    narrow = SecondMomentQuery(Box((-1.0, -0.1), (1.0, 0.1)), 20)
    release = ClippedMoments(1 / 4).calibrate(narrow, epsilon=1, delta=0.01)
    assert not release.tight
    assert ClippedMoments(1 / 4).calibrate(LIVER_MOMENTS, epsilon=1, delta=0.01).tight
    far = SecondMomentQuery(Box((1.0, 1.0), (2.0, 2.0)), 20)
    assert not ClippedMoments(1 / 4).calibrate(far, epsilon=1, delta=0.01).tight
