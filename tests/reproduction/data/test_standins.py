"""Stand-ins of learning sets: shapes and laws of the originals, by their stream, and learnable."""

import functools
import importlib

import classifiers
import numpy as np
import pytest
from exactness import same_draws, same_integers

from reproduction.data import adult, imdb, simulate

#: The arrays of each, and the share of test records that a quick classifier gets right.
SETS = {
    "adult": (
        {
            "train_inputs": (np.float32, (32561, 105)),
            "test_inputs": (np.float32, (16281, 105)),
            "train_labels": (np.int8, (32561,)),
            "test_labels": (np.int8, (16281,)),
        },
        pytest.approx(0.92, abs=0.02),
    ),
    "cora": (
        {
            "features": (np.float32, (2708, 1433)),
            "edges": (np.int32, (5278, 2)),
            "labels": (np.int8, (2708,)),
            "train": (np.int32, (1140,)),
            "test": (np.int32, (1000,)),
        },
        pytest.approx(0.93, abs=0.03),
    ),
    "imdb": (
        {f"{part}_tokens": (np.int16, (25000, 200)) for part in ("train", "test")}
        | {f"{part}_labels": (np.int8, (25000,)) for part in ("train", "test")},
        pytest.approx(0.85, abs=0.03),
    ),
    "mnist": (
        {
            f"{part}_{what}": (kind, (n, *shape))
            for part, n in (("train", 55000), ("test", 5000), ("official", 10000))
            for what, kind, shape in (("images", np.uint8, (28, 28)), ("labels", np.int8, ()))
        },
        pytest.approx(0.91, abs=0.01),
    ),
}


@functools.cache
def made(name, seed=1):
    module = importlib.import_module(f"reproduction.data.{name}")
    return module.simulate(simulate.load_summary(name), np.random.default_rng(seed))


@pytest.mark.parametrize("name", SETS)
def test_a_stand_in_has_the_arrays_of_the_original_and_can_be_learnt(name):
    arrays, accuracy = SETS[name]
    assert {key: (a.dtype, a.shape) for key, a in made(name).arrays.items()} == arrays
    assert getattr(classifiers, name)(made(name).arrays) == accuracy


AT_NIGHT = pytest.param("imdb", marks=pytest.mark.nightly)


@pytest.mark.parametrize("name", ["adult", "cora", AT_NIGHT])
def test_a_stand_in_follows_its_stream(name):
    again, other = made.__wrapped__(name).arrays, made(name, 2).arrays
    for key, values in made(name).arrays.items():
        np.testing.assert_allclose(values, again[key])
        # The parts of Cora are the same in all.
        assert key in ("train", "test") or not same_draws(values, other[key])


def test_adult():
    arrays, facts = made("adult").arrays, simulate.load_summary("adult")["attributes"]
    assert arrays["train_labels"].mean() == pytest.approx(0.2408, abs=5e-5)
    assert arrays["test_labels"].mean() == pytest.approx(0.2362, abs=5e-5)
    np.testing.assert_allclose(arrays["train_inputs"][:, :6].mean(axis=0), 0.5, atol=1e-4)
    before = [names for key, names in adult.ATTRIBUTES.items() if key != "native-country"]
    column = 6 + sum(map(len, before)) - len(adult.ATTRIBUTES["sex"])
    column += adult.ATTRIBUTES["sex"].index("Female")
    for i, income in enumerate(adult.INCOMES):
        of_income = arrays["train_inputs"][arrays["train_labels"] == i]
        share = facts["sex"][income]["Female"] / sum(facts["sex"][income].values())
        # Four standard errors of 7,841 draws.
        assert of_income[:, column].mean() == pytest.approx(share, abs=0.023)
    assert made("adult").constants["mean of age"] == pytest.approx(38.58, abs=0.5)


@pytest.mark.parametrize("seed", [1, 2])
def test_cora(seed):
    arrays, facts = made("cora", seed).arrays, made("cora", seed).facts
    assert facts["papers_by_class"] == [351, 217, 418, 818, 426, 298, 180]
    assert facts["share_of_links_within_a_class"] == pytest.approx(0.80997, abs=5e-6)
    edges = arrays["edges"]
    assert (edges[:, 0] < edges[:, 1]).all()
    assert same_integers(edges, np.unique(edges, axis=0))
    assert {*np.unique(arrays["features"])} == {0, 1}
    assert arrays["features"].sum(axis=1).mean() == pytest.approx(18.17, abs=0.5)
    degrees = np.bincount(edges.ravel(), minlength=2708)
    assert degrees.max() > 40 > 10 * np.median(degrees)


@pytest.mark.parametrize("part", ["train", "test"])
def test_imdb(part):
    facts, arrays = simulate.load_summary("imdb"), made("imdb").arrays
    assert np.bincount(arrays[f"{part}_labels"]).tolist() == facts["reviews"][part]
    tokens = arrays[f"{part}_tokens"]
    assert (tokens.min(), tokens.max()) == (0, 9999)
    # Filling is in front of a review and nowhere else.
    assert (np.diff((tokens != imdb.FILLING).astype(int), axis=1) >= 0).all()
    lengths = (tokens != imdb.FILLING).sum(axis=1)
    assert lengths.min() >= facts["lengths"]["minimum"]
    middle = facts["lengths"]["quantiles_above"][facts["levels"].index(0.25)]
    assert np.quantile(lengths, 0.25) == pytest.approx(middle, abs=3)
    counts = np.bincount(tokens.ravel(), minlength=imdb.IDS)
    for rank in (1, 10, 108, 1124):
        expected = facts["counts"][facts["ranks"].index(rank)]
        assert counts[1 + rank] == pytest.approx(expected, rel=0.35)
    assert counts[imdb.UNKNOWN] == pytest.approx(facts["unknown"], rel=0.1)


def test_mnist():
    facts, arrays = simulate.load_summary("mnist"), made("mnist").arrays
    counts = {part: np.bincount(arrays[f"{part}_labels"]).tolist() for part in facts["images"]}
    assert counts == facts["images"]
    # Known of the original: ink covers a fifth, its mean is .1307.
    assert arrays["train_images"].mean() / 255 == pytest.approx(0.1307, abs=0.01)
    few = {**facts, "images": {part: [9] * 10 for part in facts["images"]}}
    draws = [mnist_of(few, seed) for seed in (1, 1, 2)]
    np.testing.assert_allclose(draws[0], draws[1])
    assert not np.allclose(draws[0], draws[2])


def mnist_of(facts, seed):
    module = importlib.import_module("reproduction.data.mnist")
    return module.simulate(facts, np.random.default_rng(seed)).arrays["train_images"]
