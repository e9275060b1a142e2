from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from trialrows import absence, around, trials

from matrixdp.checks import InputError
from reproduction.report import summary
from reproduction.trials import NO_GUARANTEE


def only(table: pd.DataFrame, **where: object) -> pd.Series:
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


@pytest.mark.parametrize(
    ("means", "place"),
    [
        ({}, ""),
        ({"b": 0.8, "c": 0.5}, "the most favourable of 3 readings"),
        ({"b": 0.9, "c": 0.5}, "the middle of 3 readings"),
        ({"b": 0.9, "c": 0.95}, "the least favourable of 3 readings"),
    ],
)
@pytest.mark.parametrize("metric", ["accuracy", "rmse"])
def test_the_place_of_the_default_reading(saved, means, place, metric):
    sign = 1 if metric == "accuracy" else -1
    fields = {"experiment": "imdb", "metric": metric}
    parts = [
        trials("imgm", np.array([0.86, 0.86]) * sign, **fields),
        # Neither another mechanism nor another epsilon has a say.
        trials("laplace", np.array([0.1, 0.1]) * sign, **fields),
        trials("imgm", np.array([0.1, 0.1]) * sign, epsilon="3", **fields),
    ]
    for reading, mean in means.items():
        parts.append(trials("imgm", np.array([mean, mean]) * sign, reading=reading, **fields))
        parts.append(trials("laplace", np.array([0.7, 0.7]) * sign, reading=reading, **fields))
    table = summary.summarise_trials([saved(*parts)])
    assert summary.place_of_default(table, "1") == place
    assert summary.place_of_default(table.iloc[:0], "1") == ""


@pytest.mark.parametrize(("n", "quantile"), [(2, 12.7062047), (5, 2.7764451), (29, 2.0484071)])
def test_small_samples_use_students_t(saved, n, quantile):
    values = np.random.default_rng(n).normal(size=n)
    row = summary.summarise_trials([saved(trials("laplace", values))]).iloc[0]
    assert row["ci95"] == pytest.approx(quantile * np.std(values, ddof=1) / np.sqrt(n), rel=1e-7)


def test_one_trial_has_no_interval(saved):
    row = summary.summarise_trials([saved(trials("laplace", [0.25]))]).iloc[0]
    assert row["mean"] == 0.25
    assert np.isnan(row["ci95"])
    assert np.isnan(row["sd"])


def test_tables_show_what_was_chosen_in_the_first_direction(saved):
    parts = [trials("laplace", [1.0, 2.0])]
    for direction in ("a", "dp_svd"):
        for tau, tried in (("0.55", 2.0), ("0.95", 1.0)):
            at = {"configuration": f"tau={tau}", "direction": direction}
            parts += [trials("mvg_binary", [1.0, 2.0], **at)]
            parts += [trials("mvg_binary", [tried, tried], phase="select", **at)]
    table = summary.summarise_trials([saved(*parts)])
    # What was tried to choose a parameter is in no reported mean.
    assert table["mean"].eq(1.5).all()
    assert table["select_mean"].dropna().tolist() == [2.0, 1.0] * 2
    shown = summary.table_rows(table)
    assert shown[["mechanism", "direction", "configuration"]].to_numpy().tolist() == [
        ["laplace", "", ""],
        ["mvg_binary", "a", "tau=0.95"],
    ]


def test_a_refused_value_of_a_grid_hides_no_chosen_one(saved):
    parts = [absence("jl_2012", NO_GUARANTEE, "too few", configuration="sketch_multiple=2")]
    for rows, tried in (("4", 2.0), ("8", 1.0)):
        at = {"configuration": f"sketch_multiple={rows}"}
        parts += [trials("jl_2012", [1.0, 2.0], **at)]
        parts += [trials("jl_2012", [tried, tried], phase="select", **at)]
    shown = summary.table_rows(summary.summarise_trials([saved(*parts)]))
    assert shown["configuration"].tolist() == ["sketch_multiple=8"]
    alone = summary.table_rows(summary.summarise_trials([saved(parts[0])]))
    assert alone["outcome"].tolist() == [NO_GUARANTEE]


def test_no_table_shows_a_configuration_of_a_grid_that_nothing_chose(saved):
    """No trial of a choice: the first one of the grid is no better than another."""
    at = [{"configuration": f"sketch_multiple={rows}"} for rows in ("4", "8")]
    table = summary.summarise_trials([saved(*(trials("jl_2012", [1.0, 2.0], **one) for one in at))])
    assert len(table) == 2
    assert summary.table_rows(table).empty


def test_each_epsilon_has_its_own_choice_and_ties_take_the_first_variant_of_the_settings(saved):
    parts = []
    for epsilon, best in (("1", "20"), ("10", "8")):
        for rows in ("20", "4", "8"):
            at = {"configuration": f"sketch_multiple={rows}", "epsilon": epsilon}
            parts += [trials("jl_2012", [1.0, 2.0], **at)]
            parts += [trials("jl_2012", [0.0 if rows == best else 1.0], phase="select", **at)]
    for rows in ("20", "4"):
        at = {"configuration": f"sketch_multiple={rows}", "epsilon": "100"}
        parts += [trials("jl_2012", [1.0]), trials("jl_2012", [7.0], phase="select")]
        parts[-2:] = [part.assign(**at) for part in parts[-2:]]
    table = summary.summarise_trials([saved(*parts)])
    assert (
        table["configuration"].tolist()
        == ["sketch_multiple=20"] * 3 + ["sketch_multiple=4"] * 3 + ["sketch_multiple=8"] * 2
    )
    assert table["epsilon"].tolist() == ["1", "10", "100", "1", "10", "100", "1", "10"]
    found = dict(table[table["chosen"]][["epsilon", "configuration"]].to_numpy().tolist())
    assert found == {
        "1": "sketch_multiple=20",
        "10": "sketch_multiple=8",
        "100": "sketch_multiple=20",
    }


def test_a_row_without_trials_keeps_its_reason(saved):
    note = "epsilon 10 is past the crossover"
    parts = [
        trials("gaussian_2006", [1.0, 3.0]),
        absence("gaussian_2006", "no guarantee", note, epsilon="10"),
    ]
    table = summary.summarise_trials([saved(*parts)])
    row = only(table, epsilon="10")
    assert (row["outcome"], row["note"]) == ("no guarantee", note)
    assert (row["n_trials"], row["chosen"]) == (0, True)
    assert np.isnan(row["mean"])
    assert {*only(table, epsilon="1")[["outcome", "note"]]} == {""}


def test_noise_that_differs_between_trials_counts_as_its_least_private(saved):
    part = trials("mvg_maxpnr", [1.0, 2.0]).assign(
        noise_std=[3.0, 5.0],
        mu=[0.1, 0.2],
        epsilon_delivered=[0.5, 0.25],
        epsilon_exact=[True, False],
    )
    row = summary.summarise_trials([saved(part)]).iloc[0]
    assert row["noise_std"] == pytest.approx(np.sqrt(17), rel=1e-15)
    assert (row["mu"], row["epsilon_delivered"], row["epsilon_exact"]) == (0.2, 0.5, "False")


def test_columns_and_round_trip(saved, tmp_path):
    part = trials(
        "laplace", around(0.2, 0.01), epsilon_delivered=1.0, noise_std=0.1, epsilon_exact=True
    )
    path = saved(part, trials("nonprivate", [0.1, 0.2], epsilon="", delta=np.nan))
    summary.write_summary([path], tmp_path / "summary.csv")
    table = summary.read_summary(tmp_path / "summary.csv")
    assert tuple(table.columns) == (
        *(
            "experiment",
            "dataset",
            "data_status",
            "mechanism",
            "configuration",
            "direction",
            "reading",
        ),
        *(
            "epsilon",
            "delta",
            "epsilon_delivered",
            "mu",
            "epsilon_exact",
            "noise_std",
            "metric",
        ),
        *("mean", "sd", "ci95", "median", "median_low", "median_high"),
        *("n_trials", "select_mean", "chosen", "outcome", "note"),
    )
    pd.testing.assert_frame_equal(table, summary.summarise_trials([path]))
    assert table["epsilon"].tolist() == ["1", ""]


def test_same_bytes_for_any_order_of_files(saved, tmp_path):
    rng = np.random.default_rng(3)
    parts = [trials(name, rng.normal(size=77)) for name in ("laplace", "imgm", "goe")]
    split = [parts[0][:40], parts[0][40:], *parts[1:]]
    paths = [saved(part, name=f"part{i}") for i, part in enumerate(split)]
    whole = saved(*parts)
    written = []
    for order in (paths, paths[::-1], [whole]):
        summary.write_summary(order, tmp_path / "summary.csv")
        written.append((tmp_path / "summary.csv").read_bytes())
    assert written[0] == written[1] == written[2]


def test_mixed_data_are_refused(saved):
    paths = [
        saved(trials("laplace", [1.0]), name="one"),
        saved(trials("imgm", [1.0], data_status="simulated"), name="two"),
    ]
    with pytest.raises(InputError, match="original and simulated in one summary"):
        summary.summarise_trials(paths)


def test_a_trial_given_twice_is_refused(saved):
    path = saved(trials("laplace", [1.0, 2.0]))
    with pytest.raises(InputError, match="trial 0 of laplace at epsilon 1 is there twice"):
        summary.summarise_trials([path, path])


def damaged(data: bytes) -> dict[str, bytes]:
    return {
        "truncated": data[: len(data) // 2],
        "flipped": data[:-12] + bytes(b ^ 255 for b in data[-12:]),
        "not gzip": b"experiment,value\n",
        "empty": b"",
        "empty table": gzip.compress(b""),
        "header alone": gzip.compress(gzip.decompress(data).splitlines()[0] + b"\n"),
        "lost column": gzip.compress(
            gzip.decompress(data).replace(b"epsilon_delivered", b"eps", 1)
        ),
        "no number": gzip.compress(gzip.decompress(data).replace(b"0.5", b"much", 1)),
        "infinite": gzip.compress(gzip.decompress(data).replace(b"0.5", b"inf", 1)),
        "no value": gzip.compress(gzip.decompress(data).replace(b"0.5", b"", 1)),
        "phase": gzip.compress(gzip.decompress(data).replace(b"report", b"rapport", 1)),
    }


@pytest.mark.parametrize("damage", damaged(gzip.compress(b"x")).keys())
def test_a_damaged_file_is_named(saved, damage):
    path = saved(trials("laplace", [0.5] * 50, note=""))
    summary.summarise_trials([path])
    path.write_bytes(damaged(path.read_bytes())[damage])
    with pytest.raises(InputError, match=r"trials\.csv\.gz (is not a whole|holds)"):
        summary.summarise_trials([path])


def test_a_missing_file_and_no_file(tmp_path):
    with pytest.raises(InputError, match="absent"):
        summary.summarise_trials([tmp_path / "absent.csv.gz"])
    with pytest.raises(InputError, match="at least one"):
        summary.summarise_trials([])
    (tmp_path / "summary.csv").write_text("mechanism\nlaplace\n")
    with pytest.raises(InputError, match="not a whole summary file"):
        summary.read_summary(tmp_path / "summary.csv")


def test_trials_on_records_of_zeros_are_in_no_summary(saved):
    on_data = trials("mvg_maxpnr", around(1.0, 0.1), noise_std=2.0, epsilon_delivered=0.5)
    control = trials(
        "mvg_maxpnr", around(5.0, 0.1), phase="control", noise_std=9.0, epsilon_delivered=0.9
    )
    both, alone = (
        summary.summarise_trials([saved(*parts)]) for parts in ((on_data, control), (on_data,))
    )
    pd.testing.assert_frame_equal(both, alone)
