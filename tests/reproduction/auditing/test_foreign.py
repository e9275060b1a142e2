"""What another author's class declares is attained or refuted; none stops the audit."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from matrixdp import status
from matrixdp.auditing import declarations, releases
from matrixdp.auditing.audit import OTHER_LAW
from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveGaussian, AdditiveMechanism
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.mechanism import Budget
from matrixdp.mechanisms.programs import Part, Program
from matrixdp.noise import distributions
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Box, MeanQuery, RecordsQuery, SecondMomentQuery
from reproduction import discovery
from reproduction.auditing import experiment
from reproduction.experiments import study
from reproduction.experiments.study import Settings
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.generalized_gamma import SphericalGamma
from reproduction.mechanisms.noise import MatrixNormal

RECORDS = RecordsQuery(Box.cube(3, -1, 1), 20)
MOMENTS = SecondMomentQuery(Box.cube(3, -1, 1), 20)
RELEASE = Gaussian().calibrate(RECORDS, epsilon=1.0, delta=0.01)
LIMITS = releases.Limits(runs=500)


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


class BadColour(Plain):
    def colour(self, white):
        raise KeyError("std")


class Verbatim(AdditiveGaussian):
    """Its real release is the records."""

    def release(self, records):
        return np.asarray(records)


class LessRealNoise(AdditiveGaussian):
    """Its real noise is a hundredth less than what it simulates."""

    def add_noise(self, value, bits):
        return value + 0.99 * (super().add_noise(value, bits) - value)


def judged(release, **limits):
    generators = np.random.default_rng(0).spawn(7)
    return releases.judge_release(release, release.query, generators, LIMITS._replace(**limits))


def test_an_honest_class_of_another_author_is_not_refuted_and_says_what_is_not_seen():
    row = judged(replace(RELEASE, noise=OneByOne(RECORDS.shape, RELEASE.noise_std)))
    assert row["verdict"] == "not refuted"
    assert 0.3 < row["epsilon_attained"] <= 1 + 1e-9
    assert "neighbours that were not tried" in row["note"]


@pytest.mark.parametrize("kind", [Verbatim, LessRealNoise])
def test_a_class_whose_real_release_is_wrong_is_refuted(kind):
    assert judged(kind(**vars(RELEASE)))["verdict"].startswith("refuted")


class Own(AdditiveGaussian):
    """A class of another author, whose records are refused: its noise alone is looked at."""

    def release(self, records):
        raise InputError("no records are taken")


class RealLaplace(Own):
    """Its real noise is of another law, and far larger than what it simulates."""

    def add_noise(self, value, bits):
        generator = np.random.default_rng(int.from_bytes(bits(8), "little"))
        return value + generator.laplace(scale=3 * self.noise_std, size=value.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoMeans(Program):
    """It declares two noisy means, and shows the mean of both, or the first one alone."""

    means: tuple[AdditiveGaussian, AdditiveGaussian]
    shown: int

    @property
    def parts(self):
        return [Part(f"mean {k}", (mean,)) for k, mean in enumerate(self.means)]

    def run(self, records, ask):
        answers = [ask(mean, records.value(mean.query)) for mean in self.means]
        return np.mean(answers[: self.shown], axis=0)


def two_means(shown):
    query = MeanQuery(Box.cube(2, -1, 1), 20)
    mean = Gaussian().calibrate(query, epsilon=0.5, delta=0.01)
    mu = float(np.hypot(mean.mu, mean.mu))
    budget = Budget(gaussian_dp.epsilon(0.01, mu) * (1 + 1e-9), 0.01)
    return TwoMeans.from_mu(mu, budget, query=query, means=(mean, mean), shown=shown)


@pytest.mark.parametrize(
    ("release", "verdict"),
    [
        (RealLaplace(**vars(RELEASE)), OTHER_LAW),
        (Own(**vars(RELEASE)), "not refuted"),
        (two_means(1), releases.UNDECLARED),
        (two_means(2), "not refuted"),
    ],
)
def test_what_is_drawn_otherwise_than_declared_is_said_of_any_class(release, verdict):
    assert judged(release, runs=200, pairs=2)["verdict"] == verdict


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"epsilon_delivered": 0.01}, "refuted: it declares epsilon 0.01 and attains 1"),
        ({"epsilon_delivered": 0.99}, "refuted: it declares epsilon 0.99 and attains 1"),
        ({"mu": RELEASE.mu / 10}, "refuted: "),
        ({"noise_std": RELEASE.noise_std / 10}, "refuted: it declares noise of"),
        ({"noise_std": RELEASE.noise_std * 2}, "not refuted: it declares noise of"),
        ({"epsilon": 2.0, "epsilon_delivered": 2.0}, "certified: wasteful"),
    ],
)
def test_what_is_declared_is_held_to_what_is_attained(changes, verdict):
    assert judged(replace(RELEASE, **changes))["verdict"].startswith(verdict)


PURE = {"epsilon": 1.0, "delta": 0.0, "epsilon_delivered": 1.0}


@pytest.mark.parametrize(
    "release",
    [
        replace(RELEASE, **PURE),
        replace(Gaussian().calibrate(MOMENTS, epsilon=1.0, delta=0.01), **PURE),
        AdditiveMechanism(query=RECORDS, noise=RELEASE.noise, **PURE),
        replace(SphericalGamma(1.25).calibrate(RECORDS, epsilon=1.0, delta=0.01), **PURE),
    ],
)
def test_a_pure_claim_for_noise_of_unbounded_loss_is_refuted(release):
    row = judged(release)
    assert row["verdict"].startswith("refuted")
    assert row["epsilon_attained"] == np.inf


@dataclass(frozen=True)
class Raising(Gaussian):
    def calibrate(self, query, *, epsilon, delta):
        raise ZeroDivisionError("no such thing")


@dataclass(frozen=True)
class BadlyColoured(Gaussian):
    def calibrate(self, query, *, epsilon, delta):
        release = super().calibrate(query, epsilon=epsilon, delta=delta)
        return replace(release, noise=BadColour(query.shape, release.noise_std))


@dataclass(frozen=True)
class Generous(Gaussian):
    def calibrate(self, query, *, epsilon, delta):
        return super().calibrate(query, epsilon=3 * epsilon, delta=delta)


@pytest.mark.parametrize(
    ("mechanism", "verdict", "word"),
    [
        (Raising(), "not run: ZeroDivisionError: no such thing", status.DECLARED),
        (BadlyColoured(), "not run: InputError: the function raises an error", status.DECLARED),
        (Generous(), "refuted: it promises less than what is asked", status.REFUTED),
        (Gaussian(), "certified: tight", status.CERTIFIED),
    ],
)
def test_a_mechanism_that_fails_is_a_row_and_no_pass(mechanism, verdict, word, monkeypatch):
    monkeypatch.setattr(discovery, "mechanisms", lambda: {"mine": None})
    monkeypatch.setattr(study, "find_mechanism", lambda _: MechanismEntry(lambda: mechanism))
    settings = Settings(experiment="mine", seed=1, trials=1, epsilons=("1",), delta=0.01)
    (row,) = experiment.run("mine", {"identity": RECORDS}, settings, LIMITS)
    assert row["verdict"].startswith(verdict)
    assert row["status"] == word


def audited(**changes):
    return releases.audit_of(replace(RELEASE, **changes), np.random.default_rng(0))


def test_the_bound_that_certifies_is_not_what_the_release_declares():
    """A release that declares a smaller mu than its noise has is not certified by it."""
    std = 0.9 * RELEASE.noise_std
    audit = audited(noise=RELEASE.noise.times(std / RELEASE.noise_std), noise_std=std)
    assert not audit.proven
    assert audit.attained > gaussian_dp.epsilon(0.01, RELEASE.mu)


def test_a_query_of_another_author_proves_nothing():
    class Halved(RecordsQuery):
        @property
        def l2_sensitivity(self):
            return super().l2_sensitivity / 2

    assert not audited(query=Halved(RECORDS.domain, 20)).proven


def test_noise_that_columns_share_is_refused():
    """An array of one column would be added to all of them."""
    narrow = MatrixNormal((3, 1), RELEASE.noise_std)
    release = replace(RELEASE, noise=narrow)
    with pytest.raises(InputError, match=r"noise has shape \(3, 1\) for a value of shape"):
        release.simulate(np.zeros((3, 20)), np.random.default_rng(0), 1)
    audit = audited(noise=narrow)
    assert not audit.proven
    (flaw,) = declarations.flaws(audit, np.random.default_rng(0))
    assert flaw == "refuted: its noise has shape (3, 1) for a value of shape (3, 20)"
