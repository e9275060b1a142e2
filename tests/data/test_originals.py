"""The real data against facts of the public data that were computed elsewhere."""

from pathlib import Path

import numpy as np
import pytest

from matrixdp.data import catalogue, simulate, store

MIRROR = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not (MIRROR / "liver").is_dir(), reason="no mirror of the original data beside the repository"
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    wanted = {
        "liver": ("liver", "default"),
        "movement": ("movement", "default"),
        "all_rows": ("movement", "all_rows"),
        "as_stored": ("movement", "as_stored"),
        "ctg": ("ctg", "default"),
        "centred": ("ctg", "centred"),
    }
    for label, (name, scaling) in wanted.items():
        store.prepare(
            name, out=folder / label, source="original", mirror=MIRROR, scaling_name=scaling
        )
    return {label: store.load(folder / label) for label in wanted}


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


def test_movement(prepared):
    data = prepared["movement"]
    assert data.matrix.shape == (4, 10176)
    assert data.provenance["records_shape"] == [13197, 4]
    assert data.provenance["facts"]["records_clipped"] == 305
    assert data.provenance["facts"]["share_of_records_clipped"] == pytest.approx(0.03, abs=5e-4)
    assert prepared["as_stored"].provenance["facts"]["records_clipped"] == 0
    records, _ = store.original(catalogue.find("movement"), "unused", MIRROR)
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
    records, _ = store.original(catalogue.find("ctg"), "unused", MIRROR)
    copy = np.loadtxt(MIRROR / "ctg/ctg_data_sheet_21_features.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(records, copy[:, :21])


@pytest.mark.parametrize("name", ["liver", "movement", "ctg"])
def test_the_committed_facts_are_those_of_the_originals(name):
    spec = catalogue.find(name)
    records, _ = store.original(spec, "unused", MIRROR)
    committed = simulate.standin_path(name).read_text(encoding="utf-8")
    assert simulate.as_yaml(simulate.summarise(records, spec.columns)) == committed


@pytest.mark.parametrize("name", ["cora", "adult"])
def test_sets_without_a_reader_yet_can_be_fetched(name):
    from matrixdp.data.fetch import fetch

    spec = catalogue.catalogue()[name]
    found = fetch(spec, "unused", MIRROR)
    assert sorted(found.members) == sorted(member.name for member in spec.members)
