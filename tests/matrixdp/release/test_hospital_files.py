"""Files and specifications as hospitals have them: semicolons, commas in numbers, yes and no."""

import signal
import sys

import numpy as np
import pytest
import samplefile
from exactness import same_copies

from matrixdp import __main__, cli
from matrixdp.checks import InputError
from matrixdp.cli import release as release_verb
from matrixdp.release import ledger, release, specification, tables
from matrixdp.release.tables import Dialect

GERMAN = Dialect(";", ",")
SEMICOLONS = 'separator = ";"\ndecimal = ","\nmissing = "middle"'


def read(path, text=None, dialect=tables.USUAL, columns=("a",)):
    """Return the values of a file as a list of rows; missing ones are 9."""
    if text is not None:
        path.write_text(text, encoding="utf-8")
    blocks = tables.blocks(path, columns, np.full(len(columns), 9.0), None, dialect)
    return np.concatenate(list(blocks)).tolist()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


@pytest.fixture
def folder(tmp_path):
    samplefile.save(tmp_path / "people.csv")
    return tmp_path


# --- Separators and decimals ------------------------------------------------------------------


@pytest.mark.parametrize("separator", tables.SEPARATORS)
def test_a_file_is_read_by_its_separator(path, separator):
    text = "a,b\n1.5,x\n,\n-2e-1,y\n".replace(",", separator)
    assert read(path, text, Dialect(separator)) == [[1.5], [9], [-0.2]]


def test_decimal_commas_are_read_in_the_cells_of_semicolons(path):
    text = 'a;b\n1,5;2\n;NA\n" -0,25 ";1e3\n'
    assert read(path, text, GERMAN, ("a", "b")) == [[1.5, 2], [9, 9], [-0.25, 1000]]


@pytest.mark.parametrize(
    ("cell", "dialect"), [("1.5", GERMAN), ("1.000,5", GERMAN), ('"1,5"', tables.USUAL)]
)
def test_a_number_with_the_other_decimal_is_refused(path, cell, dialect):
    with pytest.raises(InputError, match="no number in record 1, column 'a'") as refusal:
        read(path, f"a\n{cell}\n", dialect)
    assert "decimal" in str(refusal.value) or "thousands" in str(refusal.value)


def test_the_same_numbers_in_another_dialect_release_the_same_request_anew(folder, capsys):
    """Its charge is another one, and a stated default is the request without it."""
    text = (folder / "people.csv").read_text().replace(",", ";").replace(".", ",")
    digests = []
    for more in ("", 'separator = ","', SEMICOLONS):
        if more == SEMICOLONS:
            (folder / "people.csv").write_text(text)
        assert samplefile.release(folder, f"out{len(digests)}", more=more) == 0 or digests
        spec = specification.read(folder / "spec.toml")
        digests.append(ledger.digest(release._request(spec, folder)))
    assert digests[0] == digests[1] != digests[2]
    rows = np.concatenate(list(release._records(spec)))
    samplefile.save(folder / "people.csv")
    spec = specification.read(samplefile.written(folder))
    assert same_copies(rows, np.concatenate(list(release._records(spec))))


# --- Numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
def test_booleans_are_numbers_in_every_format(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".csv":
        path.write_text("0\ntrue\nFALSE\nFalse\n True \n")
    elif suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
        from pyarrow import parquet

        parquet.write_table(arrow.table({"0": [True, False, False, True]}), path)
    else:
        rows = np.array([[True], [False], [False], [True]])
        np.save(path, rows)
    assert read(path, columns=("0",)) == [[1], [0], [0], [1]]


@pytest.mark.parametrize("cell", ["1_000", "1 000", "\uff11\uff12", "\u0661", "1\u202f000", "0x10"])
@pytest.mark.parametrize("dialect", [tables.USUAL, GERMAN])
def test_what_no_person_means_as_a_number_is_refused(path, cell, dialect):
    """Python reads underscores and the digits of all scripts."""
    for block in (f"a\n{cell}\n", f"a\nNA\n1\n{cell}\n"):
        with pytest.raises(InputError, match="column 'a'; turn dates and words into numbers") as no:
            read(path, block, dialect)
        assert cell not in str(no.value).replace(str(path), "")


@pytest.mark.parametrize("cell", ["inf", "Infinity", "+INF", "1e999", " inf\xa0"])
def test_infinite_values_are_numbers_as_in_other_formats(path, cell):
    assert read(path, f"a\n{cell}\n") == [[np.inf]]


@pytest.mark.parametrize("cell", ["2020-01-31", "31.01.2020", "31/01/2020", "2020-01-31 10:00"])
@pytest.mark.parametrize("dialect", [tables.USUAL, GERMAN])
def test_dates_are_refused(path, cell, dialect):
    with pytest.raises(InputError, match="no number in record 1, column 'a'"):
        read(path, f"a\n{cell}\n", dialect)


def test_dates_of_parquet_say_what_to_do(tmp_path):
    import datetime

    arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({"a": [datetime.date(2020, 1, 31)]}), path)
    with pytest.raises(InputError, match="has date32.* turn dates and words into numbers"):
        read(path)


# --- Names of files, places of keys -----------------------------------------------------------


@pytest.mark.parametrize("suffix", [".CSV", ".Npy", ".Parquet"])
def test_the_case_of_a_suffix_does_not_matter(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".CSV":
        path.write_text("0\n1.5\n")
    elif suffix == ".Parquet":
        arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
        from pyarrow import parquet

        parquet.write_table(arrow.table({"0": [1.5]}), path)
    else:
        with path.open("wb") as file:
            np.save(file, np.array([[1.5]]))
    assert read(path, columns=("0",)) == [[1.5]]
    assert ledger.find(path) == (path.with_name(f"{path.name}{ledger.SUFFIX}"), path)
    with pytest.raises(InputError, match="is no .csv, .npy, .parquet file"):
        tables.check(tmp_path / "rows.XLSX")


def test_a_column_may_have_the_name_of_a_key(folder):
    path = samplefile.written(folder)
    path.write_text(path.read_text() + 'weight = [0, 200]\nlabel = "private"\n')
    assert specification.read(path).columns == ("age", "income", "weight", "label")


def test_a_key_below_the_bounds_of_one_of_several_releases_is_said_to_move_up(folder):
    path = folder / "several.toml"
    path.write_text(
        'file = "people.csv"\nrecords = 400\ntotal = {epsilon = 2.0, delta = 1e-6}\n'
        '[[release]]\nquery = "mean"\n[release.bounds]\nage = [0, 120]\nweight = 2\n'
    )
    with pytest.raises(InputError, match="weight stands below .bounds., as if"):
        specification.read_all(path)


# --- Messages of a release --------------------------------------------------------------------


@pytest.mark.parametrize(("query", "advice"), [("mean", False), ("records", True)])
def test_only_a_release_of_records_is_advised_to_be_one_of_means(folder, capsys, query, advice):
    assert samplefile.release(folder, query=query, epsilon="0.001", delta="1e-6") == 2
    assert ("release means instead of records" in capsys.readouterr().err) == advice


@pytest.fixture
def interruptible():
    """Let Ctrl-C interrupt the test, also below ``nohup`` and in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(folder, monkeypatch, capsys, **given):
    """Return what the command says that Ctrl-C ends."""
    words = ["matrixdp", "release", str(samplefile.written(folder, **given))]
    monkeypatch.setattr(sys, "argv", [*words, "--out", str(folder / "out")])
    assert __main__.main() == 130
    out, error = capsys.readouterr()
    assert not out
    return error


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_before_the_charge_says_that_nothing_was_charged(folder, monkeypatch, capsys):
    monkeypatch.setattr(ledger, "mark", lambda *_: signal.raise_signal(signal.SIGINT))
    said = interrupted(folder, monkeypatch, capsys)
    assert said == "matrixdp: interrupted; nothing was charged\n"
    assert not [*folder.glob("*.privacy.json")]
    assert not [*(folder / "out").iterdir()]


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_after_the_charge_says_how_to_get_the_answer(folder, monkeypatch, capsys):
    store = ledger.store

    def late(*given):
        signal.raise_signal(signal.SIGINT)
        store(*given)

    monkeypatch.setattr(ledger, "store", late)
    said = interrupted(folder, monkeypatch, capsys)
    assert said.startswith("matrixdp: interrupted; mean was charged, and nothing else; the same")
    before = (folder / "people.csv.privacy.json").read_bytes()
    assert samplefile.release(folder) == 0
    assert (folder / "people.csv.privacy.json").read_bytes() == before
    assert (folder / "out/mean.csv").is_file()


def test_an_interrupt_while_the_files_are_named_says_what_was_charged(folder, monkeypatch, capsys):
    def show(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(release_verb, "_print", show)
    assert "; mean was charged" in interrupted(folder, monkeypatch, capsys)
    # An answer that was paid for earlier costs nothing.
    assert interrupted(folder, monkeypatch, capsys).endswith("; nothing was charged\n")


# --- The account that a release would charge --------------------------------------------------


@pytest.fixture
def account(folder, capsys, monkeypatch):
    """Return a function that asks for an account by a name: the exit status, text and error."""
    monkeypatch.chdir(folder)

    def ask(name):
        status = cli.main(["account", name])
        out, error = capsys.readouterr()
        assert bool(out) == (status == 0)
        assert error.count("\n") == (status != 0)
        return status, out or error

    return ask


@pytest.mark.parametrize("more", ["", 'account = "books/other.json"'])
@pytest.mark.parametrize("several", [False, True])
def test_every_name_of_an_account_shows_what_is_spent(folder, account, capsys, more, several):
    (folder / "books").mkdir()
    text = samplefile.written(folder, more=more).read_text()
    if several:
        text = text.replace('query = "mean"\n', "").replace("epsilon = 2.0\ndelta = 1e-6\n", "")
        text += '[[release]]\nquery = "mean"\n[[release]]\nquery = "mean"\nlabel = "again"\n'
    for name in ("spec.toml", "spec.TOML", "spec.txt", "spec"):
        (folder / name).write_text(text)
    status, said = account("spec.toml")
    assert (status, "nothing is spent" in said) == (0, True)
    assert cli.main(["release", "spec.toml"]) == 0
    capsys.readouterr()
    names = ["spec.toml", "spec.TOML", "spec.txt", "spec", "people.csv", "people.csv.privacy.json"]
    names += ["books/other.json"] * bool(more)
    said = {account(name) for name in names}
    assert len(said) == 1
    assert f"in {1 + several} release" in said.pop()[1]
