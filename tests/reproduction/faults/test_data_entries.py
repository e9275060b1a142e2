"""Wrong entries of data sets: one sentence for each at planning, and files of one's own."""

from __future__ import annotations

import copy
import re

import mutations
import pytest
import yaml
from tinyproject import TINY

from matrixdp.checks import InputError
from reproduction import config
from reproduction.data import datasets, scaling

FROM_SCHEMA = dict(mutations.of_data())


def refused(entries):
    """Return the sentence that refuses entries."""
    with pytest.raises(InputError) as caught:
        config.check_data_sets(copy.deepcopy(entries))
    text = str(caught.value)
    assert text.startswith("workflow/datasets.yaml")
    assert "\n" not in text
    assert "--config" not in text
    return text


def test_the_shipped_entries_pass_and_have_the_methods_that_there_are():
    config.check_data_sets(datasets.entries())
    config.check_data_sets(mutations.DATA)
    part = mutations.DATA_SCHEMA["additionalProperties"]["properties"]["scalings"]
    method = part["additionalProperties"]["properties"]["method"]
    assert {*method["enum"]} == {*scaling.METHODS}


def test_a_file_of_ones_own_needs_its_checksum_and_no_more():
    entry = {key: mutations.DATA["liver"][key] for key in ("title", "shape", "columns", "scalings")}
    about = {"sha256": "0" * 64, "path": "~/somewhere/bupa.data"}
    config.check_data_sets({"liver": {**entry, "files": {"bupa.data": about}}})
    bounds = {"method": "bounds", "lower": [0] * 6, "upper": [9] * 6, "middle": [4.5] * 6}
    entry["scalings"] = {"default": bounds}
    config.check_data_sets({"liver": {**entry, "files": {"bupa.data": {"sha256": "0" * 64}}}})


def test_what_breaks_the_schema_is_one_sentence():
    assert len(FROM_SCHEMA) > 100
    for name, entries in FROM_SCHEMA.items():
        assert refused(entries), name


@pytest.mark.parametrize("name", mutations.DATA_BY_HAND)
def test_each_mistake_has_its_sentence(name):
    entries, pattern = mutations.DATA_BY_HAND[name]
    text = refused(entries)
    assert re.search(pattern, text), text


@pytest.mark.nightly
def test_a_file_that_is_not_there_ends_a_dry_run(fresh, tmp_path):
    fresh.configure(
        experiments={"mine": {"task": "covariance", "dataset": "liver", "mechanisms": ["laplace"]}},
        data={"source": "original"},
    )
    file = fresh.folder / "workflow" / "datasets.yaml"
    entries = yaml.safe_load(file.read_text())
    about = entries["liver"]["files"]["bupa.data"]
    del about["urls"]

    def plan(**variables):
        file.write_text(yaml.safe_dump(entries, sort_keys=False))
        return fresh.snakemake("--dry-run", "results/tables/mine.md", **variables)

    for mirror, words in (("", "no mirror is named"), (tmp_path, "the mirror, lacks it")):
        outcome = plan(DATA_MIRROR=str(mirror))
        assert outcome.code == 1
        assert words in outcome.output
        assert "Traceback" not in outcome.output
    (tmp_path / "bupa.data").write_text("1\n")
    assert plan(DATA_MIRROR=str(tmp_path)).code == 0
    about["path"] = "nowhere/bupa.data"
    assert "path is 'nowhere/bupa.data', where no file is" in plan().output
    about["path"] = str(tmp_path / "bupa.data")
    assert plan().code == 0
    # What only its bytes can tell is one sentence of the job.
    outcome = fresh.snakemake("results/data/liver/matrix.npy", "-c1")
    assert outcome.code == 1
    assert "correct path or sha256 in datasets.yaml" in outcome.output
    assert "Traceback" not in outcome.output
    entries["liver"]["shape"] = [345]
    assert "shape is [345]; it must be [records, columns]" in plan().output
    assert TINY["data"] == {"source": "simulated"}
