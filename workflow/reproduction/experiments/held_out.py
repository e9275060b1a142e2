"""A comparison on held-out data: some rules of mechanisms were made after seeing the papers' data.

The tasks of experiments I to III run with every mechanism that has no parameter to choose, on data
that the papers do not use:

- scikit-learn's breast cancer, diabetes and wine, scaled by their records like the papers' data;
- scikit-learn's digits: 1,797 images of 64 pixels, with the public bounds 0 and 16 of a pixel;
- a simulated law with heavy tails (:func:`student_t`), clipped to stated bounds.

Digits and the simulated law were named in a commit of their own before any mechanism ran on them.
Diabetes and wine had been run before centring and AdaSSP on clipped records were added.

Digits and the simulated law are scaled by their bounds alone: a regression has their middle at 0,
principal components keep 0. So the baselines that cost no privacy get what the bounds tell.
:mod:`reproduction.report.held_out_table` has the rule by which a row is judged.
"""

from __future__ import annotations

import numpy as np

from matrixdp.checks import Array
from reproduction.data import scaling
from reproduction.data.prepared import Dataset
from reproduction.experiments import study
from reproduction.experiments.tasks.base import Task
from reproduction.experiments.tasks.components import AllComponents, FirstComponent
from reproduction.experiments.tasks.regression import Regression
from reproduction.job_settings import Settings
from reproduction.mechanisms import registry
from reproduction.seeds import streams
from reproduction.trials import NONPRIVATE, RECORD_FREE, Rows

#: Name of the simulated data, with their numbers of records and features.
SIMULATED, RECORDS, FEATURES = "simulated_t", 5000, 20

#: Feature that a regression predicts, by data set.
TARGETS = {
    "breast_cancer": "mean area",
    "diabetes": "target",
    "wine": "proline",
    "digits": "pixel_4_4",
    SIMULATED: "x1",
}

#: Bounds of every feature, where these are public without a look at the records.
BOUNDS = {"digits": (0.0, 16.0), SIMULATED: (-5.0, 5.0)}

#: Claimed epsilons.
EPSILONS = ("0.3", "1", "10")

#: Scalings of the MVG paper's experiments, by task.
SCALINGS = {
    "regression": "centre_max_abs",
    "first_pc": "centre_max_abs",
    "covariance": "min_max",
}


def student_t() -> tuple[Array, list[str]]:
    """Return simulated records of a multivariate Student t law, before clipping, and their names.

    It has 3 degrees of freedom. The scales along its axes are in proportion to 1/k, with mean
    square 1 over the features. The axes are random, so that no feature is one.
    """
    (stream,) = streams(0, "held_out", SIMULATED, trials=range(1))
    axes = np.linalg.qr(stream.standard_normal((FEATURES, FEATURES)))[0]
    scales = 1 / np.arange(1, FEATURES + 1)
    scales /= np.sqrt((scales**2).mean())
    normal = stream.standard_normal((RECORDS, FEATURES)) * scales @ axes.T
    records = normal / np.sqrt(stream.chisquare(3, (RECORDS, 1)) / 3)
    return records, [f"x{i}" for i in range(1, FEATURES + 1)]


def _records(name: str) -> tuple[Array, list[str]]:
    if name == SIMULATED:
        return student_t()
    from sklearn import datasets

    source = getattr(datasets, f"load_{name}")
    content = source(scaled=False) if name == "diabetes" else source()
    records, names = content.data, [*content.feature_names]
    if name == "diabetes":
        records, names = np.column_stack([records, content.target]), [*names, "target"]
    return records, names


def load(name: str, experiment: str) -> Dataset:
    """Return a held-out data set, scaled to a public box for one of the experiments."""
    records, names = _records(name)
    if name in BOUNDS:
        low, high = BOUNDS[name]
        middle = (low + high) / 2 if experiment == "regression" else 0.0
        lower, upper, middles = ([bound] * len(names) for bound in (low, high, middle))
        scaled = scaling.bounds(records, lower=lower, upper=upper, middle=middles)
    else:
        scaled = scaling.scale(records, names, method=SCALINGS[experiment])
    box = [tuple(map(float, side)) for side in (scaled.lower, scaled.upper)]
    status = "simulated" if name == SIMULATED else "original"
    return Dataset(name, scaled.matrix, tuple(names), box[0], box[1], status)


def tasks(data: Dataset, target: str) -> dict[str, Task]:
    """Return the tasks of experiments I to III; a regression trains on 3/4 of the records."""
    train = data.matrix.shape[1] * 3 // 4
    regression = Regression(target=data.features.index(target), train=train)
    return {"regression": regression, "first_pc": FirstComponent(), "covariance": AllComponents()}


def run(seed: int, trials: int) -> Rows:
    """Return the trial rows of all mechanisms and baselines on every data set."""
    rows: list = []
    mechanisms = [name for name, entry in registry().items() if not entry.parameters]
    for name, target in TARGETS.items():
        for experiment in SCALINGS:
            data = load(name, experiment)
            task = tasks(data, target)[experiment]
            settings = Settings(experiment, seed=seed, trials=trials, epsilons=EPSILONS)
            baselines = [row for row in (NONPRIVATE, *RECORD_FREE) if row in task.baselines]
            for mechanism in (*baselines, *mechanisms):
                rows += study.run(task, mechanism, data, settings, control=False)
    return rows
