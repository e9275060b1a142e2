import numpy as np
import pandas as pd
import pytest
from samplerun import CONFIG, put, settle

from matrixdp.checks import InputError
from matrixdp.report import inputs, reference, summary


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


def test_the_test_holds_its_level_and_has_power():
    # At the edge of the margin a run passes in at most 5 % of cases; a true copy nearly always.
    rng = np.random.default_rng(0)
    passed = {0.0: 0, 1.0: 0}
    for shift in passed:
        for _ in range(300):
            values = rng.normal(0.2 + 0.02 * shift, 0.02, 20)
            run = frame(mean=values.mean(), sd=values.std(ddof=1), n_trials=20)
            passed[shift] += verdict(run, frame()) == "equivalent"
    assert passed[1.0] <= 25
    assert passed[0.0] >= 280


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


def test_a_true_copy_of_few_trials_is_seldom_told_apart():
    rng = np.random.default_rng(1)
    told = 0
    for _ in range(500):
        one, other = rng.normal(0.2, 0.02, (2, 5))
        run, kept = (few(mean=v.mean(), sd=v.std(ddof=1)) for v in (one, other))
        told += verdict(run, kept) == "not equivalent"
    assert 10 <= told <= 40


def test_rows_without_spread_must_agree():
    zero = {"mean": 0.0, "sd": 0.0, "ci95": 0.0}
    assert verdict(frame(**zero | {"mean": 1e-16}, n_trials=20), frame(**zero)) == "equivalent"
    assert verdict(frame(**zero | {"mean": 1e-3}, n_trials=20), frame(**zero)) == "not equivalent"


def write(folder, table):
    (folder / "summary").mkdir(parents=True)
    table.to_csv(folder / "summary" / "regression.csv", index=False)


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
    kept = inputs.read("settings", tmp_path / "kept")
    assert kept == CONFIG | {"data": {"source": "auto", "mirror": ""}, "reading": "default"}
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
