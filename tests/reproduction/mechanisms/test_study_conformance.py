"""The conformance suite over the mechanisms of the study that the library does not have."""

import conformance
import pytest
from registryqueries import built

from reproduction import mechanisms
from reproduction.mechanisms.adassp import AdaSSP, NormalEquations

QUERIES = [
    *conformance.QUERIES,
    NormalEquations(conformance.DOMAINS["cube"], conformance.RECORDS, target=2),
    NormalEquations(conformance.DOMAINS["ball"], conformance.RECORDS, "zero_out", target=1),
]
LIBRARY = [*map(repr, conformance.library_mechanisms())]
STUDY = {repr(one): one for one in [*map(built, mechanisms.registry().values()), AdaSSP(1 / 16)]}


@pytest.mark.parametrize(
    ("check", "case"),
    conformance.rows((one for name, one in STUDY.items() if name not in LIBRARY), QUERIES),
)
def test_conformance(check, case):
    check(case)
