# What all rules share: the checked configuration, the environment of their commands, and the words
# that the commands are called with. No network, nothing heavy: every job parses this again.
import json
import os
import sys

from snakemake.exceptions import WorkflowError

PACKAGE_ROOT = os.path.dirname(str(workflow.current_basedir))
sys.path.insert(0, PACKAGE_ROOT)

from matrixdp import config as configuration
from matrixdp import readings, sources
from matrixdp.checks import InputError

try:
    config = configuration.resolve(config)
except InputError as error:
    raise WorkflowError(str(error)) from None
if os.path.lexists("results") and not (os.path.isdir("results") and os.access("results", os.W_OK)):
    raise WorkflowError("results is not a folder that you may write to; move it out of the way")

# A bare `snakemake` works from a venv or conda environment that is not activated, uninstalled.
os.environ.update(
    PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
    PYTHONPATH=PACKAGE_ROOT,
    DATA_MIRROR=os.environ.get("DATA_MIRROR", "") or config["data"]["mirror"],
)

EXPERIMENTS = config["experiments"]
DATASETS = sorted({experiment["dataset"] for experiment in EXPERIMENTS.values()})
# The neural experiments, each on the data set of its name.
TRAINING = config["training"]
LEARNING = sorted(TRAINING)
# The MVG paper's tables of results, as far as their experiments are to run.
EXPERIMENT_OF = {
    table: experiment
    for table, experiment in {"3": "regression", "4": "first_pc", "5": "covariance"}.items()
    if experiment in EXPERIMENTS
}


def table_of(name):
    """Return the file of a figure's input, and whether this configuration makes it."""
    folder, _, stem = name.partition("/")
    if folder == "published":
        return f"workflow/published/{stem}.csv", True
    made = {"summary": [*EXPERIMENTS, *TRAINING], "readings": EXPERIMENTS}
    return f"results/{name}.csv", stem in made.get(folder, [stem])


# Figures of experiments that are not to run are left out; those of readings are a target apart.
DRAWN = {
    name: drawing.inputs
    for name, drawing in sources.figures().items()
    if all(table_of(table)[1] for table in drawing.inputs)
}
READING_FIGURES = [
    name for name in DRAWN if any(table.startswith("readings/") for table in DRAWN[name])
]
FIGURES = [name for name in DRAWN if name not in READING_FIGURES]
# What the IMGM paper's side consists of.
IMGM_TABLES = [
    "table1",
    *(f"imgm_{training}{part}" for training in TRAINING for part in ("", "_grid")),
    "imgm_settings",
]
IMGM_FIGURES = [name for name in FIGURES if name.startswith(("figure1", "imgm"))]
# Where Tables 3 to 5 go. Results of the default reading are never replaced by those of another.
TABLES = (
    "results/tables"
    if config["reading"] == readings.DEFAULT
    else f"results/readings/{config['reading']}/tables"
)
# Section 10.2 compares an experiment of its own with experiment I.
SECTION10_2 = [name for name in ("section10_2",) if {name, "regression"} <= EXPERIMENTS.keys()]


wildcard_constraints:
    dataset="|".join(DATASETS),
    experiment="|".join(EXPERIMENTS),
    training="|".join(TRAINING) or "none",
    learning="|".join(LEARNING) or "none",
    mechanism="[a-z0-9_]+",
    table="|".join(EXPERIMENT_OF),
    figure="|".join(DRAWN),
    theory="|".join(sources.theory()),
    reading="[a-z0-9_]+=[a-z0-9_=+]+",
    scaling="[a-z0-9_]+",


def data_of(wildcards):
    """Return the prepared data of an experiment, scaled as its reading wants it."""
    folder = folder_of(wildcards)
    return [f"results/data/{folder}/{part}" for part in ("matrix.npy", "provenance.json")]


def folder_of(wildcards):
    """Return the name of the folder with an experiment's data, the default one or a reading's."""
    dataset = EXPERIMENTS[wildcards.experiment]["dataset"]
    scaling = readings.find(wildcards.get("reading", readings.DEFAULT)).scaling(dataset)
    return dataset if scaling == readings.DEFAULT else f"{dataset}-{scaling}"


def scaled_of(wildcards):
    """Return the folders with an experiment's data in the other scalings of its readings."""
    dataset = EXPERIMENTS[wildcards.experiment]["dataset"]
    return [
        f"results/data/{dataset}-{scaling}"
        for knob in readings.knobs().values()
        if knob.acts_on == f"{readings.DATA}{dataset}" and wildcards.experiment in knob.cross
        for scaling in knob.values.values()
        if scaling != readings.DEFAULT
    ]


def trials_of(wildcards):
    """Return the trial files of an experiment, one per mechanism."""
    reading = wildcards.get("reading", readings.DEFAULT)
    return [
        f"results/trials/{wildcards.experiment}/{reading}/{mechanism}.csv.gz"
        for mechanism in EXPERIMENTS[wildcards.experiment]["mechanisms"]
    ]


def figure_inputs(wildcards):
    """Return the tables that a figure is drawn from."""
    return [table_of(table)[0] for table in sources.figures()[wildcards.figure].inputs]


def trial_words(wildcards, config=config):
    """Return the words of one trials command: only what can change its rows."""
    experiment = config["experiments"][wildcards.experiment]
    words = ["--seed", config["seed"], "--trials", config["trials"]]
    if "reading" in wildcards.keys():
        words += ["--reading", wildcards.reading]
    words += ["--adjacency", config["adjacency"]]
    for option in ("target", "train"):
        if option in experiment:
            words += [f"--{option}", experiment[option]]
    if "features" in experiment:
        words += ["--features", ",".join(experiment["features"])]
    source = sources.mechanisms().get(wildcards.mechanism)
    if source:
        words += ["--epsilons", ",".join(config["epsilons"]), "--delta", config["delta"]]
        if "direction" in source.axes:
            for name, features in experiment["directions"].items():
                words += ["--direction", f"{name}={'+'.join(features)}"]
        if "tau" in source.axes:
            words += ["--taus", ",".join(config["taus"])]
        if "rows" in source.axes:
            words += ["--rows", ",".join(config["rows"])]
    return " ".join(map(str, words))


def trial_sources(wildcards):
    """Return a digest of the source that an experiment's trials of a mechanism depend on."""
    source = sources.mechanisms().get(wildcards.mechanism)
    files = ["experiments/study.py", sources.tasks()[wildcards.experiment]]
    return sources.digest(*files, *([source.file] if source else []))


def learning_of(wildcards):
    """Return the prepared data of a neural experiment."""
    return [
        f"results/data/{wildcards.training}/{part}" for part in ("arrays.npz", "provenance.json")
    ]


def extracts(wildcards):
    """Return whether a neural experiment starts from extracted features."""
    return "extractor_epochs" in TRAINING[wildcards.training]


def examples_of(wildcards):
    """Return what a neural experiment trains on: its features, or its data as they are."""
    if extracts(wildcards):
        return [f"results/features/{wildcards.training}.npz"]
    return learning_of(wildcards)


def extractor_words(wildcards):
    """Return the words of the command that trains a feature extractor."""
    settings = TRAINING[wildcards.training]
    words = ["--seed", config["seed"], "--epochs", settings["extractor_epochs"]]
    if settings["records"]:
        words += ["--records", settings["records"]]
    return " ".join(map(str, words))


def training_words(wildcards):
    """Return the words of one training command: only what can change its rows."""
    settings = TRAINING[wildcards.training]
    words = ["--seed", config["seed"], "--trials", settings["trials"]]
    for option in ("lot", "epochs", "clip", "records"):
        if settings.get(option):
            words += [f"--{option}", settings[option]]
    if wildcards.mechanism in sources.schemes(wildcards.training):
        words += ["--epsilons", ",".join(settings["epsilons"]), "--delta", settings["delta"]]
    return " ".join(map(str, words))


def training_sources(wildcards):
    """Return a digest of the source that the trials of a neural experiment's scheme depend on."""
    scheme = sources.schemes(wildcards.training).get(wildcards.mechanism)
    return sources.digest(sources.trainings()[wildcards.training], *([scheme] if scheme else []))
