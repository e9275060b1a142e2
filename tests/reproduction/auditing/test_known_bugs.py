import pytest

from reproduction.auditing import known_bugs
from reproduction.auditing.known_bugs import tools


@pytest.fixture(scope="module")
def table():
    return {row["known_bug"]: row for row in known_bugs.run(seed=7)}


@pytest.mark.parametrize("name", known_bugs.KNOWN_BUGS)
def test_the_tool_that_a_known_bug_names_catches_it_and_passes_the_control(name, table):
    row = table[name]
    assert row["tool"] == known_bugs.KNOWN_BUGS[name].tool.name
    assert row["caught"], row["evidence"]
    assert row["control"]


def test_all_tools_have_known_bugs(table):
    assert {row["tool"] for row in table.values()} == {
        "constructor",
        "exact curve",
        "sensitivity search",
        "black box",
        "statistical test",
        "replay",
        "training run",
    }
    assert list(table) == list(known_bugs.KNOWN_BUGS)


def test_a_known_bug_counts_as_caught_only_if_its_tool_objects_and_its_control_passes(monkeypatch):
    def known_bug(objects_to):
        judge = tools.Tool("tool", lambda wrong, _: tools.Outcome(wrong in objects_to, "seen"))
        return tools.KnownBug("mistake", judge, lambda wrong: wrong)

    objections = {"good": [True], "blind": [], "shy": [True, False], "inverted": [False]}
    bugs = {name: known_bug(objects_to) for name, objects_to in objections.items()}
    monkeypatch.setattr(known_bugs, "KNOWN_BUGS", bugs)
    found = {row["known_bug"]: (row["caught"], row["control"]) for row in known_bugs.run(seed=0)}
    assert found == {
        "good": (True, True),
        "blind": (False, True),
        "shy": (True, False),
        "inverted": (False, False),
    }
