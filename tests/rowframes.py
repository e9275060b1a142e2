"""Trial rows as frames, which are easier to ask."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction import trials
from reproduction.experiments import study


def frame(rows: trials.Rows) -> pd.DataFrame:
    parts = [pd.DataFrame(row if any(map(np.ndim, row.values())) else [row]) for row in rows]
    table = pd.concat(parts, ignore_index=True).reindex(columns=list(trials.COLUMNS))
    return table.fillna(np.nan).infer_objects()


def run(*arguments: object, control: bool = False) -> pd.DataFrame:
    """Return the rows of a study, those on records of zeros if asked for."""
    rows = frame(study.run(*arguments))
    return rows if control else rows[rows["phase"].ne(trials.CONTROL)].reset_index(drop=True)


def sweep(task: object, mechanism: str, scaled: dict, settings: object) -> pd.DataFrame:
    return frame(study.sweep(task, mechanism, scaled.__getitem__, settings))
