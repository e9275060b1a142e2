"""The small projects of the workflow's tests, here too."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "workflow"))


_SPEC = importlib.util.spec_from_file_location(
    "workflow_fixtures", TESTS / "workflow" / "conftest.py"
)
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
globals().update({name: value for name, value in vars(_MODULE).items() if name[0] != "_"})
