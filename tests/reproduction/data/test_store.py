"""Matrices and learning sets in the store: what is written, read again, refused and simulated."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from exactness import same_copies
from localserver import entry, file, sha256

from matrixdp.checks import InputError
from reproduction.data import datasets, load, load_arrays, matrices, simulate, store
from reproduction.data.download import Mismatch, Unreachable
from reproduction.data.learning import Encoded, content_sha256
from reproduction.data.prepared import read_provenance
from reproduction.data.store import prepare

RECORDS = np.column_stack([np.arange(40.0) % m for m in (40, 7, 3, 11, 13, 2)]) / 2
TEXT = "".join(",".join(map(str, record)) + ",1\n" for record in RECORDS.tolist()).encode()
COLUMNS = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
SCALINGS = {"default": {"method": "centre_max_abs"}, "half": {"method": "min_max", "rows": 20}}
NUMBERS = b"3 1 4 1 5 9"


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
def tiny(monkeypatch):
    """Put a matrix in the place of liver, and a learning set; return what sets their address."""
    reader = SimpleNamespace(read=read)
    module, simulated = store._module, simulate.simulate
    monkeypatch.setattr(simulate, "CLASSES", {"tiny": {}})
    monkeypatch.setattr(store, "_module", lambda s: reader if s.name == "tiny" else module(s))
    monkeypatch.setattr(
        simulate,
        "simulate",
        lambda s, rng: encoded(rng.integers(1, 9, 6)) if s.name == "tiny" else simulated(s, rng),
    )

    def publish(url, records=RECORDS, numbers=NUMBERS):
        liver = entry(
            {"bupa.data": file(TEXT, url)},
            records.shape,
            columns=COLUMNS,
            sha256=matrices.content_sha256(records),
            scalings=SCALINGS,
            doi="10.1/x",
        )
        digest = content_sha256(read({"tiny.txt": NUMBERS}))
        learning = entry({"tiny.txt": file(numbers, url)}, (6, 1), sha256=digest)
        entries = {"liver": liver, "tiny": learning}
        specs = {name: datasets.parse(name, each) for name, each in entries.items()}
        monkeypatch.setattr(datasets, "specs", lambda: specs)

    return publish


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def test_a_matrix_is_prepared_with_its_provenance(tiny, server, tmp_path, capsys):
    tiny(server.gives("/bupa.data", TEXT))
    prepare("liver", out=tmp_path / "liver")
    assert capsys.readouterr().err == ""
    data = load(tmp_path / "liver")
    centred = RECORDS - RECORDS.mean(axis=0)
    np.testing.assert_allclose(data.matrix, (centred / np.abs(centred).max(axis=0)).T, atol=1e-15)
    assert (data.name, data.status, data.features) == ("liver", "original", tuple(COLUMNS))
    assert (data.lower, data.upper) == ((-1.0,) * 6, (1.0,) * 6)
    with pytest.raises(ValueError, match="read-only"):
        data.matrix[0, 0] = 0
    provenance = read_provenance(tmp_path / "liver")
    source = f"{server.address}/bupa.data"
    assert provenance["files"] == [{"file": "bupa.data", "source": source, "sha256": sha256(TEXT)}]
    assert provenance["content_sha256"]["found"] == provenance["content_sha256"]["expected"]
    assert [provenance[key] for key in ("records_shape", "shape")] == [[40, 6], [6, 40]]
    np.testing.assert_allclose(provenance["scaling"]["constants"]["mean"], RECORDS.mean(axis=0))
    assert (provenance["licence"], provenance["rows_used"]) == ("free", 40)
    assert {*provenance["software"]} == {"python", "numpy", "pandas", "python-calamine"}


def test_arrays_are_prepared_with_their_provenance(tiny, server, tmp_path):
    tiny(server.gives("/tiny.txt", NUMBERS))
    prepare("tiny", out=tmp_path / "o")
    made = load_arrays(tmp_path / "o")
    assert (made.name, made.status, {*made.arrays}) == ("tiny", "original", {"inputs", "labels"})
    for name, array in read({"tiny.txt": NUMBERS}).arrays.items():
        assert same_copies(made.arrays[name], array)
        assert made.arrays[name].dtype == array.dtype
        with pytest.raises(ValueError, match="read-only"):
            made.arrays[name][0] = 0
    provenance = read_provenance(tmp_path / "o")
    assert provenance["files"][0]["source"] == f"{server.address}/tiny.txt"
    assert provenance["content_sha256"]["found"] == provenance["content_sha256"]["expected"]
    assert provenance["arrays"]["inputs"] == {"dtype": "float32", "shape": [2, 6]}
    assert provenance["scaling"] == {
        "name": "default",
        "description": "doubled",
        "constants": {"largest": 9.0},
        "treated_as_public": ["constants", "order"],
    }
    assert (provenance["facts"], provenance["records_shape"]) == ({"n": 6}, [6, 1])


@pytest.mark.parametrize("name", ["liver", "tiny"])
@pytest.mark.parametrize("source", ["mirror", "original", "simulated"])
def test_the_same_input_gives_the_same_bytes(tiny, server, tmp_path, monkeypatch, name, source):
    """At any time, in any folder, and without a path of this machine."""
    content = {"liver": ("bupa.data", TEXT), "tiny": ("tiny.txt", NUMBERS)}[name]
    tiny(server.gives(f"/{content[0]}", content[1]))
    (tmp_path / "mirror/x").mkdir(parents=True)
    (tmp_path / "mirror/x" / content[0]).write_bytes(content[1])
    mirror = tmp_path / "mirror" if source == "mirror" else None
    made = []
    for year in (1, 30):
        monkeypatch.setattr(time, "time", lambda year=year: year * 3e7)
        out, kind = tmp_path / str(year), "original" if mirror else source
        prepare(name, out=out, source=kind, seed=5, mirror=mirror)
        made.append({key: data for key, data in contents(out).items() if "downloads" not in key})
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]["provenance.json"]
    if mirror:
        assert json.loads(made[0]["provenance.json"])["files"][0]["source"] == "mirror"
        assert server.requests == []
    prepare(name, out=tmp_path / "6", source="simulated", seed=6)
    assert contents(tmp_path / "6") != made[0]


def test_the_checksum_of_arrays_sees_all_that_matters_and_nothing_else():
    arrays = {"b": np.arange(6, dtype="<i4").reshape(2, 3), "a": np.zeros(2, dtype=np.int8)}

    def digest(changed):
        return content_sha256(Encoded(arrays | changed, (1, 1), ""))

    same = digest({})
    assert digest({"b": arrays["b"].astype(">i4")}) == same
    assert digest({"b": np.asfortranarray(arrays["b"])}) == same
    assert content_sha256(Encoded(dict(reversed(arrays.items())), (9, 9), "else")) == same
    others = [
        {"b": arrays["b"].reshape(3, 2)},
        {"b": arrays["b"].astype("<i8")},
        {"b": arrays["b"].view("<u4")},
        {"b": arrays["b"] + 1},
        {"c": np.zeros(0)},
    ]
    assert len({same, *map(digest, others)}) == 1 + len(others)


def test_a_further_scaling_has_the_records_of_the_default_one(tiny, server, nowhere, tmp_path):
    tiny(server.gives("/bupa.data", TEXT))
    prepare("liver", out=tmp_path / "o")
    assert not (tmp_path / "o" / "half").exists()
    prepare("liver", out=tmp_path / "o", scaling="half")
    data = load(tmp_path / "o", "half")
    assert (data.matrix.shape, data.lower[0]) == ((6, 20), 0.0)
    assert read_provenance(tmp_path / "o" / "half")["scaling"]["name"] == "half"
    with pytest.raises(InputError, match="provenance.json cannot be read"):
        prepare("liver", out=tmp_path / "q", scaling="half")
    # Where the default one is simulated, so are the others.
    tiny(f"{nowhere}/bupa.data")
    prepare("liver", out=tmp_path / "s")
    tiny(server.gives("/bupa.data", TEXT))
    prepare("liver", out=tmp_path / "s", scaling="half")
    assert load(tmp_path / "s", "half").status == "simulated"
    assert read_provenance(tmp_path / "s" / "half")["requested"] == "auto"


def test_some_features_of_a_matrix(tiny, tmp_path):
    tiny("http://127.0.0.1:9/bupa.data")
    prepare("liver", out=tmp_path, source="simulated")
    data = replace(load(tmp_path), lower=tuple(range(-6, 0)), upper=tuple(range(6)))
    some = data.of(["drinks", "mcv"])
    assert same_copies(some.matrix, data.matrix[[5, 0]])
    assert (some.features, some.lower, some.upper) == (("drinks", "mcv"), (-1, -6), (5, 0))


def test_without_a_network_auto_simulates_and_says_so(tiny, nowhere, tmp_path, capsys):
    tiny(f"{nowhere}/bupa.data")
    prepare("liver", out=tmp_path / "o")
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1
    for part in ("cannot be reached", "simulated", "no evidence", f"--forcerun {tmp_path / 'o'}"):
        assert part in warning
    assert (load(tmp_path / "o").status, load(tmp_path / "o").matrix.shape) == (
        "simulated",
        (6, 40),
    )
    provenance = read_provenance(tmp_path / "o")
    assert provenance["files"] == []
    assert provenance["content_sha256"]["found"] != matrices.content_sha256(RECORDS)


#: What the address gives (None: nobody listens), what else differs, and the error.
NEVER = {
    "another file": ((TEXT.replace(b"19.5", b"19.4"), 200), {}, Mismatch, "bupa.data has the sha"),
    "no data": ((b"", 404), {}, InputError, "answers 404"),
    "other records": (
        (TEXT, 200),
        {"records": RECORDS + 1},
        Mismatch,
        rf"liver hold records of .*{matrices.content_sha256(RECORDS + 1)}",
    ),
    "a record too few": ((TEXT, 200), {"records": RECORDS[1:]}, Mismatch, r"shape \(40, 6\)"),
    "an empty mirror": (
        None,
        {"mirror": True},
        InputError,
        r"data\.mirror .* lacks a file: .* can",
    ),
}


@pytest.mark.parametrize("source", ["auto", "original"])
@pytest.mark.parametrize("case", NEVER)
def test_what_is_wrong_is_never_simulated(case, source, tiny, server, nowhere, tmp_path):
    answer, other, kind, says = NEVER[case]
    url = server.gives("/bupa.data", answer[0], answer[1]) if answer else f"{nowhere}/bupa.data"
    tiny(url, other.get("records", RECORDS))
    (tmp_path / "mirror").mkdir()
    mirror = tmp_path / "mirror" if other.get("mirror") else None
    with pytest.raises(kind, match=says) as raised:
        prepare("liver", out=tmp_path / "o", source=source, mirror=mirror)
    assert not isinstance(raised.value, Unreachable)
    assert not (tmp_path / "o/matrix.npy").exists()


@pytest.mark.parametrize("numbers", [b"3 1 4 1 5 8", b"3 1 4"])
def test_other_arrays_are_an_error_though_the_file_is_right(tiny, server, tmp_path, numbers):
    tiny(server.gives("/tiny.txt", numbers), numbers=numbers)
    with pytest.raises(Mismatch, match="tiny hold records of shape"):
        prepare("tiny", out=tmp_path / "o")
    assert not (tmp_path / "o/arrays.npz").exists()


def test_originals_that_cannot_be_reached_are_an_error_where_they_are_wanted(
    tiny, nowhere, tmp_path
):
    tiny(f"{nowhere}/bupa.data")
    with pytest.raises(Unreachable, match="cannot be reached"):
        prepare("liver", out=tmp_path / "p", source="original")
    assert not (tmp_path / "p/matrix.npy").exists()


@pytest.mark.parametrize(
    ("name", "number_file", "reader", "other"),
    [
        ("liver", "matrix.npy", load, load_arrays),
        ("tiny", "arrays.npz", load_arrays, load),
    ],
)
def test_load_checks_what_it_reads(tiny, tmp_path, name, number_file, reader, other):
    tiny("https://example.org/x")
    out = tmp_path / "o"
    with pytest.raises(InputError, match=r"provenance\.json cannot .* run `snakemake data`"):
        reader(out)
    prepare(name, out=out, source="simulated")
    whole = (out / number_file).read_bytes()
    for damaged in (whole[:-1], whole[:-8] + b"12345678", b""):
        (out / number_file).write_bytes(damaged)
        with pytest.raises(InputError, match=rf"{number_file} is not the file of its provenance"):
            reader(out)
    (out / number_file).unlink()
    for function in (reader, other):
        with pytest.raises(InputError, match=r"(matrix\.npy|arrays\.npz) cannot be read"):
            function(out)
    (out / number_file).write_bytes(whole)
    assert reader(out).status == "simulated"
    for text in ("{", "[]", "{}"):
        (out / "provenance.json").write_text(text)
        with pytest.raises(InputError, match=r"provenance\.json"):
            reader(out)
