"""Tables and figures of Adult, Cora and IMDB, on trials with known means and tight epsilons."""

import re

import numpy as np
import pandas as pd
import pytest
import runfiles
from packages import KEPT
from samplerun import settle
from trialrows import reason, trials

from matrixdp.checks import InputError
from reproduction import catalogue, discovery
from reproduction.experiments.readings import DEFAULT
from reproduction.report import comparisons, inputs, summary, tables
from reproduction.report.tables import training

KIND = {"adult": "gradients", "cora": "gradients", "imdb": "features"}
KIND |= {"mnist": "gradients", "mnist_features": "features"}
KIND |= {"cifar10_features": "features", "svhn_features": "features"}

EPSILONS = ("0.1", "1")
FIVE = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
#: Half the 95 % interval of five such values: t_4 sd / sqrt(5).
MARGIN = 2.7764451 * np.std(FIVE, ddof=1) / np.sqrt(5)


def scheme(name, mean, *, noise=None, true=None, experiment="imdb", **fields):
    """Return five trials at each epsilon, with noise and tight epsilon in proportion to it."""
    return pd.concat(
        trials(
            name,
            mean + FIVE,
            **{
                "experiment": experiment,
                "dataset": experiment,
                "metric": "accuracy",
                "epsilon": epsilon,
                "delta": 1e-5,
                "epsilon_delivered": float(epsilon) * true,
                "noise_std": noise / float(epsilon),
                **fields,
            },
        )
        for epsilon in EPSILONS
    )


def level(name, mean, experiment="imdb"):
    fields = {"experiment": experiment, "dataset": experiment, "metric": "accuracy"}
    return trials(name, mean + FIVE / 10, epsilon="", delta=np.nan, **fields)


def imdb():
    return [
        level("nonprivate", 0.85),
        level("random", 0.5),
        scheme("imgm", 0.6, noise=90.0, true=1.0),
        scheme("analytic_gaussian", 0.61, noise=90.0, true=1.0),
        scheme("mvg_binary", 0.5, noise=8e6, true=0.0),
        scheme("imgm_amplified", 0.8, noise=2.0, true=111.0),
        scheme("mvg_binary_amplified", 0.5, noise=5e4, true=1e-3),
        scheme("analytic_gaussian_amplified", 0.84, noise=0.5, true=8e5),
    ]


@pytest.fixture
def run(saved, tmp_path):
    """Return a function that writes a summary, tables and all, and returns the run's folder."""

    def make(*parts, experiment="imdb", batch=None, **options):
        file = tmp_path / "summary" / f"{experiment}.csv"
        rows = [saved(*parts, name=experiment)]
        summary.write(rows, file)
        comparisons.write(rows, file, tmp_path / "comparisons" / f"{experiment}.csv")
        settle(tmp_path, training={experiment: {"batch": batch}}, **options)
        runfiles.write(tmp_path, f"tables/imgm_{experiment}")
        return tmp_path

    return make


def read(folder, name):
    table = pd.read_csv(folder / "tables" / f"{name}.csv", dtype={"epsilon": str})
    return table, (folder / "tables" / f"{name}.md").read_text()


def test_a_wrong_calibration_with_enough_noise_is_private(run):
    rows = [
        scheme("imgm_code", 0.8, noise=30.0, true=0.9, experiment="adult"),
        scheme("mvg_code", 0.5, noise=1e9, true=0.0, experiment="adult"),
    ]
    reference = level("nonprivate", 0.85, "adult")
    table, markdown = read(run(reference, *rows, experiment="adult", batch=7), "imgm_adult")
    assert "are for batches of 7." in markdown
    found = table[table["epsilon"].eq("1")].set_index("scheme")["verdict"]
    assert catalogue.schemes("gradients")["imgm_code"].status == "not private"
    assert found["imgm_code"] == "private"
    assert found["mvg_code"] == "distorted"


def test_the_table_has_the_groups_in_their_order_and_says_what_is_the_same(run):
    table, markdown = read(run(*imdb()), "imgm_imdb")
    # For machines every row, for people a line per scheme.
    assert tuple(table.columns) == training.COLUMNS
    order = table.drop_duplicates("scheme")["scheme"].tolist()
    assert order == [
        *("nonprivate", "random", "analytic_gaussian", "imgm", "mvg_binary"),
        *("analytic_gaussian_amplified", "imgm_amplified", "mvg_binary_amplified"),
    ]
    titles = {f"| **{one.group}** |" for one in catalogue.schemes("features").values()}
    assert [markdown.count(title) for title in titles] == [1, 1]
    accuracy = f"60.0 ± {100 * MARGIN:.1f}"
    assert f"| 1 | private |  | {accuracy} | {accuracy} | 90 |" in markdown
    label = catalogue.schemes("features")["imgm_amplified"].label
    accuracy = f"80.0 ± {100 * MARGIN:.1f}†"
    assert f"| {label} | 111 | not private |  | {accuracy} | {accuracy} | 2 |" in markdown
    assert markdown.count("\n| ") == table["scheme"].nunique() + 2 + 2
    assert "5 trials ±" in markdown
    assert "delta = 1e-5;" in markdown


def test_the_table_has_other_readings_in_groups_of_their_own(run):
    other = "classifier=bias"
    rows = [*imdb(), scheme("imgm", 0.3, noise=90.0, true=1.0, reading=other)]
    table, markdown = read(run(*rows), "imgm_imdb")
    label = catalogue.schemes("features")["imgm"].label
    at = table["scheme"].eq("imgm") & table["epsilon"].eq("1")
    means = table[at].set_index("reading")["mean"]
    assert means.to_dict() == pytest.approx({"default": 0.6, other: 0.3})
    first, second = re.findall(rf"\| {label} \| 1 \| private \|  \| ([\d.]+) ", markdown)
    assert (first, second) == ("60.0", "30.0")
    assert f"**{training.READINGS[other].capitalize()}. " in markdown


def test_a_budget_that_no_accountant_reaches_has_its_reason(run):
    fields = {"experiment": "adult", "dataset": "adult", "metric": "accuracy", "delta": 1e-5}
    rows = [
        level("nonprivate", 0.85, "adult"),
        scheme("imgm", 0.8, noise=3.0, true=0.1, experiment="adult"),
        reason("moments_accountant", "no guarantee: too small", epsilon="0.1", **fields),
        reason("moments_accountant", "no guarantee: too small", epsilon="1", **fields),
        scheme("of_tomorrow", 0.7, noise=9.0, true=0.5, experiment="adult"),
    ]
    folder = run(*rows, experiment="adult")
    table, markdown = read(folder, "imgm_adult")
    refused = table[table["scheme"].eq("moments_accountant")]
    assert refused["verdict"].eq("no guarantee").all()
    label = catalogue.schemes("gradients")["moments_accountant"].label
    row = f"| {label} |  | no guarantee |  | no guarantee | no guarantee |"
    assert row in markdown
    assert f"| **{training.FURTHER}** |" in markdown


def test_stand_ins_are_shouted_and_unknown_recipes_named(run):
    rows = [part.assign(data_status="simulated") for part in imdb()]
    folder = run(*rows)
    assert (folder / "tables/imgm_imdb.md").read_text().startswith("> **SIMULATED DATA")
    with pytest.raises(InputError, match="table is 'trainign'; did you mean 'training'"):
        tables.write("trainign", inputs.below(folder), folder / "tables/imgm_imdb.csv")


def test_an_epsilon_that_was_not_run_gives_way_to_the_largest(run):
    _, wanted = read(run(*imdb()), "imgm_imdb")
    _, shown = read(run(*imdb(), table_epsilon="3"), "imgm_imdb")
    assert shown == wanted
    assert "Other columns: at epsilon = 1." in shown
    _, smaller = read(run(*imdb(), table_epsilon="0.1"), "imgm_imdb")
    assert "Other columns: at epsilon = 0.1." in smaller


def test_experiments_and_readings_are_those_of_the_training():
    from reproduction.experiments import training as trainings
    from reproduction.experiments.training import features

    assert {name: trainings.find(name).perturbation for name in discovery.trainings()} == KIND
    assert (DEFAULT, *training.READINGS) == features.READINGS


def theory(folder, name, rows):
    path = folder / "theory" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_the_true_epsilons_of_the_published_settings(tmp_path):
    rows = [
        {
            "dataset": dataset,
            "perturbation": kind,
            "scheme": "imgm_amplified",
            "lots": "paper",
            "delta": 1e-5,
            "epsilon": epsilon,
            "records": 1000,
            "lot": 10,
            "batch": 5 if kind == "gradients" else np.nan,
            "steps": 7,
            "rate": 0.01,
            "multiplier": 1.0,
            "epsilon_delivered": epsilon * factor,
        }
        for dataset, kind, factor, grid in (
            ("mnist", "gradients", 1.0358, (0.5, 1.0)),
            ("mnist", "features", 0.9, (1.0, 3.0)),
        )
        for epsilon in grid
    ]
    theory(tmp_path, "settings", rows)
    settle(tmp_path)
    runfiles.write(tmp_path, "tables/imgm_settings")
    table = pd.read_csv(tmp_path / "tables/imgm_settings.csv")
    assert table["verdict"].tolist() == ["not private"] * 2 + ["private"] * 2
    markdown = (tmp_path / "tables/imgm_settings.md").read_text()
    assert "| Data set | Scheme | Lots of the | Batch | q | T | 0.5 | 1 | 3 |" in markdown
    label = catalogue.schemes("gradients")["imgm_amplified"].label
    assert f"| MNIST | {label} | paper | 5 | 0.01 | 7 | 0.5179† | 1.036† |  |" in markdown
    assert markdown.index(training.TITLES["gradients"]) < markdown.index(
        training.TITLES["features"]
    )


def test_published_settings_count_once_and_state_all_readings_of_q():
    lots = ("paper", "paper", "paper", "another reading", "code")
    rows = pd.DataFrame(
        {
            "perturbation": ["features"] * 4 + ["gradients"],
            "scheme": ["imgm_amplified"] * 4 + ["imgm_code"],
            "lots": lots,
            "epsilon": [1.0, 1.0, 3.0, 1.0, 1.0],
            "epsilon_delivered": [82.0, 240.0, 700.0, 318.0, 2000.0],
        }
    )

    def finding(frame):
        return training.published_finding(training.published_data({"theory/settings": frame}))

    words = "of the paper's settings on features promise too much: tight epsilons of"
    assert finding(rows) == f"All 3 {words} 82 to 240 at claimed 1, 82 to 318 in all readings of q"
    assert finding(rows[rows["lots"].eq("paper")]) == f"All 3 {words} 82 to 240 at claimed 1"
    rows.loc[2, "epsilon_delivered"] = 2.0
    assert finding(rows).startswith(f"2 of 3 {words} 82 to 240 at claimed 1,")
    rows["epsilon_delivered"] = 0.5
    assert finding(rows) == ""


def test_tables_say_how_favourable_the_reading_of_imdb_is(tmp_path):
    runfiles.write(KEPT, "tables/imgm_imdb", "tables/advice", out=tmp_path)
    text = (tmp_path / "tables/imgm_imdb.md").read_text(encoding="utf-8")
    rows = pd.read_csv(KEPT / "summary/imdb.csv", dtype={"epsilon": str})
    place = summary.place_of_default(rows, "1")
    assert re.fullmatch(r"the \w+ ?\w* of 3 readings", place)
    assert len(re.findall(rf"{place} at (?:ε = 1|epsilon 1)", text)) == 1
    advice = pd.read_csv(tmp_path / "tables/advice.csv", keep_default_na=False)
    assert {*advice.loc[advice["experiment"].eq("imdb"), "place"]} == {place}
