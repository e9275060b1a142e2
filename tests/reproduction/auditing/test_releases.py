"""The audit passes what is right, refutes what is weakened, and says what it cannot do."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from mechanismqueries import LIVER_MOMENTS
from scipy import special

from matrixdp import library
from matrixdp.auditing import audit, releases
from matrixdp.auditing.audit import NO_SCALE, Finding, Scale
from matrixdp.auditing.blackbox import Proof
from matrixdp.checks import InputError
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise import distributions
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Box, RecordsQuery, SecondMomentQuery
from reproduction.auditing import direction, experiment
from reproduction.bingham import Bingham
from reproduction.experiments.study import Settings
from reproduction.mechanisms import wishart
from reproduction.mechanisms.allocation import Binary, MaxPNR
from reproduction.mechanisms.directional import AllocatedGaussian
from reproduction.mechanisms.directions import PrivateDirections
from reproduction.mechanisms.exponential import PPCA, KNorm
from reproduction.mechanisms.gaussian import IMGM, GaussianByEntry
from reproduction.mechanisms.jl import JohnsonLindenstrauss
from reproduction.mechanisms.mvg import MVG
from reproduction.privacy.published import CTG, LIVER, MOVEMENT

ROTATION = np.linalg.qr(np.vander(np.arange(1.0, 7)))[0]


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch):
    """Where the black box does not decide, it need not run for long."""
    monkeypatch.setattr(audit, "RUNS", 20_000)


def streams(seed=0):
    return np.random.default_rng(seed).spawn(6)


def judge(release):
    first, *others = streams()
    return releases.judge(releases.audit_of(release, first), others)


def judged(mechanism, query, **changes):
    release = mechanism.calibrate(query, epsilon=1.0, delta=1 / query.n_records)
    return judge(replace(release, **changes))


@pytest.mark.parametrize(
    ("mechanism", "query"),
    [
        (Gaussian(), LIVER),
        (IMGM(), LIVER),
        (AllocatedGaussian(allocation=Binary((0, 5), 0.95)), LIVER),
        (AllocatedGaussian(allocation=Binary((0, 5), 0.75), directions=ROTATION), LIVER),
        (AnalyzeGauss(), LIVER_MOMENTS),
        (Gaussian(), LIVER_MOMENTS),
        (DirectionalGaussian(), LIVER_MOMENTS),
        (Gaussian(), RecordsQuery(LIVER.domain, 248, "zero_out")),
        (JohnsonLindenstrauss(), LIVER_MOMENTS),
        (JohnsonLindenstrauss(), replace(LIVER_MOMENTS, adjacency="zero_out")),
        (Laplace(), LIVER),
        (Laplace(), LIVER_MOMENTS),
        (KNorm("record_l2"), LIVER),
        (KNorm("record_linf"), LIVER),
        (KNorm("frobenius"), LIVER),
        (PPCA(), MOVEMENT),
        (PPCA(), replace(MOVEMENT, adjacency="zero_out")),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_exactly_calibrated_mechanisms_are_private_and_tight(mechanism, query):
    row = judged(mechanism, query)
    assert row["verdict"] == "certified: tight"
    assert row["epsilon_attained"] == pytest.approx(1, rel=1e-3)
    assert row["epsilon_certified"] < 1
    assert row["epsilon_certified"] < row["epsilon_largest"]
    assert row["noise_inflation"] == pytest.approx(1, rel=1e-3)
    assert row["scale_high"] - row["scale_low"] < 0.1
    assert not row["note"]


@pytest.mark.parametrize(
    ("mechanism", "query", "noise_inflation"),
    [
        (MVG(), LIVER, 1790.9),
        (MVG(), CTG, 59252),
        (MVG(), MOVEMENT, 7053 * np.sqrt(1 + 1e-9)),
        (MVG(theorem=3), MOVEMENT, 144),
        (GaussianByEntry("2006"), LIVER, 3.523230 / 2.164230),
        (KNorm("record_linf", factor_two=True), LIVER, 2),
        (JohnsonLindenstrauss(calibration="2012"), LIVER_MOMENTS, 1487.27 / 2.741853 * 2),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_wasted_noise_is_measured(mechanism, query, noise_inflation):
    row = judged(mechanism, query)
    assert row["verdict"] == "certified: wasteful"
    assert row["noise_inflation"] == pytest.approx(noise_inflation, rel=3e-3)
    if np.isfinite(row["noise_std"]):
        assert row["rescaled_std"] == pytest.approx(row["noise_std"] / noise_inflation, rel=3e-3)


def weaker(release, factor=0.9):
    """The release with less noise in its distribution's numbers, and the same claims."""
    if isinstance(release.noise, Noise):
        return replace(release, noise=release.noise.times(factor))
    numbers = dict(vars(release.noise))
    for name in {"row_factor", "scale", "factor", "diagonal_std", "off_diagonal_std"} & {*numbers}:
        numbers[name] = factor * np.asarray(numbers[name])
    return replace(release, noise=type(release.noise)(**numbers))


@pytest.mark.parametrize(
    ("mechanism", "query"),
    [
        (Gaussian(), LIVER),
        (AllocatedGaussian(allocation=Binary((0, 5), 0.75)), LIVER),
        (AnalyzeGauss(), LIVER_MOMENTS),
        (Gaussian(), LIVER_MOMENTS),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_tenth_too_little_noise_is_refuted(mechanism, query):
    release = mechanism.calibrate(query, epsilon=1.0, delta=1 / query.n_records)
    # The audit is told of the noise that should be, and its runs are of the weaker one.
    first, *others = streams()
    audit = releases.audit_of(release, first)
    assert audit.needed is not None
    audit.release = weaker(release)
    row = releases.judge(audit, others)
    assert row["refuted"]
    assert row["scale"] == pytest.approx(0.9, abs=0.01)
    row = judge(weaker(release))
    assert row["verdict"].startswith("refuted")
    assert row["epsilon_attained"] > 1.08


def test_a_sampler_that_draws_too_little_is_found_whatever_the_curve_says():
    release = Laplace().calibrate(LIVER, epsilon=1.0)
    audit = releases.audit_of(release, streams()[0])
    audit.release = weaker(release)
    row = releases.judge(audit, streams()[1:])
    assert row["verdict"] == "refuted: less noise is drawn than declared"
    assert row["scale"] == pytest.approx(0.9, abs=0.01)


def test_noise_for_smaller_records_is_seen_by_replays():
    wide = replace(LIVER, domain=Box.cube(6, -1.1, 1.1))
    release = replace(Gaussian().calibrate(LIVER, epsilon=1.0, delta=1 / 248), query=wide)
    generators = np.random.default_rng(0).spawn(7)
    row = releases.judge_release(release, wide, generators, releases.Limits(runs=500))
    assert row["verdict"] == releases.REPLAYED
    assert row["replayed"] == pytest.approx(1.1)


def test_a_sketch_is_bounded_for_neighbours_that_its_box_may_not_have():
    """In [0, 1]^4 no two records of full norm are orthogonal: only removal is attained."""
    row = judged(JohnsonLindenstrauss(), SecondMomentQuery(Box.cube(4, 0, 1), 248))
    assert row["verdict"] == "certified"
    assert row["epsilon_bound"] == pytest.approx(1, rel=1e-6)
    assert row["epsilon_attained"] < 0.9


def test_directional_noise_between_what_is_attained_and_what_is_proved():
    """Second moments along other directions than features: the supremum is bounded only."""
    rotation = np.linalg.qr(np.vander(np.arange(1.0, 5)))[0]
    mechanism = AllocatedGaussian(allocation=Binary((0,), 0.95), directions=rotation)
    row = judged(mechanism, replace(MOVEMENT, n_records=248))
    assert row["verdict"] == "certified"
    assert row["epsilon_attained"] < 0.99
    assert row["epsilon_bound"] == pytest.approx(1)


@pytest.mark.parametrize("tau", [0.75, 0.95])
def test_directional_noise_of_shares_that_cannot_be_halved_is_tight(tau):
    """The worst y' = (a, -1, -1, -1) sqrt(b) lies inside the box; it spends all of epsilon."""
    query = replace(MOVEMENT, n_records=248)
    release = AllocatedGaussian(allocation=Binary((0,), tau)).calibrate(
        query, epsilon=1.0, delta=1 / 248
    )
    row = judge(release)
    assert row["verdict"] == "certified: tight"
    assert row["epsilon_attained"] == pytest.approx(1, rel=1e-6)
    rest, a = 1 - tau, np.linspace(0, 1, 100_001)
    best = (1 + (tau * a**2 + rest) ** 2 - 2 * (tau * a - rest) ** 2).max()
    unit = 1 / 248 / gaussian_dp.mu(1.0, 1 / 248)
    assert release.noise.size[0, 0] == pytest.approx(np.sqrt(best) * unit / tau, rel=1e-6)


def test_private_directions_are_judged_by_composition():
    mechanism = MVG(allocation=MaxPNR(), directions=PrivateDirections())
    release = mechanism.calibrate(LIVER, epsilon=1.0, delta=1 / 248)
    row = judge(release)
    assert row["tool"] == "composition"
    assert row["verdict"] == "certified: wasteful"
    assert row["epsilon_bound"] == pytest.approx(release.epsilon_delivered, rel=1e-6)
    moments = weaker(release.moments, 0.05)
    weak = judge(replace(release, moments=moments))
    # The replay of its parts proves it; a bound above epsilon alone would be undecided.
    assert weak["verdict"] == releases.REPLAYED
    assert weak["epsilon_bound"] > 1


class Unknown(CalibratedMechanism):
    def _draw(self, value, generator, count):
        return value + generator.standard_normal((count, *value.shape[-2:])) * self.noise_std


def test_a_class_of_the_project_without_an_audit_is_refused(monkeypatch):
    query = RecordsQuery(Box.cube(2, -1, 1), 3)
    release = Unknown(query=query, epsilon=1.0, delta=0.0, epsilon_delivered=1.0, noise_std=1.0)
    monkeypatch.setattr(library, "MODULES", library.MODULES | {__name__})
    with pytest.raises(InputError, match="class Unknown has no audit"):
        releases.audit_of(release, streams()[0])


class Uniform(distributions.NoiseDistribution):
    """Uniform numbers."""

    def __init__(self, shape):
        object.__setattr__(self, "shape", shape)

    def sample(self, generator, count):
        return generator.uniform(-3, 3, (count, *self.shape))


def test_noise_of_no_known_density_has_no_audit_but_that_of_a_function():
    release = Laplace().calibrate(LIVER_MOMENTS, epsilon=1.0)
    release = replace(release, noise=Uniform(LIVER_MOMENTS.shape))
    with pytest.raises(InputError, match="has no audit"):
        releases.audit_of(release, streams()[0])


def test_a_release_of_the_wishart_mechanism_does_what_its_neighbour_cannot():
    """Without a record it is below the value with it as often as the closed form says."""
    release = wishart.calibrate_wishart(LIVER_MOMENTS, 1.0)
    record = np.ones(6)
    drawn = release.noise.sample(np.random.default_rng(0), 20_000)
    below = np.linalg.eigvalsh(drawn - np.outer(record, record) / 248)[:, 0] < 0
    assert below.mean() == pytest.approx(wishart.disclosure_probability(1.0), abs=0.01)
    assert (np.linalg.eigvalsh(drawn)[:, 0] > 0).all()


def test_every_row_states_a_power_of_one_percent():
    for mechanism, query in ((Gaussian(), LIVER), (Laplace(), LIVER), (Gaussian(), LIVER_MOMENTS)):
        row = judged(mechanism, query)
        assert 0 < row["detectable_effect"] < 0.01
        assert row["real_scale"] == pytest.approx(1, abs=0.01)


def test_too_few_runs_are_said_so(monkeypatch):
    monkeypatch.setattr(audit, "MOST", 6 * 20_000)
    row = judged(Gaussian(), LIVER)
    assert 10_000 < row["runs"] <= 20_000
    assert row["note"].startswith("20000 runs are too few for the black box to reject a tenth")
    assert "of them certify epsilon 0." in row["note"]


OTHER_LAW = Scale(1.0, 0.9, 1.1, another_distribution=True)


class Attained(NamedTuple):
    """What an audit attains and proves, as its verdict reads it."""

    attained: float = 0.5
    bound: float = 0.5
    noise_inflation: float = 2.0
    proven: bool = True
    tool: str = "exact curve"
    words: str = ""


@pytest.mark.parametrize(
    ("audit", "scale", "finding", "words"),
    [
        (Attained(), NO_SCALE, None, "certified: wasteful"),
        (Attained(noise_inflation=1.0), NO_SCALE, None, "certified"),
        (Attained(proven=False), NO_SCALE, None, "not refuted"),
        (Attained(1.0, 1.0), NO_SCALE, None, "certified: tight"),
        (Attained(1.001), NO_SCALE, None, "refuted: the exact curve shows it"),
        (Attained(bound=np.nan), NO_SCALE, None, "not refuted: the bound is above"),
        (Attained(), Scale(1.2, 0.9, 1.1), None, "not refuted: more noise is drawn"),
        (Attained(), Scale(0.8, 0.9, 1.1), None, "refuted: less noise is drawn"),
        (Attained(), OTHER_LAW, None, "not refuted: the noise has another"),
        (Attained(), NO_SCALE, Finding(0.0, 1.0), "certified: wasteful"),
        (Attained(), NO_SCALE, Finding(0.1, 1.0), releases.UNDECLARED),
        (Attained(), NO_SCALE, Finding(0.0, 1.01), releases.REPLAYED),
    ],
)
def test_a_verdict_has_the_first_words_that_apply(audit, scale, finding, words):
    proof = Proof(epsilon=0.4, largest=5.0, runs=100, limit=100, refuted=False)
    # Simulated noise or real noise.
    for scales in ([scale, NO_SCALE], [NO_SCALE, scale]):
        assert releases.verdict(1.0, audit, scales, finding, proof).startswith(words)
        refuted = releases.verdict(1.0, audit, scales, finding, proof._replace(refuted=True))
        assert refuted == "refuted: the black box proves it"


def test_limits_bound_the_runs_of_the_black_box():
    release = PrivateDirections().calibrate(LIVER, epsilon=1, delta=1e-3)
    first, *others = streams()
    audit = releases.audit_of(release, first)
    numbers = releases.Limits(numbers=500 * int(audit.reads))
    limits = [releases.NO_LIMITS, releases.Limits(runs=700), numbers, numbers._replace(runs=300)]
    assert [each.runs_of(audit) for each in limits] == [audit.runs, 700, 500, 300]
    assert releases.Limits(numbers=1).runs_of(audit) == 1
    assert releases.judge(audit, others, numbers)["runs"] <= 500


def test_an_unknown_mechanism_is_named():
    settings = Settings(experiment="regression", seed=1, trials=1, epsilons=("1",))
    with pytest.raises(InputError, match="mechanism is 'pcca'; did you mean 'ppca'"):
        experiment.run("pcca", {"identity": LIVER}, settings)


def test_every_variant_has_a_row_and_the_same_seed_gives_the_same_rows():
    settings = Settings(
        experiment="regression",
        seed=1,
        trials=1,
        epsilons=("1", "10"),
        directions={"a": (0,), "iid": ()},
        grids={"taus": ("0.55", "0.95")},
    )
    queries = {"identity": LIVER, "covariance": LIVER_MOMENTS}
    first, again = (experiment.run("mvg_binary", queries, settings) for _ in range(2))
    pd.testing.assert_frame_equal(pd.DataFrame(first), pd.DataFrame(again), rtol=1e-9)
    assert {name for row in first for name in row} == {*experiment.COLUMNS}
    assert len(first) == 6
    other = experiment.run("mvg_binary", queries, replace(settings, seed=2))
    assert all(row["scale"] != before["scale"] for row, before in zip(other, first, strict=True))
    classical = experiment.run("gaussian_2014", queries, settings)
    assert [row["verdict"] for row in classical] == [
        "certified: wasteful",
        "not run: no guarantee",
    ]
    assert "use a smaller epsilon" in classical[1]["note"]
    assert experiment.run("ppca", {"identity": LIVER}, settings) == []


def test_the_loss_of_a_direction_counts_every_other_record():
    """Three records of norm 2: x, y, y against y, y, y; at v along x, over the sphere of R^4."""
    release = PPCA().calibrate(SecondMomentQuery(Box.cube(4, -1, 1), 3), epsilon=6.0)
    rate = 4 * release.kappa / 3
    v = np.random.default_rng(0).standard_normal((1_000_000, 4))
    y, x = (v[:, :2] ** 2 / (v**2).sum(axis=1, keepdims=True)).T
    normalisers = [np.exp(rate * exponent).mean() for exponent in (3 * y, 2 * y + x)]
    loss = rate + np.log(normalisers[0] / normalisers[1])
    assert releases.audit_of(release, streams()[0]).attained == pytest.approx(loss, rel=5e-3)


def test_the_normaliser_of_the_bingham_distribution():
    """On the circle E v_2^2 = 1/2 - I1(k/2) / (2 I0(k/2)) for the density exp(k v_1^2)."""
    assert direction.mean_spread(1.0, 2) == pytest.approx(0.378750, abs=1e-6)
    assert direction.mean_spread(10.0, 2) == pytest.approx(0.0533084, abs=1e-7)
    assert direction.mean_spread(1e4, 4) == pytest.approx(1.5e-4, rel=1e-3)
    assert direction.log_normaliser(2.0, 0.0, 5) == pytest.approx(
        np.log(special.hyp1f1(0.5, 2.5, 2))
    )
    assert direction.log_normaliser(2.0, 2.0, 5) == pytest.approx(np.log(special.hyp1f1(1, 2.5, 2)))
    assert direction.log_normaliser(0.0, 3.0, 4) == pytest.approx(
        direction.log_normaliser(3.0, 0.0, 4)
    )


def test_limits_on_the_mean_spread_hold_without_a_normal_approximation():
    """Two draws at an error of one half: the limits of Chernoff are met at most that often."""
    stream = np.random.default_rng(0)
    form = np.diag([3.0, 0, 0])
    drawn = Bingham(form).sample([stream] * 40_000)
    means = (1 - drawn[:, 0] ** 2).reshape(-1, 2).mean(axis=1)
    low, high = direction.mean_limits(3.0, 3, 2, 0.5)
    assert low < direction.mean_spread(3.0, 3) < high
    assert np.mean(means < low) <= 0.25
    assert np.mean(means > high) <= 0.25
    # With many draws they approach those of the normal approximation, 1 + 4.89 sqrt(2 / 3 / n).
    low, high = direction.mean_limits(500.0, 4, 50_000, 1e-6)
    expected = direction.mean_spread(500.0, 4)
    assert high / expected - 1 == pytest.approx(0.0198, abs=2e-3)
    assert 1 - low / expected == pytest.approx(0.0196, abs=2e-3)
