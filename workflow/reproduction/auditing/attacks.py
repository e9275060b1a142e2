"""Attacks on the declared sensitivities of an experiment's queries: a row per query and measure.

A search attains a change, and so does f on two data sets with the worst neighbours of the search.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp.auditing.audit import CLOSE, ROUNDING
from matrixdp.auditing.neighbours import Neighbours, frobenius, random_records, worst
from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery
from reproduction.privacy import published
from reproduction.seeds import streams

COLUMNS = (
    ["experiment", "query", "adjacency", "records"]
    + ["measure", "declared", "found", "replayed"]
    + ["ratio", "status", "verdict"]
)

#: A declared sensitivity, and the norm of changes (..., m, n') -> (...) that it is about.
Measure = tuple[float, Callable[[Array], Array]]


def run(experiment: str, queries: dict[str, Query], seed: int) -> list[dict[str, object]]:
    """Return one row per query of an experiment and measure, with the columns ``COLUMNS``."""
    rows = []
    for name, query in queries.items():
        for key, measure in add_published_measure(query).items():
            generators = streams(seed, "audit", experiment, name, key, trials=range(2))
            rows.append({"experiment": experiment, **attack(query, key, measure, generators)})
    return rows


def add_published_measure(query: Query) -> dict[str, Measure]:
    """Return the measures of a query, and after "l2" the MVG paper's value of it."""
    every = {}
    for name, (declared, norm) in measures(query).items():
        every[name] = declared, norm
        if name == "l2":
            every["l2, as the MVG paper states it"] = published.l2_sensitivity(query), norm
    return every


def measures(query: Query) -> dict[str, Measure]:
    """Return the declared sensitivities of a query and their norms of changes, by name.

    A query of the study may declare them itself.
    """
    if hasattr(query, "measures"):
        declared: dict[str, Measure] = query.measures
        return declared
    entries: dict[str, Measure] = {
        "l1": (query.l1_sensitivity, _sum),
        "l2": (query.l2_sensitivity, frobenius),
    }
    if isinstance(query, SecondMomentQuery):
        entries["l1, upper triangle"] = query.triangle_l1_sensitivity, lambda d: _sum(np.triu(d))
        entries["l2, upper triangle"] = (
            query.triangle_l2_sensitivity,
            lambda d: frobenius(np.triu(d)),
        )
    return entries


def _sum(change: Array) -> Array:
    return np.abs(change).sum(axis=(-2, -1))


def attack(
    query: Query, name: str, measure: Measure, generators: list[np.random.Generator]
) -> dict[str, object]:
    """Return the declared sensitivity of one measure, the attained ones, and the verdict.

    ``generators``: one for the search, one for the records that the neighbours share.
    """
    declared, norm = measure
    pair = worst(query, norm, generators[0])
    replayed = float(norm(replay(query, pair, generators[1])))
    reached = max(pair.size, replayed)
    attained = "attained" if reached > declared * (1 - CLOSE) else "not attained by the search"
    status = "violated" if reached > declared * (1 + ROUNDING) else "holds"
    return {
        "query": query.name,
        "adjacency": query.adjacency,
        "records": query.n_records,
        "measure": name,
        "declared": declared,
        "found": pair.size,
        "replayed": replayed,
        "ratio": reached / declared,
        "status": status,
        "verdict": f"{status}, {attained}" if status == "holds" else status,
    }


def replay(query: Query, pair: Neighbours, stream: np.random.Generator) -> Array:
    """Return f(X) - f(X') for data sets of n records, of which they share n - 1 random ones."""
    first = random_records(query, stream)
    second = first.copy()
    first[:, 0], second[:, 0] = pair.record, pair.other
    return query.value(first) - query.value(second)
