"""The real data against facts of the public data that were computed elsewhere."""

import functools
import gzip
from pathlib import Path

import classifiers
import numpy as np
import pytest
from exactness import same_copies, same_integers

from reproduction.data import datasets, download, load, simulate, store
from reproduction.data.learning import content_sha256
from reproduction.data.prepared import read_provenance

MIRROR = Path(__file__).parents[4] / "shared" / "data"
MATRICES = ["liver", "movement", "ctg"]

pytestmark = pytest.mark.skipif(
    not (MIRROR / "liver").is_dir(), reason="no mirror of the original data beside the repository"
)


@functools.cache
def original(name):
    """Return the members of a data set, and the records that its reader makes of them."""
    spec = datasets.find_dataset(name)
    return download.fetch(spec, "unused", MIRROR, functools.partial(store.decode, spec))


def arrays(name):
    return original(name).records.arrays


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    for name in MATRICES:
        for scaling in datasets.find_dataset(name).scalings:
            prepare = {"source": "original", "mirror": MIRROR, "scaling": scaling}
            store.prepare(name, out=folder / name, **prepare)
    return folder


def eigenvalues(matrix):
    return np.linalg.eigvalsh(matrix @ matrix.T / matrix.shape[1])[::-1]


def test_liver(folder):
    data = load(folder / "liver")
    drinks = data.matrix[data.features.index("drinks")]
    assert data.matrix.shape == (6, 345)
    known = [0.2015, -0.209, 1]
    np.testing.assert_allclose([drinks.std(), drinks.min(), drinks.max()], known, atol=5e-4)
    assert (np.abs(data.matrix).max(axis=1) == 1).all()
    errors = []
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(345)
        (x, y), (test_x, test_y) = (
            (data.matrix[:5, part], data.matrix[5, part]) for part in (order[:248], order[248:])
        )
        weights = np.linalg.solve(x @ x.T + np.eye(5), x @ y)
        errors.append(np.sqrt(np.mean((test_y - weights @ test_x) ** 2)))
    assert np.mean(errors) == pytest.approx(0.1816, abs=0.009)


def test_movement(folder):
    assert load(folder / "movement").matrix.shape == (4, 10176)
    provenance = read_provenance(folder / "movement")
    assert provenance["records_shape"] == [13197, 4]
    assert provenance["facts"]["records_clipped"] == 305
    assert provenance["facts"]["share_of_records_clipped"] == pytest.approx(0.03, abs=5e-4)
    assert read_provenance(folder / "movement" / "as_stored")["facts"]["records_clipped"] == 0
    records = original("movement").records
    for scaling, rows, known in (
        ("default", 10176, [0.6069, 0.0859, 0.0702, 0.0673]),
        ("all_rows", 13197, [0.6063, 0.0787, 0.0692, 0.0666]),
    ):
        centred = (records[:rows] - records[:rows].mean(axis=0)).T
        np.testing.assert_allclose(eigenvalues(centred), known, atol=5e-5)
        matrix = load(folder / "movement", scaling).matrix
        np.testing.assert_allclose(matrix, np.clip(centred, -1, 1), atol=1e-15)


def test_ctg(folder):
    matrix = load(folder / "ctg").matrix
    values = eigenvalues(matrix)
    assert matrix.shape == (21, 2126)
    facts = [*values[:3], values.sum(), (values**2).sum()]
    np.testing.assert_allclose(facts, [2.68738, 0.20138, 0.08564, 3.23417, 7.27950], atol=5e-6)
    assert (matrix.min(axis=1) == 0).all()
    assert (matrix.max(axis=1) == 1).all()
    centred = eigenvalues(load(folder / "ctg", "centred").matrix)
    assert (centred**2).sum() == pytest.approx(0.06916, abs=5e-6)
    copy = np.loadtxt(MIRROR / "ctg/ctg_data_sheet_21_features.csv", delimiter=",", skiprows=1)
    assert same_copies(original("ctg").records, copy[:, :21])


# The words of 50,000 reviews take half a minute.
AT_NIGHT = [pytest.param("imdb", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("name", ["adult", "cora", "mnist", *AT_NIGHT])
def test_a_stand_in_has_the_arrays_and_the_classes_of_the_original_and_other_records(name):
    spec = datasets.find_dataset(name)
    made = simulate.simulate(spec, np.random.default_rng(1))
    assert made.shape == tuple(spec.shape)
    assert content_sha256(made) != spec.sha256 == content_sha256(original(name).records)
    kinds = [
        {key: (array.dtype, array.shape) for key, array in each.items()}
        for each in (made.arrays, arrays(name))
    ]
    assert kinds[0] == kinds[1]
    for key, labels in arrays(name).items():
        if key.endswith("labels"):
            assert same_integers(np.bincount(labels), np.bincount(made.arrays[key]))
        elif key in ("train", "test"):
            classes = (
                np.bincount(each["labels"][each[key]]) for each in (arrays(name), made.arrays)
            )
            assert same_integers(*classes)


def test_adult():
    data = arrays("adult")
    train, test = data["train_inputs"], data["test_inputs"]
    assert (train.shape, test.shape) == ((32561, 105), (16281, 105))
    assert data["train_labels"].mean() == pytest.approx(0.2408, abs=5e-5)
    assert data["test_labels"].mean() == pytest.approx(0.2362, abs=5e-5)
    np.testing.assert_allclose(train[:, :6].mean(axis=0, dtype=float), 0.5, atol=1e-6)
    blocks = np.split(train[:, 6:], np.cumsum([8, 16, 7, 14, 6, 5, 2]), axis=1)
    missing = [int((block.sum(axis=1) == 0).sum()) for block in blocks]
    assert missing == [1836, 0, 0, 1843, 0, 0, 0, 583]
    assert max(block.sum(axis=1).max() for block in blocks) == 1
    assert classifiers.adult(data) == pytest.approx(0.853, abs=0.005)


def test_cora():
    data = arrays("cora")
    labels, edges = data["labels"], data["edges"]
    assert (data["features"].shape, edges.shape) == ((2708, 1433), (5278, 2))
    assert np.bincount(labels).tolist() == [351, 217, 418, 818, 426, 298, 180]
    # 45 % if the test papers are left in the order of their file.
    assert np.mean(labels[edges[:, 0]] == labels[edges[:, 1]]) == pytest.approx(0.80997, abs=5e-6)
    assert same_integers(data["train"], np.arange(1140))
    assert same_integers(data["test"], np.arange(1708, 2708))
    assert np.bincount(labels[:140]).tolist() == [20] * 7
    assert classifiers.cora(data) == pytest.approx(0.865, abs=0.01)


def test_cora_agrees_with_the_publisher_s_own_files():
    data = arrays("cora")
    lines = gzip.decompress((MIRROR / "cora/cora.content.gz").read_bytes()).decode().splitlines()
    ids, *columns, names = zip(*(line.split("\t") for line in lines), strict=True)
    words = np.array(columns, dtype=np.float32).T
    # Papers are known by their words, where these are no others' too.
    _, first, times = np.unique(words, axis=0, return_index=True, return_counts=True)
    places = {words[i].tobytes(): int(i) for i in first[times == 1]}
    theirs = np.array([places.get(paper.tobytes(), -1) for paper in data["features"]])
    ours = np.flatnonzero(theirs >= 0)
    assert len(ours) == len(places) == 2681
    assert len({(data["labels"][i], names[theirs[i]]) for i in ours}) == 7

    number = {name: i for i, name in enumerate(ids)}
    cites = [line.split() for line in (MIRROR / "cora/cora.cites").read_text().splitlines()]
    assert len(cites) == 5429
    published = {frozenset(number[name] for name in pair) for pair in cites}
    linked = {frozenset(theirs[list(pair)]) for pair in data["edges"]}
    assert len(published) == 5278
    expected = {pair for pair in published if pair <= {*places.values()}}
    assert {pair for pair in linked if -1 not in pair} == expected


@pytest.mark.nightly
def test_imdb():
    data = arrays("imdb")
    for part in ("train", "test"):
        tokens, labels = data[f"{part}_tokens"], data[f"{part}_labels"]
        assert (tokens.shape, tokens.max(), labels.sum()) == ((25000, 200), 9999, 12500)
        assert (labels.reshape(-1, 2).sum(axis=1) == 1).all()
        assert tokens[:, -1].min() > 0
        assert (np.diff((tokens > 0).astype(int), axis=1) >= 0).all()
    assert classifiers.imdb(data) == pytest.approx(0.87, abs=0.01)


def test_mnist():
    data = arrays("mnist")
    first, last = data["test_labels"], data["train_labels"]
    assert (first[:5].tolist(), last[-5:].tolist()) == ([5, 0, 4, 1, 9], [8, 3, 5, 6, 8])
    assert data["official_labels"][:5].tolist() == [7, 2, 1, 0, 4]
    counts = np.bincount(np.concatenate([first, last])).tolist()
    assert counts == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    images = np.concatenate([data["test_images"], data["train_images"]])
    assert (images.shape, images.dtype) == ((60000, 28, 28), np.uint8)
    shares = np.bincount(images.ravel(), minlength=256) / images.size
    mean = shares @ np.arange(256) / 255
    deviation = np.sqrt(shares @ (np.arange(256) / 255) ** 2 - mean**2)
    assert (mean, deviation) == pytest.approx((0.1307, 0.3081), abs=5e-5)
    assert classifiers.mnist(data) == pytest.approx(0.82, abs=0.01)
