"""A matrix of one's own: from the file that describes it to an experiment on all mechanisms.

What may be known of the records stands in the specification of `matrixdp release`. The comparison
itself looks at them, so that nothing of it is private.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import discovery
from matrixdp.checks import InputError, choice, plural
from matrixdp.config import OWN, resolve
from matrixdp.data import store
from matrixdp.data.datasets import Spec
from matrixdp.mechanisms import registry
from matrixdp.practice import release, specification
from matrixdp.practice.specification import Specification
from matrixdp.practice.tables import blocks
from matrixdp.trials import MEAN, NONPRIVATE, RANDOM, ZERO

#: From what a release is asked for to the task that says what it is worth, and its baselines.
TASKS = {
    "records": ("covariance", RANDOM),
    "second_moments": ("moments_error", ZERO),
    "first_component": ("captured_variance", RANDOM),
    "regression": ("intercept_regression", MEAN),
}

#: The mechanism that predicts a private constant, of regressions alone.
TARGET_MEAN = "target_mean"

#: What the rows of a file that is not public may be known by, wherever they are shown.
PRIVATE = "private"

#: Runs of the audit unless another number is given.
_AUDIT_RUNS = 20_000


def folder(file: str | os.PathLike) -> str:
    """Return the name of the folder that has the results on the matrix of a specification."""
    return re.sub(r"[^A-Za-z0-9]+", "_", Path(file).stem) or "matrix"


def configured(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a run on the matrix that a resolved one names, resolved too.

    Its data set is described under ``matrix``, its one experiment has every mechanism, and which of
    them is ``recommended``. Epsilon, delta and neighbours are those of the specification;
    ``experiment_defaults`` adds epsilons. A quarter of the records tests a regression.

    Raises:
        InputError: the specification cannot be used, or asks for what no task can judge.
    """
    path = Path(config["matrix"])
    asked = specification.read(path)
    try:
        choice(TASKS, query=asked.asked)
        if "radius" in asked.stated or len(asked.columns) < 2:
            raise InputError("a comparison needs the bounds of two columns or more, and no radius")
    except InputError as error:
        raise InputError(f"{path}: {error}; a release needs no comparison") from None
    weights = np.array(asked.importance or [1.0] * len(asked.columns))
    if len(weights) > len(asked.columns):
        # That of a regression's constant stands before the one of its target.
        weights = np.delete(weights, -2)
    important = [asked.columns[i] for i in np.flatnonzero(weights > weights.mean())]
    task, baseline = TASKS[asked.asked]
    shared = config["experiment_defaults"]
    mechanisms = [name for name in discovery.mechanisms() if asked.target or name != TARGET_MEAN]
    experiment: dict[str, Any] = {
        "task": task,
        "dataset": OWN,
        "directions": {"a": important},
        "mechanisms": [NONPRIVATE, baseline, *mechanisms],
        "trials": shared["trials"],
        "epsilons": [*shared["epsilons"], asked.epsilon],
    }
    if asked.target:
        experiment |= {"target": asked.target, "train": asked.query.records * 3 // 4}
    name = f"my_{asked.asked}"
    changed = {
        "reading": "default",
        "audit_runs": config["audit_runs"] or _AUDIT_RUNS,
        "table_epsilon": asked.epsilon,
        "delta": asked.delta or config["delta"],
        "adjacency": asked.query.adjacency,
        "matrix": _described(asked),
        "experiments": {name: experiment},
        "training": {},
    }
    resolved = resolve({**config, **changed})
    resolved["experiments"][name]["recommended"] = recommended(asked)
    return resolved


def recommended(asked: Specification) -> str:
    """Return the mechanism that is chosen without a look at the records; empty if not run here."""
    best = release.options(replace(asked, mechanism=specification.RECOMMENDED))[0].mechanism
    built = ((name, entry.build()) for name, entry in registry().items() if not entry.axes)
    return next((name for name, one in built if one == best), "")


def _described(asked: Specification) -> dict[str, Any]:
    """Return the data set as an entry of datasets.yaml has it, with its file and status."""
    sides = {"lower": asked.box.lower, "upper": asked.box.upper, "middle": asked.middle}
    return {
        "file": os.fspath(asked.file),
        "status": "original" if asked.public else PRIVATE,
        "shape": [asked.query.records, len(asked.columns)],
        "columns": [*asked.columns],
        "fill": [None if np.isnan(value) else value for value in asked.fill.tolist()],
        "scalings": {
            "default": {
                "method": "bounds",
                **{name: [*map(float, side)] for name, side in sides.items()},
            }
        },
    }


def prepare(described: Mapping[str, Any], out: str | os.PathLike) -> None:
    """Write the matrix and its provenance (see :func:`matrixdp.data.store.prepare`).

    Args:
        described: what :func:`configured` says under ``matrix``.
        out: the folder to write into.

    Raises:
        InputError: the file is not as described.
    """
    file, columns = Path(described["file"]), tuple(described["columns"])
    spec = Spec(
        OWN,
        title=file.name,
        publisher="a file of one's own",
        files=(),
        members=(),
        shape=tuple(described["shape"]),
        sha256="",
        licence="",
        citation="",
        columns=columns,
        scalings=described["scalings"],
    )
    fill = np.array(described["fill"], dtype=float)
    records = np.concatenate([np.empty((0, len(columns))), *blocks(file, columns, fill)])
    scaling = described["scalings"]["default"]
    records = np.clip(records, scaling["lower"], scaling["upper"])
    if records.shape != spec.shape:
        raise InputError(
            f"{file} has {plural(len(records), 'record')} where {spec.shape[0]} "
            "are stated; correct one"
        )
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    origin = {"file": file.name, "source": os.fspath(file), "sha256": digest}
    store.write(
        Path(out), spec, "original", (records, {"status": described["status"], "files": [origin]})
    )
