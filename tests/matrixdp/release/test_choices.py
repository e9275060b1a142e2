"""What is recommended for a file, what would fit, and several releases that share a total."""

import re

import numpy as np
import pytest
from samplefile import release

from matrixdp import cli
from matrixdp.privacy import gaussian
from matrixdp.release import ledger

TOTAL = "total = {epsilon = 4, delta = 1e-5}"


def test_recommendations_for_what_is_planned_fit_together(folder):
    queries = ["mean", "second_moments", "components"]
    for query in queries:
        given = {"query": query, "epsilon": "1.0", "more": TOTAL}
        assert release(folder, out=query, **given) == 0
    books = ledger.read(folder / "people.csv.privacy.json")
    assert 1.4 < ledger.total_epsilon(books) < 1.8


def test_a_refusal_names_what_would_fit(folder, capsys):
    assert release(folder, epsilon="3.0", more=TOTAL) == 0
    given = {"query": "second_moments", "out": "second", "more": TOTAL}
    assert release(folder, **given, epsilon="3.9") == 2
    told = capsys.readouterr().err
    # What the cheapest mechanism would spend, and not the one of the least noise.
    (spent,) = re.findall("this release epsilon (.*?) would be spent of 4", told)
    assert 4 < float(spent) < 3 + 3.9
    (epsilon,) = re.findall("epsilon = (.*?) would fit", told)
    assert 2 < float(epsilon) < 3.9
    pure = f'mechanism = "laplace"\n{TOTAL}'
    assert release(folder, **{**given, "more": pure}, epsilon="2.0") == 2
    assert 'mechanism = "recommend" would fit' in capsys.readouterr().err
    assert release(folder, **given, epsilon=epsilon) == 0


def test_a_refusal_of_a_regression_in_parts_names_one_that_would_fit(folder, capsys):
    more = f'target = "income"\nmechanism = "clipped"\n{TOTAL}'
    assert release(folder, epsilon="3.0", more=TOTAL) == 0
    given = {"query": "regression", "out": "second", "epsilon": "3.9", "more": more}
    assert release(folder, **given) == 2
    (epsilon,) = re.findall("epsilon = (.*?) would fit", capsys.readouterr().err)
    assert release(folder, **{**given, "epsilon": epsilon}) == 0


SEVERAL = """
file = "people.csv"
records = 400
TOTAL
missing = "refuse"
[bounds]
age = [0, 120]
income = [0, 200000]
[[release]]
query = "mean"
[[release]]
query = "covariance"
weight = 3
MORE
"""


def several(folder, total="total = {epsilon = 4, delta = 1e-5}", more="", verb="release"):
    (folder / "spec.toml").write_text(SEVERAL.replace("TOTAL", total).replace("MORE", more))
    words = () if verb == "recommend" else ("--out", str(folder / "out"), "--even-if-useless")
    return cli.main([verb, str(folder / "spec.toml"), *words])


@pytest.mark.parametrize("delta", ["1e-5", "0"])
def test_several_releases_share_one_total_by_their_weights(folder, capsys, delta):
    more = '[[release]]\nquery = "mean"\nlabel = "again"\nweight = 0.5'
    total = f"total = {{epsilon = 4, delta = {delta}}}"
    assert several(folder, total, more, "recommend") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if re.match(r"\w+: epsilon", line)]
    assert several(folder, total, more) == 0
    books = ledger.read(folder / "people.csv.privacy.json")
    if delta == "0":
        shares = np.array([charge["pure_epsilon"] for charge in books["releases"]]) / 4
    else:
        shares = np.array([charge["mu"] for charge in books["releases"]]) ** 2
        shares /= gaussian.mu(4.0, ledger.usable_delta(books["total"])) ** 2
    assert shares == pytest.approx(np.array([1, 3, 0.5]) / 4.5, rel=1e-3)
    assert 0.999 * 4 < ledger.total_epsilon(books) <= 4
    for name in ("mean/mean", "covariance/covariance", "again/mean"):
        assert (folder / f"out/{name}.csv").exists()
    # Again all have their answers, at no cost, and a further one does not fit.
    assert several(folder, total, more) == 0
    assert ledger.read(folder / "people.csv.privacy.json") == books
    assert several(folder, total, more + '\n[[release]]\nquery = "components"') == 2
    assert "in all, and with" in capsys.readouterr().err
    assert ledger.read(folder / "people.csv.privacy.json") == books
