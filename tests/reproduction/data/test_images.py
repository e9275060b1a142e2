"""Data sets of images: small files of the right format, as a publisher's server gives them."""

import gzip
import importlib
import io
import struct

import numpy as np
import pytest
from exactness import same_copies
from localserver import sha256, tarred
from PIL import Image
from python2 import array, dictionary, numbers, pickled, text
from scipy.io import savemat

from reproduction import catalogue
from reproduction.data import datasets, load_arrays, store
from reproduction.data.datasets import File
from reproduction.data.download import Mismatch, Unreachable
from reproduction.data.prepared import read_provenance

RNG = np.random.default_rng(7)


def images(n, *shape):
    """Return random images and labels of all classes."""
    return RNG.integers(0, 256, (n, *shape), dtype=np.uint8), np.arange(n, dtype=np.uint8) % 10


def idx(values):
    """Return an IDX file of bytes."""
    return struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape) + (
        values.tobytes()
    )


def batch(pixels, labels):
    """Return a batch of CIFAR-10: rows of all red, then all green, then all blue pixels."""
    planes = np.stack([pixels[..., colour].reshape(len(pixels), -1) for colour in range(3)], axis=1)
    parts = {"batch_label": text("a batch"), "labels": numbers(labels.tolist())}
    return pickled(dictionary(parts | {"data": array(planes.reshape(len(pixels), -1), "u1")}))


def mat(pixels, labels):
    """Return a file of SVHN: images along the last axis, 10 for the digit 0."""
    tens = np.where(labels == 0, 10, labels)[:, None].astype(np.uint8)
    stream = io.BytesIO()
    savemat(stream, {"X": np.moveaxis(pixels, 0, -1), "y": tens}, do_compression=True)
    return stream.getvalue()


def jpeg(pixels, **options):
    """Return a JPEG file."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=100, **options)
    return stream.getvalue()


MNIST = {"train": images(5012, 28, 28), "t10k": images(11, 28, 28)}
COLOURED = [images(n, 32, 32, 3) for n in (10, 11, 12, 13, 14, 15)]
BATCHES = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
MEMBERS = {
    "mnist": {
        f"{file}-{what}-ubyte": idx(values)
        for file, pair in MNIST.items()
        for what, values in zip(("images-idx3", "labels-idx1"), pair, strict=True)
    },
    "cifar10": {name: batch(*pair) for name, pair in zip(BATCHES, COLOURED, strict=True)},
    "svhn": {"train_32x32.mat": mat(*COLOURED[0]), "test_32x32.mat": mat(*COLOURED[1])},
}
SHAPES = {"mnist": (5023, 784), "cifar10": (75, 3072), "svhn": (21, 3072)}


def joined(*pairs):
    return tuple(np.concatenate(arrays) for arrays in zip(*pairs, strict=True))


EXPECTED = {
    "mnist": {
        "train": tuple(values[5000:] for values in MNIST["train"]),
        "test": tuple(values[:5000] for values in MNIST["train"]),
        "official": MNIST["t10k"],
    },
    "cifar10": {"train": joined(*COLOURED[:5]), "test": COLOURED[5]},
    "svhn": {"train": COLOURED[0], "test": COLOURED[1]},
}


@pytest.mark.parametrize("name", MEMBERS)
def test_images_are_read_as_they_are(name):
    encoded = importlib.import_module(f"reproduction.data.{name}").read(MEMBERS[name])
    assert len(encoded.arrays) == 2 * len(EXPECTED[name])
    for part, (pixels, labels) in EXPECTED[name].items():
        assert same_copies(encoded.arrays[f"{part}_images"], pixels)
        assert same_copies(encoded.arrays[f"{part}_labels"], labels)
        assert encoded.arrays[f"{part}_images"].dtype == np.uint8
        assert encoded.arrays[f"{part}_labels"].dtype == np.int8
    assert encoded.shape == SHAPES[name]
    assert sum(sum(counts) for counts in encoded.facts.values()) == SHAPES[name][0]


@pytest.mark.parametrize("name", MEMBERS)
def test_the_files_are_had_as_their_publisher_packs_them(name, tmp_path):
    packed = {
        "mnist": {f"{key}.gz": gzip.compress(data) for key, data in MEMBERS["mnist"].items()},
        "cifar10": {
            "cifar-10-python.tar.gz": tarred(
                "gz", **{f"cifar-10-batches-py/{key}": d for key, d in MEMBERS["cifar10"].items()}
            )
        },
        "svhn": MEMBERS["svhn"],
    }[name]
    for key, data in packed.items():
        (tmp_path / key).write_bytes(data)
    content = packed if name == "cifar10" else MEMBERS[name]
    files = {key: File(sha256=sha256(content[key])) for key in datasets.find_dataset(name).files}
    fields = {"files": files, "shape": [*SHAPES[name]], "sha256": None}
    spec = datasets.find_dataset(name).model_copy(update=fields)
    records, origin = store.original(spec, tmp_path / "new", tmp_path)
    assert records.shape == SHAPES[name]
    assert {each["file"] for each in origin["files"]} == {*packed}


#: What stands for the last member.
WRONG = [
    ("cifar10", pickled(b"cos\nsystem\n(U\x04truetR"), r"it would run os\.system"),
    ("cifar10", batch(COLOURED[5][0], np.full(15, 10)), "labels of test"),
    ("cifar10", batch(COLOURED[5][0], COLOURED[4][1]), "labels of test"),
    ("svhn", mat(COLOURED[1][0], COLOURED[2][1]), "labels of test"),
    ("mnist", MEMBERS["mnist"]["t10k-images-idx3-ubyte"], "labels of official|truth value|fit"),
    ("mnist", idx(MNIST["t10k"][1])[:-1], "reshape"),
    ("mnist", b"\0\0\x0d" + idx(MNIST["t10k"][1])[3:], "no IDX file of bytes"),
]


@pytest.mark.parametrize(("name", "data", "reason"), WRONG)
def test_readers_refuse_other_content(name, data, reason):
    reader = importlib.import_module(f"reproduction.data.{name}")
    with pytest.raises(ValueError, match=reason):
        reader.read(MEMBERS[name] | {[*MEMBERS[name]][-1]: data})


def test_a_set_without_a_stand_in_says_why_it_cannot_be_had(nowhere, tmp_path, monkeypatch, capfd):
    spec = datasets.find_dataset("svhn").model_copy(deep=True)
    for name, file in spec.files.items():
        file.urls = [f"{nowhere}/{name}"]
    monkeypatch.setattr(datasets, "specs", lambda: {"svhn": spec})
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1 cannot be reached"):
        store.prepare("svhn", out=tmp_path)
    assert "stand-in" not in capfd.readouterr().err


def copied(**changed):
    """Return the files of a lossy copy of one picture of every class, each of one grey."""
    folders = ("airplane", "automobile", "bird", "cat", "deer")
    folders += ("dog", "frog", "horse", "ship", "truck")
    greys = {name: np.full((32, 32, 3), 20 * label, np.uint8) for label, name in enumerate(folders)}
    return {
        f"{part}/{name}/0000.jpg": jpeg(changed.get(name, grey))
        for part in ("train", "test")
        for name, grey in greys.items()
    }


def put_copy(folder, monkeypatch, name="cifar10_jpeg", **changed):
    """Put a small lossy copy into a mirror, as the data set of this name."""
    content = tarred("xz", **copied(**changed))
    (file,) = datasets.find_dataset("cifar10_jpeg").files
    (folder / file).write_bytes(content)
    fields = {"files": {file: File(sha256=sha256(content))}, "shape": [20, 3072]}
    spec = datasets.find_dataset("cifar10_jpeg").model_copy(update=fields)
    monkeypatch.setattr(datasets, "specs", lambda: {name: spec})


def test_a_lossy_copy_is_marked(tmp_path, monkeypatch):
    put_copy(tmp_path, monkeypatch)
    store.prepare("cifar10_jpeg", out=tmp_path / "out", mirror=tmp_path)
    copy = load_arrays(tmp_path / "out")
    assert copy.status == read_provenance(tmp_path / "out")["status"] == "lossy copy"
    assert catalogue.mark(copy.status).stamp == "LOSSY COPY"
    assert not catalogue.mark("original").stamp
    for part in ("train", "test"):
        pixels, labels = copy.arrays[f"{part}_images"], copy.arrays[f"{part}_labels"]
        assert labels.tolist() == list(range(10))
        # One grey comes back as it was, up to rounding.
        expected = 20 * labels[:, None, None, None].astype(int) + np.zeros(pixels.shape, int)
        np.testing.assert_allclose(pixels.astype(int), expected, atol=3)


def test_a_lossy_copy_is_never_the_original(tmp_path, monkeypatch):
    """Neither its file, which the mirror has instead, nor its file under the original's name."""
    original = datasets.find_dataset("cifar10")
    (file,) = original.files
    put_copy(tmp_path, monkeypatch)
    monkeypatch.setattr(datasets, "specs", lambda: {"cifar10": original})
    (tmp_path / "cifar10_jpeg.tar.xz").rename(tmp_path / file)
    with pytest.raises(Mismatch, match=r"cifar-10-python\.tar\.gz"):
        store.prepare("cifar10", out=tmp_path / "out", mirror=tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_picture_of_another_size_is_refused(tmp_path, monkeypatch):
    put_copy(tmp_path, monkeypatch, frog=np.zeros((16, 16, 3), np.uint8))
    with pytest.raises(ValueError, match="32 x 32"):
        store.prepare("cifar10_jpeg", out=tmp_path / "out", mirror=tmp_path)
