"""One rule says which rows may be called best, and why others may not."""

import numpy as np
import pandas as pd
import pytest

from reproduction import catalogue
from reproduction.report import advisable

GOOD = {
    "experiment": "regression",
    "mechanism": "laplace",
    "configuration": "",
    "epsilon": "1",
    "epsilon_delivered": 1.0,
    "audit_status": "certified",
}
ON_FEATURES = {"experiment": "imdb", "audit_status": ""}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "yes"),
        ({"audit_status": "not refuted"}, "yes"),
        ({"audit_status": "refuted"}, "not private"),
        ({"audit_status": "declared"}, "declared only"),
        ({"epsilon_delivered": np.nan}, "epsilon unknown"),
        ({"epsilon_delivered": 1.001}, "delivers more than it claims"),
        ({"epsilon_delivered": 1 + 1e-9}, "yes"),
        ({"configuration": "tau=0.75"}, "by results"),
        ({"mechanism": "clipped_private"}, "made on these data, without a result on others"),
        ({"mechanism": "clipped_public"}, "yes"),
        ({"mechanism": "zero", "epsilon": "", "epsilon_delivered": np.nan}, "yes"),
        ({"mechanism": "nonprivate", "epsilon": ""}, "needs the records"),
        ({"mechanism": "clipped_4", "epsilon": ""}, "needs the records"),
        ({**ON_FEATURES, "mechanism": "imgm"}, "yes"),
        ({**ON_FEATURES, "mechanism": "imgm_amplified"}, "not private"),
        # What is wrong with the guarantee comes first.
        ({"audit_status": "refuted", "configuration": "tau=0.75"}, "not private"),
    ],
)
def test_a_row_may_be_advised_or_has_the_first_reason_against_it(fields, reason):
    assert {"clipped_private", "clipped_public"} < catalogue.tuned()
    rows = pd.DataFrame([GOOD | fields])
    assert advisable.joined(rows, ["clipped_public"])["advisable"].tolist() == [reason]


def test_a_mechanism_may_be_advised_if_it_may_at_every_epsilon():
    rows = pd.DataFrame([GOOD, GOOD | {"epsilon": "3", "epsilon_delivered": 4.0}])
    rows = advisable.joined(rows)
    assert advisable.of_all(rows[:1]) == advisable.YES
    assert advisable.of_all(rows) == advisable.DELIVERS_MORE
