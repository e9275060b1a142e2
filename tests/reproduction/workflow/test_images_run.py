"""`make images` in a clone, with small settings, on the lossy copy that a mirror has."""

import json

import pandas as pd
import pytest
import yaml

pytestmark = pytest.mark.nightly

OVERLAY = ("--configfile", "workflow/config/images.yaml", "small.yaml")


def test_private_features_of_a_lossy_copy_are_marked(shipped, tmp_path, mirror):
    project = shipped.copy(tmp_path / "clone")
    small = {"records": 64, "trials": 2, "epochs": 1, "lot": 32, "extractor_epochs": 1}
    small |= {"epsilons": [1], "schemes": ["nonprivate", "imgm", "analytic_gaussian"]}
    (project.folder / "small.yaml").write_text(
        yaml.safe_dump({"training": {"cifar10_features": small}})
    )
    targets = ("cifar10_features", "figure1", "table1")
    project.make(*targets, *OVERLAY, "-c2", DATA_MIRROR=mirror)
    results = project.folder / "results/images"
    rows = pd.read_csv(results / "summary/cifar10_features.csv")
    assert {*rows["data_status"]} == {"lossy copy"}
    assert {*rows["dataset"]} == {"cifar10_jpeg"}
    for file in ("tables/imgm_cifar10_features.md", "tables/table1.md"):
        assert "lossy copy" in (results / file).read_text(encoding="utf-8")
    caption = json.loads((results / "figures/figure1.json").read_text(encoding="utf-8"))
    assert "LOSSY COPY" in json.dumps(caption)
    assert "| **SVHN** |" in (results / "tables/table1.md").read_text(encoding="utf-8")
    # The original takes the place of the copy, and is not made of it.
    original = {"training": {"cifar10_features": {**small, "dataset": "cifar10"}}}
    (project.folder / "small.yaml").write_text(yaml.safe_dump(original))
    outcome = project.snakemake(*targets, *OVERLAY, "-c2", DATA_MIRROR=mirror)
    assert outcome.code
    assert "cifar-10-python.tar.gz of data set cifar10 cannot be downloaded" in outcome.output
