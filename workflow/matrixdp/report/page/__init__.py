"""results/report.html: one self-contained page on a run, put together from what the run has left.

Everything on it is computed from the files below the results' folder, but for the texts in
this folder. Facts on the machine and the moment stand in elements marked ``data-run``;
the rest is the same for the same results.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from matrixdp import files, templates
from matrixdp.checks import InputError
from matrixdp.report import figures, findings, inputs, markup, summary, tables, timing
from matrixdp.report.claims.tally import tally
from matrixdp.report.entries import Entry
from matrixdp.report.figures.base import Figure
from matrixdp.report.markup import Grid
from matrixdp.report.page import appendix, layout, machine, pictures, prose, strip

FOLDER = Path(__file__).parent

#: Trials behind each result of the MVG paper (section 8); fewer leave wide intervals.
PAPER_TRIALS = 100

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
    """Return the page as HTML.

    Args:
        results: a run's folder; nothing in it needs to be there.
        config: the run's settings; by default those that it left.
        arguments: what every command on the page ends with, such as ``--configfile ...``.
        run: facts on the machine and the moment; by default those of here and now.

    Raises:
        InputError: a file is damaged.
    """
    root = Path(results)
    config = inputs.read("settings", root) if config is None else config
    sections, commands = layout.read(FOLDER / "layout.yaml")
    experiments = templates.kinds(config)
    known: dict[str, Entry] = {}
    for kind, registry in (("tables", tables.registry), ("figures", figures.registry)):
        known |= {f"{kind}/{name}": entry for name, entry in registry(experiments).items()}
    placed, rest = layout.place(sections, layout.present(root), _homes(known, experiments))
    if rest:
        placed.append(layout.Placed(REST, tuple(rest), ()))
    compared = {
        number: inputs.read(f"tables/table{number}", root)
        for number in findings.titles()
        if not inputs.missing([f"tables/table{number}"], root)
    }
    judged = None if inputs.missing(["claims"], root) else inputs.read("claims", root)
    tallied = ""
    if judged is not None:
        with inputs.whole(root / "claims.csv"):
            tallied = tally(judged)
    outcomes = {}
    for number, table in compared.items():
        with inputs.whole(root / f"tables/table{number}.csv"):
            outcomes[number] = findings.outcome(number, table, judged)
    data, provenance = appendix.provenance(root / "data")
    environment = _environment()
    # Markdown comes out of the template unescaped, and is escaped when it becomes HTML.
    plain = environment.overlay(autoescape=False)
    texts = {file.stem: plain.get_template(file.name) for file in FOLDER.glob("texts/*.md")}
    builtins = _builtins(
        root, config, compared, data, dict(machine.facts() if run is None else run)
    )
    filled = []
    for one in placed:
        about = one.section
        text = (
            texts[about.id].render(config=config, arguments=arguments) if about.id in texts else ""
        )
        items = [
            _item(root, name, known.get(name))
            | {"command": layout.command(name, commands, arguments)}
            for name in one.found
        ]
        filled.append(
            {
                "about": about,
                "text": prose.html(text),
                "outcome": outcomes.get(about.table or 0),
                "items": [*items, *builtins.get(about.builtin, ())],
                # Patterns stand for results that may come; only names are promises.
                "missing": [name for name in one.missing if "*" not in name],
                "bare": bool(one.missing) and not one.found,
            }
        )
    return environment.get_template("page.html.j2").render(
        sections=filled,
        places={
            name.rpartition("/")[2]: _slug(name)
            for one in reversed(placed)
            for name in reversed(one.found)
        },
        parts=list(dict.fromkeys(one.section.part for one in placed)),
        outcomes=[*outcomes.values()],
        strips=strip.strips([*outcomes.values()]),
        claims=tallied,
        data=sorted({one["name"] for one in provenance}),
        simulated=sorted(
            {one["name"] for one in provenance if one.get("status") == summary.SIMULATED}
        ),
        warning=markup.SIMULATED,
        trials=_trials(compared),
        paper_trials=PAPER_TRIALS,
        epsilon=config["table_epsilon"],
        timing=_timing(root),
        style=Markup((FOLDER / "style.css").read_text(encoding="utf-8")),
        script=Markup((FOLDER / "page.js").read_text(encoding="utf-8")),
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER, FOLDER / "texts"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "inline": prose.inline,
        "slug": _slug,
        "number": markup.number,
        "numeric": markup.numeric,
    }
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
    return {
        "kind": "figure",
        "title": entry.title if entry else title,
        "caption": entry.describe(entry.frame(root)) if isinstance(entry, Figure) else f"{title}.",
        # Escaped for its place by `pictures`; escaping again would double its size.
        "source": Markup(picture.source),
        "width": picture.width,
        "height": picture.height,
    }


def _builtins(
    root: Path,
    config: Mapping[str, Any],
    compared: Mapping[int, pd.DataFrame],
    data: Grid,
    facts: Mapping[str, str],
) -> dict[str, list[dict[str, Any]]]:
    """Return the page's own tables, by the name of the place that the layout gives them."""
    summaries = [summary.read(path) for path in sorted((root / "summary").glob("*.csv"))]
    settings = {**config, "data": {**config.get("data", {}), "mirror": "(not shown)"}}
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, default_flow_style=None)
    versions = appendix.listing("Packages", "The versions that made this page.", machine.versions())
    where = appendix.listing("Machine", "Where this page was made.", facts)
    return {
        "privacy": [_own(appendix.delivered(compared, findings.titles()))],
        "gaps": [_own(appendix.gaps(summaries))],
        "provenance": [
            _own(data),
            {"kind": "text", "id": "configuration", "title": "Configuration", "text": text},
            _own(where) | {"run": True},
            _own(versions) | {"run": True},
        ],
    }


def _own(table: Grid) -> dict[str, Any]:
    return {"kind": "table", "id": _slug(table.name), "title": table.name, "table": table}


def _trials(compared: Mapping[int, pd.DataFrame]) -> list[int]:
    """Return the smallest and the largest number of trials of a cell; empty without trials."""
    counts = sorted({int(n) for table in compared.values() for n in table["n_trials"] if n > 0})
    return list(dict.fromkeys([*counts[:1], *counts[-1:]]))


def _timing(root: Path) -> dict[str, str]:
    """Return what the jobs took as a person reads it; empty if nothing was measured."""
    try:
        measured = timing.collect(root / "benchmarks")
    except InputError:
        return {}
    return {
        "jobs": str(measured["jobs"].sum()),
        "wall": _duration(measured["wall_s"].sum()),
        "cpu": _duration(measured["cpu_s"].sum()),
        "memory": f"{measured['max_rss_mb'].max():.0f} MB",
    }


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
