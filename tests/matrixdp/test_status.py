import pytest

from matrixdp import status
from matrixdp.checks import InputError


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        ("certified: tight", "certified"),
        ("certified", "certified"),
        ("not refuted: a reason", "not refuted"),
        ("declared: the bound is above the claimed epsilon", "declared"),
        ("refuted: a replay on two neighbours shows it", "refuted"),
        ("not run: no guarantee", "not run"),
        # Nothing tested its results.
        ("not run: TypeError: no such thing", "declared"),
    ],
)
def test_a_verdict_begins_with_its_standing(verdict, word):
    assert status.of(verdict) == word


@pytest.mark.parametrize("verdict", ["private and tight", "", float("nan")])
def test_an_unknown_verdict_is_an_error(verdict):
    with pytest.raises(InputError, match="run the audit again"):
        status.of(verdict)
    with pytest.raises(InputError, match="run the audit again"):
        status.worst(["certified", verdict])


@pytest.mark.parametrize(
    ("statuses", "word"),
    [
        (["certified", "refuted", "declared"], "refuted"),
        (["certified", "declared", "not refuted"], "declared"),
        (["not refuted", "certified"], "not refuted"),
        (["certified", "not run"], "certified"),
        (["not run"], ""),
        ([], ""),
    ],
)
def test_the_worst_status_decides(statuses, word):
    assert status.worst(statuses) == word
