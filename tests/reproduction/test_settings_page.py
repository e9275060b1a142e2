"""config/README.md and the schemas for editors are made from the models of config.yaml."""

import importlib.util

import pytest
from packages import ROOT

from reproduction.models import values

SPEC = importlib.util.spec_from_file_location("settings", ROOT / "docs/settings.py")
settings = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(settings)


@pytest.mark.parametrize("path", settings.files())
def test_what_is_made_of_the_models_is_current(path):
    assert path.read_text() == settings.files()[path], "say `python docs/settings.py`, and look"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"enum": ["a", "b"]}, "a, b"),
        ({"type": "integer", "minimum": 1, "maximum": 10000}, "a whole number from 1 to 10,000"),
        (
            {"anyOf": [{"type": "number", "minimum": 2}, {"type": "null"}]},
            "a number of at least 2 or null",
        ),
        ({"type": "number", "exclusiveMaximum": 1}, "a number and below 1"),
        (
            {"type": "array", "minItems": 2, "items": {"type": "string"}},
            "a list of 2 or more, each a text",
        ),
        (
            {"type": "array", "minItems": 1, "maxItems": 3, "items": {}},
            "a list of 1 to 3, each any",
        ),
        ({"type": "object"}, "a mapping"),
    ],
)
def test_what_a_key_can_be(part, text):
    assert values(part) == text
