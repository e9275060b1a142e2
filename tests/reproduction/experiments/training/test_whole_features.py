"""Whole trials on private features: the noise that the classifier gets is that of the row."""

import numpy as np
import pytest
from rowframes import frame
from scipy import stats
from trialnoise import DELTA, gaussian_mu, is_deviation

from reproduction.data import LearningSet
from reproduction.experiments.training import base, examples, features
from reproduction.privacy import generalized_gamma


@pytest.mark.parametrize(
    ("scheme", "epsilon"), [("imgm", "30"), ("mvg_binary", "1"), ("generalized_gamma", "30")]
)
def test_the_classifier_gets_features_with_the_noise_of_the_row(monkeypatch, scheme, epsilon):
    """The first step from 0 on one record of each class shows their noisy difference.

    It is divided by the public scale once in the undivided reading and twice in the default one.
    """
    width, trials = 2000, 40
    values = np.stack([np.full(width, -1), np.full(width, 1)]).astype(np.float32)
    arrays = {f"{part}_features": values for part in ("train", "test")}
    arrays |= {f"{part}_labels": np.array([0, 1]) for part in ("train", "test")}
    data = LearningSet("imdb", arrays, "simulated")
    monkeypatch.setattr(examples, "_features", lambda place: data)
    classify, seen = features.classify, []

    def watched(*arguments):
        seen.append(classify(*arguments))
        return seen[-1]

    monkeypatch.setattr(features, "classify", watched)
    part = {"experiment": "imdb", "dataset": "imdb", "seed": 4, "trials": trials, "lot": 2}
    part |= {"epochs": 1, "epsilons": [epsilon], "delta": str(DELTA)}
    rows = frame(base.trials(part, scheme, "somewhere"))
    once, twice = (
        np.stack([np.asarray(one[reading][0][:, 1], np.float64) for one in seen])
        for reading in ("classifier=bias_undivided", "default")
    )
    noise = 4 / features.RATE * once**2 / twice - 2
    squares = (noise**2 / 2).mean(axis=0)
    (std,) = set(rows["noise_std"])
    assert len(seen) == trials
    assert np.sqrt(squares.mean()) == pytest.approx(std, rel=0.01)
    if scheme == "generalized_gamma":
        unit = generalized_gamma.scale(float(epsilon), DELTA, 1.25, width)
        expected = 2 * np.sqrt(width) * generalized_gamma.deviation(unit, 1.25, width)
        assert std == pytest.approx(expected, rel=1e-9)
        assert rows["mu"].isna().all()
        return
    # A record can move by 2 in every feature.
    mu = 2 * np.sqrt(2 / squares[:2].mean() + (width - 2) / squares[2:].mean())
    assert rows["mu"].to_numpy() == pytest.approx(mu, rel=0.01)
    if scheme == "imgm":
        assert is_deviation(noise, np.sqrt(2) * std)
        assert not is_deviation(0.95 * noise, np.sqrt(2) * std)
        assert std == pytest.approx(2 * np.sqrt(width) / gaussian_mu(float(epsilon)), rel=1e-6)
        assert (rows["epsilon_delivered"] / float(epsilon)).to_numpy() == pytest.approx(1, rel=1e-6)
    else:
        important, others = (np.sqrt(squares[of].mean()) for of in (slice(2), slice(2, None)))
        # Precisions go by the root of the shares 0.75 / 2 and 0.25 / (m - 2).
        ratio = (0.375 * (width - 2) / 0.25) ** 0.25
        assert others / important == pytest.approx(ratio, rel=0.2)


@pytest.mark.nightly
def test_the_lengths_of_generalized_gamma_noise_follow_its_distribution(monkeypatch):
    """The noise of all records of a trial, at few features, where lengths vary most."""
    width, records = 3, 20_000
    arrays = {
        f"{part}_features": np.zeros((records, width), np.float32) for part in ("train", "test")
    }
    arrays |= {f"{part}_labels": np.arange(records) % 2 for part in ("train", "test")}
    data = LearningSet("imdb", arrays, "simulated")
    monkeypatch.setattr(examples, "_features", lambda place: data)
    classify, seen = features.classify, []

    def watched(private, labels, lots, deviation, normals, radii, *others):
        seen.append(np.asarray(radii, np.float64))
        return classify(private, labels, lots, deviation, normals, radii, *others)

    monkeypatch.setattr(features, "classify", watched)
    part = {"experiment": "imdb", "dataset": "imdb", "seed": 4, "trials": 1, "lot": 20_000}
    part |= {"epochs": 1, "epsilons": ["1"], "delta": str(DELTA)}
    base.trials(part, "generalized_gamma", "somewhere")
    scale = 2 * np.sqrt(width) * generalized_gamma.scale(1.0, DELTA, 1.25, width)
    sizes = (seen[0][:, 0] / scale) ** 1.25
    assert stats.kstest(sizes, stats.gamma(width / 1.25).cdf).pvalue > 1e-3
    # The distribution has its scale to 2 %, and is not that of a Gaussian.
    assert stats.kstest(sizes * 1.02**1.25, stats.gamma(width / 1.25).cdf).pvalue < 0.05
    gaussian = (seen[0][:, 0] ** 2).mean() / width
    assert stats.kstest(seen[0][:, 0] ** 2 / gaussian, stats.chi2(width).cdf).pvalue < 1e-9
