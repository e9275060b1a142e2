"""Attacks on the declared sensitivities of an experiment's queries: a row per query and measure."""

from __future__ import annotations

from matrixdp.auditing.sensitivities import attack, measures
from matrixdp.privacy.sensitivity import Query
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
        for measure in measures(query):
            generators = streams(seed, "audit", experiment, name, measure, trials=range(2))
            rows.append({"experiment": experiment, **attack(query, measure, generators)})
    return rows
