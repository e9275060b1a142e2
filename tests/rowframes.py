"""Trial rows as frames, which are easier to ask."""

from __future__ import annotations

import numpy as np
import pandas as pd

from matrixdp import trials
from matrixdp.experiments import study


def frame(rows: trials.Rows) -> pd.DataFrame:
    return pd.DataFrame(trials.columns(rows)).fillna(np.nan)


def run(*arguments: object) -> pd.DataFrame:
    return frame(study.run(*arguments))


def sweep(task: object, mechanism: str, scaled: dict, settings: object) -> pd.DataFrame:
    return frame(study.sweep(task, mechanism, scaled.__getitem__, settings))
