"""results/report.html: one self-contained page on a run, put together from what the run has left.

Everything on it is computed from the files below the results' folder, but for the texts in
this folder. Facts on the machine and the moment stand in elements marked ``data-run``;
the rest is the same for the same results.
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

#: What is never folded, and where a section is open.
FIRST = ("cards", "glossary", "html")
FIGURES = (*FIRST, "figure")

#: What stands on the page of a matrix of one's own: first its results in this order.
MINE = ("tables/my_*", "figures/curves_my_*")
OF_OWN = ("recommend", "price_of_privacy", "audit", "gaps", "provenance")

#: Where results go that no section has a place for.
REST = layout.Section("everything-else", "Everything else", "How it was done")


def write(results: str | os.PathLike, out: str | os.PathLike, **options: Any) -> None:
    """Write the page on the results below ``results`` to ``out``, whole or not at all.

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
    """Return the page as HTML, of what there is in a run's folder.

    Args:
        config: the run's settings; by default those that it left.
        arguments: what every command on the page ends with, such as ``--configfile ...``.
        run: facts on the machine and the moment; by default those of here and now, and none for
            a page that is the same everywhere.

    Raises:
        InputError: a file is damaged.
    """
    root = Path(results)
    config = inputs.read("settings", root) if config is None else config
    sections, commands, aside = layout.read(FOLDER / "layout.yaml")
    told, experiments, environment = (
        answers.Run(root, config),
        exhibits.kinds(config),
        _environment(),
    )
    if own := config["matrix"] if isinstance(config.get("matrix"), dict) else None:
        commands = {"*": "snakemake my_matrix"}
        file = os.path.basename(own["file"])
        titles = [(name, f"{file}: {catalogue.experiment(name).topic}") for name in experiments]
        mine = [layout.Section(*one, part="Answers", show=MINE, open=True) for one in titles]
        sections = mine + [one for one in sections if one.id in (*OF_OWN, "glossary")]
    command = functools.partial(layout.command, commands=commands, arguments=arguments)
    known: dict[str, Entry] = {
        f"{kind}/{name}": entry
        for kind, registry in (("tables", tables.registry), ("figures", figures.registry))
        for name, entry in registry(experiments).items()
    }
    # What another configuration or a person has left in the folder is not shown.
    names = [name for name in layout.present(root) if name in known and name not in aside]
    placed, rest = layout.place(sections, names, _homes(known, experiments))
    if rest:
        placed.append(layout.Placed(REST, tuple(rest), ()))
    compared = {
        about.id: table
        for about in catalogue.experiments().values()
        if about.table and len(table := told.table(f"tables/{about.results}"))
    }
    judged = None if inputs.missing(["claims"], root) else inputs.read("claims", root)
    data, provenance = appendix.provenance(root / "data", exhibits.datasets(config))
    # Markdown comes out of the template unescaped, and is escaped when it becomes HTML.
    plain = environment.overlay(autoescape=False)
    facts = dict(machine.facts() if run is None else run)
    shown = [name for one in placed for name in one.found]
    places = {name.rpartition("/")[2]: _slug(name) for name in reversed(shown)}
    with inputs.whole(root / "tables"):
        builtins = _builtins(told, data, facts)
    if len(claims := told.table("tables/claims")):
        with inputs.whole(root / "tables/claims.csv"):
            view = views.dashboard(claims)
        html = environment.get_template("dashboard.html.j2").render(view | {"places": places})
        builtins["dashboard"] = [{"kind": "html", "html": Markup(html)}]
    filled = []
    for one in placed:
        about, text = one.section, f"texts/{one.section.id}.md"
        if there := (FOLDER / text).is_file():
            text = plain.get_template(text).render(config=config, arguments=arguments, own=own)
        differences = catalogue.experiment(about.id).differences
        text = "\n\n".join(filter(None, [text if there else "", differences]))
        first = next((name for name in about.claims if name in compared), "")
        source = f"tables/{catalogue.experiment(first).results}" if first else "claims"
        with inputs.whole(root / f"{source}.csv"):
            outcome = findings.outcome(about.claims, compared.get(first), judged)
        items = [
            _item(root, name, known.get(name)) | {"command": command(name)} for name in one.found
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
                # What one finds in what is folded, for those who do not unfold it.
                "found": [
                    item for item in folded if item.get("topic", item["title"]) != item["title"]
                ],
                # Patterns stand for results that may come; only names are promises.
                "missing": [name for name in one.missing if not (own or "*" in name)],
                "bare": bool(one.missing) and not one.found,
            }
        )
    statuses: dict[str, list[str]] = {}
    for known_as in provenance:
        name = known_as["title"] if own else known_as["name"]
        statuses.setdefault(str(known_as.get("status")), []).append(name)
    marks = [(catalogue.mark(status), names) for status, names in statuses.items()]
    return environment.get_template("page.html.j2").render(
        sections=filled,
        places=places,
        at={name: one.id for one in sections for name in one.claims},
        parts=list(dict.fromkeys(one.section.part for one in placed)),
        answers=answers.answers(told),
        trials=told.trials(),
        enough=ENOUGH,
        data=sorted({one["name"] for one in provenance}),
        own=own,
        statuses=sorted(statuses),
        marks=[(mark, names) for mark, names in marks if mark.text],
        timing=_timing(root) if facts else {},
        commit=facts.get("Git commit", ""),
        health=_health(told),
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
    """Return what the template needs to show the table or figure called ``name``."""
    stem = name.rpartition("/")[2]
    title = stem.replace("_", " ").capitalize()
    if name.startswith("figures/"):
        data, shown = f"figures/data/{stem}.csv", _figure(root, stem, entry, title)
    else:
        data, table = f"{name}.csv", _table(root / f"{name}.csv")
        shown = {"kind": "table", "title": table.name or title, "table": table}
    download = Markup(pictures.download(root / data))
    return {"id": _slug(name), "data": data, "download": download} | shown


def _table(path: Path) -> Grid:
    """Return a table as a person reads it, or where it has only a CSV, as that has it."""
    readable = path.with_suffix(".json")
    with inputs.whole(readable if readable.is_file() else path):
        if readable.is_file():
            return markup.read(readable)
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        return Grid(header=[*frame.columns], groups=[("", frame.to_numpy().tolist())])


def _homes(known: Mapping[str, Entry], experiments: Collection[str]) -> dict[str, str]:
    """Return the experiment that a table or figure is made from, by name, if it is just one."""
    made = {
        name: {source.rpartition("/")[2] for source in one.inputs} & {*experiments}
        for name, one in known.items()
    }
    return {name: found.pop() for name, found in made.items() if len(found) == 1}


def _figure(root: Path, name: str, entry: Entry | None, title: str) -> dict[str, Any]:
    picture = pictures.read(root / "figures" / f"{name}.svg")
    said = {"title": title, "caption": f"{title}."}
    if isinstance(entry, Figure):
        frame = entry.frame(root)
        said = {"title": entry.headline(frame), "caption": entry.describe(frame)}
        said["topic"] = entry.title
        if catalogue.mark(frame["data_status"].iloc[0]).text:
            # What is marked is for nobody to cite.
            said["cite"] = ""
    # Escaped for its place by `pictures`; escaping again would double its size.
    drawn = vars(picture) | {"source": Markup(picture.source)}
    return {"kind": "figure", "cite": machine.citation(f"figures/{name}")} | drawn | said


def _builtins(
    told: answers.Run,
    data: Grid,
    facts: Mapping[str, str],
) -> dict[str, list[dict[str, Any]]]:
    """Return what the page itself adds, by the name of the place that the layout gives it."""
    paths = [told.root / "summary" / f"{run}.csv" for run in sorted(exhibits.kinds(told.settings))]
    summaries = [summary.read(path) for path in paths if path.is_file()]
    mirror = {**told.settings.get("data", {}), "mirror": "(not shown)"}
    settings = {**told.settings, "data": mirror}
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, default_flow_style=None)
    versions = appendix.listing("Packages", "The versions that made this page.", machine.versions())
    where = appendix.listing("Machine", "Where this page was made.", facts)
    # Without facts on the run the page is the same everywhere.
    of_run = [_own(where) | {"run": True}, _own(versions) | {"run": True}] if facts else []
    drawn = {"kind": "cards", "cards": cards.cards(told), "scale": cards.scale(told)}
    ends = {"zero": cards.ZERO.at, "one": cards.ONE.at}
    return {
        "cards": [drawn | ends] if drawn["cards"] else [],
        "gaps": [_own(appendix.gaps(summaries, isinstance(settings.get("matrix"), dict)))],
        "glossary": [{"kind": "glossary", "words": catalogue.section("glossary")}],
        "provenance": [
            _own(data),
            {"kind": "text", "id": "configuration", "title": "Configuration", "text": text},
            *of_run,
        ],
    }


def _health(told: answers.Run) -> dict[str, Any]:
    """Return whether the run passes its own tests of privacy, and each of them in words.

    Empty where none was run. Tests are the audit, the known mistakes and the sensitivities.
    """
    tests = (
        ("audit", audit.failures),
        ("known_bugs", audit.missed),
        ("sensitivities", audit.broken),
    )
    failures = {}
    for name, count in tests:
        if len(table := told.table(f"tables/{name}")):
            failures[name.replace("_", " ")] = (count(table), len(table))
    words = [f"{name}: {failed} of {total} failed" for name, (failed, total) in failures.items()]
    return {"passed": not any(failed for failed, _ in failures.values()), "words": words}


def _together(*names: str) -> Markup:
    return Markup("\n").join(Markup((FOLDER / name).read_text(encoding="utf-8")) for name in names)


def _own(table: Grid) -> dict[str, Any]:
    return {"kind": "table", "id": _slug(table.name), "title": table.name, "table": table}


def _timing(root: Path) -> dict[str, str]:
    """Return what the jobs took as a person reads it; empty if nothing was measured."""
    try:
        measured = timing.collect(root / "benchmarks")
    except InputError:
        return {}
    return {
        "wall": _duration(timing.elapsed(root / "benchmarks")),
        "date": f"{timing.finished(root / 'benchmarks'):%Y-%m-%d %H:%M} UTC",
        "cpu": _duration(measured["cpu_s"].sum()),
    }


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
