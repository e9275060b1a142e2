# What all rules share: the checked configuration, and functions that name files and settings.
# No network, nothing heavy: every job on a cluster parses this again.
import fnmatch
import os
import shlex
import sys

PACKAGE_ROOT = os.path.dirname(str(workflow.current_basedir))
sys.path.insert(0, PACKAGE_ROOT)

from matrixdp import config as configuration, discovery, exhibits, imports, parts
from matrixdp.checks import InputError
from matrixdp.experiments import readings

RESULTS = "results"

try:
    config = configuration.resolve(config)
    # Whether this is a run on a person's matrix: the same rules in another folder.
    if MY_MATRIX := bool(config["matrix"]):
        from matrixdp import my_matrix

        RESULTS = f"results/my_matrix/{my_matrix.folder(config['matrix'])}"
        config = my_matrix.configuration(config)
except InputError as error:
    # One sentence and no more: Snakemake would add this file and line.
    sys.exit(str(error))

# A bare `snakemake` works from a venv or conda environment that is not activated, uninstalled.
os.environ.update(
    PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
    PYTHONPATH=PACKAGE_ROOT,
    DATA_MIRROR=os.environ.get("DATA_MIRROR", "") or config["data"]["mirror"],
)

EXPERIMENTS, TRAININGS = config["experiments"], config["training"]
RUNS = [*EXPERIMENTS, *TRAININGS]
DATASETS = sorted(exhibits.datasets(config))
SWEPT = exhibits.swept(config)
TABLES, FIGURES = exhibits.plan(config)
EXHIBITS = [*TABLES.values(), *FIGURES.values()]
# Tables of an experiment's results, which are also made under other readings than the default.
OF_RESULTS = [exhibits.catalogue.experiment(name).results for name in EXPERIMENTS]
DEFAULT, READING = readings.DEFAULT, config["reading"]


pathvars:
    results=RESULTS,


wildcard_constraints:
    dataset="[a-z0-9_]+",
    experiment="|".join(EXPERIMENTS),
    training="|".join(TRAININGS) or "none",
    run="|".join(RUNS),
    mechanism="[a-z0-9_]+",
    scheme="[a-z0-9_]+",
    reading=f"{DEFAULT}|[a-z0-9_]+=[a-z0-9_=+]+",
    theory="|".join(discovery.theory()),
    table="|".join(TABLES),
    figure="|".join(FIGURES),


def within(path):
    """Return a file of the project: relative inside this folder, so that both may be moved."""
    near = os.path.relpath(path)
    return local(str(path) if near.startswith(os.pardir) else near)


def code(*modules):
    """Return the files of modules of the package, of all that they import and that these read."""
    return [within(path) for path in imports.files(*modules)]


def modules(folder):
    """Return the modules of a folder of the package, all of which a job imports to find its own."""
    return [imports.module(file) for file in sorted((imports.PACKAGE / folder).glob("[!_]*.py"))]


def entry_of(wildcards):
    """Return what datasets.yaml says of a data set, but for words that no number rests on."""
    return parts.data(configuration.datasets(config)[wildcards.dataset])


def code_of_data(wildcards):
    """Return the code that reads a data set, and the facts that its stand-in is made from."""
    standin = os.path.join(PACKAGE_ROOT, f"matrixdp/data/standins/{wildcards.dataset}.yaml")
    facts = [within(standin)] if os.path.isfile(standin) else []
    return code("cli.data", f"data.{wildcards.dataset}") + facts


def code_of(verb, entries, *names):
    """Return the code of a verb on entries of a registry; reference rows are none of them."""
    sources = [entries[name].file for name in names if name in entries]
    return code(verb, *sorted({*map(imports.module, sources)}))


def code_on_release(verb, *mechanisms):
    """Return the code of a verb on releases: of the tasks, and of mechanisms."""
    # A job imports all tasks to find its own.
    names = [name for name in mechanisms if name in discovery.mechanisms()]
    sources = [task.file for task in discovery.tasks().values()]
    sources += [discovery.mechanisms()[name].file for name in names]
    return code(verb, *sorted({*map(imports.module, sources)}))


def code_of_training():
    """Return the code of private training: of all networks and schemes, among which a job looks."""
    return code("cli.train", *modules("experiments/training"), *modules("experiments/schemes"))


def folder_of(wildcards):
    """Return the folder of the prepared data of an experiment."""
    run = wildcards.get("experiment") or wildcards.training
    return f"<results>/data/{parts.dataset(config, run)}"


def matrix_of(wildcards):
    """Return the prepared matrix of an experiment; its other scalings lie beside it."""
    return f"{folder_of(wildcards)}/matrix.npy"


def arrays_of(wildcards):
    """Return what a neural experiment learns from."""
    return f"{folder_of(wildcards)}/arrays.npz"


def provenance_of(wildcards):
    """Return where the data of an experiment are from."""
    return f"{folder_of(wildcards)}/provenance.json"


def learned_from(wildcards):
    """Return what private training starts from: the data, or features made of them."""
    if "extractor_epochs" in TRAININGS[wildcards.training]:
        return f"<results>/features/{wildcards.training}.npz"
    return arrays_of(wildcards)


def trials_of(run, reading=DEFAULT):
    """Return the trial files of an experiment, one for each mechanism or scheme."""
    return [f"<results>/trials/{run}/{reading}/{row}.csv.gz" for row in parts.rows(config, run)]


def settings_of(run, row, reading=DEFAULT):
    """Return what rows of an experiment depend on, as the command has it."""
    if run in TRAININGS:
        return parts.text(parts.training(config, run, row))
    return parts.text(parts.trials({**config, "reading": reading}, run, row))


def digests_of(run, reading=DEFAULT):
    """Return the digests of the settings that the trials of an experiment must be of."""
    rows = parts.rows(config, run)
    return ",".join(parts.digest(settings_of(run, row, reading)) for row in rows)


def table_files(*names, reading=DEFAULT):
    """Return all files of tables, as far as this configuration has these tables."""
    folder = "<results>/tables" if reading == DEFAULT else f"<results>/readings/{reading}/tables"
    names = [name for name in names if name in TABLES]
    files = expand(f"{folder}/{{name}}.{{ending}}", name=names, ending=["csv", "md", "json"])
    # Those that a paper prints are there in LaTeX too.
    printed = [name for name in names if fnmatch.fnmatch(name, "table[1-5]")]
    return files + [f"{folder}/{name}.tex" for name in printed if reading == DEFAULT]


def figure_files(*names):
    """Return all files of figures, as far as this configuration has these figures."""
    names = [name for name in names if name in FIGURES]
    drawings = expand("<results>/figures/{name}.{ending}", name=names, ending=["svg", "png"])
    return drawings + expand("<results>/figures/data/{name}.csv", name=names)


def results_files():
    """Return all that a run makes but its page."""
    files = expand("<results>/data/{name}/provenance.json", name=DATASETS)
    files += expand("<results>/{kind}/{run}.csv", kind=["summary", "comparisons"], run=RUNS)
    files += [file for run in RUNS for file in trials_of(run)]
    files += [file for exhibit in EXHIBITS for file in exhibit.files(DEFAULT, "<results>")]
    files += table_files(*TABLES) + figure_files(*FIGURES)
    # A matrix of one's own says nothing on the papers.
    if not MY_MATRIX:
        files += ["<results>/claims.csv"]
        files += expand("<results>/theory/{name}.csv", name=discovery.theory())
    return sorted({file for file in files if file.startswith("<results>")})


def article_sources():
    """Return the text of the article, its look, and where its numbers stand."""
    folder = os.path.join(PACKAGE_ROOT, "article")
    return [within(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def page_on_matrix(wildcards):
    """Return the page on a matrix of one's own, which the configuration must name."""
    if not MY_MATRIX:
        sys.exit(
            "config.yaml: matrix names no file; write one, see README, and give it as in "
            "`snakemake my_matrix --config matrix=people.toml`"
        )
    return "<results>/report.html"


def made_from(exhibit, reading=DEFAULT):
    """Return the files of a run and of the project that a table or figure is made from."""
    files = exhibit.files(reading, "<results>")
    project = [within(file) for file in files if os.path.isfile(file)]
    return [*project, *(file for file in files if file.startswith("<results>"))]


def tables(*patterns):
    """Return the files of tables by their names, of results under the configuration's reading."""
    names = [name for name in TABLES for pattern in patterns if fnmatch.fnmatch(name, pattern)]
    of_results = [name for name in names if name in OF_RESULTS]
    others = [name for name in names if name not in OF_RESULTS]
    return table_files(*of_results, reading=READING) + table_files(*others)


def figures(*patterns):
    """Return the files of figures by their names."""
    names = [name for name in FIGURES for pattern in patterns if fnmatch.fnmatch(name, pattern)]
    return figure_files(*names)
