"""results/report.html: one self-contained page on a run, made from the files of the run.

Everything on it is computed from the files in the results' folder, except the texts in this
folder. Facts on the machine and the time are in elements marked ``data-run``; the rest is the same
for the same results.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from matrixdp import catalogue, exhibits, files
from matrixdp.checks import InputError
from matrixdp.report import figures, inputs, markup, summary, tables, timing
from matrixdp.report.claims import findings
from matrixdp.report.entries import Entry
from matrixdp.report.figures.base import Figure
from matrixdp.report.markup import Grid
from matrixdp.report.page import (
    answers,
    appendix,
    cards,
    layout,
    machine,
    pictures,
    prose,
    views,
)
from matrixdp.report.statistics import ENOUGH
from matrixdp.report.tables import audit

FOLDER = Path(__file__).parent

#: Kinds of items that are never folded, and those that an open section does not fold.
FIRST = ("cards", "glossary", "html")
FIGURES = (*FIRST, "figure")

#: On the page of a user's matrix: patterns of its results, in order, and ids of its sections.
MATRIX_RESULTS = ("tables/my_*", "figures/curves_my_*")
MATRIX_SECTIONS = ("recommend", "price_of_privacy", "audit", "gaps", "provenance")

#: The section of results that no other section shows.
REST = layout.Section("everything-else", "Everything else", "How it was done")


def write(results: str | os.PathLike, out: str | os.PathLike, **options: Any) -> None:
    """Write the page on the results in ``results`` to ``out``, or nothing if that fails.

    ``options`` are those of :func:`build`.

    Raises:
        InputError: a file is damaged, or the page cannot be written.
    """
    files.write_text(out, build(results, **options))


def build(
    results: str | os.PathLike,
    *,
    config: Mapping[str, Any] | None = None,
    arguments: str = "",
    run: Mapping[str, str] | None = None,
) -> str:
    """Return the page as HTML, from the files in a run's folder.

    Args:
        config: the run's settings; by default those in its folder.
        arguments: the end of every command on the page, such as ``--configfile ...``.
        run: facts on the machine and the time; by default the current ones. With an empty mapping
            the page is the same on every machine.

    Raises:
        InputError: a file is damaged.
    """
    root = Path(results)
    config = inputs.read("settings", root) if config is None else config
    sections, commands, aside = layout.read(FOLDER / "layout.yaml")
    outputs, experiments, environment = (
        answers.Run(root, config),
        exhibits.kinds(config),
        _environment(),
    )
    if matrix := config["matrix"] if isinstance(config.get("matrix"), dict) else None:
        commands = {"*": "snakemake my_matrix"}
        file = os.path.basename(matrix["file"])
        titles = [(name, f"{file}: {catalogue.experiment(name).topic}") for name in experiments]
        mine = [
            layout.Section(*pair, part="Answers", show=MATRIX_RESULTS, open=True) for pair in titles
        ]
        sections = mine + [
            section for section in sections if section.id in (*MATRIX_SECTIONS, "glossary")
        ]
    command = functools.partial(layout.command, commands=commands, arguments=arguments)
    entries: dict[str, Entry] = {
        f"{kind}/{name}": entry
        for kind, registry in (("tables", tables.registry), ("figures", figures.registry))
        for name, entry in registry(experiments).items()
    }
    # Files of another configuration, and a user's files, are not shown.
    names = [name for name in layout.present(root) if name in entries and name not in aside]
    placed, rest = layout.place(sections, names, _homes(entries, experiments))
    if rest:
        placed.append(layout.Placed(REST, tuple(rest), ()))
    compared = {
        about.id: table
        for about in catalogue.experiments().values()
        if about.table and len(table := outputs.table(f"tables/{about.results}"))
    }
    judged_claims = None if inputs.missing(["claims"], root) else inputs.read("claims", root)
    data, provenance = appendix.provenance(root / "data", exhibits.datasets(config))
    # The template leaves Markdown unescaped; it is escaped on conversion to HTML.
    plain = environment.overlay(autoescape=False)
    facts = dict(machine.facts() if run is None else run)
    visible = [name for chapter in placed for name in chapter.results]
    places = {name.rpartition("/")[2]: _slug(name) for name in reversed(visible)}
    with inputs.whole(root / "tables"):
        builtins = _builtins(outputs, data, facts)
    if len(claims := outputs.table("tables/claims")):
        with inputs.whole(root / "tables/claims.csv"):
            view = views.dashboard(claims)
        html = environment.get_template("dashboard.html.j2").render(view | {"places": places})
        builtins["dashboard"] = [{"kind": "html", "html": Markup(html)}]
    filled = []
    for chapter in placed:
        about, text = chapter.section, f"texts/{chapter.section.id}.md"
        if has_text := (FOLDER / text).is_file():
            text = plain.get_template(text).render(
                config=config, arguments=arguments, matrix=matrix
            )
        differences = catalogue.experiment(about.id).differences
        text = "\n\n".join(filter(None, [text if has_text else "", differences]))
        first = next((name for name in about.claims if name in compared), "")
        source = f"tables/{catalogue.experiment(first).results}" if first else "claims"
        with inputs.whole(root / f"{source}.csv"):
            outcome = findings.outcome(about.claims, compared.get(first), judged_claims)
        items = [
            _item(root, name, entries.get(name)) | {"command": command(name)}
            for name in chapter.results
        ]
        items += builtins.get(about.builtin, ())
        folded = [item for item in items if item["kind"] not in (FIGURES if about.open else FIRST)]
        filled.append(
            {
                "about": about,
                "text": prose.html(text),
                "outcome": outcome,
                "first": [item for item in items if item["kind"] in FIRST],
                "shown": [item for item in items if item["kind"] == "figure" and about.open],
                "folded": [{"topic": item["title"]} | item for item in folded],
                # Headlines of the folded items, for readers who do not unfold them.
                "found": [
                    item for item in folded if item.get("topic", item["title"]) != item["title"]
                ],
                # A name must have a result; a pattern may match nothing.
                "missing": [name for name in chapter.missing if not (matrix or "*" in name)],
                "bare": bool(chapter.missing) and not chapter.results,
            }
        )
    statuses: dict[str, list[str]] = {}
    for source_facts in provenance:
        name = source_facts["title"] if matrix else source_facts["name"]
        statuses.setdefault(str(source_facts.get("status")), []).append(name)
    marks = [(catalogue.mark(status), names) for status, names in statuses.items()]
    return environment.get_template("page.html.j2").render(
        sections=filled,
        places=places,
        at={name: section.id for section in sections for name in section.claims},
        parts=list(dict.fromkeys(chapter.section.part for chapter in placed)),
        answers=answers.answers(outputs),
        trials=outputs.trials(),
        enough=ENOUGH,
        data=sorted({source["name"] for source in provenance}),
        matrix=matrix,
        statuses=sorted(statuses),
        marks=[(mark, names) for mark, names in marks if mark.text],
        timing=_timing(root) if facts else {},
        commit=facts.get("Git commit", ""),
        health=_health(outputs),
        style=_together("style.css", "interaction.css"),
        script=_together("page.js", "claims.js"),
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    explained = functools.partial(prose.explained, glossary=catalogue.section("glossary"))
    environment.filters |= {"explained": explained, "inline": prose.inline, "slug": _slug}
    environment.filters |= {"number": markup.number, "numeric": markup.numeric}
    return environment


def _item(root: Path, name: str, entry: Entry | None) -> dict[str, Any]:
    """Return the template's item for the table or figure ``name``."""
    stem = name.rpartition("/")[2]
    title = stem.replace("_", " ").capitalize()
    if name.startswith("figures/"):
        data, content = f"figures/data/{stem}.csv", _figure(root, stem, entry, title)
    else:
        data, table = f"{name}.csv", _table(root / f"{name}.csv")
        content = {"kind": "table", "title": table.name or title, "table": table}
    download = Markup(pictures.download(root / data))
    return {"id": _slug(name), "data": data, "download": download} | content


def _table(path: Path) -> Grid:
    """Return the grid of a table; without a formatted one, the cells of its CSV file."""
    readable = path.with_suffix(".json")
    with inputs.whole(readable if readable.is_file() else path):
        if readable.is_file():
            return markup.read(readable)
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        return Grid(header=[*frame.columns], groups=[("", frame.to_numpy().tolist())])


def _homes(entries: Mapping[str, Entry], experiments: Collection[str]) -> dict[str, str]:
    """Return the experiment of each table or figure, by name, where it uses a single one."""
    origins = {
        name: {source.rpartition("/")[2] for source in entry.inputs} & {*experiments}
        for name, entry in entries.items()
    }
    return {name: origin.pop() for name, origin in origins.items() if len(origin) == 1}


def _figure(root: Path, name: str, entry: Entry | None, title: str) -> dict[str, Any]:
    picture = pictures.read(root / "figures" / f"{name}.svg")
    words = {"title": title, "caption": f"{title}."}
    if isinstance(entry, Figure):
        frame = entry.frame(root)
        words = {"title": entry.headline(frame), "caption": entry.describe(frame)}
        words["topic"] = entry.title
        if catalogue.mark(frame["data_status"].iloc[0]).text:
            # A figure on marked (simulated) data must not be cited.
            words["cite"] = ""
    # `pictures` has escaped the source already; escaping it again would double its size.
    picture_fields = vars(picture) | {"source": Markup(picture.source)}
    return {"kind": "figure", "cite": machine.citation(f"figures/{name}")} | picture_fields | words


def _builtins(
    outputs: answers.Run,
    data: Grid,
    facts: Mapping[str, str],
) -> dict[str, list[dict[str, Any]]]:
    """Return the items that the page itself adds, by their names in the layout."""
    paths = [
        outputs.root / "summary" / f"{run}.csv" for run in sorted(exhibits.kinds(outputs.settings))
    ]
    summaries = [summary.read(path) for path in paths if path.is_file()]
    mirror = {**outputs.settings.get("data", {}), "mirror": "(not shown)"}
    settings = {**outputs.settings, "data": mirror}
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, default_flow_style=None)
    versions = appendix.listing("Packages", "The versions that made this page.", machine.versions())
    where = appendix.listing("Machine", "Where this page was made.", facts)
    # Without facts on the run the page is the same on every machine.
    of_run = (
        [_table_item(where) | {"run": True}, _table_item(versions) | {"run": True}] if facts else []
    )
    card_item = {"kind": "cards", "cards": cards.cards(outputs), "scale": cards.scale(outputs)}
    ends = {"zero": cards.ZERO.at, "one": cards.ONE.at}
    return {
        "cards": [card_item | ends] if card_item["cards"] else [],
        "gaps": [_table_item(appendix.gaps(summaries, isinstance(settings.get("matrix"), dict)))],
        "glossary": [{"kind": "glossary", "words": catalogue.section("glossary")}],
        "provenance": [
            _table_item(data),
            {"kind": "text", "id": "configuration", "title": "Configuration", "text": text},
            *of_run,
        ],
    }


def _health(outputs: answers.Run) -> dict[str, Any]:
    """Return whether the run passes its privacy tests, and one line of text on each.

    The tests are the audit, the known-bug tests and the sensitivities. Those that were not run are
    left out.
    """
    tests = (
        ("audit", audit.failures),
        ("known_bugs", audit.missed),
        ("sensitivities", audit.broken),
    )
    failures = {}
    for name, count in tests:
        if len(table := outputs.table(f"tables/{name}")):
            failures[name.replace("_", " ")] = (count(table), len(table))
    words = [f"{name}: {failed} of {total} failed" for name, (failed, total) in failures.items()]
    return {"passed": not any(failed for failed, _ in failures.values()), "words": words}


def _together(*names: str) -> Markup:
    return Markup("\n").join(Markup((FOLDER / name).read_text(encoding="utf-8")) for name in names)


def _table_item(table: Grid) -> dict[str, Any]:
    return {"kind": "table", "id": _slug(table.name), "title": table.name, "table": table}


def _timing(root: Path) -> dict[str, str]:
    """Return when the run ended and how long it took; empty if nothing was measured."""
    try:
        span = timing.span(root / "benchmarks")
    except InputError:
        span = None
    if span is None:
        return {}
    seconds, end = span
    return {"wall": _duration(seconds), "date": f"{end:%Y-%m-%d %H:%M} UTC"}


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
