"""Build the article: numbers, tables and figures of a run beside the source, typeset by Typst."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from matrixdp.checks import InputError
from reproduction import catalogue, job_settings
from reproduction.files import replacing
from reproduction.report import inputs, markup
from reproduction.report.article import numbers
from reproduction.report.claims import findings
from reproduction.report.inputs import Files
from reproduction.report.tables.training import DAGGER

SOURCE = Path(__file__).parents[3] / "article"
REFERENCES = SOURCE.with_name("references.yaml")
KEPT = SOURCE.parents[1] / "results" / "reference"
KEPT_ARTICLE = "results/kept/article.pdf"

#: Columns of the tables of results in print: those of the paper's own rows, by the powers of ten of
#: the paper's units and the rows that ratios divide by, and those of the rows beyond the paper.
_UNITS = {"table3": ("1e-2", "10⁻²"), "table4": ("1e-1", "10⁻¹"), "table5": ("1e-2", "10⁻²")}
_OURS = {"table3": "Ours (RMSE)", "table4": "Ours (Delta rho)", "table5": "Ours (RSS)"}
_BASES = {"table3": "non-private", "table4": "random guess", "table5": "random guess"}
_VERDICT = {"Against baseline": "Against baseline", "Tight epsilon": "Tight ε"}
BEYOND = "Beyond the paper"

#: Columns of the table of claims.
_CLAIM_COLUMNS = ["id", "paper", "claim", "place", "evidence", "verdict"]

#: The mark of mechanisms whose rule was tuned on the papers' data.
TUNED = "*"

#: A number of a paper's own list of references, which is another work in the article's.
_REFERENCE = re.compile(r" \[\d+\]")

#: The interval of a ratio, which a table in print has no room for: "1.3 ± 0.1", "(3.5 ± 0.6)e-5".
_INTERVAL = re.compile(r"[()]| ± [\d.]+")

#: Prefixes of titles in the metadata of ReScience C: of a successful and of a failed replication.
REPLICATED, FAILED = "[Re]", "[¬Re]"


def of_run(folder: str | os.PathLike) -> Files:
    """Return the files of a run by name.

    Raises:
        InputError: the folder has no results.
    """
    if not Path(folder, inputs.SETTINGS).is_file():
        raise InputError(
            f"{os.fspath(folder)} has no results, as it lacks {inputs.SETTINGS}; run `snakemake`, "
            "or leave --results out to typeset the kept ones"
        )
    return inputs.below(folder)


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
    settings = inputs.read("settings", files)
    if not job_settings.on_papers(settings):
        names = ", ".join([*settings["experiments"], *(settings.get("training") or ())])
        raise InputError(f"the article is on the papers' experiments, and the run on {names} alone")
    values = numbers.collect(numbers.read_entries(SOURCE / "numbers.yaml"), files)
    folder_of_run = os.path.relpath(files["settings"].parent, Path(out).parent)
    content = _content(files, values, folder_of_run)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file in (REFERENCES, *SOURCE.iterdir()):
            shutil.copy(file, place)
        for name in _figures():
            target = place / f"{name}.svg"
            target.parent.mkdir(exist_ok=True)
            shutil.copy(inputs.find(f"{name}.svg", files), target)
        (place / "run.json").write_text(json.dumps(content), encoding="utf-8")
        try:
            pdf = typst.compile(
                str(place / "article.typ"), root=folder, ignore_system_fonts=True, timestamp=0
            )
        except RuntimeError as error:
            raise InputError(f"the article cannot be built: {_sentence(str(error))}") from None
    numbers.write(values, Path(out).with_name("article_numbers.csv"))
    with replacing(out) as temporary:
        temporary.write_bytes(pdf)
    return ": ".join(filter(None, [content["results"], content["status"]]))


def _figures() -> list[str]:
    """Return the names of the run's figures that the text shows."""
    text = (SOURCE / "article.typ").read_text(encoding="utf-8")
    return [f"figures/{name}" for name in re.findall(r'run-figure\("(\w+)"', text)]


def _sentence(message: str) -> str:
    """Return what a panic says, without Typst's trace."""
    panic = re.search(r'panicked with: "(.*?)"(\n|$)', message, re.DOTALL)
    return panic.group(1).replace('\\"', '"') if panic else message.strip().splitlines()[0]


def _content(
    files: Files, values: Mapping[str, numbers.Number], folder: str = "."
) -> dict[str, Any]:
    """Return what the source reads as ``run.json``; ``folder`` is the run's, for links."""
    settings = inputs.read("settings", files)
    sources = [inputs.provenance(path) for path in inputs.data_sets(files)]
    simulated = any(source["status"] == "simulated" for source in sources)
    claims = pd.DataFrame(inputs.read("claims", files))
    return {
        "numbers": {
            name: {"text": value.text, "file": value.file} for name, value in values.items()
        },
        "folder": Path(folder).as_posix(),
        "mark": _mark(claims),
        "tables": _tables(files, sources),
        "claims": claims[_CLAIM_COLUMNS].fillna("").to_dict("records"),
        "simulated": simulated,
        "strict": not simulated and not _absent(settings, files) and _is_full(settings),
        "status": _status(settings, files, simulated),
        "results": _results(files["settings"].parent),
        "project": _project(),
        "software": _software(),
    }


def _mark(claims: pd.DataFrame) -> str:
    """Return the title's prefix: failed unless half of the claims on experiments are reproduced."""
    facts = findings.facts(claims)
    verdicts = facts.loc[facts["claim_type"].eq(findings.EXPERIMENT), "verdict"]
    reproduced = verdicts.str.startswith("reproduced").sum()
    return REPLICATED if 2 * reproduced >= len(verdicts) else FAILED


def _results(folder: Path) -> str:
    """Return what readers call the folder of a run: its path below the current one, or its name."""
    if folder.resolve() == KEPT.resolve():
        return "the kept results, results/reference"
    return f"the run in {folder.name if folder.is_absolute() else folder}"


def _is_full(settings: Mapping[str, Any]) -> bool:
    """Return whether the settings are those that the text is written for."""
    path = KEPT / "settings.yaml"
    if not path.is_file():
        return True
    reference = yaml.safe_load(path.read_text(encoding="utf-8"))
    names = ("experiments", "training", "reading")
    return all(settings.get(name) == reference.get(name) for name in names)


def _absent(settings: Mapping[str, Any], files: Files) -> list[str]:
    """Return the titles of experiments in the settings that were not run."""
    names = [*settings["experiments"], *(settings.get("training") or ())]
    absent = [name for name in names if f"summary/{name}" not in files]
    return [catalogue.experiment(name).title for name in absent]


def _status(settings: Mapping[str, Any], files: Files, simulated: bool) -> str:
    if simulated:
        return "Simulated data: a test of the workflow, not a result"
    if absent := _absent(settings, files):
        return f"A run without {' and '.join(absent)}"
    return "" if _is_full(settings) else "A run with other settings than the full one"


def _project() -> dict[str, Any]:
    """Return authors, version, address and archive identifiers, as CITATION.cff has them."""
    citation = yaml.safe_load((SOURCE.parents[1] / "CITATION.cff").read_text(encoding="utf-8"))
    authors = [
        {
            "name": author.get("name") or f"{author['given-names']} {author['family-names']}",
            "orcid": author.get("orcid", ""),
            "email": author.get("email", ""),
        }
        for author in citation["authors"]
    ]
    identifiers = [entry["value"] for entry in citation.get("identifiers", ())]
    return {
        "authors": authors,
        "version": str(citation["version"]),
        "license": citation["license"],
        "address": citation.get("repository-code", ""),
        "archives": [*filter(None, [citation.get("doi")]), *identifiers],
    }


def _software() -> str:
    names = ("snakemake", "numpy", "scipy", "pandas", "matplotlib", "jax", "dp-accounting")
    pins = Path(SOURCE.parent, "requirements.lock").read_text(encoding="utf-8")
    versions = dict(re.findall(r"^([\w-]+)==([\w.]+)", pins, re.MULTILINE))
    return ", ".join(f"{name} {versions[name]}" for name in names if name in versions)


def _tables(files: Files, sources: list[dict[str, Any]]) -> dict[str, Any]:
    tables = {}
    for name in _UNITS:
        tables[name], tables[f"{name}_beyond"] = _comparison(files, name)
    tables["data"] = {
        "header": ["Data set", "Publisher", "Records used", "Checksum"],
        "groups": [["", [_data_row(source) for source in sources]]],
    }
    tables["gradients"] = _gradients(files)
    tables["advice"] = _advice(files)
    return tables


def _comparison(files: Files, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a table of results in print: the paper's own rows, and those beyond the paper."""
    grid = _grid(files, name)
    (printed, unit), base = _UNITS[name], _BASES[name]
    ours = {_OURS[name]: "Here (1)", f"Ours / {base}": f"Here / {base}"}
    paper = _OURS[name].replace("Ours (", "Paper (").replace(")", f"; printed, {printed})")
    theirs = {paper: f"Paper (printed, {unit})", f"Paper / {base}": f"Paper / {base}"}
    of_paper = {"Method": "Method"} | theirs | ours | _VERDICT
    beyond = {"Method": "Method"} | ours | _VERDICT
    own = _cut(_part(grid, ""), of_paper)
    for _, rows in own["groups"]:
        for row in rows:
            row[2], row[4] = (_INTERVAL.sub("", row[place]) for place in (2, 4))
    return own, _cut(_part(grid, BEYOND), beyond)


def _part(grid: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return a grid with the group of a title alone, without the title."""
    groups = [["", rows] for name, rows in grid["groups"] if name == title]
    return {"header": grid["header"], "groups": groups}


def _data_row(source: Mapping[str, Any]) -> list[str]:
    digest = (source.get("content_sha256") or {}).get("found") or ""
    records = source.get("rows_used") or source["records_shape"][0]
    # MNIST's official test file is read and not used.
    records -= (source.get("arrays") or {}).get("official_labels", {"shape": [0]})["shape"][0]
    return [source["title"], source.get("publisher", ""), f"{records:,}", digest[:12]]


def _grid(files: Files, name: str) -> dict[str, Any]:
    path = files.get(f"tables/{name}.json", Path(f"{name}.json"))
    with inputs.file_errors(path):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def _cut(grid: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return a grid with the named columns only, under their names in print.

    A column that a short run lacks, such as one over a baseline that it does not run, is empty.
    """
    groups = []
    for title, rows in grid["groups"]:
        cells = [dict(zip(grid["header"], row, strict=True)) for row in rows]
        groups.append(
            [title, [[_in_print(row.get(name, "")) for name in columns] for row in cells]]
        )
    return {"header": [*columns.values()], "groups": groups}


def _in_print(cell: str) -> str:
    """Return a cell without a paper's reference numbers, and with a mark for tuned mechanisms."""
    return _REFERENCE.sub("", cell).replace(f" ({catalogue.section('tuned')})", TUNED)


def _gradients(files: Files) -> dict[str, Any]:
    claimed_epsilon = inputs.read("settings", files)["table_epsilon"]
    groups = []
    names = ("imgm_adult", "imgm_cora", "imgm_mnist")
    for name in (name for name in names if f"tables/{name}.json" in files):
        grid = _grid(files, name)
        epsilons = [header for header in grid["header"] if header[0].isdigit()]
        # A table is of its largest epsilon where the tables' one was not run.
        accuracy = {claimed_epsilon if claimed_epsilon in epsilons else epsilons[-1]: "Accuracy"}
        words = {"Scheme": "Scheme"} | accuracy | {"Tight epsilon": "Tight ε", "Privacy": "Privacy"}
        grid = _cut(grid, words)
        rows = [
            [cell.rstrip(DAGGER) for cell in row]
            for _, part in grid["groups"]
            for row in part
            if "code" not in row[0]
        ]
        title = catalogue.experiment(name.removeprefix("imgm_")).name
        n_trials = pd.DataFrame(inputs.read(f"tables/{name}", files))["n_trials"].max()
        groups.append([f"{title}, {n_trials:.0f} trials", rows])
    return {"header": grid["header"], "groups": groups}


def _advice(files: Files) -> dict[str, Any]:
    rows = pd.DataFrame(inputs.read("tables/advice", files))
    settings = inputs.read("settings", files)
    claimed_epsilon = float(settings["table_epsilon"])
    rows = (
        rows[pd.to_numeric(rows["epsilon"]).eq(claimed_epsilon)]
        .groupby("experiment", sort=False)
        .last()
    )
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
        lines.append([task, _in_print(best), *(numbers.short(float(x)) for x in entries)])
    header = ["Task", "Mechanism", "Result", "Baseline", "Non-private"]
    return {"header": header, "groups": [["", lines]]}
