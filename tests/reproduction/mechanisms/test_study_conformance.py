"""The conformance suite over the mechanisms of the study that the library does not have."""

import conformance
import pytest
from registryqueries import built

from reproduction import mechanisms

LIBRARY = [*map(repr, conformance.library_mechanisms())]
STUDY = {repr(one): one for one in map(built, mechanisms.registry().values())}


@pytest.mark.parametrize(
    ("check", "case"),
    conformance.rows(one for name, one in STUDY.items() if name not in LIBRARY),
)
def test_conformance(check, case):
    check(case)
