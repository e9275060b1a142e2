from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from samplerun import CONFIG, put, settle

from matrixdp.checks import InputError
from reproduction.cli import save_reference
from reproduction.report import inputs, reference, summary


def frame(**changes):
    row = dict.fromkeys(summary.COLUMNS, "") | {
        "experiment": "regression", "dataset": "liver", "data_status": "original",
        "mechanism": "laplace", "reading": "default", "epsilon": "1", "delta": 0.0,
        "epsilon_delivered": 1.0, "mu": np.nan, "noise_std": 1.0, "metric": "rmse",
        "mean": 0.2, "sd": 0.02, "ci95": 0.004, "n_trials": 100, "select_mean": np.nan,
        "chosen": True,
    }  # fmt: skip
    return pd.DataFrame([row | changes])


def write(folder, table, trials=100, seed=1):
    (folder / "summary").mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "summary" / "regression.csv", index=False)
    settle(folder, seed=seed, experiments={"regression": {"trials": trials}})
    return folder


def test_simulated_results_are_neither_verified_nor_kept(tmp_path):
    write(tmp_path / "run", frame(data_status="simulated"))
    write(tmp_path / "kept", frame())
    with pytest.raises(InputError, match="simulated"):
        reference.verify(tmp_path / "run", tmp_path / "kept")
    with pytest.raises(InputError, match="simulated"):
        reference.keep(tmp_path / "run", tmp_path / "kept")


def test_keeping_replaces_what_was_kept(tmp_path):
    write(tmp_path / "run", frame(mean=0.25))
    (tmp_path / "run" / "trials").mkdir()
    put(tmp_path / "run" / "data/liver/provenance.json", "{}")
    put(tmp_path / "run" / "data/liver/matrix.npy", "")
    settle(tmp_path / "run")
    write(tmp_path / "kept", frame())
    (tmp_path / "kept" / "summary" / "gone.csv").write_text("")
    reference.keep(tmp_path / "run", tmp_path / "kept")
    assert [p.name for p in (tmp_path / "kept").rglob("*.csv")] == ["regression.csv"]
    assert summary.read(tmp_path / "kept" / "summary" / "regression.csv")["mean"][0] == 0.25
    assert not (tmp_path / "kept" / "trials").exists()
    assert [p.name for p in (tmp_path / "kept" / "data").rglob("*.*")] == ["provenance.json"]
    assert inputs.read("settings", inputs.below(tmp_path / "kept")) == CONFIG
    with pytest.raises(InputError, match="no summary to keep"):
        reference.keep(tmp_path / "nothing", tmp_path / "kept")


# What follows from the rows


def following(folder, table=None, cell="0.25", note="the best one", **run):
    """Write a run's rows, and files that follow from them."""
    write(folder, frame() if table is None else table, **run)
    put(folder / "tables/table3.csv", f"mechanism,mean,note\nlaplace,0.5,\nimgm,{cell},{note}\n")
    put(folder / "claims.csv", f"id,reason\nM9,of {cell}\n")
    put(folder / "audit/regression/laplace.csv", "mechanism\nlaplace\n")
    put(folder / "figures/data/nominal.csv", "x,y\n1,2\n")
    put(folder / "tables/table3.md", cell)
    return folder


def held(tmp_path, run, quick=True):
    reference.keep(following(tmp_path / "first"), tmp_path / "kept", quick=quick)
    if quick:
        write(tmp_path / "kept", frame(mean=0.7), trials=1000)
    return reference.verify(run, tmp_path / "kept")


@pytest.mark.parametrize("quick", [True, False])
def test_files_of_the_same_trials_must_be_the_same_but_for_rounding(tmp_path, quick):
    table = frame(epsilon_delivered=1.00002, mean=0.2 * (1 + 1e-9), select_mean=1e-16)
    kept = frame(select_mean=0)
    reference.keep(following(tmp_path / "first", kept), tmp_path / "kept", quick=quick)
    run = following(tmp_path / "run", table, cell="0.2500000001")
    # The summary, the table, the claims, the curve.
    assert "4 files are those of" in reference.verify(run, tmp_path / "kept")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"cell": "0.2501"},
            "claims.csv has 'of 0.2501' instead of .*; tables/table3.csv has '0.2",
        ),
        ({"note": "the worst one"}, "table3.csv has 'the worst one' instead of 'the best one' as"),
        ({"note": ""}, "table3.csv has '' instead of 'the best one' as note in row 2$"),
        ({"note": "1\nppca,0.1,"}, "table3.csv has other columns or another number of rows"),
        (
            {"table": frame(epsilon_delivered=1.001)},
            r"regression.csv has '1.001' instead of '1.0' as",
        ),
        ({"table": frame(delta=1e-9)}, "regression.csv has '1e-09' instead of '0.0' as delta"),
        ({"table": frame(mean=0.3)}, "regression.csv has '0.3' instead of '0.2' as mean in row 1"),
        ({"table": frame(sd=np.nan)}, "regression.csv has '' instead of '0.02' as sd in row 1"),
    ],
)
def test_a_file_that_differs_is_named_with_its_first_cell(tmp_path, changes, message):
    with pytest.raises(InputError, match=f"[12] of 4 files are not those of .*{message}"):
        held(tmp_path, following(tmp_path / "run", **changes))


def test_on_another_processor_numbers_that_follow_from_means_are_counted(tmp_path):
    table = frame(mean=0.203, sd=0.021)
    sentence = held(tmp_path, following(tmp_path / "run", table, cell="0.3"))
    assert "2 in summary/regression.csv, 1 in claims.csv, 1 in tables/table3.csv" in sentence
    # Words and what formulas give must be the same there too; a mean stays within its interval.
    for name, changes in (
        ("claims.csv has 'of no", {"table": table, "cell": "no"}),
        ("as noise_std", {"table": table.assign(noise_std=1.001)}),
        ("as epsilon", {"table": table.assign(epsilon="10")}),
        ("as mean", {"table": frame(mean=0.205)}),
    ):
        with pytest.raises(InputError, match=name):
            held(tmp_path, following(tmp_path / "run", **changes))


@pytest.mark.parametrize("run", [{"trials": 20}, {"seed": 2}])
def test_other_trials_have_nothing_to_compare_with(tmp_path, run):
    with pytest.raises(InputError, match="has the seed, experiments and trials of .* nothing to"):
        held(tmp_path, following(tmp_path / "run", **run))
    with pytest.raises(InputError, match="nothing to compare; run `make`"):
        reference.verify(tmp_path / "nowhere", tmp_path / "kept")


def test_a_file_that_is_missing_is_named(tmp_path):
    run = following(tmp_path / "run")
    (run / "tables/table3.csv").unlink()
    with pytest.raises(InputError, match="tables/table3.csv is missing"):
        held(tmp_path, run)
    (run / "tables/table3.csv").touch()
    with pytest.raises(InputError, match="tables/table3.csv has other columns"):
        held(tmp_path, run)


@pytest.mark.parametrize("quick", [True, False])
def test_of_a_run_without_an_experiment_the_rows_of_the_others_are_compared(tmp_path, quick):
    def two(folder, cell):
        following(folder, cell=cell)
        for name in ("summary/covariance", "audit/covariance", "audit/covariance_sensitivities"):
            put(folder / f"{name}.csv", "a\n1\n")
        put(folder / "comparisons/regression.csv", f"mean\n{cell}\n")
        frame(experiment="covariance").to_csv(folder / "summary/covariance.csv", index=False)
        settle(folder, seed=1, experiments={"regression": {}, "covariance": {}})
        return folder

    kept = tmp_path / "kept"
    reference.keep(two(tmp_path / "first", "0.5"), kept)
    if quick:
        reference.keep(tmp_path / "first", kept, quick=True)
        write(kept, frame(mean=0.7), trials=1000)
    assert "8 files are those of" in reference.verify(two(tmp_path / "run", "0.5"), kept)
    # Claims, tables and figures follow from both.
    run = two(tmp_path / "part", "0.7")
    for path in run.rglob("covariance*.csv"):
        path.unlink()
    put(run / "comparisons/regression.csv", "mean\n0.5\n")
    assert reference.verify(run, kept).startswith("2 files are those of")
    put(run / "comparisons/regression.csv", "mean\n0.6\n")
    with pytest.raises(InputError, match=r"1 of 2 files .*regression.csv has '0.6' instead of"):
        reference.verify(run, kept)


def test_of_a_quick_run_numbers_are_kept_beside_the_full_run(tmp_path):
    kept = tmp_path / "kept"
    reference.keep(
        following(tmp_path / "quick", frame(mean=0.3), cell="0.3", trials=20), kept, quick=True
    )
    reference.keep(following(tmp_path / "full"), kept)
    names = {p.relative_to(kept).as_posix() for p in (kept / "quick").rglob("*.*")}
    assert names == {
        *("quick/settings.yaml", "quick/summary/regression.csv", "quick/claims.csv"),
        *("quick/tables/table3.csv", "quick/figures/data/nominal.csv"),
    }
    assert "4 files are those of" in reference.verify(tmp_path / "quick", kept)
    put(tmp_path / "quick/figures/data/nominal.csv", "x,y\n1,2.1\n")
    with pytest.raises(InputError, match=r"nominal.csv has '2.1' instead of '2' as y in row 1"):
        reference.verify(tmp_path / "quick", kept)


def of_mnist(folder, verdict, *others):
    """Write a run's claims, and what it has on MNIST where it has a verdict on it."""
    header = "id,verdict,experiments\n"
    put(folder / "claims.csv", f"{header}{''.join(others)}I15,{verdict},mnist mnist_features\n")
    put(folder / "tables/claims_comparisons.csv", "id,effect\n")
    if verdict == "reproduced":
        frame(experiment="mnist").to_csv(folder / "summary/mnist.csv", index=False)
        put(folder / "tables/imgm_mnist.csv", "a\n1\n")
        put(folder / "tables/claims_comparisons.csv", "id,effect\nI15,0.2\n")
    return folder


def test_the_run_on_mnist_is_kept_among_the_full_run(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(reference.tables, "write", lambda *words: written.append(words[0]))
    full = of_mnist(write(tmp_path / "full", frame()), "undecided", "M9,reproduced,regression\n")
    mnist = of_mnist(write(tmp_path / "mnist", frame()), "reproduced", "M9,undecided,\n")
    (mnist / "summary/regression.csv").unlink()
    settle(mnist, seed=1, experiments={}, training={"mnist": {"trials": 100}})
    kept = tmp_path / "kept"
    with pytest.raises(InputError, match="full has no summary of mnist to keep; run `make mnist`"):
        reference.keep(full, kept, mnist=full)
    reference.keep(full, kept, mnist=mnist)
    assert pd.read_csv(kept / "claims.csv")["verdict"].tolist() == ["reproduced"] * 2
    assert (kept / "tables/claims_comparisons.csv").read_text() == "id,effect\nI15,0.2\n"
    assert written == ["claims"]
    assert "mnist" in inputs.read("settings", inputs.below(kept))["training"]
    # Each of the two runs is held against what is its own.
    for run in (full, mnist):
        assert "files are those of" in reference.verify(run, kept)
    put(mnist / "tables/imgm_mnist.csv", "a\n2\n")
    with pytest.raises(InputError, match="imgm_mnist.csv has '2' instead of '1'"):
        reference.verify(mnist, kept)
    of_mnist(full, "undecided", "M9,undecided,regression\n")
    with pytest.raises(InputError, match="claims.csv has 'undecided' instead of 'reproduced'"):
        reference.verify(full, kept)


def test_pictures_in_colour_are_kept_beside_the_full_run(tmp_path):
    kept = tmp_path / "kept"
    reference.keep(following(tmp_path / "full"), kept)
    copy = frame(experiment="cifar10_features", data_status="lossy copy")
    run = following(tmp_path / "run", cell="0.3")
    (run / "summary/regression.csv").unlink()
    copy.to_csv(run / "summary/cifar10_features.csv", index=False)
    settle(run, seed=1, experiments={}, training={"cifar10_features": {"trials": 5}})
    save_reference.run(images=str(run), reference=str(kept))
    assert (kept / "tables/table3.md").read_text() == "0.25"
    assert "4 files are those of" in reference.verify(run, kept)
    put(run / "tables/table3.csv", "mechanism,mean,note\nlaplace,0.5,\nimgm,0.4,the best one\n")
    with pytest.raises(InputError, match="has '0.4' instead of '0.3' as mean"):
        reference.verify(run, kept)


def test_the_kept_files_are_those_that_a_run_makes():
    root = Path(__file__).parents[3]
    kept = root / "results" / "reference"
    assert {path.name for path in kept.iterdir()} <= {
        *(*reference.KEPT, reference.QUICK, reference.IMAGES)
    }
    experiments = yaml.safe_load((root / "config.yaml").read_text())["experiments"]
    made = {*experiments, *(f"{name}_sensitivities" for name in experiments), "negative_control"}
    assert {path.stem for path in (kept / "audit").iterdir()} == made
