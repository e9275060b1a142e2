"""The part of the settings that a job reads, as its command line has it."""

import copy
from pathlib import Path

import pytest
import yaml

from matrixdp.checks import InputError
from reproduction import config, job_settings

SHIPPED = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text())
RESOLVED = config.resolve(SHIPPED)
RELEASE = {"experiment", "task", "dataset", "seed", "trials", "adjacency", "reading"}
TRAINED = {"experiment", "dataset", "seed", "trials", "lot", "epochs", "records"}
BUDGET = {"epsilons", "delta"}
MORE = {"trials_at"}


@pytest.mark.parametrize(
    ("experiment", "mechanism", "keys"),
    [
        ("regression", "nonprivate", RELEASE | {"target", "train"}),
        ("regression", "laplace", RELEASE | BUDGET | MORE | {"target", "train"}),
        ("section10_2", "zero", RELEASE | {"target", "train", "features"}),
        ("covariance", "laplace", RELEASE | BUDGET | MORE),
        ("first_pc", "jl_exact", RELEASE | BUDGET | MORE | {"grids", "fixed"}),
        ("first_pc", "mvg_thm2", RELEASE | BUDGET | MORE | {"directions", "grids", "fixed"}),
        ("adult", "nonprivate", TRAINED | {"clip"}),
        ("adult", "imgm", TRAINED | {"clip", "batch"} | BUDGET),
        ("imdb", "imgm", TRAINED | BUDGET),
    ],
)
def test_a_part_holds_what_rows_may_depend_on(experiment, mechanism, keys):
    of = job_settings.training if experiment in RESOLVED["training"] else job_settings.trials
    part = of(RESOLVED, experiment, mechanism)
    assert part.keys() == keys


def test_every_row_has_more_trials_at_the_epsilon_of_the_tables_and_some_rows_at_all():
    part = {
        name: job_settings.trials(RESOLVED, "covariance", name)
        for name in ("nonprivate", "laplace", "jl_exact", "imgm")
    }
    assert part["nonprivate"]["trials"] == 5000
    assert part["laplace"]["trials_at"] == part["jl_exact"]["trials_at"] == {"1": 5000}
    every = dict.fromkeys(RESOLVED["experiments"]["covariance"]["epsilons"], 5000)
    assert part["imgm"]["trials_at"] == every
    # Of a grid without an untuned value the one in the middle, as in the summary.
    assert part["jl_exact"]["fixed"] == "sketch_multiple=8"
    few = copy.deepcopy(RESOLVED)
    few["experiments"]["covariance"]["trials_at_table_epsilon"] = 100
    for name in part:
        assert not MORE & (job := job_settings.trials(few, "covariance", name)).keys()
        assert job["trials"] == 100


def test_a_part_of_an_experiment_that_is_not_to_run_is_refused():
    with pytest.raises(InputError, match="experiment is 'regresion'; did you mean 'regression'"):
        job_settings.trials(RESOLVED, "regresion", "zero")


def test_readings_and_audit_are_at_the_epsilon_of_the_tables():
    by_reading = job_settings.readings(RESOLVED, "regression")
    audited = job_settings.audit(RESOLVED, "regression", "mvg_binary")
    assert by_reading["epsilons"] == audited["epsilons"] == [RESOLVED["table_epsilon"]]
    assert by_reading["grids"]["taus"] == [RESOLVED["tau_untuned"]]
    assert list(by_reading["directions"]) == ["a"]
    # A fifth of those of the tables.
    assert (by_reading["trials"], audited["trials"]) == (1000, 1)
    few = copy.deepcopy(RESOLVED)
    few["experiments"]["regression"]["trials_at_table_epsilon"] = 0
    assert job_settings.readings(few, "regression")["trials"] == 100
    # Draws are many more, and as few where trials are few.
    searches = (job_settings.implied_noise(part, "regression") for part in (RESOLVED, few))
    assert [search["trials"] for search in searches] == [400_000, 8_000]
    assert not MORE & {*by_reading, *audited}
    assert len(audited["grids"]["taus"]) > 1


def test_a_part_survives_the_command_line_with_its_order():
    part = job_settings.trials(RESOLVED, "covariance", "mvg_binary")
    again = job_settings.load_settings(job_settings.dump_settings(part))
    assert again == part
    assert list(again["directions"]) == list(RESOLVED["experiments"]["covariance"]["directions"])
    assert job_settings.digest(job_settings.dump_settings(part)) == job_settings.digest(
        job_settings.dump_settings(again)
    )
    assert job_settings.digest(job_settings.dump_settings(part)) != job_settings.digest(
        job_settings.dump_settings({**part, "seed": 1})
    )


def test_what_trains_on_its_data_has_no_features():
    with pytest.raises(InputError, match="adult trains on its data as they are; it has no extr"):
        job_settings.extraction(RESOLVED, "adult")
    part = job_settings.extraction(RESOLVED, "imdb")
    assert part.keys() == {"experiment", "dataset", "seed", "extractor_epochs", "records"}


def test_words_on_a_data_set_are_no_part():
    assert job_settings.data({"title": "x", "shape": [1, 2], "doi": "10/1"}) == {"shape": [1, 2]}
