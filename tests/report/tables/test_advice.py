"""The best rows of each task, and what the papers' cells imply."""

import numpy as np
import pandas as pd
import pytest

from matrixdp.report.tables import advice, implied


def test_advice_names_the_best_row_and_whether_it_is_clear():
    def row(mechanism, mean, epsilon="1", delta=0.0, ci95=0.01):
        return {
            "mechanism": mechanism, "mean": mean, "epsilon": epsilon, "delta": delta,
            "ci95": ci95, "reading": "default", "chosen": True, "direction": "",
            "data_status": "original",
        }  # fmt: skip

    table = pd.DataFrame(
        [
            row("laplace", 1.0),
            row("knorm_linf", 1.001),
            row("goe", 0.1, delta=1e-5),
            row("analytic_gaussian", 0.5, delta=1e-5),
            row("gaussian_2006", 0.01, delta=1e-5),
            row("gaussian_2006", np.nan, "3", delta=1e-5),
            *(row(name, 0.4, "3") for name in ("laplace", "knorm_linf")),
            *(row(name, 0.2, "3", 1e-5) for name in ("goe", "analytic_gaussian")),
            row("zero", 0.9, ""),
        ]
    )
    records = ("laplace", "knorm_linf", "analytic_gaussian", "gaussian_2006")
    queries = {name: {"identity"} for name in records} | {"goe": {"covariance"}}
    found = advice.table({"regression": table}, queries=queries)
    rows = {(row.task.split(",")[0], row.guarantee): row for row in found.itertuples()}
    pure = rows["Records", "pure"]
    assert (pure.best, pure.runner_up, pure.clear, pure.beats_chance) == (
        *("laplace", "knorm_linf", False, True),
    )
    assert pure.error == pytest.approx(np.sqrt(0.4))
    records = rows["Records", "approximate"]
    # No guarantee at epsilon 3: not an option; second moments are no records.
    assert (records.best, records.runner_up, records.clear) == (
        *("analytic_gaussian", "laplace", True),
    )
    assert records.margin == pytest.approx(np.sqrt(0.4 / 0.1))
    assert rows["Regression", "approximate"].best == "goe"


def test_implied_cells_come_from_the_tables(tmp_path):
    columns = [*implied.COLUMNS[1:], "method", "variant", "direction", "published", "published_ci"]
    columns = dict.fromkeys([*columns, "reading", "verdict", "note"], "")
    cell = columns | {"published": "1.6", "mechanism": "laplace", "implied_epsilon": 3.5}
    guess = cell | {"mechanism": "random"}
    ours = cell | {"published": ""}
    (tmp_path / "tables").mkdir()
    path = tmp_path / "tables/table4.csv"
    pd.DataFrame([cell, guess, ours]).to_csv(path, index=False)
    found = implied.table(tmp_path)
    assert found[["table", "mechanism", "implied_epsilon"]].values.tolist() == [[4, "laplace", 3.5]]
    implied.write(tmp_path)
    assert "**Table 4**" in (tmp_path / "tables/implied.md").read_text()
