import json
from dataclasses import replace

import numpy as np
import pytest
from exactness import same_copies
from localserver import entry, file, sha256

from matrixdp.checks import InputError
from reproduction.data import datasets, load, matrices, simulate
from reproduction.data.download import Mismatch, Unreachable
from reproduction.data.prepared import read_provenance
from reproduction.data.store import prepare

RECORDS = np.column_stack([np.arange(40.0) % m for m in (40, 7, 3, 11, 13, 2)]) / 2
TEXT = "".join(",".join(map(str, record)) + ",1\n" for record in RECORDS.tolist()).encode()
COLUMNS = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Put a data set of 40 records in the place of liver; return what sets its address."""
    facts = simulate.as_yaml(simulate.summarise(RECORDS, COLUMNS))
    (tmp_path / "facts.yaml").write_text(facts)
    monkeypatch.setattr(simulate, "standin_path", lambda name: tmp_path / "facts.yaml")

    def publish(url, records=RECORDS, text=TEXT):
        scalings = {
            "default": {"method": "centre_max_abs"},
            "half": {"method": "min_max", "rows": 20},
        }
        tiny = entry(
            {"bupa.data": file(text, url)},
            records.shape,
            columns=COLUMNS,
            sha256=matrices.content_sha256(records),
            scalings=scalings,
            doi="10.1/x",
        )
        monkeypatch.setattr(datasets, "specs", lambda: {"liver": datasets.parse("liver", tiny)})

    return publish


def test_originals_are_prepared_with_their_provenance(tiny, server, tmp_path, capsys):
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
    said = read_provenance(tmp_path / "liver")
    source = f"{server.address}/bupa.data"
    assert said["files"] == [{"file": "bupa.data", "source": source, "sha256": sha256(TEXT)}]
    assert said["content_sha256"]["found"] == said["content_sha256"]["expected"]
    assert (said["records_shape"], said["rows_used"], said["shape"]) == ([40, 6], 40, [6, 40])
    np.testing.assert_allclose(said["scaling"]["constants"]["mean"], RECORDS.mean(axis=0))
    assert said["licence"] == "free"
    assert set(said["software"]) == {"python", "numpy", "pandas", "python-calamine"}


@pytest.mark.parametrize("source", ["original", "simulated"])
def test_the_same_input_gives_the_same_bytes_without_machine_paths(tiny, server, tmp_path, source):
    tiny(server.gives("/bupa.data", TEXT))
    made = []
    for name in ("one", "two"):
        prepare("liver", out=tmp_path / name, source=source, seed=5)
        made.append([(tmp_path / name / f).read_bytes() for f in ("matrix.npy", "provenance.json")])
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0][1]


def test_a_mirror_is_named_without_its_path(tiny, nowhere, tmp_path):
    tiny(f"{nowhere}/bupa.data")
    (tmp_path / "mirror/x").mkdir(parents=True)
    (tmp_path / "mirror/x/bupa.data").write_bytes(TEXT)
    prepare("liver", out=tmp_path / "o", mirror=tmp_path / "mirror")
    text = (tmp_path / "o/provenance.json").read_text()
    assert json.loads(text)["files"][0]["source"] == "mirror"
    assert str(tmp_path) not in text


def test_another_scaling(tiny, server, tmp_path):
    tiny(server.gives("/bupa.data", TEXT))
    prepare("liver", out=tmp_path / "o")
    data = load(tmp_path / "o", "half")
    assert (data.matrix.shape, data.lower[0]) == ((6, 20), 0.0)
    assert read_provenance(tmp_path / "o" / "half")["scaling"]["name"] == "half"
    with pytest.raises(InputError, match="halve/provenance.json cannot be read"):
        load(tmp_path / "o", "halve")


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.*")}


def test_scalings_one_by_one_are_those_of_all_together(tiny, server, tmp_path):
    tiny(server.gives("/bupa.data", TEXT))
    prepare("liver", out=tmp_path / "o")
    prepare("liver", out=tmp_path / "p", scaling="default")
    assert not (tmp_path / "p" / "half").exists()
    prepare("liver", out=tmp_path / "p", scaling="half")
    assert contents(tmp_path / "p") == contents(tmp_path / "o")
    with pytest.raises(InputError, match="scaling is 'halve'; did you mean 'half'"):
        prepare("liver", out=tmp_path / "p", scaling="halve")
    with pytest.raises(InputError, match="provenance.json cannot be read"):
        prepare("liver", out=tmp_path / "q", scaling="half")


def test_a_scaling_is_simulated_where_the_default_one_is(tiny, nowhere, server, tmp_path):
    tiny(f"{nowhere}/bupa.data")
    prepare("liver", out=tmp_path / "o", scaling="default")
    tiny(server.gives("/bupa.data", TEXT))
    prepare("liver", out=tmp_path / "o", scaling="half")
    assert load(tmp_path / "o", "half").status == "simulated"
    assert read_provenance(tmp_path / "o" / "half")["requested"] == "auto"


def test_some_features_of_a_matrix(tiny, tmp_path):
    tiny("http://127.0.0.1:9/bupa.data")
    prepare("liver", out=tmp_path, source="simulated")
    data = load(tmp_path, "half")
    some = data.of(["drinks", "mcv"])
    assert same_copies(some.matrix, data.matrix[[5, 0]])
    assert (some.features, len(some.lower), some.name) == (("drinks", "mcv"), 2, "liver")
    boxed = replace(data, lower=tuple(range(-6, 0)), upper=tuple(range(6)))
    some = boxed.of(["drinks", "mcv"])
    assert (some.lower, some.upper) == ((-1, -6), (5, 0))
    with pytest.raises(InputError, match="features is 'drink'; did you mean 'drinks'"):
        data.of(["drink"])


def test_without_a_network_auto_simulates_and_says_so(tiny, nowhere, tmp_path, capsys):
    tiny(f"{nowhere}/bupa.data")
    prepare("liver", out=tmp_path / "o")
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1
    for part in ("cannot be reached", "simulated", "no evidence", f"--forcerun {tmp_path / 'o'}"):
        assert part in warning
    data = load(tmp_path / "o")
    assert data.status == "simulated"
    assert data.matrix.shape == (6, 40)
    said = read_provenance(tmp_path / "o")
    assert said["files"] == []
    assert said["content_sha256"]["found"] != matrices.content_sha256(RECORDS)

    with pytest.raises(Unreachable, match="cannot be reached"):
        prepare("liver", out=tmp_path / "p", source="original")
    assert not (tmp_path / "p/matrix.npy").exists()
    with pytest.raises(InputError, match="source is 'orignal'; did you mean 'original'"):
        prepare("liver", out=tmp_path / "p", source="orignal")


@pytest.mark.parametrize("source", ["auto", "original"])
def test_what_a_mirror_lacks_is_never_simulated(tiny, nowhere, tmp_path, source):
    tiny(f"{nowhere}/bupa.data")
    (tmp_path / "mirror").mkdir()
    with pytest.raises(InputError, match=r"data\.mirror .* lacks a file: .* cannot be reached"):
        prepare("liver", out=tmp_path / "o", source=source, mirror=tmp_path / "mirror")
    assert not (tmp_path / "o/matrix.npy").exists()


def test_simulated_asks_nobody_and_follows_the_seed(tiny, server, tmp_path):
    tiny(server.gives("/bupa.data", TEXT))
    for seed in (0, 1):
        prepare("liver", out=tmp_path / str(seed), source="simulated", seed=seed)
    assert server.requests == []
    assert not np.allclose(load(tmp_path / "0").matrix, load(tmp_path / "1").matrix)


@pytest.mark.parametrize("source", ["auto", "original"])
def test_another_file_is_an_error_and_never_a_reason_to_simulate(tiny, server, tmp_path, source):
    tiny(server.gives("/bupa.data", TEXT.replace(b"19.5", b"19.4")))
    with pytest.raises(Mismatch, match="bupa.data has the sha256"):
        prepare("liver", out=tmp_path / "o", source=source)
    assert [path for path in (tmp_path / "o").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("records", [RECORDS + 1, RECORDS[1:]])
def test_other_records_are_an_error_though_the_file_is_right(tiny, server, tmp_path, records):
    tiny(server.gives("/bupa.data", TEXT), records)
    expected = matrices.content_sha256(records)
    with pytest.raises(Mismatch, match=rf"liver hold records of shape \(40, 6\).*{expected}"):
        prepare("liver", out=tmp_path / "o")
    assert not (tmp_path / "o/matrix.npy").exists()


def test_an_answer_that_is_no_data_is_an_error_under_auto(tiny, server, tmp_path):
    tiny(server.gives("/bupa.data", status=404))
    with pytest.raises(InputError, match="answers 404") as caught:
        prepare("liver", out=tmp_path / "o")
    assert not isinstance(caught.value, Unreachable)
    assert not (tmp_path / "o/matrix.npy").exists()


def test_a_failure_while_writing_leaves_no_half_file(tiny, server, tmp_path, monkeypatch):
    from pathlib import Path

    tiny(server.gives("/bupa.data", TEXT))
    write = Path.write_bytes

    def full(self, data):
        write(self, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="no space left on device"):
        prepare("liver", out=tmp_path / "o", source="simulated")
    assert [path for path in (tmp_path / "o").rglob("*") if path.is_file()] == []


def test_load_checks_what_it_reads(tiny, tmp_path):
    tiny("https://example.org/bupa.data")
    out = tmp_path / "o"
    with pytest.raises(InputError, match=r"provenance\.json cannot .* run `snakemake data`"):
        load(out)
    prepare("liver", out=out, source="simulated")
    whole = (out / "matrix.npy").read_bytes()
    (out / "matrix.npy").write_bytes(whole[:-8] + b"12345678")
    with pytest.raises(InputError, match=r"matrix\.npy is not the file of its provenance"):
        load(out)
    (out / "matrix.npy").unlink()
    with pytest.raises(InputError, match=r"matrix\.npy cannot be read"):
        load(out)
    (out / "matrix.npy").write_bytes(whole)
    assert load(out).status == "simulated"
    for text in ("{", "[]", "{}"):
        (out / "provenance.json").write_text(text)
        with pytest.raises(InputError, match=r"provenance\.json"):
            load(out)
