"""A clone holds all that a run needs, and a run leaves the clone's own files alone."""

from __future__ import annotations

import pytest


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
