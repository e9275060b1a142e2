"""Attacks on the declared sensitivities of an experiment's queries: a row per query and measure."""

from __future__ import annotations

from matrixdp.auditing.sensitivities import Measure, attack, measures
from matrixdp.privacy.sensitivity import Query
from reproduction.privacy import published
from reproduction.seeds import streams

COLUMNS = (
    ["experiment", "query", "adjacency", "records"]
    + ["measure", "declared", "found", "replayed"]
    + ["ratio", "verdict"]
)


def run(experiment: str, queries: dict[str, Query], seed: int) -> list[dict[str, object]]:
    """Return one row per query of an experiment and measure, with the columns ``COLUMNS``."""
    rows = []
    for name, query in queries.items():
        for key, measure in with_published(query).items():
            generators = streams(seed, "audit", experiment, name, key, trials=range(2))
            rows.append({"experiment": experiment, **attack(query, key, measure, generators)})
    return rows


def with_published(query: Query) -> dict[str, Measure]:
    """Return the measures of a query, and after "l2" the MVG paper's value of it."""
    every = {}
    for name, (declared, norm) in measures(query).items():
        every[name] = declared, norm
        if name == "l2":
            every["l2, as the MVG paper states it"] = published.l2_sensitivity(query), norm
    return every
