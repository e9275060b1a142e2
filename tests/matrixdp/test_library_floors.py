"""The library is built in floors, and never imports the study."""

from pathlib import Path

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
    "auditing.status": ["checks"],
    "auditing*": [*MECHANISMS, "auditing*"],
    "release*": [*MECHANISMS, "auditing.status", "version", "release*"],
    "estimators": [*MECHANISMS, "release*"],
    "cli*": [*MECHANISMS, "version", "release*", "cli*"],
    "__main__": ["cli*"],
    # What others import.
    "testing": [*MECHANISMS, "auditing*"],
    "__init__": [*MECHANISMS, "version", "auditing*", "release*", "estimators"],
}

#: Packages that only some modules may import; the study is none that the library may.
RESERVED = {
    **dict.fromkeys(["reproduction", "snakemake", "yaml", "jax"], ()),
    "pandas": ("auditing.public", "release.publications"),
    "matplotlib": (),
    "sklearn": ("estimators",),
    "pyarrow": ("release.tables",),
}


def test_no_import_runs_upward_in_a_circle_or_to_the_study():
    package = Path(matrixdp.__file__).parent
    assert len(module_names(package)) > 5
    assert violations(package, FLOORS, RESERVED) == []
