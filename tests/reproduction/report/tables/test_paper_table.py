"""Verdicts of a table of results on trials with known means, and rows that have none."""

from __future__ import annotations

import pandas as pd
import pytest
import runfiles
from samplerun import CONFIG, regression, settle
from trialrows import around, trials

from reproduction import job_settings
from reproduction.report import comparisons, summary


@pytest.fixture
def make(saved, tmp_path):
    """Return a function from trial rows to Table 3 as CSV, by mechanism, and as Markdown."""

    def run(*parts, **settings):
        file = [saved(*parts)]
        files = [tmp_path / kind / "regression.csv" for kind in ("summary", "comparisons")]
        summary.write_summary(file, files[0])
        comparisons.write_comparisons(
            file, *files, job_settings.public_configurations({**CONFIG, **settings})
        )
        settle(tmp_path, experiments={"regression": {}}, **settings)
        runfiles.write_rows(tmp_path)
        runfiles.write(tmp_path, "tables/table3")
        stem = tmp_path / "tables/table3"
        table = pd.read_csv(f"{stem}.csv").set_index("mechanism")
        return table, stem.with_suffix(".md").read_text()

    return run


def test_an_epsilon_that_is_not_in_the_grid(make):
    table, markdown = make(*regression(), table_epsilon="7")
    assert set(table["verdict"].dropna()) == {"not run"}
    assert table.loc["random", "against_paper"] == "more error"
    assert table.loc["imgm", "outcome"] == "not run"
    assert table.loc["imgm", "note"] == "there is none at epsilon 7"
    assert "| IMGM |" in markdown


def test_what_the_paper_prints_at_another_epsilon_is_not_compared(make):
    table, _ = make(*regression())
    assert table.loc["laplace", "against_paper"] == "less error"
    other = trials("laplace", around(0.2, 0.004), epsilon="0.3", epsilon_delivered=0.3)
    table, markdown = make(*regression(), other, table_epsilon="0.3")
    assert pd.isna(table.loc["laplace", "against_paper"])
    assert "at epsilon 1 is not compared" in markdown


def test_a_variant_nobody_chose_is_not_shown(make):
    parts = [
        trials("jl_2012", around(0.2, 0.01), configuration=f"sketch_multiple={rows}")
        for rows in (2, 4)
    ]
    table, _ = make(*parts)
    assert table.loc["jl_2012", "verdict"] == "not run"
    assert "no select trials" in table.loc["jl_2012", "note"]


def test_more_epsilon_than_promised_is_not_private(make):
    within = trials("laplace", around(0.02482, 0.001), epsilon_delivered=1.0, delta=0)
    for rows, verdict in (
        (within, None),
        (within.assign(epsilon_delivered=1.001), "not private"),
    ):
        table, _ = make(rows)
        found = table.loc["laplace", "verdict"]
        assert pd.isna(found) if verdict is None else found == verdict


def test_few_trials_are_held_against_nothing(make):
    rows = [part for part in regression() if part["trial"].notna().all()]
    for count, said in ((8, False), (10, True)):
        table, markdown = make(*(part[part["trial"].lt(count)] for part in rows))
        assert table["against_paper"].notna().any() == said
        assert table["against_baseline"].notna().any() == said
        assert ("Against the paper: by" in markdown) == said
