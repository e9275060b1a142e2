"""The price of privacy of rows whose errors are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import runfiles
from samplerun import put, settle
from trialrows import around, trials

from reproduction.report import comparisons, markup, summary
from reproduction.report.statistics import price, price_interval


def run(root: Path, metric: str, levels: dict[str, float], curves: dict[str, list]) -> pd.DataFrame:
    """Return the table of a run; curves are means, or (mean, tight epsilon), at 0.1, 1 and 10."""
    free = {"epsilon": "", "delta": np.nan}
    rows = [
        trials(name, around(mean, 0.01), metric=metric, **free) for name, mean in levels.items()
    ]
    for name, means in curves.items():
        for epsilon, mean in zip(("0.1", "1", "10"), means, strict=True):
            value, actual = mean if isinstance(mean, tuple) else (mean, float(epsilon))
            given = {"epsilon": epsilon, "epsilon_delivered": actual, "metric": metric}
            rows.append(trials(name, around(value, 0.02), **given))
    path = root / "trials.csv"
    pd.concat(rows).to_csv(path, index=False)
    put(root / "summary/regression.csv", summary.summarise([path]).to_csv(index=False))
    (root / "comparisons").mkdir()
    comparisons.write([path], root / "summary/regression.csv", root / "comparisons/regression.csv")
    verdicts = dict.fromkeys(curves, "certified") | {"imgm": "declared: a doubt"}
    verdicts["goe"] = "refuted: the black box proves it"
    audit = "".join(f"{name},{verdict},1,2.5\n" for name, verdict in verdicts.items())
    head = "mechanism,verdict,epsilon,epsilon_certified\n"
    put(root / "audit/regression.csv", head + audit)
    settle(root)
    runfiles.write(root, "tables/price")
    return pd.read_csv(root / "tables/price.csv").set_index("mechanism")


def headline(root: Path) -> str:
    return markup.read(root / "tables/price.json").headline


def test_price_is_where_half_of_what_the_best_baseline_loses_is_left(tmp_path: Path) -> None:
    levels = {"nonprivate": 0.0, "random": 3.0, "zero": 1.0}
    curves = {"laplace": [2.0, 0.75, 0.25], "imgm": [2.0, 1.0, 0.9], "knorm_l2": [0.1, 0.0, 0.0]}
    found = run(tmp_path, "rmse", levels, curves)
    assert list(found.index) == ["knorm_l2", "laplace", "imgm"]
    assert found.loc["laplace", "price"] == pytest.approx(10**0.5)
    # Trials share their halves, of which as many as 60 may be drawn: a mean 0.02 away, of the
    # baselines 0.01, so that the loss is 0.015 away.
    assert found.loc["laplace", "low"] == pytest.approx(10 ** (0.235 / 0.5), rel=0.03)
    assert found.loc["laplace", "high"] == pytest.approx(10 ** (0.265 / 0.5), rel=0.03)
    assert np.isinf(found.loc["imgm", "price"])
    assert found.loc["knorm_l2", "price"] == 0
    assert set(found["baseline"]) == {"zero"}
    assert found.loc["imgm", "audit_status"] == "declared"
    assert headline(tmp_path) == "Half the signal costs ε < 0.1 at best in Experiment I"


def test_what_is_refuted_has_no_price(tmp_path: Path) -> None:
    levels = {"nonprivate": 0.0, "random": 3.0, "zero": 1.0}
    curves = {"laplace": [2.0, 0.75, 0.25], "goe": [0.1, 0.0, 0.0]}
    found = run(tmp_path, "rmse", levels, curves)
    assert list(found.index) == ["laplace", "goe"]
    assert found.loc["goe", ["price", "low", "high"]].isna().all()
    assert found.loc["goe", "audit_status"] == "refuted"
    assert headline(tmp_path) == "Half the signal costs ε = 3.16 at best in Experiment I"


def test_accuracy_is_better_larger_and_a_true_epsilon_above_the_promised_one_counts(
    tmp_path: Path,
) -> None:
    levels = {"nonprivate": 0.9, "random": 0.5}
    curves = {"imgm": [(0.5, 50.0), (0.6, 100.0), (0.8, 1000.0)], "laplace": [(0.5, 1e-3)] * 3}
    found = run(tmp_path, "accuracy", levels, curves)
    assert found.loc["imgm", "price"] == pytest.approx(100 * 10**0.5)
    # A tight epsilon below the promised one is no bargain: the promise is what one pays.
    assert found.loc["laplace", "largest"] == 10


def test_an_interval_is_that_of_resampled_trials_which_rows_share():
    """Splits move all rows alike, and so no price; independent noise moves it."""
    stream = np.random.default_rng(1)
    split = stream.standard_normal((1, 100))
    means = np.array([[0.0], [1.0], [2.0], [0.75], [0.25]])
    epsilon = [0.1, 1.0, 10.0]
    assert price_interval(epsilon, means + split) == pytest.approx((10**0.5, 10**0.5))
    noisy = means + split + 0.5 * stream.standard_normal((5, 100))
    low, high = price_interval(epsilon, noisy)
    sample = noisy.mean(axis=1)
    middle = price(epsilon, (sample[2:] - sample[0]) / (sample[1] - sample[0]))
    assert 1 < low < middle < high < 10
