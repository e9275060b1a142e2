"""What holds of every mechanism of the registry: how it is found, and what it refuses."""

import numpy as np
import pytest

from matrixdp import mechanisms
from matrixdp.checks import InputError
from mechanisms.support import QUERIES, built

BAD = [("epsilon", bad) for bad in (0, -1, np.nan, np.inf, "1")]
BAD += [("delta", bad) for bad in (0, -0.1, np.nan, np.inf, 1, 2)]


def test_a_mechanism_is_found_by_its_name_alone():
    for name, entry in mechanisms.registry().items():
        assert mechanisms.find(name) is entry
    with pytest.raises(InputError, match="mechanism is 'laplas'; did you mean 'laplace'"):
        mechanisms.find("laplas")


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_budget_is_refused(name, value):
    given = {"epsilon": 1, "delta": 0.01}
    for mechanism in map(built, mechanisms.registry().values()):
        query = next(query for query in QUERIES if type(query) in mechanism.queries)
        # A pure guarantee needs no delta.
        if name == "delta" and mechanism.calibrate(query, **given).delta == 0:
            continue
        with pytest.raises(InputError, match=f"{name} is {value!r}; it must be"):
            mechanism.calibrate(query, **given | {name: value})


def test_a_query_of_another_kind_is_refused():
    for mechanism in map(built, mechanisms.registry().values()):
        others = [query for query in QUERIES if type(query) not in mechanism.queries]
        assert others
        for query in others:
            with pytest.raises(InputError, match=f"type {type(query).__name__}; .* serves only"):
                mechanism.calibrate(query, epsilon=1, delta=0.01)
