"""Privacy of the exponential mechanisms, from densities that the tests compute on their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanismqueries import CTG, LIVER
from scipy import special

from matrixdp.checks import InputError
from matrixdp.privacy.sensitivity import ADJACENCIES, Ball, Box, SecondMomentQuery
from reproduction.mechanisms import registry
from reproduction.mechanisms.exponential import NORMS, PPCA, KNorm


@pytest.mark.parametrize(
    ("query", "norm", "std"),
    [
        (LIVER, "frobenius", 189.04),
        (LIVER, "record_l2", 12.961),
        (LIVER, "record_linf", 8.641),
        (CTG, "frobenius", 968.29),
        (CTG, "record_l2", 21.494),
        (CTG, "record_linf", 12.987),
    ],
)
def test_noise_of_the_experiments(query, norm, std):
    release = KNorm(norm).calibrate(query, epsilon=1)
    assert release.noise_std == pytest.approx(std, rel=5e-5)
    doubled = KNorm(norm, factor_two=True).calibrate(query, epsilon=1)
    assert doubled.noise_std == pytest.approx(2 * std, rel=5e-5)
    assert (release.epsilon_delivered, doubled.epsilon_delivered) == (1, 0.5)
    assert release.delta == doubled.delta == 0


# PPCA


def second_moments(records: np.ndarray) -> np.ndarray:
    return records @ records.T / records.shape[1]


def plane_log_density(form: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Log density of exp(v^T K v) on the circle, up to log(2 pi): a closed form."""
    low, high = np.linalg.eigvalsh(form)
    log_normaliser = (low + high) / 2 + (high - low) / 2 + np.log(special.ive(0, (high - low) / 2))
    return np.einsum("ti,ij,tj->t", vectors, form, vectors) - log_normaliser


ANGLES = np.linspace(0, np.pi, 721)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def largest_loss(kappa: float, first: np.ndarray, second: np.ndarray) -> float:
    logs = [plane_log_density(kappa * second_moments(x), CIRCLE) for x in (first, second)]
    return float(np.abs(logs[0] - logs[1]).max())


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@given(seed=st.integers(0, 2**32 - 1), records=st.integers(1, 30), epsilon=st.floats(0.01, 20))
@settings(max_examples=60, deadline=None)
def test_ppca_loss_is_at_most_epsilon(adjacency, seed, records, epsilon):
    query = SecondMomentQuery(Box.cube(2, -3, 3), n_records=records, adjacency=adjacency)
    kappa = PPCA().calibrate(query, epsilon=epsilon).kappa
    rng = np.random.default_rng(seed)
    first = rng.choice([-3.0, 0.0, 3.0, rng.uniform(-3, 3)], size=(2, records))
    second = first.copy()
    second[:, 0] = rng.choice([-3.0, 0.0, 3.0], size=2) if adjacency == "replace" else 0
    assert largest_loss(kappa, first, second) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("domain", [Box.cube(2, -3, 3), Ball(3.0, 2)], ids=str)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_ppca_uses_its_budget(adjacency, domain):
    """All other records along one direction, and the one that changes across it, or to it."""
    query = SecondMomentQuery(domain, n_records=2000, adjacency=adjacency)
    kappa = PPCA().calibrate(query, epsilon=1).kappa
    assert kappa == pytest.approx(2000 / ((1 + (adjacency == "replace")) * domain.radius**2))
    along = np.array([1.0, 1.0]) * domain.radius / np.sqrt(2)
    first = np.repeat(along[:, None], 2000, axis=1)
    first[1, 0] *= -1
    second = first.copy()
    second[:, 0] = along if adjacency == "replace" else 0
    assert 0.95 < largest_loss(kappa, first, second) <= 1
    assert largest_loss(1.1 * kappa, first, second) > 1


def test_ppca_release():
    query = SecondMomentQuery(Box.cube(2, -1, 1), n_records=50)
    release = PPCA().calibrate(query, epsilon=2, delta=1e-5)
    assert (release.output_type, release.delta, release.epsilon_delivered) == ("direction", 0, 2)
    assert release.kappa == pytest.approx(25)
    assert np.isnan(release.noise_std)
    value = np.array([[0.5, 0.2], [0.2, 0.3]])
    drawn = release.simulate(value, np.random.default_rng(0), 20_000)
    gap = np.subtract(*np.linalg.eigvalsh(25 * value)[::-1])
    top = np.linalg.eigh(value)[1][:, 1]
    squares = (drawn @ top) ** 2
    expected = (1 + special.ive(1, gap / 2) / special.ive(0, gap / 2)) / 2
    assert abs(squares.mean() - expected) < 5 * squares.std() / 20_000**0.5
    assert abs(np.sign(drawn @ top).mean()) < 0.04


def test_entries_and_input():
    built = {name: registry()[name].build() for name in ("knorm_frob", "knorm_l2", "knorm_linf")}
    assert [mechanism.norm for mechanism in built.values()] == list(NORMS)
    assert registry()["ppca"].build() == PPCA()
    with pytest.raises(InputError, match="norm is 'frobenious'; did you mean 'frobenius'"):
        KNorm("frobenious")
