from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exactness import same_integers

from matrixdp.checks import InputError
from reproduction.data import LearningSet
from reproduction.experiments.training import extractor, lenet, lstm, models
from reproduction.experiments.training.examples import load

LSTM = lstm.LSTM()
features = jax.jit(LSTM.features)


def reviews(count, length=12, seed=9):
    """Reviews of which words 2-5 are good and 6-9 are bad, padded at the end."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count).astype(np.int8)
    words = rng.integers(2, 6, (count, length)) + 4 * (labels[:, None] == 0)
    words[rng.random(words.shape) < 0.3] = 1
    words[np.arange(length) >= rng.integers(3, length + 1, count)[:, None]] = 0
    return words.astype(np.int16), labels


@pytest.fixture(scope="module")
def data():
    (train, labels), (test, test_labels) = reviews(512), reviews(150, seed=10)
    arrays = {
        "train_tokens": train,
        "train_labels": labels,
        "test_tokens": test,
        "test_labels": test_labels,
    }
    return LearningSet("imdb", arrays, "simulated")


@pytest.fixture(scope="module")
def learned(data):
    return extractor.run(LSTM, data, seed=1, epochs=8)


@pytest.fixture(scope="module")
def params():
    return LSTM.initial(np.random.default_rng(0), np.array([9]))


def by_hand(params, review):
    """Return the features of one review, one word after the other, in float64."""
    p = {name: np.asarray(value, np.float64) for name, value in params.items()}
    words, states = review[review > 0], []
    for way in (0, 1):
        h = c = np.zeros(lstm.UNITS)
        passed = []
        for word in words[:: 1 if way == 0 else -1]:
            gates = p["embedding"][word] @ p["input"][way] + p["bias"][way, 0]
            enter, forget, leave, new = np.split(gates + h @ p["recurrent"][way], 4)
            c = c / (1 + np.exp(-forget)) + np.tanh(new) / (1 + np.exp(-enter))
            h = np.tanh(c) / (1 + np.exp(-leave))
            passed.append(h)
        states.append(np.mean(passed, axis=0))
    return np.tanh(np.concatenate(states) @ p["features"])


def test_features_by_definition(params):
    words, _ = reviews(5)
    found = features(params, jnp.asarray(words, jnp.int32))
    np.testing.assert_allclose(found, [by_hand(params, one) for one in words], atol=2e-6)


@pytest.mark.nightly
def test_padding_and_the_batch_change_nothing(params):
    words, _ = reviews(extractor.BATCH + 3)
    found = np.asarray(extractor.extract(LSTM, params, jnp.asarray(words, jnp.int32)))
    assert found.shape == (len(words), lstm.FEATURES)
    longer = jnp.pad(jnp.asarray(words, jnp.int32), ((0, 0), (0, 4)))
    np.testing.assert_allclose(features(params, longer), found, atol=1e-6)
    nothing = features(params, jnp.zeros((1, 4), jnp.int32))
    assert (nothing == 0).all()


@pytest.mark.nightly
def test_it_learns_and_says_how_well(data, learned):
    found = learned
    assert found["accuracy"] > 0.9
    assert found["train_features"].dtype == np.float32
    assert np.abs(found["train_features"]).max() <= 1
    assert same_integers(found["test_labels"], data.arrays["test_labels"])
    # Test labels say how well it has learned, and nothing else.
    other = replace(data, arrays={**data.arrays, "test_labels": 1 - data.arrays["test_labels"]})
    again = extractor.run(LSTM, other, seed=1, epochs=8)
    np.testing.assert_allclose(found["test_features"], again["test_features"], rtol=1e-5)
    assert again["accuracy"] == pytest.approx(1 - found["accuracy"])


@pytest.mark.nightly
def test_a_file_that_is_not_ours_is_said(tmp_path, learned):
    file = tmp_path / "features.npz"
    np.savez(file, **learned)
    assert load(file, "imdb", features=True).status == "simulated"
    for content in (b"", b"text", b"PK\x03\x04"):
        file.write_bytes(content)
        with pytest.raises(InputError, match="reproduction extract"):
            load(file, "imdb", features=True)
    with pytest.raises(InputError, match="reproduction extract"):
        load(tmp_path / "none.npz", "imdb", features=True)


def test_one_class_is_said(data):
    same = replace(data, arrays={**data.arrays, "train_labels": np.ones(512, np.int8)})
    with pytest.raises(InputError, match="labels of imdb are all"):
        extractor.run(LSTM, same, seed=0, epochs=1)


@pytest.mark.nightly
def test_features_of_pictures(pictures):
    """Outputs of the second convolution: it learns, and what follows it says so."""
    data, network = LearningSet("mnist", pictures, "simulated"), lenet.Convolutions()
    found = extractor.run(network, data, seed=1, epochs=12)
    assert found["accuracy"] > 0.9
    assert found["train_features"].shape == (len(pictures["train_labels"]), 400)
    assert found["test_features"].dtype == np.float32
    assert np.abs(found["train_features"]).max() <= 1
    assert same_integers(found["train_labels"], pictures["train_labels"])
    model = models.LeNet.of(pictures)
    params = model.initial(np.random.default_rng(2))
    features = extractor.extract(network, params, model.test_inputs)
    np.testing.assert_allclose(
        network.outputs(params, features), model.logits(params), rtol=1e-5, atol=1e-5
    )
