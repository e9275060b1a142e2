"""Schemes for private features: what they promise, what they keep, and who breaks it."""

import itertools

import numpy as np
import pytest

from reproduction import catalogue
from reproduction.experiments import schemes
from reproduction.experiments.schemes.features import Features
from reproduction.mechanisms.allocation import Binary
from reproduction.mechanisms.mvg import MVG
from reproduction.privacy import generalized_gamma
from reproduction.trials import SAME_AS

DELTA = 1e-5
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
IMDB = Features(features=150, records=25000, lot=256)
SCHEMES, SAME = schemes.registry("features"), SAME_AS["features"]
WORDS = catalogue.schemes("features")


def calibrated(name, epsilon, plan=IMDB):
    return SCHEMES[name].calibrate(plan, epsilon=epsilon, delta=DELTA)


@pytest.mark.parametrize("name", SCHEMES)
def test_only_what_is_marked_exceeds_its_nominal_epsilon(name):
    exceeds = [calibrated(name, e).epsilon_delivered > e * (1 + 1e-9) for e in EPSILONS]
    assert any(exceeds) == (WORDS[name].status == "not private")


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_only_schemes_that_are_the_same_have_one_noise(epsilon):
    noise = {name: calibrated(name, epsilon) for name in SCHEMES}
    for one, other in itertools.permutations(SCHEMES, 2):
        same = {one: other}.items() <= SAME.items() or {other: one}.items() <= SAME.items()
        assert noise[one].equals(noise[other]) == same


@pytest.mark.parametrize(
    ("name", "deviations"),
    [
        ("imgm", {0.1: 753.2, 0.5: 172.2, 1.0: 91.38}),
        ("imgm_amplified", {0.1: 10.137, 0.5: 3.3377, 1.0: 2.1718}),
        ("mvg_iid", {1.0: 5.35e6}),
    ],
)
def test_noise_on_imdb(name, deviations):
    found = {epsilon: calibrated(name, epsilon).noise_std for epsilon in deviations}
    assert found == pytest.approx(deviations, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.9889), (1.0, 0.9824), (10.0, 0.9659)])
def test_generalized_gamma_noise_is_less_than_gaussian_and_just_private(epsilon, share):
    """One record moves by 2 sqrt(150) at most; less noise has more than delta."""
    found = calibrated("generalized_gamma", epsilon)
    other = calibrated("analytic_gaussian", epsilon)
    assert found.plan.power == 1.25
    assert np.isnan(found.mu)
    assert found.noise_std / other.noise_std == pytest.approx(share, abs=1e-4)
    scale = found.plan.scale(found.deviations["features"]) / (2 * np.sqrt(150))
    assert generalized_gamma.delta(epsilon, scale, 1.25, 150) == pytest.approx(DELTA, rel=1e-6)
    assert generalized_gamma.delta(epsilon, 0.995 * scale, 1.25, 150) > 1.005 * DELTA
    assert epsilon * (1 - 1e-6) < found.epsilon_delivered <= epsilon * (1 + 1e-7)


@pytest.mark.parametrize(("epsilon", "true"), [(0.1, 12.65), (0.5, 57.4), (1.0, 110.9)])
def test_the_papers_amplification_is_no_privacy(epsilon, true):
    assert calibrated("imgm_amplified", epsilon).epsilon_delivered == pytest.approx(true, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize(("name", "important"), [("mvg_iid", ()), ("mvg_binary", (0, 1))])
def test_mvg_is_the_mechanism(name, important, epsilon):
    release = MVG(allocation=Binary(direction=important, tau=0.75)).calibrate(
        IMDB.query, epsilon=epsilon, delta=DELTA
    )
    found = calibrated(name, epsilon)
    assert found.noise_std == pytest.approx(release.noise_std, rel=1e-12)
    assert found.mu == pytest.approx(release.mu, rel=1e-12)
    assert np.shape(found.deviations["features"]) == ((150, 1) if important else ())


def test_blocks_of_any_size_need_the_same_gaussian_noise():
    for name in ("analytic_gaussian", "imgm"):
        whole = Features(features=150, records=25000, lot=25000)
        small = calibrated(name, 1.0).noise_std
        assert calibrated(name, 1.0, whole).noise_std == pytest.approx(small, rel=1e-12)
