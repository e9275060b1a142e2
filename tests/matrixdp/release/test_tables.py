"""A person's file: what is read of each kind, in blocks, and what is refused in one sentence."""

import csv
import decimal
import tracemalloc
from pathlib import Path

import harness
import numpy as np
import pytest
from exactness import same_copies

import matrixdp as mdp
from matrixdp.checks import InputError
from matrixdp.privacy import exact_sums
from matrixdp.release import notation, storage, tables

ROWS = np.arange(40_000.0).reshape(20_000, 2)


def read(path, columns=("a", "b")):
    return np.concatenate(list(tables.blocks(path, columns)))


def written(path):
    if path.suffix == ".csv":
        np.savetxt(path, ROWS, delimiter=",", header="0,1", comments="")
    elif path.suffix == ".parquet":
        _parquet(path, {"0": ROWS[:, 0], "1": ROWS[:, 1]})
    else:
        np.save(path, ROWS)
    return path


def _parquet(path, columns, **given):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    arrow.parquet = pytest.importorskip("pyarrow.parquet")
    arrow.parquet.write_table(arrow.table(columns), path, **given)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
def test_blocks_are_small_and_in_order(tmp_path, suffix):
    blocks = list(tables.blocks(written(tmp_path / f"rows{suffix}"), ("1", "0")))
    assert max(map(len, blocks)) <= 1 << 14
    assert len(blocks) > 1
    assert same_copies(np.concatenate(blocks), ROWS[:, ::-1])


def _wide(path, columns):
    """Read some columns of 400 records of 3,000."""
    if path.suffix == ".csv":
        line = ",".join(["0.25"] * 3000)
        path.write_text("\n".join([",".join(map(str, range(3000))), *[line] * 400]))
    else:
        np.save(path, np.full((400, 3000), 0.25))
    tracemalloc.reset_peak()
    return sum(block.size for block in tables.blocks(path, columns))


def _frame(_, columns):
    rows = np.full((4000, 3000), 0.25)
    tracemalloc.reset_peak()
    blocks = tables.blocks(Path("x"), columns, np.zeros(len(columns)), frame=rows)
    return sum(block.size for block in blocks)


def _sums(path, _):
    query = mdp.MeanQuery(mdp.Box.cube(3000, 0.0, 1.0), 4000)
    rows = np.full((4000, 3000), 0.25)
    tracemalloc.reset_peak()
    return exact_sums.value(query, [rows]).size


def _products(path, _):
    query = mdp.SecondMomentQuery(mdp.Box.cube(1000, 0.0, 1.0), 2)
    tracemalloc.reset_peak()
    return exact_sums.value(query, [np.ones((2, 1000))]).size


ALL = tuple(map(str, range(3000)))


@pytest.mark.parametrize(
    ("door", "name", "columns", "size", "megabytes"),
    [
        # Two columns of 3,000; all lines of a block stood in memory as texts.
        (_wide, "x.csv", ("7", "2999"), 800, 4),
        (_wide, "x.npy", ("7", "2999"), 800, 4),
        # All columns; a block had 16,384 records, or 32,768, however wide.
        (_wide, "x.csv", ALL, 1_200_000, 40),
        (_frame, "", ALL, 12_000_000, 96 + 80),
        (_sums, "", (), 3000, 96 + 80),
        # A matrix of 8 MB; it was a matrix of Python's integers.
        (_products, "", (), 1_000_000, 36),
    ],
)
def test_memory_follows_the_numbers_that_are_asked_for(
    tmp_path, door, name, columns, size, megabytes
):
    tracemalloc.start()
    try:
        assert door(tmp_path / name, columns) == size
        assert tracemalloc.get_traced_memory()[1] < megabytes * 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("query", [mdp.MeanQuery, mdp.SecondMomentQuery])
def test_sums_of_more_records_than_fit_into_int64_are_the_same(monkeypatch, query):
    rows = np.random.default_rng(0).uniform(-2, 2, (40, 3))
    asked = query(mdp.Box.cube(3, -1.0, 1.0), 40)
    exact = exact_sums.value(asked, np.split(rows, 8))
    monkeypatch.setattr(exact_sums, "_MANY", 7)
    assert same_copies(exact_sums.value(asked, np.split(rows, 8)), exact)


def test_missing_values_get_their_fill_and_infinite_ones_stay(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n,2\nNA,inf\n3, n/a \n")
    (block,) = tables.blocks(path, ("a", "b"), np.array([-1.0, -2.0]))
    assert block.tolist() == [[-1, 2], [-1, np.inf], [3, -2]]
    np.save(tmp_path / "rows.npy", np.array([[np.nan, 2], [np.inf, 3]]))
    (block,) = tables.blocks(tmp_path / "rows.npy", ("0", "1"), np.array([-1.0, -2.0]))
    assert block.tolist() == [[-1, 2], [np.inf, 3]]
    with pytest.raises(InputError, match="no finite number in record 1, column 'a'"):
        list(tables.blocks(path, ("a", "b"), np.array([np.nan, 0])))
    with pytest.raises(InputError, match="no finite number in record 1, column 'a'"):
        read(path)


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "NaN", "null", "None", "<NA>", "NaT"])
def test_the_words_for_a_missing_value(tmp_path, cell):
    assert read_text(tmp_path / "x.csv", f"a,b\n{cell},2\n", columns=("a", "b")) == [[9, 2]]


@pytest.mark.parametrize("empty", ["", " ", '""'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_line_is_a_record_of_a_single_column_wherever_it_stands(tmp_path, empty, end):
    path = tmp_path / "rows.csv"
    path.write_bytes(end.join(["", "a", "1", empty, "3", empty, empty, ""]).encode())
    (block,) = tables.blocks(path, ("a",), np.array([9.0]))
    assert block.tolist() == [[1], [9], [3], [9], [9]]


def test_an_empty_line_is_no_record_of_several_columns(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n\n3,4\n\n\n")
    assert read(path).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
@pytest.mark.parametrize("damage", ["empty", "cut", "bytes", "text"])
def test_a_damaged_file_is_one_sentence(tmp_path, suffix, damage):
    path = written(tmp_path / f"rows{suffix}")
    whole = path.read_bytes()
    path.write_bytes(
        {
            "empty": b"",
            "cut": whole[: len(whole) // 2 - 1] if suffix != ".csv" else whole[:-1] + b',"',
            "bytes": whole[:9] + b"\xff" * 40 + whole[49:],
            "text": b"no table\n" * 9,
        }[damage]
    )
    with pytest.raises(InputError, match="rows") as told:
        read(path, ("0", "1"))
    assert "\n" not in str(told.value)
    # An error of decoding holds the records that it read.
    assert told.value.__cause__ is None
    assert isinstance(told.value.__context__, csv.Error | None)


def test_parquet_takes_every_kind_of_number(tmp_path):
    kinds = {
        "whole": np.array([1, 2, 3], np.int16),
        "single": np.array([1, 2, 3], np.float32),
        "yes or no": [True, False, True],
        "decimal": [decimal.Decimal("1.25")] * 3,
    }
    path = _parquet(tmp_path / "rows.parquet", kinds, row_group_size=2)
    assert read(path, tuple(kinds)).T.tolist() == [[1, 2, 3], [1, 2, 3], [1, 0, 1], [1.25] * 3]


def test_parquet_columns_of_words_by_number_are_words(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    words, numbers = (
        arrow.array(values).dictionary_encode() for values in (["x", "y", "x"], [7, 8, 7])
    )
    path = _parquet(tmp_path / "rows.parquet", {"a": words, "b": numbers})
    assert read(path, ("b",)).T.tolist() == [[7, 8, 7]]
    with pytest.raises(InputError, match="has string in column 'a'"):
        read(path)


@pytest.mark.parametrize("group", [20_000, 400_000])
def test_parquet_is_not_read_ahead(tmp_path, group):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    values = np.random.default_rng(1).uniform(size=(400_000, 2)).T
    columns = {"a": values[0], "b": values[1]}
    small = {"use_dictionary": False, "data_page_size": 1 << 16}
    path = _parquet(tmp_path / "rows.parquet", columns, row_group_size=group, **small)
    before, most = arrow.total_allocated_bytes(), 0
    for _ in tables.blocks(path, ("a", "b")):
        most = max(most, arrow.total_allocated_bytes() - before)
    assert most < path.stat().st_size / 4


# --- Numbers as hospitals write them ------------------------------------------------------------

GERMAN = notation.Dialect(";", ",")


def read_text(path, text, dialect=notation.USUAL, columns=("a",)):
    """Return the values of a text of CSV as rows; missing ones are 9."""
    path.write_text(text, encoding="utf-8")
    fill = np.full(len(columns), 9.0)
    return np.concatenate([*tables.blocks(path, columns, fill, None, dialect)]).tolist()


@pytest.mark.parametrize("separator", notation.SEPARATORS)
def test_a_file_is_read_by_its_separator(tmp_path, separator):
    text = "a,b\n1.5,x\n,\n-2e-1,y\n".replace(",", separator)
    dialect = notation.Dialect(separator)
    assert read_text(tmp_path / "x.csv", text, dialect) == [[1.5], [9], [-0.2]]


def test_decimal_commas_are_read_in_the_cells_of_semicolons(tmp_path):
    text = 'a;b\n1,5;2\n;NA\n" -0,25 ";1e3\n'
    rows = read_text(tmp_path / "x.csv", text, GERMAN, ("a", "b"))
    assert rows == [[1.5, 2], [9, 9], [-0.25, 1000]]


@pytest.mark.parametrize("cell", ["inf", "Infinity", "+INF", "1e999", " inf\xa0"])
def test_infinite_values_are_numbers_as_in_other_formats(tmp_path, cell):
    assert read_text(tmp_path / "x.csv", f"a\n{cell}\n") == [[np.inf]]


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet", ".CSV", ".Npy", ".Parquet"])
def test_booleans_are_numbers_in_every_format_whatever_the_case_of_a_suffix(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    if suffix.lower() == ".csv":
        path.write_text("0\ntrue\nFALSE\nFalse\n True \n")
    elif suffix.lower() == ".parquet":
        _parquet(path, {"0": [True, False, False, True]})
    else:
        with path.open("wb") as file:
            np.save(file, np.array([[True], [False], [False], [True]]))
    assert read(path, ("0",)).tolist() == [[1], [0], [0], [1]]
    assert storage.find(path)[:2] == (path.with_name(f"{path.name}{storage.SUFFIX}"), path)


def test_a_column_may_have_the_name_of_a_key(folder):
    names = ("age", "income", "weight", "label")
    bounds = dict.fromkeys(names, (0, 200))
    assert harness.spec(folder, bounds=bounds).columns == names
