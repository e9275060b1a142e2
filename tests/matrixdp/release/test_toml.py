"""A specification that is no TOML: the remedy that is named works, whatever a line was meant as."""

import json

import pytest
import samplefile

from matrixdp import cli
from matrixdp.release import specification

SPECIFICATION = """file = "people.csv"
query = "mean"
records = 400
epsilon = 1.0
total = {epsilon = 2.0, delta = 0}
missing = "refuse"
[bounds]
age = [0, 120]
income = [0, 200000]
"""
#: A line, what stands there instead, and what the message says.
LINES = [
    ("age", "größe (cm) = [0, 120]", 'put the name in quotes, as in "größe (cm)" ='),
    ("age", "age in years = [0, 120]", 'put the name in quotes, as in "age in years" ='),
    ("age", "BMI [kg/m2] = [0, 120]", 'put the name in quotes, as in "BMI [kg/m2]" ='),
    ("age", "a=b = [0, 120]", 'put the name in quotes, as in "a=b" ='),
    ("age", "pooled.stratum = [0, 120]", 'put the name in quotes, as "pooled.stratum" ='),
    ("age", "a.b.c = [0, 120]\na.d = [0, 1]", 'put the name in quotes, as "a.b.c" ='),
    ("missing", "missing = {a.b = 4}", 'put the name in quotes, as "a.b" = 4'),
    ("age", "age = [0; 120]", "put commas between"),
    ("age", "age = [0 120]", "put commas between"),
    ("age", "age = (0, 120)", "in square brackets, as in age = [0, 120]"),
    ("age", "age = 0, 120", "in square brackets, as in age = [0, 120]"),
    ("age", "age = 0..120", "in square brackets, as in age = [0, 120]"),
    ("age", "age: [0, 120]", "write = between a name and its value"),
    ("age", "age [0, 120]", "write = between a name and its value"),
    ("age", "age = [0, 120", "close the brackets in line 8, as in age = [0, 120]"),
    ("age", "age = [0, 120];", "end a line without a mark"),
    ("age", "age = [0, 120] // years", "begin a comment with #"),
    ("age", "age\u00a0= [0, 120]", "looks like a blank"),
    (
        "age",
        "age = [0, 1 200]",
        "marks of thousands, and decimals with a point, as in age = [0, 1200]",
    ),
    ("records", "records = 2,400", "without marks of thousands"),
    ("records", "records = 2'400", "without marks of thousands"),
    ("[bounds]", "bounds:", "write the name of a table in brackets, as in [bounds]"),
    ("[bounds]", "[bounds] x = [0, 1]", "in brackets on a line of its own"),
    ("file", r'file = "C:\Users\me\people.csv"', "or single quotes, as in file = "),
    ("file", r'file = "D:\new\table.csv"', "with a backslash in single quotes alone"),
    ("file", r"file = C:\Users\me\people.csv", "put texts in double quotes"),
    ("file", "file = people.csv", 'put texts in double quotes, as in file = "people.csv"'),
    ("file", "file: people.csv", "put texts in double quotes"),
    ("file", "file = “people.csv”", "write straight quotes"),
    ("file", "file = ‘people.csv’", "write straight quotes"),
    ("file", 'file = "people.csv', 'close the quotes, as in file = "people.csv"'),
    ("file", 'file = "people.csv"\nfile = "b.csv"', "states the same twice, so delete one"),
    ("epsilon", "epsilon = 1,0", "write decimals with a point, as in epsilon = 1.0"),
    ("epsilon", "epsilon = .5", "write a digit before the point, as in epsilon = 0.5"),
    ("epsilon", "epsilon = 1.", "write a digit after the point, as in epsilon = 1.0"),
    ("age", "age = [\u22125, 120]", "write the minus - of the keyboard, as in age = [-5, 120]"),
    ("query", 'query = "mean"\nlabel = None', "leave the entry out"),
    ("epsilon", "epsilon = 5%", "numbers as 0.5 or 1e-6"),
    ("epsilon", "epsilon == 1.0", "write a single ="),
    ("epsilon", "epsilon = 1.0,", "end a line without a mark"),
    ("records", "records = 007", "write numbers without leading zeros"),
    ("total", "total = {'epsilon': 2.0, 'delta': 0}", "write = between a name and its value"),
    ("query", 'query = "mean"\n// of all', "begin a comment with #"),
    ("query", 'query = "mean"\n@&', "write each entry as name = value"),
]


def refusal(folder, capsys, content):
    """Return the sentence that refuses a specification before anything is charged."""
    path = folder / "spec.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for verb in ("recommend", "account", "release"):
        assert cli.main([verb, str(path)]) == 2
        sentence = capsys.readouterr().err
        assert sentence.count("\n") == 1
    assert not [*folder.glob("*.privacy.*")]
    return sentence


@pytest.mark.parametrize(("key", "line", "remedy"), LINES)
def test_the_remedy_is_named_and_works(tmp_path, capsys, key, line, remedy):
    lines = SPECIFICATION.splitlines()
    (place,) = [k for k, text in enumerate(lines) if text.startswith((f"{key} =", f"[{key[1:]}"))]
    sentence = refusal(tmp_path, capsys, "\n".join([*lines[:place], line, *lines[place + 1 :]]))
    assert remedy in sentence
    if ", as in " in sentence and "\n" not in line and "[bounds]" not in line:
        lines[place] = sentence.partition(", as in ")[2].strip()
        (tmp_path / "spec.toml").write_text("\n".join(lines))
        specification.read(tmp_path / "spec.toml")


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (SPECIFICATION.encode("utf-16"), "save it as UTF-8"),
        (SPECIFICATION.replace("age", "größe").encode("latin-1"), "save it as UTF-8"),
        (json.dumps({"file": "people.csv", "bounds": {"age": [0, 1]}}, indent=1), "it is JSON"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path, capsys, content, remedy):
    assert remedy in refusal(tmp_path, capsys, content)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("people.csv", "is a file of records; give the file of TOML that names it"),
        (".", "give a file, not a folder"),
        ("nope.toml", "correct the path"),
    ],
)
def test_what_is_no_specification_is_named(tmp_path, capsys, monkeypatch, name, remedy):
    monkeypatch.chdir(tmp_path)
    samplefile.save(tmp_path / "people.csv")
    assert cli.main(["release", name]) == 2
    assert remedy in capsys.readouterr().err


def test_a_byte_order_mark_is_skipped(tmp_path):
    samplefile.save(tmp_path / "people.csv")
    path = tmp_path / "spec.toml"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(SPECIFICATION, encoding=encoding)
        assert specification.read(path).columns == ("age", "income")
    assert cli.main(["account", str(path.rename(tmp_path / "spec"))]) == 0
