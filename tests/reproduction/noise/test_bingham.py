"""The Bingham sampler against exact moments; the acceptance rule of two libraries must fail."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from exactness import same_integers
from hypothesis import given
from hypothesis import strategies as st

from reproduction import bingham
from reproduction.bingham import Bingham


def moments_by_quadrature(k: np.ndarray) -> np.ndarray:
    """E v_i^2 under exp(sum k_i v_i^2) on the sphere in 3 dimensions, by quadrature."""
    t, weight = np.polynomial.legendre.leggauss(400)
    angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    t, angle = t[:, None], angle[None]
    r = np.sqrt(1 - t**2)
    squares = np.stack(
        np.broadcast_arrays((r * np.cos(angle)) ** 2, (r * np.sin(angle)) ** 2, t**2)
    )
    density = np.exp(np.tensordot(k - k.max(), squares, 1)) * weight[:, None]
    return np.sum(squares * density, axis=(1, 2)) / density.sum()


def moment_score(draws: np.ndarray, moments: np.ndarray) -> float:
    squares = draws**2
    error = squares.std(axis=0) / np.sqrt(len(draws))
    return float(np.abs((squares.mean(axis=0) - moments) / error).max())


def stein_score(draws: np.ndarray, k: np.ndarray) -> float:
    """Score of E[v_i^2 - v_j^2] = 2 (k_i - k_j) E[v_i^2 v_j^2], exact in every dimension.

    It is integration by parts along the rotation of the plane (i, j), applied to v_i v_j.
    """
    squares = draws**2
    i, j = np.triu_indices(len(k), 1)
    terms = squares[:, i] - squares[:, j] - 2 * (k[i] - k[j]) * squares[:, i] * squares[:, j]
    return float(np.abs(terms.mean(0) / (terms.std(0) / np.sqrt(len(draws)))).max())


def inverted(self: bingham._Envelope, u: np.ndarray) -> np.ndarray:
    """The rule of two public libraries: divide by the power that has to be multiplied with."""
    return -u - self.losses.shape[-1] / 2 * np.log1p(2 * u / self.b)


def accepted(form: np.ndarray) -> np.ndarray:
    """Return the accepted ones of many proposals of one stream."""
    envelope = bingham._envelope(form)
    noise, mask = bingham._propose([np.random.default_rng(0)], envelope, 400_000)
    return envelope.directions(noise[mask][None])[0]


# d = 2: E v_2^2 = 1/2 - I_1(l/2) / (2 I_0(l/2)) for losses (0, l)
ORACLES = {
    (0.0, -1.0): [0.621250, 0.378750],
    (0.0, -10.0): [0.9466916, 0.0533084],
    (2.0, 1.0, -3.0): None,
    (0.0, -40.0, -41.0): None,
}


@pytest.mark.parametrize("k", ORACLES)
def test_bingham_second_moments_and_the_inverted_rule_fails(k, monkeypatch):
    k = np.array(k)
    expected = ORACLES[tuple(k)]
    expected = moments_by_quadrature(k) if expected is None else np.array(expected)
    axes = np.linalg.qr(np.random.default_rng(1).normal(size=(len(k), len(k))))[0]
    form = (axes * k) @ axes.T
    draws = accepted(form) @ axes
    assert moment_score(draws, expected) < 5
    monkeypatch.setattr(bingham._Envelope, "log_acceptance", inverted)
    wrong = accepted(form) @ axes
    assert moment_score(wrong, expected) > 10


def test_bingham_in_many_dimensions(monkeypatch):
    k = -np.concatenate([[0.0, 1.0], np.linspace(4.0, 9.0, 5)])
    draw = partial(accepted, np.diag(k))
    assert stein_score(draw(), k) < 5
    assert stein_score(draw(), 1.1 * k) > 10
    monkeypatch.setattr(bingham._Envelope, "log_acceptance", inverted)
    assert stein_score(draw(), k) > 10


def test_one_draw_per_stream_has_the_same_distribution():
    forms = np.stack([np.diag([2.0, 1.0, -3.0]), np.diag([0.0, -40.0, -41.0])])
    draws = Bingham(np.repeat(forms, 20_000, axis=0)).sample([np.random.default_rng(0)] * 40_000)
    np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1, rtol=1e-12)
    for part, form in zip((draws[:20_000], draws[20_000:]), forms, strict=True):
        assert moment_score(part, moments_by_quadrature(np.diag(form))) < 5
        assert abs(part.mean(axis=0)).max() < 5 / np.sqrt(20_000)


@pytest.mark.parametrize(
    ("losses", "b", "acceptance"),
    [
        ((0, 1), np.sqrt(2), 0.950),
        ((0, 10), 1.049876, 0.694),
        ((0, 50, 60, 70), 1.025906, 0.460),
        (range(21), 7.545233, 0.867),
    ],
)
def test_bingham_envelope(losses, b, acceptance):
    envelope = bingham._envelope(-np.diag(np.array(losses, dtype=float)))
    np.testing.assert_allclose(envelope.b, b, rtol=1e-6)
    _, accepted = bingham._propose([np.random.default_rng(0)], envelope, 100_000)
    assert abs(accepted.mean() - acceptance) < 0.006


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_acceptance_is_a_probability(losses, places):
    envelope = bingham._envelope(-np.diag([0.0, *losses]))
    m = len(losses) + 1
    b = float(envelope.b[0, 0])
    assert 1 <= b <= m * (1 + 1e-12)
    u = max(losses) * np.array([*places, 0.0, 1.0])
    assert (envelope.log_acceptance(u[None]) <= 1e-10).all()
    peak = np.array([[(m - b) / 2]])
    assert abs(envelope.log_acceptance(peak)[0, 0]) <= 1e-10


def test_the_steepest_forms_end():
    steep = Bingham(np.diag([8e307, -8e307, 0.0])).sample([np.random.default_rng(0)] * 1)
    np.testing.assert_allclose(np.abs(steep), [[1, 0, 0]], atol=1e-12)


def test_one_dimension_is_a_fair_sign():
    signs = Bingham([[3.0]]).sample([np.random.default_rng(0)] * 10_000)
    assert same_integers(np.abs(signs), np.ones((10_000, 1)))
    assert abs(signs.mean()) < 0.05
