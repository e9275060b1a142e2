"""What README says of a person's own matrix works as it stands there."""

import re
from pathlib import Path

import numpy as np

from matrixdp import cli
from matrixdp.practice import specification

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language, about):
    found = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    (one,) = [text for name, text in found if name == language and about in text]
    return one


def records():
    rng = np.random.default_rng(1)
    return np.column_stack([rng.uniform(0, 100, 400), rng.gamma(2, 20_000, 400)])


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(block("toml", "people.csv"))
    np.savetxt("people.csv", records(), delimiter=",", header="age,income", comments="")
    lines = block("", "matrixdp release").splitlines()
    for line in lines:
        program, *words = line.partition("#")[0].split()
        assert program == "matrixdp"
        assert cli.main(words) == 0
    assert "noise of" in capsys.readouterr().out
    for name in ("release/second_moments.csv", "people.csv.privacy.json"):
        assert name in TEXT
        assert Path(name).exists()


def test_python():
    names = {"records": records()}
    exec(block("python", "import matrixdp"), names)
    assert names["private"].shape == (2, 2)


def test_every_key_of_a_specification_is_explained():
    text = (ROOT / "docs/own_matrix.md").read_text(encoding="utf-8")
    keys = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert {*keys} == {*specification._NEEDED, *specification._OPTIONAL}
    assert "docs/own_matrix.md" in TEXT
