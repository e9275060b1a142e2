"""The verbs that the workflow's rules call; each is also a person's command.

``python -m matrixdp VERB --help`` explains a verb. Bad input ends with one sentence and exit
status 2.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.config import token


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

    data.prepare(
        options.dataset,
        out=options.out,
        source=options.source,
        mirror=options.mirror or None,
        seed=options.seed,
    )


def _refresh(options: argparse.Namespace) -> None:
    from matrixdp import data

    data.refresh(sorted(Path(options.results, "data").glob("*")), mirror=options.mirror or None)


def _status(options: argparse.Namespace) -> None:
    from matrixdp import data

    data.warn_of_stand_ins(sorted(Path(options.results, "data").glob("*")))


def _trials(options: argparse.Namespace) -> None:
    from matrixdp import data, files, study, tasks
    from matrixdp.privacy.sensitivity import Box

    dataset = data.load(options.data)
    registry = tasks.registry()
    kind = registry[checks.choice(registry, experiment=options.experiment)]
    available = list(dataset.features)
    features = [checks.choice(available, features=name) for name in options.features or available]
    kept = [available.index(name) for name in features]
    given = {"train": options.train}
    if options.target is not None:
        given["target"] = features.index(checks.choice(features, target=options.target))
    wanted = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    task = kind(**{name: value for name, value in given.items() if name in wanted})
    settings = study.Settings(
        experiment=options.experiment,
        seed=options.seed,
        trials=options.trials,
        epsilons=tuple(token(epsilon, "epsilons") for epsilon in options.epsilons),
        delta=None if options.delta == "1/n" else float(options.delta),
        directions=dict(_direction(text, features) for text in options.direction),
        taus=tuple(token(tau, "taus") for tau in options.taus),
        rows=tuple(token(rows, "rows") for rows in options.rows),
        adjacency=options.adjacency,
        reading=options.reading,
    )
    private = study.Data(
        name=dataset.name,
        status=dataset.status,
        matrix=dataset.matrix[kept],
        domain=Box(tuple(dataset.lower[i] for i in kept), tuple(dataset.upper[i] for i in kept)),
    )
    table = study.run(task, options.mechanism, private, settings)
    with files.replacing(options.out) as temporary:
        # Without a time stamp in the gzip header, the same rows are the same bytes.
        table.to_csv(
            temporary, index=False, compression={"method": "gzip", "mtime": 0, "compresslevel": 6}
        )


def _direction(text: str, features: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    name, _, joined = text.partition("=")
    chosen = [feature for feature in joined.split("+") if feature]
    valid = [checks.choice(features, **{f"direction {name!r}": feature}) for feature in chosen]
    return name, tuple(list(features).index(feature) for feature in valid)


def _summary(options: argparse.Namespace) -> None:
    from matrixdp.results import summary

    summary.write(options.files, options.out)


def _table(options: argparse.Namespace) -> None:
    from matrixdp import mechanisms
    from matrixdp.results import tables

    tables.write(
        options.number,
        summary_file=options.summary,
        out=options.out,
        labels={name: entry.label for name, entry in mechanisms.registry().items()},
        epsilon=token(options.epsilon, "epsilon"),
        public_tau=token(options.public_tau, "public_tau"),
        reading=options.reading,
    )


def _setups(options: argparse.Namespace) -> None:
    import yaml

    from matrixdp.results import setups

    setups.write(
        config=yaml.safe_load(options.config),
        provenance_files=options.provenance,
        out=options.out,
    )


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
    return [word for word in text.split(",") if word]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="matrixdp", description=__doc__)
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

    data = verb("data", _data, "fetch, check and prepare a data set")
    data.add_argument("dataset")
    data.add_argument("--source", default="auto", help="auto, original or simulated")
    data.add_argument("--seed", type=int, default=0, help="root seed of a simulated stand-in")
    data.add_argument("--out", required=True, help="folder for matrix.npy and provenance.json")
    add_mirror(data)

    refresh = verb("refresh", _refresh, "try again for originals where data are simulated")
    refresh.add_argument("--results", default="results")
    add_mirror(refresh)

    status = verb("status", _status, "say which data are simulated stand-ins")
    status.add_argument("--results", default="results")

    trials = verb("trials", _trials, "run one mechanism of an experiment, all epsilons and trials")
    trials.add_argument("experiment")
    trials.add_argument("mechanism", help="a mechanism, or nonprivate, random or zero")
    trials.add_argument("--data", required=True, help="folder that the verb data has written")
    trials.add_argument("--seed", type=int, default=0)
    trials.add_argument("--trials", type=int, default=100)
    trials.add_argument("--epsilons", type=_words, default=["1"], help="comma-separated")
    trials.add_argument("--delta", default="1/n", help="a number, or 1/n")
    trials.add_argument(
        "--direction",
        action="append",
        default=[],
        metavar="NAME=FEATURE+FEATURE",
        help="a noise direction; no feature stands for i.i.d. noise; may be repeated",
    )
    trials.add_argument("--taus", type=_words, default=[], help="comma-separated")
    trials.add_argument("--rows", type=_words, default=[], help="comma-separated, multiples of m")
    trials.add_argument("--adjacency", default="replace", help="replace or add_remove")
    trials.add_argument("--features", type=_words, help="comma-separated; leave out all others")
    trials.add_argument("--target", help="the feature that a regression predicts")
    trials.add_argument("--train", type=int, help="private training records of a regression")
    trials.add_argument("--reading", default="default")
    trials.add_argument("--out", required=True, help="tidy trial rows, gzipped CSV")

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

    setups = verb("setups", _setups, "write Table 2, the set-ups as they were run")
    setups.add_argument("provenance", nargs="+", help="provenance.json of every data set")
    setups.add_argument("--config", required=True, help="the settings, as JSON")
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
    theory.add_argument("--seed", type=int, default=0)
    theory.add_argument("--out", required=True, help="tidy CSV")

    timing = verb("timing", _timing, "sum the jobs' run times in one table")
    timing.add_argument("--results", default="results")
    return parser
