"""What the papers' cells imply, from the tables that there are."""

import pandas as pd
from samplerun import put, settle

from matrixdp.report import tables
from matrixdp.report.tables import implied


def test_implied_cells_come_from_the_tables(tmp_path):
    columns = dict.fromkeys([*implied.COLUMNS[1:], "published"], "")
    cell = columns | {"published": "1.6", "mechanism": "laplace", "method": "L"}
    cell |= {"epsilon": "1", "implied_epsilon": 3.5, "data_status": "original"}
    rows = [cell, cell | {"mechanism": "random"}, cell | {"published": ""}]
    put(tmp_path / "tables/table4.csv", pd.DataFrame(rows).to_csv(index=False))
    settle(tmp_path)
    tables.write(["implied"], results=tmp_path)
    found = pd.read_csv(tmp_path / "tables/implied.csv")
    shown = found[["table", "mechanism", "implied_epsilon", "epsilon"]].values.tolist()
    assert shown == [[4, "laplace", 3.5, 1]]
    markdown = (tmp_path / "tables/implied.md").read_text()
    assert "| **Table 4** |" in markdown
    assert "| L |  |  | 1 |  | 3.5 |  |" in markdown


def test_without_tables_nothing_is_implied(tmp_path):
    settle(tmp_path)
    tables.write(["implied"], results=tmp_path)
    assert "Nothing to show" in (tmp_path / "tables/implied.md").read_text()
