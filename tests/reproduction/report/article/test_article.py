"""The article: no typed number, no sentence that outlives its verdict, the same bytes twice."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from matrixdp.checks import InputError
from reproduction import cli
from reproduction.report import citations, inputs
from reproduction.report.article import build

pytest.importorskip("typst")

REFERENCE = Path("results/reference")
SOURCE = Path("workflow/article/article.typ")

#: Numerals that are no results: names, and the level of all confidence intervals.
NAMES = ("SHA-256", "CIFAR-10", "95 %", "1e-4")

#: What has numerals of its own: code, labels, formulas, places in the papers.
ASIDE = (
    r"(?ms)^```.*?^```",
    r"(?m)^#(import|set|counter|bibliography|show).*$",
    r"(?s)\{\{.*?\}\}",
    r"(?s)\{%.*?%\}",
    r"#printed\(\"[^\"]*\",\s*\"[^\"]*\"\)",
    r"#(made-from|file)\([^()]*(\([^()]*\)[^()]*)*\)",
    r"results-table\([^()]*(\([^()]*\)[^()]*)*\)",
    r"run-figure\(\"\w+\"",
    r"[@<][\w-]+>?",
    r"\$[^$]*\$",
    r"\b[MI]\d+\b",
    r"(Theorem|Table|Figure|Section|Lemma|Algorithm|Appendix)s?\s+\d+(\.\d+)*(\s+(to|and)\s+\d+)?",
)


def typed(text: str) -> list[str]:
    """Return the numerals of an article's source that somebody typed."""
    for name in NAMES:
        text = text.replace(name, "")
    for pattern in ASIDE:
        text = re.sub(pattern, " ", text)
    return re.findall(r"\d[\d.,]*", text)


def test_no_number_is_typed():
    assert typed(SOURCE.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("sentence", ["an RMSE of 0.183", "in 41 cases", "7 hold"])
def test_a_typed_number_is_found(sentence):
    assert typed(sentence)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Return a copy of the kept results that a test may change."""
    folder = tmp_path_factory.mktemp("kept") / "results"
    others = shutil.ignore_patterns("quick", "images", "mnist")
    return Path(shutil.copytree(REFERENCE, folder, ignore=others))


def test_the_same_results_give_the_same_bytes_with_links_to_their_files(reference, tmp_path):
    first, second = tmp_path / "1" / "article.pdf", tmp_path / "2" / "article.pdf"
    build.build(inputs.files_of_folder(reference), first)
    build.build(inputs.files_of_folder(reference), second)
    assert first.read_bytes() == second.read_bytes()
    table = pd.read_csv(first.with_name("article_numbers.csv"))
    assert {"name", "text", "value", "rounding", "source", "file"} == {*table.columns}
    # Every number and figure links to a file of the run.
    text, _ = build.typst_text(inputs.files_of_folder(reference))
    files = {*table["file"]}
    files |= {f"figures/data/{name}.csv" for name in re.findall(r'run-figure\("(\w+)"', text)}
    files |= {*re.findall(r'"((?:tables|figures)/[\w/]+\.\w+)"', text)}
    assert len(files) > 20
    assert not [file for file in files if not (reference / file).is_file()]


def test_another_verdict_stops_the_build_and_names_the_sentence(reference, tmp_path):
    claims = pd.read_csv(reference / "claims.csv")
    changed = tmp_path / "results"
    shutil.copytree(reference, changed)
    claims.loc[claims["id"].eq("M16"), "verdict"] = "undecided"
    claims.to_csv(changed / "claims.csv", index=False)
    with pytest.raises(
        InputError, match=r"Theorem 3 beats MVG with Theorem 2.*claims\.M16"
    ) as stop:
        build.build(inputs.files_of_folder(changed), tmp_path / "article.pdf")
    assert "rewrite the sentence" in str(stop.value)
    assert not (tmp_path / "article.pdf").exists()


def test_a_shorter_run_says_where_its_verdicts_differ(reference, tmp_path):
    changed = tmp_path / "results"
    shutil.copytree(reference, changed)
    claims = pd.read_csv(changed / "claims.csv")
    claims["verdict"] = "undecided"
    claims.to_csv(changed / "claims.csv", index=False)
    settings = (changed / "settings.yaml").read_text(encoding="utf-8")
    (changed / "settings.yaml").write_text(settings.replace("trials: 100", "trials: 5"))
    build.build(inputs.files_of_folder(changed), tmp_path / "article.pdf")
    assert (tmp_path / "article.pdf").stat().st_size > 20_000


def test_authors_version_and_archive_are_those_of_the_project_file():
    citation = yaml.safe_load(Path("CITATION.cff").read_text(encoding="utf-8"))
    project = citations.read_project()
    assert project["version"] == citation["version"]
    assert [author["name"] for author in project["authors"]] == [
        author.get("name") or f"{author['given-names']} {author['family-names']}"
        for author in citation["authors"]
    ]
    assert bool(project["archives"]) == bool({"doi", "identifiers"} & {*citation})


def test_the_terminal_and_the_article_say_which_results_are_shown(reference, tmp_path, capsys):
    out = tmp_path / "kept.pdf"
    assert cli.main(["article", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out} shows the kept results, results/reference\n"
    assert cli.main(["article", "--results", str(reference)]) == 0
    own = reference / "article.pdf"
    assert capsys.readouterr().out == f"{own} shows the run in results\n"
    content = build._content(inputs.files_of_folder(reference))
    assert content["results"] == "the run in results"
    assert own.read_bytes() != out.read_bytes(), "the same numbers under another name"


def test_other_results_are_one_sentence_and_never_the_kept_ones(reference, tmp_path, capsys):
    nothing = tmp_path / "nothing"
    assert cli.main(["article", "--results", str(nothing)]) == 2
    assert f"{nothing} has no results, as it lacks settings.yaml" in capsys.readouterr().err
    alone = tmp_path / "results"
    shutil.copytree(reference, alone, ignore=shutil.ignore_patterns("*.pdf"))
    settings = (alone / "settings.yaml").read_text(encoding="utf-8")
    other = re.sub("(?m)^reading: .*", "reading: zeta=literal", settings)
    (alone / "settings.yaml").write_text(other)
    assert cli.main(["article", "--results", str(alone)]) == 2
    assert "the article is on the papers' experiments, and" in capsys.readouterr().err
    (alone / "settings.yaml").write_text(settings)
    (alone / "tables" / "table4.json").unlink()
    assert cli.main(["article", "--results", str(alone)]) == 2
    assert "tables/table4.json is not among the files" in capsys.readouterr().err
    assert not [*tmp_path.rglob("*.pdf")]
