"""Errata show the numbers of a run, and say where there are none."""

import numpy as np
import pandas as pd
import pytest
import runfiles
import yaml
from samplerun import put, settle

from matrixdp.checks import InputError
from reproduction.report import inputs
from reproduction.report.tables import errata
from reproduction.theory import exact

ENTRIES = yaml.safe_load(inputs.ERRATA.read_text(encoding="utf-8"))


def numbers(*names):
    rows = [{"check": name, "statistic": f"number of {name}", "value": 2.0} for name in names]
    return pd.DataFrame(rows)


def test_errata_show_their_numbers():
    assert len({one["id"] for one in ENTRIES}) == len(ENTRIES) >= 28
    needed = {one["check"] for one in ENTRIES if "check" in one and "package" not in one}
    every = pd.concat([numbers(*sorted(needed))] * 9)
    table = errata.data({"errata": ENTRIES, "theory/exact": every}).set_index("id")
    shown = table["statistic"]
    assert shown["MVG-1"].startswith("number of ")
    assert shown["MVG-2"] == "none"
    assert shown["diffprivlib-1"] == "not installed"
    assert errata.data({"errata": ENTRIES}).set_index("id")["statistic"]["MVG-1"] == "not run"


def test_wrong_errata_are_named():
    first = ENTRIES[0]
    for entry, message in (
        (first | {"check": "M99"}, "erratum MVG-1: check is 'M99'"),
        (first | {"check": "M11", "number": 2}, "erratum MVG-1: number is 2; check M11 has 1"),
        (first | {"chekc": "M11"}, "erratum MVG-1 must have consequence"),
        ("MVG-1", "erratum MVG-1 must have consequence"),
    ):
        with pytest.raises(InputError, match=message):
            errata.data({"errata": [entry], "theory/exact": numbers("M11")})


def test_the_table_needs_no_number(tmp_path):
    settle(tmp_path)
    runfiles.write(tmp_path, "tables/errata")
    assert "| **IMGM paper** |" in (tmp_path / "tables/errata.md").read_text()
    put(tmp_path / "theory/exact.csv", "")
    with pytest.raises(InputError, match=r"exact\.csv cannot be read"):
        runfiles.write(tmp_path, "tables/errata")


def test_every_erratum_has_a_check_and_number_that_exist():
    assert {one["check"] for one in ENTRIES if "check" in one} <= {*exact.names()}
    counts = {name: len([*check(np.random.default_rng(0))]) for name, check in cheap().items()}
    for one in ENTRIES:
        if one.get("check") in counts:
            assert 1 <= one.get("number", 1) <= counts[one["check"]], one["id"]


def cheap():
    wanted = {one.get("check") for one in ENTRIES}
    return {name: check for name, check in exact.CHECKS.items() if name in wanted}
