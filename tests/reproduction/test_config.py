"""What config.yaml and datasets.yaml may say: values in one form, and one sentence for the rest."""

import copy
import json
import re

import jsonschema
import pytest
import yaml
from packages import ROOT

from matrixdp.checks import InputError
from reproduction import config, files, job_settings, models
from reproduction.data import datasets

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
DATA = {"liver": files.read_yaml(datasets.FILE)["liver"]}
LEFT_OUT = object()
LIVER = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
LONG = "a" * 300
PLAIN = {"task": "covariance", "dataset": "liver", "mechanisms": ["laplace"]}
REGRESSION = {**SHIPPED["experiments"]["regression"], "trials": 9, "epsilons": [1, 2]}
TRAINED = {"training": {name: SHIPPED["training"][name] for name in ("adult", "imdb")}}
CELLAR = {
    "datasets": {
        "cellar": {
            "public": True,
            "file": "somewhere/cellar.csv",
            "records": 40,
            "bounds": {"sugar": [0, 50], "acid": [0, 10]},
        }
    },
    "experiments": {
        "cellar": {
            "task": "covariance",
            "dataset": "cellar",
            "mechanisms": ["nonprivate", "laplace"],
        }
    },
    "training": None,
}


def changed(base, path, value):
    """Return a copy with another value at a path of keys, or without it."""
    base = copy.deepcopy(base)
    *folders, last = path.split("/")
    place = base
    for key in folders:
        place = place.setdefault(key, {})
    place[last] = value
    if value is LEFT_OUT:
        del place[last]
    return base


def merged(*overlays):
    """Return the shipped configuration with overlays put in, as Snakemake does it."""
    from snakemake.utils import update_config  # takes a second

    base = copy.deepcopy(SHIPPED)
    for overlay in overlays:
        update_config(base, yaml.safe_load(overlay.read_text()))
    return base


def refusal(function, *arguments):
    """Return the one sentence that a call is refused with."""
    with pytest.raises(InputError) as raised:
        function(*arguments)
    text = str(raised.value)
    assert "\n" not in text
    assert "\\n" not in text.replace(r"a\n", "").replace(r"1/n\n", "")
    assert len(text) < 700
    return text


#: A path in config.yaml, its value, and what the sentence has.
REFUSED = [
    ("seeed", 1, "config.yaml has the unknown key 'seeed'; did you mean 'seed'?"),
    ("seed", 10**400, "seed is 10000", "...0000", "it must be a whole number from 0 to 9,223"),
    ("seed", "3", "seed is '3'", "(numbers within --config are text: put them into a file for"),
    ("delta", 1, "delta is 1; it must be 1/n or a number of at least 1e-15 and below 1"),
    ("delta", 0, "delta is 0; it must be 1/n"),
    ("delta", "1/m", "delta is '1/m'; it must be 1/n"),
    ("delta", "1/n\n", r"delta is '1/n\n'; it must be 1/n"),
    *(
        ("table_epsilon", bad, "table_epsilon is ", "it must be a number from 1e-06 to 1,000,000")
        for bad in [0, -1, "nan", float("nan"), "inf", float("inf"), "x", "", None, True, 10**400]
    ),
    ("table_epsilon", 2, "table_epsilon, one of experiments.regression.epsilons, is '2'; it must"),
    ("taus", [1], "taus[0] is 1; it must be a number from 1e-06 to 0.999999"),
    ("taus", [float("." + "9" * 25)], "taus[0] is 1.0; "),
    ("taus", 0.5, "taus is 0.5; it must be a list of 1 to 100, each a number"),
    ("tau_untuned", 1, "tau_untuned is 1; it must be a number from 1e-06 to 0.999999: one of taus"),
    ("tau_untuned", 0.6, "tau_untuned is '0.6'; did you mean '0.65'? It must be one of"),
    ("sketch_multiples", [0.5], "sketch_multiples[0] is 0.5; it must be a number from 1 to 1,000"),
    ("sketch_multiples", [1e12], "sketch_multiples[0] is 1000000000000.0; "),
    ("reading", "zeta=litral", "did you mean 'literal'"),
    ("reading", "zeta_litral", "reading is 'zeta_litral'; did you mean 'zeta_literal'"),
    ("reading", {"zetta": "literal"}, "reading is 'zetta'; did you mean 'zeta'"),
    ("reading", "zeta=literal+zeta=sqrt", "it may have each question once"),
    ("reading", 3, "reading is 3; it must be a text or a mapping: a name from workflow/readings"),
    ("reading", "zeta_literal", "reading is zeta=literal, and its results need a folder of their"),
    ("data/source", "orignal", "data.source is 'orignal'; did you mean 'original'"),
    ("data/sorce", "auto", "data has the unknown key 'sorce'; did you mean 'source'"),
    ("pathvars/logs", "x", "pathvars has the unknown key 'logs'"),
    ("pathvars", "x", "pathvars is 'x'; it must be a mapping: where results go"),
    *(
        (
            "pathvars/results",
            folder,
            "config.yaml: pathvars.results is ",
            "it must be a folder below",
        )
        for folder in [
            *("/abs", "../x", "x/../y", "x/..", ".", "..", "./x", "~/x", "a~b", "", "results/"),
            *(
                "a//b",
                "results/{x}",
                "results/reference",
                "results/reference/quick",
                3,
                None,
                ["results"],
            ),
        ]
    ),
    ("experiment_defaults/trials", 0, "trials is 0; it must be a whole number from 1 to 100,000"),
    ("experiment_defaults/trials", 10**9, "trials is 1000000000; ", "100,000 take days"),
    ("experiment_defaults/trials", 1e23, "trials is 1e+23; "),
    ("experiment_defaults/trials", 10**400, "trials is 1000", "...0000"),
    ("experiment_defaults/trials", "many", "trials is 'many'; it must be a whole number"),
    ("experiment_defaults/trails", 3, "unknown key 'trails'; did you mean 'trials'"),
    ("experiment_defaults/epsilons", [1, -1], "epsilons[1] is -1; it must be a number from 1e-06"),
    ("experiment_defaults/epsilons", [1, "1e400"], "epsilons[1] is '1e400'"),
    ("experiment_defaults/epsilons", [1, 1e-400], "epsilons[1] is 0.0; "),
    ("experiment_defaults/epsilons", [], "epsilons is []; it must be a list of 1 to 100"),
    ("experiment_defaults/epsilons", [*range(1, 200)], "a list of 1 to 100, each"),
    ("experiments", LEFT_OUT, "config.yaml lacks the key 'experiments': the experiments on rel"),
    ("experiments/regresion", None, "null in experiments is 'regresion'; did you mean 'regression"),
    ("training/typo", None, "a name that is null in training is 'typo'; it must be one of adult"),
    ("experiments/regresion", {}, "experiments.regresion lacks the key 'task': the name of a task"),
    (f"experiments/{LONG}", PLAIN, "it must be made of small letters and digits, at most 50"),
    ("experiments/a\n", PLAIN, r"is 'a\n'; it must be made of small letters"),
    ("experiments/..", PLAIN, "experiments is '..'; it must be made of small letters"),
    ("experiments/adult", PLAIN, "experiments and training both have 'adult'; rename it"),
    ("experiments/regression/task", "regresion", "task is 'regresion'; did you mean 'regression'"),
    ("experiments/regression/dataset", "livr", "dataset is 'livr'; did you mean 'liver'"),
    ("experiments/regression/dataset", "adult", "regression.dataset is 'adult'; it must be one of"),
    ("experiments/regression/mechanisms", ["laplac"], "mechanisms[0] is 'laplac'; did you mean"),
    ("experiments/regression/mechanisms", ["goe"] * 2, "is ['goe', 'goe']", "all different"),
    ("experiments/regression/epsilons", [2], "table_epsilon, one of experiments.regression.epsilo"),
    (
        "experiments/regression/directions",
        {"a": ["sgtp"]},
        "directions.a[0] is 'sgtp'; did you mean",
    ),
    ("experiments/regression/directions", {"a b": ["sgpt"]}, "'a b'; it must be made of letters"),
    ("experiments/regression/directions", {LONG: ["sgpt"]}, "at most 50"),
    ("experiments/regression/directions", {"a": LIVER}, "has every feature; leave one out"),
    ("experiments/regression/directions", {}, "directions is empty and mvg_binary needs one"),
    ("experiments/section10_2/features", ["sgpt", "drink"], "features[1] is 'drink'; did you mean"),
    ("experiments/section10_2/features", ["sgpt"], "must be a list of 2 or more"),
    ("experiments/section10_2/features", ["sgpt", "mcv"], "target is 'drinks'"),
    ("experiments/section10_2/directions", {"a": ["mcv"]}, "is 'mcv'; it must be one of sgpt, dri"),
    ("experiments/regression/target", "drink", "target is 'drink'; did you mean 'drinks'"),
    (
        "experiments/regression/target",
        LEFT_OUT,
        "regression lacks the key 'target', which the task",
    ),
    ("experiments/regression/target", None, "target is None; it must be the feature that"),
    ("experiments/regression/train", 345, "train is 345 of 345 records; leave some for testing"),
    ("experiments/regression/train", 1, "train is 1; it must be a whole number of at least 2"),
    ("experiments/first_pc/mechanisms", ["zero"], "first_pc.mechanisms[0] is 'zero'; "),
    ("training/adult/lot", "300", "lot is '300'; ", "put them into a file for --configfile"),
    ("training/adult/lot", 0, "training.adult.lot is 0; it must be a whole number of at least 1"),
    ("training/adult/lot", 10**6, "lot is 1000000; make it 48842, the number of records, or less"),
    ("training/adult/records", 100, "lot is 512; make it 100, the number"),
    ("training/adult/batch", 1024, "batch is 1024; make it 512, the lot, or less"),
    ("training/adult/schemes", ["imgn"], "adult.schemes[0] is 'imgn'; did you mean 'imgm'"),
    ("training/adult/schemes", ["mvg_binary_amplified"], "schemes[0] is 'mvg_binary_amplified'"),
    ("training/adult/epsilons", [0], "adult.epsilons[0] is 0; it must be a number from 1e-06"),
    ("training/adult/delta", 1, "adult.delta is 1; it must be a number of at least 1e-15"),
    ("training/adult/clip", 0, "adult.clip is 0; it must be a number from 1e-06 to 1,000,000"),
    ("training/adult/clip", 1e-320, "clip is 1e-320; "),
    ("training/adult/clip", 1e300, "clip is 1e+300; "),
    ("training/adult/epochs", 10**9, "epochs is 1000000000; ", "take days"),
    ("training/adult/extractor_epochs", 1, "adult has the unknown key 'extractor_epochs'"),
    ("training/adult/dataset", "liver", "adult.dataset is 'liver'; it must be one of cora, adult"),
    ("training/adult/perturbation", "gradient", "is 'gradient'; did you mean 'gradients'"),
    ("training/adult/perturbation", LEFT_OUT, "adult lacks the key 'perturbation': what noise is"),
    ("training/imbd", SHIPPED["training"]["adult"], "training is 'imbd'; did you mean 'imdb'"),
    ("training/imdb", SHIPPED["training"]["adult"], "is 'gradients'; it must be one of features"),
]
#: The same for a data set of one's own, and for entries of datasets.yaml, below liver.
REFUSED_CSV = [
    ("public", LEFT_OUT, datasets.NOT_PUBLIC),
    ("public", False, datasets.NOT_PUBLIC),
    ("file", LEFT_OUT, "lacks the key 'file': the path of the file"),
    ("records", 0, "records is 0; it must be a whole number of at least 2"),
    ("bounds", {"sugar": [0, 1]}, "bounds is ", "the columns that are used, two or more"),
    ("bounds/acid", [1, 1], "bounds.acid is [1, 1]; write the lower one first"),
    ("bounds/acid", "free", "bounds.acid is 'free'; it must be a list of 2, each a number: [low"),
    ("columns", ["sugar"], "has the unknown key 'columns'"),
]
REFUSED_DATA = [
    ("public", LEFT_OUT, "workflow/datasets.yaml: liver " + datasets.NOT_PUBLIC),
    ("title", LEFT_OUT, "liver lacks the key 'title': what readers call"),
    ("files", LEFT_OUT, "liver lacks the key 'files': the original files"),
    ("shape", LEFT_OUT, "liver lacks the key 'shape': [records, columns]"),
    ("columns", LEFT_OUT, "liver lacks the key 'columns', the names"),
    ("colums", ["a"], "unknown key 'colums'; did you mean 'columns'"),
    ("files/bupa.data/sha256", LEFT_OUT, "bupa.data lacks the key 'sha256': a SHA-256 of 64 dig"),
    *(
        ("files/bupa.data/sha256", digest, f"sha256 is '{digest}'; it must be a SHA-256 of 64 dig")
        for digest in ("ab", "a" * 65, "A" * 64)
    ),
    ("files/bupa.data/urls", ["bupa.data"], "urls[0] is 'bupa.data'; it must be an address, http"),
    ("sha256", "ab", "liver.sha256 is 'ab'; it must be a SHA-256"),
    ("shape", [345, 6, 1], "shape is [345, 6, 1]; it must be a list of 2, each a whole number"),
    ("shape", [345, 7], "columns has 6 names where shape has 7"),
    ("scalings/default", {"method": "min_max", "rows": 999}, "rows is 999 of 345 records"),
    ("scalings/default", {"method": "minmax"}, "method is 'minmax'; did you mean 'min_max'"),
    ("scalings/default", {"rows": 9}, "default lacks the key 'method': a function of"),
    ("scalings", {"mine": {"method": "clip"}}, "scalings lacks the key 'default'"),
    ("scalings/default", {"method": "bounds"}, "lacks the key 'lower', which the method bounds"),
    ("scalings/default", {"method": "clip", "upper": [1] * 6}, "default has the key 'upper', whic"),
    (
        "scalings/default",
        {"method": "bounds", "lower": [0], "upper": [1] * 6, "middle": [0] * 6},
        "default.lower has 1 numbers where shape has 6 columns",
    ),
]


def resolve_csv(path, value):
    return config.resolve(changed({**SHIPPED, **CELLAR}, f"datasets/cellar/{path}", value))


def check_data(entries):
    return models.check(datasets.Entries, copy.deepcopy(entries), "workflow/datasets.yaml")


@pytest.mark.parametrize(
    ("start", "check", "path", "value", "says"),
    [
        (start, check, row[0], row[1], row[2:])
        for start, check, rows in (
            ("config.yaml", lambda *row: config.resolve(changed(SHIPPED, *row)), REFUSED),
            ("config.yaml: datasets.cellar", resolve_csv, REFUSED_CSV),
            (
                "workflow/datasets.yaml: liver",
                lambda path, value: check_data(changed(DATA, f"liver/{path}", value)),
                REFUSED_DATA,
            ),
        )
        for row in rows
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence(start, check, path, value, says):
    text = refusal(check, path, value)
    assert text.startswith(start)
    assert [part for part in says if part not in text] == [], text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("livr", "livr has no reader, a file workflow/reproduction/data/livr.py"),
        ("livr", "did you mean 'liver'"),
        ("store", "store has no reader"),
        ("../a", "is '../a'; it must be made of small letters"),
    ],
)
def test_a_data_set_has_a_name_and_a_reader(name, says):
    assert says in refusal(check_data, {name: DATA["liver"]})


#: What few keys can be.
WRONG = [None, True, -1, 0.5, 1e-320, 1e300, "", "x", "nan", "1e400", "1_0", [], [None], [["a"]]]
WRONG += [{}, {"surely unknown": 1}, {7: 1}]


def altered(value):
    """Yield a value with a wrong one in one place, for all places."""
    yield from copy.deepcopy(WRONG)
    if isinstance(value, dict):
        yield from ({**value, key: other} for key in value for other in altered(value[key]))
    elif isinstance(value, list):
        yield from ([other, *value[1:]] for other in altered(value[0]) if value)


@pytest.mark.parametrize(
    ("check", "base", "most"),
    [
        (config.resolve, {**SHIPPED, **CELLAR, "data": {"source": "auto", "mirror": ""}}, 40),
        (config.resolve, {**SHIPPED, "experiments": {"regression": REGRESSION}, **TRAINED}, 40),
        (check_data, DATA, 30),
    ],
)
def test_whatever_is_wrong_in_one_place_is_one_sentence(check, base, most):
    check(base)
    sentences, accepted = [], 0
    for wrong in altered(base):
        try:
            check(copy.deepcopy(wrong))
            accepted += 1
        except InputError as error:
            sentences.append(str(error))
    for text in sentences:
        assert re.fullmatch(r"(config|workflow/datasets)\.yaml.*", text)
    assert len(sentences) > 300
    assert accepted < most


@pytest.mark.parametrize("folder", ["results", "results/quick", "mine", "a b/c.d", "a..b/..c"])
def test_results_have_a_folder_below_the_one_where_it_runs(folder):
    resolved = config.resolve(changed(SHIPPED, "pathvars/results", folder))
    assert resolved["pathvars"] == {"results": folder}


def test_paths_and_options_are_not_among_the_settings_of_a_run():
    other = {**SHIPPED, "pathvars": {"results": "mine"}, "options": "--configfile x.yaml"}
    assert config.text(config.resolve(other)) == config.text(config.resolve(SHIPPED))


@pytest.mark.parametrize(
    ("value", "token"),
    [(1, "1"), (1.0, "1"), (0.10, "0.1"), (1e-5, "0.00001"), (1e3, "1000")],
)
def test_a_number_has_one_token(value, token):
    shared = {"epsilons": [10, value, 0.1, 10.0]}
    resolved = config.resolve({**SHIPPED, "table_epsilon": value, "experiment_defaults": shared})
    assert resolved["table_epsilon"] == token
    expected = sorted({"0.1", token, "10"}, key=float)
    assert resolved["experiments"]["regression"]["epsilons"] == expected
    assert shared["epsilons"] == [10, value, 0.1, 10.0], "what was read stays as it is"


def test_one_and_one_point_zero_are_one_setting():
    clips = [changed(SHIPPED, "training/adult/clip", clip) for clip in (1, 1.0)]
    assert len({json.dumps(config.resolve(clip)) for clip in clips}) == 1


def test_an_experiment_has_trials_and_epsilons_of_its_own_or_those_of_all():
    other = changed(SHIPPED, "experiment_defaults", {"trials": 7, "epsilons": [0.5, 1]})
    other["experiments"]["first_pc"] |= {"trials": 9, "epsilons": [1, 2]}
    resolved = config.resolve(other)
    for name, expected in (("first_pc", (9, ["1", "2"])), ("covariance", (7, ["0.5", "1"]))):
        part = job_settings.trials(resolved, name, "laplace")
        assert (part["trials"], part["epsilons"]) == expected


def test_what_is_left_out_has_the_default():
    resolved = config.resolve({name: SHIPPED[name] for name in ("experiments", "training")})
    assert resolved == config.resolve(SHIPPED)
    # The control: a default of gradients stands in no training on features.
    assert "clip" not in resolved["training"]["imdb"]


def test_null_leaves_an_experiment_out():
    part = {**SHIPPED, "experiments": {**SHIPPED["experiments"], "regression": None}}
    resolved = config.resolve({**part, "training": None})
    assert [*resolved["experiments"]] == [*SHIPPED["experiments"]][1:]
    assert resolved["training"] == {}
    assert job_settings.covers_papers(resolved)


@pytest.mark.parametrize(
    "names",
    ["images", "images svhn", "mnist", "paper_epochs", "quick", "second_seed", "zeta_literal"],
)
def test_an_overlay_names_its_folder_and_itself(names):
    files = [f"workflow/config/{name}.yaml" for name in names.split()]
    resolved = config.resolve(merged(*(ROOT / file for file in files)))
    assert resolved["pathvars"]["results"] == f"results/{names.split()[-1]}"
    assert resolved["options"] == f"--configfile {' '.join(files)}"
    assert job_settings.covers_papers(resolved) == (names != "zeta_literal")


def test_a_file_of_ones_own_becomes_a_data_set(tmp_path):
    resolved = resolve_csv("title", "Wines")
    entry = config.datasets(resolved)["cellar"]
    assert (entry["title"], entry["shape"]) == ("Wines", [40, 2])
    assert entry["scalings"]["default"]["middle"] == [25, 5]
    assert not job_settings.covers_papers(resolved)
    # Where the file lies changes no job and stands in no result.
    assert "file" not in job_settings.data(entry)
    assert "somewhere" not in config.text(resolved)
    assert "audit_pairs" not in resolved["experiments"]["cellar"]
    large = resolve_csv("records", config.LARGE // 2)
    assert config.LIMITS.items() <= large["experiments"]["cellar"].items()
    own = changed({**SHIPPED, **CELLAR}, "datasets/liver", CELLAR["datasets"]["cellar"])
    assert "datasets.liver has the name of a data set of the papers" in refusal(config.resolve, own)
    resolved = resolve_csv("file", str(tmp_path / "cellar.csv"))
    text = refusal(config.check_originals, "cellar", "", resolved)
    assert re.search(r"datasets.cellar.file is .*, where no file is; correct", text)
    (tmp_path / "cellar.csv").write_text("sugar,acid\n")
    config.check_originals("cellar", "", resolved)


def test_an_editor_finds_nothing_wrong_with_what_is_shipped():
    for name, contents in {
        "config": [SHIPPED, *map(merged, (ROOT / "workflow/config").glob("*.yaml"))],
        "datasets": [datasets.entries()],
    }.items():
        schema = yaml.safe_load((ROOT / f"workflow/{name}.schema.yaml").read_text())
        validator = jsonschema.Draft202012Validator(schema)
        validator.check_schema(schema)
        assert [error for content in contents for error in validator.iter_errors(content)] == []
        assert validator.is_valid({"unknown": 1}) is False
