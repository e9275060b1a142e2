"""The study is built in floors upon the library: no import runs upward, none in a circle."""

from pathlib import Path

from floors import module_names, violations

import matrixdp
import reproduction

GROUND = ["matrixdp.checks", "discovery", "files", "plugins", "seeds", "trials"]
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
    "discovery": ["matrixdp.checks", "plugins"],
    "plugins": ["matrixdp.checks"],
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
    "experiments.implied_noise": [*MECHANISMS, *STUDIES, "data.prepared", "job_settings"],
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
    "data.csv_records": [*GROUND, "data*", "matrixdp.release.tables"],
    "data*": [*GROUND, "data*"],
    "report*": [
        *(*GROUND, "catalogue", "job_settings", "matrixdp.version", "report*"),
        *("experiments", "experiments.readings", "matrixdp.auditing.status"),
    ],
    "config": [*GROUND, "job_settings", "data.datasets", "experiments.readings"],
    "costs": [],
    "job_settings": ["matrixdp.checks", "discovery", "trials"],
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
