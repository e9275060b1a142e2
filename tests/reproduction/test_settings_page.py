"""config/README.md and the schemas for editors are made from the models of config.yaml."""

import importlib.util

import pytest
from packages import ROOT

SPEC = importlib.util.spec_from_file_location("settings", ROOT / "docs/settings.py")
settings = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(settings)


@pytest.mark.parametrize("path", settings.files())
def test_what_is_made_of_the_models_is_current(path):
    assert path.read_text() == settings.files()[path], "say `.venv/bin/python docs/settings.py`"
