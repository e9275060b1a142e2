"""The library is built in floors, and never imports the study."""

from pathlib import Path

import pytest
from floors import module_names, violations

import matrixdp

MECHANISMS = ["checks", "library", "noise*", "privacy*", "mechanisms*"]

#: What the modules that match a pattern may import from the package, lowest floor first.
FLOORS = {
    "checks": [],
    "library": [],
    "version": [],
    "noise*": ["checks", "noise*"],
    "privacy*": ["checks", "privacy*"],
    "mechanisms*": MECHANISMS,
    # The words of verdicts, which the study's report reads too.
    "auditing.standing": ["checks"],
    "auditing*": [*MECHANISMS, "auditing*"],
    "release*": [*MECHANISMS, "version", "release*"],
    "estimators": [*MECHANISMS, "release*"],
    "cli*": [*MECHANISMS, "version", "release*", "cli*"],
    "__main__": ["cli*"],
    # What others import.
    "__init__": [*MECHANISMS, "version", "release*", "estimators"],
}

#: Packages that only some modules may import; the study is none that the library may.
RESERVED = {
    **dict.fromkeys(["reproduction", "snakemake", "pandas", "yaml", "matplotlib", "jax"], ()),
    "sklearn": ("estimators",),
    "pyarrow": ("release.tables",),
}


def test_no_import_runs_upward_in_a_circle_or_to_the_study():
    package = Path(matrixdp.__file__).parent
    assert len(module_names(package)) > 5
    assert violations(package, FLOORS, RESERVED) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("noise/safe.py", "from matrixdp.checks import positive", None),
        ("noise/safe.py", "from matrixdp.privacy import gaussian", "noise.safe imports privacy.ga"),
        ("noise/safe.py", "import matrixdp.privacy.gaussian", "noise.safe imports privacy.gauss"),
        ("noise/safe.py", "from ..privacy.gaussian import mu", "noise.safe imports privacy.gauss"),
        ("privacy/domain.py", "from . import gaussian", None),
        ("privacy/domain.py", "from ..noise.safe import x", "privacy.domain imports noise.safe"),
        (
            "privacy/domain.py",
            "def f():\n    import matrixdp.noise",
            "privacy.domain imports noise",
        ),
        ("mechanisms/goe.py", "from matrixdp.privacy.gaussian import mu", None),
        ("mechanisms/goe.py", "from matrixdp.auditing import base", "mechanisms.goe imports audit"),
        ("mechanisms/goe.py", "import reproduction", "mechanisms.goe imports reproduction"),
        ("mechanisms/goe.py", "from reproduction.data import x", "mechanisms.goe imports reprod"),
        (
            "auditing/base.py",
            "def f():\n    import reproduction.seeds",
            "auditing.base imports rep",
        ),
        ("auditing/base.py", "from matrixdp.release import x", "auditing.base imports release"),
        ("release/tables.py", "import pandas", "release.tables imports pandas"),
        ("estimators.py", "import sklearn.base", None),
        ("helpers.py", "", "helpers stands on no floor"),
        ("privacy/gaussian.py", "from matrixdp.privacy import loop", "circle: "),
    ],
)
def test_the_checker_finds_what_it_should(tmp_path, file, text, expected):
    package = tmp_path / "matrixdp"
    tree = {
        "__init__.py": "",
        "checks.py": "",
        "noise/__init__.py": "",
        "noise/safe.py": "",
        "privacy/__init__.py": "",
        "privacy/gaussian.py": "",
        "privacy/loop.py": "from matrixdp.privacy.gaussian import mu",
        "mechanisms/__init__.py": "",
        "auditing/__init__.py": "",
        "auditing/base.py": "",
        "release/__init__.py": "",
        file: text,
    }
    for name, content in tree.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    found = violations(package, FLOORS, RESERVED)
    assert len(found) == (expected is not None), found
    assert expected is None or found[0].startswith(expected)
