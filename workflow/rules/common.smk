# What all rules share: the checked configuration, the environment of their commands, and the words
# that the commands are called with. No network, nothing heavy: every job parses this again.
import json
import os
import sys

from snakemake.exceptions import WorkflowError

PACKAGE_ROOT = os.path.dirname(str(workflow.current_basedir))
sys.path.insert(0, PACKAGE_ROOT)

from matrixdp import config as configuration
from matrixdp import sources
from matrixdp.checks import InputError

try:
    config = configuration.resolve(config)
except InputError as error:
    raise WorkflowError(str(error)) from None

# A bare `snakemake` works from a venv or conda environment that is not activated, uninstalled.
os.environ.update(
    PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
    PYTHONPATH=PACKAGE_ROOT,
    DATA_MIRROR=os.environ.get("DATA_MIRROR", "") or config["data"]["mirror"],
)

EXPERIMENTS = config["experiments"]
DATASETS = sorted({experiment["dataset"] for experiment in EXPERIMENTS.values()})
# The MVG paper's tables of results, as far as their experiments are to run.
EXPERIMENT_OF = {
    table: experiment
    for table, experiment in {"3": "regression", "4": "first_pc", "5": "covariance"}.items()
    if experiment in EXPERIMENTS
}


wildcard_constraints:
    dataset="|".join(DATASETS),
    experiment="|".join(EXPERIMENTS),
    mechanism="[a-z0-9_]+",
    table="|".join(EXPERIMENT_OF),


def data_of(wildcards):
    """Return the prepared data of an experiment."""
    dataset = EXPERIMENTS[wildcards.experiment]["dataset"]
    return [f"results/data/{dataset}/{part}" for part in ("matrix.npy", "provenance.json")]


def trials_of(wildcards):
    """Return the trial files of an experiment, one per mechanism."""
    return [
        f"results/trials/{wildcards.experiment}/default/{mechanism}.csv.gz"
        for mechanism in EXPERIMENTS[wildcards.experiment]["mechanisms"]
    ]


def trial_words(wildcards):
    """Return the words of one trials command: only what can change its rows."""
    experiment = EXPERIMENTS[wildcards.experiment]
    words = ["--seed", config["seed"], "--trials", config["trials"]]
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
    files = ["study.py", sources.tasks()[wildcards.experiment]]
    return sources.digest(*files, *([source.file] if source else []))
