"""The verbs that the workflow's rules call; each is also a person's command.

``python -m matrixdp VERB --help`` explains a verb. Bad input ends with one sentence and exit
status 2.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from matrixdp import checks, config
from matrixdp.checks import InputError
from matrixdp.config import token

if TYPE_CHECKING:
    import pandas as pd

    from matrixdp.data import Dataset
    from matrixdp.study import Data, Settings
    from matrixdp.tasks.base import Task


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        # Parallelism is over jobs; BLAS threads on top of them only fight for the cores.
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            options.run(options)
    except InputError as error:
        print(f"matrixdp {options.verb}: {error}", file=sys.stderr)
        return 2
    return 0


def _data(options: argparse.Namespace) -> None:
    from matrixdp import data

    source, mirror, seed = options.source, options.mirror or None, options.seed
    if options.like:
        # The same records, from where they are already.
        like = data.load(options.like)
        source, seed = like.status, like.provenance.get("seed", seed)
        kept = Path(options.like, "downloads")
        mirror = kept if kept.is_dir() else mirror
    data.prepare(
        options.dataset,
        out=options.out,
        source=source,
        mirror=mirror,
        seed=seed,
        scaling_name=options.scaling,
    )


def _refresh(options: argparse.Namespace) -> None:
    from matrixdp import data

    file = Path("config.yaml")
    mirror = options.mirror
    if not mirror and file.is_file():
        mirror = config.parse(file.read_text(encoding="utf-8"))["data"]["mirror"]
    data.refresh(sorted(Path(options.results, "data").glob("*")), mirror=mirror or None)


def _status(options: argparse.Namespace) -> None:
    from matrixdp import data

    data.warn_of_stand_ins(sorted(Path(options.results, "data").glob("*")))


def _study(options: argparse.Namespace) -> tuple[Task, Data, Settings]:
    """Return the task, the private data and the settings that the options describe."""
    from matrixdp import data, readings, study, tasks

    dataset = data.load(options.data)
    registry = tasks.registry()
    kind = registry[checks.choice(registry, experiment=options.experiment)]
    features = options.features or list(dataset.features)
    private = _private(dataset, features)
    reading = readings.find(options.reading)
    scaling = dataset.provenance["scaling"]["name"]
    if scaling != reading.scaling(dataset.name):
        raise InputError(
            f"{options.data} has the scaling {scaling!r}; the reading {reading.name} needs "
            f"{reading.scaling(dataset.name)!r}, which `matrixdp data --scaling` makes"
        )
    given = {} if options.train is None else {"train": options.train}
    if options.target is not None:
        given["target"] = features.index(checks.choice(features, target=options.target))
    wanted = dataclasses.fields(kind)  # type: ignore[arg-type]
    for field in wanted:
        if field.default is dataclasses.MISSING and field.name not in given:
            raise InputError(f"{options.experiment} lacks --{field.name}; give it")
    task = kind(**{field.name: given[field.name] for field in wanted if field.name in given})
    settings = study.Settings(
        experiment=options.experiment,
        seed=options.seed,
        trials=options.trials,
        epsilons=_tokens(options.epsilons, "epsilons"),
        delta=None if options.delta == "1/n" else _delta(options.delta),
        directions=dict(_direction(text, features) for text in options.direction),
        taus=_tokens(options.taus, "taus"),
        rows=_tokens(options.rows, "rows"),
        adjacency=reading.adjacency(options.adjacency),
        reading=reading.name,
        changes=reading.parameters,
    )
    return readings.adjusted(task, reading.parameters), private, settings


def _private(dataset: Dataset, features: Sequence[str]) -> Data:
    """Return what a study needs to know of a data set, with these features alone."""
    from matrixdp import study
    from matrixdp.privacy.sensitivity import Box

    available = list(dataset.features)
    kept = [available.index(checks.choice(available, features=name)) for name in features]
    return study.Data(
        name=dataset.name,
        status=dataset.status,
        matrix=dataset.matrix[kept],
        domain=Box(tuple(dataset.lower[i] for i in kept), tuple(dataset.upper[i] for i in kept)),
    )


def _trials(options: argparse.Namespace) -> None:
    from matrixdp import study

    task, private, settings = _study(options)
    _write_rows(study.run(task, options.mechanism, private, settings), options.out)


def _sweep(options: argparse.Namespace) -> None:
    from matrixdp import data, study

    task, private, settings = _study(options)
    scaled = {"default": private}
    for folder in options.scaled:
        dataset = data.load(folder)
        features = options.features or list(dataset.features)
        scaled[dataset.provenance["scaling"]["name"]] = _private(dataset, features)
    _write_rows(study.sweep(task, options.mechanism, scaled, settings), options.out)


def _write_rows(table: pd.DataFrame, out: str) -> None:
    from matrixdp import files

    text = table.to_csv(index=False, lineterminator="\n")
    with (
        files.replacing(out) as temporary,
        open(temporary, "wb") as raw,
        # Without a name and a time in the gzip header, the same rows are the same bytes.
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as stream,
    ):
        stream.write(text.encode())


def _audit(options: argparse.Namespace) -> None:
    from matrixdp import files, study
    from matrixdp.audit import releases, sensitivities

    task, private, settings = _study(options)
    records = task.records(private.matrix)
    queries = {
        name: study.QUERIES[name](  # type: ignore[abstract]
            private.domain, records, settings.adjacency
        )
        for name in task.queries
    }
    if options.mechanism == "sensitivities":
        table = sensitivities.run(settings.experiment, queries, settings.seed)
    else:
        table = releases.run(options.mechanism, queries, settings)
    files.write_text(options.out, table.to_csv(index=False, lineterminator="\n"))


def _canaries(options: argparse.Namespace) -> None:
    from matrixdp import files
    from matrixdp.audit import canaries

    table = canaries.run(options.seed)
    files.write_text(options.out, table.to_csv(index=False, lineterminator="\n"))


def _audits(options: argparse.Namespace) -> None:
    from matrixdp.results import audits

    audits.write(
        options.parts,
        sensitivities=options.sensitivities,
        canaries=options.canaries,
        results=options.results,
    )


def _direction(text: str, features: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    name, equals, joined = text.partition("=")
    if not (name and equals):
        raise InputError(f"direction is {text!r}; it must have the form NAME=FEATURE+FEATURE")
    chosen = [feature for feature in joined.split("+") if feature]
    valid = [checks.choice(features, **{f"direction {name!r}": feature}) for feature in chosen]
    return name, tuple(list(features).index(feature) for feature in valid)


def _tokens(values: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(token(value, name) for value in values))


def _delta(text: str) -> float:
    return checks.open_unit(delta=float(token(text, "delta")))


def _summary(options: argparse.Namespace) -> None:
    from matrixdp.results import summary

    summary.write(options.files, options.out)


def _readings(options: argparse.Namespace) -> None:
    from matrixdp.results import readings

    readings.write(options.files, options.out)


def _table(options: argparse.Namespace) -> None:
    from matrixdp import mechanisms, readings
    from matrixdp.results import tables

    reading = readings.find(options.reading)
    tables.write(
        options.number,
        summary_file=options.summary,
        out=options.out,
        labels={name: entry.label for name, entry in mechanisms.registry().items()},
        epsilon=token(options.epsilon, "epsilon"),
        public_tau=token(options.public_tau, "public_tau"),
        reading=reading.name,
        rows=reading.rows,
    )


def _reduction(options: argparse.Namespace) -> None:
    from matrixdp import mechanisms
    from matrixdp.results import reduction

    reduction.write(
        reduced_file=options.reduced,
        full_file=options.full,
        out=options.out,
        labels={name: entry.label for name, entry in mechanisms.registry().items()},
        epsilon=token(options.epsilon, "epsilon"),
        public_tau=token(options.public_tau, "public_tau"),
    )


def _setups(options: argparse.Namespace) -> None:
    from matrixdp.results import setups

    setups.write(
        config=config.parse(options.config),
        provenance_files=options.provenance,
        out=options.out,
    )


def _report(options: argparse.Namespace) -> None:
    from matrixdp import mechanisms
    from matrixdp.results import page

    try:
        text = options.config or Path("config.yaml").read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            "config.yaml cannot be read here; start in the project's folder or give --config"
        ) from error
    page.write(
        options.results,
        options.out,
        config=config.parse(text),
        labels={name: entry.label for name, entry in mechanisms.registry().items()},
        arguments=options.arguments,
    )


def _claims(options: argparse.Namespace) -> None:
    from matrixdp import mechanisms, sources
    from matrixdp.results import advice, claims, errata, implied, ledger
    from matrixdp.theory import exact

    registry = mechanisms.registry()
    known = ledger.Known(
        mechanisms=registry,
        checks=exact.names(),
        theory=sources.theory(),
        figures=sources.figures(),
    )
    labels = {name: entry.label for name, entry in registry.items()}
    # Any variant will do: what a mechanism answers does not depend on its parameters.
    some = {"direction": ("important", ()), "tau": ("tau", 0.5), "rows": ("rows", 2.0)}
    queries = {
        name: entry.build(**dict(some[axis] for axis in entry.axes)).queries
        for name, entry in registry.items()
    }
    claims.write(
        options.results,
        known=known,
        experiments=options.experiments,
        labels=labels,
        epsilon=token(options.epsilon, "epsilon"),
        seed=options.seed,
    )
    implied.write(options.results)
    errata.write(options.results, known.checks)
    advice.write(options.results, options.experiments, labels=labels, queries=queries)


def _timing(options: argparse.Namespace) -> None:
    from matrixdp.results import timing

    timing.write(Path(options.results, "benchmarks"), Path(options.results, "timing.csv"))


def _figure(options: argparse.Namespace) -> None:
    from matrixdp.results import figures

    figures.write(options.name, results=options.results, out=options.out)


def _redraw(options: argparse.Namespace) -> None:
    from matrixdp.results import figures

    figures.redraw(results=options.results, out=options.out)


def _theory(options: argparse.Namespace) -> None:
    from matrixdp import theory

    theory.write(options.name, seed=options.seed, out=options.out)


def _words(text: str) -> list[str]:
    words = [word for word in text.split(",") if word]
    if not words:
        raise argparse.ArgumentTypeError(f"{text!r} must name at least one value")
    return words


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as the verbs do."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="matrixdp", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, run, text: str) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    def add_mirror(added: argparse.ArgumentParser) -> None:
        added.add_argument(
            "--mirror",
            default=os.environ.get("DATA_MIRROR", ""),
            help="folder with the original files, looked in first (default: DATA_MIRROR)",
        )

    def add_study(added: argparse.ArgumentParser, what: str, out: str) -> None:
        added.add_argument("experiment")
        added.add_argument("mechanism", help=what)
        added.add_argument("--data", required=True, help="folder that the verb data has written")
        added.add_argument("--seed", type=_seed, default=0)
        added.add_argument("--trials", type=int, default=100)
        added.add_argument("--epsilons", type=_words, default=["1"], help="comma-separated")
        added.add_argument("--delta", default="1/n", help="a number, or 1/n")
        added.add_argument(
            "--direction",
            action="append",
            default=[],
            metavar="NAME=FEATURE+FEATURE",
            help="a noise direction; no feature stands for i.i.d. noise; may be repeated",
        )
        added.add_argument("--taus", type=_words, default=[], help="comma-separated")
        added.add_argument(
            "--rows", type=_words, default=[], help="comma-separated, multiples of m"
        )
        added.add_argument("--adjacency", default="replace", help="replace or add_remove")
        added.add_argument("--features", type=_words, help="comma-separated; leave out all others")
        added.add_argument("--target", help="the feature that a regression predicts")
        added.add_argument("--train", type=int, help="private training records of a regression")
        added.add_argument("--reading", default="default", help="its name, or knob=value+...")
        added.add_argument("--out", required=True, help=out)

    data = verb("data", _data, "fetch, check and prepare a data set")
    data.add_argument("dataset")
    data.add_argument("--source", default="auto", help="auto, original or simulated")
    data.add_argument("--seed", type=_seed, default=0, help="root seed of a simulated stand-in")
    data.add_argument("--scaling", default="default", help="its name in datasets.yaml")
    data.add_argument("--like", help="a prepared folder whose records to scale")
    data.add_argument("--out", required=True, help="folder for matrix.npy and provenance.json")
    add_mirror(data)

    refresh = verb("refresh", _refresh, "try again for originals where data are simulated")
    refresh.add_argument("--results", default="results")
    add_mirror(refresh)

    status = verb("status", _status, "say which data are simulated stand-ins")
    status.add_argument("--results", default="results")

    trials = verb("trials", _trials, "run one mechanism of an experiment, all epsilons and trials")
    add_study(trials, "a mechanism, or nonprivate, random or zero", "tidy rows, gzipped CSV")

    sweep = verb("sweep", _sweep, "run one mechanism of an experiment under all its readings")
    add_study(sweep, "a mechanism, or nonprivate, random or zero", "tidy rows, gzipped CSV")
    sweep.add_argument(
        "--scaled",
        action="append",
        default=[],
        metavar="FOLDER",
        help="the data in another scaling; may be repeated",
    )

    readings = verb("readings", _readings, "summarise what the verb sweep has written")
    readings.add_argument("files", nargs="+")
    readings.add_argument("--out", required=True)

    audit = verb("audit", _audit, "judge the privacy of a mechanism, or the sensitivities")
    add_study(audit, "a mechanism, or sensitivities", "one row per variant, CSV")

    canaries = verb("canaries", _canaries, "try known ways to get privacy wrong")
    canaries.add_argument("--seed", type=_seed, default=0)
    canaries.add_argument("--out", required=True)

    audits = verb("audits", _audits, "write the tables of the audit")
    audits.add_argument("parts", nargs="+", help="what the verb audit has written per mechanism")
    audits.add_argument("--sensitivities", nargs="+", default=[], help="the same, of sensitivities")
    audits.add_argument("--canaries", required=True, help="what the verb canaries has written")
    audits.add_argument("--results", default="results")

    summary = verb("summary", _summary, "summarise trial files to one row per cell")
    summary.add_argument("files", nargs="+")
    summary.add_argument("--out", required=True)

    table = verb("table", _table, "write Table 3, 4 or 5 beside the published values")
    table.add_argument("number", type=int)
    table.add_argument("--summary", required=True, help="what the verb summary has written")
    table.add_argument("--epsilon", default="1")
    table.add_argument("--public-tau", default="0.75", help="the share that needs no choice")
    table.add_argument("--reading", default="default")
    table.add_argument("--out", required=True, help="folder for the table's csv, md and tex")

    reduction = verb("reduction", _reduction, "write the table of section 10.2")
    reduction.add_argument("--reduced", required=True, help="summary of the two features alone")
    reduction.add_argument("--full", required=True, help="summary of experiment I")
    reduction.add_argument("--epsilon", default="1")
    reduction.add_argument("--public-tau", default="0.75", help="the share that needs no choice")
    reduction.add_argument("--out", required=True, help="folder for the table's csv, md and tex")

    setups = verb("setups", _setups, "write Table 2, the set-ups as they were run")
    setups.add_argument("provenance", nargs="+", help="provenance.json of every data set")
    setups.add_argument("--config", required=True, help="the settings, as YAML or JSON")
    setups.add_argument("--out", required=True, help="folder for the table's csv, md and tex")

    figure = verb("figure", _figure, "draw one figure, and write the data that it shows")
    figure.add_argument("name")
    figure.add_argument("--results", default="results", help="folder with the tables to draw from")
    figure.add_argument("--out", required=True, help="folder for the figure's svg, png and data")

    redraw = verb("redraw", _redraw, "draw every kept figure again and compare the bytes")
    redraw.add_argument("--results", default="results/reference", help="kept tables and figures")
    redraw.add_argument("--out", required=True, help="folder for what is drawn")

    theory = verb("theory", _theory, "compute what a figure without a data set shows")
    theory.add_argument("name")
    theory.add_argument("--seed", type=_seed, default=0)
    theory.add_argument("--out", required=True, help="tidy CSV")

    report = verb("report", _report, "put everything that a run has made on one page")
    report.add_argument("--results", default="results")
    report.add_argument(
        "--config", default="", help="the settings, as YAML or JSON (else config.yaml)"
    )
    report.add_argument("--arguments", default="", help="what the page's commands end with")
    report.add_argument("--out", required=True, help="the HTML file")

    claims = verb("claims", _claims, "judge the papers' claims; tabulate errata and advice")
    claims.add_argument("--results", default="results", help="a run's folder, read and written")
    claims.add_argument("--experiments", type=_words, required=True, help="comma-separated")
    claims.add_argument("--epsilon", default="1", help="that of the tables")
    claims.add_argument("--seed", type=_seed, default=0, help="of the bootstrap")

    timing = verb("timing", _timing, "sum the jobs' run times in one table")
    timing.add_argument("--results", default="results")
    return parser
