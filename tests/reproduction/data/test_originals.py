"""The real data against facts of the public data that were computed elsewhere."""

import functools
import gzip
import importlib
from pathlib import Path

import classifiers
import numpy as np
import pytest
from exactness import same_copies, same_integers

from reproduction.data import datasets, download, load, load_arrays, simulate, store
from reproduction.data.prepared import read_provenance

MIRROR = Path(__file__).parents[4] / "shared" / "data"

LEARNING = ["adult", "cora", "imdb", "mnist"]

pytestmark = pytest.mark.skipif(
    not (MIRROR / "liver").is_dir(), reason="no mirror of the original data beside the repository"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    for name in ("liver", "movement", "ctg"):
        store.prepare(name, out=folder / name, source="original", mirror=MIRROR)
    return folder


@pytest.fixture(scope="module")
def prepared(folder):
    wanted = {
        "liver": ("liver", "default"),
        "movement": ("movement", "default"),
        "all_rows": ("movement", "all_rows"),
        "as_stored": ("movement", "as_stored"),
        "ctg": ("ctg", "default"),
        "centred": ("ctg", "centred"),
    }
    return {label: load(folder / name, scaling) for label, (name, scaling) in wanted.items()}


def eigenvalues(data):
    return np.linalg.eigvalsh(data.matrix @ data.matrix.T / data.matrix.shape[1])[::-1]


def test_liver(prepared):
    data = prepared["liver"]
    drinks = data.matrix[data.features.index("drinks")]
    assert data.matrix.shape == (6, 345)
    assert drinks.std() == pytest.approx(0.2015, abs=5e-5)
    assert drinks.min() == pytest.approx(-0.209, abs=5e-4)
    assert drinks.max() == 1
    assert (np.abs(data.matrix).max(axis=1) == 1).all()


def test_liver_gives_the_known_regression_error(prepared):
    matrix = prepared["liver"].matrix
    errors = []
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(345)
        (x, y), (test_x, test_y) = (
            (matrix[:5, part], matrix[5, part]) for part in (order[:248], order[248:])
        )
        weights = np.linalg.solve(x @ x.T + np.eye(5), x @ y)
        errors.append(np.sqrt(np.mean((test_y - weights @ test_x) ** 2)))
    assert np.mean(errors) == pytest.approx(0.1816, abs=0.009)


def test_movement(prepared, folder):
    data = prepared["movement"]
    assert data.matrix.shape == (4, 10176)
    said = read_provenance(folder / "movement")
    assert said["records_shape"] == [13197, 4]
    assert said["facts"]["records_clipped"] == 305
    assert said["facts"]["share_of_records_clipped"] == pytest.approx(0.03, abs=5e-4)
    assert read_provenance(folder / "movement" / "as_stored")["facts"]["records_clipped"] == 0
    records, _ = store.original(datasets.find("movement"), "unused", MIRROR)
    for label, rows, known in (
        ("movement", 10176, [0.6069, 0.0859, 0.0702, 0.0673]),
        ("all_rows", 13197, [0.6063, 0.0787, 0.0692, 0.0666]),
    ):
        centred = (records[:rows] - records[:rows].mean(axis=0)).T
        unclipped = np.linalg.eigvalsh(centred @ centred.T / rows)[::-1]
        np.testing.assert_allclose(unclipped, known, atol=5e-5)
        np.testing.assert_allclose(prepared[label].matrix, np.clip(centred, -1, 1), atol=1e-15)


def test_ctg(prepared):
    data = prepared["ctg"]
    values = eigenvalues(data)
    assert data.matrix.shape == (21, 2126)
    np.testing.assert_allclose(values[:3], [2.68738, 0.20138, 0.08564], atol=5e-6)
    assert values.sum() == pytest.approx(3.23417, abs=5e-6)
    assert (values**2).sum() == pytest.approx(7.27950, abs=5e-6)
    assert (data.matrix.min(axis=1) == 0).all()
    assert (data.matrix.max(axis=1) == 1).all()
    assert (eigenvalues(prepared["centred"]) ** 2).sum() == pytest.approx(0.06916, abs=5e-6)


def test_ctg_agrees_with_its_copy_as_text():
    records, _ = store.original(datasets.find("ctg"), "unused", MIRROR)
    copy = np.loadtxt(MIRROR / "ctg/ctg_data_sheet_21_features.csv", delimiter=",", skiprows=1)
    assert same_copies(records, copy[:, :21])


@pytest.mark.parametrize("name", ["liver", "movement", "ctg"])
def test_the_committed_facts_are_those_of_the_originals(name):
    spec = datasets.find(name)
    records, _ = store.original(spec, "unused", MIRROR)
    committed = simulate.standin_path(name).read_text(encoding="utf-8")
    assert simulate.as_yaml(simulate.summarise(records, spec.columns)) == committed


# Learning sets.


@pytest.fixture(scope="module")
def members():
    """Return what gives the members of a data set."""

    @functools.cache
    def read(name):
        spec = datasets.find(name)
        return download.fetch(spec, "unused", MIRROR, functools.partial(store.decode, spec)).members

    return read


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    """Return what gives the arrays of a learning set, prepared and loaded again."""

    @functools.cache
    def load(name):
        folder = tmp_path_factory.mktemp(name)
        store.prepare(name, out=folder, source="original", mirror=MIRROR)
        return load_arrays(folder).arrays

    return load


@pytest.mark.parametrize("name", LEARNING)
def test_the_committed_facts_of_learning_sets_are_those_of_the_originals(name, members):
    module = importlib.import_module(f"reproduction.data.{name}")
    path = simulate.standin_path(name)
    text = path.read_text(encoding="utf-8")
    assert simulate.as_yaml(module.summarise(members(name)), module.__name__) == text
    assert path.stat().st_size < 60_000


@pytest.mark.parametrize("name", LEARNING)
def test_stand_ins_have_the_arrays_of_the_originals(name, arrays):
    module = importlib.import_module(f"reproduction.data.{name}")
    made = module.simulate(simulate.load_summary(name), np.random.default_rng(3)).arrays
    found = arrays(name)
    assert {key: (a.dtype, a.shape) for key, a in made.items()} == {
        key: (a.dtype, a.shape) for key, a in found.items()
    }
    for key in set(found) - {"train", "test"}:
        assert not np.allclose(made[key], found[key])


def test_adult(arrays):
    found = arrays("adult")
    train, test = found["train_inputs"], found["test_inputs"]
    assert (train.shape, test.shape) == ((32561, 105), (16281, 105))
    assert found["train_labels"].mean() == pytest.approx(0.2408, abs=5e-5)
    assert found["test_labels"].mean() == pytest.approx(0.2362, abs=5e-5)
    np.testing.assert_allclose(train[:, :6].mean(axis=0, dtype=float), 0.5, atol=1e-6)
    blocks = np.split(train[:, 6:], np.cumsum([8, 16, 7, 14, 6, 5, 2]), axis=1)
    missing = [int((block.sum(axis=1) == 0).sum()) for block in blocks]
    assert missing == [1836, 0, 0, 1843, 0, 0, 0, 583]
    assert max(block.sum(axis=1).max() for block in blocks) == 1
    assert classifiers.adult(found) == pytest.approx(0.853, abs=0.005)


def test_cora(arrays):
    found = arrays("cora")
    labels, edges = found["labels"], found["edges"]
    assert (found["features"].shape, edges.shape) == ((2708, 1433), (5278, 2))
    assert np.bincount(labels).tolist() == [351, 217, 418, 818, 426, 298, 180]
    # 45 % if the test papers are left in the order of their file.
    assert np.mean(labels[edges[:, 0]] == labels[edges[:, 1]]) == pytest.approx(0.80997, abs=5e-6)
    assert same_integers(found["train"], np.arange(1140))
    assert same_integers(found["test"], np.arange(1708, 2708))
    assert np.bincount(labels[:140]).tolist() == [20] * 7
    assert classifiers.cora(found) == pytest.approx(0.865, abs=0.01)


def test_cora_agrees_with_the_publisher_s_own_files(arrays):
    found = arrays("cora")
    lines = gzip.decompress((MIRROR / "cora/cora.content.gz").read_bytes()).decode().splitlines()
    ids, *columns, names = zip(*(line.split("\t") for line in lines), strict=True)
    words = np.array(columns, dtype=np.float32).T
    # Papers are known by their words, where these are no others' too.
    _, first, times = np.unique(words, axis=0, return_index=True, return_counts=True)
    known = {words[i].tobytes(): int(i) for i in first[times == 1]}
    theirs = np.array([known.get(paper.tobytes(), -1) for paper in found["features"]])
    ours = np.flatnonzero(theirs >= 0)
    assert len(ours) == len(known) == 2681
    classes = {(found["labels"][i], names[theirs[i]]) for i in ours}
    assert len(classes) == 7

    number = {name: i for i, name in enumerate(ids)}
    cites = [line.split() for line in (MIRROR / "cora/cora.cites").read_text().splitlines()]
    assert len(cites) == 5429
    published = {frozenset(number[name] for name in pair) for pair in cites}
    linked = {frozenset(theirs[list(pair)]) for pair in found["edges"]}
    unknown = {pair for pair in linked if -1 in pair}
    assert len(published) == 5278
    assert linked - unknown == {pair for pair in published if pair <= set(known.values())}


def test_imdb(arrays):
    found = arrays("imdb")
    for part in ("train", "test"):
        tokens, labels = found[f"{part}_tokens"], found[f"{part}_labels"]
        assert (tokens.shape, tokens.max(), labels.sum()) == ((25000, 200), 9999, 12500)
        assert (labels.reshape(-1, 2).sum(axis=1) == 1).all()
        assert tokens[:, -1].min() > 0
        assert (np.diff((tokens > 0).astype(int), axis=1) >= 0).all()
    assert classifiers.imdb(found) == pytest.approx(0.87, abs=0.01)


def test_mnist(arrays):
    found = arrays("mnist")
    first, last = found["test_labels"], found["train_labels"]
    assert (first[:5].tolist(), last[-5:].tolist()) == ([5, 0, 4, 1, 9], [8, 3, 5, 6, 8])
    assert found["official_labels"][:5].tolist() == [7, 2, 1, 0, 4]
    counts = np.bincount(np.concatenate([first, last])).tolist()
    assert counts == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    images = np.concatenate([found["test_images"], found["train_images"]])
    assert (images.shape, images.dtype) == ((60000, 28, 28), np.uint8)
    shares = np.bincount(images.ravel(), minlength=256) / images.size
    mean = shares @ np.arange(256) / 255
    deviation = np.sqrt(shares @ (np.arange(256) / 255) ** 2 - mean**2)
    assert (mean, deviation) == pytest.approx((0.1307, 0.3081), abs=5e-5)
    assert classifiers.mnist(found) == pytest.approx(0.82, abs=0.01)
