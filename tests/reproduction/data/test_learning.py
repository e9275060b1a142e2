"""Learning sets in the store: what is written, read again, refused and replaced."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from exactness import same_copies
from localserver import entry, file

from matrixdp.checks import InputError
from reproduction import data
from reproduction.data import datasets, prepared, simulate, store
from reproduction.data.download import Mismatch
from reproduction.data.learning import Encoded, content_sha256

TEXT = b"3 1 4 1 5 9"


def encoded(numbers):
    return Encoded(
        arrays={
            "inputs": np.array([numbers, numbers], dtype=np.float32),
            "labels": np.array(numbers, dtype=np.int8) % 2,
        },
        shape=(len(numbers), 1),
        description="doubled",
        constants={"largest": float(max(numbers))},
        treated_as_public=("order",),
        facts={"n": len(numbers)},
    )


def read(members):
    return encoded([int(word) for word in members["tiny.txt"].split()])


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Put a learning set of six records for all others; return what sets its address."""
    (tmp_path / "facts.yaml").write_text("largest: 9\n")
    reader = SimpleNamespace(
        read=read, simulate=lambda facts, rng: encoded(rng.integers(1, facts["largest"], 6))
    )
    monkeypatch.setattr(simulate, "standin_path", lambda name: tmp_path / "facts.yaml")
    monkeypatch.setattr(store, "_module", lambda spec: reader)

    def publish(url, text=TEXT):
        digest = content_sha256(read({"tiny.txt": TEXT}))
        tiny = entry({"tiny.txt": file(text, url)}, (6, 1), sha256=digest)
        monkeypatch.setattr(datasets, "specs", lambda: {"tiny": datasets.parse("tiny", tiny)})

    return publish


def test_arrays_are_prepared_with_their_provenance(tiny, server, tmp_path):
    tiny(server.gives("/tiny.txt", TEXT))
    store.prepare("tiny", out=tmp_path / "o")
    made = data.load_arrays(tmp_path / "o")
    assert (made.name, made.status, set(made.arrays)) == ("tiny", "original", {"inputs", "labels"})
    for name, array in read({"tiny.txt": TEXT}).arrays.items():
        assert same_copies(made.arrays[name], array)
        assert made.arrays[name].dtype == array.dtype
        with pytest.raises(ValueError, match="read-only"):
            made.arrays[name][0] = 0
    with pytest.raises(TypeError):
        made.arrays["labels"] = np.zeros(6)
    said = prepared.read_provenance(tmp_path / "o")
    assert said["files"][0]["source"] == f"{server.address}/tiny.txt"
    assert said["content_sha256"]["found"] == said["content_sha256"]["expected"]
    assert said["records_shape"] == [6, 1]
    assert said["arrays"]["inputs"] == {"dtype": "float32", "shape": [2, 6]}
    assert said["scaling"] == {
        "name": "default",
        "description": "doubled",
        "constants": {"largest": 9.0},
        "treated_as_public": ["constants", "order"],
    }
    assert said["facts"] == {"n": 6}


@pytest.mark.parametrize("source", ["original", "simulated"])
def test_the_same_input_gives_the_same_bytes_at_any_time(
    tiny, server, tmp_path, monkeypatch, source
):
    tiny(server.gives("/tiny.txt", TEXT))
    made = []
    for year in (1, 30):
        monkeypatch.setattr(time, "time", lambda year=year: year * 3e7)
        out = tmp_path / str(year)
        store.prepare("tiny", out=out, source=source, seed=5)
        made.append([(out / name).read_bytes() for name in ("arrays.npz", "provenance.json")])
    assert made[0] == made[1]
    store.prepare("tiny", out=tmp_path / "6", source="simulated", seed=6)
    assert (tmp_path / "6/arrays.npz").read_bytes() != made[0][0]


def test_the_content_checksum_sees_all_that_matters_and_nothing_else():
    arrays = {"b": np.arange(6, dtype="<i4").reshape(2, 3), "a": np.zeros(2, dtype=np.int8)}

    def digest(changed):
        return content_sha256(Encoded(arrays | changed, (1, 1), ""))

    same = digest({})
    assert digest({"b": arrays["b"].astype(">i4")}) == same
    assert digest({"b": np.asfortranarray(arrays["b"])}) == same
    assert content_sha256(Encoded(dict(reversed(arrays.items())), (9, 9), "else")) == same
    others = (
        {"b": arrays["b"].reshape(3, 2)},
        {"b": arrays["b"].astype("<i8")},
        {"b": arrays["b"].view("<u4")},
        {"b": arrays["b"] + 1},
        {"c": np.zeros(0)},
    )
    assert len({same, *map(digest, others)}) == 1 + len(others)


@pytest.mark.parametrize("text", [b"3 1 4 1 5 8", b"3 1 4"])
def test_other_arrays_are_an_error_though_the_file_is_right(tiny, server, tmp_path, text):
    tiny(server.gives("/tiny.txt", text), text)
    with pytest.raises(Mismatch, match="tiny hold records of shape"):
        store.prepare("tiny", out=tmp_path / "o")
    assert not (tmp_path / "o/arrays.npz").exists()


def test_load_checks_what_it_reads(tiny, tmp_path):
    tiny("https://example.org/tiny.txt")
    out = tmp_path / "o"
    with pytest.raises(InputError, match=r"provenance\.json cannot .* run `snakemake data`"):
        data.load_arrays(out)
    store.prepare("tiny", out=out, source="simulated")
    with pytest.raises(InputError, match=r"matrix\.npy cannot be read"):
        data.load(out)
    whole = (out / "arrays.npz").read_bytes()
    for damaged in (whole[:-1], whole.replace(b"labels", b"lables"), b""):
        (out / "arrays.npz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"arrays\.npz is not the file of its provenance"):
            data.load_arrays(out)
    (out / "arrays.npz").unlink()
    with pytest.raises(InputError, match=r"arrays\.npz cannot be read"):
        data.load_arrays(out)
    (out / "arrays.npz").write_bytes(whole)


def test_a_matrix_is_no_learning_set(tmp_path):
    store.prepare("liver", out=tmp_path, source="simulated")
    with pytest.raises(InputError, match=r"arrays\.npz cannot be read"):
        data.load_arrays(tmp_path)
