"""What another author's class declares is computed, attained or refused; none stops the audit."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from matrixdp.auditing import base, declarations, releases, status, whiteness
from matrixdp.auditing.foreign import WhitenedGaussianAudit, WhitenedLaplaceAudit
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import AdditiveGaussian, AdditiveMechanism
from matrixdp.mechanisms.gaussian import GOE, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.noise import distributions
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Box, IdentityQuery, SecondMomentQuery
from reproduction import discovery
from reproduction.auditing import experiment
from reproduction.experiments import study
from reproduction.experiments.study import Settings
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.generalized_gamma import SphericalGamma

RECORDS = IdentityQuery(Box.cube(3, -1, 1), 20)
MOMENTS = SecondMomentQuery(Box.cube(3, -1, 1), 20)
RELEASE = Gaussian().calibrate(RECORDS, epsilon=1.0, delta=0.01)
LIMITS = releases.Limits(runs=2000)


@dataclass(frozen=True, eq=False)
class Plain(distributions.GaussianDistribution):
    """Independent entries, in what an author must write at least."""

    std: float
    identical_columns = True

    def whiten(self, z):
        return (z / self.std).reshape(*z.shape[:-2], -1)

    def colour(self, white):
        return self.std * white.reshape(self.shape)


class OneByOne(Plain):
    """Whitens no stacks."""

    def whiten(self, z):
        assert z.ndim == 2
        return np.ravel(z / self.std)


class LessInOneColumn(Plain):
    """Its last column has a third of the noise, which whiten tells."""

    def _deviations(self):
        return np.where(np.arange(self.shape[1]) == self.shape[1] - 1, self.std / 3, self.std)

    def whiten(self, z):
        return (z / self._deviations()).reshape(*z.shape[:-2], -1)

    def colour(self, white):
        return white.reshape(self.shape) * self._deviations()


def judged(release, limits=LIMITS):
    streams = np.random.default_rng(0).spawn(6)
    return releases.judge(releases.audit_of(release, streams[0]), streams[1:], limits)


@pytest.mark.parametrize("kind", [Plain, OneByOne])
def test_a_correct_class_of_another_author_is_tested_and_says_what_is_not_seen(kind):
    row = judged(replace(RELEASE, noise=kind(RECORDS.shape, RELEASE.noise_std)))
    assert row["verdict"] == "tested: tight"
    assert row["epsilon_attained"] == pytest.approx(1, rel=1e-6)
    assert "no cut far out, no noise of few digits" in row["note"]


def test_one_column_with_less_noise_is_searched_for():
    release = replace(RELEASE, noise=LessInOneColumn(RECORDS.shape, RELEASE.noise_std))
    audit = releases.audit_of(release, np.random.default_rng(0))
    assert type(audit) is WhitenedGaussianAudit
    assert audit.mu == pytest.approx(3 * RELEASE.mu)
    assert judged(release)["verdict"].startswith("refuted")


class Tripled(distributions.LaplaceNoise):
    """Whitens by three scales, and colours by one."""

    def whiten(self, z):
        return np.ravel(z / (3 * self.scale))

    def colour(self, white):
        return 3 * self.scale * white.reshape(self.shape)


def test_laplace_noise_is_judged_by_its_own_unit():
    release = Laplace().calibrate(RECORDS, epsilon=1.0)
    noise = Tripled(RECORDS.shape, release.noise.scale)
    right = replace(release, noise=noise, noise_std=3 * release.noise_std)
    audit = releases.audit_of(right, np.random.default_rng(0))
    assert type(audit) is WhitenedLaplaceAudit
    assert audit.attained == pytest.approx(1 / 3)
    few = replace(noise, scale=noise.scale / 6)
    wrong = replace(right, noise=few, noise_std=right.noise_std / 6)
    assert judged(wrong)["verdict"].startswith("refuted")


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"epsilon_delivered": 0.01}, "refuted: it declares epsilon 0.01 and attains 1"),
        ({"epsilon_delivered": 0.99}, "refuted: it declares epsilon 0.99 and attains 1"),
        ({"mu": RELEASE.mu / 10}, "refuted: it declares mu 0.0533 and attains 0.533"),
        ({"noise_std": RELEASE.noise_std / 10}, "refuted: it declares noise of"),
        ({"noise_std": RELEASE.noise_std * 2}, "declared: it declares noise of"),
        ({"epsilon": 2.0, "epsilon_delivered": 2.0}, "certified: wasteful"),
    ],
)
@pytest.mark.parametrize("foreign", [False, True])
def test_what_is_declared_is_held_to_what_is_attained(changes, verdict, foreign):
    noise = Plain(RECORDS.shape, RELEASE.noise_std) if foreign else RELEASE.noise
    row = judged(replace(RELEASE, noise=noise, **changes))
    word = verdict.replace("certified", "tested") if foreign else verdict
    assert row["verdict"].startswith(word)


PURE = {"epsilon": 1.0, "delta": 0.0, "epsilon_delivered": 1.0}


@pytest.mark.parametrize(
    "release",
    [
        replace(RELEASE, **PURE),
        replace(RELEASE, noise=Plain(RECORDS.shape, 5.0), **PURE),
        replace(GOE().calibrate(MOMENTS, epsilon=1.0, delta=0.01), **PURE),
        AdditiveMechanism(query=RECORDS, noise=RELEASE.noise, **PURE),
    ],
)
def test_a_pure_claim_with_gaussian_noise_is_refuted_by_name(release):
    row = judged(release)
    assert row["verdict"] == "refuted: Gaussian noise has no pure guarantee"
    assert row["epsilon_attained"] == np.inf


def test_a_pure_claim_with_generalized_gamma_noise_has_no_bound():
    release = SphericalGamma(1.25).calibrate(RECORDS, epsilon=1.0, delta=0.01)
    row = judged(replace(release, **PURE))
    assert row["verdict"].startswith("refuted")
    assert row["epsilon_attained"] == np.inf


class SharedEntry(AdditiveGaussian):
    """Draws for itself: the second entry has the noise of the first one."""

    def _draw(self, value, streams):
        noise = self.noise.sample(streams)
        noise[:, 1] = noise[:, 0]
        return value + noise


class Same(AdditiveGaussian):
    def _draw(self, value, streams):
        return value + self.noise.sample(streams)


def test_what_a_release_draws_itself_is_tested_in_all_directions():
    wrong = SharedEntry(**vars(RELEASE))
    assert judged(wrong)["verdict"].startswith("refuted")
    streams = np.random.default_rng(0).spawn(2)
    (flaw,) = releases.audit_of(wrong, streams[0]).flaws(streams[1])
    assert flaw == "refuted: entries share noise that is declared independent"
    assert judged(Same(**vars(RELEASE)))["verdict"] == "tested: tight"


class ExactEntry(distributions.ColumnL2Exponential):
    """Without noise on the first row; the others have all of the radius."""

    def _fill(self, stream, trial):
        trial[0] = 0
        stream.standard_normal(out=trial[1:])
        distributions.scale_columns(
            trial, self.scale * stream.standard_gamma(3, size=self.shape[1])
        )


def test_knorm_noise_of_another_author_is_tested_by_its_directions():
    release = Laplace().calibrate(RECORDS, epsilon=1.0)
    scale = RECORDS.l2_sensitivity
    changes = {"noise_std": float("nan"), "epsilon_delivered": 1.0}
    wrong = replace(release, noise=ExactEntry(RECORDS.shape, scale), **changes)
    assert judged(wrong)["verdict"].startswith("refuted")
    right = replace(
        release, noise=distributions.ColumnL2Exponential(RECORDS.shape, scale), **changes
    )
    assert judged(right)["verdict"] == "certified: tight"


@dataclass(frozen=True)
class Raising(Gaussian):
    def calibrate(self, query, *, epsilon, delta):
        raise ZeroDivisionError("no such thing")


class BadColour(Plain):
    def colour(self, white):
        raise KeyError("std")


@dataclass(frozen=True)
class BadlyColoured(Gaussian):
    def calibrate(self, query, *, epsilon, delta):
        release = super().calibrate(query, epsilon=epsilon, delta=delta)
        return replace(release, noise=BadColour(query.shape, release.noise_std))


@dataclass(frozen=True)
class Generous(Gaussian):
    def calibrate(self, query, *, epsilon, delta):
        return super().calibrate(query, epsilon=3 * epsilon, delta=delta)


def audited(monkeypatch, mechanism):
    monkeypatch.setattr(discovery, "mechanisms", lambda: {"mine": None})
    monkeypatch.setattr(study, "find", lambda _: MechanismEntry(lambda: mechanism))
    settings = Settings(experiment="mine", seed=1, trials=1, epsilons=("1",), delta=0.01)
    (row,) = experiment.run("mine", {"identity": RECORDS}, settings, LIMITS)
    return row


@pytest.mark.parametrize(
    ("mechanism", "verdict"),
    [
        (Raising(), "not run: ZeroDivisionError: no such thing"),
        (BadlyColoured(), "not run: KeyError: 'std'"),
        (Generous(), "refuted: it promises less than what is asked"),
        (Gaussian(), "certified: tight"),
    ],
)
def test_a_mechanism_that_fails_is_a_row_and_no_pass(mechanism, verdict, monkeypatch):
    row = audited(monkeypatch, mechanism)
    assert row["verdict"] == verdict
    expected = {"refuted": status.REFUTED, "not run": status.DECLARED}
    words = next((word for word in expected if verdict.startswith(word)), "")
    assert status.of(row["verdict"]) == expected.get(words, status.CERTIFIED)


def test_honest_releases_raise_no_false_alarm_in_twenty_seeds(monkeypatch):
    """The errors of all tests of a run are below one in a thousand together."""
    monkeypatch.setattr(base, "NUMBERS", 20_000)
    monkeypatch.setattr(whiteness, "NUMBERS", 50_000)
    honest = [
        RELEASE,
        GOE().calibrate(MOMENTS, epsilon=1.0, delta=0.01),
        Laplace().calibrate(RECORDS, epsilon=1.0),
        Same(**vars(RELEASE)),
        replace(RELEASE, noise=Plain(RECORDS.shape, RELEASE.noise_std)),
    ]
    for seed in range(20):
        for release in honest:
            streams = np.random.default_rng(seed).spawn(6)
            audit = releases.audit_of(release, streams[0])
            row = releases.judge(audit, streams[1:], releases.Limits(runs=500))
            assert status.of(row["verdict"]) in {status.CERTIFIED, status.TESTED}


def test_the_bound_that_certifies_is_not_what_the_release_declares():
    """A release that declares a smaller mu than its noise has is not certified by it."""
    less = replace(RELEASE.noise, row_factor=RELEASE.noise_std * 0.9)
    release = replace(RELEASE, noise=less, noise_std=RELEASE.noise_std * 0.9)
    audit = releases.audit_of(release, np.random.default_rng(0))
    assert not audit.proven
    assert audit.attained > gaussian.epsilon(0.01, RELEASE.mu)


def test_a_query_of_another_author_proves_nothing():
    class Halved(IdentityQuery):
        @property
        def l2_sensitivity(self):
            return super().l2_sensitivity / 2

    query = Halved(RECORDS.domain, 20)
    audit = releases.audit_of(replace(RELEASE, query=query), np.random.default_rng(0))
    assert not audit.proven


class Changing:
    """It looks like a number, and is another one each time."""

    def __init__(self):
        self.reads = 0

    def __array__(self, dtype=None, copy=None):
        self.reads += 1
        return np.array(RELEASE.noise_std * (1 if self.reads < 100 else 0.01))


def test_noise_of_other_objects_than_arrays_is_not_certified():
    noise = distributions.MatrixNormal(RECORDS.shape, Changing())
    audit = releases.audit_of(replace(RELEASE, noise=noise), np.random.default_rng(0))
    assert not audit.proven


def test_noise_that_columns_share_is_refused():
    """An array of one column would be added to all of them."""
    narrow = distributions.MatrixNormal((3, 1), RELEASE.noise_std)
    release = replace(RELEASE, noise=narrow)
    with pytest.raises(InputError, match=r"noise has shape \(3, 1\) for a value of shape"):
        list(release.simulate_all([np.zeros((3, 20))], lambda: [np.random.default_rng(0)]))
    audit = releases.audit_of(release, np.random.default_rng(0))
    assert not audit.proven
    (flaw,) = declarations.flaws(audit, np.random.default_rng(0))
    assert flaw == "refuted: its noise has shape (3, 1) for a value of shape (3, 20)"
