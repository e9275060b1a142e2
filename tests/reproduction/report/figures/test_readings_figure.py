import numpy as np
import pandas as pd
import pytest
import runfiles
from samplerun import settle

from reproduction.experiments import readings
from reproduction.report import inputs
from reproduction.report import readings as table
from reproduction.report.figures import readings as figure_of_readings
from reproduction.report.figures import style

FIGURE = figure_of_readings.FIGURES["readings"]


def row(mechanism, reading, mean, ci95=0.1, **more):
    choices = readings.find(reading).choices
    plain = {"experiment": "covariance", "mechanism": mechanism, "ran": mechanism}
    plain |= {"reading": readings.find(reading).name, "private": readings.find(reading).private}
    plain |= {"metric": "rss", "mean": mean, "ci95": ci95, "n_trials": 100, "epsilon": 1.0}
    return plain | {"zeta": "sqrt", "gamma": "public", "ctg": "raw"} | dict(choices) | more


@pytest.fixture
def results(tmp_path):
    """Two rows of Table 5 with made-up readings; the published values are 6.657 and 7.109 e-2."""
    rows = [
        row("mvg_binary", "default", 7.3),
        # Met within both intervals, not within its own.
        row("mvg_binary", "zeta_literal", 6.8),
        row("mvg_binary", "gamma_of_data", 6.7),
        row("mvg_binary", "centred", 0.0666, 0.001),
        row("laplace", "default", 7.1, zeta="", gamma=""),
        row("laplace", "centred", 0.01, 0.001, zeta="", gamma=""),
        row("random", "default", 7.4, zeta="", gamma=""),
        row("nonprivate", "default", 0.0, zeta="", gamma=""),
    ]
    frame = pd.DataFrame(rows).reindex(columns=list(table.COLUMNS)).assign(data_status="original")
    (tmp_path / "readings").mkdir()
    frame.to_csv(tmp_path / "readings" / "covariance.csv", index=False)
    return tmp_path


def test_readings_stand_in_the_strip_of_their_row_private_ones_first_by_mean(results):
    frame = runfiles.frame(results, "readings")
    ours = frame[frame["role"].eq("mechanism")]
    mvg = ours[ours["mechanism"].eq("mvg_binary")].sort_values("x")
    assert mvg["reading"].tolist() == ["ctg=centred", "zeta=literal", "default", "gamma=data"]
    assert mvg["x"].between(0, 1).all()
    # Rows keep the order of the paper's table.
    assert ours.loc[ours["mechanism"].eq("laplace"), "x"].between(1, 2).all()
    theirs = frame[frame["role"].eq("published")]
    assert theirs["mechanism"].tolist() == ["mvg_binary", "laplace"]
    printed = (
        inputs.read("published/table5", inputs.below(results))
        .set_index("mechanism")
        .loc[theirs["mechanism"], "value"]
    )
    assert theirs["mean"].tolist() == pytest.approx(printed.astype(float).tolist())


def test_what_meets_a_published_value_is_told_by_unit_and_only_if_private(results):
    frame = runfiles.frame(results, "readings")
    meets = frame[frame["role"].eq("mechanism")].set_index(["mechanism", "reading"])["meets"]
    assert meets["mvg_binary", "ctg=centred"] == "printed"
    assert meets["mvg_binary", "gamma=data"] == "conjectured"
    assert meets["mvg_binary", "zeta=literal"] == "conjectured"
    assert meets["mvg_binary", "default"] == "neither"
    assert meets["laplace", "default"] == "conjectured"
    headline = FIGURE.headline(frame.assign(n_trials=100))
    assert headline == "Private readings give MVG's published value: some do in III"
    other = frame.assign(meets=frame["meets"].replace("printed", "conjectured"), n_trials=100)
    assert FIGURE.headline(other).endswith("in a conjectured unit in III")
    # What is not private meets nothing.
    other = frame.assign(meets=np.where(frame["private"].eq(False), "printed", "neither"))
    assert FIGURE.headline(other.assign(n_trials=100)).startswith("No private reading")
    other = frame.assign(meets="neither", n_trials=100)
    expected = "No private reading gives MVG's published value in Experiment III"
    assert FIGURE.headline(other) == expected


def test_what_is_not_private_looks_otherwise(results):
    frame = runfiles.frame(results, "readings")
    with style.context():
        drawing = FIGURE.render(frame)
    (strip,) = drawing.axes
    hollow = [
        line
        for line in strip.lines
        if line.get_marker() == "o"
        and line.get_markerfacecolor() == "white"
        and len(line.get_xdata())
    ]
    assert [len(line.get_xdata()) for line in hollow] == [1]
    # As printed, and in the unit that is suspected.
    levels = [line.get_ydata()[0] for line in strip.lines if len(line.get_ydata())]
    assert {0.06657, 6.657, 0.07109, 7.109} <= {*levels}
    texts = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert any("NOT private" in text for text in texts)


def test_without_readings_there_is_nothing_to_show(tmp_path):
    settle(tmp_path)
    frame = runfiles.frame(tmp_path, "readings")
    assert "Nothing to show: nothing of it is in published/table3" in FIGURE.describe(frame)
