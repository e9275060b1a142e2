"""Cardiotocography: 21 features of 2,126 fetal heart recordings, in an Excel sheet."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from matrixdp.checks import Array

_RECORDS = 2126


def read(members: Mapping[str, bytes]) -> Array:
    """Return the records, shape (2126, 21), columns LB to Tendency.

    Sheet ``Data`` has the names in row 2 and totals below the records. Left of LB it has counts of
    the same events, under the same names as the rates per second that are used here.
    """
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(members["CTG.xls"]))
    _, names, *rows = book.get_sheet_by_name("Data").to_python(skip_empty_area=False)
    columns = slice(names.index("LB"), names.index("Tendency") + 1)
    return np.array([row[columns] for row in rows[:_RECORDS]], dtype=np.float64)
