"""The examples of the library's README and own_matrix.md work as they are printed there."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from packages import ROOT

from matrixdp import cli
from matrixdp.release import keys

SHORT = (ROOT / "src/matrixdp/README.md").read_text(encoding="utf-8")
DOCS = (ROOT / "src/matrixdp/own_matrix.md").read_text(encoding="utf-8")


def block(text, language, about):
    """Return the one code block of a text that is in a language and contains a phrase."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (code,) = [code for name, code in blocks if name == language and about in code]
    return code


def records():
    rng = np.random.default_rng(1)
    return np.column_stack([rng.uniform(0, 100, 400), rng.gamma(2, 20_000, 400)])


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(block(SHORT, "toml", "people.csv"))
    np.savetxt("people.csv", records(), delimiter=",", header="age,income", comments="")
    for line in block(SHORT, "", "matrixdp release").splitlines():
        assert cli.main(line.partition("#")[0].split()[1:]) == 0
    assert "noise of" in capsys.readouterr().out
    for name in ("release/mean.csv", "people.csv.privacy.json"):
        assert name in SHORT
        assert Path(name).exists()


def test_several_releases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(block(DOCS, "toml", "[[release]]"))
    np.savetxt("people.csv", records(), delimiter=",", header="age,income", comments="")
    assert cli.main(["release", "people.toml", "--even-if-useless"]) == 0
    assert {path.name for path in Path("release").iterdir()} == {"mean", "regression"}


def test_several_answers_of_one_release(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(block(DOCS, "toml", "query = ["))
    np.savetxt("people.csv", records(), delimiter=",", header="age,income", comments="")
    assert cli.main(["release", "people.toml"]) == 0
    names = ("mean", "covariance", "components", "regression")
    assert {path.stem for path in Path("release").glob("*.csv")} == {*names}
    text = Path("people.toml").read_text()
    Path("people.toml").write_text(re.sub("query = .*\ntarget = .*", 'query = "components"', text))
    capsys.readouterr()
    assert cli.main(["release", "people.toml", "--out", "later"]) == 0
    assert "not charged" in capsys.readouterr().err


def test_groups(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = block(DOCS, "toml", 'by = "region"')
    Path("people.toml").write_text(text)
    regions = np.resize(["north", "South", "east", "?"], 400)
    pd.DataFrame(records(), columns=["age", "income"]).assign(region=regions).to_csv("people.csv")
    assert cli.main(["release", "people.toml"]) == 0
    table = pd.read_csv("release/mean.csv", index_col=0)
    assert [*table.index] == ["north", "south", "east"]
    assert [*table.columns] == ["count", "age", "income"]
    # And the same of counts.
    counts = text.partition("[bounds]")[0].replace('"mean"', '"counts"')
    Path("people.toml").write_text(counts.replace('missing = "refuse"\n', ""))
    assert cli.main(["release", "people.toml"]) == 0
    assert [*pd.read_csv("release/counts.csv", index_col=0).columns] == ["count", "share"]


def test_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(block(SHORT, "toml", "people.csv"))
    np.savetxt("people.csv", records(), delimiter=",", header="age,income", comments="")
    names = {"records": records(), "frame": pd.read_csv("people.csv")}
    exec(block(DOCS, "python", 'make_release("people.toml")'), names)
    exec(block(DOCS, "python", "query=["), names)
    assert {*names["answers"]} == {"mean", "components", "regression"}
    assert names["fitted"].ridge("age").coef_.shape == (1,)
    # Of clipped moments the mean alone has an interval.
    assert {*names["private"].details["interval_95"]} >= {"mean"}
    names["blocks"] = [names["frame"][:100], names["frame"][100:]]
    exec(block(DOCS, "python", "mdp.sums("), names)
    assert names["private"].receipt["records"] == 400
    exec(block(DOCS, "python", "calibrate("), names)
    assert names["private"].shape == (2, 2)


def test_python_of_the_library_alone(capsys):
    exec(block(SHORT, "python", "import matrixdp"))
    assert "Receipt" in capsys.readouterr().out


def test_every_key_of_a_specification_is_explained():
    names = re.findall(r"^\| `(\w+)` \|", DOCS, re.MULTILINE)
    assert {*names} == {*keys.KEYS}
    assert "](own_matrix.md)" in SHORT
