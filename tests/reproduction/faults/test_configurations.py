"""Hundreds of wrong configurations: one sentence for each, before anything runs."""

from __future__ import annotations

import copy
import re

import mutations
import pytest
import yaml

from matrixdp.checks import InputError
from reproduction import config

FROM_SCHEMA = dict(mutations.from_schema())


def refused(error, pattern):
    text = str(error)
    assert "\n" not in text
    assert re.search(pattern, text), text


def test_there_are_many_and_the_shipped_one_is_none_of_them():
    assert len(FROM_SCHEMA) + len(mutations.BY_HAND) >= 400
    config.resolve(copy.deepcopy(mutations.SHIPPED))


@pytest.mark.parametrize("part", range(10))
def test_what_breaks_the_schema_is_one_sentence(part):
    for name in [*FROM_SCHEMA][part::10]:
        try:
            config.resolve(FROM_SCHEMA[name])
        except InputError as error:
            refused(error, "^config.yaml")
        else:
            pytest.fail(f"{name} is not refused")


@pytest.mark.parametrize("name", mutations.BY_HAND)
def test_what_only_a_job_would_notice_is_one_sentence(name):
    changed, pattern = mutations.BY_HAND[name]
    with pytest.raises(InputError) as caught:
        config.resolve(copy.deepcopy(changed))
    refused(caught.value, pattern)


@pytest.mark.nightly
def test_make_says_one_sentence_and_starts_nothing(fresh, request):
    fresh.with_environment()
    file = fresh.folder / "config.yaml"
    cases = [*FROM_SCHEMA.values(), *(one for one, _ in mutations.BY_HAND.values())]
    for case in cases if request.config.getoption("--nightly") else cases[::250]:
        file.write_text(yaml.safe_dump(case))
        outcome = fresh.run_make("table3", "-c1")
        assert outcome.code == 2, outcome.output
        assert "Traceback" not in outcome.output
        assert not (fresh.folder / "results").exists()
