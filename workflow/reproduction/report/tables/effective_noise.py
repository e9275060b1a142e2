"""By what factor the noise of each release could shrink, from the privacy audit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction import catalogue, job_settings
from reproduction.report import audit_status, markup
from reproduction.report.inputs import Run
from reproduction.report.tables import audit
from reproduction.report.tables.base import Column, Table, empty, lines

COLUMNS = (
    *("experiment", "mechanism", "query", "direction", "configuration", "epsilon", "delta"),
    *("noise_std", "noise_inflation", "rescaled_std", "also", *audit_status.COLUMNS),
    *("lower", "upper"),
)
CAPTION = (
    "Root mean square standard deviation of a released entry, in units of the scaled data; by what "
    "factor it could shrink at the same guarantee; and what would do: the same shape, exactly "
    "calibrated. Ranges are over directions, shares and sketch sizes."
)

SHOWN = (
    Column("Mechanism", markup.mechanism),
    Column("Direction", "direction"),
    Column("Configuration", "configuration"),
    Column("Noise (std)", "noise_std", "noise_std"),
    Column("Noise inflation", "noise_inflation", "noise_inflation"),
    Column("Noise that suffices", "rescaled_std", "rescaled_std"),
    Column("Audit", audit_status.words),
)


def build(run: Run) -> Table:
    """Return, per release whose noise inflation is known, its noise and the noise that suffices.

    A refuted mechanism has no noise that suffices, and so neither ``noise_inflation`` nor
    ``rescaled_std``. ``also`` are other names of the same noise distribution. ``lower`` and
    ``upper`` are the public range of an entry, NaN where it differs between features.
    """
    parts = []
    for experiment, table in audit.releases(run).groupby("experiment", sort=False):
        known = run[f"rows/{experiment}"].query("not repeats").drop_duplicates("mechanism")
        known = known[["mechanism", "also", *audit_status.COLUMNS]]
        lower, upper = _bounds(run, str(experiment))
        known = known.assign(lower=lower, upper=upper)
        parts.append(table[table["noise_inflation"].notna()].merge(known, on="mechanism"))
    frame = pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)
    if frame.empty:
        return empty("Noise inflation", run)
    wrong = audit_status.refuted(frame)
    frame.loc[wrong, ["noise_inflation", "rescaled_std"]] = float("nan")
    return Table(
        title="Noise inflation",
        caption=CAPTION,
        frame=frame,
        columns=SHOWN,
        groups=lines(frame, "experiment", title=lambda name: catalogue.experiment(name).title),
    )


def _bounds(run: Run, experiment: str) -> tuple[float, float]:
    """Return the public range of an entry of an experiment's data, NaN if features differ in it."""
    data = run[f"data/{job_settings.dataset(run.settings, experiment)}"]
    ends = {*zip(data["lower"], data["upper"], strict=True)}
    return ends.pop() if len(ends) == 1 else (np.nan, np.nan)


def mvg_noise(table: pd.DataFrame) -> pd.DataFrame:
    """Return MVG's private rows, without noise that is a part of what their directions cost."""
    mvg = table["mechanism"].isin(catalogue.section("papers")["MVG"])
    return table[mvg & table["noise_std"].gt(0) & ~audit_status.refuted(table)]
