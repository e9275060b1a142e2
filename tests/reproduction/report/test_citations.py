"""One home for citations: every mechanism, scheme and data set has its works there, or says so."""

import re

import pandas as pd
import pytest
import yaml
from packages import KEPT, ROOT

from reproduction import catalogue, discovery
from reproduction.data import datasets
from reproduction.report import citations, inputs

WORKS = {
    key: dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", text, re.MULTILINE))
    for key, text in citations.works().items()
}
PAPERS = {"mvg", "mvg-full", "imgm"}


def make(folder, *runs, **instead):
    """Return the BibTeX of kept experiments by key; ``instead`` are other files by name."""
    every = inputs.files_of_folder(KEPT)
    names = [name for run in runs for name in (f"summary/{run}",)]
    tables = [pd.read_csv(every[name]) for name in names]
    names += sorted({f"data/{name}" for table in tables for name in table["dataset"]})
    files = {name: every[name] for name in names}
    files |= {"CITATION.cff": ROOT / "CITATION.cff", **instead}
    citations.write_citations(files, folder / "citations.bib")
    text = (folder / "citations.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+{([\w-]+),\n(.*?)^}$", text, re.MULTILINE | re.DOTALL)
    assert len(entries) == text.count("@")
    assert text.count("{") == text.count("}")
    return dict(entries)


def test_every_mechanism_scheme_and_data_set_names_its_works():
    cite = catalogue.section("cite")
    named = {name for part in cite.values() for keys in part.values() for name in keys}
    assert named <= WORKS.keys()
    private = catalogue.legends().keys() - {*catalogue.BASELINES}
    assert private <= cite["mechanisms"].keys() <= private | discovery.mechanisms().keys()
    for perturbation in ("gradients", "features"):
        schemes = catalogue.schemes(perturbation)
        assert schemes.keys() <= cite["mechanisms"].keys() | cite.get(perturbation, {}).keys()
        assert cite.get(perturbation, {}).keys() <= schemes.keys()
    assert cite["datasets"].keys() == datasets.specs().keys()


def test_every_work_is_cited_once():
    article = (ROOT / "workflow/article/article.typ").read_text(encoding="utf-8")
    in_article = {*re.findall(r"@([\w-]+)", article)} & WORKS.keys()
    cite = catalogue.section("cite")
    named = {name for part in cite.values() for keys in part.values() for name in keys}
    assert named | in_article == WORKS.keys()
    titles = [work["title"].casefold() for work in WORKS.values()]
    assert len({*titles}) == len(titles)


@pytest.mark.parametrize("name", sorted(datasets.specs()))
def test_the_text_of_a_data_set_names_the_same_works(name):
    text = " ".join(datasets.find_dataset(name).citation.split()).casefold()
    for key in catalogue.section("cite")["datasets"][name]:
        work = WORKS[key]
        assert work["title"].casefold() in text
        assert work["year"] in text
        assert work["author"].partition(",")[0].strip("{}").casefold() in text
        assert work.get("doi", "").casefold() in text
        assert work.get("pages", "").replace("--", "-") in text or key == "planetoid"


def test_the_papers_are_those_of_the_project_file():
    references = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    for key, paper in zip(("mvg", "imgm"), references, strict=True):
        work = WORKS[key]
        assert paper["title"].casefold() == work["title"].casefold()
        assert str(paper["year"]) == work["year"]
        names = [f"{one['family-names']}, {one['given-names']}" for one in paper["authors"]]
        assert " and ".join(names) == work["author"]


def test_exactly_the_works_of_a_run(tmp_path):
    found = make(tmp_path, "first_pc")
    mechanisms = {
        *("analyze-gauss", "dwork-ourselves", "dwork-roth", "balle-wang", "dwork-noise", "ppca"),
        *("jl", "wei", "joseph", "gdp", "dong-liang-yi", "coordinates"),
    }
    assert found.keys() == PAPERS | mechanisms | {"movement", "matrixdp"}
    # K-norm noise is not for this query, and private training is another experiment.
    assert not {"hardt-talwar", "kov", "liver"} & found.keys()
    assert {"kov", "adult"} <= make(tmp_path, "adult").keys()
    assert "kov" not in make(tmp_path, "imdb")
    fields = found["jl"]
    assert (
        "  author = {Blocki, Jeremiah and Blum, Avrim and Datta, Anupam and Sheffet, Or}," in fields
    )
    assert "  pages = {410--419}," in fields
    assert "  doi = {10.1109/FOCS.2012.67}," in fields
    assert "  eprint = {2104.14808}," in found["imgm"]


def test_what_nobody_entered_has_a_note_and_no_reference(tmp_path):
    summary = tmp_path / "first_pc.csv"
    text = (KEPT / "summary/first_pc.csv").read_text().replace(",laplace,", ",wishart_1,")
    summary.write_text(text.replace(",goe,", ",abroad (of B),"))
    found = make(tmp_path, "first_pc", **{"summary/first_pc": summary})
    assert "dwork-noise" not in found
    assert found["abroad_of_B"] == "  title = {{abroad (of B)}},\n  note = {no reference known},\n"
    assert found["wishart_1"].startswith("  title = {{wishart\\_1}},\n")
