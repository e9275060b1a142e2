import pytest

from matrixdp.audit import known_bugs


@pytest.fixture(scope="module")
def table():
    return {row["canary"]: row for row in known_bugs.run(seed=7)}


@pytest.mark.parametrize("name", known_bugs.KNOWN_BUGS)
def test_the_tool_that_a_known_bug_names_catches_it_and_passes_the_control(name, table):
    row = table[name]
    assert row["tool"] == known_bugs.KNOWN_BUGS[name].tool
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
    def tool(objects_to):
        def try_out(wrong, given):
            return known_bugs.Outcome(wrong in objects_to, "seen")

        return known_bugs.KnownBug("mistake", "tool", try_out)

    tools = {"good": [True], "blind": [], "shy": [True, False], "inverted": [False]}
    monkeypatch.setattr(known_bugs, "KNOWN_BUGS", {name: tool(to) for name, to in tools.items()})
    found = {row["canary"]: (row["caught"], row["control"]) for row in known_bugs.run(seed=0)}
    assert found == {
        "good": (True, True),
        "blind": (False, True),
        "shy": (True, False),
        "inverted": (False, False),
    }
