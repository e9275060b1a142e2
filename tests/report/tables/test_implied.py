"""What the papers' cells imply, from the tables that there are."""

import pandas as pd
from samplerun import put, settle

from matrixdp.report import tables
from matrixdp.report.tables import implied


def test_implied_cells_come_from_the_tables(tmp_path):
    columns = dict.fromkeys([*implied.COLUMNS[1:], "published"], "")
    cell = columns | {"published": "1.6", "mechanism": "laplace", "method": "L"}
    cell |= {"epsilon": "1", "implied_epsilon": 3.5, "data_status": "original", "n_trials": 10}
    cell |= {"base": "random", "over_base": 0.9, "published_over_base": 0.5}
    nowhere = cell | {"method": "N", "implied_epsilon": ""}
    rows = [cell, nowhere, cell | {"mechanism": "random"}, cell | {"published": ""}]
    put(tmp_path / "tables/table4.csv", pd.DataFrame(rows).to_csv(index=False))
    settle(tmp_path)
    tables.write(["implied"], results=tmp_path)
    found = pd.read_csv(tmp_path / "tables/implied.csv")
    shown = found[["table", "mechanism", "implied_epsilon", "epsilon"]].values.tolist()
    assert shown[0] == [4, "laplace", 3.5, 1]
    assert len(shown) == 2
    markdown = (tmp_path / "tables/implied.md").read_text()
    assert markdown.startswith("### 1 of 2 printed private results come out at no epsilon")
    assert "| **Table 4: ratios to random guess** |" in markdown
    assert "| L | 0.5 | 0.9 | 1 |  | 3.5 | no noise to name |" in markdown
    assert "| N | 0.5 | 0.9 | 1 |  | no epsilon in the grid gives it | - |" in markdown


def test_without_tables_nothing_is_implied(tmp_path):
    settle(tmp_path)
    tables.write(["implied"], results=tmp_path)
    assert "Nothing to show" in (tmp_path / "tables/implied.md").read_text()
