"""Cardiotocography: 21 features of 2,126 fetal heart recordings, in an Excel sheet."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from matrixdp.checks import Array

_RECORDS = 2126


def read(members: Mapping[str, bytes]) -> Array:
    """Return the records, shape (2126, 21), columns LB to Tendency.

    Sheet ``Data`` has the names in row 2 and totals below the records. Left of LB it has the same
    events as counts, under the same names as the rates per second that are taken here.
    """
    import pandas as pd

    sheet = pd.read_excel(
        io.BytesIO(members["CTG.xls"]),
        sheet_name="Data",
        header=1,
        nrows=_RECORDS,
        engine="calamine",
    )
    return sheet.loc[:, "LB":"Tendency"].to_numpy(dtype=np.float64)
