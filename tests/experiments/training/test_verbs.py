import argparse

import numpy as np
import pandas as pd
import pytest

from matrixdp import data
from matrixdp.checks import InputError
from matrixdp.cli import training as verbs
from matrixdp.data import LearningSet


@pytest.fixture
def call(monkeypatch, table, graph):
    """Run a verb; the folders ``adult``, ``cora`` and ``imdb`` hold learning sets."""
    rng = np.random.default_rng(0)
    reviews = {
        f"{part}_{what}": rng.integers(0, 50 if what == "tokens" else 2, shape).astype(np.int16)
        for part in ("train", "test")
        for what, shape in (("tokens", (90, 7)), ("labels", 90))
    }
    sets = {"adult": table, "cora": graph, "imdb": reviews}
    monkeypatch.setattr(data, "load_arrays", lambda at: LearningSet(at, sets[at], "simulated", {}))

    def call(*words):
        parser = argparse.ArgumentParser()
        known = parser.add_subparsers()

        def verb(name, run, text):
            added = known.add_parser(name)
            added.set_defaults(run=run)
            return added

        verbs.add(verb)
        options = parser.parse_args([str(word) for word in words])
        options.run(options)

    return call


def test_train_writes_rows(call, tmp_path):
    words = ("--lot", 20, "--epochs", 2, "--clip", 0.5, "--trials", 2, "--epsilons", "1.0,2")
    for file in ("a.csv.gz", "b.csv.gz"):
        call("train", "adult", "imgm", "--data", "adult", *words, "--out", tmp_path / file)
    rows = pd.read_csv(tmp_path / "a.csv.gz", dtype={"epsilon": str})
    assert rows["epsilon"].tolist() == ["1", "1", "2", "2"]
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_extract_writes_what_train_reads(call, tmp_path):
    for file in ("a.npz", "b.npz"):
        call("extract", "imdb", "--data", "imdb", "--epochs", 1, "--out", tmp_path / file)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    out = tmp_path / "rows.csv.gz"
    call("train", "imdb", "imgm", "--features", tmp_path / "a.npz", "--lot", 30, "--out", out)
    assert pd.read_csv(out)["data_status"].unique() == ["simulated"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "adlt", "imgm", "--data", "adult"), "did you mean 'adult'"),
        (("train", "adult", "imgm"), "adult lacks --data"),
        (("train", "imdb", "imgm"), "imdb lacks --features; make it by `matrixdp extract`"),
        (("train", "imdb", "imgm", "--data", "imdb"), "trains on --features, not on --data imdb"),
        (("train", "adult", "imgm", "--features", "x"), "trains on --data, not on --features x"),
        (("train", "adult", "imgm", "--data", "cora"), "cora holds cora data; adult needs its own"),
        (("extract", "imdb", "--data", "adult"), "adult holds adult data; imdb needs its own"),
        (("train", "imdb", "imgm", "--features", "none.npz"), "none.npz holds no features"),
        (("train", "imdb", "imgm", "--features", "none.npz", "--clip", "1"), "clips nothing"),
        (("train", "adult", "imgm", "--data", "adult", "--delta", "2"), "delta is 2"),
        (("train", "adult", "imgm", "--data", "adult", "--clip", "nan", "--lot", 9), "clip is nan"),
        (("extract", "adult", "--data", "adult"), "it has no extractor"),
    ],
)
def test_bad_words_leave_no_file(call, tmp_path, words, said):
    with pytest.raises(InputError, match=said):
        call(*words, "--out", tmp_path / "out")
    assert not list(tmp_path.iterdir())
