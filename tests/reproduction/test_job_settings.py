"""The part of the settings that a job reads, as its command line has it."""

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
CLAIMED = {"claim_trials", "claim_epsilons"}


@pytest.mark.parametrize(
    ("experiment", "mechanism", "keys"),
    [
        ("regression", "nonprivate", RELEASE | {"target", "train", "claim_trials"}),
        ("regression", "laplace", RELEASE | BUDGET | CLAIMED | {"target", "train"}),
        ("section10_2", "zero", RELEASE | {"target", "train", "features", "claim_trials"}),
        ("covariance", "laplace", RELEASE | BUDGET | CLAIMED),
        ("first_pc", "jl_exact", RELEASE | BUDGET | {"grids"}),
        ("first_pc", "mvg_thm2", RELEASE | BUDGET | CLAIMED | {"directions", "grids"}),
        ("adult", "nonprivate", TRAINED | {"clip"}),
        ("adult", "imgm", TRAINED | {"clip", "batch"} | BUDGET),
        ("imdb", "imgm", TRAINED | BUDGET),
    ],
)
def test_a_part_holds_what_rows_may_depend_on(experiment, mechanism, keys):
    of = job_settings.training if experiment in RESOLVED["training"] else job_settings.trials
    part = of(RESOLVED, experiment, mechanism)
    assert part.keys() == keys


def test_claims_are_judged_in_the_default_reading_alone():
    other = job_settings.trials({**RESOLVED, "reading": "zeta=literal"}, "regression", "laplace")
    assert not CLAIMED & other.keys()


def test_claims_compare_a_mechanism_at_their_epsilons_alone():
    part = {
        name: job_settings.trials(RESOLVED, "covariance", name)
        for name in ("laplace", "imgm", "jl_exact")
    }
    assert part["laplace"]["claim_epsilons"] == ["1"]
    assert part["imgm"]["claim_epsilons"] == RESOLVED["experiments"]["covariance"]["epsilons"]
    assert not CLAIMED & part["jl_exact"].keys()


def test_a_part_of_an_experiment_that_is_not_to_run_is_refused():
    with pytest.raises(InputError, match="experiment is 'regresion'; did you mean 'regression'"):
        job_settings.trials(RESOLVED, "regresion", "zero")


def test_readings_and_audit_are_at_the_epsilon_of_the_tables():
    by_reading = job_settings.readings(RESOLVED, "regression")
    audited = job_settings.audit(RESOLVED, "regression", "mvg_binary")
    assert by_reading["epsilons"] == audited["epsilons"] == [RESOLVED["table_epsilon"]]
    assert by_reading["grids"]["taus"] == [RESOLVED["tau_untuned"]]
    assert list(by_reading["directions"]) == ["a"]
    assert (by_reading["trials"], audited["trials"]) == (
        RESOLVED["experiment_defaults"]["trials"],
        1,
    )
    assert not CLAIMED & {*by_reading, *audited}
    assert len(audited["grids"]["taus"]) > 1


def test_a_part_survives_the_command_line_with_its_order():
    part = job_settings.trials(RESOLVED, "covariance", "mvg_binary")
    again = job_settings.read(job_settings.text(part))
    assert again == part
    assert list(again["directions"]) == list(RESOLVED["experiments"]["covariance"]["directions"])
    assert job_settings.digest(job_settings.text(part)) == job_settings.digest(
        job_settings.text(again)
    )
    assert job_settings.digest(job_settings.text(part)) != job_settings.digest(
        job_settings.text({**part, "seed": 1})
    )


def test_trials_of_an_experiment_go_before_those_of_all():
    settings = {**RESOLVED, "experiments": {**RESOLVED["experiments"]}}
    settings["experiments"]["first_pc"] = {**settings["experiments"]["first_pc"], "trials": 7}
    assert job_settings.trials(settings, "first_pc", "goe")["trials"] == 7
    assert (
        job_settings.trials(settings, "covariance", "imgm")["trials"]
        == RESOLVED["experiment_defaults"]["trials"]
    )


def test_what_trains_on_its_data_has_no_features():
    with pytest.raises(InputError, match="adult trains on its data as they are; it has no extr"):
        job_settings.extraction(RESOLVED, "adult")
    part = job_settings.extraction(RESOLVED, "imdb")
    assert part.keys() == {"experiment", "dataset", "seed", "extractor_epochs", "records"}


def test_words_on_a_data_set_are_no_part():
    assert job_settings.data({"title": "x", "shape": [1, 2], "doi": "10/1"}) == {"shape": [1, 2]}
    files = {"a": {"sha256": "0", "path": "here/a"}}
    assert job_settings.data({"files": files}) == {"files": {"a": {"sha256": "0"}}}
