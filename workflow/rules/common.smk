# What all rules share: the checked configuration, and functions that name files and settings.
# No network, nothing heavy: every job on a cluster parses this again.
import fnmatch
import functools
import os
import shlex
import shutil
import sys

WORKFLOW = os.path.dirname(str(workflow.current_basedir))
# The library, and the study that uses it.
PACKAGES = [os.path.join(os.path.dirname(WORKFLOW), "src"), WORKFLOW]
sys.path[:0] = PACKAGES

try:
    from reproduction import catalogue, config as configuration, discovery, imports, job_settings
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

if not os.access(".snakemake" if os.path.isdir(".snakemake") else ".", os.W_OK):
    sys.exit(
        f"you may not write to {os.getcwd()}; run in a clone of your own, or name a folder by --directory"
    )

if os.path.isfile(folder := FOLDER.partition("/")[0]):
    sys.exit(f"{folder} is a file, where the folder of all results goes; move it away")

# A bare `snakemake` works from a venv or conda environment that is not activated: `python` is the one
# that runs this, unless a rule's own environment replaces it. Nothing else of a host's is changed.
if os.path.dirname(shutil.which("python") or "") != os.path.dirname(sys.executable):
    folders = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
    os.environ.update(PATH=os.pathsep.join(folders))

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
# CSV files of one's own, by data set.
OWN = config["datasets"]
# By data set, the scalings of a matrix beside the default one.
SPECS = configuration.datasets(config)
SCALINGS = {
    dataset: [scaling for scaling in entry.get("scalings", ()) if scaling != "default"]
    for dataset, entry in SPECS.items()
}
# Another reading changes the tables of the experiments on releases, and nothing else.
OTHER_READING = config["reading"] != readings.DEFAULT
# Whether the run has claims and theory, and whether all that the article is on.
ON_PAPERS = job_settings.on_papers(config)
# Runs of their own, each by an overlay.
ASIDE = ["mnist", "cifar10_features", "svhn_features"]
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
    mechanism="|".join({row for run in EXPERIMENTS for row in job_settings.rows(config, run)})
    or "none",
    scaling="|".join({scaling for name in DATASETS for scaling in SCALINGS[name]}) or "none",
    scheme="|".join({row for run in TRAININGS for row in job_settings.rows(config, run)}) or "none",
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


@functools.cache
def code(*parts):
    """Return the source files of modules, by name, and of entries of registries; None has none.

    They are inputs, and Snakemake compares their content: a new time of a file reruns nothing. The
    entry of another package has its version for this (packages_of); it may use all of the library.
    """
    modules = [part for part in parts if isinstance(part, str)]
    entries = [part for part in parts if isinstance(part, discovery.FileEntry)]
    modules += [imports.module(entry.file) for entry in entries if not entry.distribution]
    modules += imports.audits(*modules) if "cli.audit" in modules else []
    modules += imports.library() if any(entry.distribution for entry in entries) else []
    return [within(file) for file in imports.files(*modules)]


def code_of_data(wildcards):
    """Return the source files of the preparation of a data set."""
    return code("cli.prepare", *([] if wildcards.dataset in OWN else [f"data.{wildcards.dataset}"]))


def settings(part):
    """Return a param with the part of the configuration that a job reads, as JSON."""
    return lambda wildcards: job_settings.text(part(config, *wildcards))


def task_of(wildcards):
    """Return the entry of an experiment's task."""
    return discovery.tasks()[EXPERIMENTS[wildcards.experiment]["task"]]


def mechanisms_of(wildcards):
    """Return the entries of an experiment's mechanisms by name, without its baselines."""
    rows = job_settings.rows(config, wildcards.experiment)
    return {name: entry for name in rows if (entry := discovery.mechanisms().get(name))}


def packages_of(wildcards):
    """Return name and version of the other packages that have mechanisms of a job."""
    rows = [wildcards.mechanism] if "mechanism" in wildcards.keys() else mechanisms_of(wildcards)
    entries = map(discovery.mechanisms().get, rows)
    return sorted({entry.distribution for entry in entries if entry} - {""})


def data_of(file):
    """Return a file of an experiment's data, and its provenance; other scalings lie beside."""

    def names(wildcards):
        run = wildcards.get("experiment") or wildcards.training
        folder = f"<folder>/data/{job_settings.dataset(config, run)}"
        return [f"{folder}/{file}", f"{folder}/provenance.json"]

    return names


def learned_from(wildcards):
    """Return what private training starts from: the data, or features made of them."""
    if "extractor_epochs" in TRAININGS[wildcards.training]:
        return [f"<folder>/features/{wildcards.training}.npz"]
    return data_of("arrays.npz")(wildcards)


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
    every = [name for name in TABLES if name not in ON_REQUEST]
    names = [name for name in every if any(fnmatch.fnmatch(name, each) for each in patterns)]
    files = expand("<folder>/tables/{name}.{ending}", name=names, ending=["csv", "json"])
    readable = [name for name in names if name not in FOR_PROGRAMS]
    files += expand("<folder>/tables/{name}.md", name=readable)
    # Those that go into a paper are there in LaTeX too: of the papers, and of each experiment.
    printed = [name for name in names if name in {"table1", "table2", *EXPERIMENT_TABLES}]
    return files + expand("<folder>/tables/{name}.tex", name=printed)


def training_tables(name):
    """Return the files of the table of a training, which the configuration must have."""
    if name not in TRAININGS:
        command = f"; `{catalogue.experiment(name).command}` does" if name in ASIDE else ""
        sys.exit(f"this configuration does not run {name}{command}")
    endings = ["csv", "md", "json", "tex"]
    return expand("<folder>/tables/imgm_{name}.{ending}", name=name, ending=endings)


def figures(*patterns):
    """Return all files of the figures of `all` with these names."""
    names = [name for name in FIGURES if any(fnmatch.fnmatch(name, each) for each in patterns)]
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
        inputs = [file for _, files in {**TABLES, **FIGURES}.values() for file in files]
        files += [file for file in inputs if file.startswith("<folder>")]
    files += tables("*") + figures("*")
    if ON_PAPERS:
        files += ["<folder>/claims.csv"]
        files += expand("<folder>/theory/{name}.csv", name=discovery.theory())
    return sorted({*files})


def recipe_of(exhibits, recipes, name):
    """Return the entry of the recipe of a table or figure."""
    return recipes[exhibits[name][0].split()[0]]
