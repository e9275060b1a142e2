"""Requests that a kept draw answers, and those of the same moments twice."""

import json
import os
import re

import harness
import numpy as np
import pytest
from harness import HALF, TOTAL, moments, stored

from matrixdp.release import parser, plans, provenance, storage
from matrixdp.release.outputs.moments import TOGETHER

pytestmark = pytest.mark.usefixtures("few_draws")


#: A first request, and later ones that its draw answers.
KEPT = [
    ({"query": "covariance"}, {"query": "components"}),
    ({"query": "covariance"}, {"query": "regression", "target": "age"}),
    ({"query": "regression", "target": "age"}, {"query": "regression", "target": "income"}),
    ({"query": "regression", "target": "age"}, {"query": "covariance"}),
    ({"query": "components", "number": 1}, {"query": "components"}),
    ({"query": "covariance"}, {"query": ["components", "covariance"]}),
    ({"query": "covariance"}, {"query": ["mean", "covariance"], "mean_weight": 1}),
    ({"query": ["mean", "covariance"]}, {"query": "components"}),
    ({"query": ["mean", "covariance"], "mechanism": "gaussian"}, {"query": "mean"}),
    ({"query": ["mean", "covariance"]}, {"query": ["mean", "components"]}),
    ({"query": "covariance", "mechanism": "clipped"}, {"query": "components"}),
    ({"query": ["mean", "covariance"], "mechanism": "recommend"}, {"query": "mean"}),
]


@pytest.mark.parametrize(("first", "later"), KEPT)
def test_another_answer_of_a_kept_draw_costs_nothing(folder, capsys, first, later):
    later = {key: first[key] for key in first if key == "mechanism"} | later
    assert harness.run(folder, insist=True, **{**TOTAL, **first}) == 0
    (kept,) = stored(folder)
    capsys.readouterr()
    assert harness.run(folder, verb="recommend", **{**TOTAL, **later}) == 0
    assert "keeps a draw that answers this at no cost" in capsys.readouterr().err
    # A moment after the draw, and before an answer is stored with it.
    (file,) = folder.glob("people.csv.privacy.*.json")
    os.utime(folder / "people.csv", (file.stat().st_mtime + 1e-4,) * 2)
    shown = []
    for out in ("later", "again"):
        capsys.readouterr()
        assert harness.run(folder, out, **{**TOTAL, **later}) == 0
        printed = capsys.readouterr().err
        assert "from the noisy moments of the charge 1 of" in printed
        assert TOGETHER in printed
        # The file is newer than the draw, also where an answer was stored with it since.
        assert "has changed since" in printed
        files = sorted((folder / out).iterdir())
        shown.append([(file.name, file.read_text()) for file in files])
    assert shown[0] == shown[1]
    assert len(harness.charges(folder)) == 1
    assert stored(folder)[0].release == kept.release
    for name in np.atleast_1d(later["query"]).tolist():
        answer, (mean, covariance) = (
            harness.read(folder, name, "later"),
            moments(kept.release["draw"]),
        )
        assert answer.receipt["digest"] == kept.receipt["digest"]
        assert answer.receipt["charge"] == 1
        if name == "mean":
            assert answer.numbers[0] == pytest.approx(np.clip(mean, -1, 1) * HALF + HALF)
        if name == "components":
            total = np.clip(np.linalg.eigvalsh(covariance), 0, None).sum()
            assert answer.numbers[:, 0].sum() == pytest.approx(total)
        if name == "covariance":
            raw = answer.details["raw_covariance"]
            for place, (column, low, high) in enumerate(kept.release["columns"]):
                half = (high - low) / 2
                assert raw[column][column] == pytest.approx(covariance[place, place] * half**2)


#: What makes a request one of its own after {"query": "covariance"}.
OTHERS = [
    {"query": "components", "epsilon": 2.1},
    {"query": "components", "epsilon": 1.0, "delta": 1e-7},
    {"query": "components", "label": "again"},
    {"query": "components", "mechanism": "gaussian"},
    {"query": "components", "missing": "middle"},
    {"query": "components", "max_norm": 1e5},
    {"query": "components", "missing_values": ["-999"]},
    {"query": "components", "bounds": {"age": [0, 121], "income": [0, 200_000]}},
    {"query": "components", "bounds": {"age": [0, 120]}},
    {"query": "second_moments"},
    {"query": "mean", "mechanism": "recommend"},
    {"query": ["mean", "covariance"], "mean_weight": 2.0},
]


@pytest.mark.parametrize("later", OTHERS)
def test_a_request_that_differs_is_one_of_its_own(folder, later):
    assert harness.run(folder, **TOTAL, query="covariance") == 0
    assert harness.run(folder, "later", insist=True, **{**TOTAL, **later}) == 0
    assert len(harness.charges(folder)) == 2


@pytest.mark.parametrize(("mechanism", "count"), [("laplace", 2), ("gaussian", 1)])
def test_moments_without_a_part_of_the_mean_answer_no_mean_unasked(folder, mechanism, count):
    """Of two columns Gaussian noise has a mean at no cost, and Laplace noise has not."""
    keys = {**TOTAL, "mechanism": mechanism}
    for number, query in enumerate(["covariance", ["mean", "covariance"]]):
        assert harness.run(folder, str(number), **keys, query=query) == 0
    assert len(harness.charges(folder)) == count


def test_bounds_of_another_origin_make_a_request_of_its_own(folder, monkeypatch):
    assert harness.run(folder, **TOTAL, query="covariance") == 0
    found = {"age": "found in private", "income": provenance.STATED}
    monkeypatch.setattr(provenance, "of_bounds", lambda *_: found)
    assert harness.run(folder, "later", **TOTAL, query="components") == 0
    assert len(harness.charges(folder)) == 2


def test_an_answer_without_its_draw_answers_nothing_else(folder):
    """As version 0.1.0 kept it."""
    assert harness.run(folder, **TOTAL, query="covariance") == 0
    (kept,) = stored(folder)
    answer = {**kept.answer, "receipt": kept.receipt}
    (file,) = folder.glob("people.csv.privacy.*.json")
    file.write_text(json.dumps({"answer": answer, "sha256": storage.digest(answer)}))
    assert harness.run(folder, "later", **TOTAL, query="components") == 0
    assert len(harness.charges(folder)) == 2


#: A draw of epsilon 2, and requests of less that it answers.
LARGER = [
    ({"query": "covariance"}, {"query": "covariance"}),
    ({"query": "covariance"}, {"query": ["regression", "components"], "target": "age"}),
    ({"query": ["mean", "covariance"], "delta": None}, {"query": "mean", "delta": None}),
]


@pytest.mark.parametrize(("first", "later"), LARGER)
def test_less_epsilon_than_a_kept_draw_has_is_refused(folder, capsys, first, later):
    keys = {**TOTAL, "mechanism": "laplace" if "delta" in first else "gaussian", "epsilon": 2.0}
    assert harness.run(folder, insist=True, **keys, **first) == 0
    less = {**keys, **later, "epsilon": 1.9}
    capsys.readouterr()
    assert harness.run(folder, verb="recommend", **less) == 0
    noted = capsys.readouterr().err
    assert harness.run(folder, "later", **less) == 2
    error = capsys.readouterr().err
    assert error.partition(": ")[2] in noted
    assert error.count("\n") == 1
    # The remedies: what it says to state, and a label.
    assert harness.run(folder, "free", **{**less, **stated(error)}) == 0
    assert len(harness.charges(folder)) == 1
    assert harness.run(folder, "more", insist=True, label="more", **less) == 0
    assert len(harness.charges(folder)) == 2


def stated(error):
    """Return the numbers that a message says to state."""
    return {key: float(number) for key, number in re.findall("(epsilon|delta) = ([^ ,]+)", error)}


def test_a_share_of_less_than_a_kept_draw_has_is_refused(folder, capsys):
    keys = {**TOTAL, "mechanism": "gaussian"}
    assert harness.run(folder, releases=[{"query": "covariance"}], **keys) == 0
    several = [{"query": "components"}, {"query": "covariance", "label": "new"}]
    assert harness.run(folder, "several", releases=several, **keys) == 2
    alone = {"query": "components", **stated(capsys.readouterr().err)}
    assert harness.run(folder, "alone", **keys, **alone) == 0
    assert len(harness.charges(folder)) == 1


BUYS_NOTHING = "so that a share of the total buys nothing"
LESS_NOISE = "one draw for both shares has less noise in each"
#: Releases of one file whose moments are the same, and the list that has both.
TWICE = [
    ([{"query": "covariance"}, {"query": "components"}], ["covariance", "components"]),
    ([{"query": "covariance"}, {"query": "mean"}], ["covariance", "mean"]),
    (
        [{"query": ["mean", "covariance"]}, {"query": "components"}],
        ["mean", "covariance", "components"],
    ),
    (
        [
            {"query": ["covariance", "regression"], "target": "age"},
            {"query": "regression", "target": "income"},
        ],
        None,
    ),
]
# A mean alone is no moments: its share buys it less noise than any moments have.
WEIGHTED = [
    ([one, {**two, "weight": 2}], whole) for (one, two), whole in TWICE if two["query"] != "mean"
]
REFUSED = [(*row, BUYS_NOTHING) for row in TWICE] + [(*row, LESS_NOISE) for row in WEIGHTED]


@pytest.mark.parametrize(("releases", "whole", "says"), REFUSED)
def test_releases_of_the_same_moments_are_refused(folder, capsys, releases, whole, says):
    keys = {**TOTAL, "mechanism": "gaussian"}
    assert harness.run(folder, verb="recommend", releases=releases, **keys) == 0
    noted = capsys.readouterr().err
    assert noted.count(says) == 1
    assert harness.run(folder, releases=releases, **keys) == 2
    error = capsys.readouterr().err
    assert error.partition(": ")[2] in noted
    assert error.count("\n") == 1
    assert not harness.charges(folder)
    # The remedies: a label, as below, and a list, or another run.
    assert 'state a label = "..."' in error
    assert ("in one [[release]] by query = " in error) == bool(whole)
    if whole:
        assert f"query = {json.dumps(whole)}," in error
        assert harness.run(folder, "list", releases=[{"query": whole}], **keys) == 0
        assert len(harness.charges(folder)) == 1
        return
    assert "put it in the place of moments afterwards, where it costs nothing" in error
    other = {"query": "covariance", "label": "other", "weight": 3}
    for count, one in enumerate(releases):
        several = [{**one, "weight": 1}, other]
        assert harness.run(folder, f"{count}", releases=several, **keys) == 0
        assert len(harness.charges(folder)) == 2


def test_two_releases_of_one_name_are_read_from_one_draw(folder, capsys):
    lines = [{"query": "regression", "target": target} for target in ("age", "income")]
    assert harness.run(folder, releases=lines, **TOTAL) == 2
    assert "put it in the place of the other afterwards, where it costs" in capsys.readouterr().err
    for count, line in enumerate(lines):
        assert harness.run(folder, f"{count}", insist=True, releases=[line], **TOTAL) == 0
    assert len(harness.charges(folder)) == 1
    # The control: of other columns they are two draws.
    lines[1]["bounds"] = {"age": [0, 1], "income": [0, 1]}
    assert harness.run(folder, releases=lines, **TOTAL) == 2
    assert "afterwards" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        ("gaussian", {"label": "more"}),
        ("gaussian", {"mechanism": "analyze_gauss"}),
        ("gaussian", {"weight": 2, "label": "more"}),
        ("gaussian", {"weight": 2, "mechanism": "analyze_gauss"}),
        ("gaussian", {"weight": 2, "query": "mean"}),
        ("gaussian", {"weight": 2, "query": ["mean", "components"], "mean_weight": 3}),
        # Of a tenth of the total a covariance is taken by another mechanism than components.
        ("recommend", {"weight": 9}),
    ],
)
def test_a_release_of_another_draw_is_not_refused(folder, mechanism, more):
    first, second = TWICE[0][0]
    keys = {**TOTAL, "mechanism": mechanism}
    assert harness.run(folder, releases=[first, {**second, **more}], **keys) == 0
    assert len(harness.charges(folder)) == 2


def test_releases_that_were_paid_for_are_answered_though_one_draw_has_both(folder):
    """Each by itself, as 0.1.0 and an interrupted run made them."""
    releases = TWICE[0][0]
    for spec in parser.read_all(harness.write(folder, releases=releases, **TOTAL)):
        plans.make(spec, None, even_if_useless=True)
    assert harness.run(folder, releases=releases, **TOTAL) == 0
    assert len(harness.charges(folder)) == 1
