"""The package is built in floors: no import runs upward, none in a circle."""

import ast
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import matrixdp

GROUND = ["checks", "discovery", "files", "seeds", "trials"]
MECHANISMS = [
    *GROUND,
    "library",
    "distributions",
    "gamma_distributions",
    "bingham",
    "safe",
    "privacy*",
    "mechanisms*",
]
STUDIES = ["experiments", "experiments.readings", "experiments.settings", "experiments.study"]
STUDIES += ["experiments.tasks*", "data.prepared"]
SCHEMES = ["experiments", "experiments.readings", "experiments.schemes*"]

#: What the modules that match a pattern may import from the package, lowest floor first.
FLOORS = {
    "catalogue": ["files", "trials"],
    "places": ["checks"],
    "checks": [],
    "discovery": ["checks"],
    "trials": ["files"],
    "seeds": ["checks"],
    "imports": [],
    "library": [],
    "files": ["checks"],
    "distributions": ["checks"],
    "gamma_distributions": ["checks", "distributions"],
    "bingham": ["checks", "distributions"],
    "safe": [],
    "version": [],
    "privacy*": ["checks", "privacy*"],
    "mechanisms*": MECHANISMS,
    "practice*": [*MECHANISMS, "version", "practice*"],
    "experiments": [],
    "experiments.readings": ["checks", "files"],
    "experiments.settings": [],
    "experiments.tasks*": [*MECHANISMS, "experiments.tasks*"],
    "experiments.study": [*MECHANISMS, *STUDIES],
    "experiments.held_out": [*MECHANISMS, *STUDIES, "data.scaling"],
    "experiments.schemes*": [*MECHANISMS, "experiments.schemes*"],
    "experiments.training*": [
        *(*MECHANISMS, *SCHEMES, "experiments.settings", "experiments.training*", "data.prepared")
    ],
    "theory*": [*MECHANISMS, *SCHEMES, "theory*"],
    # The words of verdicts, which the report reads too.
    "audit.standing": ["checks"],
    "audit.training": [*MECHANISMS, *SCHEMES, "experiments.training*", "audit*"],
    "audit*": [*MECHANISMS, *STUDIES, "audit*"],
    # These two stand apart; the report knows mechanisms by their rows and the catalogue alone.
    "data*": [*GROUND, "data*"],
    "report*": [
        *(*GROUND, "catalogue", "places", "exhibits", "version", "report*"),
        *("experiments", "experiments.readings", "audit.standing"),
    ],
    "config": [*GROUND, "data.datasets", "experiments.readings"],
    "parts": ["checks", "discovery", "experiments.readings"],
    # A person's own matrix goes from what a release would ask to what the experiments run.
    "my_matrix": [*MECHANISMS, "config", "data*", "practice*", "discovery"],
    "exhibits": ["catalogue", "discovery", "parts"],
    "cli*": ["*"],
    "__main__": ["*"],
    # What others import: names from below the workflow's floors.
    "__init__": [*MECHANISMS, "version", "practice*"],
}

#: Other people's packages that only some of ours may import.
RESERVED = {
    "snakemake": [],
    "jax": ["experiments.training*"],
    "flax": ["experiments.training*"],
    "optax": ["experiments.training*"],
}


def matches(module, patterns):
    return any(fnmatch(module, pattern) for pattern in patterns)


def module_names(package):
    """Return {name below the package: file}; a subpackage goes by its folder's name."""
    names = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        is_subpackage = parts[-1] == "__init__" and len(parts) > 1
        names[".".join(parts[:-1] if is_subpackage else parts)] = file
    return names


def imports(file, package):
    """Yield the full dotted name of each thing that the file imports, at any depth in it."""
    inside = [package.name, *file.relative_to(package).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def target(imported, names, root):
    """Return the module of ours that an import reaches, or None if it is not ours."""
    first, _, rest = imported.partition(".")
    if first != root:
        return None
    while rest and rest not in names:
        rest = rest.rpartition(".")[0]
    return rest or "__init__"


def violations(package):
    """Return one sentence for each import that the floors forbid."""
    names = module_names(package)
    found, graph = [], {}
    for name, file in names.items():
        floor = next(
            (allowed for pattern, allowed in FLOORS.items() if fnmatch(name, pattern)), None
        )
        if floor is None:
            found.append(f"{name} stands on no floor: give it one in FLOORS")
            continue
        reached = list(imports(file, package))
        ours = {target(one, names, package.name) for one in reached} - {None, name}
        graph[name] = ours
        found += [f"{name} imports {one}" for one in sorted(ours) if not matches(one, floor)]
        for other in sorted({one.partition(".")[0] for one in reached} & set(RESERVED)):
            if not matches(name, RESERVED[other]):
                found.append(f"{name} imports {other}")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append(f"circle: {' <- '.join(error.args[1])}")
    return found


def test_no_import_runs_upward_or_in_a_circle():
    package = Path(matrixdp.__file__).parent
    assert len(module_names(package)) > 5
    assert violations(package) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("distributions.py", "from matrixdp.checks import positive", None),
        (
            "distributions.py",
            "from matrixdp.privacy import gaussian",
            "distributions imports privacy.gaussian",
        ),
        (
            "distributions.py",
            "import matrixdp.privacy.gaussian",
            "distributions imports privacy.gaussian",
        ),
        (
            "distributions.py",
            "from .privacy.gaussian import mu",
            "distributions imports privacy.gaussian",
        ),
        (
            "distributions.py",
            "from .experiments import study",
            "distributions imports experiments.study",
        ),
        ("privacy/audit.py", "from . import gaussian", None),
        (
            "privacy/audit.py",
            "from ..distributions import sample",
            "privacy.audit imports distributions",
        ),
        (
            "privacy/audit.py",
            "def f():\n    import matrixdp.noise.distributions",
            "privacy.audit imports distributions",
        ),
        ("mechanisms/mvg.py", "from reproduction.experiments import tasks", "mechanisms.mvg imports"),
        ("mechanisms/mvg.py", "from matrixdp.privacy.gaussian import mu", None),
        (
            "experiments/tasks/base.py",
            "import reproduction.experiments.study",
            "experiments.tasks.base im",
        ),
        (
            "data/fetch.py",
            "from matrixdp.privacy import gaussian",
            "data.fetch imports privacy.gau",
        ),
        ("report/page.py", "from reproduction.mechanisms import registry", "report.page imports mech"),
        (
            "report/page.py",
            "from matrixdp.mechanisms.laplace import x",
            "report.page imports mech",
        ),
        (
            "experiments/study.py",
            "from reproduction.data import fetch",
            "experiments.study imports data",
        ),
        ("cli.py", "def f():\n    from matrixdp import study", None),
        ("cli.py", "from snakemake.utils import validate", "cli imports snakemake"),
        ("experiments/study.py", "import jax.numpy as jnp", "experiments.study imports jax"),
        ("experiments/training/model.py", "import jax.numpy as jnp", None),
        ("helpers.py", "", "helpers stands on no floor"),
        ("privacy/gaussian.py", "from matrixdp.privacy import loop", "circle: "),
    ],
)
def test_the_checker_finds_what_it_should(tmp_path, file, text, expected):
    package = tmp_path / "matrixdp"
    tree = {
        "__init__.py": "",
        "checks.py": "",
        "distributions.py": "",
        "experiments/__init__.py": "",
        "experiments/study.py": "",
        "privacy/__init__.py": "",
        "privacy/gaussian.py": "",
        "privacy/loop.py": "from matrixdp.privacy.gaussian import mu",
        "mechanisms/__init__.py": "",
        "mechanisms/laplace.py": "",
        "experiments/tasks/__init__.py": "",
        "data/__init__.py": "",
        file: text,
    }
    for name, content in tree.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    found = violations(package)
    assert len(found) == (expected is not None), found
    assert expected is None or found[0].startswith(expected)
