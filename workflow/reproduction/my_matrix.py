"""A person's own matrix: from its specification to an experiment on all mechanisms.

The specification of `matrixdp release` has all public facts on the records. The comparison itself
reads the records, so that none of its results is private.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import InputError, choice
from matrixdp.mechanisms.base import Mechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.release import choices, specification
from matrixdp.release.answers import WITH_CONSTANT
from matrixdp.release.specification import Specification
from reproduction import discovery
from reproduction.config import complete, resolve
from reproduction.data.prepared import PRIVATE
from reproduction.mechanisms import registry
from reproduction.trials import MEAN, MY_MATRIX, NONPRIVATE, RANDOM, ZERO

#: The task that judges each kind of release, and its baseline.
TASKS = {
    "records": ("covariance", RANDOM),
    "second_moments": ("moments_error", ZERO),
    "first_component": ("captured_variance", RANDOM),
    "regression": ("intercept_regression", MEAN),
}

#: Default number of runs of the audit.
_AUDIT_RUNS = 20_000

#: Entries from which on a matrix is large, and the limits of its audit (see
#: :class:`matrixdp.auditing.releases.Limits`), which the page states.
LARGE, LIMITS = 200_000, {"audit_pairs": 8, "audit_numbers": 400_000_000}


def folder(file: str | os.PathLike) -> str:
    """Return the folder name of the results on the matrix of a specification."""
    return re.sub(r"[^A-Za-z0-9]+", "_", Path(file).stem) or "matrix"


def configuration(config: dict[str, Any]) -> dict[str, Any]:
    """Return the resolved configuration of a run on the matrix that config.yaml names.

    Under ``datasets`` it has an entry as those of workflow/datasets.yaml, and ``matrix`` is the
    file of records. Its one experiment has every mechanism, and which of them is ``recommended``.
    Epsilon, delta and neighbours are those of the specification; ``experiment_defaults`` adds
    epsilons. A quarter of the records tests a regression.

    Raises:
        InputError: the specification cannot be used, or asks for what no task can judge.
    """
    config = complete(config)
    path = Path(config["matrix"])
    # All mechanisms are compared, whatever one a release would take.
    spec = specification.read(path).by(specification.RECOMMENDED)
    try:
        choice(TASKS, query=spec.query_name)
        single = not spec.people and not spec.query.private_count
        unknown = spec.private or "radius" in spec.terms
        if unknown or not single or len(spec.columns) < 2:
            raise InputError(
                "a comparison needs the public bounds of two columns or more, a public number of "
                "records, no person and no radius"
            )
    except InputError as error:
        raise InputError(f"{path}: {error}; a release needs no comparison") from None
    # The commands on the page name the specification, too.
    options = f"--config matrix={shlex.quote(os.path.relpath(path))} {config['options']}"
    weights = np.array(spec.importance or [1.0] * len(spec.columns))
    if len(weights) > len(spec.columns):
        # That of a regression's constant stands before the one of its target.
        weights = np.delete(weights, -2)
    favoured = [spec.columns[i] for i in np.flatnonzero(weights > weights.mean())]
    task, baseline = TASKS[spec.query_name]
    defaults = config["experiment_defaults"]
    experiment: dict[str, Any] = {
        "task": task,
        "dataset": MY_MATRIX,
        "directions": {"a": favoured},
        "mechanisms": [NONPRIVATE, baseline, *discovery.mechanisms()],
        "trials": defaults["trials"],
        "trials_at_table_epsilon": 0,
        "epsilons": [*defaults["epsilons"], spec.epsilon],
    }
    if spec.target:
        experiment |= {"target": spec.target, "train": spec.query.n_records * 3 // 4}
    name = f"my_{spec.query_name}"
    changes: dict[str, Any] = {
        "reading": "default",
        "audit_runs": config["audit_runs"] or _AUDIT_RUNS,
        "table_epsilon": spec.epsilon,
        "delta": spec.delta or config["delta"],
        "adjacency": spec.query.adjacency,
        "matrix": os.fspath(spec.file),
        "options": options.strip(),
        # A stand-in is not what a person asks for.
        "data": {**config["data"], "source": "original"},
        "experiments": {name: experiment},
        "training": {},
    }
    resolved = resolve({**config, **changes}, {MY_MATRIX: _entry(spec)})
    resolved["experiments"][name]["recommended"] = recommended(spec)
    resolved["experiments"][name]["release_keys"] = release_keys(spec)
    if spec.query.n_records * len(spec.columns) >= LARGE:
        resolved["experiments"][name] |= LIMITS
    return resolved


def recommended(spec: Specification) -> str:
    """Return the mechanism that is chosen without a look at the records; empty if not run here."""
    best = choices.options(spec)[0].mechanism
    return next((name for name, mechanism in _built() if mechanism == best), "")


def release_keys(spec: Specification) -> dict[str, str]:
    """Return what a specification names each mechanism that ``matrixdp release`` offers for it."""
    # Clipped moments are those about a mean where the query has one.
    other = PrivatelyClipped() if spec.query_name in WITH_CONSTANT else Centred()
    keys = {name: specification.key_of(one) for name, one in _built() if one != other}
    return {name: key for name, key in keys.items() if key}


def _built() -> Iterator[tuple[str, Mechanism]]:
    return ((name, entry.build()) for name, entry in registry().items() if not entry.parameters)


def _entry(spec: Specification) -> dict[str, Any]:
    """Return the data set as an entry of datasets.yaml has it, with its status."""
    sides = {"lower": spec.box.lower, "upper": spec.box.upper, "middle": spec.middle}
    return {
        "title": spec.file.name,
        "publisher": "a file of one's own",
        "files": {},
        "status": "original" if spec.public else PRIVATE,
        "shape": [spec.query.n_records, len(spec.columns)],
        "columns": [*spec.columns],
        "fill": [None if np.isnan(value) else value for value in spec.fill.tolist()],
        "scalings": {
            "default": {
                "method": "bounds",
                **{name: [*map(float, side)] for name, side in sides.items()},
            }
        },
        "licence": "",
        "citation": "",
    }
