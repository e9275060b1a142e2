"""Where scikit-learn, pandas or matplotlib is missing, the tests of what needs it are left out."""

import importlib.util
import re

import pytest

#: What the library does without.
OTHERS = (
    *("sklearn", "pandas", "matplotlib", "joblib", "yaml"),
    *("dp_accounting", "opendp", "diffprivlib"),
)
MISSING = [name for name in OTHERS if not importlib.util.find_spec(name)]


def pytest_ignore_collect(collection_path):
    """Leave out files that import what is missing."""
    if MISSING and collection_path.suffix == ".py":
        pattern = rf"^(?:import|from) (?:{'|'.join(MISSING)})\b"
        if re.search(pattern, collection_path.read_text(encoding="utf-8"), re.MULTILINE):
            return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip a test that asks for an estimator."""
    try:
        return (yield)
    except ImportError as error:
        missing = (error.name or "").partition(".")[0] in MISSING
        if missing or (MISSING and "needs scikit-learn" in str(error)):
            pytest.skip(str(error))
        raise
