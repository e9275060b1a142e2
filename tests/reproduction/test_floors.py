"""The study is built in floors upon the library: no import runs upward, none in a circle."""

from pathlib import Path

import pytest
from floors import module_names, violations

import matrixdp
import reproduction

GROUND = ["matrixdp.checks", "discovery", "files", "seeds", "trials"]
MECHANISMS = [
    *GROUND,
    *("matrixdp.__init__", "matrixdp.library", "matrixdp.noise*", "matrixdp.privacy*"),
    *("matrixdp.mechanisms*", "bingham", "privacy*", "mechanisms*"),
]
STUDIES = ["experiments", "experiments.progress", "experiments.readings", "experiments.study"]
STUDIES += ["experiments.tasks*", "data.prepared", "job_settings"]
SCHEMES = ["experiments", "experiments.readings", "experiments.schemes*"]

#: What the modules that match a pattern may import from study and library, lowest floor first.
FLOORS = {
    "catalogue": ["files", "trials"],
    "discovery": ["matrixdp.checks"],
    "trials": ["matrixdp.checks", "files"],
    "seeds": ["matrixdp.checks"],
    "imports": [],
    "files": ["matrixdp.checks"],
    "bingham": ["matrixdp.checks", "matrixdp.noise*"],
    "privacy*": ["matrixdp.checks", "matrixdp.privacy*", "privacy*"],
    "mechanisms*": MECHANISMS,
    "experiments": [],
    "experiments.readings": ["matrixdp.checks", "files", "trials"],
    "experiments.progress": [],
    "experiments.tasks*": [*MECHANISMS, "experiments.tasks*"],
    "experiments.study": [*MECHANISMS, *STUDIES],
    "experiments.held_out": [*MECHANISMS, *STUDIES, "data.scaling"],
    "experiments.schemes*": [*MECHANISMS, "experiments.schemes*"],
    "experiments.training*": [
        *(*MECHANISMS, *SCHEMES, "experiments.progress", "experiments.training*"),
        *("data.prepared", "job_settings"),
    ],
    "theory*": [*MECHANISMS, *SCHEMES, "theory*"],
    "auditing.training": [
        *(*MECHANISMS, *SCHEMES, "matrixdp.auditing*", "experiments.training*", "auditing*")
    ],
    "auditing*": [*MECHANISMS, *STUDIES, "matrixdp.auditing*", "auditing*"],
    # These two stand apart; the report knows mechanisms by their rows and the catalogue alone.
    "data.my_matrix": [*GROUND, "data*", "matrixdp.release.tables"],
    "data*": [*GROUND, "data*"],
    "report*": [
        *(*GROUND, "catalogue", "job_settings", "matrixdp.version", "report*"),
        *("experiments", "experiments.readings", "matrixdp.auditing.standing"),
    ],
    "config": [*GROUND, "job_settings", "data.datasets", "experiments.readings"],
    "costs": [],
    "job_settings": ["matrixdp.checks", "discovery", "trials"],
    # A person's own matrix goes from what a release would ask to what the experiments run.
    "my_matrix": [*MECHANISMS, "config", "data.prepared", "matrixdp.release*", "discovery"],
    "cli*": ["*"],
    "__main__": ["cli*"],
    "__init__": [],
}

#: Other people's packages that only some of ours may import.
RESERVED = {
    "snakemake": [],
    "jax": ["experiments.training*"],
    "flax": ["experiments.training*"],
    "optax": ["experiments.training*"],
}


def test_no_import_runs_upward_or_in_a_circle():
    package = Path(reproduction.__file__).parent
    assert len(module_names(package)) > 5
    assert violations(package, FLOORS, RESERVED, Path(matrixdp.__file__).parent) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("mechanisms/mvg.py", "from reproduction.experiments import tasks", "mechanisms.mvg impor"),
        ("mechanisms/mvg.py", "from matrixdp.privacy.gaussian import mu", None),
        ("mechanisms/mvg.py", "from matrixdp.release import x", "mechanisms.mvg imports matrixdp"),
        ("experiments/tasks/base.py", "import reproduction.experiments.study", "experiments.tas"),
        (
            "data/fetch.py",
            "from matrixdp.privacy import gaussian",
            "data.fetch imports matrixdp.pri",
        ),
        ("data/fetch.py", "from matrixdp.checks import Array", None),
        ("report/page.py", "from reproduction.mechanisms import registry", "report.page imports m"),
        ("report/page.py", "from matrixdp.mechanisms.laplace import x", "report.page imports mat"),
        ("experiments/study.py", "from reproduction.data import fetch", "experiments.study impor"),
        ("cli.py", "def f():\n    from reproduction import study", None),
        ("cli.py", "from snakemake.utils import validate", "cli imports snakemake"),
        ("experiments/study.py", "import jax.numpy as jnp", "experiments.study imports jax"),
        ("experiments/training/model.py", "import jax.numpy as jnp", None),
        ("helpers.py", "", "helpers stands on no floor"),
        ("privacy/kov.py", "from reproduction.privacy import loop", "circle: "),
    ],
)
def test_the_checker_finds_what_it_should(tmp_path, file, text, expected):
    package, library = tmp_path / "reproduction", tmp_path / "matrixdp"
    tree = {
        "__init__.py": "",
        "experiments/__init__.py": "",
        "experiments/study.py": "",
        "privacy/__init__.py": "",
        "privacy/kov.py": "",
        "privacy/loop.py": "from reproduction.privacy.kov import mu",
        "mechanisms/__init__.py": "",
        "experiments/tasks/__init__.py": "",
        "data/__init__.py": "",
        file: text,
    }
    below = ("__init__", "checks", "privacy/__init__", "privacy/gaussian", "mechanisms/__init__")
    tree = {package / name: content for name, content in tree.items()}
    tree |= {
        library / f"{name}.py": "" for name in (*below, "mechanisms/laplace", "release/__init__")
    }
    for path, content in tree.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    found = violations(package, FLOORS, RESERVED, library)
    assert len(found) == (expected is not None), found
    assert expected is None or found[0].startswith(expected)
