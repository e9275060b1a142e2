"""Odd values at every door: what each counts as, or the sentence by which it is refused.

A column has 400 numbers, every second one odd and the others 1, within -10 and 10. Without noise a
mean shows what the odd ones count as.
"""

import datetime
import decimal
import fractions
import functools
import warnings

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.noise import safe
from matrixdp.privacy import cells, exact_sums

pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")
sparse = pytest.importorskip("scipy.sparse")

COUNT, SIDES = 400, (-10.0, 10.0)
PAID = {"epsilon": 9.0, "delta": 1e-6, "even_if_useless": True}
EXACT = {**PAID, "bounds": SIDES, "mechanism": "gaussian"}
#: What a missing value counts as where it is not refused: the middle of the bounds.
MISSING = "missing"
#: Records of which all doors have a fitted estimator, and their target.
PLAIN = np.linspace(-9.0, 9.0, COUNT)[:, None]


def every_second(odd, other=1.0):
    """Return cells of which every second one is odd."""
    column = np.empty(COUNT, dtype=object)
    column[:] = other
    for place in range(1, COUNT, 2):
        column[place] = odd
    return column


# --- What each counts as ------------------------------------------------------------------------

#: Cells of columns of objects, as arrays, data frames and lists have them.
CELLS = {
    "NaN": (np.nan, MISSING),
    "None": (None, MISSING),
    "pandas.NA": (pd.NA, MISSING),
    "a masked cell": (np.ma.masked, MISSING),
    "NaN of decimal": (decimal.Decimal("NaN"), MISSING),
    "signalling NaN": (decimal.Decimal("sNaN"), MISSING),
    "infinite": (np.inf, 10.0),
    "below all": (-np.inf, -10.0),
    "a whole number beyond float64": (10**400, 10.0),
    "one below it": (-(10**400), -10.0),
    "a fraction beyond float64": (fractions.Fraction(10**400), 10.0),
    "a decimal beyond float64": (decimal.Decimal("-1e400"), -10.0),
    "a wide number beyond float64": (np.longdouble("1e4000"), 10.0),
    "a tiny number": (1e-200, 0.0),
    "minus zero": (-0.0, 0.0),
    "yes": (True, 1.0),
    "no of numpy": (np.False_, 0.0),
    "decimal": (decimal.Decimal("7.5"), 7.5),
    "fraction": (fractions.Fraction(15, 2), 7.5),
    "a half": (np.float16(7.5), 7.5),
    "a wide number": (np.longdouble("7.5"), 7.5),
    "an array of one number": (np.array(7.5), 7.5),
    "a text": ("7.5", "a text in record 2"),
    "a text of bytes": (b"7.5", "a text of bytes in record 2"),
    "a complex number": (7.5 + 0j, "a complex number in record 2"),
    "one of 64 bits": (np.complex64(7.5), "a complex number in record 2"),
    "a date": (datetime.date(2020, 1, 1), "an entry of type date in record 2"),
    "a date of numpy": (np.datetime64("2020-01-01"), "of type datetime64 in record 2"),
    "a missing date": (pd.NaT, "an entry of type NaTType in record 2"),
    "a duration": (datetime.timedelta(1), "an entry of type timedelta in record 2"),
    "a duration of numpy": (np.timedelta64(7, "D"), "of type timedelta64 in record 2"),
    "a time": (datetime.time(7), "an entry of type time in record 2"),
    "a list": ([7.5], "an entry of type list in record 2"),
    "an array": (np.array([7.5, 7.5]), "an entry of type ndarray in record 2"),
    "an object": (..., "an entry of type ellipsis in record 2"),
}
NUMBERS = every_second(7.5).astype(float)
LACKING = every_second(np.nan).astype(float)


def frame(column, dtype=None):
    return pd.DataFrame({"a": pd.array(column, dtype=dtype) if dtype else column})


def sparse_frame(column, fill):
    return frame(pd.arrays.SparseArray(column, fill_value=fill))


def arrow(kind, column):
    pa = pytest.importorskip("pyarrow")
    return frame(column, pd.ArrowDtype(getattr(pa, kind)()))


def computed(method, **more):
    """Return a data frame that is computed when it is read, as other packages have them."""

    def read(self, *_):
        pytest.fail("was read")

    methods = {method: read, "__array__": read, "__getitem__": lambda self, _: self, **more}
    return type("Frame", (), {"columns": ["a"], "dtypes": [float], **methods})()


SIZE = {"__len__": lambda _: COUNT}
STRUCTURED = np.zeros((COUNT, 1), dtype=[("a", float)])
RAGGED = every_second([1.0, 2.0], [1.0])
#: Tables, one column each.
TABLES = {
    "masked": (lambda: np.ma.array(NUMBERS[:, None], mask=np.isnan(LACKING)[:, None]), MISSING),
    "masked objects": (
        lambda: np.ma.array(every_second("7.5")[:, None], mask=np.isnan(LACKING)[:, None]),
        MISSING,
    ),
    "Float64": (lambda: frame(every_second(None), "Float64"), MISSING),
    "Int64": (lambda: frame(every_second(None, 1), "Int64"), MISSING),
    "boolean": (lambda: frame(every_second(None, True), "boolean"), MISSING),
    "arrow": (lambda: arrow("float64", every_second(None)), MISSING),
    "arrow's whole": (lambda: arrow("int64", every_second(7, 1)), 7.0),
    "categories": (lambda: frame(pd.Categorical(NUMBERS)), 7.5),
    "categories, some missing": (lambda: frame(pd.Categorical(LACKING)), MISSING),
    "categories of texts": (
        lambda: frame(pd.Categorical(every_second("x", "y"))),
        "a text in record 1",
    ),
    "sparse frame of NaN": (lambda: sparse_frame(LACKING, np.nan), MISSING),
    "sparse frame of zeros": (lambda: sparse_frame(every_second(0.0).astype(float), 0.0), 0.0),
    "sparse frame of dummies": (
        lambda: pd.get_dummies(frame(every_second("x", "y"))["a"], sparse=True)[["y"]].rename(
            columns={"y": "a"}
        ),
        0.0,
    ),
    "sparse matrix": (lambda: sparse.csr_matrix(NUMBERS[:, None]), "a sparse matrix; give its"),
    "sparse array": (
        lambda: sparse.csc_array(NUMBERS[:, None]),
        "a sparse matrix; give its .toarr",
    ),
    "frame of polars": (lambda: computed("collect"), "holds no records yet; give its .collect()"),
    "frame of Dask": (lambda: computed("__dask_graph__", **SIZE), "yet; give its .compute()"),
    "frame of Spark": (lambda: computed("toPandas"), "yet; give its .toPandas()"),
    "pandas of Spark": (lambda: computed("to_spark", **SIZE), "yet; give its .to_pandas()"),
    "numpy.matrix": (lambda: np.asmatrix(NUMBERS[:, None]), "a numpy.matrix; give numpy.asarray"),
    "structured": (lambda: STRUCTURED[:, 0], "a structured array; give its fields as columns"),
    "structured rows": (lambda: STRUCTURED, "a structured array; give its fields as columns"),
    "bytes": (lambda: np.zeros((COUNT, 1), "V8"), "bytes without a type"),
    "float16": (lambda: NUMBERS[:, None].astype(np.float16), 7.5),
    "longdouble": (lambda: NUMBERS[:, None].astype(np.longdouble), 7.5),
    "uint64": (lambda: NUMBERS[:, None].astype(np.uint64), 7.0),
    "booleans": (lambda: every_second(False, True)[:, None].astype(bool), 0.0),
    "complex": (lambda: NUMBERS[:, None].astype(complex), "complex numbers"),
    "wide complex": (lambda: NUMBERS[:, None].astype(np.clongdouble), "complex numbers"),
    "dates": (lambda: np.full((COUNT, 1), np.datetime64("2020-01-01")), "dates"),
    "durations": (lambda: np.full((COUNT, 1), np.timedelta64(7, "D")), "durations"),
    "texts": (lambda: NUMBERS[:, None].astype(str), "texts"),
    "texts of bytes": (lambda: NUMBERS[:, None].astype(bytes), "texts"),
    "texts of any length": (lambda: NUMBERS[:, None].astype(np.dtypes.StringDType()), "texts"),
    "dates of a frame": (lambda: frame(pd.to_datetime(["2020"] * COUNT)), "dates in column 'a'"),
    "dates with a zone": (
        lambda: frame(pd.to_datetime(["2020"] * COUNT).tz_localize("UTC")),
        "an entry of type Timestamp in record 1",
    ),
    "durations of a frame": (lambda: frame(pd.to_timedelta([7] * COUNT)), "durations in column"),
    "texts of a frame": (lambda: frame(NUMBERS.astype(str)), "a text in record 1"),
    "complex of a frame": (lambda: frame(NUMBERS.astype(complex)), "complex numbers in column 'a'"),
    "periods": (
        lambda: frame(pd.period_range("2020", periods=COUNT)),
        "of type Period in record 1",
    ),
}
#: What is no table.
SHAPES = {
    "no axis": np.array(7.5),
    "one axis": NUMBERS,
    "three axes": NUMBERS[:, None, None],
    "ragged": RAGGED,
    "ragged list": [*RAGGED],
    "an object": object(),
    "nothing": None,
    "a dictionary": {"a": [7.5]},
}


# --- Doors ----------------------------------------------------------------------------------------


def odd_of(mean):
    """Return what the odd cells count as, by a mean."""
    return 2 * mean - 1


def by_make(table, missing):
    made = mdp.make_release(table, query="mean", missing=missing, **EXACT)
    return odd_of(np.asarray(made.answer)[0, 0])


def by_bounds(table, missing):
    """Return what the bounds leave open: an odd value that they hold, or none."""
    (sides,) = mdp.private_bounds(table, missing=missing, **PAID).answer.values()
    return sides


def by_fit(table, missing):
    return odd_of(mdp.Covariance(missing=missing, **EXACT).fit(table).raw_location_[0])


def by_target(table, missing):
    column = table
    if hasattr(table, "columns"):
        column = table[table.columns[0]]
    elif getattr(table, "ndim", 0) == 2 and not hasattr(table, "toarray"):
        column = table if isinstance(table, np.matrix) else table[:, 0]
    elif isinstance(table, list):
        column = [row[0] for row in table]
    ridge = mdp.PrivateRidge(missing=missing, target_bounds=SIDES, **EXACT)
    # The entry of the constant and of y, in half ranges.
    return odd_of(ridge.fit(PLAIN, column).draw_[-2, -1] * 10)


@functools.cache
def fitted(kind, missing):
    more = {"target_bounds": SIDES} if kind is mdp.PrivateRidge else {}
    return kind(missing=missing, **EXACT, **more).fit(PLAIN, PLAIN[:, 0])


def by_predict(table, missing):
    ridge = fitted(mdp.PrivateRidge, missing)
    return (_read(ridge.predict, table)[1] - ridge.intercept_) / ridge.coef_[0]


def by_transform(table, missing):
    pca = fitted(mdp.PrivatePCA, missing)
    return _read(pca.inverse_transform, _read(pca.transform, table))[1, 0]


def _read(method, table):
    """Return what a method makes of a table, whatever its column is called."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X has feature names")
        return method(table)


def by_release(table, _):
    query = mdp.MeanQuery(mdp.Box(*zip(SIDES, strict=True)), COUNT)
    return odd_of(mdp.Gaussian().calibrate(query, epsilon=9.0, delta=1e-6).release(table)[0, 0])


def by_sums(table, _):
    return odd_of(exact_sums.value(mdp.MeanQuery(mdp.Box((-10,), (10,)), COUNT), [table])[0, 0])


DOORS = {
    "make_release": by_make,
    "private_bounds": by_bounds,
    "fit": by_fit,
    "y": by_target,
    "predict": by_predict,
    "transform": by_transform,
    "release": by_release,
    "exact_sums": by_sums,
}
#: Doors that take a missing value whatever is said; it counts as the middle.
FREE = ("release", "exact_sums")
#: Doors that take no lists.
TYPED = ("make_release", "private_bounds")


@pytest.fixture(autouse=True)
def exact(monkeypatch, tmp_path):
    monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.zeros(count, np.int64))
    monkeypatch.chdir(tmp_path)


def check(door, table, outcome):
    """Check what a door makes of a table."""
    if isinstance(outcome, str) and outcome != MISSING:
        words = outcome.partition(" in column")[0] if door == "y" else outcome
        for missing in ("middle", "refuse"):
            with pytest.raises(mdp.InputError) as refusal:
                DOORS[door](table, missing)
            assert words in str(refusal.value)
            assert "7.5" not in str(refusal.value)
            assert refusal.value.__cause__ is refusal.value.__context__ is None
        return
    if outcome == MISSING and door not in FREE:
        with pytest.raises(mdp.InputError, match="finite number in record|lacks a value"):
            DOORS[door](table, "refuse")
    for missing in ("middle",) if outcome == MISSING else ("middle", "refuse"):
        count = DOORS[door](table, missing)
        if door != "private_bounds":
            assert count == pytest.approx(0.0 if outcome == MISSING else outcome, abs=1e-4)
        elif outcome == MISSING:
            # Of the numbers beside them alone.
            assert count == (1.0, 2.0)
        else:
            assert count[0] <= outcome <= count[1]


def forms(odd, door):
    """Return tables with an odd cell in a column of objects, as a door takes them."""
    column = every_second(odd)
    yield column[:, None]
    yield frame(pd.Series(column, dtype=object))
    if door not in TYPED:
        yield [[cell] for cell in column]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", CELLS)
def test_a_cell_counts_alike_at_every_door(door, name):
    odd, outcome = CELLS[name]
    with warnings.catch_warnings():
        # No warning may depend on a number.
        warnings.simplefilter("error")
        for table in forms(odd, door):
            check(door, table, outcome)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_counts_alike_at_every_door(door, name):
    make, outcome = TABLES[name]
    table = make()
    if name == "structured" and door == "y":
        table = STRUCTURED
    check(door, table, outcome)


@pytest.mark.parametrize("door", [door for door in DOORS if door != "y"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_no_table_is_refused(door, shape):
    with pytest.raises(mdp.InputError):
        DOORS[door](SHAPES[shape], "middle")


@pytest.mark.parametrize("door", DOORS)
def test_the_doors_have_one_rule(door, monkeypatch):
    """The control: another rule for cells moves what every door makes of them."""
    monkeypatch.setattr(cells, "_number", lambda cell: 5.0)
    count = DOORS[door](next(forms(None, door)), "middle")
    if door == "private_bounds":
        assert count == (4.0, 8.0)
    else:
        one = door in ("predict", "transform")
        assert count == pytest.approx(5.0 if one else 9.0, abs=1e-4)


# --- Files ----------------------------------------------------------------------------------------

#: Cells of CSV, and what they count as.
TEXTS = {
    **dict.fromkeys(["", "NA", "nan", "null", "None"], MISSING),
    "inf": 10.0,
    "-INF": -10.0,
    "1e400": 10.0,
    "-1e400": -10.0,
    "1" + "0" * 400: 10.0,
    "1e-200": 0.0,
    "-0.0": 0.0,
    "true": 1.0,
    "FALSE": 0.0,
    "7.5": 7.5,
    **dict.fromkeys(["7.5+0j", "15/2", "2020-01-01", "7 days", "0x7", "pd.NA"], "no number in rec"),
}
#: Types of arrays in files, of :data:`TABLES`.
STORED = ("float16", "longdouble", "uint64", "booleans", "complex", "dates", "durations", "texts")


#: Columns of Parquet: their type, and what they count as.
COLUMNS = {
    "halves": (lambda pa: pa.array(NUMBERS.astype(np.float16)), 7.5),
    "nulls": (lambda pa: pa.array(every_second(None).tolist(), pa.float64()), MISSING),
    "whole nulls": (lambda pa: pa.array(every_second(None, 1).tolist(), pa.int64()), MISSING),
    "truth values": (lambda pa: pa.array(every_second(None, True).tolist()), MISSING),
    "decimals": (lambda pa: pa.array([*map(decimal.Decimal, every_second("7.5", "1.0"))]), 7.5),
    "infinite": (lambda pa: pa.array(every_second(-np.inf).astype(float)), -10.0),
    "categories": (lambda pa: pa.array(NUMBERS).dictionary_encode(), 7.5),
    "texts": (lambda pa: pa.array([*map(str, NUMBERS)]), "has string in column 'a'"),
    "dates": (lambda pa: pa.array([datetime.date(2020, 1, 1)] * COUNT), "turn dates and words"),
    "durations": (lambda pa: pa.array([datetime.timedelta(7)] * COUNT), "has duration"),
    "lists": (lambda pa: pa.array([[7.5]] * COUNT), "has list<"),
}


def check_file(path, outcome, capsys):
    """Check what the command line makes of a file of one column."""
    name = "0" if path.suffix == ".npy" else "a"
    keys = {"file": path.name, "bounds": {name: SIDES}, "epsilon": 9.0, "mechanism": "gaussian"}
    if isinstance(outcome, str):
        assert harness.run(path.parent, missing="refuse", **keys) == 2
        words = "no finite number in record 2" if outcome == MISSING else outcome
        assert words in capsys.readouterr().err
        assert not harness.charges(path.parent, path.name)
    is_number = outcome == MISSING or isinstance(outcome, float)
    assert harness.run(path.parent, missing="middle", **keys) == (0 if is_number else 2)
    if is_number:
        count = odd_of(harness.read(path.parent).numbers[0, 0])
        assert count == pytest.approx(0.0 if outcome == MISSING else outcome, abs=1e-4)


@pytest.mark.parametrize("text", TEXTS)
def test_a_cell_of_csv(tmp_path, capsys, text):
    lines = [text if place % 2 else "1" for place in range(COUNT)]
    (tmp_path / "people.csv").write_text("\n".join(["a", *lines, ""]))
    check_file(tmp_path / "people.csv", TEXTS[text], capsys)


@pytest.mark.parametrize("kind", STORED)
def test_an_array_in_a_file(tmp_path, capsys, kind):
    make, outcome = TABLES[kind]
    np.save(tmp_path / "people.npy", make())
    check_file(tmp_path / "people.npy", outcome, capsys)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_parquet(tmp_path, capsys, kind):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    make, outcome = COLUMNS[kind]
    parquet.write_table(pa.table({"a": make(pa)}), tmp_path / "people.parquet")
    check_file(tmp_path / "people.parquet", outcome, capsys)
