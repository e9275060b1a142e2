"""Neighbours as files: one line or row added, removed or replaced changes one record at most."""

import csv
import warnings
from collections import Counter
from itertools import product

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrixdp as mdp
from matrixdp.checks import InputError
from matrixdp.release import csv_text, notation, tables
from matrixdp.release.people import People

#: Lines with what a reader of CSV treats in its own way, for files of one column and of two.
LINES = ["", " ", "\t", "1", "2", "NA", '""', '"3"', '"4', '5"', '"', '"",""', '","', "6,7", ","]
LINES += ["true", "FALSE", "1_0", "6;7", "1.5", "1;5,2", "6|7"]
#: How files are written; the texts have the characters of the first, and swap them for others.
DIALECTS = [
    notation.USUAL,
    notation.Dialect(";", ","),
    notation.Dialect("\t"),
    notation.Dialect("|"),
]
#: Names of one column and of two, also with quotes that nothing closes in their line.
HEADERS = {
    1: ["a", '"a"', '"a', 'a"'],
    2: ["a,b", '"a",b', 'b,"a', 'b,"', 'a,b"', '"a,b', 'b,"a""'],
}
#: Numbers, also missing ones, infinite ones and whole ones that float64 does not tell apart.
NUMBERS = [0.0, -0.0, 1.5, np.nan, np.inf, 1e308]
WHOLE = [0, 1, 2**53 + 1, -(2**63), 2**63 - 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("neighbours")


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("matrixdp.release.columns._ROWS", 3)


def records(path, columns, dialect=notation.USUAL):
    """Return the bytes of each record that is read, in order, or None where a file is refused."""
    try:
        blocks = list(tables.blocks(path, columns, np.full(len(columns), 9.0), None, dialect))
    except InputError:
        return None
    return [row.tobytes() for block in blocks for row in block]


def apart(one, other):
    """Return how many records have to be added, removed or replaced in a row."""
    pairs = [*zip(one, other, strict=False)]
    same = next((k for k, (a, b) in enumerate(pairs) if a != b), len(pairs))
    one, other = one[same:], other[same:]
    pairs = [*zip(reversed(one), reversed(other), strict=False)]
    same = next((k for k, (a, b) in enumerate(pairs) if a != b), len(pairs))
    return max(len(one), len(other)) - same


@st.composite
def edits(draw, items):
    """Return two lists, the second one with one item added, removed or replaced."""
    one = draw(st.lists(items, min_size=1, max_size=8))
    place = draw(st.integers(0, len(one) - 1))
    kind = draw(st.sampled_from(["add", "remove", "replace"]))
    new = [] if kind == "remove" else [draw(items)]
    return one, [*one[:place], *new, *one[place + (kind != "add") :]]


@st.composite
def csv_files(draw):
    """Return the number of columns, and the texts of two files that differ in one line."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    columns = draw(st.sampled_from([1, 2]))
    header = draw(st.sampled_from(HEADERS[columns]))
    readable, any_line = (
        ["", "1", " "] if header.count('"') % 2 == 0 else ["6,7", '6,7"'],
        st.one_of(*map(st.just, LINES), st.text(' 1,"\r', max_size=5)),
    )
    pair = draw(st.one_of(edits(st.sampled_from(readable)), edits(any_line)))
    start = draw(st.sampled_from(["", "\ufeff"])) + draw(st.sampled_from(["", end]))
    # An empty last line without an end is no line.
    last = "" if draw(st.booleans()) and all(one and one[-1] for one in pair) else end
    return columns, *(start + end.join([header, *one]) + last for one in pair)


def _written(folder, text):
    path = folder / "rows.csv"
    path.write_bytes(text.encode())
    return path


def _translated(text, dialect):
    """Return a text with the separator of a dialect for commas, and commas for it."""
    return text.translate(str.maketrans({",": dialect.separator, dialect.separator: ","}))


def found(folder, files, dialect=notation.USUAL):
    """Return how far the records of two files of CSV are apart, 0 if one of them is refused.

    Only the last column is read, so that a text in the other one is no reason to refuse a file.
    """
    columns, *texts = files
    read = []
    for text in texts:
        path = _written(folder, _translated(text, dialect))
        read.append(records(path, ("ab"[columns - 1],), dialect))
    return 0 if None in read else apart(*read)


@given(files=csv_files(), dialect=st.sampled_from(DIALECTS))
@hypothesis.settings(
    max_examples=300, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_a_line_of_csv_is_one_record_at_most(folder, small_blocks, files, dialect):
    assert found(folder, files, dialect) <= 1


#: Numbers, words and what is a number in some dialects.
CELLS = ["1", "1,5", "2.5", "true", "FALSE", "1_0", "1e3", "NA", "-0", "inf", "a", "\uff11", '"3"']


def others_decide(folder, lines, dialect):
    """Return whether a line is read in another way than in a file of its own."""
    header, cells = "a", [cell for cell in lines if dialect.separator not in cell]
    read = [
        records(_written(folder, "\n".join([header, *some, ""])), ("a",), dialect)
        for some in ([cell] for cell in cells)
    ]
    whole = records(_written(folder, "\n".join([header, *cells, ""])), ("a",), dialect)
    return whole != (None if None in read else [row for rows in read for row in rows])


CELLS_OF_A_FILE = st.lists(st.sampled_from(CELLS), min_size=1, max_size=6)


@given(lines=CELLS_OF_A_FILE, dialect=st.sampled_from(DIALECTS))
@hypothesis.settings(
    max_examples=150, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_a_cell_is_read_alike_whatever_the_others_are(folder, small_blocks, lines, dialect):
    assert not others_decide(folder, lines, dialect)


def one_by_one(cells, dialect):
    """Return the numbers of cells as bytes; None where one states none."""
    try:
        return np.array([notation.value(cell, dialect) for cell in cells]).tobytes()
    except ValueError:
        return None


@given(cells=CELLS_OF_A_FILE, dialect=st.sampled_from(DIALECTS))
def test_the_cells_of_a_record_are_read_as_each_alone(cells, dialect):
    numbers = csv_text._plain_numbers(cells, dialect)
    # What is not plain is read one by one: other digits, and blanks beside these.
    assert numbers is None or np.array(numbers).tobytes() == one_by_one(cells, dialect)
    assert numbers is not None or one_by_one(cells, dialect) is None or not "".join(cells).isascii()


def test_a_decimal_that_is_guessed_lets_a_line_decide_on_others(folder, monkeypatch):
    """A decimal comma in one line would make others numbers, or end the release."""
    honest, commas = notation.value, set()

    def guess(cell, dialect):
        if "," in cell:
            commas.add(cell)
        return honest(cell, notation.Dialect(";", ",") if commas else dialect)

    monkeypatch.setattr(notation, "value", guess)
    monkeypatch.setattr(csv_text, "_plain_numbers", lambda cells, dialect: None)
    assert others_decide(folder, ["2.5", "1,5"], notation.Dialect("|"))
    monkeypatch.undo()
    assert not others_decide(folder, ["2.5", "1,5"], notation.Dialect("|"))


def but_at_the_end(path, lines, columns, dialect):
    """Yield records by another rule: empty lines count once a later line follows."""
    empty = 0
    for line in lines:
        if line:
            yield from [(1, [""])] * (empty if columns == 1 else 0)
            yield 1, line
        empty = 0 if line else empty + 1


def test_the_search_finds_a_rule_by_which_a_line_decides_on_earlier_ones(folder, monkeypatch):
    monkeypatch.setattr(csv_text, "_records", but_at_the_end)
    settings = hypothesis.settings(
        max_examples=5000, derandomize=True, database=None, phases=[hypothesis.Phase.generate]
    )
    files = hypothesis.find(csv_files(), lambda files: found(folder, files) > 1, settings=settings)
    assert found(folder, files) > 1
    monkeypatch.undo()
    assert found(folder, files) <= 1


def over_several_lines(path, texts, separator):
    """Read lines of CSV as other programs do, that go on within quotes."""
    return csv.reader(texts, strict=True, delimiter=separator)


def test_no_line_decides_whether_later_ones_are_records(folder, monkeypatch):
    """A quote that opens in one line, and closes in another."""
    files = 2, 'a,b\n"x\n1,2\n3,4\ny",7\n', 'a,b\n1,2\n3,4\ny",7\n'
    assert found(folder, files) == 0
    with pytest.raises(InputError, match="line break within quotes in line 2; write the names of"):
        list(tables.blocks(_written(folder, files[1]), ("b",)))
    monkeypatch.setattr(csv_text, "_lines", over_several_lines)
    assert found(folder, files) > 1


def test_no_line_decides_how_long_the_names_go_on(folder, monkeypatch):
    """A quote that opens in the names' line, and closes in a record."""
    late = ['b,"note', *["1,2"] * 9, '3,4"', "5,6", ""]
    early = [*late[:1], '7,8"', *late[1:]]
    files = 2, *("\n".join(lines) for lines in (late, early))
    assert found(folder, files) == 0
    for text in (*files[1:], 'b,"note\n', 'b,"no\nte"\n1,2\n'):
        with pytest.raises(InputError, match="quotes.* in line 1;"):
            list(tables.blocks(_written(folder, text), ("b",)))
    monkeypatch.setattr(csv_text, "_lines", over_several_lines)
    assert found(folder, files) > 1


def test_the_search_finds_names_that_go_on(folder, monkeypatch):
    monkeypatch.setattr(csv_text, "_lines", over_several_lines)
    settings = hypothesis.settings(
        max_examples=5000, derandomize=True, database=None, phases=[hypothesis.Phase.generate]
    )
    files = hypothesis.find(csv_files(), lambda files: found(folder, files) > 1, settings=settings)
    monkeypatch.undo()
    assert found(folder, files) == 0


def test_carriage_returns_alone_end_no_line(tmp_path):
    """Before a line that is a line feed alone they would join it."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a\r1\r2\r")
    with pytest.raises(InputError, match="carriage return within its first line; save it with"):
        list(tables.blocks(path, ("a",)))
    path.write_bytes(b"a\n1\r2\n\n")
    with pytest.raises(InputError, match="save it as UTF-8, with line feeds at the ends of lines"):
        list(tables.blocks(path, ("a",)))


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        *product([".npy"], [np.float64, np.int64, np.longdouble, bool]),
        *product([".parquet"], [np.float64, np.int64, bool]),
    ],
)
def test_a_row_of_other_files_is_one_record(folder, small_blocks, suffix, kind):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    number = st.sampled_from(NUMBERS)
    if kind in (np.int64, bool):
        number = st.booleans() if kind is bool else st.sampled_from(WHOLE)
    if suffix == ".parquet":
        number = st.one_of(number, st.none())

    @given(pair=edits(st.tuples(number, number)), order=st.sampled_from("CF"))
    @hypothesis.settings(max_examples=25)
    def search(pair, order):
        columns = ("a", "b") if suffix == ".parquet" else ("1", "0")
        read = []
        for number, rows in enumerate(pair):
            path = folder / f"rows{number}{suffix}"
            _write(path, rows, kind, order)
            read.append(records(path, columns))
        assert [*map(len, read)] == [*map(len, pair)]
        assert apart(*read) <= 1

    search()


def _write(path, rows, kind, order):
    if path.suffix == ".parquet":
        import pyarrow
        from pyarrow import parquet

        parts = [*zip(*rows, strict=True)] or [(), ()]
        types = [pyarrow.from_numpy_dtype(kind)] * 2
        table = pyarrow.table([*map(pyarrow.array, parts, types)], names=["a", "b"])
        parquet.write_table(table, path, row_group_size=2 if order == "C" else 100)
    else:
        array = np.array(rows, dtype=kind, order=order).reshape(-1, 2)
        np.save(path, array)


PEOPLE = st.tuples(st.sampled_from(["Ann", "Bob", '"Ann"', "1", "2.0"]), st.integers(0, 99))


@given(pair=edits(st.one_of(PEOPLE, st.just(None))), most=st.integers(1, 3))
def test_a_line_changes_which_records_of_its_person_alone_count(folder, pair, most):
    """Records show whose they are; None is an empty line."""
    numbers = {"Ann": 100, '"Ann"': 100, "Bob": 200, "1": 300, "2.0": 400}
    counting = []
    for lines in pair:
        texts = [f"{one[0]},{numbers[one[0]] + one[1]}" if one else "" for one in lines]
        path = folder / "people.csv"
        path.write_text("\n".join(["patient,a", *texts, ""]))
        blocks = list(tables.blocks(path, ("a",), None, People("patient", most)))
        counting.append([value for block in blocks for value in block.ravel().tolist()])
    one, other = map(Counter, pair)
    changed = {numbers[line[0]] for line in (one - other) + (other - one) if line}
    for person in {*numbers.values()}:
        first, second = ([v for v in kept if v // 100 * 100 == person] for kept in counting)
        assert max(len(first), len(second)) <= most
        assert person in changed or first == second


# --- What it means for a release --------------------------------------------------------------


def _table(path, rows):
    names = [str(k) for k in range(rows.shape[1])]
    if path.suffix == ".csv":
        lines = [",".join(map(repr, row)) for row in rows.tolist()]
        path.write_text("\n".join([",".join(names), *lines]))
    elif path.suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table([*rows.T], names=names), path)
    else:
        np.save(path, rows)


# --- Messages ---------------------------------------------------------------------------------


def _signalling(kind):
    bits = {2: 0x7C01, 4: 0x7F800001, 8: 0x7FF0000000000001}[np.dtype(kind).itemsize]
    return np.array([[bits]], dtype=f"u{np.dtype(kind).itemsize}").view(kind)


#: Numbers beyond float64, which Parquet has not, and missing values that processors warn of.
BEYOND = [np.array([[np.longdouble("1e4000")]]), -np.array([[np.longdouble("1e4000")]])]
MISSING = [*map(_signalling, (np.float16, np.float32, np.float64))]
WARNING = [*BEYOND, *MISSING]


@pytest.mark.parametrize(
    ("suffix", "value"),
    [*product([".csv", ".npy"], WARNING), *product([".parquet"], MISSING)],
)
def test_no_warning_of_a_file_depends_on_a_number(tmp_path, suffix, value):
    path, column = tmp_path / f"rows{suffix}", "0"
    if suffix == ".csv":
        path.write_text(f"0\n{value[0, 0]!s}\n")
    elif suffix == ".parquet":
        _table(path, value)
    else:
        np.save(path, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (block,) = tables.blocks(path, (column,), np.array([9.0]))
    assert block.tolist() == [[9.0 if np.isnan(value[0, 0]) else np.sign(value[0, 0]) * np.inf]]


@pytest.mark.parametrize("value", WARNING)
def test_no_warning_of_an_estimator_depends_on_a_number(value):
    X = np.repeat(value, 4000, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mechanism in ("recommend", "clipped"):
            mdp.Covariance(bounds=(0, 1), delta=1e-6, mechanism=mechanism, missing="middle").fit(X)
        ridge = mdp.PrivateRidge(bounds=(0, 1), target_bounds=(0, 1), missing="middle")
        ridge.fit(X, X[:, 0])
