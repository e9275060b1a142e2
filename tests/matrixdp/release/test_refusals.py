"""What the library refuses at each of its doors, as tables: ``refusals.toml`` and those below."""

import gzip
import io
import json
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path

import harness
import numpy as np
import pytest
import refusals

from matrixdp import cli
from matrixdp.checks import InputError
from matrixdp.release import ledger, notation, parser, tables

TABLES = Path(__file__).with_name("refusals.toml")
VALID = """file = "people.csv"
query = "mean"
records = 400
epsilon = 2.0
delta = 1e-6
total = {epsilon = 2.0, delta = 1e-6}
missing = "refuse"
[bounds]
age = [0, 120]
income = [0, 200000]
"""
SEVERAL = """file = "people.csv"
records = 400
missing = "refuse"
total = {epsilon = 4, delta = 1e-5}
[bounds]
age = [0, 120]
income = [0, 200000]
[[release]]
query = "mean"
[[release]]
query = "covariance"
"""


def key(line):
    """Return the key of a line, or the table that it begins."""
    return line.partition("=")[0].strip()


def changed(lines):
    """Return the valid specification with lines in place of those of their keys."""
    new = {key(line): line for line in lines}
    text = VALID.partition("[bounds]")[0] if "bounds" in new else VALID
    old = text.splitlines()
    new_keys = [name for name in new if name not in map(key, old)]
    kept = [new.get(key(line), line) for line in old]
    return "\n".join([*(new[name] for name in new_keys), *kept, ""])


def refused(folder, capsys, content, says, verbs=("release",), private=()):
    """Check how verbs refuse a specification, a text or bytes; return the last sentence."""
    path = folder / "spec.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for verb in verbs:
        words = [
            verb,
            path,
            *(["--out", folder / "out", "--even-if-useless"] if verb == "release" else []),
        ]
        text = refusals.command(cli.main, words, folder, capsys, says, private)
    return text


def test_what_is_valid_is_not_refused(folder, capsys):
    """The control of all tables: a runner that passes anything passes this too."""
    for text in (VALID, changed(['label = "again"']), SEVERAL):
        with pytest.raises(AssertionError):
            refused(folder, capsys, text, [], ["recommend"])
    with pytest.raises(AssertionError):
        refused(folder, capsys, changed(["epsilon = -1"]), ["epsilon is -2"])
    with pytest.raises(AssertionError):
        refused(folder, capsys, changed(["epsilon = -1"]), [], private=["-1"])


@pytest.mark.parametrize(("lines", "says"), refusals.rows(TABLES, "specification"))
def test_a_specification(folder, capsys, lines, says):
    lines = [lines] if isinstance(lines, str) else lines
    refused(folder, capsys, changed(lines), says)


@pytest.mark.parametrize("name", ["epsilon", "records"])
def test_a_number_of_too_many_digits(folder, capsys, name):
    line = f"{name} = 1{'0' * 5000}"
    sentence = refused(folder, capsys, changed([line]), "a number has too many digits")
    assert len(sentence) < 200
    # The remedy: the same number, which is then out of range or fits no file.
    refused(folder, capsys, changed([f"{name} = 1e300"]), "")


@pytest.mark.parametrize(("lines", "says"), refusals.rows(TABLES, "several"))
def test_a_specification_of_several_releases(folder, capsys, lines, says):
    if isinstance(lines, str):
        others = [line for line in SEVERAL.splitlines() if key(line) != key(lines)]
        lines = [lines, *others]
    else:
        lines = [SEVERAL, *lines]
    refused(folder, capsys, "\n".join(lines), says)


@pytest.mark.parametrize(("change", "says"), refusals.rows(TABLES, "syntax"))
def test_a_specification_that_is_no_toml_and_its_remedy_works(folder, capsys, change, says):
    name, line, right = change
    lines = VALID.splitlines()
    place = next(k for k, old in enumerate(lines) if name in (key(old), old))
    verbs = ("recommend", "account", "release")
    refused(folder, capsys, "\n".join([*lines[:place], line, *lines[place + 1 :]]), says, verbs)
    path = folder / "spec.toml"
    path.write_text("\n".join([*lines[:place], right, *lines[place + 1 :]]))
    parser.read(path)


LONG = [
    *(
        (f'file = "{"a" * 300}{suffix}"', "cannot be looked up (file name too long)")
        for suffix in ("", ".csv")
    ),
    (f"age = [0, 1{'0' * 400}]", "00000; it must be a finite number"),
]
OTHER_KINDS = [
    (VALID.encode("utf-16"), "save it as UTF-8"),
    (VALID.replace("age", "größe").encode("latin-1"), "save it as UTF-8"),
    (json.dumps({"file": "people.csv", "bounds": {"age": [0, 1]}}, indent=1), "it is JSON"),
    *((changed([line]), part) for line, part in LONG),
]


@pytest.mark.parametrize(("content", "part"), OTHER_KINDS, ids=[part for _, part in OTHER_KINDS])
def test_a_specification_of_another_kind(folder, capsys, content, part):
    refused(folder, capsys, content, [part])


KEYS = ["total", "epsilon", "label", "missing", "account", "weight"]


@pytest.mark.parametrize("name", KEYS)
def test_a_key_below_the_bounds_is_said_to_move_up(folder, capsys, name):
    lines = VALID.splitlines()
    line = next((one for one in lines if key(one) == name), f'{name} = "middle"')
    text = "\n".join([*(one for one in lines if one != line), line])
    says = f"{name} stands below [bounds], as if it were a column; move it up"
    refused(folder, capsys, text, [says], ("recommend", "release", "account"))


LONG_WORDS = (f"release spec.toml --out {'a' * 300}", ["file name too long"])


@pytest.mark.parametrize(("words", "says"), [*refusals.rows(TABLES, "words"), LONG_WORDS])
def test_words(folder, capsys, monkeypatch, words, says):
    monkeypatch.chdir(folder)
    Path("spec.toml").write_text(VALID)
    Path("lost.toml").write_text(VALID.replace("people.csv", "lost.csv"))
    Path("below.toml").write_text(f'account = "nope/books.json"\n{VALID}')
    Path("begun.toml").write_text(f'account = "begun.json"\n{VALID}')
    total = ledger.total({"epsilon": 2.0, "delta": 1e-6})
    Path("people.tsv").write_text("age\tincome\n1\t2\n")
    for name, content in (
        ("broken", "{"),
        ("nested", "[" * 100_000),
        ("list", "[]"),
        ("lacking", '{"format": 1}'),
        ("twice", '{"format": 1, "releases": [{"mu": 1}], "releases": []}'),
        ("begun", json.dumps(ledger.begin(total, ledger.Relation("zero_out")))),
    ):
        Path(f"{name}.json").write_text(content)
    Path("there.svg").write_text("<svg/>")
    Path("taken/.mean.csv.part").mkdir(parents=True)
    Path("dangling").symlink_to("nowhere")
    harness.save(Path("moved.csv"))
    Path("moved.csv.privacy.json").symlink_to("elsewhere.json")
    refusals.command(cli.main, words.split(), folder, capsys, says)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_cannot_be_written_is_one_sentence(folder, capsys, monkeypatch):
    (folder / "spec.toml").write_text(VALID)
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert cli.main(["recommend", str(folder / "spec.toml")]) == 2
    assert "the output cannot be written (no space left on device); make" in capsys.readouterr().err


# --- Stored files -------------------------------------------------------------------------------

OF_MANY = {"records": 2000, "total": {"epsilon": 9.0, "delta": 1e-5}}
BOUNDS = harness.text(query="bounds", bounds=None, columns=["age", "income"], **OF_MANY)
#: Fields of a stored answer, or of its charge, that are changed, or the whole text of the answer;
#: and parts of the sentence.
STORED = [
    *(("answer", text, "restore it, as it is paid for") for text in ("{}", "[]", "{", "[" * 99999)),
    ("answer", {"rows": [["age", 0, 1]]}, "it is not as it was stored"),
    *(("charge", {"answer": name}, "is no account of releases") for name in ("", ".", "a/b", None)),
    *(("charge", {key: 0}, f"{key} is 0; it must be") for key in ("mu", "pure_epsilon", "numbers")),
    ("charge", {"pure_epsilon": 1.0, "mu": 1.23}, "pure epsilon 1 has mu 1.23, which is less"),
    ("charge", {"label": "\ud800"}, "is no account of releases"),
    ("charge", {"request": None, "answer": ""}, "is no account of releases"),
    ("total", {"neighbours": "none"}, "neighbours is 'none'"),
    ("total", {"delta": 2}, "total.delta is 2"),
    *(("account", {"releases": none}, "releases is no list") for none in ({}, "")),
]


@pytest.mark.parametrize(("part", "change", "says"), STORED)
def test_a_stored_file_that_was_changed(tmp_path, capsys, part, change, says):
    harness.save(tmp_path / "people.csv", np.ones((2000, 2)))
    (tmp_path / "limits.toml").write_text(BOUNDS)
    words = ["release", str(tmp_path / "limits.toml"), "--out", str(tmp_path / "limits")]
    assert cli.main(words) == 0
    capsys.readouterr()
    account = tmp_path / "people.csv.privacy.json"
    content = json.loads(account.read_text())
    (charge,) = content["releases"]
    answer = tmp_path / charge["answer"]
    verbs = ("account", "recommend", "release")
    if part == "answer":
        stored = json.loads(answer.read_text())
        stored["answer"] |= change if isinstance(change, dict) else {}
        answer.write_text(change if isinstance(change, str) else json.dumps(stored))
        refusals.command(cli.main, words, tmp_path, capsys, [says])
        verbs = ("release",)
    else:
        {"charge": charge, "account": content, "total": content["total"]}[part].update(change)
        account.write_text(json.dumps(content))
    refused(tmp_path, capsys, harness.text(**OF_MANY), [says], verbs)


# --- Files of records ---------------------------------------------------------------------------

TEXT = "age,income\n" + "20.5,1500\n30,1507.25\n" * 200
SEMICOLONS, TABS = TEXT.replace(",", ";"), TEXT.replace(",", "\t")
BARS = TEXT.replace(",", "|")
SECRETS = ["20.5", "1507", "smith", "jones", "71", "52000", "2020"]
GERMAN = 'separator = ";"\ndecimal = ","'
PEOPLE = 'person = "who"\nper_person = 1\nadjacency = "replace"'
#: What no person means as a number; Python reads underscores and the digits of all scripts.
CELLS = ["1_000", "1 000", "\uff11\uff12", "\u0661", "1\u202f000", "0x10"]
CELLS += ["2020-01-31", "31.01.2020", "31/01/2020", "2020-01-31 10:00", "smith"]


def archive(text):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("xl/workbook.xml", text)
    return content.getvalue()


#: Names of a column in a file and in a specification, which look alike.
LOOKS = [
    ("gro\u0308ße", "größe"),
    ("\u03bcg", "\u00b5g"),
    ("net\u00a0income", "net income"),
    ("in\u200bcome", "income"),
]
#: What a file of records is, a key that is stated beside it, and parts of the sentence.
CONTENTS = [
    ("", "", "people.csv is empty; give a file of records with the column 'age'"),
    *(
        (f"age,income\n1,2\n{cell},3\n", "", "no number in record 2, column 'age'")
        for cell in CELLS
    ),
    *(
        (f"age;income\n1;2\n{cell};3\n", GERMAN, "no number in record 2, column 'age'")
        for cell in CELLS
    ),
    ("age;income\n1;2\n1.000,5;3\n", GERMAN, "no number in record 2, column 'age'"),
    ("age,income,who\n1,2,smith\n1,2, \n", PEOPLE, "no identifier in record 2, column 'who'"),
    (
        "age,income,who\n1,2,smith\n" + "1,2,smith\n" * 399,
        PEOPLE,
        "has 1 record, at most 1 of each 'who', and the specification says",
    ),
    ("age,income\n1,2\n,3\n", "", "no finite number in record 2, column 'age'"),
    ("age,income\n1,2\n3\n", "", "has 1 of 2 values in record 2"),
    ("age,income\n1,2\n3,4,5\n", "", "has 3 of 2 values in record 2"),
    ("age,income\n1,2\n", "", "people.csv has 1 record, and the specification says rec"),
    ("age,income\n" + "1,2\n" * 401 + "\n\n", "", "has 401 records, and the specif"),
    ("age,incom\n1,2\n", "", "did you mean 'incom'"),
    # Without any of the names it may be a record.
    ("agee,incom\n1,2\n", "", "among 2 column names; correct the name, or the file"),
    ("smith\n1\n", "", "no 'age' among 1 column name; correct"),
    ("smith,jones\n1,2\n", "", "no 'age' among 2 column names; correct"),
    ("71,52000\n1,2\n", "", "has numbers alone in its first line; write the names"),
    ("age,income,age\n1,2,3\n", "", "has the column 'age' twice"),
    ("'age',income\n1,2\n", "", """did you mean "'age'"?"""),
    *(
        (f"{label}\n1\n", f'bounds = {{"{name}" = [0, 3]}}', "copy the name from there, which has")
        for label, name in LOOKS
    ),
    # Signs at which others end a line: the rest is a record.
    ("age,income\x8571", "", "no 'income' among 2 column names; correct the name, or the file"),
    ("a\\b\n1\n", r'bounds = {"a\b" = [0, 3]}', "a backslash is one in single quotes alone"),
    (TEXT.replace("age", "Age "), "", "did you mean 'Age '"),
    # Separators and decimals.
    (SEMICOLONS, "", 'has semicolons between its columns; state separator = ";", and'),
    (SEMICOLONS, 'separator = ";"', 'state decimal = ","'),
    (SEMICOLONS, 'separator = ";"\ndecimal = ","', 'delete "." where it marks thous'),
    (SEMICOLONS, "separator = ';'\ndecimal = ' '", "decimal is ' '; it must be one of"),
    (TABS, "", 'has tabs between its columns; state separator = "\\t"'),
    (TABS, 'separator = "\\t"', "has tabs between"),
    (TABS, r"separator = '\t'", "in double quo"),
    (BARS, 'separator = "|"', "has bars between"),
    (TEXT, 'separator = "|"', "has commas between its columns; leave separator and"),
    *((TEXT.replace(",", mark), "", "has none of commas, semicolons, tabs") for mark in (" ", ":")),
    ('"age" "income"\n"1" 2 3\n', "", "closing quotes in line 1; put the separator there"),
    # Spreadsheets.
    (f"sep=;\n{SEMICOLONS}", "", "the line sep= of a spreadsheet first; delete"),
    (f'"sep=,"\n{TEXT}', 'separator = ";"', "sep= of a spreadsheet"),
    (f"sep=\t\n{SEMICOLONS}", 'separator = ";"', "the line sep= of a spreadsheet"),
    (f"A report\n\n{TEXT}", "", "names of its columns in line 3; delete what is above"),
    (archive(TEXT), "", "is a workbook or an archive by its content; save its"),
    # Other contents.
    (gzip.compress(TEXT.encode()), "", "is compressed by its content; unpack it"),
    (TEXT.encode("utf-16"), "", "(byte 0 is not UTF-8); save it as UTF-8"),
    (TEXT.encode("utf-16-le"), "", "zero bytes in its first line; save it as UTF-8"),
    (TEXT.replace("0\n", "0\xe9\n").encode("latin-1"), "", "; save it as UTF-8"),
    (f'{TEXT}"20', "", "quotes that do not close in line 402; close them"),
    (f"age,income,note\n1,2,{'x' * 140_000}\n", "", "a value of more than 131,072 characters, or"),
    (TEXT.replace("20.5", '"20".5', 1), "", "text after closing quotes in line 2"),
    ("version https://git-lfs.github.com/spec/v1\n", "", "by `git lfs pull`"),
    ("<!DOCTYPE html>\n<title>", "", "is a web page by its content; download the"),
    (None, "", "people.csv is a folder without a part; give the path of a file of records"),
]
#: Names of files, their contents, and parts of the sentence.
NAMES = [
    ("people.tsv", TABS, 'rename it to .csv, and state separator = "\\t"'),
    ("people.tab", TABS, 'rename it to .csv, and state separator = "\\t"'),
    ("people.txt", TEXT, "rename it to .csv"),
    ("people", TEXT, "rename it to .csv"),
    ("people.csv.gz", gzip.compress(TEXT.encode()), "unpack it"),
    ("people.xlsx", archive(TEXT), "save its table as CSV, in UTF-8"),
    ("people.parquet", TEXT, "is no .parquet file by its content; save it"),
    ("people.npy", TEXT, "is no .npy file by its content; save it anew"),
    ("~/people.csv", "", "of a file of records, or of a folder of them in full, as ~"),
    ("visits/*.csv", "", "or of a folder of them in full, as ~, variables, wildcards"),
    (
        "https://example.org/people.csv",
        "",
        "in full, as ~, variables, wildcards, backslashes and addr",
    ),
]


def place(path, content):
    if content is None:
        path.mkdir()
    elif content or path.suffix == ".csv":
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


#: A release in parts, which reads its records more than once.
IN_PARTS = 'query = "covariance"\nmechanism = "clipped"'


@pytest.mark.parametrize("request_lines", ["", IN_PARTS], ids=["mean", "clipped"])
@pytest.mark.parametrize(("content", "lines", "part"), CONTENTS, ids=[row[2] for row in CONTENTS])
def test_a_file_of_records(tmp_path, capsys, content, lines, part, request_lines):
    place(tmp_path / "people.csv", content)
    text = changed([*lines.splitlines(), *request_lines.splitlines()])
    refused(tmp_path, capsys, text, [part], private=[] if "sep=" in part else SECRETS)


@pytest.mark.parametrize(("name", "content", "part"), NAMES, ids=[row[0] for row in NAMES])
def test_a_name_of_a_file_of_records(tmp_path, capsys, name, content, part):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    if content:
        place(tmp_path / name, content)
    refused(tmp_path, capsys, changed([f'file = "{name}"']), [part], private=SECRETS)


CLASHES = [
    ("covariance", ["a", "mean"], "mean", {}),
    ("covariance", ["mean", "a"], "mean", {"mechanism": "clipped"}),
    ("components", ["share", "a"], "share", {}),
    ("components", ["a", "eigenvalue"], "eigenvalue", {}),
    ("regression", ["a", "intercept", "y"], "intercept", {"target": "y"}),
    ("regression", ["intercept", "y"], "intercept", {"target": "y"}),
    *((query, ["", "a"], "", {}) for query in ("records", "mean", "second_moments")),
]


@pytest.mark.parametrize(("query", "names", "name", "keys"), CLASHES)
def test_a_column_with_a_name_of_the_answer(tmp_path, capsys, query, names, name, keys):
    rows = np.random.default_rng(0).uniform(0, 1, (400, len(names)))
    harness.save(tmp_path / "people.csv", rows, names)
    text = harness.text(query=query, bounds={one: [0, 1] for one in names}, **keys)
    says = f"bounds has the column {name!r}, and the answer of the query {query!r} uses this"
    refused(tmp_path, capsys, text, [says])


#: Columns of Parquet, and parts of the sentence.
PARQUET = [
    ({"age": [1, None]}, "no finite number in record 2, column 'age'"),
    ({"age": [None, None]}, "no finite number in record 1, column 'age'"),
    ({"age": [True, None]}, "no finite number in record 2"),
    ({"age": ["smith", "jones"]}, "has string in column 'age'; every value must be a number"),
    ({"age": [datetime(2020, 1, 1)] * 2}, "has timestamp"),
    ({"age": [date(2020, 1, 31)]}, "turn dates and words into numbers"),
    ({"age": [timedelta(1)] * 2}, "has duration"),
    ({"age": [[1], [2]]}, "has list<"),
    ({"age": [{"c": 1}, {"c": 2}]}, "has struct<"),
    ({"ages": [1]}, "has no 'age' among 1 column;"),
    ({"a": [1], "c": [{"age": 1}]}, "has no 'age' among 2 columns"),
]


@pytest.mark.parametrize(("columns", "part"), PARQUET, ids=[part for _, part in PARQUET])
def test_a_file_of_parquet(folder, columns, part):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; it is an extra")
    from pyarrow import parquet

    path = folder / "rows.parquet"
    parquet.write_table(arrow.table(columns), path)
    refusals.call(lambda: [*tables.blocks(path, ("age",))], folder, [part], SECRETS, InputError)


@pytest.mark.parametrize("marks", [0, 1, 2])
def test_byte_order_marks_are_skipped(folder, marks):
    path, mark = folder / "spec.toml", "\ufeff" * marks
    path.write_text(mark + VALID, encoding="utf-8")
    assert parser.read(path).columns == ("age", "income")
    assert cli.main(["account", str(path.rename(folder / "spec"))]) == 0
    for text in ('"age",b\n1,2\n', "age;b\n1;2\n"):
        (folder / "rows.csv").write_text(mark + text, encoding="utf-8")
        dialect = notation.Dialect(text[text.index("b") - 1])
        (block,) = tables.blocks(folder / "rows.csv", ("b", "age"), None, None, dialect)
        assert block.tolist() == [[2, 1]]
