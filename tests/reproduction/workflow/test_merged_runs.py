"""Results of others in a run of one's own: shown and marked, and no verdict of one's own moves."""

import json
import os
import sys

import pandas as pd
import pytest
from installedpackages import install
from test_end_to_end import give_originals
from test_recipes import follow
from tinyproject import TinyProject

#: PYTHONPATH of a copy of the project.
PATH = os.pathsep.join(["src", "workflow"])

OTHERS = {"calm": "Laplace", "still": "Gaussian"}
DECLARED = {name: f"{name} (declared by {name}-noise 1.0, not rerun)" for name in OTHERS}
OWN = ["nonprivate", "random", "imgm", "analytic_gaussian", "gaussian_2014"]
#: All that judges or compares, and shows what is judged.
RESULTS = {
    name: f"results/{name}"
    for name in (
        *("summary/covariance.csv", "comparisons/covariance.csv", "audit/covariance.csv"),
        *("tables/table5.csv", "tables/table5.json", "tables/price.csv", "tables/price.json"),
        *("tables/advice.csv", "tables/advice.json", "claims.csv", "tables/claims_comparisons.csv"),
        "figures/data/curves_covariance.csv",
    )
}


def carry(project: TinyProject, name: str, **options: str):
    """Install a package with a mechanism beside the library, which is on the path of every job."""
    kind = OTHERS[name]
    text = f"from matrixdp import {kind}\n\n\nclass Thing({kind}):\n    pass\n"
    modules = {f"{name}_noise/__init__.py": text}
    points = {name: f"{name}_noise:Thing"}
    install(project.folder / "src", modules, points, name=f"{name}-noise", **options)


def configure(project: TinyProject, mirror: str, mechanisms: list[str], **changes: object):
    covariance = {"task": "covariance", "dataset": "liver", "mechanisms": mechanisms}
    return project.configure(
        experiment_defaults={"trials": 12, "epsilons": [1]},
        data={"source": "original", "mirror": mirror},
        experiments={"covariance": covariance},
        **changes,
    )


def own(content: bytes, name: str) -> bytes:
    """Return the lines of a result without the rows of others; of JSON the headline alone."""
    if name.endswith(".json"):
        return str(json.loads(content)["headline"]).encode()
    return b"\n".join(line for line in content.splitlines() if b", not rerun)" not in line)


def read(project: TinyProject) -> dict[str, bytes]:
    return {name: (project.folder / file).read_bytes() for name, file in RESULTS.items()}


@pytest.mark.slow
def test_two_bundles_of_two_packages_merge_and_move_no_verdict(fresh, tmp_path):
    mirror = give_originals(fresh, tmp_path / "originals")
    author = fresh.copy(tmp_path / "author")
    for name in OTHERS:
        carry(author, name)
    configure(author, mirror, [*OTHERS])
    files = [f"results/trials/covariance/default/{name}.csv.gz" for name in OTHERS]
    author.make("-c1", *files, "results/settings.yaml")
    paths = [str(tmp_path / f"{name}.zip") for name in OTHERS]
    for name, path in zip(OTHERS, paths, strict=True):
        command = [sys.executable, "-m", "reproduction", "bundle", name, "--out", path]
        done = author.run(*command, PYTHONPATH=PATH)
        assert done.code == 0, done.output

    configure(fresh, mirror, OWN).make("-c1", *RESULTS.values())
    alone = read(fresh)
    configure(fresh, mirror, OWN, bundles=paths).make("-c1", *RESULTS.values())
    both = read(fresh)
    assert [name for name in RESULTS if own(both[name], name) != own(alone[name], name)] == []
    assert b"not rerun" not in b"".join(alone.values())
    for name in ("summary/covariance.csv", "comparisons/covariance.csv", "tables/table5.csv"):
        for mark in DECLARED.values():
            assert mark.encode() in both[name], name
    for name in ("advice", "price"):
        assert both[f"tables/{name}.csv"] == alone[f"tables/{name}.csv"]
    assert both["claims.csv"] == alone["claims.csv"]
    audit = pd.read_csv(fresh.folder / RESULTS["audit/covariance.csv"])
    verdicts = audit[audit["mechanism"].isin(DECLARED.values())]["verdict"]
    assert sorted(verdicts) == [f"declared: by {name}-noise 1.0, not rerun" for name in OTHERS]
    assert DECLARED["calm"] in (fresh.folder / "results/tables/table5.md").read_text()

    # Where the code of one is here, it is run and audited anew; that of the other one has changed.
    carry(fresh, "calm")
    carry(fresh, "still", version="1.1")
    fresh.make("-c1", "results/audit/covariance.csv", "results/summary/covariance.csv")
    audit = pd.read_csv(fresh.folder / RESULTS["audit/covariance.csv"])
    verdicts = audit.set_index("mechanism")["verdict"]
    assert not verdicts["calm (run by calm-noise 1.0)"].startswith("declared: by")
    other = "declared by still-noise 1.0, whose code is not the one here, not rerun"
    assert "; the code here, which is another: " in verdicts[f"still ({other})"]

    # Other settings are refused while planning.
    assert "has seed 2026, and here it is 1" in fresh.snakemake("-n", "--config", "seed=1").output


@pytest.mark.slow
def test_the_recipe_for_results_of_others_works(fresh, tmp_path):
    mirror = give_originals(fresh, tmp_path / "originals")
    experiment = {"task": "first_pc", "dataset": "liver", "mechanisms": ["nonprivate", "random"]}
    fresh.configure(
        experiment_defaults={"trials": 12, "epsilons": [1]},
        data={"source": "original", "mirror": mirror},
        experiments={"first_pc": experiment},
    )
    author = fresh.copy(tmp_path / "author")
    follow(author, "A mechanism")
    trials = "results/trials/first_pc/default/independent_laplace.csv.gz"
    author.make("-c1", trials, "results/settings.yaml")
    pack, show = follow(fresh, "Results of others")
    done = author.run(sys.executable, *pack, PYTHONPATH=PATH)
    assert done.code == 0, done.output
    (author.folder / pack[-1]).rename(fresh.folder / pack[-1])
    fresh.make("-c1", *show)
    table = (fresh.folder / "results" / "tables" / "table4.md").read_text()
    assert "independent_laplace (declared by independent_laplace, not rerun)" in table
