"""One rule says which rows may be called best, and why others may not."""

import numpy as np
import pandas as pd
import pytest

from matrixdp.release import keys
from reproduction import catalogue
from reproduction.mechanisms import registry
from reproduction.report import advisable
from reproduction.report.tables import advice

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
    assert advisable.add_advisable(rows, ["clipped_public"])["advisable"].tolist() == [reason]


def test_a_mechanism_may_be_advised_if_it_may_at_every_epsilon():
    rows = pd.DataFrame([GOOD, GOOD | {"epsilon": "3", "epsilon_delivered": 4.0}])
    rows = advisable.add_advisable(rows)
    assert advisable.common_advice(rows[:1]) == advisable.YES
    assert advisable.common_advice(rows) == advisable.DELIVERS_MORE


def test_of_private_training_only_what_is_private_is_advised():
    """Schemes of no paper's definition, or that nothing vouches for, are no option."""
    names = ["pld_gaussian", "gaussian_2014", "mvg_code", "imgm_amplified", "of_tomorrow"]
    rows = pd.DataFrame({"mechanism": [*names, "majority", "nonprivate"]})
    released = advice._released_by(catalogue.experiment("adult"), rows, None)
    assert released == dict.fromkeys(names[:2], "gradients")


def test_what_is_offered_is_what_a_specification_can_name():
    built = {name: entry.build() for name, entry in registry().items() if not entry.parameters}
    named = {name for name, mechanism in built.items() if keys.key_of(mechanism)}
    # Both are ``gaussian``: for records and means, and for second moments.
    assert {*catalogue.section("offered")} == {*named, "analytic_gaussian", "goe"}
