"""The web server of the data's tests and the small projects of the workflow's, here too."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "data"), str(TESTS / "workflow")]


def _fixtures(folder: str) -> None:
    spec = importlib.util.spec_from_file_location(
        f"{folder}_fixtures", TESTS / folder / "conftest.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    globals().update({name: value for name, value in vars(module).items() if name[0] != "_"})


_fixtures("data")
_fixtures("workflow")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="inject many more faults")
