"""The papers' three experiments as queries, with records and streams for them."""

import numpy as np

from matrixdp.mechanisms.programs import Columns, drawing
from matrixdp.privacy.sensitivity import (
    ADD_OR_REMOVE,
    ADJACENCIES,
    Ball,
    Box,
    RecordsQuery,
    SecondMomentQuery,
    second_moments,
)

LIVER = RecordsQuery(Box.cube(6, -1, 1), 248)
MOVEMENT = SecondMomentQuery(Box.cube(4, -100, 100), 10176)
CTG = RecordsQuery(Box.cube(21, 0, 1), 2126)
LIVER_MOMENTS = SecondMomentQuery(LIVER.domain, 248)
CTG_MOMENTS = SecondMomentQuery(CTG.domain, 2126)
#: Domains of every kind, and what neighbours may be.
DOMAINS = {
    "cube": Box.cube(4, -1.0, 1.0),
    "nonnegative": Box((0.0, 0.0, 0.0), (1.0, 2.0, 3.0)),
    "anywhere": Box((-1.0, 2.0, -3.0), (2.0, 5.0, 0.5)),
    "ball": Ball(2.0, 3),
}
RELATIONS = (*ADJACENCIES, ADD_OR_REMOVE)
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


class Unclipped(SecondMomentQuery):
    """Second moments of records in a ball that are not clipped to it."""

    def value(self, records):
        return second_moments(records)

    def check(self, value):
        return np.asarray(value)


def budget(query, epsilon=1.0):
    """The papers' budget: delta = 1 / n."""
    return {"epsilon": epsilon, "delta": 1 / query.n_records}


def records(query, seed=0, spread=0.6):
    """Records of the box, most of them short and some of full norm."""
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    rng = np.random.default_rng(seed)
    return np.clip(spread * rng.standard_normal((query.features, query.n_records)), lower, upper)


def radii(release, columns, generator, count):
    """The number of the radius of each run."""
    read, ask = Columns(columns), drawing(generator)
    return np.array([release.choose(read, ask)[0] for _ in range(count)])


def streams(count, seed=0):
    return [np.random.default_rng([seed, k]) for k in range(count)]
