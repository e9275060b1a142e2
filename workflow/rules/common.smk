# What all rules share: the checked configuration, and functions that name files and settings.
# No network, nothing heavy: every job on a cluster parses this again.
import fnmatch
import functools
import os
import shlex
import shutil
import sys

from snakemake.exceptions import WorkflowError

WORKFLOW = os.path.dirname(str(workflow.current_basedir))
PROJECT = os.path.dirname(WORKFLOW)
if {*"{}"} & {*PROJECT}:
    sys.exit(f"{PROJECT} has braces, which Snakemake takes for wildcards; rename the folder")
# The library, and the study that uses it.
PACKAGES = [f"{PROJECT}/src", WORKFLOW]
sys.path[:0] = PACKAGES

try:
    from reproduction import catalogue, config as configuration, discovery, imports, job_settings
    from reproduction import machine
    from matrixdp.checks import InputError
    from reproduction.experiments import readings
    from reproduction.files import read_yaml
    from reproduction.report.second_seed import is_second_seed
    from reproduction.trials import BASELINES, PANELS
except ModuleNotFoundError as error:
    # Rules by `github(...)`, or an environment of Snakemake alone.
    sys.exit(
        f"this workflow needs its clone and its environment, and {error.name} is missing; clone it, say "
        "`make setup`, and run .venv/bin/snakemake there, or name its Snakefile by its path"
    )

# Hashes of code are those of the package that is imported; jobs run that of this place.
if not os.path.samefile(imports.PACKAGE, f"{WORKFLOW}/reproduction"):
    sys.exit(
        f"the rules of {PROJECT} have met the package of {imports.PACKAGE.parents[1]}; start Snakemake "
        "without `--logger lines`, and without that place in PYTHONPATH"
    )

FOLDER = config.get("pathvars", {}).get("results", "results")

# A mistake is one sentence and no more: Snakemake would add this file and line.
try:
    config = configuration.resolve(config)
    configuration.check_places(config, FOLDER)
    # Experiments of the papers that an overlay of their own runs.
    OVERLAY_RUNS = {name for name in discovery.trainings() if catalogue.experiment(name).command}
except InputError as error:
    sys.exit(str(error))

# A bare `snakemake` works from a venv or conda environment that is not activated: `python` is the one
# that runs this, unless a rule's own environment replaces it. Nothing else of a host's is changed.
if os.path.dirname(shutil.which("python") or "") != os.path.dirname(sys.executable):
    folders = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
    os.environ.update(PATH=os.pathsep.join(folders))

# Jobs together get no more memory than the machine or the container has, unless a profile or
# `--resources mem_mb=...` says how much that is.
if "mem_mb" not in workflow.global_resources and (megabytes := machine.memory()):
    workflow.register_resource("mem_mb", megabytes)

EXPERIMENTS, TRAININGS = config["experiments"], config["training"]
RUNS = [*EXPERIMENTS, *TRAININGS]
# By experiment: its rows, which are mechanisms or schemes and baselines, and its data set.
ROWS = {run: job_settings.rows(config, run) for run in RUNS}
DATASET = {run: job_settings.dataset(config, run) for run in RUNS}
DATASETS = sorted({*DATASET.values()})
# Entries of data sets: those of the workflow, and CSV files of one's own.
SPECS, OWN = configuration.datasets(config), config["datasets"]
# All experiments but the one that is read beside another.
SWEPT = [name for name in EXPERIMENTS if name != "section10_2"]
# The tables that the papers print of them.
IN_PRINT = {
    run: catalogue.experiment(run).results for run in SWEPT if catalogue.experiment(run).table
}
# Another reading changes the tables of the experiments on releases, and nothing else.
READING = readings.find_reading(config["reading"])
OTHER_READING = READING.name != readings.DEFAULT
# Whether the run has claims and theory, and whether all of the papers that no overlay runs.
ON_PAPERS = job_settings.covers_papers(config)
OF_PAPERS = {*job_settings.OF_PAPERS, *discovery.trainings()}
IN_FULL = ON_PAPERS and OF_PAPERS - OVERLAY_RUNS <= {*RUNS}


pathvars:
    folder=FOLDER,
    reading=READING.name,


def wildcard_pattern(names):
    """Return the pattern of a wildcard that is one of these names."""
    return "|".join({*names}) or "none"


wildcard_constraints:
    dataset="[a-z0-9_]+",
    scaling=wildcard_pattern(
        {name for each in DATASETS for name in SPECS[each].get("scalings", ())} - {"default"}
    ),
    experiment=wildcard_pattern(EXPERIMENTS),
    training=wildcard_pattern(TRAININGS),
    run=wildcard_pattern(RUNS),
    mechanism=wildcard_pattern(row for run in EXPERIMENTS for row in ROWS[run]),
    scheme=wildcard_pattern(row for run in TRAININGS for row in ROWS[run]),
    theory=wildcard_pattern(discovery.theory()),


def project_path(path):
    """Return a path of the project: relative inside this folder, so that both may be moved."""
    path = os.path.relpath(path)
    return os.path.abspath(path) if path.startswith(os.pardir) else path


def python(wildcards, output):
    """Return the interpreter with the packages, for the commands of this workflow alone.

    What the log of a job cannot take goes to the terminal, by stream 9. As a function of the output
    this is not compared: the folders may be moved.
    """
    packages = shlex.quote(os.pathsep.join(map(project_path, PACKAGES)))
    return f"MATRIXDP_TERMINAL=9 9>&2 PYTHONPATH={packages} python"


def configuration_options():
    """Return the options of this command that give its configuration."""
    files = [project_path(str(file)) for file in workflow.config_settings.configfiles]
    values = workflow.config_settings.config_args
    named = {"--configfile": files, "--config": values}
    return shlex.join(word for name, words in named.items() if words for word in (name, *words))


def project_files(*names):
    """Return those of these files of the project that are there."""
    paths = [os.path.join(PROJECT, name) for name in names]
    return [local(project_path(path)) for path in paths if os.path.isfile(path)]


def kept_second_seed():
    """Return the verdicts and settings of a kept run; none where this differs in more than the seed."""
    folder = "results/reference/second_seed"
    files = project_files(f"{folder}/claims.csv", f"{folder}/settings.yaml")
    if len(files) < 2:
        return []
    kept = read_yaml(os.path.join(PROJECT, folder, "settings.yaml"))
    return files if is_second_seed(configuration.public(config), kept) else []


@functools.cache
def code(*modules, audits=False, beyond=""):
    """Return params for the code of a job: of each source file its name and a hash.

    As params of their own, a dry run names the one that has changed.

    Args:
        modules: the modules that the job runs.
        audits: whether it also runs what judges the releases of their mechanisms.
        beyond: a module whose code is left out, since the rule has it as params of its own.
    """
    more = imports.audits(*modules) if audits else []
    known = imports.digests(beyond) if beyond else []
    return [digest for digest in imports.digests(*modules, *more) if digest not in known]


def task_of(wildcards):
    """Return the module of an experiment's task."""
    return discovery.tasks()[EXPERIMENTS[wildcards.experiment]["task"]].module


def mechanisms_of(wildcards):
    """Return the modules of a job's mechanism, or of all that its experiment has."""
    names = [wildcards.mechanism] if "mechanism" in wildcards.keys() else ROWS[wildcards.experiment]
    entries = map(discovery.mechanisms().get, names)
    return [entry.module for entry in entries if entry]


def settings(part):
    """Return a param with the part of the configuration that a job reads, as JSON."""
    return lambda wildcards: job_settings.dump_settings(part(config, *wildcards))


def data_of(file):
    """Return a file of an experiment's data, and its provenance; other scalings lie beside."""

    def names(wildcards):
        folder = f"<folder>/data/{DATASET[wildcards.get('experiment') or wildcards.training]}"
        return [f"{folder}/{file}", f"{folder}/provenance.json"]

    return names


def scaled(wildcards, *scalings):
    """Return the matrix of an experiment in these scalings, but for the default one."""
    return expand(
        "<folder>/data/{dataset}/{scaling}/{file}",
        dataset=DATASET[wildcards.experiment],
        scaling=[scaling for scaling in scalings if scaling != "default"],
        file=["matrix.npy", "provenance.json"],
    )


def provenance(*datasets):
    """Return the provenance of those of these data sets that the run has."""
    names = [name for name in datasets if name in DATASETS]
    return expand("<folder>/data/{name}/provenance.json", name=names)


def trials_of(run):
    """Return the trial files of an experiment, one for each row that is run."""
    rows = job_settings.distinct_rows(config, run)
    return expand("<folder>/trials/{run}/<reading>/{row}.csv.gz", run=run, row=rows)


def published(*names):
    """Return what the papers print of experiments, or in tables, as far as there is anything."""
    return project_files(*(f"workflow/published/{IN_PRINT.get(name, name)}.csv" for name in names))


def summaries_of(*runs):
    """Return the results of experiments."""
    return [f"<folder>/{kind}/{run}.csv" for run in runs for kind in ("summary", "comparisons")]


def rows_of(*runs):
    """Return the rows of experiments, with all that is known of them."""
    return expand("<folder>/rows/{run}.csv", run=runs)


def compared(*runs):
    """Return the comparisons of the rows of experiments."""
    return expand("<folder>/comparisons/{run}.csv", run=runs)


def audit_of(*runs):
    """Return the audits of experiments, which trainings do not have."""
    return expand("<folder>/audit/{run}.csv", run=[run for run in runs if run in EXPERIMENTS])


@functools.cache
def claim(name):
    """Return a claim of the papers, and the configuration with its rows and the baselines alone."""
    from reproduction.cli import claims
    from reproduction.report.claims import definitions

    try:
        every = {each.id: each for each in definitions.read_definitions(claims.names(config))}
        if name not in every:
            raise InputError(
                f"there is no claim {name}; workflow/claims.yaml has {', '.join(every)}"
            )
        rows = {}
        for row in definitions.rows([*every[name].comparisons, *every[name].otherwise]):
            rows.setdefault(row.experiment, set()).add(row.mechanism)
        rows = {run: names - {*BASELINES} for run, names in rows.items()}
        return every[name], configuration.restrict_rows(config, rows)
    except InputError as error:
        raise WorkflowError(str(error)) from None


def summaries_of_claim(name):
    """Return by experiment of a claim the settings of the summary of its rows."""
    _, part = claim(name)
    return {
        run: job_settings.summary(part, run) for run in {**part["experiments"], **part["training"]}
    }


def files_of_claim(name):
    """Return what a claim is judged on: trials, numbers of theory, and what the paper prints."""
    entry, part = claim(name)
    runs = [*part["experiments"], *part["training"]]
    trials = [
        file
        for run in runs
        for file in expand(
            "<folder>/trials/{run}/<reading>/{row}.csv.gz",
            run=run,
            row=job_settings.distinct_rows(part, run),
        )
    ]
    theory = ["<folder>/theory/exact.csv"] if entry.checks else []
    return [*trials, *theory, *published(*(run for run in runs if run in EXPERIMENTS))]


def tables(*patterns):
    """Return all files of the tables of `all` with these names."""
    names = [name for name in TABLES if any(fnmatch.fnmatch(name, each) for each in patterns)]
    endings = ["csv", "json", "md", "tex"]
    return expand("<folder>/tables/{name}.{ending}", name=names, ending=endings)


def table_of(run):
    """Return an input: the table of an experiment, which the configuration must have if asked."""

    def names(wildcards):
        if run not in RUNS:
            command = f"; `{catalogue.experiment(run).command}` does" if run in OVERLAY_RUNS else ""
            sys.exit(f"this configuration does not run {run}{command}")
        return tables(f"imgm_{run}" if run in TRAININGS else IN_PRINT[run])

    return names


def figures(*patterns):
    """Return all files of the figures of `all` with these names."""
    names = [name for name in FIGURES if any(fnmatch.fnmatch(name, each) for each in patterns)]
    kinds = ["{name}.svg", "{name}.png", "{name}.json", "data/{name}.csv"]
    return [file for kind in kinds for file in expand(f"<folder>/figures/{kind}", name=names)]


def words_of(entry):
    """Return what a table or figure is of, as the options of its command."""
    return [f"--{name}={word}" for name, word in zip(("experiment", "mechanism"), entry[2:])]
