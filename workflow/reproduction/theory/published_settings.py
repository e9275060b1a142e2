"""The tight epsilon of every setting of the IMGM paper's experiments (Table 1)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from reproduction.experiments.schemes import registry
from reproduction.experiments.schemes.base import Plan
from reproduction.experiments.schemes.features import Features
from reproduction.experiments.schemes.gradients import Gradients

DELTA = 1e-5
EPSILONS = {
    "gradients": (0.01, 0.05, 0.1, 0.2, 0.5, 1.0),
    "features": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
}
SCHEMES = ("imgm", "imgm_amplified")
#: Schemes of the authors' code that count lots, or batches, as steps.
CODE = ("imgm_code", "imgm_code_batch_steps")
#: The data sets of the authors' public code, and the batch sizes that it sets.
CODED, BATCHES = ("mnist", "cifar10", "adult", "svhn"), (64, 128, 256)
#: The records, lot and batch that the code itself sets in commit 2b7b36e, and its epochs.
CODE_SETTINGS: dict[str, dict[str, Any]] = {
    "mnist": {"records": 60_000, "lot": 128, "batch": 128},
    "cifar10": {"records": 50_000, "lot": 256, "batch": 64},
    "svhn": {"records": 73_257, "lot": 256, "batch": 64},
    "adult": {"records": 32_561, "lot": 256, "batch": 256},
}
CODE_EPOCHS = 60
#: Sources of the lots and epochs of a row.
PAPER_LOTS, CODE_LOTS = "paper", "code"
#: Other readings of q on features, which the paper does not define: the records that are sampled.
#: Ours is a block of features of Table 1.
BATCH = 256
Q_BATCH, Q_LOT = f"paper, batches of {BATCH} (Section 5.1)", "paper, lot size of Table 1"


class Setting(NamedTuple):
    """A column of the paper's Table 1.

    Attributes:
        records: number of training records.
        lot: expected size of a lot of gradients.
        epochs: epochs of training on gradients, None if there is none.
        gradient: shape of the largest gradient, None if there is none.
        features: records and features of a block, None if there is none.
    """

    records: int
    lot: int
    epochs: int | None
    gradient: tuple[int, int] | None
    features: tuple[int, int] | None

    def plans(self) -> dict[str, Plan]:
        """Return the plans of the releases, by what noise is added to."""
        result: dict[str, Plan] = {}
        if self.epochs and self.gradient:
            shapes = {"largest": self.gradient}
            result["gradients"] = Gradients(
                records=self.records, lot=self.lot, epochs=self.epochs, clip=1.0, shapes=shapes
            )
        if self.features:
            block, size = self.features
            result["features"] = Features(features=size, records=self.records, lot=block)
        return result


#: Settings by the name of the data set in this project.
SETTINGS = {
    "mnist": Setting(55_000, 1024, 100, (1024, 84), (256, 400)),
    "cifar10": Setting(50_000, 1024, 30, (1024, 512), (256, 512)),
    "cora": Setting(1_140, 200, 50, (1436, 16), None),
    "adult": Setting(32_561, 512, 50, (105, 12), None),
    "svhn": Setting(73_257, 1024, 60, (4096, 512), (1024, 1024)),
    "imdb": Setting(25_000, 256, None, None, (256, 150)),
}


def settings(_seed: int) -> pd.DataFrame:
    """Return noise and tight epsilon of IMGM in every published setting, run here or not.

    Returns:
        One row per data set, perturbation, scheme, ``lots`` and claimed epsilon. ``perturbation``
        is ``gradients`` (Type I) or ``features`` (Type II). The schemes are:

        - ``imgm``: by the paper's theorems;
        - ``imgm_amplified``: with the paper's amplification;
        - ``imgm_code`` and ``imgm_code_batch_steps``: by the authors' code, on its data sets, for
          every batch size that it sets.

        ``lots`` says whether lots and epochs are those of the ``paper`` or of the ``code``. Both
        are accounted as Poisson samples, although the code shuffles. On features q is the block of
        Table 1 over the records; ``lots`` also names two other readings (``Q_BATCH``, ``Q_LOT``),
        in rows of their own where q differs by them. ``lot`` and ``batch`` count
        records; the batch is missing where nothing depends on it. ``multiplier`` is the noise
        multiplier, 1 / mu of one release.
    """
    rows = []
    for dataset, setting in SETTINGS.items():
        for perturbation, scheme, lots, plan in _cases(dataset, setting):
            for epsilon in EPSILONS[perturbation]:
                noise = registry(perturbation)[scheme].calibrate(plan, epsilon=epsilon, delta=DELTA)
                rows.append(
                    {
                        "dataset": dataset,
                        "perturbation": perturbation,
                        "scheme": scheme,
                        "lots": lots,
                    }
                    | {"epsilon": epsilon, "delta": DELTA, "batch": getattr(plan, "batch", None)}
                    | {name: getattr(plan, name) for name in ("records", "lot", "steps", "rate")}
                    | {"multiplier": 1 / noise.mu, "epsilon_delivered": noise.epsilon_delivered}
                )
    return pd.DataFrame(rows).astype({"batch": "Int64"})


def _cases(dataset: str, setting: Setting) -> Iterator[tuple[str, str, str, Plan]]:
    """Yield perturbation, scheme, source of the lots, and plan of every row of a setting."""
    for perturbation, plan in setting.plans().items():
        yield from ((perturbation, scheme, PAPER_LOTS, plan) for scheme in SCHEMES)
        if perturbation == "features":
            readings = {Q_BATCH: BATCH, Q_LOT: setting.lot}
            for lots, lot in readings.items():
                if lot != plan.lot:
                    yield perturbation, "imgm_amplified", lots, replace(plan, lot=lot)
        if isinstance(plan, Gradients) and dataset in CODED:
            for scheme, batch in itertools.product(CODE, BATCHES):
                yield perturbation, scheme, PAPER_LOTS, replace(plan, batch=batch)
            in_code = replace(plan, epochs=CODE_EPOCHS, **CODE_SETTINGS[dataset])
            yield from ((perturbation, scheme, CODE_LOTS, in_code) for scheme in CODE)


THEORY = {"settings": settings}
