# What all rules share: the checked configuration, the environment of their commands, and what their
# results depend on. No network, nothing heavy: every job on a cluster parses this again.
import functools
import os
import shutil
import sys

PACKAGE_ROOT = os.path.dirname(str(workflow.current_basedir))
sys.path.insert(0, PACKAGE_ROOT)

from matrixdp import config as configuration, products, sources
from matrixdp.checks import InputError
from matrixdp.experiments import readings

# Whether this is the workflow itself, no module of another one.
MAIN = workflow.modifier.is_main_snakefile()

try:
    config = configuration.resolve(config, workflow.configfiles if MAIN else ())
    if MAIN and config["matrix"]:
        from matrixdp import own

        MATRIX = own.configured(config)
    else:
        MATRIX = {}
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
# What of a data set's entry stands in its provenance, but changes no number.
WORDS = {"title", "publisher", "licence", "doi", "citation"}
DATASETS = sorted({experiment["dataset"] for experiment in EXPERIMENTS.values()})
TRAINING = config["training"]
SWEPT = products.swept(config)
TIMED = ["sampler_times"]
THEORY = [name for name in sources.theory() if name not in TIMED]
SHOWN = products.grouped(config)
SETTINGS_SHOWN = sources.stamp(configuration.shown({**config, "reading": readings.DEFAULT}, []))
METRICS = {name: one.larger for name, one in products.catalogue.metrics().items()}
# What a job may take: memory in MB, minutes. Twice the memory that a full run was seen to take, and
# ten times its time; `--set-resources` where trials are many.
SMALL = {"mem_mb": 1200, "runtime": 30}
LARGE = {"mem_mb": 2000, "runtime": 60}
# Where tables of results go: those of the default reading are never replaced by those of another.
RESULTS = os.path.dirname(products.place("tables/any", "results", config["reading"]))


wildcard_constraints:
    dataset="|".join(DATASETS),
    experiment="|".join(EXPERIMENTS),
    training="|".join(TRAINING) or "none",
    any_experiment="|".join([*EXPERIMENTS, *TRAINING]),
    mechanism="|".join(sources.mechanisms()),
    reading=f"{readings.DEFAULT}|[a-z0-9_]+=[a-z0-9_=+]+",
    other="[a-z0-9_]+=[a-z0-9_=+]+",


@functools.cache
def made_from(experiment, reading, *rows, code=True):
    """Return digests of what the rows of mechanisms or schemes depend on."""
    return configuration.made_from({**config, "reading": reading}, experiment, *rows, code=code)


@functools.cache
def choices(reading):
    """Return what a reading sets where it is not the default one."""
    knobs, chosen = readings.knobs(), readings.find(reading).choices
    return {knobs[name].acts_on: knobs[name].values[value] for name, value in chosen.items()}


# All that readings can set, without the words that explain them.
CHOICES = sources.stamp(
    {
        name: [knob.acts_on, dict(knob.values), knob.cross, knob.spares, knob.not_private]
        for name, knob in readings.knobs().items()
    }
)


def keep_records(started):
    """Keep what Snakemake knows of results beside them, where they are found without .snakemake.

    Without these records it would take results of other settings for those that are wanted.
    """
    own, kept = ".snakemake/metadata", "results/metadata"
    if os.path.islink(own) and not os.path.isdir(own):
        os.unlink(own)
    if started and os.path.isdir(own) and not os.path.lexists(kept):
        shutil.move(own, kept)
    if os.path.isdir(kept) and not os.path.lexists(own):
        os.makedirs(".snakemake/incomplete", exist_ok=True)
        os.symlink(os.path.join(os.pardir, kept), own)


def described(name, text):
    """Give a rule whose name is computed the words that --list-target-rules shows."""
    own = workflow.modifier.modify_rulename(name)
    if workflow.is_rule(own):
        workflow.get_rule(own).docstring = text


def to_report(files, category):
    """Mark the figures and tables among files for --report."""
    shown = functools.partial(report, category=category)
    return [
        (
            shown(file, labels={"file": os.path.basename(file)})
            if file.endswith((".svg", ".csv", ".html")) and "/data/" not in file
            else file
        )
        for file in files
    ]


def data_of(experiment):
    """Return the prepared data of an experiment."""
    file = "arrays.npz" if experiment in TRAINING else "matrix.npy"
    dataset = EXPERIMENTS.get(experiment, {}).get("dataset", experiment)
    return [f"results/data/{dataset}/{name}" for name in (file, "provenance.json")]


def trials_of(wildcards):
    """Return the trial files of an experiment, one per mechanism or scheme."""
    experiment = wildcards.any_experiment
    return [
        f"results/trials/{experiment}/{wildcards.get('other', readings.DEFAULT)}/{name}.csv.gz"
        for name in configuration.rows(config, experiment)
    ]


def mechanisms_of(experiment):
    """Return the mechanisms of an experiment by name, without its reference rows."""
    known = sources.mechanisms()
    return {n: known[n] for n in EXPERIMENTS[experiment]["mechanisms"] if n in known}


def code_of(verb, experiment):
    """Return a digest of what a verb runs on all mechanisms of an experiment."""
    task = sources.tasks()[EXPERIMENTS[experiment]["task"]]
    return sources.digest(verb, task, *mechanisms_of(experiment).values())


def entry_of(dataset):
    """Return a digest of what datasets.yaml says of a data set, but for what only readers use."""
    entry = configuration.datasets(config)[dataset]
    return sources.stamp({key: value for key, value in entry.items() if key not in WORDS})


def tables(*names, folder="results/tables"):
    """Return the tables of these names that this configuration has."""
    known = [name for group in SHOWN for name in group.names("table")]
    return [f"{folder}/{name}.csv" for name in known if name in names]


def figures(*starts, of_readings=False):
    """Return the figures whose names start so; those of readings are a target apart."""
    return [
        f"results/figures/{name}.svg"
        for group in SHOWN
        if ("readings" in group.origins) == of_readings
        for name in group.names("figure")
        if name.startswith(starts)
    ]
