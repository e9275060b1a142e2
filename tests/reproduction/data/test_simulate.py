"""Stand-ins: shapes, types and classes of the originals, by their stream, and learnable."""

import functools

import classifiers
import numpy as np
import pytest
from exactness import same_draws

from reproduction.data import datasets, imdb, simulate

SETS = [name for name, spec in datasets.specs().items() if simulate.has_stand_in(spec)]

#: The arrays of each learning set, and the share of test records that a classifier gets right.
LEARNING = {
    "adult": (
        {
            "train_inputs": (np.float32, (32561, 105)),
            "test_inputs": (np.float32, (16281, 105)),
            "train_labels": (np.int8, (32561,)),
            "test_labels": (np.int8, (16281,)),
        },
        (0.8, 0.99),
    ),
    "cora": (
        {
            "features": (np.float32, (2708, 1433)),
            "edges": (np.int32, (5278, 2)),
            "labels": (np.int8, (2708,)),
            "train": (np.int32, (1140,)),
            "test": (np.int32, (1000,)),
        },
        (0.4, 0.9),
    ),
    "imdb": (
        {f"{part}_tokens": (np.int16, (25000, 200)) for part in ("train", "test")}
        | {f"{part}_labels": (np.int8, (25000,)) for part in ("train", "test")},
        (0.55, 0.9),
    ),
    "mnist": (
        {
            f"{part}_{what}": (kind, (n, *shape))
            for part, n in (("train", 55000), ("test", 5000), ("official", 10000))
            for what, kind, shape in (("images", np.uint8, (28, 28)), ("labels", np.int8, ()))
        },
        (0.3, 0.9),
    ),
}


@functools.cache
def made(name, seed=1):
    return simulate.simulate(datasets.find_dataset(name), np.random.default_rng(seed))


def arrays(name, seed=1):
    return made(name, seed).arrays if name in LEARNING else {"records": made(name, seed)}


def test_stand_ins_are_of_all_data_sets_but_those_of_large_pictures():
    assert {*datasets.specs()} - {*SETS} == {"cifar10", "cifar10_jpeg", "svhn"}
    assert {*LEARNING} < {*SETS}
    assert simulate.CLASSES.keys() == LEARNING.keys()


@pytest.mark.parametrize("name", LEARNING)
def test_a_learning_set_has_the_arrays_of_the_original_and_can_be_learnt(name):
    expected, (low, high) = LEARNING[name]
    assert {key: (a.dtype, a.shape) for key, a in arrays(name).items()} == expected
    assert low < getattr(classifiers, name)(arrays(name)) < high


@pytest.mark.parametrize("name", [name for name in SETS if name not in LEARNING])
def test_a_matrix_has_columns_that_differ_and_a_few_strong_components(name):
    records = made(name)
    assert [*records.shape] == datasets.find_dataset(name).shape
    assert (np.abs(records) <= 1).all()
    assert np.ptp(records, axis=0).min() > 0.5
    values = np.linalg.eigvalsh(np.cov(records.T))[::-1]
    assert values[0] > 3 * values[-1] > 0.05


def test_a_matrix_fills_the_bounds_that_its_scaling_states():
    way = {"method": "bounds", "lower": [10.0] * 6, "upper": [30.0] * 6, "middle": [20.0] * 6}
    stated = datasets.Scaling(**way)
    spec = datasets.find_dataset("liver").model_copy(update={"scalings": {"default": stated}})
    records = simulate.simulate(spec, np.random.default_rng(1))
    assert 10 <= records.min() < 15 < 25 < records.max() <= 30


@pytest.mark.parametrize("name", [*(name for name in SETS if name != "mnist")])
def test_the_stream_decides(name):
    again = simulate.simulate(datasets.find_dataset(name), np.random.default_rng(1))
    again = again.arrays if name in LEARNING else {"records": again}
    for key, values in arrays(name).items():
        np.testing.assert_allclose(values, again[key], atol=1)
        # The parts of Cora are the same in all.
        assert key in ("train", "test") or not same_draws(values, arrays(name, 2)[key])


def test_reviews_have_numbers_of_words_and_places_without_one():
    tokens = arrays("imdb")["train_tokens"]
    assert tokens.min() == imdb.FILLING
    assert imdb.IDS / 2 < tokens.max() < imdb.IDS


def test_links_are_single_and_mostly_within_a_class():
    graph = arrays("cora")
    edges = graph["edges"]
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert 0.7 < np.mean(np.diff(graph["labels"][edges]) == 0) < 1
