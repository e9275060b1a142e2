"""What another author's class declares is computed, attained or refused; none stops the audit."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from matrixdp.auditing import declarations, releases, status
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


class LessInOneColumn(Plain):
    """Its last column has a third of the noise, which whiten tells."""

    def _deviations(self):
        return np.where(np.arange(self.shape[1]) == self.shape[1] - 1, self.std / 3, self.std)

    def whiten(self, z):
        return (z / self._deviations()).reshape(*z.shape[:-2], -1)

    def colour(self, white):
        return white.reshape(self.shape) * self._deviations()


def judged(release, limits=LIMITS):
    return releases.judge_release(release, release.query, np.random.default_rng(0).spawn(7), limits)


class Tripled(distributions.LaplaceNoise):
    """Whitens by three scales, and colours by one."""

    def whiten(self, z):
        return np.ravel(z / (3 * self.scale))

    def colour(self, white):
        return 3 * self.scale * white.reshape(self.shape)


class ShortSampler(Plain):
    """Its own sampler, which no release uses, draws a fiftieth less."""

    def _draw(self, streams, stack):
        super()._draw(streams, stack)
        stack *= 0.98


@dataclass(frozen=True, kw_only=True)
class Same(AdditiveGaussian):
    """Draws for itself."""

    def _draw(self, value, streams):
        return value + self.noise.sample(streams)


class SharedEntry(AdditiveGaussian):
    """The second entry has the noise of the first one."""

    def _draw(self, value, streams):
        noise = self.noise.sample(streams)
        noise[:, 1] = noise[:, 0]
        return value + noise


class Verbatim(AdditiveGaussian):
    """Its real release is the records."""

    def release(self, records):
        return np.asarray(records)


class HalfFactor(AdditiveGaussian):
    """Its real noise is half of what it simulates."""

    @property
    def rounding_factor(self):
        return super().rounding_factor / 2


LAPLACE = Laplace().calibrate(RECORDS, epsilon=1.0)


def of_noise(kind):
    return replace(RELEASE, noise=kind(RECORDS.shape, RELEASE.noise_std))


def of_laplace(scale):
    std = float(np.sqrt(2)) * 3 * scale
    return replace(LAPLACE, noise=Tripled(RECORDS.shape, scale), noise_std=std)


@pytest.mark.parametrize(
    "release",
    [of_noise(Plain), of_noise(OneByOne), Same(**vars(RELEASE)), of_laplace(LAPLACE.noise.scale)],
)
def test_a_right_class_of_another_author_is_not_refuted_and_says_what_is_not_seen(release):
    row = judged(release)
    assert row["verdict"] == "not refuted"
    assert 0.3 < row["epsilon_attained"] <= 1 + 1e-9
    assert "neighbours that were not tried" in row["note"]


@pytest.mark.parametrize(
    "release",
    [
        of_noise(LessInOneColumn),
        of_noise(ShortSampler),
        SharedEntry(**vars(RELEASE)),
        Verbatim(**vars(RELEASE)),
        HalfFactor(**vars(RELEASE)),
        of_laplace(LAPLACE.noise.scale / 6),
    ],
)
def test_a_wrong_class_of_another_author_is_refuted(release):
    assert judged(release)["verdict"].startswith("refuted")


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
@pytest.mark.parametrize("foreign", [False, True])
def test_what_is_declared_is_held_to_what_is_attained(changes, verdict, foreign):
    noise = Plain(RECORDS.shape, RELEASE.noise_std) if foreign else RELEASE.noise
    row = judged(replace(RELEASE, noise=noise, **changes))
    word = "not refuted" if foreign and verdict.startswith("certified") else verdict
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
def test_a_pure_claim_with_gaussian_noise_is_refuted(release):
    row = judged(release)
    assert row["verdict"].startswith("refuted")
    assert row["epsilon_attained"] == np.inf


def test_a_pure_claim_with_generalized_gamma_noise_has_no_bound():
    release = SphericalGamma(1.25).calibrate(RECORDS, epsilon=1.0, delta=0.01)
    row = judged(replace(release, **PURE))
    assert row["verdict"].startswith("refuted")
    assert row["epsilon_attained"] == np.inf


class ExactEntry(distributions.ColumnL2Exponential):
    """Without noise on the first row; the others have all of the radius."""

    def _fill(self, stream, trial):
        trial[0] = 0
        stream.standard_normal(out=trial[1:])
        distributions.scale_columns(
            trial, self.scale * stream.standard_gamma(3, size=self.shape[1])
        )


def test_an_exact_entry_of_knorm_noise_is_refuted():
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
        (BadlyColoured(), "not run: KeyError: it lacks 'std'"),
        (Generous(), "refuted: it promises less than what is asked"),
        (Gaussian(), "certified: tight"),
    ],
)
def test_a_mechanism_that_fails_is_a_row_and_no_pass(mechanism, verdict, monkeypatch):
    row = audited(monkeypatch, mechanism)
    assert row["verdict"].startswith(verdict)
    expected = {"refuted": status.REFUTED, "not run": status.DECLARED}
    words = next((word for word in expected if verdict.startswith(word)), "")
    assert status.of(row["verdict"]) == expected.get(words, status.CERTIFIED)


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
