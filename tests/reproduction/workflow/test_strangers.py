"""Files of a person beside the results: no target, failure, change or deletion touches them."""

from __future__ import annotations

import hashlib

import pytest
from tinyproject import TINY, overlay

pytestmark = pytest.mark.nightly

#: Names beside ours, also such as a temporary file or another configuration's might have.
NAMES = [
    *("tables/my_notes.md", "tables/paper.tex", "tables/.hidden.md", "tables/table4_v2.tex"),
    *("tables/.table4.csv.swp", "summary/my_fit.csv", "trials/first_pc/default/.random.csv.gz.old"),
    *("data/movement/notes.txt", "audit/mine.csv", "settings.yaml.bak"),
    *("mine/people/keep.csv", "logs/mine.log", "tables/table5.csv"),
]


@pytest.fixture
def strangers(again, tmp_path):
    """Return a finished run with a person's files in it, and what hashes these."""
    results, outside = again.folder / "results", tmp_path / "outside"
    covariance = TINY["experiments"].keys() - {"covariance"}
    again.configure(experiments={name: TINY["experiments"][name] for name in covariance})
    outside.mkdir()
    for name in ("poster.pdf", "README.md", "figure9.svg"):
        (outside / name).write_text(name)
    (results / "figures").mkdir(exist_ok=True)
    for file in (results / "figures").iterdir():
        file.rename(outside / file.name)
    (results / "figures").rmdir()
    (results / "figures").symlink_to(outside)
    files = [results / name for name in NAMES]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(f"mine: {file.name}")
    mine = [*files, *(outside / name for name in ("poster.pdf", "README.md", "figure9.svg"))]

    def state():
        return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in mine}

    return again, state


def test_a_strangers_files_stay(strangers, tmp_path):
    project, state = strangers
    before = state()
    project.make("table2", "table4", "figure4", "-c2")
    assert state() == before
    # A configuration without an experiment, and a job that fails.
    project.configure(experiments={"first_pc": TINY["experiments"]["first_pc"]})
    project.make("table4", "-c1", *overlay(tmp_path, experiment_defaults={"trials": 3}))
    assert state() == before
    (project.folder / "results" / "data" / "movement" / "matrix.npy").write_bytes(b"damaged")
    setting = overlay(tmp_path, experiment_defaults={"trials": 4})
    assert project.snakemake("table4", "-c1", *setting).code != 0
    assert state() == before
    assert project.snakemake("all", "--delete-all-output", "-c1").code == 0
    assert state() == before
    assert not (project.folder / "results" / "tables" / "table4.csv").exists()
