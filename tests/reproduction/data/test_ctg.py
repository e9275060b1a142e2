from types import SimpleNamespace

import numpy as np
import python_calamine

from reproduction.data import ctg


def test_records_lie_below_the_second_row_and_right_of_the_counts(monkeypatch):
    names = ["AC", "", "LB", "AC", "Tendency", "NSP"]
    rows = [[5.0, "", i + 0.0, i + 0.1, i + 0.2, 1.0] for i in range(3)]
    sheet = [["Counts", *[""] * 5], names, *rows, ["", "", 99.0, 99.0, 99.0, ""]]
    book = SimpleNamespace(
        get_sheet_by_name=lambda name: SimpleNamespace(
            to_python=lambda skip_empty_area: sheet if name == "Data" else []
        )
    )
    reader = SimpleNamespace(from_filelike=lambda file: book)
    monkeypatch.setattr(python_calamine, "CalamineWorkbook", reader)
    monkeypatch.setattr(ctg, "_RECORDS", 3)
    records = ctg.read({"CTG.xls": b""})
    np.testing.assert_allclose(records, [[0, 0.1, 0.2], [1, 1.1, 1.2], [2, 2.1, 2.2]])
