"""A clone holds all that a run needs, and a run leaves the clone's own files alone."""

from __future__ import annotations

import os

import pytest
from tinyproject import project_files


@pytest.mark.nightly
def test_a_run_needs_only_the_clone_and_writes_only_results(finished, shipped):
    # The run itself took place in such a copy, see the fixture.
    own = [file.relative_to(shipped.folder) for file in shipped.folder.rglob("*")]
    # Other tests plan runs in the same clone, at the same time.
    own = [file for file in own if not {"__pycache__", ".snakemake"} & {*file.parts}]
    for name in own:
        if (shipped.folder / name).is_file() and name.name != "config.yaml":
            assert (finished.folder / name).read_bytes() == (shipped.folder / name).read_bytes()
    made = {
        file.relative_to(finished.folder).parts[0]
        for file in finished.folder.rglob("*")
        if "__pycache__" not in file.parts and file.relative_to(finished.folder) not in own
    }
    assert made == {"results", ".snakemake"}


def test_no_file_points_out_of_the_clone(shipped):
    links = [file for file in shipped.folder.rglob("*") if file.is_symlink()]
    assert not [link for link in links if os.path.isabs(os.readlink(link))]


def test_nothing_that_a_run_makes_is_kept_but_the_reference():
    kept = [name for name in project_files() if name.startswith("results/")]
    assert all(name.startswith("results/reference/") for name in kept)
