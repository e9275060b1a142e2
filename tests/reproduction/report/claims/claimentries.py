"""Claims and the rows that they are judged on."""

import numpy as np
import pandas as pd
import runfiles

from reproduction import catalogue, discovery
from reproduction.report.claims import definitions
from reproduction.theory import exact

TRAININGS = discovery.trainings()
KNOWN = definitions.Vocabulary(
    mechanisms={*discovery.mechanisms(), *(n for one in TRAININGS for n in discovery.schemes(one))},
    experiments={name for name, one in catalogue.experiments().items() if not one.needs},
    checks={*exact.CHECKS},
    exhibits={
        *(f"tables/{name}" for name in runfiles.TABLES),
        *(f"figures/{name}" for name in runfiles.FIGURES),
        *(f"theory/{name}" for name in discovery.theory()),
    },
)
CHECK = ("check", "statistic", "value", "relation", "expected", "tolerance", "holds")


def entry(*sentences, name="M0", **test):
    given = {"experiment": "regression", "metric": "rmse", "compare": list(sentences)} | test
    about = {"id": name, "paper": "MVG", "kind": "experiment", "place": "here", "claim": "c"}
    return about | {"shown_by": [], "test": given}


def shared(n=100, spread=1.0, seed=0):
    """Return what the trials of all mechanisms have in common: their split."""
    return spread * np.random.default_rng(seed).standard_normal(n)


def noise(mean, sd, seed, n=100):
    drawn = np.random.default_rng(seed).standard_normal(n)
    return mean + sd * (drawn - drawn.mean()) / drawn.std()


def ordered(**further):
    """Return rows that share their splits, in a clear order."""
    means = {"laplace": 1.0, "ppca": 1.1} | further
    return {name: shared() + noise(mean, 0.1, i) for i, (name, mean) in enumerate(means.items(), 1)}


def verdict(run, *sentences, rows, fields=None, **test):
    table, _ = run([entry(*sentences, **test)], rows, **(fields or {}))
    return table.loc["M0"]


def exact_entry(**test):
    return {**entry("x beats y"), "kind": "theorem", "test": test}


def numbers(folder, count=1, **holds):
    rows = [
        (name, f"number of {name}", 2.0, "=", 1.0, 0.0, good)
        for name, good in holds.items()
        for _ in range(count)
    ]
    (folder / "theory").mkdir(exist_ok=True)
    pd.DataFrame(rows, columns=list(CHECK)).to_csv(folder / "theory/exact.csv", index=False)
