"""A comparison on held-out data: some rules of mechanisms were made after seeing the papers' data.

The tasks of experiments I to III run on scikit-learn's breast cancer, diabetes and wine data, with
every mechanism that has no parameter to choose.
"""

from __future__ import annotations

import numpy as np

from reproduction.data import scaling
from reproduction.data.prepared import Dataset
from reproduction.experiments import study
from reproduction.experiments.tasks.base import Task
from reproduction.experiments.tasks.components import AllComponents, FirstComponent
from reproduction.experiments.tasks.regression import Regression
from reproduction.job_settings import Settings
from reproduction.mechanisms import registry
from reproduction.trials import NONPRIVATE, RECORD_FREE, Rows

#: Feature that a regression predicts, by data set.
TARGETS = {"breast_cancer": "mean area", "diabetes": "target", "wine": "proline"}

#: Claimed epsilons, set before looking at the results.
EPSILONS = ("0.3", "1", "10")

#: Scalings of the MVG paper's experiments, by task.
SCALINGS = {
    "regression": "centre_max_abs",
    "first_pc": "centre_max_abs",
    "covariance": "min_max",
}


def load(name: str, method: str) -> Dataset:
    """Return a data set of scikit-learn, scaled to a public box like the papers' data."""
    from sklearn import datasets

    source = getattr(datasets, f"load_{name}")
    content = source(scaled=False) if name == "diabetes" else source()
    records, names = content.data, [*content.feature_names]
    if name == "diabetes":
        records, names = np.column_stack([records, content.target]), [*names, "target"]
    scaled = scaling.scale(records, names, method=method)
    lower, upper = (tuple(map(float, side)) for side in (scaled.lower, scaled.upper))
    return Dataset(name, scaled.matrix, tuple(names), lower, upper, "original")


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
        for experiment, method in SCALINGS.items():
            data = load(name, method)
            task = tasks(data, target)[experiment]
            settings = Settings(experiment, seed=seed, trials=trials, epsilons=EPSILONS)
            baselines = [row for row in (NONPRIVATE, *RECORD_FREE) if row in task.baselines]
            for mechanism in (*baselines, *mechanisms):
                rows += study.run(task, mechanism, data, settings, control=False)
    return rows
