# What all rules share: the checked configuration, and functions that name files and settings.
# No network, nothing heavy: every job on a cluster parses this again.
import fnmatch
import os
import shlex
import shutil
import sys
from types import SimpleNamespace as Namespace

WORKFLOW = os.path.dirname(str(workflow.current_basedir))
# The library, and the study that uses it.
PACKAGES = [os.path.join(os.path.dirname(WORKFLOW), "src"), WORKFLOW]
sys.path[:0] = PACKAGES

try:
    from reproduction import config as configuration, discovery, imports, job_settings
    from reproduction import plugins
    from matrixdp.checks import InputError
    from reproduction.experiments import readings
    from reproduction.trials import BASELINES
except ModuleNotFoundError as error:
    # Rules by `github(...)`, or an environment of Snakemake alone.
    sys.exit(
        f"this workflow needs its clone and its environment, and {error.name} is missing; clone it, say "
        "`make setup`, and run .venv/bin/snakemake there, or name its Snakefile by its path"
    )

FOLDER = config.get("pathvars", {}).get("results", "results")

try:
    config = configuration.resolve(config)
except InputError as error:
    # One sentence and no more: Snakemake would add this file and line.
    sys.exit(str(error))

if os.path.isfile(folder := FOLDER.partition("/")[0]):
    sys.exit(f"{folder} is a file, where the folder of all results goes; move it away")

# A bare `snakemake` works from a venv or conda environment that is not activated: `python` is the one
# that runs this, unless a rule's own environment replaces it. Nothing else of a host's is changed.
if os.path.dirname(shutil.which("python") or "") != os.path.dirname(sys.executable):
    own = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
    os.environ.update(PATH=os.pathsep.join(own))

EXPERIMENTS, TRAININGS = config["experiments"], config["training"]
# All experiments but those that are read beside another one.
SWEPT = [name for name in EXPERIMENTS if name != "section10_2"]
# The tables that the papers print of them.
IN_PRINT = {"regression": "table3", "first_pc": "table4", "covariance": "table5"}
RUNS = [*EXPERIMENTS, *TRAININGS]
DATASETS = sorted({job_settings.dataset(config, name) for name in RUNS})
# Files of one's own must be there before a data set is made of them.
for name in DATASETS if config["data"]["source"] != "simulated" else ():
    if not os.path.isfile(f"{FOLDER}/data/{name}/provenance.json"):
        try:
            configuration.check_originals(
                name, os.environ.get("DATA_MIRROR") or config["data"]["mirror"], config
            )
        except InputError as error:
            sys.exit(str(error))
# The wildcards of trials and of trainings.
RELEASES = [
    Namespace(experiment=run, mechanism=row)
    for run in EXPERIMENTS
    for row in job_settings.rows(config, run)
]
LEARNERS = [
    Namespace(training=run, scheme=row)
    for run in TRAININGS
    for row in job_settings.distinct_rows(config, run)
]
# CSV files of one's own, by data set.
OWN = config["datasets"]
# By data set, the scalings of a matrix beside the default one.
SCALINGS = {
    dataset: [scaling for scaling in entry.get("scalings", ()) if scaling != "default"]
    for dataset, entry in configuration.datasets(config).items()
}
# Another reading changes the tables of the experiments on releases, and nothing else.
OTHER_READING = config["reading"] != readings.DEFAULT
# Whether the run has claims and theory, and whether all that the article is on.
ON_PAPERS = job_settings.on_papers(config)
# Runs of their own, each by an overlay.
ASIDE = {
    "mnist": "make mnist",
    "cifar10_features": "make images",
    "svhn_features": "workflow/config/svhn.yaml",
}
IN_FULL = ON_PAPERS and {*job_settings.OF_PAPERS, *discovery.trainings()} <= {*RUNS, *ASIDE}
# The panels of IMGM's Figure 1, in the order of its text, and their pictures in colour.
PANELS = ["mnist_features", "cifar10_features", "svhn_features", "imdb"]
IMAGES = ["cifar10", "cifar10_jpeg", "svhn"]


pathvars:
    folder=FOLDER,
    reading=config["reading"],


wildcard_constraints:
    dataset="[a-z0-9_]+",
    experiment="|".join(EXPERIMENTS) or "none",
    training="|".join(TRAININGS) or "none",
    run="|".join(RUNS),
    mechanism="|".join(sorted({job.mechanism for job in RELEASES})) or "none",
    scaling="|".join({scaling for name in DATASETS for scaling in SCALINGS[name]}) or "none",
    scheme="|".join(sorted({job.scheme for job in LEARNERS})) or "none",
    theory="|".join(discovery.theory()),


def within(path):
    """Return a file of the project: relative inside this folder, so that both may be moved."""
    near = os.path.relpath(path)
    return local(str(path) if near.startswith(os.pardir) else near)


def python(wildcards, output):
    """Return the interpreter with the packages, for the commands of this workflow alone.

    As a function of the output it is not compared: both folders may be moved.
    """
    places = [os.path.relpath(place) for place in PACKAGES]
    below = all(not place.startswith(os.pardir) for place in places)
    return f"PYTHONPATH={shlex.quote(os.pathsep.join(places if below else PACKAGES))} python"


def mirror(wildcards, output):
    """Return the folder of the original files, a path of this machine, which is not compared."""
    return os.environ.get("DATA_MIRROR") or config["data"]["mirror"]


def code(*modules):
    """Return the files of modules, of all that they import and that these read, with their digests.

    They are params and no inputs: `snakemake -n` names the file that has changed, and neither a
    comment nor a new time of a file reruns anything.
    """
    return imports.lines(*modules)


def code_of(verb, *modules):
    """Return what modules that a verb imports by name add to its code."""
    own = {*code(verb)}
    return [file for file in code(verb, *modules) if file not in own]


def modules(entries, *names):
    """Return the modules of entries of a registry by their names; only the study's have any."""
    own = [entries[name] for name in names if name in entries]
    return sorted({imports.module(entry.file) for entry in own if not entry.distribution})


def code_of_mechanism(verb, mechanism):
    """Return what a mechanism adds to a verb's code: its module, or the package that has it."""
    own = modules(discovery.mechanisms(), mechanism)
    own += imports.audits(*own) if verb == "cli.audit" else []
    package = plugins.lines(mechanism)
    own += imports.library(*plugins.files(mechanism).values()) if package else []
    return [*code_of(verb, *own), *package]


def code_of_data(dataset):
    """Return what a data set adds to the code of its preparation."""
    return [] if dataset in OWN else code_of("cli.prepare", f"data.{dataset}")


def task_of(wildcards):
    """Return the module of an experiment's task."""
    return modules(discovery.tasks(), EXPERIMENTS[wildcards.experiment]["task"])


def mechanisms_of(wildcards):
    """Return the mechanisms of an experiment, without its baselines."""
    rows = job_settings.rows(config, wildcards.experiment)
    return [name for name in rows if name in discovery.mechanisms()]


def matrix_of(wildcards):
    """Return the prepared matrix of an experiment; its other scalings lie in folders beside it."""
    folder = f"<folder>/data/{job_settings.dataset(config, wildcards.experiment)}"
    return [f"{folder}/matrix.npy", f"{folder}/provenance.json"]


def file_of(wildcards):
    """Return the CSV file behind a data set of one's own; none for another."""
    entry = OWN.get(wildcards.dataset)
    return [local(os.path.expanduser(entry["file"]))] if entry else []


def scalings_of(wildcards, *names):
    """Return the matrix of an experiment in its other scalings, or in those of these names."""
    dataset = job_settings.dataset(config, wildcards.experiment)
    return expand(
        "<folder>/data/{dataset}/{scaling}/{file}",
        dataset=dataset,
        scaling=[name for name in SCALINGS[dataset] if name in (names or SCALINGS[dataset])],
        file=["matrix.npy", "provenance.json"],
    )


def scaling_of_reading(wildcards):
    """Return the matrix of an experiment in the scaling of the run's reading, if that is another."""
    dataset = job_settings.dataset(config, wildcards.experiment)
    return scalings_of(wildcards, readings.find(config["reading"]).scaling(dataset))


def arrays_of(wildcards):
    """Return what a neural experiment learns from."""
    folder = f"<folder>/data/{job_settings.dataset(config, wildcards.training)}"
    return [f"{folder}/arrays.npz", f"{folder}/provenance.json"]


def learned_from(wildcards):
    """Return what private training starts from: the data, or features made of them."""
    if "extractor_epochs" in TRAININGS[wildcards.training]:
        return [f"<folder>/features/{wildcards.training}.npz"]
    return arrays_of(wildcards)


def trials_of(run):
    """Return the trial files of an experiment, one for each mechanism or scheme that is run."""
    return [
        f"<folder>/trials/{run}/<reading>/{row}.csv.gz"
        for row in job_settings.distinct_rows(config, run)
    ]


def settings_of(run, row):
    """Return what rows of an experiment depend on, as the command has it."""
    part = job_settings.training if run in TRAININGS else job_settings.trials
    return job_settings.text(part(config, run, row))


def of_trials(wildcards):
    """Return the settings of a mechanism's trials."""
    return job_settings.trials(config, wildcards.experiment, wildcards.mechanism)


def of_training(wildcards):
    """Return the settings of a scheme's training."""
    return job_settings.training(config, wildcards.training, wildcards.scheme)


def of_extraction(wildcards):
    """Return the settings of an extractor."""
    return job_settings.extraction(config, wildcards.training)


def of_readings(wildcards):
    """Return the settings of an experiment under all readings."""
    return job_settings.readings(config, wildcards.experiment)


def of_audit(wildcards):
    """Return the settings of the audit of a mechanism."""
    return job_settings.audit(config, wildcards.experiment, wildcards.mechanism)


def by_key(part, runs):
    """Return params for a command's settings: their JSON, and a text for each key.

    Snakemake compares the texts, so that `snakemake -n` names the key that has changed. It does not
    compare the JSON, as that is a function of the output, too.

    Args:
        part: function of a job's wildcards that returns its settings.
        runs: the wildcards of jobs that have all keys together.
    """

    def text(wildcards, key):
        settings = part(wildcards)
        return f"{key}: {job_settings.text(settings[key])}" if key in settings else ""

    return {
        "settings": lambda wildcards, output: job_settings.text(part(wildcards)),
        # Params are compared as a set: the text of a key that only other jobs have is always in it.
        "no_setting": "",
        **{
            f"setting_{key}": lambda wildcards, key=key: text(wildcards, key)
            for key in sorted({key for wildcards in runs for key in part(wildcards)})
        },
    }


def digests_of(wildcards, output):
    """Return the digests of the settings that the trials of an experiment must be of."""
    run = wildcards.run
    return ",".join(
        job_settings.digest(settings_of(run, row))
        for row in job_settings.distinct_rows(config, run)
    )


def fixed_of(wildcards):
    """Return the publicly fixed configurations of an experiment's mechanisms, as the command has them."""
    configurations = (
        job_settings.untuned(config, middle=True) if wildcards.run in EXPERIMENTS else {}
    )
    names = job_settings.rows(config, wildcards.run)
    return job_settings.text(
        {name: configurations[name] for name in names if name in configurations}
    )


def published(*names):
    """Return files of the numbers that the papers print, as far as there are any."""
    paths = (f"{WORKFLOW}/published/{name}.csv" for name in names)
    return [within(path) for path in paths if os.path.isfile(path)]


def published_of(experiment):
    """Return what the papers print of an experiment."""
    return published(IN_PRINT.get(experiment, experiment))


def provenance(*datasets):
    """Return the provenance of data sets, as far as this configuration has them."""
    names = [name for name in datasets if name in DATASETS]
    return expand("<folder>/data/{name}/provenance.json", name=names)


def beside(name):
    """Return a file of the project beside the workflow, if it is there."""
    path = os.path.join(os.path.dirname(WORKFLOW), name)
    return [within(path)] if os.path.isfile(path) else []


def cited(runs):
    """Return what the works behind experiments follow from: their summaries and their data."""
    datasets = {job_settings.dataset(config, name) for name in runs}
    return [
        *expand("<folder>/summary/{run}.csv", run=runs),
        *expand("<folder>/data/{name}/provenance.json", name=sorted(datasets)),
    ]


def rows_of(run):
    """Return the results of an experiment: of one on releases the audit and what is printed, too."""
    if run in TRAININGS:
        return expand("<folder>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=run)
    kinds = ["summary", "comparisons", "audit", *["implied_noise"] * (run in IN_PRINT)]
    return [*expand("<folder>/{kind}/{run}.csv", kind=kinds, run=run), *published_of(run)]


def readings_of(experiment):
    """Return the results of an experiment under all readings, their audit, what is printed."""
    rows = expand("<folder>/{kind}/{run}.csv", kind=["readings", "audit"], run=experiment)
    return [*rows, *published_of(experiment)]


def tables(*patterns):
    """Return all files of the tables of `all` with these names."""
    every = [*TABLES, *(name for name, (_, run) in EXPERIMENT_TABLES.items() if run in RUNS)]
    names = [name for name in every if any(fnmatch.fnmatch(name, each) for each in patterns)]
    files = expand("<folder>/tables/{name}.{ending}", name=names, ending=["csv", "json"])
    readable = [name for name in names if name not in FOR_PROGRAMS]
    files += expand("<folder>/tables/{name}.md", name=readable)
    # Those that go into a paper are there in LaTeX too: of the papers, and of each experiment.
    printed = [*EXPERIMENT_TABLES, *fnmatch.filter(names, "table[1-2]")]
    return files + expand(
        "<folder>/tables/{name}.tex", name=[name for name in names if name in printed]
    )


def training_tables(name):
    """Return the files of the table of a training, which the configuration must have."""
    if name not in TRAININGS:
        command = f"; `{ASIDE[name]}` does" if name in ASIDE else ""
        sys.exit(f"this configuration does not run {name}{command}")
    endings = ["csv", "md", "json", "tex"]
    return expand("<folder>/tables/imgm_{name}.{ending}", name=name, ending=endings)


def figures(*patterns):
    """Return all files of the figures of `all` with these names."""
    every = [*FIGURES, *EXPERIMENT_FIGURES]
    names = [name for name in every if any(fnmatch.fnmatch(name, each) for each in patterns)]
    kinds = ["{name}.svg", "narrow/{name}.svg", "{name}.png", "{name}.json", "data/{name}.csv"]
    return [file for kind in kinds for file in expand(f"<folder>/figures/{kind}", name=names)]


def summaries():
    """Return what page and article show beside tables and figures."""
    files = expand("<folder>/data/{name}/provenance.json", name=DATASETS)
    files += expand("<folder>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=RUNS)
    files += [file for name in SWEPT for file in published_of(name)]
    on_papers = ["<folder>/claims.csv", "<folder>/theory/settings.csv"]
    return files + (on_papers if ON_PAPERS else [])


def results_files():
    """Return all that a run makes but its page and its article."""
    files = expand("<folder>/data/{name}/provenance.json", name=DATASETS)
    files += expand("<folder>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=RUNS)
    files += [file for run in RUNS for file in trials_of(run)]
    # What tables and figures are made from; another reading has its tables alone.
    if not OTHER_READING:
        sources = [*TABLES.values(), *FIGURES.values()]
        files += [file for inputs in sources for file in inputs if file.startswith("<folder>")]
    files += tables("*") + figures("*")
    if ON_PAPERS:
        files += ["<folder>/claims.csv"]
        files += expand("<folder>/theory/{name}.csv", name=discovery.theory())
    return sorted({*files})


def recipe_of_figure(wildcards):
    """Return the look of a figure."""
    return EXPERIMENT_FIGURES.get(wildcards.figure, [wildcards.figure])[0]
