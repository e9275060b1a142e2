import pytest

from matrixdp.checks import InputError
from reproduction import cli
from reproduction.auditing import negative_control
from reproduction.auditing.negative_control import Outcome, WrongMechanism


def test_every_case_is_caught_by_its_tool_and_its_control_passes():
    rows = negative_control.run(seed=7)
    negative_control.require(rows)
    assert [row["mechanism"] for row in rows] == [*negative_control.CASES]
    assert {row["tool"] for row in rows} == {
        "constructor",
        "exact curve",
        "sensitivity search",
        "black box",
        "statistical test",
        "replay",
        "training run",
    }


def case(objects_to):
    return WrongMechanism(
        "x", "tool", lambda wrong, _: Outcome(wrong in objects_to, "seen"), lambda w: w
    )


#: What a tool objects to: True is the wrong mechanism, False its right twin.
OBJECTIONS = {"good": [True], "blind": [], "shy": [True, False], "inverted": [False]}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("blind", "blind is not caught;"),
        ("shy", "the control of shy is refused;"),
        ("inverted", "inverted is not caught; the control of inverted is refused;"),
    ],
)
def test_a_run_ends_at_a_mechanism_that_is_missed(name, sentence, monkeypatch, tmp_path, capsys):
    cases = {one: case(OBJECTIONS[one]) for one in ("good", name)}
    monkeypatch.setattr(negative_control, "CASES", cases)
    with pytest.raises(InputError, match=sentence):
        negative_control.require(negative_control.run(seed=0))
    assert cli.main(["negative-control", "--out", str(tmp_path / "rows.csv")]) == 2
    assert sentence in capsys.readouterr().err
    assert name in (tmp_path / "rows.csv").read_text()
