"""One frame says all that is known of a row, and a mean says over which trials it is."""

import functools

import numpy as np
import pandas as pd
import pytest
from packages import KEPT
from trialrows import around, trials

from reproduction import catalogue
from reproduction.report import comparisons, contrasts, inputs, rows, summary

NOISE = {"noise_factor": 4.0, "noise_factor_low": 3.0, "noise_factor_high": np.inf}


@pytest.fixture
def joined(saved, tmp_path):
    """Return a function from trial rows and further files by name to the rows."""

    def run(*parts, with_trials=True, **more):
        file = [saved(*parts)]
        paths = tmp_path / "summary.csv", tmp_path / "comparisons.csv"
        summary.write_summary(file, paths[0])
        comparisons.write_comparisons(file, *paths)
        known = {
            "summary/regression": summary.read_summary(paths[0]),
            "comparisons/regression": pd.read_csv(paths[1], keep_default_na=False, na_values=[""]),
        }
        names = {name.replace("__", "/"): frame for name, frame in more.items()}
        used = file if with_trials else ()
        table = rows.build_rows("regression", known | names, epsilon=1.0, trials=used)
        return table.set_index(["mechanism", "epsilon"]).sort_index()

    run.compared = lambda: pd.read_csv(tmp_path / "comparisons.csv")
    return run


def drawn(n, shared, seed):
    """Return trials of a baseline, and of a row that ran on the first ``shared`` of them."""
    rng = np.random.default_rng(seed)
    split = rng.standard_normal(n)
    baseline = 1 + split + 0.5 * rng.standard_normal(n)
    row = np.full(n, np.nan)
    row[:shared] = 0.9 + split[:shared] + 0.5 * rng.standard_normal(shared)
    return row, baseline


def test_means_on_shared_trials_are_unbiased_and_their_errors_are_right():
    pairs = [drawn(60, 15, seed) for seed in range(4000)]
    estimates = [contrasts.shared_mean(row[None], baseline) for row, baseline in pairs]
    values = np.array([estimate.value[0] for estimate in estimates])
    variance = np.mean([estimate.error[0] ** 2 for estimate in estimates])
    assert values.mean() == pytest.approx(0.9, abs=4 * values.std() / np.sqrt(len(values)))
    assert variance == pytest.approx(values.var(), rel=0.06)
    # Own means scatter far more, and without the covariance the error would be another one.
    assert np.nanmean([row for row, _ in pairs], axis=1).var() > 1.5 * values.var()
    without = [
        np.nanvar(row - baseline, ddof=1) / 15 + baseline.var(ddof=1) / 60
        for row, baseline in pairs
    ]
    assert abs(np.mean(without) / values.var() - 1) > 0.15


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e-12])
def test_a_row_with_all_trials_has_its_own_mean_and_error(scale):
    """Also where its error is far below the rounding of the baseline's."""
    row, baseline = drawn(50, 50, 1)
    row *= scale
    fewer = np.where(np.arange(50) < 30, row, np.nan)
    estimate = contrasts.shared_mean(np.stack([row, fewer, baseline]), baseline)
    whole, close = [row, baseline], {"rel": 1e-12, "abs": 0.0}
    assert estimate.value[::2] == pytest.approx(np.mean(whole, axis=1), **close)
    assert estimate.error[::2] == pytest.approx(np.std(whole, axis=1, ddof=1) / 50**0.5, **close)
    # With fewer trials the baseline on the others counts, too.
    there, apart = row[:30].var(ddof=1), (row - baseline)[:30].var(ddof=1)
    expected = np.sqrt(there / 50 + apart * (1 / 30 - 1 / 50))
    assert estimate.error[1] == pytest.approx(expected, rel=1e-9)


def test_rows_of_fewer_trials_are_told_on_those_of_the_baseline(joined):
    row, baseline = drawn(400, 100, 2)
    # The first trials are easy ones, for all rows.
    baseline[:100] -= 1
    row[:100] -= 1
    private = {"epsilon_delivered": 1.0}
    parts = [
        trials("zero", baseline, epsilon="", delta=np.nan),
        trials("laplace", row[:100], **private),
        trials("imgm", baseline - 0.1, **private),
    ]
    table = joined(*parts)
    laplace = table.loc[("laplace", 1.0)]
    assert laplace["mean"] < laplace["shared_mean"] - 0.5
    assert laplace["shared_mean"] == pytest.approx(0.9, abs=2 * laplace["shared_ci95"])
    other = table.loc[["imgm", "zero"]]
    pd.testing.assert_series_equal(other["shared_mean"], other["mean"], check_names=False)
    pd.testing.assert_series_equal(other["shared_ci95"], other["ci95"], check_names=False)
    # Of another reading no trials are read.
    literal = {"reading": "zeta=literal"}
    of_literal = [
        trials("zero", baseline, epsilon="", delta=np.nan, **literal),
        trials("laplace", row[:100], **private, **literal | {"epsilon": "3"}),
    ]
    table = joined(*parts, *of_literal)
    assert np.isnan(table.loc[("laplace", 3.0), "shared_mean"])
    assert table.loc[("laplace", 1.0), "shared_mean"] == laplace["shared_mean"]
    # Without trials nobody knows.
    table = joined(*parts, with_trials=False)
    assert np.isnan(table.loc[("laplace", 1.0), "shared_mean"])
    assert table.loc[("imgm", 1.0), "shared_mean"] == table.loc[("imgm", 1.0), "mean"]


def test_a_row_has_what_each_file_says_of_it(joined):
    private = {"epsilon_delivered": 1.0}
    audit = pd.DataFrame(
        {"mechanism": ["laplace"], "status": "refuted", "epsilon": 1.0, "epsilon_attained": 3.0}
    )
    printed = {"epsilon": "1", "value": "20", "interval": "5", "unit_factor": "0.001"}
    other = {"reading": "zeta=literal"}
    table = joined(
        trials("zero", around(0.5, 0.01), epsilon="", delta=np.nan),
        trials("random", around(0.7, 0.01), epsilon="", delta=np.nan),
        trials("laplace", around(0.2, 0.01), **private),
        trials("imgm", around(0.9, 0.01), **private),
        trials("imgm", around(0.1, 0.01), **private | other | {"epsilon": "3"}),
        audit__regression=audit,
        published__table3=pd.DataFrame([printed | {"mechanism": "laplace"}]),
        implied_noise__regression=pd.DataFrame([NOISE | {"mechanism": "laplace"}]),
    )
    assert {*table["baseline"]} == {"zero", ""}
    laplace, imgm = table.loc[("laplace", 1.0)], table.loc[("imgm", 1.0)]
    assert (laplace["against_baseline"], imgm["against_baseline"]) == ("better", "worse")
    assert (laplace["audit_status"], laplace["epsilon_least"]) == ("refuted", 3.0)
    assert (laplace["advisable"], imgm["audit_status"]) == ("not private", "declared")
    assert (laplace["printed"], laplace["printed_ci95"]) == pytest.approx((0.02, 0.005))
    assert {name: laplace[name] for name in NOISE} == NOISE
    assert np.isnan(imgm[["printed", *NOISE]].astype(float)).all()
    # Nothing is compared under another reading, which has no baseline here.
    assert table.loc[("imgm", 3.0), "against_baseline"] == ""
    assert np.isnan(table.loc[("imgm", 3.0), "shared_mean"])


def test_a_row_says_what_its_noise_gives_without_data(joined):
    private = {"epsilon_delivered": 1.0}
    parts = [
        trials("zero", around(0.5, 0.01), epsilon="", delta=np.nan),
        trials("laplace", around(0.2, 0.01), **private),
        trials("laplace", around(0.4, 0.02), **private, phase="control"),
        trials("imgm", around(0.3, 0.01), **private),
    ]
    table = joined(*parts)
    laplace = table.loc[("laplace", 1.0)]
    assert (laplace["mean"], laplace["n_trials"]) == (pytest.approx(0.2), 100)
    assert (laplace["zeros_mean"], laplace["zeros_ci95"]) == pytest.approx((0.4, 0.02))
    assert np.isnan(table.loc[("imgm", 1.0), "zeros_mean"])
    assert joined(*parts, with_trials=False)["zeros_mean"].isna().all()


def contradictions(table, compared):
    """Return how many decided pairs have means in the other order, and how many are decided."""
    means = table.reset_index()[[*comparisons.ROW, "mean", "shared_mean", "baseline", "reading"]]
    means = means[means["reading"].eq("default") & means["shared_mean"].notna()]
    own, shared = (means.set_index(comparisons.ROW)[name] for name in ("mean", "shared_mean"))
    compared = compared[compared["comparison"].ne(comparisons.PRICE)]
    text = [*comparisons.ROW[:-1], *comparisons.AGAINST]
    compared = compared.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, ""))
    epsilon = pd.to_numeric(compared["epsilon"], errors="coerce")
    levels = [compared[side].isin(catalogue.BASELINES) for side in ("mechanism", "against")]
    sides = [
        pd.MultiIndex.from_frame(compared[[*names]].assign(epsilon=epsilon.mask(level)))
        for names, level in zip((comparisons.ROW[:-1], comparisons.AGAINST), levels, strict=True)
    ]
    larger = catalogue.metric(str(compared["metric"].iloc[0])).larger
    sign = compared["verdict"].map({"better": 1, "worse": -1}) * (1 if larger else -1)

    def wrong(values):
        first, second = (values.reindex(side).to_numpy() for side in sides)
        return int(((first - second) * sign.to_numpy() <= 0).sum())

    decided = sides[0].isin(shared.index) & sides[1].isin(shared.index) & sign.notna()
    return wrong(own), wrong(shared), int(decided.sum())


def test_no_order_of_means_on_shared_trials_contradicts_a_decided_pair(joined):
    row, baseline = drawn(400, 100, 4)
    # On these easy trials a row that is worse has a mean below the baseline's.
    row, baseline = row + 0.5, baseline.copy()
    baseline[:100] -= 1
    row[:100] -= 1
    private = {"epsilon_delivered": 1.0}
    rivals = {"imgm": baseline - 0.5, "gaussian_2014": row[:100] - 0.9}
    parts = [
        trials("zero", baseline, epsilon="", delta=np.nan),
        trials("laplace", row[:100], **private),
        *(trials(name, values, **private) for name, values in rivals.items()),
    ]
    table, compared = joined(*parts), joined.compared()
    own, shared, decided = contradictions(table, compared)
    assert (own > 0, shared, decided >= 5) == (True, 0, True)


@pytest.mark.parametrize("path", sorted((KEPT / "rows").glob("*.csv")), ids=lambda path: path.stem)
def test_kept_rows_have_no_order_that_contradicts_a_decided_pair(path):
    _, shared, decided = contradictions(
        rows.read_rows(path), inputs.Run(inputs.files_of_folder(KEPT))[f"comparisons/{path.stem}"]
    )
    assert shared == 0
    assert decided > 0 or path.stem == "cora"  # five trials decide nothing


@pytest.mark.parametrize("path", sorted((KEPT / "rows").glob("*.csv")), ids=lambda path: path.stem)
def test_kept_rows_are_those_of_the_kept_files(path):
    """Means on shared trials and on zeros apart, which need the trials."""
    run = inputs.Run(inputs.files_of_folder(KEPT))
    shared, zeros = ["shared_mean", "shared_ci95"], ["zeros_mean", "zeros_ci95"]
    kept, now = rows.read_rows(path), rows.build_rows(path.stem, run, epsilon=run.table_epsilon)
    same = functools.partial(pd.testing.assert_frame_equal, check_dtype=False)
    same(kept.drop(columns=shared + zeros), now.drop(columns=shared + zeros))
    alone = now["shared_mean"].notna()
    same(kept.loc[alone, shared], now.loc[alone, shared])


def test_rows_are_read_as_they_were_written_to_the_last_bit(joined, tmp_path):
    values = np.random.default_rng(3).random(30) * 1e-7 / 3
    table = joined(
        trials("zero", values, epsilon="", delta=np.nan), trials("laplace", values / 7)
    ).reset_index()[[*rows.COLUMNS]]
    table.to_csv(tmp_path / "rows.csv", index=False)
    again = rows.read_rows(tmp_path / "rows.csv")
    pd.testing.assert_frame_equal(again, table, rtol=1e-15, check_dtype=False)
