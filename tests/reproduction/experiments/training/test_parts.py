"""Training from the configuration."""

import numpy as np
import pandas as pd
import pytest
from exactness import same_copies, same_integers
from rowframes import frame

from matrixdp.checks import InputError
from reproduction import job_settings
from reproduction.cli import train
from reproduction.data import LearningSet
from reproduction.experiments.training import base, examples, extractor
from reproduction.trials import SAME_AS

PART = {"experiment": "adult", "dataset": "adult", "seed": 7, "trials": 2, "lot": 20, "epochs": 2}
SCHEME = {"clip": 0.5, "epsilons": ["1", "2"], "delta": "0.00001"}
IMDB = {**PART, **SCHEME, "experiment": "imdb", "dataset": "imdb", "clip": None}


@pytest.fixture(autouse=True)
def folders(monkeypatch, table, graph):
    """The folders ``adult``, ``cora`` and ``imdb`` hold learning sets."""
    rng = np.random.default_rng(0)
    reviews = {
        f"{part}_{what}": rng.integers(0, 50 if what == "tokens" else 2, shape).astype(np.int16)
        for part in ("train", "test")
        for what, shape in (("tokens", (90, 7)), ("labels", 90))
    }
    sets = {"adult": table, "cora": graph, "imdb": reviews}
    monkeypatch.setattr(
        examples, "load_arrays", lambda at: LearningSet(str(at), sets[str(at)], "simulated")
    )


@pytest.mark.nightly
def test_the_extractor_writes_what_training_reads(tmp_path):
    part = {**IMDB, "extractor_epochs": 1}
    for file in ("a.npz", "b.npz"):
        extractor.write_features(part, "imdb", tmp_path / file)
    one, other = (np.load(tmp_path / file) for file in ("a.npz", "b.npz"))
    assert one.files == other.files
    for name in one.files:
        if one[name].dtype.kind == "U":
            assert one[name].tolist() == other[name].tolist()
        else:
            np.testing.assert_allclose(one[name], other[name], rtol=1e-5, err_msg=name)
    rows = frame(base.trials(IMDB, "imgm", tmp_path / "a.npz"))
    assert set(rows["data_status"]) == {"simulated"}


def trained(scheme, out, part, **options):
    place = "imdb.npz" if part is IMDB else "adult"
    train.run(
        scheme, settings=job_settings.dump_settings(part), data=place, out=str(out), **options
    )
    return out


@pytest.mark.parametrize(
    ("part", "scheme"),
    [
        (PART | SCHEME, "matrix_mechanism"),
        (IMDB, "imgm"),
        pytest.param(IMDB, "imgm_amplified", marks=pytest.mark.nightly),
    ],
)
def test_schemes_with_one_noise_have_the_same_trials(part, scheme, tmp_path):
    kind, place = ("features", tmp_path / "imdb.npz") if part is IMDB else ("gradients", "adult")
    if part is IMDB:
        extractor.write_features({**IMDB, "extractor_epochs": 1}, "imdb", place)
    other = SAME_AS[kind][scheme]
    one, renamed = (frame(base.trials(part, name, place)) for name in (scheme, other))
    pd.testing.assert_frame_equal(one, renamed.assign(mechanism=scheme), rtol=1e-6)


@pytest.mark.parametrize(
    ("part", "place", "said"),
    [
        ({**PART, "experiment": "adlt"}, "adult", "did you mean 'adult'"),
        (PART, "cora", "cora holds cora data, not those of adult"),
        (IMDB, "none.npz", "none.npz holds no features"),
        ({**PART, **SCHEME, "delta": "2"}, "adult", "delta is 2"),
        ({**PART, **SCHEME, "clip": float("nan")}, "adult", "clip is nan"),
    ],
)
def test_what_cannot_be_trained_is_one_sentence(part, place, said):
    with pytest.raises(InputError, match=said):
        base.trials(part, "imgm", place)


def test_a_limit_keeps_the_same_records_in_every_array():
    arrays = {name: np.arange(90) for name in ("train_tokens", "train_labels", "test_labels")}
    found = examples.limit_rows(arrays, 30, np.random.default_rng(1), "train")
    assert len(set(found["train_tokens"].tolist())) == 30
    assert same_integers(found["train_labels"], found["train_tokens"])
    assert same_integers(found["test_labels"], np.arange(90))
    assert examples.limit_rows(arrays, 90, np.random.default_rng(1), "train") is arrays


def test_deviations_are_rounded_up_to_float32():
    exact = np.random.default_rng(2).lognormal(size=1000)
    found = base.round_up(exact)
    assert found.dtype == np.float32
    assert (found >= exact).all()
    assert (np.nextafter(found, np.float32(0)) < exact).all()
    assert same_copies(base.round_up(found), found)
    assert np.isinf(base.round_up(1e39))


def test_an_extractor_refuses_other_data(tmp_path):
    with pytest.raises(InputError, match="adult holds adult data"):
        extractor.write_features({**IMDB, "extractor_epochs": 1}, "adult", tmp_path / "out.npz")
    assert not list(tmp_path.iterdir())
