from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from samplerun import CONFIG, put, settle

from matrixdp.checks import InputError
from reproduction import catalogue
from reproduction.cli import save_reference
from reproduction.report import findings, inputs, reference, summary


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
    assert summary.read_summary(tmp_path / "kept" / "summary" / "regression.csv")["mean"][0] == 0.25
    assert not (tmp_path / "kept" / "trials").exists()
    assert [p.name for p in (tmp_path / "kept" / "data").rglob("*.*")] == ["provenance.json"]
    assert inputs.read_input("settings", inputs.files_of_folder(tmp_path / "kept")) == CONFIG
    with pytest.raises(InputError, match="no summary to keep"):
        reference.keep(tmp_path / "nothing", tmp_path / "kept")


# What follows from the rows


def following(folder, table=None, effect="0.25", reason="of 0.25", **run):
    """Write a run's rows, and files that follow from them."""
    write(folder, frame() if table is None else table, **run)
    put(folder / "claims.csv", f"id,effect,reason\nM8,0.5,\nM9,{effect},{reason}\n")
    put(folder / "audit/regression/laplace.csv", "mechanism\nlaplace\n")
    put(folder / "figures/data/nominal.csv", "x,y\n1,2\n")
    put(folder / "tables/table3.md", effect)
    return folder


def held(tmp_path, run, quick=True, kept=None, **settings):
    reference.keep(following(tmp_path / "first", kept, **settings), tmp_path / "kept", quick=quick)
    if quick:
        write(tmp_path / "kept", frame(mean=0.7), trials=1000)
    return reference.verify(run, tmp_path / "kept")


@pytest.mark.parametrize("quick", [True, False])
def test_files_of_the_same_trials_must_be_the_same_but_for_rounding(tmp_path, quick):
    table = frame(epsilon_delivered=1.00002, mean=0.2 * (1 + 1e-9), select_mean=1e-16)
    run = following(tmp_path / "run", table, effect="0.25000001", reason="of 0.2501")
    sentence = held(tmp_path, run, quick, kept=frame(select_mean=0))
    # The summary and the claims; a reason may round a number another way.
    assert sentence.startswith("2 files are those of")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"effect": "0.2501"}, r"claims.csv has another effect \(0.2501 != 0.25\) in M9"),
        ({"reason": "not of 0.25"}, r"another reason \('not of #' != 'of #'\) in M9, of 0.25$"),
        ({"reason": ""}, "claims.csv has another reason"),
        ({"reason": "x\nM10,0.1,"}, "claims.csv has other columns or another number of rows"),
        ({"table": frame(epsilon_delivered=1.001)}, r"epsilon_delivered \(1.001 != 1.0\)"),
        ({"table": frame(delta=1e-9)}, "regression.csv has another delta"),
        ({"table": frame(mean=0.202)}, r"has another mean \(0.202 != 0.2\) in regression, liver"),
        ({"table": frame(mean=0.20001)}, "has another mean"),
        ({"table": frame(sd=np.nan)}, "regression.csv has another sd"),
        ({"table": frame(mechanism="imgm")}, "has another mechanism"),
    ],
)
def test_a_file_that_differs_is_named_with_its_first_cell(tmp_path, changes, message):
    with pytest.raises(InputError, match=f"1 of 2 files are not those of .*{message}"):
        held(tmp_path, following(tmp_path / "run", **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean": 0.203, "sd": 0.021}, ""),
        ({"mean": 0.205}, "has a mean outside its 95 % interval"),
        ({"mean": 0.203, "noise_std": 1.001}, "has another noise_std"),
        ({"mean": 0.203, "epsilon": "10"}, "has another epsilon"),
        ({"mean": 0.203, "outcome": "no guarantee"}, "has another outcome"),
    ],
)
def test_on_another_processor_means_of_trainings_stay_within_their_intervals(
    tmp_path, changes, message
):
    def trained(folder, table):
        write(folder, table)
        settle(folder, seed=1, experiments={}, training={"regression": {"trials": 100}})
        return folder

    reference.keep(trained(tmp_path / "first", frame(outcome="x")), tmp_path / "kept")
    run = trained(tmp_path / "run", frame(**{"outcome": "x"} | changes))
    if not message:
        assert "1 files are those of" in reference.verify(run, tmp_path / "kept")
    else:
        with pytest.raises(InputError, match=message):
            reference.verify(run, tmp_path / "kept")


PAIR = {"p": 0.04, "statistic": "median", "verdict": "worse"}


@pytest.mark.parametrize(
    ("experiment", "changes", "message"),
    [
        ("regression", {"p": 0.04001}, ""),
        ("regression", {"p": 0.0402}, "has another p"),
        ("regression", {"verdict": "even"}, "has another verdict"),
        ("regression", {"statistic": "mean"}, "has another statistic"),
        ("imdb", {"p": 0.08, "verdict": "even"}, ""),
        ("imdb", {"p": 0.01, "statistic": "mean"}, ""),
        ("imdb", {"verdict": "better"}, "has another verdict"),
    ],
)
def test_a_pair_of_trainings_may_be_even_on_another_processor(
    tmp_path, experiment, changes, message
):
    def compared(name, **changes):
        folder = write(tmp_path / name, frame())
        row = {"experiment": experiment, "mechanism": "imgm", "against": "mvg", **PAIR, **changes}
        (folder / "comparisons").mkdir()
        pd.DataFrame([row]).to_csv(folder / "comparisons/regression.csv", index=False)
        settle(folder, seed=1, experiments={"regression": {"trials": 1}}, training={"imdb": {}})
        return folder

    reference.keep(compared("first"), tmp_path / "kept")
    if not message:
        assert "2 files are those of" in reference.verify(
            compared("run", **changes), tmp_path / "kept"
        )
    else:
        with pytest.raises(InputError, match=message):
            reference.verify(compared("run", **changes), tmp_path / "kept")


def test_a_delivered_epsilon_of_almost_nothing_moves_by_the_grid_of_losses(tmp_path):
    run = following(tmp_path / "run", frame(epsilon_delivered=1.287e-7))
    assert "2 files are those of" in held(tmp_path, run, kept=frame(epsilon_delivered=1.294e-7))


@pytest.mark.parametrize(
    ("mechanism", "near", "far"), [("laplace", 0.36, 0.33), ("ppca", 0.26, 0.15)]
)
@pytest.mark.parametrize("column", ["epsilon_certified", "epsilon_largest", "runs"])
def test_what_runs_prove_may_move_of_a_sampler_that_rejects_as_by_another_seed(
    tmp_path, column, mechanism, near, far
):
    def proven(name, epsilon):
        return write(tmp_path / name, frame(mechanism=mechanism, **{column: epsilon}))

    reference.keep(proven("first", 0.43), tmp_path / "kept")
    assert "1 files are those of" in reference.verify(proven("near", near), tmp_path / "kept")
    with pytest.raises(InputError, match=f"has another {column}"):
        reference.verify(proven("far", far), tmp_path / "kept")


@pytest.mark.parametrize("run", [{"trials": 20}, {"seed": 2}])
def test_other_trials_have_nothing_to_compare_with(tmp_path, run):
    with pytest.raises(InputError, match="has the seed, experiments and trials of .* nothing to"):
        held(tmp_path, following(tmp_path / "run", **run))
    with pytest.raises(InputError, match="nowhere has no run to compare; run `make` or"):
        reference.verify(tmp_path / "nowhere", tmp_path / "kept")


def test_a_file_that_is_missing_is_named(tmp_path):
    run = following(tmp_path / "run")
    (run / "claims.csv").unlink()
    with pytest.raises(InputError, match="claims.csv is missing"):
        held(tmp_path, run)


@pytest.mark.parametrize("quick", [True, False])
def test_of_a_run_without_an_experiment_the_rows_of_the_others_are_compared(tmp_path, quick):
    def two(folder, cell):
        following(folder, effect=cell)
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
    assert "6 files are those of" in reference.verify(two(tmp_path / "run", "0.5"), kept)
    # Claims, tables and figures follow from both.
    run = two(tmp_path / "part", "0.7")
    for path in run.rglob("covariance*.csv"):
        path.unlink()
    put(run / "comparisons/regression.csv", "mean\n0.5\n")
    assert reference.verify(run, kept).startswith("2 files are those of")
    put(run / "comparisons/regression.csv", "mean\n0.6\n")
    with pytest.raises(
        InputError, match=r"1 of 2 files .*regression.csv has another mean \(0.6 != 0.5\)"
    ):
        reference.verify(run, kept)


def test_of_a_quick_run_numbers_are_kept_beside_the_full_run(tmp_path):
    kept = tmp_path / "kept"
    reference.keep(
        following(tmp_path / "quick", frame(mean=0.3), effect="0.3", trials=20), kept, quick=True
    )
    reference.keep(following(tmp_path / "full"), kept)
    names = {p.relative_to(kept).as_posix() for p in (kept / "quick").rglob("*.*")}
    assert names == {
        *("quick/settings.yaml", "quick/summary/regression.csv", "quick/claims.csv"),
        "quick/figures/data/nominal.csv",
    }
    assert "2 files are those of" in reference.verify(tmp_path / "quick", kept)


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
    monkeypatch.setattr(reference.tables, "write_table", lambda *words: written.append(words[0]))
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
    assert "mnist" in inputs.read_input("settings", inputs.files_of_folder(kept))["training"]
    # Each of the two runs is held against what is its own.
    for run in (full, mnist):
        assert "files are those of" in reference.verify(run, kept)
    of_mnist(full, "undecided", "M9,undecided,regression\n")
    with pytest.raises(InputError, match=r"claims.csv has another verdict"):
        reference.verify(full, kept)


def test_pictures_in_colour_are_kept_beside_the_full_run(tmp_path):
    kept = tmp_path / "kept"
    reference.keep(following(tmp_path / "full"), kept)
    copy = frame(experiment="cifar10_features", data_status="lossy copy")
    run = following(tmp_path / "run", effect="0.3")
    (run / "summary/regression.csv").unlink()
    copy.to_csv(run / "summary/cifar10_features.csv", index=False)
    settle(run, seed=1, experiments={}, training={"cifar10_features": {"trials": 5}})
    save_reference.run(images=str(run), reference=str(kept))
    assert (kept / "tables/table3.md").read_text() == "0.25"
    assert "2 files are those of" in reference.verify(run, kept)
    put(run / "claims.csv", "id,effect,reason\nM8,0.5,\nM9,0.4,of 0.25\n")
    with pytest.raises(InputError, match=r"has another effect \(0.4 != 0.3\)"):
        reference.verify(run, kept)


def of_seed(folder, seed, verdict, **run):
    """Write a run of some seed with one claim, and return its folder."""
    write(folder, frame(), seed=seed, **run)
    claim = {"id": "M12", "verdict": verdict, "test": "paired t, Holm", "reasons": "[]"}
    claim["experiments"] = "regression"
    put(folder / "claims.csv", findings.frame([claim]).to_csv(index=False))
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, ""),
        (
            {"seed": 1},
            r"run is not the run in .*kept with another seed and nothing else; run `make",
        ),
        ({"trials": 50}, "with another seed and nothing else; run `make second-seed`"),
    ],
)
def test_of_a_run_with_another_seed_alone_the_verdicts_are_kept(tmp_path, change, message):
    kept = tmp_path / "kept"
    reference.keep(of_seed(tmp_path / "full", 1, "reproduced"), kept)
    run = of_seed(tmp_path / "run", **{"seed": 2, "verdict": "undecided"} | change)
    if message:
        with pytest.raises(InputError, match=message):
            save_reference.run(verdicts=str(run), reference=str(kept))
        assert not (kept / "second_seed").exists()
        return
    save_reference.run(verdicts=str(run), reference=str(kept))
    assert {path.name for path in (kept / "second_seed").iterdir()} == {
        *("claims.csv", "settings.yaml")
    }
    table = pd.read_csv(kept / "tables/second_seed.csv")
    assert table[["id", "verdict", "verdict_other", "seed", "seed_other"]].to_numpy().tolist() == [
        ["M12", "reproduced", "undecided", 1, 2]
    ]
    # Each run is held against its own.
    for folder in (tmp_path / "full", run):
        assert "files are those of" in reference.verify(folder, kept)
    of_seed(run, 2, "reproduced")
    with pytest.raises(InputError, match="claims.csv has another verdict"):
        reference.verify(run, kept)
    (run / "claims.csv").unlink()
    with pytest.raises(InputError, match="run has no verdicts to keep; run `make second-seed`"):
        save_reference.run(verdicts=str(run), reference=str(kept))


def test_words_on_the_kept_panel_are_those_of_its_settings():
    kept = Path(__file__).parents[3] / "results" / "reference" / inputs.IMAGES
    config = yaml.safe_load((kept / inputs.SETTINGS).read_text())["training"]["cifar10_features"]
    assert (config["width"], config["records"]) == (0.25, None)
    words = catalogue.experiment("cifar10_features").kept
    assert f"a quarter of the network's units, {config['extractor_epochs']} epochs" in words
    assert {*pd.read_csv(kept / "rows/cifar10_features.csv")["data_status"]} == {"lossy copy"}
    assert "lossy copy" in words


def test_the_kept_files_are_those_that_a_run_makes():
    root = Path(__file__).parents[3]
    kept = root / "results" / "reference"
    assert {path.name for path in kept.iterdir()} <= {
        *(*reference.KEPT, reference.QUICK, inputs.IMAGES, inputs.SECOND_SEED)
    }
    experiments = yaml.safe_load((root / "config.yaml").read_text())["experiments"]
    made = {*experiments, *(f"{name}_sensitivities" for name in experiments), "negative_control"}
    assert {path.stem for path in (kept / "audit").iterdir()} == made
