import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from samplerun import CONFIG, put, settle

from matrixdp.checks import InputError
from reproduction.report import inputs, reference, summary


def frame(**changes):
    row = dict.fromkeys(summary.COLUMNS, "") | {
        "experiment": "regression", "dataset": "liver", "data_status": "original",
        "mechanism": "laplace", "reading": "default", "epsilon": "1", "delta": 0.0,
        "epsilon_actual": 1.0, "mu_actual": np.nan, "noise_std": 1.0, "metric": "rmse",
        "mean": 0.2, "sd": 0.02, "ci95": 0.004, "n_trials": 100, "select_mean": np.nan,
        "chosen": True,
    }  # fmt: skip
    return pd.DataFrame([row | changes])


def verdict(run, kept):
    (row,) = reference.compare(run, kept).to_dict("records")
    return row["verdict"]


def test_the_same_trials_must_agree_but_for_rounding():
    assert verdict(frame(), frame()) == "identical"
    assert verdict(frame(mean=0.2 * (1 + 1e-9)), frame()) == "identical"
    assert verdict(frame(mean=0.2 * (1 + 1e-5)), frame()) == "equivalent"


@pytest.mark.parametrize(
    ("mean", "n_trials", "expected"),
    [
        (0.2, 20, "equivalent"),
        (0.205, 20, "equivalent"),
        (0.22, 20, "not equivalent"),
        (0.18, 100, "not equivalent"),
        # Too few trials to show anything.
        (0.2, 2, "not equivalent"),
    ],
)
def test_other_trials_must_show_equivalence(mean, n_trials, expected):
    assert verdict(frame(mean=mean, n_trials=n_trials), frame()) == expected


def rows(values):
    """Return a row for each sample of values, at an epsilon of its own."""
    values = np.asarray(values)
    changes = {"mean": values.mean(axis=1), "sd": values.std(axis=1, ddof=1)}
    names = [str(number) for number in range(len(values))]
    table = pd.concat([frame(n_trials=values.shape[1])] * len(values), ignore_index=True)
    return table.assign(epsilon=names, **changes)


def test_the_test_holds_its_level_and_has_power():
    # At the edge of the margin a run passes in at most 5 % of cases; a true copy nearly always.
    rng = np.random.default_rng(0)
    for mean, least, most in ((0.2, 280, 300), (0.22, 0, 25)):
        run = rows(rng.normal(mean, 0.02, (300, 20)))
        kept = run.assign(mean=0.2, sd=0.02, n_trials=100)
        equivalent = reference.compare(run, kept)["verdict"].eq("equivalent")
        assert least <= equivalent.sum() <= most


def few(**changes):
    return frame(n_trials=5, metric="accuracy", **changes)


def test_rows_of_few_trials_must_not_be_told_apart():
    assert verdict(few(), few()) == "identical"
    # The last digits of another processor.
    assert verdict(few(mean=0.201), few()) == "not told apart"
    assert verdict(few(mean=0.26), few()) == "not equivalent"
    # The level is shared by all such rows.
    shifted = pd.concat([few(mean=0.235)] + [few(epsilon=str(i)) for i in range(2, 100)])
    kept = pd.concat([few()] + [few(epsilon=str(i)) for i in range(2, 100)])
    assert verdict(few(mean=0.235), few()) == "not equivalent"
    assert {*reference.compare(shifted, kept)["verdict"]} == {"identical", "not told apart"}


def test_a_true_copy_of_few_trials_is_seldom_told_apart(monkeypatch):
    # Each of the rows is a run of its own, though they share a level.
    monkeypatch.setattr(reference, "LEVEL", 500 * reference.LEVEL)
    rng = np.random.default_rng(1)
    run, kept = (rows(rng.normal(0.2, 0.02, (500, 5))) for _ in range(2))
    apart = reference.compare(run, kept)["verdict"].eq("not equivalent")
    assert 10 <= apart.sum() <= 40


def test_rows_without_spread_must_agree():
    zero = {"mean": 0.0, "sd": 0.0, "ci95": 0.0}
    assert verdict(frame(**zero | {"mean": 1e-16}, n_trials=20), frame(**zero)) == "equivalent"
    assert verdict(frame(**zero | {"mean": 1e-3}, n_trials=20), frame(**zero)) == "not equivalent"


def write(folder, table):
    (folder / "summary").mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "summary" / "regression.csv", index=False)
    (folder / "settings.yaml").write_text("experiments: {regression: {}}\ntraining: {}\n")


def test_verify_writes_what_it_found_and_fails_on_a_difference(tmp_path):
    write(tmp_path / "run", frame())
    write(tmp_path / "kept", frame())
    out = tmp_path / "verify.csv"
    said = reference.verify(tmp_path / "run", tmp_path / "kept", out)
    assert "1 rows compared" in said
    assert "1 identical" in said
    write(tmp_path / "other", frame(mean=0.3))
    with pytest.raises(InputError, match="1 of 1 rows are not equivalent"):
        reference.verify(tmp_path / "other", tmp_path / "kept", out)
    assert pd.read_csv(out)["verdict"].tolist() == ["not equivalent"]


def test_simulated_results_are_neither_verified_nor_kept(tmp_path):
    write(tmp_path / "run", frame(data_status="simulated"))
    write(tmp_path / "kept", frame())
    with pytest.raises(InputError, match="simulated"):
        reference.verify(tmp_path / "run", tmp_path / "kept", tmp_path / "verify.csv")
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


def test_a_quick_run_is_held_against_the_kept_quick_run(tmp_path):
    # So few trials could not show that they are equivalent to the full run; they are repeated.
    quick = frame(mean=0.23, n_trials=5)
    write(tmp_path / "run", quick)
    write(tmp_path / "kept", frame())
    reference.keep(tmp_path / "run", tmp_path / "kept", quick=True)
    said = reference.verify(tmp_path / "run", tmp_path / "kept", tmp_path / "verify.csv")
    assert "1 rows compared" in said
    assert "1 identical" in said
    write(tmp_path / "other", frame(mean=0.231, n_trials=5))
    with pytest.raises(InputError, match="1 of 1 rows are not equivalent"):
        reference.verify(tmp_path / "other", tmp_path / "kept", tmp_path / "verify.csv")


# What follows from the rows


def following(folder, table=None, cell="0.25", note="the best one"):
    """Write a run's rows, and files that follow from them."""
    write(folder, frame() if table is None else table)
    put(folder / "tables/table3.csv", f"mechanism,mean,note\nlaplace,0.5,\nimgm,{cell},{note}\n")
    put(folder / "figures/data/sampler_times.csv", f"seconds\n{cell}\n")
    put(folder / "claims.csv", f"id,reason\nM9,holds\nM10,took {cell} s (figures/sampler_times)\n")
    put(folder / "figures/data/nominal.csv", "x,y\n1,2\n")
    put(folder / "tables/table3.md", cell)
    settle(folder)
    return folder


def held(tmp_path, run, quick=True):
    reference.keep(following(tmp_path / "first"), tmp_path / "kept", quick=quick)
    if quick:
        write(tmp_path / "kept", frame(mean=0.7))
    return reference.verify(run, tmp_path / "kept", tmp_path / "verify.csv")


@pytest.mark.parametrize("quick", [True, False])
def test_files_of_the_same_rows_must_be_the_same(tmp_path, quick):
    run = following(tmp_path / "run", frame(epsilon_actual=1.00002), cell="0.2500000001")
    said = held(tmp_path, run, quick)
    # The summary, the table, the claims, the curve; what was measured in seconds is left out.
    assert "the 4 files that follow from them are those of" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cell": "0.2501"}, "tables/table3.csv has '0.2501' instead of '0.25' as mean in row 2$"),
        ({"note": "the worst one"}, "table3.csv has 'the worst one' instead of 'the best one' as"),
        ({"note": "1\nppca,0.1,"}, "table3.csv has other columns or another number of rows"),
        ({"table": frame(epsilon_actual=1.001)}, r"regression.csv has '1.001' instead of '1.0' as"),
        ({"table": frame(delta=1e-9)}, "regression.csv has '1e-09' instead of '0.0' as delta"),
    ],
)
def test_a_file_that_differs_is_named_with_its_first_cell(tmp_path, changes, said):
    with pytest.raises(InputError, match=said) as caught:
        held(tmp_path, following(tmp_path / "run", **changes))
    assert "but 1 of 4 files that follow from them are not (" in str(caught.value)


def test_a_file_that_is_missing_is_named(tmp_path):
    run = following(tmp_path / "run")
    (run / "tables/table3.csv").unlink()
    with pytest.raises(InputError, match="tables/table3.csv is missing"):
        held(tmp_path, run)


def tables_of(folder, table, **inputs_of):
    """Write tables and figures with the names of what they are made from."""
    write(folder, frame())
    frame(experiment="covariance").to_csv(folder / "summary/covariance.csv", index=False)
    for name in ("comparisons/covariance", "audit/covariance", "audit/covariance_sensitivities"):
        put(folder / f"{name}.csv", "a\n1\n")
    for name, used in inputs_of.items():
        data = "figures/data" if name.startswith("figure") else "tables"
        put(folder / f"{data}/{name}.csv", f"mean\n{table}\n")
        put(folder / f"{data.removesuffix('/data')}/{name}.json", json.dumps({"inputs": used}))
    put(folder / "claims.csv", f"id,reason\nM9,{table}\n")
    settle(folder, experiments={"regression": {}, "covariance": {}})
    return folder


@pytest.mark.parametrize("quick", [True, False])
def test_of_a_run_without_an_experiment_the_rest_is_compared(tmp_path, quick):
    made = {
        "table3": ["summary/regression", "settings"],
        "table5": ["summary/covariance", "audit/covariance"],
        "price": ["summary/regression", "summary/covariance"],
        "figure_price": ["tables/price"],
        "figure4": ["tables/table3"],
    }
    kept, out = tmp_path / "kept", tmp_path / "verify.csv"
    reference.keep(tables_of(tmp_path / "first", "0.5", **made), kept)
    if quick:
        reference.keep(tmp_path / "first", kept, quick=True)
        write(kept, frame(mean=0.7))
    run = tables_of(tmp_path / "run", "0.5", **made)
    assert "the 11 files that follow from them are those of" in reference.verify(run, kept, out)
    run = tables_of(tmp_path / "part", "0.7", **made)
    for path in [*run.rglob("covariance*.csv"), run / "tables/table5.csv"]:
        path.unlink()
    for name in ("tables/table3.csv", "figures/data/figure4.csv"):
        put(run / name, "mean\n0.5\n")
    # Its rows, Table 3 and the figure made from it; claims are corrected together.
    said = reference.verify(run, kept, out)
    assert "1 rows compared" in said
    assert "the 3 files that follow from them are those of" in said
    put(run / "figures/data/figure4.csv", "mean\n0.6\n")
    with pytest.raises(InputError, match=r"1 of 3 files .*figure4.csv has '0.6' instead of '0.5'"):
        reference.verify(run, kept, out)


def test_files_are_compared_only_where_all_rows_are_the_same(tmp_path):
    shifted = pd.concat([frame(), frame(epsilon="2", mean=0.2001)])
    kept = tmp_path / "kept"
    write(kept, pd.concat([frame(), frame(epsilon="2")]))
    out = tmp_path / "verify.csv"
    run = following(tmp_path / "run", shifted, cell="9")
    assert "no kept run has all its rows" in reference.verify(run, kept, out)
    # A part of the rows is not all of them.
    run = following(tmp_path / "part", cell="9")
    assert "no kept run has all its rows" in reference.verify(run, kept, out)


def test_of_a_quick_run_numbers_are_kept_beside_the_full_run(tmp_path):
    kept = tmp_path / "kept"
    reference.keep(following(tmp_path / "quick", frame(mean=0.3), cell="0.3"), kept, quick=True)
    reference.keep(following(tmp_path / "full"), kept)
    names = {p.relative_to(kept).as_posix() for p in (kept / "quick").rglob("*.*")}
    assert names == {
        *("quick/settings.yaml", "quick/summary/regression.csv", "quick/claims.csv"),
        *("quick/tables/table3.csv", "quick/figures/data/sampler_times.csv"),
        "quick/figures/data/nominal.csv",
    }
    out = tmp_path / "verify.csv"
    assert "the 4 files that" in reference.verify(tmp_path / "quick", kept, out)
    put(tmp_path / "quick/figures/data/nominal.csv", "x,y\n1,2.1\n")
    with pytest.raises(InputError, match=r"nominal.csv has '2.1' instead of '2' as y in row 1"):
        reference.verify(tmp_path / "quick", kept, out)


def test_the_kept_files_are_those_that_a_run_makes():
    root = Path(__file__).parents[3]
    kept = root / "results" / "reference"
    assert {path.name for path in kept.iterdir()} <= {*reference.KEPT, reference.QUICK}
    experiments = yaml.safe_load((root / "config.yaml").read_text())["experiments"]
    made = {*experiments, *(f"{name}_sensitivities" for name in experiments), "negative_control"}
    assert {path.stem for path in (kept / "audit").iterdir()} == made
