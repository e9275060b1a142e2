"""config/README.md follows the schema of config.yaml."""

import importlib.util

import pytest
import yaml
from packages import ROOT

SPEC = importlib.util.spec_from_file_location("settings", ROOT / "docs/settings.py")
settings = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(settings)
SCHEMA = yaml.safe_load(settings.SCHEMA.read_text())


def test_the_page_is_that_of_the_schema():
    page = (ROOT / "config/README.md").read_text()
    assert page == settings.page(SCHEMA), (
        "say `python docs/settings.py`, and look at config/README.md"
    )


def test_every_key_of_the_schema_has_a_row():
    def keys(part):
        if isinstance(part, dict):
            yield from part.get("properties", {})
            for each in part.values():
                yield from keys(each)

    rows = {line.split("`")[1] for line in settings.page(SCHEMA).splitlines() if line[:3] == "| `"}
    assert rows == {*keys(SCHEMA)}
    assert len(rows) > 30


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"enum": ["a", "b"]}, "`a`, `b`"),
        ({"type": "integer", "minimum": 1, "maximum": 10000}, "integer from 1 to 10,000"),
        ({"type": ["number", "null"], "minimum": 1e-6}, "number from 1e-06 or null"),
        ({"type": "number", "exclusiveMaximum": 1}, "number below 1"),
        (
            {"type": "array", "minItems": 2, "items": {"type": "string"}},
            "list of 2 or more: string",
        ),
        (
            {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "integer"}},
            "list of 1 to 3: integer",
        ),
        ({"type": "object"}, "mapping"),
    ],
)
def test_what_a_key_can_be(part, text):
    assert settings.values(part) == text


def test_a_key_without_a_description_is_an_error():
    with pytest.raises(KeyError, match="description"):
        settings.page({"properties": {"seed": {"type": "integer"}}})


def test_a_bar_does_not_end_a_cell():
    schema = {"properties": {"seed": {"type": "integer", "description": "a|b", "default": 1}}}
    assert "| `seed` | a\\|b | integer | `1` |" in settings.page(schema)
