import copy
import re

import jsonschema
import pytest
import yaml
from packages import ROOT

from matrixdp.checks import InputError
from reproduction import config, job_settings

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())


def merged(overlay):
    """Return the shipped configuration with an overlay put in, as Snakemake does it."""
    from snakemake.utils import update_config  # takes a second

    changed = copy.deepcopy(SHIPPED)
    update_config(changed, yaml.safe_load(overlay.read_text()))
    return changed


@pytest.mark.parametrize("folder", ["results", "results/quick", "mine", "a b/c.d", "a..b/..c"])
def test_results_have_a_folder_below_the_one_where_it_runs(folder):
    resolved = config.resolve({**SHIPPED, "pathvars": {"results": folder}})
    assert resolved["pathvars"] == {"results": folder}


@pytest.mark.parametrize(
    "folder",
    [
        *("/abs", "../x", "x/../y", "x/..", ".", "..", "./x", "~/x", "a~b", "", "results/", "a//b"),
        *("results/reference", "results/reference/quick"),
        *(3, None, ["results"]),
    ],
)
def test_no_other_folder_takes_results(folder):
    with pytest.raises(InputError, match=r"^config.yaml: pathvars.results is .*; it must be a fol"):
        config.resolve({**SHIPPED, "pathvars": {"results": folder}})


def test_results_are_the_only_path_and_have_a_default():
    with pytest.raises(InputError, match="pathvars has the unknown key 'logs'"):
        config.resolve({**SHIPPED, "pathvars": {"logs": "x"}})
    with pytest.raises(InputError, match="pathvars is 'x'; it must be a mapping of results alone"):
        config.resolve({**SHIPPED, "pathvars": "x"})
    assert config.resolve(SHIPPED)["pathvars"] == {"results": "results"}


def test_paths_and_options_are_not_among_the_settings_of_a_run():
    changed = {**SHIPPED, "pathvars": {"results": "mine"}, "options": "--configfile x.yaml"}
    assert config.text(config.resolve(changed)) == config.text(config.resolve(SHIPPED))


@pytest.mark.parametrize(
    ("value", "token"),
    [(1, "1"), (1.0, "1"), (0.10, "0.1"), (1e-5, "0.00001"), (1e3, "1000")],
)
def test_a_number_has_one_token(value, token):
    shared = {"epsilons": [value]}
    resolved = config.resolve({**SHIPPED, "table_epsilon": value, "experiment_defaults": shared})
    assert resolved["table_epsilon"] == token
    assert resolved["experiments"]["regression"]["epsilons"] == [token]


@pytest.mark.parametrize(
    "bad", [0, -1, "nan", float("nan"), "inf", float("inf"), "x", "", None, True]
)
def test_what_is_no_positive_number_has_no_token(bad):
    with pytest.raises(InputError, match="table_epsilon is .* a finite number above 0"):
        config.resolve({**SHIPPED, "table_epsilon": bad})


def test_shipped_configurations_are_valid():
    for overlay in (ROOT / "workflow/config").glob("*.yaml"):
        config.resolve(merged(overlay))


def test_resolving_sorts_and_merges_equal_numbers():
    shared = {"epsilons": [10, 1, 1.0, 0.1]}
    resolved = config.resolve({**SHIPPED, "experiment_defaults": shared})
    assert resolved["experiments"]["covariance"]["epsilons"] == ["0.1", "1", "10"]
    assert shared["epsilons"] == [10, 1, 1.0, 0.1], "what was read stays as it is"


def test_an_experiment_has_trials_and_epsilons_of_its_own_or_those_of_all():
    changed = copy.deepcopy(SHIPPED)
    changed["experiment_defaults"] = {"trials": 7, "epsilons": [0.5, 1]}
    changed["experiments"]["first_pc"] |= {"trials": 9, "epsilons": [1, 2]}
    resolved = config.resolve(changed)
    first_pc, covariance = (resolved["experiments"][name] for name in ("first_pc", "covariance"))
    assert (first_pc["trials"], first_pc["epsilons"]) == (9, ["1", "2"])
    assert (covariance["trials"], covariance["epsilons"]) == (7, ["0.5", "1"])
    part = job_settings.trials(resolved, "first_pc", "laplace")
    assert (part["trials"], part["epsilons"]) == (9, ["1", "2"])
    changed["experiments"]["first_pc"]["epsilons"] = [2]
    with pytest.raises(InputError, match=r"table_epsilon, one of experiments.first_pc.epsil"):
        config.resolve(changed)


@pytest.mark.parametrize("key", [key for key in config.MOVED if key != "trials_for_claims"])
def test_an_old_key_is_a_sentence_with_the_new_one(key):
    new = config.MOVED[key]
    sentence = f"config.yaml has the old key '{key}'; write {re.escape(new)} instead"
    with pytest.raises(InputError, match=sentence):
        config.resolve({**SHIPPED, key: 1})


def test_an_old_key_of_an_experiment_is_a_sentence_with_the_new_one():
    changed = copy.deepcopy(SHIPPED)
    changed["experiments"]["regression"]["trials_for_claims"] = 1
    with pytest.raises(
        InputError, match="regression has the old key 'trials_for_claims'; write trials"
    ):
        config.resolve(changed)


def test_an_editor_finds_nothing_wrong_with_the_shipped_configurations():
    schema = yaml.safe_load(config.SCHEMA.read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    for changed in (SHIPPED, *map(merged, (ROOT / "workflow/config").glob("*.yaml"))):
        assert not [*jsonschema.Draft7Validator(schema).iter_errors(changed)]


def test_what_is_left_out_has_the_default():
    resolved = config.resolve({name: SHIPPED[name] for name in ("experiments", "training")})
    assert resolved == config.resolve(SHIPPED)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"experiment_defaults": {"trials": 0}}, "trials is 0; it must be a whole number of at"),
        ({"experiment_defaults": {"trials": "many"}}, "trials is 'many'; it must be a whole num"),
        ({"experiment_defaults": {"trails": 3}}, "unknown key 'trails'; did you mean 'trials'"),
        (
            {"experiment_defaults": {"epsilons": [1, -1]}},
            r"epsilons\[1\] is -1; it must be a fin",
        ),
        ({"experiment_defaults": {"epsilons": ["nan"]}}, r"epsilons\[0\] is 'nan'"),
        ({"experiment_defaults": {"epsilons": []}}, r"epsilons is \[\]"),
        ({"delta": 1}, r"delta is 1; it must be 1/n .*, or a number strictly between 0 and 1"),
        ({"delta": 0}, "delta is 0"),
        ({"delta": "1/m"}, "delta is '1/m'; it must be 1/n"),
        ({"taus": [1]}, r"taus\[0\] is 1; it must be a number strictly between"),
        ({"tau_untuned": 1}, "tau_untuned is 1; it must be a number strictly between 0 and"),
        ({"taus": 0.5}, "taus is 0.5; it must be a list"),
        (
            {"sketch_multiples": [0.5]},
            r"sketch_multiples\[0\] is 0.5; it must be a number of at least 1",
        ),
        ({"data": {"source": "orignal"}}, "data.source is 'orignal'; did you mean 'original'"),
        ({"data": {"sorce": "auto"}}, "data has the unknown key 'sorce'"),
        ({"experiments": {"regresion": {}}}, "experiments.regresion lacks the key 'task'"),
        ({"experiments": {}, "training": {}}, "experiments and training are both empty; name one"),
    ],
)
def test_a_bad_value_is_one_sentence(change, sentence):
    with pytest.raises(InputError, match=sentence) as raised:
        config.resolve({**SHIPPED, **change})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("mechanisms", ["laplac"], r"mechanisms\[0\] is 'laplac'; did you mean 'laplace'"),
        ("task", "regresion", "task is 'regresion'; did you mean 'regression'"),
        ("dataset", "livr", "dataset is 'livr'; did you mean 'liver'"),
        ("directions", {"a": ["sgtp"]}, r"directions.a\[0\] is 'sgtp'; did you mean 'sgpt'"),
        ("directions", {"a b": ["sgpt"]}, "'a b'"),
        ("target", "drink", "target is 'drink'; did you mean 'drinks'"),
    ],
)
def test_a_bad_name_in_an_experiment_is_one_sentence(key, value, sentence):
    changed = copy.deepcopy(SHIPPED)
    changed["experiments"]["regression"][key] = value
    with pytest.raises(InputError, match=sentence):
        config.resolve(changed)


def test_a_number_that_a_command_line_nests_is_a_sentence_with_the_way_out():
    changed = copy.deepcopy(SHIPPED)
    changed["training"]["adult"]["lot"] = "300"
    with pytest.raises(InputError, match=r"lot is '300'; .* put them into a file for --configfile"):
        config.resolve(changed)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("schemes", ["imgn"], r"training.adult.schemes\[0\] is 'imgn'; did you mean 'imgm'"),
        ("schemes", ["mvg_binary_amplified"], r"schemes\[0\] is 'mvg_binary_amplified'"),
        ("epsilons", [0], r"training.adult.epsilons\[0\] is 0; it must be a finite number above 0"),
        ("delta", 1, "training.adult.delta is 1; it must be a number strictly between 0"),
        ("clip", 0, "training.adult.clip is 0; it must be a number above 0"),
        ("lot", 0, "training.adult.lot is 0; it must be a whole number of at least 1"),
        ("extractor_epochs", 1, "training.adult has the unknown key 'extractor_epochs'"),
        ("dataset", "liver", "training.adult.dataset is 'liver'; it must be one of cora, adult"),
        (
            "perturbation",
            "gradient",
            "training.adult.perturbation is 'gradient'; did you mean 'gradients'",
        ),
    ],
)
def test_a_bad_setting_of_a_training_is_one_sentence(key, value, sentence):
    changed = copy.deepcopy(SHIPPED)
    changed["training"]["adult"][key] = value
    with pytest.raises(InputError, match=sentence):
        config.resolve(changed)


def test_private_features_are_not_clipped():
    assert "clip" not in config.resolve(SHIPPED)["training"]["imdb"]


def test_the_kind_of_a_training_is_that_of_its_code():
    changed = copy.deepcopy(SHIPPED)
    changed["training"]["imdb"] |= {"perturbation": "gradients"}
    del changed["training"]["imdb"]["extractor_epochs"]
    with pytest.raises(
        InputError, match="imdb.perturbation is 'gradients'; it must be one of features"
    ):
        config.resolve(changed)
    changed["training"] = {"imbd": changed["training"]["adult"]}
    with pytest.raises(InputError, match="training is 'imbd'; did you mean 'imdb'"):
        config.resolve(changed)


def test_a_regression_needs_its_target():
    changed = copy.deepcopy(SHIPPED)
    del changed["experiments"]["regression"]["target"]
    with pytest.raises(InputError, match="regression lacks the key 'target'"):
        config.resolve(changed)


def test_an_experiment_of_any_name_is_a_task_on_a_data_set():
    own = {"task": "covariance", "dataset": "liver", "mechanisms": ["laplace"]}
    changed = {**SHIPPED, "experiments": {"mine": own}}
    assert job_settings.trials(config.resolve(changed), "mine", "laplace")["task"] == "covariance"
    own["task"] = "covarianc"
    with pytest.raises(InputError, match="mine.task is 'covarianc'; did you mean 'covarianc"):
        config.resolve(changed)
    own |= {"task": "covariance", "dataset": "adult"}
    with pytest.raises(InputError, match="mine.dataset is 'adult'; it must be one of liver"):
        config.resolve(changed)


def test_an_experiment_and_a_training_have_names_of_their_own():
    own = {"task": "covariance", "dataset": "liver", "mechanisms": ["laplace"]}
    with pytest.raises(InputError, match="experiments and training both have 'adult'; rename it"):
        config.resolve({**SHIPPED, "experiments": {"adult": own}})


def test_null_leaves_an_experiment_out():
    part = {**SHIPPED, "experiments": {**SHIPPED["experiments"], "regression": None}}
    resolved = config.resolve({**part, "training": None})
    assert [*resolved["experiments"]] == [*SHIPPED["experiments"]][1:]
    assert resolved["training"] == {}
    whole = config.resolve(SHIPPED)
    assert job_settings.trials(resolved, "first_pc", "mvg_thm2") == job_settings.trials(
        whole, "first_pc", "mvg_thm2"
    )
    assert job_settings.on_papers(resolved)


@pytest.mark.parametrize("name", ["images", "mnist", "paper_epochs", "quick", "zeta_literal"])
def test_an_overlay_names_its_folder_and_itself(name):
    resolved = config.resolve(merged(ROOT / f"workflow/config/{name}.yaml"))
    assert resolved["pathvars"]["results"] == f"results/{name}"
    assert resolved["options"] == f"--configfile workflow/config/{name}.yaml"
    assert job_settings.on_papers(resolved) == (name != "zeta_literal")


def test_mnist_has_an_overlay_of_its_own():
    assert "mnist" not in SHIPPED["training"]
    alone = config.resolve(merged(ROOT / "workflow/config/mnist.yaml"))
    assert (alone["experiments"], {*alone["training"]}) == ({}, {"mnist", "mnist_features"})


def test_another_reading_needs_a_folder_of_its_own():
    with pytest.raises(InputError, match=r"^config.yaml: reading is zeta=literal, and its results"):
        config.resolve({**SHIPPED, "reading": "zeta_literal"})


CELLAR = {
    "public": True,
    "file": "somewhere/cellar.csv",
    "records": 40,
    "bounds": {"sugar": [0, 50], "acid": [0, 10]},
}


def described(changes=(), name="cellar"):
    experiment = {"task": "covariance", "dataset": name, "mechanisms": ["nonprivate", "laplace"]}
    entry = {key: value for key, value in (CELLAR | dict(changes)).items() if value is not None}
    runs = {"cellar": experiment}
    return {**SHIPPED, "datasets": {name: entry}, "experiments": runs, "training": None}


def test_a_file_of_ones_own_becomes_a_data_set():
    resolved = config.resolve(described())
    entry = config.datasets(resolved)["cellar"]
    assert (entry["title"], entry["shape"]) == ("cellar.csv", [40, 2])
    assert entry["scalings"]["default"]["middle"] == [25, 5]
    assert not job_settings.on_papers(resolved)
    # Where the file lies changes no job and stands in no result.
    assert "file" not in job_settings.data(entry)
    assert "somewhere" not in config.text(resolved)
    assert "audit_pairs" not in resolved["experiments"]["cellar"]
    large = config.resolve(described({"records": config.LARGE // 2}))
    assert config.LIMITS.items() <= large["experiments"]["cellar"].items()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"public": None}, config.NOT_PUBLIC),
        ({"public": False}, config.NOT_PUBLIC),
        ({"file": None}, "lacks the key 'file'"),
        ({"records": 0}, "records is 0; it must be the number of records"),
        ({"bounds": {"sugar": [0, 1]}}, "bounds is .*; it must be the columns that are used"),
        ({"bounds": {"sugar": [0, 1], "acid": [1, 1]}}, r"bounds.acid is \[1, 1\]; write the low"),
        ({"bounds": {"sugar": [0, 1], "acid": "free"}}, "bounds.acid is 'free'; it must be"),
        ({"columns": ["sugar"]}, "has the unknown key 'columns'"),
    ],
)
def test_a_wrong_entry_is_one_sentence(changes, sentence):
    with pytest.raises(InputError, match=rf"^config.yaml: datasets\.cellar.*{sentence}"):
        config.resolve(described(changes))


def test_a_file_of_ones_own_is_none_of_the_papers_and_is_there(tmp_path):
    with pytest.raises(InputError, match=r"datasets.liver has the name of a data set of the pap"):
        config.resolve(described(name="liver"))
    resolved = config.resolve(described({"file": str(tmp_path / "cellar.csv")}))
    with pytest.raises(InputError, match=r"datasets.cellar.file is .*, where no file is; correct"):
        config.check_originals("cellar", "", resolved)
    (tmp_path / "cellar.csv").write_text("sugar,acid\n")
    config.check_originals("cellar", "", resolved)


def test_every_data_set_of_the_workflow_is_public(monkeypatch):
    entries = {"liver": {**config.sets.entries()["liver"], "public": False}}
    monkeypatch.setattr(config.sets, "entries", lambda: entries)
    with pytest.raises(InputError, match=f"^workflow/datasets.yaml: liver {config.NOT_PUBLIC}"):
        config.resolve(SHIPPED)
