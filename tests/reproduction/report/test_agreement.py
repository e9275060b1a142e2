"""The verdicts on the kept results follow their means, and their families of tests."""

import numpy as np
import pandas as pd
import pytest
from packages import KEPT

from reproduction import catalogue, job_settings
from reproduction.report import comparisons, inputs

KEYS = ["mechanism", "direction", "configuration"]


def kept(name):
    return pd.read_csv(KEPT / f"{name}.csv", keep_default_na=False, na_values=[""])


def text(frame, *columns):
    return frame.assign(
        **{name: frame[name].astype(object).fillna("").astype(str) for name in columns}
    )


RUNS = sorted(path.stem for path in (KEPT / "comparisons").glob("*.csv"))


def in_order(name, folder="."):
    """Return the kept tests of a run, its mechanisms in order, and the last beyond the papers."""
    table = kept(f"{folder}/comparisons/{name}")
    compared = text(table, "epsilon", "verdict", *comparisons.AGAINST, *KEYS)
    order = job_settings.rows(
        inputs.read_input("settings", inputs.files_of_folder(KEPT / folder)), name
    )
    further = [
        one for one in order if one not in catalogue.papers_mechanisms() | {*catalogue.BASELINES}
    ]
    return compared[compared["comparison"].ne(comparisons.PRICE)], order, [*order, *further][-1]


def moved_by(compared, order, added):
    """Return how many other pairs have another corrected p, and verdict, without a mechanism."""
    rest = compared[~compared["mechanism"].eq(added) & ~compared["against"].eq(added)]
    after, before = comparisons.add_verdicts(compared, order), comparisons.add_verdicts(rest, order)
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


@pytest.mark.parametrize("folder", [".", "quick"])
def test_no_verdict_on_kept_trials_contradicts_their_means(folder):
    others = {comparisons.BETTER: comparisons.WORSE, comparisons.WORSE: comparisons.BETTER}
    for name in RUNS:
        compared, order, _ = in_order(name, folder)
        judged = comparisons.add_verdicts(compared, order)
        assert contradictions(judged).empty
        # Each verdict has one of its own: the other word, the other median, none.
        ordered = judged[judged["verdict"].isin([*others])]
        for wrong in (
            ordered.assign(verdict=ordered["verdict"].map(others)),
            ordered.assign(difference=-ordered["difference"]),
            ordered.assign(difference=0.0),
        ):
            assert len(contradictions(wrong)) == len(ordered)


@pytest.mark.parametrize("name", RUNS)
def test_kept_verdicts_follow_the_families_and_the_last_mechanism_moves_no_other(name):
    compared, order, last = in_order(name)
    again = comparisons.add_verdicts(compared, order)
    # Six digits of kept means do not tell how close ones are ordered.
    apart = compared["mean"].ne(compared["mean_against"])
    assert again["verdict"][apart].tolist() == compared["verdict"][apart].tolist()
    assert apart.mean() > 0.9
    corrected = (table["p_corrected"].to_numpy() for table in (again, compared))
    np.testing.assert_allclose(*corrected, rtol=1e-5)
    assert moved_by(compared, order, last).tolist() == [0, 0]


def test_in_one_family_for_all_the_last_mechanism_would_move_others(monkeypatch):
    runs = [in_order(name) for name in RUNS]
    every = {name for _, order, _ in runs for name in order}
    monkeypatch.setattr(catalogue, "papers_mechanisms", lambda: every)
    tests, verdicts = sum(moved_by(*run) for run in runs)
    assert tests > 1000
    assert verdicts > 0
