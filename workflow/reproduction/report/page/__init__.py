"""results/report.html: one self-contained page on a run, made from the files of the run.

Everything on it is computed from the files in the results' folder, except the texts in this
folder. Facts on the machine are in elements marked ``data-run``; the rest is the same
for the same results.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from reproduction import catalogue, job_settings
from reproduction.files import write_text
from reproduction.report import citations, findings, inputs, markup
from reproduction.report.inputs import Files
from reproduction.report.page import (
    appendix,
    cards,
    delivered,
    machine,
    pictures,
    printed,
    prose,
    sections,
    views,
)
from reproduction.report.page.run import PageRun
from reproduction.report.sentences import Sentences
from reproduction.report.sheet import Sheet
from reproduction.report.statistics import ENOUGH
from reproduction.report.tables import advice, audit, second_seed

FOLDER = Path(__file__).parent

#: What is no text of the page; an attribute may contain any sign but its quote.
_TAGS = re.compile(
    r"""(<script\b.*?</script>|<style\b.*?</style>|<(?:[^<>"]|"[^"]*")*>)""", flags=re.DOTALL
)
_SENTENCE = re.compile(r"(?<=[.)]) (?=[A-Z†‡*])")
_POWER = re.compile(r"(?:\d[\d.,]*|\))e-\d+")

#: What messages call tables that cannot be read.
_TABLES = "a table of the run"

#: Ids of sections on the page of experiments that are none of the papers'.
PART_SECTIONS = ("recommend", "further", "how")


def write_page(files: Files, out: str | os.PathLike, **options: Any) -> None:
    """Write the page on the files of a run to ``out``, or nothing if that fails.

    ``options`` are those of :func:`build`.

    Raises:
        InputError: a file is damaged, or the page cannot be written.
    """
    write_text(out, build(files, **options))


def build(
    files: Files,
    *,
    folder: str | os.PathLike = "results",
    options: str = "",
    run: Mapping[str, str] | None = None,
) -> str:
    """Return the page as HTML.

    Args:
        files: files of a run by name, its settings among them.
        folder: the results' folder, as commands on the page have it.
        options: the end of every command on the page, such as ``--configfile ...``.
        run: facts on the machine; by default the current ones. With an empty mapping
            the page is the same on every machine.

    Raises:
        InputError: a file is damaged.
    """
    outputs, sentences = PageRun(files, folder, options), Sentences(files)
    only = [] if job_settings.covers_papers(outputs.settings) else outputs.experiments
    chapters = sections.arrange_sections(_sections(outputs, only), sections.present(files))
    data, provenance = appendix.provenance(files)
    words = {
        "config": outputs.settings,
        "options": options,
        "folder": shlex.quote(os.fspath(folder)),
        "only": only,
        "table": _table(outputs.experiments[0], outputs),
        "advice": _advised(outputs),
        **sentences.names(),
    }
    claims, headlines = outputs.table("claims"), sentences.headlines()
    present = {name for chapter in chapters for name in chapter.results}
    facts = dict(machine.facts() if run is None else run)
    with inputs.file_errors(_TABLES):
        added = _added(outputs, data, facts, present, words)
        health = _health(outputs)
    if len(claims):
        added["ledger"] = [_ledger(outputs, claims, present)]
    differences = {
        _table(name, outputs): prose.html(catalogue.experiment(name).differences)
        for name in outputs.experiments
    }
    charts = {_table(name, outputs): printed.chart(outputs, name) for name in outputs.experiments}
    evidence = {
        name: _item(outputs, name)
        | {
            "headline": headlines.get(name, ""),
            "differences": differences.get(name, ""),
            "chart": charts.get(name),
        }
        for name in present
    }
    for chapter in chapters:
        _shorten_captions(evidence[name] for name in chapter.results)
    statuses: dict[str, list[dict[str, Any]]] = {}
    for source in provenance:
        statuses.setdefault(str(source.get("status")), []).append(source)
    marks = {status: catalogue.mark(status) for status in statuses}
    contents = [_chapter(chapter, evidence, added, words) for chapter in chapters]
    verdicts = prose.html(_text("in_short", words))
    has_picture = verdicts and not only and "simulated" not in statuses
    html = _render(
        "page.html.j2",
        {
            "sections": [chapter for chapter in contents if not only or _is_filled(chapter)],
            "verdicts": verdicts,
            "trials": outputs.trials(),
            "enough": ENOUGH,
            "only": [catalogue.experiment(name).title for name in only],
            "statuses": {status: _titles(statuses[status]) for status in sorted(statuses)},
            "marks": [
                (mark, [source["name"] for source in statuses[status]])
                for status, mark in marks.items()
                if mark.text
            ],
            "health": health,
            "picture": (
                Markup(_render("delivered.html.j2", sentences.names())) if has_picture else ""
            ),
            "style": _source("style.css"),
            "script": _source("page.js"),
            **sentences.names(),
        },
    )
    return _unbroken(html)


def _shorten_captions(items: Iterable[dict[str, Any]]) -> None:
    """Leave out of captions what stands in an earlier one of the section, and name that one."""
    first: dict[str, str] = {}
    for item in items:
        sentences = _SENTENCE.split(item["caption"])
        new = [sentence for sentence in sentences if sentence not in first]
        if len(new) < len(sentences):
            other = next(first[sentence] for sentence in sentences if sentence in first)
            new.append(f"{'All else is as' if new else 'As'} in {other}.")
        first |= {sentence: item["title"] for sentence in sentences if sentence not in first}
        item["caption"] = " ".join(new)


def _sections(outputs: PageRun, only: list[str]) -> list[sections.Section]:
    """Return the sections of the page.

    ``only`` are the experiments of a run that is on none of the papers' experiments.
    """
    if not only:
        return [*sections.SECTIONS]
    parts = [entry for entry in sections.SECTIONS if entry.id in PART_SECTIONS]
    return [*(_section(name, outputs) for name in only), *parts]


def _advised(outputs: PageRun) -> list[dict[str, str]]:
    """Return the best mechanism of each topic; empty where none beats the baseline."""
    rows = advice.first_by_topic(outputs.advice())
    best = [row["best"] if str(row["beats_baseline"]) == "True" else "" for row in rows]
    return [
        {"topic": advice.topic(row), "best": catalogue.shorten_remark(name)}
        for row, name in zip(rows, best, strict=True)
    ]


def _titles(sources: list[dict[str, Any]]) -> str:
    """Return what data sets are called, by default their titles."""
    names = catalogue.section("datasets")
    return ", ".join(
        names.get(source["name"], source.get("title", source["name"])) for source in sources
    )


def _ledger(outputs: PageRun, claims: pd.DataFrame, present: set[str]) -> dict[str, Any]:
    """Return the item of counts of verdicts, and of one table of claims, readings and errata."""
    with inputs.file_errors("claims.csv"):
        seeds = second_seed.verdicts(outputs.table("tables/second_seed"))
        view = views.ledger(claims, outputs.table("tables/errata"), seeds)
    places = {name.rpartition("/")[2]: _slug(name) for name in sorted(present)}
    errata = pictures.data_uri(outputs.files["tables/errata"]) if view["errors"] else ""
    files = {"errata": Markup(errata), "readings": Markup(view["readings"])}
    html = _render("ledger.html.j2", view | files | {"places": places})
    return {"item_type": "html", "html": Markup(html)}


def _section(name: str, outputs: PageRun) -> sections.Section:
    """Return the section of an experiment that stands alone."""
    about, table = catalogue.experiment(name), _table(name, outputs)
    stems = (f"curves_{name}", *about.figures)
    figures = tuple(f"figures/{stem}" for stem in stems)
    return sections.Section(name, about.title, (table, *figures), open=(table, figures[0]))


def _table(name: str, outputs: PageRun) -> str:
    """Return the name of the file of the table of an experiment or a training."""
    training = name in outputs.settings["training"]
    return f"tables/imgm_{name}" if training else f"tables/{catalogue.experiment(name).results}"


def _is_filled(chapter: Mapping[str, Any]) -> bool:
    """Return whether a section has more than a heading, or a text without its results."""
    kinds = ("text", "added", "shown", "folded")
    return not chapter["bare"] and any(chapter[kind] for kind in kinds)


def _chapter(
    chapter: sections.Chapter,
    evidence: Mapping[str, Any],
    added: Mapping[str, list[dict[str, Any]]],
    words: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what the template shows of a section: text, what the page adds, evidence."""
    about = chapter.section
    # On a part of the papers' experiments, no result is missing.
    missing = [] if words["only"] else chapter.missing
    runs = {name: name.removeprefix("tables/imgm_") for name in missing}
    commands = {name: catalogue.experiment(run).command for name, run in runs.items()}
    return {
        "about": about,
        "text": prose.html(_text(about.id, words)),
        "added": added.get(about.builtin, ()),
        "shown": [evidence[name] for name in chapter.results if name in about.open],
        "folded": [
            evidence[name] | {"screen": name in about.screen}
            for name in chapter.results
            if name not in about.open
        ],
        "missing": [name for name in missing if not commands[name]],
        "waiting": {runs[name]: command for name, command in commands.items() if command},
        "bare": bool(chapter.missing) and not chapter.results,
    }


def _render(template: str, words: Mapping[str, Any]) -> str:
    return _environment().get_template(template).render(words)


def _unbroken(html: str) -> str:
    """Return HTML in which no line ends within a power of ten, such as 1e-5."""
    parts = _TAGS.split(html)
    for i in range(0, len(parts), 2):
        parts[i] = _POWER.sub(r'<span class="number">\g<0></span>', parts[i])
    return "".join(parts)


def _text(name: str, words: Mapping[str, Any]) -> str:
    """Return the text of a section as Markdown; empty for none."""
    # Markdown is escaped on conversion to HTML.
    plain, file = _environment().overlay(autoescape=False), f"texts/{name}.md"
    return plain.get_template(file).render(words) if (FOLDER / file).is_file() else ""


@functools.cache
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
    # A line of an attribute ends at a hyphen, but not at this one.
    environment.filters["unbroken"] = lambda text: re.sub(r"(?<=\de)-(?=\d)", "\u2011", text)
    environment.filters["shorten_remark"] = catalogue.shorten_remark
    environment.filters["experiment"] = lambda name: catalogue.experiment(name).title
    environment.filters |= {"cell": markup.format_value, "short": markup.short}
    environment.globals |= {"interval": markup.interval, "label": catalogue.label}
    environment.globals |= {
        "bar": delivered.bar,
        "at": delivered.axis_position,
        "ticks": delivered.TICKS,
    }
    return environment


def _item(outputs: PageRun, name: str) -> dict[str, Any]:
    """Return the template's item for the table or figure ``name``."""
    kind, _, stem = name.partition("/")
    if kind == "figures":
        content = _figure(outputs.files, name)
        sources = _sources(outputs, f"{name}.svg", f"figures/data/{stem}")
    else:
        content = _table_item(inputs.read_sheet(name, outputs.files))
        sources = _sources(outputs, f"{name}.csv", name)
    return content | {"id": _slug(name)} | sources


def _sources(outputs: PageRun, file: str, data: str) -> dict[str, Any]:
    """Return the command that makes a file, and the file's data by path and for download."""
    target = shlex.quote(os.path.join(outputs.folder, file))
    return {
        "path": os.path.join(outputs.folder, f"{data}.csv"),
        "download": Markup(pictures.data_uri(inputs.find_file(data, outputs.files))),
        "command": f".venv/bin/snakemake {target} {outputs.options}".strip(),
    }


def _figure(files: Files, name: str) -> dict[str, Any]:
    with inputs.file_errors(path := inputs.find_file(f"{name}.json", files)):
        entry = json.loads(path.read_text(encoding="utf-8"))
        words = {"title": entry["topic"], "caption": entry["caption"]}
        above = float(entry.get("header", 0))
    picture = pictures.read_picture(inputs.find_file(f"{name}.svg", files), above)
    return {"item_type": "figure", "picture": picture} | words


def _added(
    outputs: PageRun,
    data: Sheet,
    facts: Mapping[str, str],
    present: set[str],
    words: Mapping[str, Any],
) -> dict[str, list[dict[str, Any]]]:
    """Return the items that the page itself adds, by their names in the sections."""
    mirror = {**outputs.settings.get("data", {}), "mirror": "(not shown)"}
    text = yaml.safe_dump({**outputs.settings, "data": mirror}, sort_keys=False, allow_unicode=True)
    of_run = "\n".join(
        f"{name}: {value}" for name, value in {**facts, **machine.versions()}.items()
    )
    about_project = {"project": citations.read_project(), "has_commit": bool(facts)}
    parts = [
        _prose_item("Trials, guarantees, verdicts, constants", "methods", words),
        _prose_item("Privacy audit", "audit", words),
        _table_item(data)
        | {"settings": Markup(pictures.address("text/yaml", text)), "screen": True},
        _prose_item("How to cite it", "cite", {**words, **about_project}),
        _prose_item("How to rerun it", "rerun", words),
        {
            "item_type": "glossary",
            "title": "Glossary",
            "words": catalogue.section("glossary"),
            "screen": True,
        },
    ]
    if facts:
        # Without facts on the run the page is the same on every machine.
        title = "Machine and packages"
        parts.append(
            {"item_type": "text", "id": _slug(title), "title": title, "text": of_run, "run": True}
        )
    added = {
        "choice": _choices(outputs),
        "parts": [item | {"fold": True} for item in parts],
    }
    deck: dict[str, list[dict[str, Any]]] = {}
    for card in cards.cards(outputs):
        deck.setdefault(f"cards_{card.about.paper}", []).append(_card(card, outputs, present))
    ends = {"zero": cards.ZERO.at, "one": cards.ONE.at, "enough": ENOUGH}
    shown = {
        verdict for members in deck.values() for one in members for _, verdict in one["claims"]
    }
    for name, members in deck.items():
        marks = [mark for member in members for mark in member["card"].marks]
        roles = {mark.role for mark in marks} | {"printed" for mark in marks if mark.published}
        is_first = name == next(iter(deck))
        # In the words and the order of the ledger.
        verdicts = [word for word in catalogue.section("verdicts") if word in shown]
        key = {"roles": roles, "is_first": is_first, "verdicts": verdicts if is_first else []}
        added[name] = [{"item_type": "cards", "cards": members} | key | ends]
    if "cards_IMGM" in added:
        more = _prose_item("What is run, and three ways to choose the noise", "schemes", words)
        added["cards_IMGM"].append(more | {"fold": True})
    return added


def _card(card: cards.Card, outputs: PageRun, present: set[str]) -> dict[str, Any]:
    """Return a card with its claims and with links to its table and its curves."""
    name = card.about.id
    claims = findings.select_claims(outputs.table("claims"), [name]).to_dict("records")
    table, curves = _table(name, outputs), f"figures/curves_{name}"
    links = {table: f"Table {card.about.table}" if card.about.table else "Table"}
    links[curves] = "By ε"
    return {
        "card": card,
        "metric": card.about.setup.get("metric", ""),
        "claims": [(row["id"], findings.word(row["verdict"])) for row in claims],
        "links": [(_slug(key), text) for key, text in links.items() if key in present],
    }


def _choices(outputs: PageRun) -> list[dict[str, Any]]:
    """Return the item with a card a task: what to use, what one types for it, what it gives."""
    offered, cards_ = catalogue.section("offered"), []
    for row in advice.first_by_topic(outputs.advice()):
        about = catalogue.experiment(row["experiment"])
        words = {
            "topic": advice.topic(row),
            "metric": catalogue.metric(str(outputs.results[about.id]["metric"].max())),
            "is_training": about.perturbation == "gradients",
            "keys": offered.get(row["best_mechanism"]),
            "other_keys": offered.get(row["offer_mechanism"]),
        }
        cards_.append({**row} | words)
    if not cards_:
        return []
    texts = [str(card[name]) for card in cards_ for name in ("best", "tied_with", "held_out")]
    sources = _sources(outputs, "tables/advice.csv", "tables/advice")
    words = {"note": _note(texts), "other_data": _other_data(outputs.table("held_out"))}
    return [{"item_type": "choices", "cards": cards_} | words | sources]


def _other_data(evidence: pd.DataFrame) -> str:
    """Return the names of the data sets that other results are on, simulated ones last, or none."""
    if evidence.empty:
        return ""
    names = evidence.sort_values("simulated", kind="stable")["dataset"].unique()
    titles = catalogue.section("datasets")
    return findings.join_words([titles.get(name, name) for name in names])


def _health(outputs: PageRun) -> dict[str, Any]:
    """Return whether the run passes its privacy tests, and one line of text on each subject."""
    if (table := outputs.table("tables/audit")).empty:
        return {"passed": True, "words": []}
    totals, failed = table["subject"].value_counts(), audit.failures(table)
    totals = totals.drop(audit.CONTROL, errors="ignore")
    words = [f"{subject}: {failed[subject]} of {n} failed" for subject, n in totals.items()]
    return {"passed": not any(failed.values()), "words": words + audit.caught_sentences(table)}


def _source(name: str) -> Markup:
    return Markup((FOLDER / name).read_text(encoding="utf-8"))


def _prose_item(title: str, name: str, words: Mapping[str, Any]) -> dict[str, Any]:
    return {"item_type": "prose", "title": title, "html": prose.html(_text(name, words))}


def _table_item(sheet: Sheet) -> dict[str, Any]:
    """Return the item of a table, in which a mark stands for the remark on a tuned rule."""
    places = [i for i, heading in enumerate(sheet.headings) if heading.page is not None]
    groups = [
        (group.title, [[(sheet.headings[i], line[i]) for i in places] for line in group.lines])
        for group in sheet.groups
        if not group.aside
    ]
    texts = [cell.whole for _, rows in groups for row in rows for _, cell in row]
    return {
        "item_type": "table",
        "id": _slug(sheet.title),
        "title": sheet.title,
        "table": sheet,
        "columns": [sheet.headings[i] for i in places],
        "groups": groups,
        "caption": sheet.caption + _note(texts) + _further(sheet),
    }


def _note(texts: Iterable[str]) -> str:
    """Return what the mark of tuned rules means, if a text has it."""
    if all(catalogue.shorten_remark(text) == text for text in texts):
        return ""
    return f" {catalogue.section('tuned_mark')}: {catalogue.section('tuned_note')}."


def _further(sheet: Sheet) -> str:
    """Return how many rows the page leaves to the CSV file, if there are any."""
    count = sum(len(group.lines) for group in sheet.groups if group.aside)
    return f" {count} further rows stand in the CSV file." if count else ""


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
