"""docs/tutorial.md: every command runs, and gives the output that is printed there.

Random bits are fixed here, so that the released numbers of the page come out too. Numbers are
compared as numbers: a processor's last digits are not those of another one.
"""

import doctest
import json
import math
import os
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from packages import ROOT

from matrixdp import cli
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.release import ledger
from matrixdp.release.uncertainty import LEVEL
from matrixdp.version import VERSION

pd = pytest.importorskip("pandas", reason="the tutorial's first step needs it")
TEXT = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
SEED = 442

#: The folder of the page's reader.
HOME = "/home/you"


#: By how much of itself a number of the page may differ from the one that comes out. The page
#: prints rounded numbers, which differ by more or not at all.
TOLERANCE = 1e-6
NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def matches(output, printed):
    """Return whether an output is what is printed, its numbers to within ``TOLERANCE``.

    A line of three dots stands for any lines.
    """
    parts = []
    for line in printed.splitlines():
        words = [re.escape(words) for words in re.split(NUMBER, line)]
        parts.append(r"(?:.*\n)*?" if line == "..." else f"({NUMBER})".join(words) + "\n")
    match = re.fullmatch("".join(parts), output)
    pairs = zip(match.groups(), re.findall(NUMBER, printed), strict=True) if match else ()
    return bool(match) and all(
        math.isclose(float(new), float(old), rel_tol=TOLERANCE) for new, old in pairs
    )


def follow(text, capsys):
    """Carry out a page in the current folder; AssertionError: an output is not the printed one."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$(?:\n\n((?:\|[^\n]*\n)+))?", text, re.M | re.S)
    session = {}
    for language, code, table in blocks:
        if language == "toml":
            Path(code.partition("\n")[0].removeprefix("# ")).write_text(code)
        elif language == "python":
            exec(code, {})
            output = capsys.readouterr().out
            assert matches(output, table), output
        elif language == "pycon":
            for example in doctest.DocTestParser().get_examples(code):
                exec(compile(example.source, "<page>", "single"), session)
                output = capsys.readouterr().out
                assert matches(output, example.want), f">>> {example.source}{output}"
        else:
            assert language == "console"
            for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.M):
                output = run(command, capsys)
                assert matches(output, printed), f"$ {command}\n{output}"
    return len(blocks)


def run(command, capsys):
    """Return the output of a command in the words of the page; notes come before a pipe ends."""
    first, *pipes = map(shlex.split, command.split(" | "))
    notes, output = "", ""
    if first[0] == "matrixdp":
        cli.main(first[1:])
        captured = capsys.readouterr()
        notes, output = (text.replace(os.getcwd(), HOME) for text in (captured.err, captured.out))
    else:
        pipes = [first, *pipes]
    for words in pipes:
        assert words[0] in ("fold", "grep")
        output = subprocess.run(words, input=output, capture_output=True, text=True).stdout
    # Where a line is folded a space stays at its end.
    output = re.sub(" +$", "", output, flags=re.M)
    return notes + output if pipes else output + notes


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Give a reader an empty folder, and each release fixed random bits on a fixed day."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ledger, "today", lambda: "2026-03-02")
    noisy = AdditiveMechanism.add_noise

    def with_fixed_bits(release, value, bits):
        return noisy(release, value, np.random.default_rng([SEED, value.size]).bytes)

    monkeypatch.setattr(AdditiveMechanism, "add_noise", with_fixed_bits)


@pytest.mark.usefixtures("reader")
def test_every_command_gives_the_printed_output(capsys):
    assert follow(TEXT, capsys) == TEXT.count("\n```") // 2
    receipt = json.loads(Path("release/mean.receipt.json").read_text())
    widths = receipt[f"interval_{LEVEL:.0%}_plus_or_minus".replace("%", "")]
    years, bmi, pressure = widths.values()
    assert f"within {years:.1f} years, {bmi:.1f} kg/m² and {pressure:.1f} mmHg" in flat(TEXT)
    assert f"matrixdp {VERSION}" in TEXT
    drawn, kept = Path("noise.svg").read_text(), (ROOT / "docs/noise.svg").read_text()
    assert matches(drawn, kept)
    assert not matches(drawn, kept.replace("± 1.03", "± 1.04"))
    # The file is public: what was released is near the exact numbers, as it says.
    exact = pd.read_csv("patients.csv")[[*widths]].mean()
    assert (pd.read_csv("release/mean.csv").iloc[0] - exact).abs().lt(pd.Series(widths)).all()
    line = pd.read_csv("release/regression.csv").iloc[0]
    details = json.loads(Path("release/regression.details.json").read_text())
    errors = details["standard_errors_of_the_noise_alone"]
    shares = [errors[column] / line[column] for column in ("age", "bmi")]
    assert np.round(shares, 2).tolist() == [0.45, 0.3]
    # The ridge shrinks least squares.
    file, low, high = pd.read_csv("patients.csv"), [18, 15, 60], [90, 45, 140]
    rows = file[["age", "bmi", "bp"]].clip(low, high, axis=1).to_numpy()
    design = np.column_stack([rows[:, :2], np.ones(len(rows))])
    exact = np.linalg.lstsq(design, rows[:, 2], rcond=None)[0]
    assert (line < exact)[["age", "bmi"]].all()


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    "old",
    [
        "0.317 in the mean",
        "room for 0 more",
        "epsilon 3 in 1",
        "  48.61",
        "176.6",
        "60.56",
        "± 0.4",
        "0.10",
    ],
)
def test_another_output_is_noticed(old, capsys):
    assert old in TEXT
    with pytest.raises(AssertionError):
        follow(TEXT.replace(old, old[:-1] + "7"), capsys)


def test_the_last_digits_of_a_processor_are_not_compared():
    assert matches("age 0.22418949728015847\n", "...\nage 0.2241894972801584\n")
    for other in (
        "age 0.22419\n",
        "age -0.2241894972801584\n",
        "age\n",
        "bmi 0.2241894972801584\n",
    ):
        assert not matches(other, "age 0.2241894972801584\n")
    assert re.findall(r"\S*\d\.\d{5}\S*", TEXT) == []  # nobody reads more digits


def test_the_page_is_short_and_its_code_narrow():
    assert len(TEXT.splitlines()) <= 190
    blocks = re.findall(r"^```\w+\n(.*?)^```$", TEXT, re.M | re.S)
    assert max(len(line) for block in blocks for line in block.splitlines()) <= 80


def flat(text):
    """Return a text on one line."""
    return " ".join(text.split())
