"""Build the article: numbers, tables and figures of a run beside the source, typeset by Typst."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from matrixdp.checks import InputError
from reproduction import catalogue, job_settings
from reproduction.files import replacing
from reproduction.report import citations, findings, inputs, markup, numbers
from reproduction.report.inputs import Files, Run
from reproduction.report.sentences import Sentences, missing_parts
from reproduction.report.sheet import Cell, Sheet
from reproduction.report.tables.paper_table import BEYOND, FURTHER
from reproduction.report.tables.training import OF_CODE

SOURCE = Path(__file__).parents[3] / "article"
TEXT = SOURCE / "article.typ"
REFERENCES = SOURCE.with_name("references.bib")
KEPT = SOURCE.parents[1] / "results" / "reference"
KEPT_ARTICLE = "results/kept/article.pdf"

#: The trainings on gradients, as far as they were run.
GRADIENTS = ("adult", "cora", "mnist")

#: The tables of results in print.
RESULTS = ("table3", "table4", "table5")

#: Columns of the table of claims.
_CLAIM_COLUMNS = ["id", "paper", "claim", "place", "evidence", "verdict"]

#: The mark of mechanisms whose rule was tuned on the papers' data.
TUNED = "*"

#: Prefixes of titles in the metadata of ReScience C: of a successful and of a failed replication.
REPLICATED, FAILED = "[Re]", "[¬Re]"


def files_of_run(folder: str | os.PathLike) -> Files:
    """Return the files of a run by name.

    Raises:
        InputError: the folder has no results.
    """
    if not Path(folder, inputs.SETTINGS).is_file():
        raise InputError(
            f"{os.fspath(folder)} has no results, as it lacks {inputs.SETTINGS}; run `snakemake`, "
            "or leave --results out to typeset the kept ones"
        )
    return inputs.files_of_folder(folder)


def build(files: Files, out: str | os.PathLike) -> str:
    """Write the article of a run as PDF, and its numbers as ``article_numbers.csv`` beside it.

    Return which results it shows, which the article says too. The same results give the same bytes.

    Args:
        files: files of a run by name.
        out: the PDF.

    Raises:
        InputError: typst is not installed, the run is on other experiments than the text, a result
            is missing, or a sentence of the text assumes another verdict than that of the run.
    """
    try:
        import typst
    except ImportError:
        raise InputError("the article needs the package typst; pip install typst") from None
    run = Run(files)
    if not job_settings.covers_papers(run.settings):
        names = ", ".join(run.experiments)
        raise InputError(f"the article is on the papers' experiments, and the run on {names} alone")
    folder_of_run = os.path.relpath(files["settings"].parent, Path(out).parent)
    text, used = typst_text(files)
    content = _content(files, folder_of_run)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file in (REFERENCES, *SOURCE.iterdir()):
            shutil.copy(file, place)
        (place / TEXT.name).write_text(text, encoding="utf-8")
        for name in _figures():
            target = place / f"{name}.svg"
            target.parent.mkdir(exist_ok=True)
            shutil.copy(inputs.find_file(f"{name}.svg", files), target)
        (place / "run.json").write_text(json.dumps(content), encoding="utf-8")
        try:
            pdf = typst.compile(
                str(place / TEXT.name), root=folder, ignore_system_fonts=True, timestamp=0
            )
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0]
            raise InputError(f"the article cannot be built: {reason}") from None
    numbers.write_numbers(used, Path(out).with_name("article_numbers.csv"))
    with replacing(out) as temporary:
        temporary.write_bytes(pdf)
    return ": ".join(filter(None, [content["results"], content["status"]]))


def typst_text(files: Files) -> tuple[str, dict[str, numbers.PrintedNumber]]:
    """Return the text with the numbers of a run, which link to their files, and these by name.

    Raises:
        InputError: a sentence assumes another verdict than that of the run.
    """

    def look(number: numbers.PrintedNumber) -> str:
        words = (json.dumps(part, ensure_ascii=False) for part in (number.text, number.file))
        return f"#number({', '.join(words)})"

    def otherwise(name: str, assumed: str, actual: str) -> str:
        remark = f"[In this run `{name}` is “{actual}”; the full run has “{assumed}”.]"
        return f'#text(style: "italic")[{remark}]'

    sentences, source = Sentences(files, look, otherwise), TEXT.read_text(encoding="utf-8")
    text = jinja2.Template(source, undefined=jinja2.StrictUndefined).render(sentences.names())
    return text, sentences.used


def _figures() -> list[str]:
    """Return the names of the run's figures that the text shows."""
    names = re.findall(r'run-figure\("(\w+)"', TEXT.read_text(encoding="utf-8"))
    return [f"figures/{name}" for name in names]


def _content(files: Files, folder: str = ".") -> dict[str, Any]:
    """Return what the source reads as ``run.json``; ``folder`` is the run's, for links."""
    sources = [inputs.provenance(path) for path in inputs.data_sets(files)]
    simulated = any(source["status"] == "simulated" for source in sources)
    claims = inputs.read_input("claims", files)
    words = claims.assign(verdict=[findings.text(row) for row in claims.to_dict("records")])
    return {
        "folder": Path(folder).as_posix(),
        "mark": _mark(claims),
        "tables": _tables(files, sources),
        "claims": words[_CLAIM_COLUMNS].to_dict("records"),
        "simulated": simulated,
        "status": missing_parts(files),
        "results": _results(files["settings"].parent),
        "project": citations.read_project(),
        "software": _software(),
    }


def _mark(claims: pd.DataFrame) -> str:
    """Return the title's prefix: failed unless half of the claims on experiments are reproduced."""
    facts = findings.facts(claims)
    verdicts = facts.loc[facts["claim_type"].eq(findings.EXPERIMENT), "verdict"]
    reproduced = verdicts.isin([findings.REPRODUCED, findings.NARROWER]).sum()
    return REPLICATED if 2 * reproduced >= len(verdicts) else FAILED


def _results(folder: Path) -> str:
    """Return what readers call the folder of a run: its path below the current one, or its name."""
    if folder.resolve() == KEPT.resolve():
        return "the kept results, results/reference"
    return f"the run in {folder.name if folder.is_absolute() else folder}"


def _software() -> str:
    names = ("snakemake", "numpy", "scipy", "pandas", "matplotlib", "jax", "dp-accounting")
    pins = Path(SOURCE.parent, "requirements.lock").read_text(encoding="utf-8")
    versions = dict(re.findall(r"^([\w-]+)==([\w.]+)", pins, re.MULTILINE))
    return ", ".join(f"{name} {versions[name]}" for name in names if name in versions)


def _tables(files: Files, sources: list[dict[str, Any]]) -> dict[str, Any]:
    tables = {}
    for name in RESULTS:
        tables[name], tables[f"{name}_beyond"] = _results_of(files, name)
    tables["data"] = {
        "header": ["Data set", "Publisher", "Records used", "Checksum"],
        "groups": [["", [_data_row(source) for source in sources]]],
    }
    tables["gradients"] = _gradients(files)
    tables["advice"] = _advice(files)
    if (name := "tables/second_seed") in files:
        sheet = inputs.read_sheet(name, files)
        headers = [heading.print for heading in sheet.headings if heading.print]
        every = (line for group in sheet.groups for line in group.lines)
        tables["second_seed"] = _print(sheet, headers, every, brief=headers)
    return tables


def _results_of(files: Files, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a table of results in print: the paper's own rows, and those beyond the paper."""
    sheet = inputs.read_sheet(f"tables/{name}", files)
    groups = {group.title: group.lines for group in sheet.groups}
    printed = [heading for heading in sheet.headings if heading.print]
    published = [heading.print for heading in printed if heading.published]
    method, *ours = (heading.print for heading in printed if not heading.published)
    # What the paper prints stands before ours.
    headers = [method, *published, *ours]
    # Without the paper's columns there is room for intervals.
    others = [*groups.get(BEYOND, ()), *groups.get(FURTHER, ())]
    beyond = _print(sheet, [method, *ours], others, brief=[method])
    return _print(sheet, headers, groups.get("", ()), brief=headers), beyond


def _print(
    sheet: Sheet,
    headers: Sequence[str],
    lines: Iterable[Sequence[Cell]],
    brief: Collection[str],
) -> dict[str, Any]:
    """Return lines in print, as one group without a title.

    ``headers`` are those of the columns in their order, ``brief`` those of narrow ones.
    """
    names = [heading.print for heading in sheet.headings]
    places = [names.index(header) for header in headers]

    def text(cell: Cell, header: str) -> str:
        words = cell.brief if header in brief and cell.brief else cell.whole
        return catalogue.shorten_remark(words, TUNED)

    rows = [[text(line[place], names[place]) for place in places] for line in lines]
    return {"header": headers, "groups": [["", rows]]}


def _data_row(source: Mapping[str, Any]) -> list[str]:
    digest = (source.get("content_sha256") or {}).get("found") or ""
    records = source.get("rows_used") or source["records_shape"][0]
    # MNIST's official test file is read and not used.
    records -= (source.get("arrays") or {}).get("official_labels", {"shape": [0]})["shape"][0]
    return [source["title"], source.get("publisher", ""), f"{records:,}", digest[:12]]


def _gradients(files: Files) -> dict[str, Any]:
    """Return the schemes on gradients in print, at the tables' epsilon, by data set."""
    groups, header = [], ["Scheme", "Accuracy", "Delivered ε", "Privacy"]
    for training in GRADIENTS:
        if (name := f"tables/imgm_{training}") not in files:
            continue
        sheet = inputs.read_sheet(name, files)
        parts = (group.lines for group in sheet.groups if group.title != OF_CODE)
        (_, rows), *_ = _print(sheet, header, itertools.chain(*parts), brief=header)["groups"]
        title = catalogue.experiment(training).name
        trials = inputs.read_input(name, files)["n_trials"].max()
        groups.append([f"{title}, {trials:.0f} trials", rows])
    return {"header": header, "groups": groups}


def _advice(files: Files) -> dict[str, Any]:
    rows = pd.DataFrame(inputs.read_input("tables/advice", files))
    settings = inputs.read_input("settings", files)
    claimed_epsilon = float(settings["table_epsilon"])
    rows = rows[rows["epsilon"].eq(claimed_epsilon)].groupby("experiment", sort=False).last()
    lines = []
    for name, row in rows.iterrows():
        best = f"{row['best']}; alike: {row['tied_with']}" if row["tied"] else row["best"]
        if row["outcome"] == "few":
            best = f"No winner in {row['n_trials']:.0f} trials; ahead: {row['best']}"
        elif row["outcome"] == "none":
            best = "None is clearly better than the baseline"
        entries = (row["error"], row["baseline_error"], row["nonprivate"])
        place = markup.format_value(row.get("place"))
        task = ", ".join(filter(None, [catalogue.experiment(str(name)).title, place]))
        lines.append(
            [
                task,
                catalogue.shorten_remark(best, TUNED),
                *(markup.significant(float(x)) for x in entries),
            ]
        )
    header = ["Task", "Mechanism", "Result", "Baseline", "Non-private"]
    return {"header": header, "groups": [["", lines]]}
