# What all rules share: the checked configuration, the environment of their commands, and what their
# results depend on. No network, nothing heavy: every job on a cluster parses this again.
import functools
import os
import sys

PACKAGE_ROOT = os.path.dirname(str(workflow.current_basedir))
sys.path.insert(0, PACKAGE_ROOT)

from matrixdp import config as configuration, dependence, products, sources, stamps
from matrixdp.checks import InputError
from matrixdp.experiments import readings

# Whether this is the workflow itself, no module of another one.
MAIN = workflow.modifier.is_main_snakefile()

try:
    config = configuration.resolve(config, workflow.configfiles if MAIN else ())
    if MAIN and config["matrix"]:
        from matrixdp import own

        MATRIX, MATRIX_FOLDER = own.configured(config), own.folder(config["matrix"])
    else:
        MATRIX, MATRIX_FOLDER = {}, ""
    if os.path.lexists("results") and not os.access("results/.", os.W_OK):
        raise InputError("results is not a folder that you may write to; move it out of the way")
except InputError as error:
    # One sentence and no more: Snakemake would add this file and line, twice.
    sys.exit(str(error))

# A bare `snakemake` works from a venv or conda environment that is not activated, uninstalled.
os.environ.update(
    PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
    PYTHONPATH=PACKAGE_ROOT,
    DATA_MIRROR=os.environ.get("DATA_MIRROR", "") or config["data"]["mirror"],
    **{
        # A run on a matrix of one's own is planned beside that of the papers.
        configuration.PLANNED: ("" if MAIN else os.environ.get(configuration.PLANNED, "") + " ")
        + sources.stamp(config)
    },
)

# Warns of stand-ins for originals that were wanted; Python starts only where there are any.
STAND_INS = (
    '! grep -qs \'"requested": "auto"\' $(grep -ls \'"status": "simulated"\''
    " results/data/*/provenance.json) /dev/null || python -m matrixdp refresh --status"
)

# Below the prefix that a module may have been given.
ROOT = os.path.dirname(workflow.modifier.path_modifier.replace_prefix("results/any"))


def root(wildcards):
    """Return the folder of results: a plain parameter would look like part of an output's name."""
    return ROOT


if not MAIN:
    # The handlers of a module's Snakefile are never called.
    configuration.write(config, ROOT)
# Whether this is the run on a matrix of one's own.
OWN = isinstance(config["matrix"], dict)
EXPERIMENTS = config["experiments"]
DATASETS = sorted({experiment["dataset"] for experiment in EXPERIMENTS.values()})
TRAINING = config["training"]
LEARNT = sorted({training["dataset"] for training in TRAINING.values()})
RUNS, MATERIAL = [*EXPERIMENTS, *TRAINING], [*DATASETS, *LEARNT]
SWEPT = products.swept(config)
TIMED = ["sampler_times"]
THEORY = [name for name in sources.theory() if name not in TIMED]
SHOWN = products.grouped(config)
SETTINGS_SHOWN = sources.stamp(dependence.shown({**config, "reading": readings.DEFAULT}, []))
METRICS = {name: one.larger for name, one in products.catalogue.metrics().items()}
# What training may take: memory in MB, minutes; for all else the profiles' defaults. Twice the memory
# that a full run was seen to take, and ten times its time; `--set-resources` where trials are many.
LARGE = {"mem_mb": 2000, "runtime": 60}


wildcard_constraints:
    dataset="|".join(DATASETS),
    experiment="|".join(EXPERIMENTS),
    training="|".join(TRAINING) or "none",
    learnt="|".join(LEARNT) or "none",
    any_experiment="|".join(RUNS),
    mechanism="|".join(sources.mechanisms()),
    reading=f"{readings.DEFAULT}|[a-z0-9_]+=[a-z0-9_=+]+",
    other="[a-z0-9_]+=[a-z0-9_=+]+",


@functools.cache
def made_from(experiment, reading, *rows, code=True):
    """Return digests of what the rows of mechanisms or schemes depend on."""
    return dependence.made_from({**config, "reading": reading}, experiment, *rows, code=code)


def filled(names, wildcards):
    """Return an experiment and its rows, with the wildcards put in if they are the names."""
    return [name.format(**dict(wildcards.items())) for name in names]


def made_by(names, wildcards):
    """Return digests of what the rows of a job depend on."""
    experiment, *rows = filled(names, wildcards)
    return made_from(experiment, wildcards.reading, *rows)


def described(name, text):
    """Give a rule whose name is computed the words that --list-target-rules shows."""
    own = workflow.modifier.modify_rulename(name)
    if workflow.is_rule(own):
        workflow.get_rule(own).docstring = text


def to_report(files, category):
    """Mark the figures and tables among files for --report."""
    shown = {f for f in files if f.endswith((".svg", ".csv", ".html")) and "/data/" not in f}
    labels = {file: {"file": os.path.basename(file)} for file in shown}
    return [report(f, category=category, labels=labels[f]) if f in shown else f for f in files]


def data_of(experiment):
    """Return the prepared data of an experiment."""
    file = "arrays.npz" if experiment in TRAINING else "matrix.npy"
    dataset = (EXPERIMENTS | TRAINING)[experiment]["dataset"]
    return [f"results/data/{dataset}/{name}" for name in (file, "provenance.json")]


def material(name, wildcards):
    """Return what the trials of an experiment start from: its data, or features made of them."""
    (experiment,) = filled([name], wildcards)
    if "extractor_epochs" in TRAINING.get(experiment, {}):
        return f"results/features/{experiment}.npz"
    return data_of(experiment)


def trials_of(experiment, reading=readings.DEFAULT):
    """Return the trial files of an experiment, one per mechanism or scheme."""
    rows = configuration.rows(config, experiment)
    return [f"results/trials/{experiment}/{reading}/{row}.csv.gz" for row in rows]
