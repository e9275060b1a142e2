"""The page's own numbers, recomputed from a run with no two results alike."""

from __future__ import annotations

import math

import distinctrun
import numpy as np
import pytest
from distinctrun import Key
from numbertexts import shows
from scipy.stats import norm
from test_published import FACTORS, PRINTED

from matrixdp import catalogue
from matrixdp.report import findings, inputs, summary, tables
from matrixdp.report.page import appendix, strip

TABLES = {3: "regression", 4: "first_pc", 5: "covariance"}
CONJECTURES = {3: 248**-0.5, 5: 0.01}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distinct")
    distinctrun.write(folder)
    tables.write([f"table{number}" for number in TABLES], results=folder)
    return folder


@pytest.fixture(scope="module")
def written(root):
    return {number: inputs.read(f"tables/table{number}", root) for number in TABLES}


def shown(experiment):
    """Return the cells that a table shows at epsilon 1, by mechanism."""
    chosen = distinctrun.chosen(distinctrun.cells(), experiment=experiment)
    return {
        key.mechanism: cell
        for key, cell in chosen.items()
        if key.epsilon in ("", "1") and key.direction in ("", "a")
    }


def test_marks_of_the_first_picture_can_be_read_off_its_axis(written):
    outcomes = [findings.outcome(number, table) for number, table in written.items()]
    for number, one in zip(TABLES, strip.strips(outcomes), strict=True):
        ticks = [(at, math.log10(float(label))) for at, label in one["ticks"]]
        (start, low), (end, high) = ticks[0], ticks[-1]

        def place(ratio, start=start, low=low, end=end, high=high):
            return start + (end - start) * (math.log10(ratio) - low) / (high - low)

        assert one["one"] == pytest.approx(place(1), abs=0.02)
        own, printed = shown(TABLES[number]), PRINTED[f"table{number}"]
        assert [mark["label"] for mark in one["marks"]] == [
            catalogue.label(name) for name in printed
        ]
        drawn = 0
        for name, mark in zip(printed, one["marks"], strict=True):
            value, _, half = printed[name].partition(" ")
            unit = float(FACTORS[f"table{number}"])
            if name not in own or not float(value):
                assert mark["at"] is None
                continue
            ratio = own[name].mean / (float(value) * unit)
            assert mark["at"] == pytest.approx(place(ratio), abs=0.02)
            assert float(mark["ratio"].replace(",", "")) == pytest.approx(ratio, rel=0.051)
            if number in CONJECTURES:
                expected = place(ratio * CONJECTURES[number])
                assert mark["conjectured"] == pytest.approx(expected, abs=0.02)
            else:
                assert mark["conjectured"] is None
            gap = abs(own[name].mean - float(value) * unit)
            met = gap <= np.hypot(own[name].ci95, float(half or 0) * unit)
            assert (mark["verdict"] == "within") == met
            drawn += 1
        assert drawn > 3


def test_what_the_rows_deliver_is_that_of_the_run(written):
    grid = appendix.delivered(written, findings.titles())
    assert [title for title, _ in grid.groups] == [
        catalogue.experiment(name).title for name in TABLES.values()
    ]
    for (number, experiment), (_, rows) in zip(TABLES.items(), grid.groups, strict=True):
        own = {name: cell for name, cell in shown(experiment).items() if cell.epsilon_actual > 0}
        assert len(rows) == len(own)
        names = dict(zip(written[number]["method"], written[number]["mechanism"], strict=True))
        for row in (dict(zip(grid.header, cells, strict=True)) for cells in rows):
            mechanism = names[row["Mechanism"]]
            cell, pure = own[mechanism], mechanism in distinctrun.PURE
            assert row["Nominal epsilon"] == "1"
            assert shows(row["delta"], 0 if pure else 1e-3)
            assert shows(row["True epsilon"], cell.epsilon_actual)
            assert shows(row["mu"], cell.mu_actual)
            assert shows(row["Noise std"], cell.noise_std)
            advantage = row["Attacker's advantage"]
            if not np.isnan(cell.mu_actual):
                mu = cell.mu_actual
                assert shows(advantage, norm.cdf(mu / 2) - norm.cdf(-mu / 2))
            elif pure:
                e = math.exp(cell.epsilon_actual)
                assert shows(advantage.removeprefix("≤ "), (e - 1) / (e + 1))
            else:
                assert advantage == ""


def test_gaps_are_the_cells_that_did_not_run(root):
    summaries = [summary.read(root / f"summary/{name}.csv") for name in distinctrun.KINDS]
    (_, rows), *_ = appendix.gaps(summaries).groups
    found = {tuple(row[:3]) for row in rows if row[1] != "all"}
    assert found == {
        (catalogue.experiment(name).name, catalogue.label(mechanism), epsilon)
        for mechanism, epsilon in distinctrun.REFUSED
        for name, some in distinctrun.MECHANISMS.items()
        if mechanism in some
    }
    assert Key("regression", "gaussian_2006", "", "", "10") not in distinctrun.cells()
