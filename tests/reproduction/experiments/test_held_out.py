"""Held-out data stand in bounds that no record moves, and have the law that is stated."""

import numpy as np
import pytest
from scipy import stats

from matrixdp.privacy.sensitivity import Box
from reproduction.experiments import held_out
from reproduction.experiments.tasks.components import constant_basis


@pytest.mark.parametrize(("name", "shape"), [("digits", (64, 1797)), ("simulated_t", (20, 5000))])
@pytest.mark.parametrize("experiment", held_out.SCALINGS)
def test_public_bounds_stand_before_the_records(name, shape, experiment, monkeypatch):
    data = held_out.load(name, experiment)
    assert data.matrix.shape == shape
    assert held_out.TARGETS[name] in data.features
    assert data.status == ("simulated" if name == "simulated_t" else "original")
    records, names = held_out._records(name)
    monkeypatch.setattr(held_out, "_records", lambda name: (records / 1000, names))
    other = held_out.load(name, experiment)
    assert (other.lower, other.upper) == (data.lower, data.upper)
    # One more record moves no other: no constant of the scaling comes from them.
    more = np.vstack([records, 9e9 + records[:1]])
    monkeypatch.setattr(held_out, "_records", lambda name: (more, names))
    assert np.allclose(held_out.load(name, experiment).matrix[:, :-1], data.matrix)


def test_digits_have_the_free_baselines_of_their_bounds():
    data = held_out.load("digits", "first_pc")
    assert np.abs(constant_basis(Box(data.lower, data.upper))[:, 0]) == pytest.approx(1 / 8)
    centred = held_out.load("digits", "regression")
    assert Box(centred.lower, centred.upper).middle == pytest.approx(0)


def test_the_simulated_law_is_student_t_of_the_stated_scale():
    records, _ = held_out.student_t()
    assert np.allclose(records, held_out.student_t()[0])
    # Directions of records have no tails, and the axes of the law.
    axes = np.linalg.eigh(np.cov((records / np.linalg.norm(records, axis=1, keepdims=True)).T))[1]
    scales = 1 / np.arange(1, 21)[::-1]
    scales /= np.sqrt((scales**2).mean())
    along = np.sort(np.abs(records @ axes / scales), axis=0)
    for share in (0.5, 0.9, 0.99):
        expected = stats.t(3).ppf((1 + share) / 2)
        assert along[int(share * len(along))] == pytest.approx(expected, rel=0.15)
