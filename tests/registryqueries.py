"""Queries of every kind that a mechanism of the registry may serve, and its parameters."""

from mechanismqueries import CTG, LIVER, MOVEMENT

from matrixdp.privacy.sensitivity import Box, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.adassp import NormalEquations

#: Queries of the tables, of every kind that a mechanism may serve.
QUERIES = [
    LIVER,
    SecondMomentQuery(LIVER.domain, 248),
    NormalEquations(LIVER.domain, 248, target=5),
    RecordsQuery(Box.cube(2, -1, 1), 248),
    MOVEMENT,
    CTG,
    SecondMomentQuery(CTG.domain, 2126),
]

#: A value for each parameter of a mechanism.
PARAMETERS = {
    "direction": (1,),
    "tau": 0.75,
    "sketch_multiple": 4.0,
    "squared_radius_fraction": 1 / 16,
}


def built(entry):
    """Return a mechanism of the registry, at one value of each of its parameters."""
    return entry.build(**{name: PARAMETERS[name] for name in entry.parameters})
