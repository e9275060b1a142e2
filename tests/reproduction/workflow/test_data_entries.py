"""Files of one's own that a data set lacks: one sentence at planning."""

from __future__ import annotations

import pytest
import yaml


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
