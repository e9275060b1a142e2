"""What two places of the kept results state is one number, and one verdict."""

import numpy as np
import pandas as pd
import pytest
from packages import KEPT

from reproduction import catalogue, job_settings
from reproduction.report import comparisons, inputs
from reproduction.report.tables import comparison

TABLES = {"regression": "table3", "first_pc": "table4", "covariance": "table5"}
KEYS = ["mechanism", "direction", "configuration"]


def kept(name):
    return pd.read_csv(KEPT / f"{name}.csv", keep_default_na=False, na_values=[""])


def text(frame, *columns):
    return frame.assign(
        **{name: frame[name].astype(object).fillna("").astype(str) for name in columns}
    )


def private(frame, means="mean"):
    """Return the rows at epsilon 1 of mechanisms, one each."""
    rows = frame[frame["epsilon"].eq(1) & frame[means].notna()]
    rows = text(rows[~rows["mechanism"].isin(catalogue.BASELINES)], *KEYS)
    # A share that was fixed in public may be the chosen one too.
    rows = rows.drop_duplicates(KEYS).set_index(KEYS)
    # A table has words of its own for a row that no test tells from the baseline.
    return rows.replace({"against_baseline": {comparison.AT_BASELINE: comparisons.EVEN}})


def disagreements(experiment, table, figure, compared):
    """Return which private rows at epsilon 1 have another verdict or mean in two places."""
    printed, drawn = private(table), private(figure[figure["role"].eq("mechanism")])
    baseline = next(iter({*catalogue.BASELINES} & {*trivial(table)}), "")
    judged = text(comparisons.against(compared, baseline), *KEYS, "verdict")
    judged = judged[judged["epsilon"].eq(1)].drop_duplicates(KEYS).set_index(KEYS)["verdict"]
    verdicts = text(printed, "against_baseline")["against_baseline"]
    wrong = [key for key in printed.index if key in judged.index and judged[key] != verdicts[key]]
    both = printed.join(text(drawn, "against_baseline"), how="inner", suffixes=("", "_drawn"))
    apart = both["against_baseline"].fillna("").ne(both["against_baseline_drawn"])
    apart |= ~np.isclose(both["mean"], both["mean_drawn"], rtol=1e-9)
    return [*wrong, *both.index[apart]], len(both)


def trivial(table):
    """Return the baseline that verdicts are against: the best one that costs no privacy."""
    rows = table[table["mechanism"].isin(catalogue.BASELINES)]
    rows = rows[~rows["mechanism"].str.startswith(("nonprivate", "clipped"))]
    return [rows.sort_values("mean")["mechanism"].iloc[0]]


@pytest.mark.parametrize("experiment", TABLES)
def test_a_row_has_one_verdict_in_table_figure_and_comparisons(experiment):
    parts = [
        kept(f"tables/{TABLES[experiment]}"),
        kept(f"figures/data/curves_{experiment}"),
        kept(f"comparisons/{experiment}"),
    ]
    wrong, count = disagreements(experiment, *parts)
    assert (wrong, count > 15) == ([], True)


def test_prices_are_those_of_the_comparisons_in_table_and_figure():
    table = kept("tables/price").set_index(["experiment", "mechanism"])
    drawn = kept("figures/data/price").set_index(["experiment", "mechanism"])
    shared = drawn.join(table, how="inner", suffixes=("", "_table"))
    assert len(shared) == len(drawn) > 20
    for name in ("price", "low", "high"):
        pd.testing.assert_series_equal(
            shared[name], shared[f"{name}_table"], check_names=False, rtol=1e-5
        )
    for experiment in TABLES:
        rows = kept(f"comparisons/{experiment}")
        rows = rows[rows["comparison"].eq(comparisons.PRICE)].set_index("mechanism")["difference"]
        known = table.loc[experiment]["price"]
        assert known.to_numpy() == pytest.approx(rows[known.index].to_numpy(), rel=1e-5)


def test_the_advice_follows_the_comparisons():
    advice = kept("tables/advice")
    for experiment in TABLES:
        pairs = comparisons.oriented(kept(f"comparisons/{experiment}"))
        verdicts = text(pairs, "verdict").set_index(["mechanism", "against", "epsilon"])["verdict"]
        for row in advice[advice["experiment"].eq(experiment)].itertuples():
            verdict = verdicts[row.best_mechanism, row.baseline, row.epsilon]
            values = {*np.atleast_1d(verdict)}
            assert (values == {comparisons.BETTER}) == bool(row.beats_baseline), row


RUNS = sorted(path.stem for path in (KEPT / "comparisons").glob("*.csv"))


def in_order(name, folder="."):
    """Return the kept tests of a run, its mechanisms in order, and the last beyond the papers."""
    table = kept(f"{folder}/comparisons/{name}")
    compared = text(table, "epsilon", "verdict", *comparisons.AGAINST, *KEYS)
    order = job_settings.rows(inputs.read("settings", inputs.below(KEPT / folder)), name)
    further = [one for one in order if one not in catalogue.of_papers() | {*catalogue.BASELINES}]
    return compared[compared["comparison"].ne(comparisons.PRICE)], order, [*order, *further][-1]


def moved_by(compared, order, added):
    """Return how many other pairs have another corrected p, and verdict, without a mechanism."""
    rest = compared[~compared["mechanism"].eq(added) & ~compared["against"].eq(added)]
    after, before = comparisons.judged(compared, order), comparisons.judged(rest, order)
    columns = ["p_corrected", "verdict"]
    return after.loc[rest.index, columns].fillna(-1).ne(before[columns].fillna(-1)).sum()


def contradictions(pairs):
    """Return the verdicts that stand beside equal rows, or beside means of the other order."""
    pairs = pairs[pairs["verdict"].isin([comparisons.BETTER, comparisons.WORSE])]
    larger = catalogue.metric(pairs["metric"].iloc[0]).larger if len(pairs) else True
    sign = np.where(pairs["verdict"].eq(comparisons.BETTER) == larger, 1, -1)
    # Means are kept to six digits, to which different ones may be equal.
    apart = sign * (pairs["mean"] - pairs["mean_against"]) < 0
    return pairs[apart | (sign * pairs["difference"] <= 0)]


@pytest.mark.parametrize("name", RUNS)
def test_no_kept_verdict_contradicts_its_means(name):
    pairs = kept(f"comparisons/{name}")
    assert contradictions(pairs).empty
    # Each verdict has one of its own: the other word, the other median, none.
    ordered = pairs[pairs["verdict"].isin([comparisons.BETTER, comparisons.WORSE])]
    others = {comparisons.BETTER: comparisons.WORSE, comparisons.WORSE: comparisons.BETTER}
    for wrong in (
        ordered.assign(verdict=ordered["verdict"].map(others)),
        ordered.assign(difference=-ordered["difference"]),
        ordered.assign(difference=0.0),
    ):
        assert len(contradictions(wrong)) == len(ordered)


@pytest.mark.parametrize("folder", [".", "quick"])
def test_no_verdict_on_kept_trials_contradicts_their_means(folder):
    for name in RUNS:
        compared, order, _ = in_order(name, folder)
        assert contradictions(comparisons.judged(compared, order)).empty


@pytest.mark.parametrize("name", RUNS)
def test_kept_verdicts_follow_the_families_and_the_last_mechanism_moves_no_other(name):
    compared, order, last = in_order(name)
    again = comparisons.judged(compared, order)
    assert again["verdict"].tolist() == compared["verdict"].tolist()
    corrected = (table["p_corrected"].to_numpy() for table in (again, compared))
    np.testing.assert_allclose(*corrected, rtol=1e-5)
    assert moved_by(compared, order, last).tolist() == [0, 0]


def test_in_one_family_for_all_the_last_mechanism_would_move_others(monkeypatch):
    runs = [in_order(name) for name in RUNS]
    every = {name for _, order, _ in runs for name in order}
    monkeypatch.setattr(catalogue, "of_papers", lambda: every)
    tests, verdicts = sum(moved_by(*run) for run in runs)
    assert tests > 1000
    assert verdicts > 0
