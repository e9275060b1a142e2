"""Errata show the numbers of a run, and say where there are none."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from matrixdp.checks import InputError
from matrixdp.privacy import gaussian_dp
from reproduction.report import inputs
from reproduction.report.tables import errata
from reproduction.theory import exact

ENTRIES = yaml.safe_load(inputs.ERRATA.read_text(encoding="utf-8"))


def numbers(*names):
    rows = [{"check": name, "statistic": f"number of {name}", "value": 2.0} for name in names]
    return pd.DataFrame(rows)


def test_the_constant_of_adassp_is_what_its_erratum_says():
    def deviations(epsilon, delta):
        return math.sqrt(math.log(6 / delta)) / (epsilon / 3)

    def whole(epsilon, delta):
        return gaussian_dp.epsilon(delta, math.sqrt(3) / deviations(epsilon, delta))

    peers = Path(inputs.ERRATA.parents[1], "docs/peers.md").read_text(encoding="utf-8")
    (line,) = [line for line in peers.split("\n") if line.startswith("| AdaSSP")]
    part = gaussian_dp.epsilon(1e-6 / 3, 1 / deviations(1, 1e-6))
    assert f"delivered ε {part:.3f}, where {1 / 3:.3f} is".replace("0.", ".") in line
    assert f"together have {whole(1, 1e-6):.2f} of 1,".replace("0.", ".") in line
    # The whole epsilons from which on the parts together exceed what is claimed.
    first = [
        next(epsilon for epsilon in range(1, 100) if whole(epsilon, delta) > epsilon)
        for delta in (0.01, 1e-6)
    ]
    assert "from ε = {} on at δ = .01, {} at δ = 10⁻⁶".format(*first) in line


def test_wrong_errata_are_named():
    first = ENTRIES[0]
    for entry, message in (
        (first | {"check": "M99"}, "erratum MVG-1: check is 'M99'"),
        (first | {"check": "M11", "number": 2}, "erratum MVG-1: number is 2; check M11 has 1"),
        (
            first | {"chekc": "M11"},
            "erratum MVG-1 has the unknown key 'chekc'; did you mean 'check'",
        ),
        (first | {"id": "R1SMG-1"}, "erratum R1SMG-1: id is 'R1SMG-1'"),
        ("MVG-1", "erratum MVG-1"),
    ):
        with pytest.raises(InputError, match=message):
            errata.build({"errata": [entry], "theory/exact": numbers("M11")})


def test_every_erratum_has_a_check_and_number_that_exist():
    assert {one["check"] for one in ENTRIES if "check" in one} <= exact.CHECKS.keys()
    counts = {name: len([*check(np.random.default_rng(0))]) for name, check in cheap().items()}
    for one in ENTRIES:
        if one.get("check") in counts:
            assert 1 <= one.get("number", 1) <= counts[one["check"]], one["id"]


def cheap():
    wanted = {one.get("check") for one in ENTRIES}
    return {name: check for name, check in exact.CHECKS.items() if name in wanted}
