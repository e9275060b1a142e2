"""docs/peers.md: the example of several Gaussians of one matrix, and its mu by enumeration."""

import doctest
import itertools
import re

import numpy as np
import pytest
from packages import ROOT

import matrixdp as mdp

SECTION = (ROOT / "docs/peers.md").read_text(encoding="utf-8").partition("## Several Gaussians")[2]


def largest_changes():
    """Return the largest norms that one record of three columns changes, by search of a grid.

    Of the mean, of the upper triangle of second moments, and of both together, each times n.
    """
    records = np.array([*itertools.product((-1, -0.5, 0, 0.5, 1), repeat=3)])
    i, j = np.triu_indices(3)
    products = records[:, i] * records[:, j]
    mean, moments = (
        ((values[:, None] - values) ** 2).sum(axis=2) for values in (records, products)
    )
    return [float(np.sqrt(squares.max())) for squares in (mean, moments, mean + moments)]


def test_the_example_prints_what_it_says():
    (code,) = re.findall(r"^```pycon\n(.*?)^```$", SECTION, re.M | re.S)
    examples = doctest.DocTestParser().get_doctest(code, {}, "peers", "docs/peers.md", 0)
    assert len(examples.examples) >= 9
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(examples).failed == 0


def test_the_sensitivities_are_those_of_the_worst_records():
    mean, moments, both = largest_changes()
    box = mdp.Box.cube(3, -1, 1)
    joint = mdp.SecondMomentQuery(mdp.Box.cube(4, -1, 1), 1)
    assert mdp.MeanQuery(box, 1).l2_sensitivity == pytest.approx(mean)
    assert mdp.SecondMomentQuery(box, 1).triangle_l2_sensitivity == pytest.approx(moments)
    assert joint.triangle_l2_sensitivity == pytest.approx(both)
    more, short = re.search(r"asks for (\d+) % more.*leave it (\d+) % short", SECTION).groups()
    assert np.hypot(mean, moments) / both - 1 == pytest.approx(int(more) / 100, abs=0.005)
    assert 1 - max(mean, moments) / both == pytest.approx(int(short) / 100, abs=0.005)
