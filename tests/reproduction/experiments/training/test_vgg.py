"""The extractors of colour pictures: shapes, bounds, convolutions, and the noise of a block."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exactness import same_copies
from scipy.signal import correlate
from scipy.stats import norm

from matrixdp.checks import InputError
from reproduction.data.prepared import LearningSet
from reproduction.experiments import schemes
from reproduction.experiments.schemes.features import Features
from reproduction.experiments.training import extractor, lstm, vgg

RNG = np.random.default_rng(3)
NETWORKS = {"cifar10_features": (13, 512), "svhn_features": (5, 1024)}
#: The block, and the training records, of the IMGM paper's Table 1.
BLOCKS = {"cifar10_features": (256, 50_000), "svhn_features": (1024, 73_257)}


def pictures(count):
    """Return pictures of ten greys with noise, and their classes."""
    labels = np.arange(count) % 10
    noise = RNG.integers(0, 20, (count, 32, 32, 3))
    return (20 * labels[:, None, None, None] + noise).astype(np.uint8), labels.astype(np.int8)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NETWORKS)
def test_features_have_their_number_and_bound(name):
    network, (convolutions, features) = vgg.EXTRACTORS[name], NETWORKS[name]
    images, _ = pictures(20)
    params = network.initial(np.random.default_rng(1), jnp.asarray(images))
    assert sum(key.startswith("convolution") for key in params) == convolutions
    assert params["output"].shape == (features, 10)
    values = np.asarray(network.features(params, jnp.asarray(images)))
    assert values.shape == (20, features)
    assert 0 < np.abs(values).max() <= 1
    # Large weights drive tanh to its ends, and no further.
    large = {key: 50 * value for key, value in params.items()}
    assert np.abs(np.asarray(network.features(large, jnp.asarray(images)))).max() <= 1


@pytest.mark.parametrize("name", NETWORKS)
def test_noise_of_a_block_is_recomputed(name):
    """A record moves 512 or 1,024 features by 2 at most; delta is by Balle and Wang."""
    (lot, records), features = BLOCKS[name], NETWORKS[name][1]
    plan = Features(features=features, records=records, lot=lot)
    assert plan.query.l2_sensitivity == pytest.approx(2 * features**0.5, rel=1e-12)
    noise = schemes.registry("features")["imgm"].calibrate(plan, epsilon=1, delta=1e-5)
    mu = 2 * features**0.5 / noise.noise_std
    profile = norm.cdf(mu / 2 - 1 / mu) - np.e * norm.cdf(-mu / 2 - 1 / mu)
    assert profile == pytest.approx(1e-5, rel=1e-6)
    assert noise.epsilon_delivered == pytest.approx(1, rel=1e-6)
    # A hundredth less noise does not keep delta.
    mu /= 0.99
    assert norm.cdf(mu / 2 - 1 / mu) - np.e * norm.cdf(-mu / 2 - 1 / mu) > 1.01e-5


def test_convolutions_agree():
    values, weights = RNG.standard_normal((2, 6, 6, 3)), RNG.standard_normal((27, 4))
    kernel = weights.reshape(3, 3, 3, 4)
    expected = [
        [
            sum(correlate(image[..., c], kernel[..., c, unit], "same") for c in range(3))
            for unit in range(4)
        ]
        for image in values
    ]
    expected = np.moveaxis(np.array(expected), 1, 3)
    values, weights = (jnp.asarray(part, jnp.float32) for part in (values, weights))
    product = vgg.convolve_by_product(values, weights)
    np.testing.assert_allclose(product, expected, rtol=1e-4, atol=1e-4)
    single = vgg.convolve_by_xla(values, weights, jnp.float32)
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-4)
    # An accelerator's numbers have eight bits.
    half = vgg.convolve_by_xla(values, weights)
    np.testing.assert_allclose(half, expected, atol=0.02 * np.abs(expected).max())
    # Nothing is mirrored, nor transposed.
    turned = vgg.convolve_by_product(values[:, :, ::-1], weights)
    assert not np.allclose(turned, expected, atol=0.1)


def test_a_narrow_stack_releases_all_features():
    network = vgg.EXTRACTORS["cifar10_features"].narrowed(1 / 4)
    units = (16, 16, 0, 32, 32, 0, 64, 64, 64, 0, 128, 128, 128, 0, 128, 128, 512, 0)
    assert network.layers == units
    assert vgg.EXTRACTORS["svhn_features"].narrowed(1 / 64).layers[-2:] == (256, 0)
    with pytest.raises(InputError, match="leave `width` out"):
        lstm.EXTRACTORS["imdb"].narrowed(0.5)


@pytest.mark.parametrize("name", NETWORKS)
def test_pictures_are_shifted_and_flipped(name):
    """A training picture is a window of the padded one; a digit is never mirrored."""
    network = vgg.EXTRACTORS[name]
    images = RNG.integers(1, 256, (40, 32, 32, 3), dtype=np.uint8)
    changed = np.asarray(network.augment(jax.random.key(5), jnp.asarray(images)))
    mirrored = []
    for image, result in zip(images, changed, strict=True):
        padded = np.pad(image, [(4, 4), (4, 4), (0, 0)])
        windows = [padded[i : i + 32, j : j + 32] for i in range(9) for j in range(9)]
        plain = any(same_copies(result, window) for window in windows)
        mirrored.append(not plain)
        assert plain or any(same_copies(result, window[:, ::-1]) for window in windows)
    assert any(mirrored) == network.flips
    assert not all(mirrored)


@pytest.mark.nightly
def test_an_extractor_learns():
    """AlexNet on greys; VGG-16 has the same code and takes ten times as long."""
    arrays = {}
    for part, count in {"train": 640, "test": 100}.items():
        arrays[f"{part}_images"], arrays[f"{part}_labels"] = pictures(count)
    data = LearningSet("svhn", arrays, "simulated")
    found = extractor.run(vgg.EXTRACTORS["svhn_features"], data, seed=1, epochs=6)
    assert found["accuracy"] > 0.3
    assert found["train_features"].shape == (640, 1024)
    assert np.abs(found["train_features"]).max() <= 1
