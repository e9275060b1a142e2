"""Errata show the numbers of a run, and say where there are none."""

import numpy as np
import pandas as pd
import pytest
import yaml

from matrixdp.checks import InputError
from matrixdp.report.tables import errata
from matrixdp.theory import exact


def test_errata_show_their_numbers(tmp_path):
    entries = errata.read(exact.names())
    assert len({one["id"] for one in entries}) == len(entries) >= 28
    numbers = pd.DataFrame({"check": ["M11"], "statistic": ["number of M11"], "value": [2.0]})
    found = errata.table(entries, numbers)
    shown = found.set_index("id")["statistic"]
    assert shown["MVG-10"] == "number of M11"
    assert shown["MVG-1"] == "not run"
    assert shown["MVG-2"] == "none"
    assert shown["diffprivlib-1"] == "not installed"
    path = tmp_path / "errata.yaml"
    path.write_text(yaml.safe_dump([{**entries[0], "check": "M99"}]))
    with pytest.raises(InputError, match="erratum MVG-1: check is 'M99'"):
        errata.read(exact.names(), path)
    with pytest.raises(InputError, match="erratum MVG-1: number is 2; check M11 has 1"):
        errata.table([{**entries[0], "check": "M11", "number": 2}], numbers)


def test_every_erratum_with_a_check_has_its_number():
    counts = {name: len(check(np.random.default_rng(0))) for name, check in cheap().items()}
    for one in errata.read(exact.names()):
        if one.get("check") in counts:
            assert 1 <= one.get("number", 1) <= counts[one["check"]], one["id"]


def cheap():
    wanted = {one.get("check") for one in errata.read(exact.names())} - {"any_query"}
    return {name: check for name, check in exact.CHECKS.items() if name in wanted}
