"""No hash, size or time of private records is in anything that others may get to see.

Who knows all records but one can try what that one is, until a hash agrees.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import shlex
import shutil

import numpy as np
import pytest
from tinyproject import TINY

from matrixdp.checks import InputError
from reproduction import config, my_matrix
from reproduction.data import load, prepared, store
from reproduction.report.article import build
from reproduction.report.page import appendix
from reproduction.trials import MY_MATRIX

SPECIFICATION = """
file = "people.csv"
query = "second_moments"
records = 397
epsilon = 2
delta = 1e-5
missing = "middle"

[bounds]
age = [20, 120]
income = [-10, 40]
"""


@pytest.fixture
def people(tmp_path):
    """A file of private records, with its specification beside it."""
    rows = np.random.default_rng(1).integers([20, -10], [120, 40], (397, 2))
    file = tmp_path / "people.csv"
    np.savetxt(file, rows, "%d", ",", header="age,income", comments="")
    (tmp_path / "people.toml").write_text(SPECIFICATION)
    return file


def traces(*files):
    """Return patterns of the hashes, sizes and times of files, whole or abbreviated."""
    patterns = []
    for file in files:
        contents = [file.read_bytes()]
        if file.suffix == ".npy":
            matrix = np.load(file)
            contents += [matrix.tobytes(), matrix.T.tobytes()]
        for content in contents:
            hashes = (hashlib.new(name, content).hexdigest() for name in ("md5", "sha1", "sha256"))
            patterns += [digest[:12] for digest in hashes]
            patterns += [rf"\b{len(content)}\b", rf"\b{len(content):,}\b"]
        when = file.stat().st_mtime
        day = datetime.datetime.fromtimestamp(when, datetime.UTC)
        patterns += [rf"\b{int(when)}\b", day.isoformat(timespec="minutes")[:16]]
    return re.compile("|".join(patterns))


def test_the_search_sees_what_a_public_matrix_states(people, tmp_path):
    description = tmp_path / "people.toml"
    description.write_text(SPECIFICATION.replace("missing", "public = true\nmissing"))
    written = prepare(description, tmp_path / "data")
    assert len(set(traces(people, tmp_path / "data/matrix.npy").findall(written))) >= 2


def prepare(description, folder):
    """Write a matrix as the workflow does; return all that stands beside it."""
    settings = my_matrix.configuration({**TINY, "matrix": str(description)})
    entry = settings["datasets"][MY_MATRIX] | {"file": settings["matrix"]}
    store.prepare(MY_MATRIX, out=folder, source="original", entry=entry)
    beside = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".npy"]
    return "\n".join([config.text(settings), *(file.read_text() for file in beside)])


def test_a_prepared_private_matrix_leaves_no_trace(people, tmp_path):
    written = prepare(tmp_path / "people.toml", tmp_path / "data")
    facts = json.loads((tmp_path / "data/provenance.json").read_text())
    files = {"data/my_matrix/provenance.json": tmp_path / "data/provenance.json"}
    shown = f"{appendix.provenance(files)} {build._data_row(facts)}"
    found = traces(people, tmp_path / "data/matrix.npy").findall(written + shown)
    assert not found
    assert not re.search(r"\b[0-9a-f]{32,}\b", written + shown)


def test_a_private_matrix_can_be_read_without_a_checksum(people, tmp_path):
    prepare(tmp_path / "people.toml", tmp_path / "data")
    assert load(tmp_path / "data").matrix.shape == (2, 397)
    matrix = tmp_path / "data/matrix.npy"
    matrix.write_bytes(matrix.read_bytes()[:-8])
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "data")


def test_a_public_matrix_without_a_checksum_is_refused(people, tmp_path):
    prepare(tmp_path / "people.toml", tmp_path / "data")
    file = tmp_path / "data/provenance.json"
    file.write_text(file.read_text().replace(f'"{prepared.PRIVATE}"', '"original"'))
    with pytest.raises(InputError, match="is not the file of its provenance"):
        load(tmp_path / "data")


@pytest.mark.long
@pytest.mark.slow
def test_a_whole_run_on_private_records_leaves_no_trace(fresh, people):
    """Nor do Snakemake's own notes, with the option that the docs name."""
    description = shutil.copy(people.with_name("people.toml"), fresh.folder)
    with open(description) as stream:
        text = stream.read().replace('"people.csv"', f'"{people}"')
    with open(description, "w") as stream:
        stream.write(text)
    fresh.configure(audit_runs=2000)
    for file in (fresh.folder / "workflow/reproduction/mechanisms").glob("*.py"):
        if file.name not in ("laplace.py", "gaussian.py"):
            file.write_text(file.read_text().replace("\nMECHANISMS = {", "\nOTHERS = {"))
    words = "my_matrix --config matrix=people.toml --max-checksum-file-size 0 -c1"
    fresh.make(*shlex.split(words))
    results = fresh.folder / "results"
    (matrix,) = results.rglob("matrix.npy")
    pattern = traces(people, matrix)
    notes = fresh.folder / ".snakemake/metadata"
    hashes = re.compile("|".join(part for part in pattern.pattern.split("|") if len(part) == 12))
    read = [file for folder in (results, notes) for file in folder.rglob("*") if file.is_file()]
    assert len(read) > 20
    for file in read:
        if file != matrix:
            assert not hashes.search(file.read_bytes().decode("latin-1")), file
    assert not [*results.rglob("ro-crate-metadata.json")]
    assert not pattern.search((matrix.with_name("provenance.json")).read_text())
