"""Some experiments alone: few jobs, no claims, the same trials, and a page on them alone."""

from __future__ import annotations

import re

import pytest
from test_recipes import follow
from tinyproject import LOUD, TINY, jobs_of

from reproduction.report import page

pytestmark = pytest.mark.slow

#: Rules on the papers as a whole.
OF_PAPERS = ("theory", "judge_claims", "negative_control", "held_out", "readings_trials", "article")
ALONE = ["--config", "only=[covariance]"]


def test_one_experiment_is_a_few_jobs_and_leaves_the_trials_of_all(fresh):
    price = "results/tables/price.md"
    whole, part = fresh.plan(price), fresh.plan(price, *ALONE)
    # A matrix, two releases, their summary, two audits and the table that gathers them.
    assert part.jobs < whole.jobs
    assert {name for name in part.jobs if name.startswith("trials/")} == {
        name for name in jobs_of("covariance") if name.startswith("trials/")
    }
    everything = fresh.plan(*ALONE)
    assert not {*OF_PAPERS} & {*everything.counts}
    assert {"report", "ro_crate", "experiment_table", "experiment_figure"} <= {*everything.counts}
    assert {name.split("/")[1] for name in everything.jobs if name.count("/") > 1} == {"covariance"}


def test_the_page_on_one_experiment_is_on_it_alone(fresh):
    mine = {"task": "covariance", "dataset": "ctg", "mechanisms": ["random", "nonprivate"]}
    mine["mechanisms"] += ["analytic_gaussian", "laplace"]
    fresh.configure(experiments={**TINY["experiments"], "mine": mine})
    fresh.make("results/report.html", "--config", "only=[mine]")
    trials = fresh.results("trials")
    html = (fresh.folder / "results/report.html").read_text(encoding="utf-8")
    shown = re.findall(r'<section class="chapter[^"]*" id="(\w+)">', html)
    assert shown[:2] == ["mine", "recommend"]
    assert {*shown[2:]} <= {*page.PART_SECTIONS, "glossary"}
    assert re.findall(r'<li><a href="#(\w+)"', html) == ["top", *shown]
    # Of the papers nothing is said; a claimed epsilon is one that a mechanism promises.
    seen = re.sub(r"<(style|script)>.*?</\1>", "", html[: html.index('id="glossary"')], flags=re.S)
    seen = seen.replace("as the MVG paper states it", "")  # one of the attacks of the audit
    for words in ("MVG", "IMGM", "Two papers", "six sentences", "Not built", "0 of 0", "table3"):
        assert words not in seen, words
    assert "snakemake results/tables/mine.csv --config &#39;only=[mine]&#39;" in html
    # A full run takes these trials as they are.
    assert not [name for name in fresh.plan().jobs if name.startswith("trials/mine")]
    assert fresh.results("trials") == trials


def test_a_table_and_a_figure_on_another_experiment_are_left_out(fresh):
    ((table,),), ((figure,),) = (follow(fresh, title) for title in ("A table", "A figure"))
    for file in (table, figure):
        name = file.removeprefix("results/").removesuffix(".md").removesuffix(".svg")
        assert [job for job in fresh.plan().jobs if job.startswith(name)]
        assert not [job for job in fresh.plan(*ALONE).jobs if job.startswith(name)]


def test_a_wrong_name_is_one_sentence_at_planning(fresh):
    outcome = fresh.snakemake("--dry-run", *LOUD, "--config", "only=[covarianc]")
    assert outcome.code == 1
    assert "config.yaml: only[0] is 'covarianc'; did you mean 'covariance'?" in outcome.output
    assert "Traceback" not in outcome.output
