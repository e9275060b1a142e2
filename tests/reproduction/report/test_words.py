"""One word per thing: what a reader reads has no retired word in it."""

from __future__ import annotations

import re

import pytest
import yaml

from reproduction import catalogue
from reproduction.report import inputs, page

FOLDER = catalogue.FILE.parent
RETIRED = catalogue.section("retired")


def retired(text):
    """Return the retired words of a text."""
    return [
        word
        for word in RETIRED
        if re.search(rf"\b{word}\b", text.replace("ε", "epsilon"), re.IGNORECASE)
    ]


def words(content):
    """Yield the texts of what YAML holds; keys are names that code knows."""
    if isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from words(part)
    elif isinstance(content, str):
        yield content


@pytest.mark.parametrize(
    "file", [catalogue.FILE, inputs.ERRATA, FOLDER / "claims.yaml", FOLDER / "readings.yaml"]
)
def test_what_stands_in_yaml(file):
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    if file == catalogue.FILE:
        del content["retired"]
    assert {text: found for text in words(content) if (found := retired(text))} == {}


def test_what_stands_on_the_page(root):
    html = page.build(inputs.below(root))
    # Data that one can take home keep the names of their columns.
    shown = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
    assert "Tight epsilon" in shown
    assert retired(shown) == []
    assert retired("The Actual ε and the slack") == ["actual epsilon", "slack"]
