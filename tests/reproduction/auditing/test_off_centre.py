"""Bounds far from zero: values stay within them, and rounding to them is no defect of noise."""

from dataclasses import fields

import numpy as np
import pytest

from matrixdp.auditing import draws
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.releases import Limits, audit_of, judge, judge_release
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import ADJACENCIES, MeanQuery


class Own(AdditiveGaussian):
    """Noise that another author adds."""

    def _draw(self, value, generator, count):
        return self.noise.sample(generator, count) + value


def of(query, kind=AdditiveGaussian):
    release = Gaussian().calibrate(query, epsilon=1.0, delta=1e-6)
    return kind(**{field.name: getattr(release, field.name) for field in fields(release)})


def verdict(release):
    first, *others = (np.random.default_rng([7, place]) for place in range(6))
    return str(judge(audit_of(release, first), others, Limits(runs=2000))["verdict"])


@pytest.mark.parametrize("per_person", [None, 4])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_mean_far_from_zero_is_certified(adjacency, per_person):
    query = MeanQuery(Box((100.0, -1.0), (101.0, 1.0)), 100, adjacency, per_person=per_person)
    assert verdict(of(query)) == "certified: tight"


@pytest.mark.nightly
@pytest.mark.parametrize("per_person", [None, 4])
def test_a_mean_far_from_zero_of_another_author_is_not_refuted(per_person):
    query = MeanQuery(Box((100.0, -1.0), (101.0, 1.0)), 100, per_person=per_person)
    streams = np.random.default_rng(7).spawn(7)
    row = judge_release(of(query, Own), query, streams, Limits(runs=500))
    assert row["verdict"] == "not refuted"


@pytest.mark.parametrize("domain", [Box((100.0, -3.0), (101.0, -2.0)), Box((1.0, 1.0), (1.5, 9.0))])
def test_values_of_a_mean_lie_within_its_bounds_and_differ_as_the_records(domain):
    query = MeanQuery(domain, 100)
    pair = farthest(query)
    first, second = draws.values(query, pair)
    query.check(np.stack([first, second]))
    assert (first - second)[:, 0] == pytest.approx((pair.record - pair.other) / 100)


def test_a_value_of_bounds_with_zero_is_that_of_one_record():
    query = MeanQuery(Box((0.0, -1.0), (2.0, 1.0)), 100)
    record = np.array([2.0, -1.0])
    assert draws.value_of(query, record)[:, 0] == pytest.approx(record / 100)
