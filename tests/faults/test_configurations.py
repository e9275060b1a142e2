"""Hundreds of wrong configurations: one sentence for each, before anything runs."""

from __future__ import annotations

import copy
import re

import mutations
import pytest
import yaml

from matrixdp import config
from matrixdp.checks import InputError

FROM_SCHEMA = dict(mutations.from_schema())


def refused(excinfo, pattern=""):
    text = str(excinfo.value)
    assert "\n" not in text
    assert re.search(pattern, text), text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the shipped configuration, to work in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(mutations.SHIPPED))
    return tmp_path


def test_there_are_many_and_the_shipped_one_is_none_of_them():
    kinds = (FROM_SCHEMA, mutations.BY_HAND, mutations.FILES, mutations.ARGUMENTS)
    assert sum(map(len, kinds)) >= 400
    config.resolve(copy.deepcopy(mutations.SHIPPED))


@pytest.mark.parametrize("name", FROM_SCHEMA)
def test_what_breaks_the_schema_is_one_sentence(name):
    with pytest.raises(InputError) as caught:
        config.resolve(FROM_SCHEMA[name])
    refused(caught, "^config.yaml")


@pytest.mark.parametrize("name", mutations.BY_HAND)
def test_what_only_a_job_would_notice_is_one_sentence(name):
    changed, pattern = mutations.BY_HAND[name]
    with pytest.raises(InputError) as caught:
        config.resolve(copy.deepcopy(changed))
    refused(caught, pattern)


@pytest.mark.parametrize("name", mutations.FILES)
def test_a_file_that_says_something_else_than_it_seems_is_one_sentence(folder, name):
    content, pattern = mutations.FILES[name]
    (folder / "overlay.yaml").write_bytes(content)
    with pytest.raises(InputError) as caught:
        config.planned(["table3", "--configfile", "overlay.yaml", "-n"])
    refused(caught, pattern)


@pytest.mark.parametrize("name", mutations.ARGUMENTS)
def test_a_wrong_word_on_the_command_line_is_one_sentence(folder, name):
    arguments, pattern = mutations.ARGUMENTS[name]
    with pytest.raises(InputError) as caught:
        config.planned(["table3", *arguments, "--cores", "1"])
    refused(caught, pattern)


@pytest.mark.slow
def test_make_says_one_sentence_and_starts_nothing(fresh, request):
    fresh.with_environment()
    shipped, file = mutations.SHIPPED, fresh.folder / "config.yaml"
    cases = [(yaml.safe_dump(one).encode(), []) for one in FROM_SCHEMA.values()]
    cases += [(yaml.safe_dump(one).encode(), []) for one, _ in mutations.BY_HAND.values()]
    cases += [(content, []) for content, _ in mutations.FILES.values()]
    plain = yaml.safe_dump(shipped).encode()
    cases += [(plain, words) for words, _ in mutations.ARGUMENTS.values()]
    for content, words in cases if request.config.getoption("--long", False) else cases[::100]:
        file.write_bytes(content)
        outcome = fresh.run_make("table3", *words, "-c1")
        assert outcome.code == 2, outcome.output
        assert outcome.output.count("\n") == 1, outcome.output
        assert "Traceback" not in outcome.output
        assert not (fresh.folder / "results").exists()


def test_what_is_planned_is_what_snakemake_runs(folder):
    (folder / "more.yaml").write_text("data: {mirror: there}\ntrials: 7\n")
    plan = config.planned(
        ["-c1", "--configfile", "more.yaml", "--config", "trials=8", "seed=3", "-n"]
    )
    assert (plan["trials"], plan["seed"]) == (8, 3)
    assert plan["data"] == {"source": "auto", "mirror": "there"}
    plan = config.planned(
        ["--config", "data={source: original}", "epsilons=[1,10]", "--", "table3"]
    )
    assert plan["data"]["source"] == "original"
    assert plan["epsilons"] == ["1", "10"]


def test_anchors_and_merges_may_stand_in_a_configuration(folder):
    (folder / "a.yaml").write_text(
        "experiments:\n"
        "  regression: &own {dataset: liver, task: covariance, mechanisms: [laplace]}\n"
        "  second: {<<: *own, mechanisms: [goe]}\n"
    )
    plan = config.planned(["--configfile", "a.yaml"])
    assert plan["experiments"]["second"]["mechanisms"] == ["goe"]
    assert plan["experiments"]["regression"]["mechanisms"] == ["laplace"]
