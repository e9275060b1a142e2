import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exactness import same_integers
from exampleloss import losses

from reproduction.experiments.training import batches, gradients, models
from reproduction.experiments.training.models import pairs

#: Pictures take long; test_whole_trials.py has a step on them.
small = pytest.mark.parametrize("model", ["perceptron", "graph"], indirect=True)


@pytest.fixture
def params(model):
    """Parameters at which some gradients are clipped and some are not."""
    stream = np.random.default_rng(4)
    # Many layers of large weights would blow up what rounding does.
    size = 1.0 if len(model.shapes) < 10 else 0.2
    return {
        name: jnp.asarray(size * stream.standard_normal(shape), jnp.float32)
        for name, shape in model.shapes.items()
    }


def singles(model, params, count):
    """Return the gradients of the first examples, one a row, by automatic differentiation."""
    one = jax.grad(lambda p, example: losses(model, p, example[None])[0])
    found = jax.jit(jax.vmap(one, (None, 0)))(params, jnp.arange(count))
    return np.hstack([np.reshape(found[name], (count, -1)) for name in sorted(found)]).astype(float)


def flat(tree):
    return np.concatenate([np.ravel(tree[name]).astype(np.float64) for name in sorted(tree)])


clipped_sum = jax.jit(gradients.clipped_sum)


@jax.jit
def norms_and_sum(model, params, lot, weights):
    norms, weighted = model.gradients(params, lot)
    return norms, weighted(weights)


def clipped(model, params, lot, clip, size=None):
    size = len(lot) if size is None else size
    return flat(clipped_sum(model, params, jnp.asarray(lot), size, clip))


@pytest.mark.parametrize("size", [4, 30])
def test_norms_and_sums_are_those_of_single_gradients(model, params, size, monkeypatch):
    monkeypatch.setattr(models, "NEAR_BLOCK", 8)
    lot = jnp.arange(size)
    model = model.for_lots(np.asarray([lot, lot[::-1]]))
    assert size == 30 or getattr(model, "near", 0) < 60
    each = singles(model, params, len(lot))
    weights = np.random.default_rng(5).random(len(lot)).astype(np.float32)
    norms, weighted = norms_and_sum(model, params, lot, weights)
    np.testing.assert_allclose(norms, np.linalg.norm(each, axis=1), rtol=2e-5)
    np.testing.assert_allclose(flat(weighted), weights @ each, rtol=1e-4, atol=1e-4)


@small
def test_every_gradient_is_clipped_jointly(model, params):
    each = singles(model, params, 30)
    clip = float(np.median(np.linalg.norm(each, axis=1)))
    seen = {"clipped": 0, "kept": 0}
    for i, one in enumerate(each):
        found = clipped(model, params, [i], clip)
        assert np.linalg.norm(found) <= clip
        shrink = min(1, (1 - gradients.MARGIN) * clip / np.linalg.norm(one))
        seen["clipped" if shrink < 1 else "kept"] += 1
        np.testing.assert_allclose(found, shrink * one, rtol=1e-4, atol=1e-6 * clip)
    assert min(seen.values()) > 5


@small
def test_one_example_changes_the_sum_by_the_clipping_norm_at_most(model, params):
    clip, lot = 0.1, np.arange(30)
    changes = [
        clipped(model, params, lot, clip) - clipped(model, params, np.delete(lot, i), clip)
        for i in range(0, 30, 5)
    ]
    lengths = np.linalg.norm(changes, axis=1)
    # What is left is the rounding of float32 sums.
    assert lengths.max() <= clip * (1 + 1e-4)
    assert lengths.max() >= clip * (1 - 1e-4)


@small
def test_padding_contributes_nothing(model, params):
    alone = clipped(model, params, [3, 7], 1.0)
    padded = clipped(model, params, [3, 7, 0, 0, 11], 1.0, size=2)
    np.testing.assert_allclose(padded, alone, rtol=1e-5, atol=1e-6)
    assert (clipped(model, params, [3, 7], 1.0, size=0) == 0).all()


def test_pairs_of_a_row():
    found = pairs(np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0]]))
    assert list(zip(*(index.tolist() for index in found), strict=True)) == [
        (0, 0, 0),
        (0, 0, 2),
        (0, 2, 2),
        (2, 1, 1),
    ]


@pytest.mark.parametrize(("examples", "rate"), [(100, 1.0), (5, 0.01), (2000, 0.5)])
def test_no_lot_is_cut_short(examples, rate):
    lots, sizes = batches.poisson(np.random.default_rng(7), examples, rate, 50)
    assert lots.shape[1] % batches.BLOCK == 0
    assert sizes.max() <= lots.shape[1]
    assert sizes.mean() == pytest.approx(examples * rate, rel=0.2, abs=0.3)


def test_shuffled_batches_take_every_record_once_an_epoch():
    found = batches.shuffle_batches(np.random.default_rng(8), 10, 3, 2)
    assert found.shape == (6, 3)
    assert [len(np.unique(epoch)) for epoch in (found[:3], found[3:])] == [9, 9]
    assert not same_integers(found[:3], found[3:])
