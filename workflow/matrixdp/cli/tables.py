"""Verbs that turn rows into summaries, tables and claims."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp import config
from matrixdp.cli.options import Verb, comma_separated, seed_number
from matrixdp.config import token


def add(verb: Verb) -> None:
    """Add this file's verbs to the command line."""
    summary = verb("summary", _summary, "summarise trial files to one row per cell")
    summary.add_argument("files", nargs="+")
    summary.add_argument("--out", required=True)

    readings = verb("readings", _readings, "summarise what the verb sweep has written")
    readings.add_argument("files", nargs="+")
    readings.add_argument("--out", required=True)

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

    setups = verb("setups", _setups, "write Table 1 or 2, the set-ups as they were run")
    setups.add_argument("number", type=int)
    setups.add_argument("provenance", nargs="*", help="provenance.json of every data set")
    setups.add_argument("--config", required=True, help="the settings, as YAML or JSON")
    setups.add_argument("--out", required=True, help="folder for the table's csv, md and tex")

    named = verb("schemes", _schemes, "write the tables of Adult, Cora or IMDB")
    named.add_argument("experiment", help="adult, cora or imdb")
    named.add_argument("--summary", required=True, help="what the verb summary has written")
    named.add_argument("--epsilon", default="1")
    named.add_argument("--out", required=True, help="folder for the tables' csv, md and tex")

    levels = verb("settings", _settings, "write the true epsilon of every published setting")
    levels.add_argument("--theory", required=True, help="what the verb theory settings has written")
    levels.add_argument("--out", required=True, help="folder for the table's csv, md and tex")

    audits = verb("audits", _audits, "write the tables of the audit")
    audits.add_argument("parts", nargs="+", help="what the verb audit has written per mechanism")
    audits.add_argument("--sensitivities", nargs="+", default=[], help="the same, of sensitivities")
    audits.add_argument("--canaries", required=True, help="what the verb canaries has written")
    audits.add_argument("--results", default="results")

    claims = verb("claims", _claims, "judge the papers' claims; tabulate errata and advice")
    claims.add_argument("--results", default="results", help="a run's folder, read and written")
    claims.add_argument(
        "--experiments", type=comma_separated, required=True, help="comma-separated"
    )
    claims.add_argument("--epsilon", default="1", help="that of the tables")
    claims.add_argument("--seed", type=seed_number, default=0, help="of the draws behind the tests")

    timing = verb("timing", _timing, "sum the jobs' run times in one table")
    timing.add_argument("--results", default="results")

    verify = verb("verify", _verify, "compare a run with the kept results of a full one")
    verify.add_argument("--results", default="results")
    verify.add_argument("--reference", default="results/reference")
    verify.add_argument("--out", default="results/verify.csv")

    keep = verb("keep", _keep, "keep a full run on original data as the reference")
    keep.add_argument("--results", default="results")
    keep.add_argument("--reference", default="results/reference")
    keep.add_argument("--quick", action="store_true", help="keep the summaries of a quick run")


def _summary(options: argparse.Namespace) -> None:
    from matrixdp.report import summary

    summary.write(options.files, options.out)


def _readings(options: argparse.Namespace) -> None:
    from matrixdp.report import specifications

    specifications.write(options.files, options.out)


def _table(options: argparse.Namespace) -> None:
    from matrixdp import mechanisms
    from matrixdp.experiments import readings
    from matrixdp.report.tables import comparison

    reading = readings.find(options.reading)
    comparison.write(
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
    from matrixdp.report.tables import section10_2

    section10_2.write(
        reduced_file=options.reduced,
        full_file=options.full,
        out=options.out,
        labels={name: entry.label for name, entry in mechanisms.registry().items()},
        epsilon=token(options.epsilon, "epsilon"),
        public_tau=token(options.public_tau, "public_tau"),
    )


def _setups(options: argparse.Namespace) -> None:
    from matrixdp.report.tables import setups

    setups.write(
        options.number,
        config=config.parse(options.config),
        provenance_files=options.provenance,
        out=options.out,
    )


def _schemes(options: argparse.Namespace) -> None:
    from matrixdp.report.tables import training

    training.write(
        options.experiment,
        summary_file=options.summary,
        out=options.out,
        epsilon=token(options.epsilon, "epsilon"),
    )


def _settings(options: argparse.Namespace) -> None:
    from matrixdp.report.tables import published_settings

    published_settings.write(options.theory, options.out)


def _audits(options: argparse.Namespace) -> None:
    from matrixdp.report.tables import audit

    audit.write(
        options.parts,
        sensitivities=options.sensitivities,
        canaries=options.canaries,
        results=options.results,
    )


def _claims(options: argparse.Namespace) -> None:
    from matrixdp import mechanisms, sources
    from matrixdp.report import claims, names
    from matrixdp.report.claims import ledger
    from matrixdp.report.tables import advice, errata, implied
    from matrixdp.theory import exact

    registry, labels = mechanisms.registry(), names.labels()
    known = ledger.Known(
        mechanisms=labels,
        checks=exact.names(),
        theory=sources.theory(),
        figures=sources.figures(),
    )
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
    from matrixdp.report import timing

    timing.write(Path(options.results, "benchmarks"), Path(options.results, "timing.csv"))


def _verify(options: argparse.Namespace) -> None:
    from matrixdp.report import reference

    print(reference.verify(options.results, options.reference, options.out))


def _keep(options: argparse.Namespace) -> None:
    from matrixdp.report import reference

    reference.keep(options.results, options.reference, options.quick)
