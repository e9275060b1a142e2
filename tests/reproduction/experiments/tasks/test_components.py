import numpy as np
import pytest

from matrixdp.privacy.sensitivity import Box
from reproduction.experiments.tasks.base import NoBaseline, Released
from reproduction.experiments.tasks.components import AllComponents, FirstComponent, constant_basis
from reproduction.seeds import streams

BOX = Box.cube(5, 0, 1)


@pytest.fixture
def matrix():
    rng = np.random.default_rng(5)
    rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    return rotation @ (np.array([3, 2, 1, 0.5, 0.2])[:, None] * rng.standard_normal((5, 400)))


def stack(value, trials=3):
    return np.broadcast_to(value, (trials, *value.shape))


def test_first_component_by_definition(matrix):
    instance = FirstComponent().instance(matrix, [])
    moments = matrix @ matrix.T / 400
    np.testing.assert_allclose(instance.moments, moments)
    v = np.linalg.svd(np.random.default_rng(0).standard_normal((5, 5)))[0][:, 0]
    expected = np.linalg.eigvalsh(moments)[-1] - v @ moments @ v
    assert instance.score(stack(v), output_type="direction")[2] == pytest.approx(expected)
    # A rank-one release has that direction; asymmetric noise is symmetrised first.
    skew = np.triu(np.ones((5, 5)), 1)
    released = np.outer(v, v) + skew - skew.T
    assert instance.score(stack(released), output_type="second_moments")[0] == pytest.approx(
        expected
    )


def test_the_largest_eigenvalue_counts_and_not_its_modulus(matrix):
    instance = FirstComponent().instance(matrix, [])
    u, v = np.eye(5)[0], np.eye(5)[1]
    released = np.outer(v, v) - 9 * np.outer(u, u)
    expected = instance.score(stack(v), output_type="direction")
    np.testing.assert_allclose(
        instance.score(stack(released), output_type="second_moments"), expected
    )


@pytest.mark.parametrize("task", [FirstComponent(), AllComponents()])
def test_an_exact_release_has_no_error(task, matrix):
    instance = task.instance(matrix, [])
    trials = streams(0, trials=range(2))
    np.testing.assert_allclose(instance.baseline("nonprivate", trials, BOX), 0, atol=1e-12)
    root = np.linalg.cholesky(matrix @ matrix.T + 7 * np.eye(5))
    np.testing.assert_allclose(
        instance.score(stack(root), output_type="sketch", ridge=7), 0, atol=1e-12
    )
    estimate = instance.estimate(Released(stack(root), "sketch", 7))
    np.testing.assert_allclose(estimate, stack(matrix @ matrix.T / 400), atol=1e-12)


def test_all_components_by_definition(matrix):
    instance = AllComponents().instance(matrix, [])
    noisy = matrix + np.random.default_rng(1).standard_normal(matrix.shape)
    moments = matrix @ matrix.T / 400
    _, vectors = np.linalg.eigh(noisy @ noisy.T / 400)
    captured = [v @ moments @ v for v in vectors.T[::-1]]
    expected = ((np.linalg.eigvalsh(moments)[::-1] - captured) ** 2).sum()
    np.testing.assert_allclose(instance.score(stack(noisy), output_type="matrix"), expected)
    np.testing.assert_allclose(
        instance.score(stack(noisy @ noisy.T / 400), output_type="second_moments"), expected
    )


def test_random_references_are_the_means_of_uniform_directions(matrix):
    trials = 4000
    own = streams(0, "noise", trials=range(trials))
    first, every = (task.instance(matrix, []) for task in (FirstComponent(), AllComponents()))
    drawn = np.stack([stream.standard_normal((5, 5)) for stream in own])
    basis, triangle = np.linalg.qr(drawn)
    # The signs of the diagonal make the basis uniform on the orthogonal group.
    basis *= np.sign(np.diagonal(triangle, axis1=1, axis2=2))[:, None]
    for instance in (first, every):
        exact = instance.baseline("random", own, BOX)
        values = instance.of_basis(basis)
        assert np.ptp(exact) == 0
        error = 3 * values.std() / np.sqrt(trials)
        assert values.mean() == pytest.approx(exact[0], abs=error)
        # A percent of the spread of one draw would show.
        assert error < 0.1 * values.std()


def test_the_constant_basis_of_a_cube_is_that_of_helmert():
    from scipy.linalg import helmert

    basis = constant_basis(BOX)
    signs = np.sign((basis * helmert(5, full=True).T).sum(axis=0))
    np.testing.assert_allclose(basis * signs, helmert(5, full=True).T, atol=1e-12)


@pytest.mark.parametrize("lower", [(0, 0, 0, 0), (-1, 0, -1, 0), (-1, -1, -1, 2)])
def test_a_constant_basis_begins_with_the_middle_of_the_bounds(lower):
    box = Box(lower, (1, 2, 1, 5))
    basis = constant_basis(box)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    middle = box.middle / np.linalg.norm(box.middle)
    assert abs(basis[:, 0] @ middle) == pytest.approx(1)


def test_symmetric_bounds_have_no_constant():
    with pytest.raises(NoBaseline, match="symmetric about 0"):
        constant_basis(Box.cube(3, -2, 2))


def test_baselines_use_no_record(matrix):
    """Both are directions that the bounds give, whatever the records are."""
    own = streams(0, trials=range(2))
    for name, basis in (("constant", constant_basis(BOX)), ("axes", np.eye(5))):
        instance = AllComponents().instance(matrix, [])
        captured = [v @ instance.moments @ v for v in basis.T]
        expected = ((instance.eigenvalues - captured) ** 2).sum()
        np.testing.assert_allclose(instance.baseline(name, own, BOX), expected)
        first = FirstComponent().instance(matrix, [])
        expected = instance.eigenvalues[0] - captured[0]
        np.testing.assert_allclose(first.baseline(name, own, BOX), expected)
