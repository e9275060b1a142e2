"""A data set of one's own in an overlay: few jobs, no claims, and a page on it alone."""

from __future__ import annotations

import re

import pytest
from test_recipes import follow, targets
from tinyproject import TINY

from reproduction.report import page

pytestmark = pytest.mark.nightly

#: Rules on the papers as a whole.
OF_PAPERS = ("theory", "judge_claims", "negative_control", "held_out", "readings_trials", "article")


def test_the_page_on_an_experiment_of_ones_own_is_on_it_alone(fresh):
    mine = {"task": "covariance", "dataset": "ctg", "mechanisms": ["random", "nonprivate"]}
    mine["mechanisms"] += ["analytic_gaussian", "laplace"]
    fresh.configure(experiments={"mine": mine})
    everything = fresh.plan()
    assert not {*OF_PAPERS} & {*everything.counts}
    assert {"report", "ro_crate", "table", "figure"} <= {*everything.counts}
    fresh.make("results/report.html")
    html = (fresh.folder / "results/report.html").read_text(encoding="utf-8")
    shown = re.findall(r'<section class="chapter[^"]*" id="(\w+)">', html)
    assert shown[:2] == ["mine", "recommend"]
    assert {*shown[2:]} <= {*page.PART_SECTIONS}
    assert re.findall(r'<li><a href="#(\w+)"', html) == ["top", *shown]
    # Of the papers nothing is said before what was done, which cites them; a claimed epsilon is one
    # that a mechanism promises.
    seen = re.sub(r"<(style|script)>.*?</\1>", "", html[: html.index('id="how"')], flags=re.S)
    for words in ("MVG", "IMGM", "Two papers", "papers' data", "Not built", "0 of 0", "table3"):
        assert words not in seen, words
    assert "snakemake results/tables/mine.csv" in html


def test_a_table_and_a_figure_on_another_experiment_are_left_out(fresh):
    table, figure = targets(follow(fresh, "least_noise.py", "noise_first_pc.py"))
    covariance = {"experiments": {"covariance": TINY["experiments"]["covariance"]}}
    for file in (table, figure):
        name = file.removeprefix("results/").removesuffix(".md").removesuffix(".svg")
        fresh.configure()
        assert [job for job in fresh.plan().jobs if job.startswith(name)]
        fresh.configure(**covariance)
        assert not [job for job in fresh.plan().jobs if job.startswith(name)]
