"""Verbs that draw figures and write the report."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp import config
from matrixdp.checks import InputError
from matrixdp.cli.options import Verb


def add(verb: Verb) -> None:
    """Add this file's verbs to the command line."""
    figure = verb("figure", _figure, "draw one figure, and write the data that it shows")
    figure.add_argument("name")
    figure.add_argument("--results", default="results", help="folder with the tables to draw from")
    figure.add_argument("--out", required=True, help="folder for the figure's svg, png and data")

    redraw = verb("redraw", _redraw, "draw every kept figure again and compare the bytes")
    redraw.add_argument("--results", default="results/reference", help="kept tables and figures")
    redraw.add_argument("--out", default="results/redrawn", help="folder for what is drawn")

    report = verb("report", _report, "put everything that a run has made on one page")
    report.add_argument("--results", default="results")
    report.add_argument(
        "--config", default="", help="the settings, as YAML or JSON (else config.yaml)"
    )
    report.add_argument("--arguments", default="", help="what the page's commands end with")
    report.add_argument("--out", required=True, help="the HTML file")


def _figure(options: argparse.Namespace) -> None:
    from matrixdp.report import figures

    figures.write(options.name, results=options.results, out=options.out)


def _redraw(options: argparse.Namespace) -> None:
    from matrixdp.report import figures

    figures.redraw(results=options.results, out=options.out)


def _report(options: argparse.Namespace) -> None:
    from matrixdp.report import names, page

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
        labels=names.labels(),
        arguments=options.arguments,
    )
