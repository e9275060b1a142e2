"""The receipt for a data protection officer, and the formats of receipts and accounts."""

import hashlib
import json
import math
import re

import harness
import numpy as np
import pytest
import refusals
from harness import charges
from scipy import stats

import matrixdp as mdp
from matrixdp import cli
from matrixdp.release import ledger, receipt_page, storage
from matrixdp.release.plans import make

DATE = "2031-02-03"


def released(folder, out="out", date=DATE, **keys):
    """Make a release on a date; return its receipt and page."""
    (result,) = make(harness.spec(folder, **keys), folder / out, even_if_useless=True, date=date)
    return json.loads(result.paths["receipt"].read_text()), result.paths["page"].read_text()


PEOPLE = {"person": "who", "per_person": 2, "adjacency": "add_or_remove"}
LINE = {"query": "regression", "target": "income"}
#: Requests, and words of their pages beside those of every page.
PAGES = [
    ({}, ["a missing value ends the release"]),
    ({"query": "records"}, []),
    (
        {"query": "second_moments", "missing": "middle"},
        ["counts as age 60, income 100000, towards which"],
    ),
    ({"query": "covariance", "mechanism": "clipped", "label": "again"}, ['"again"']),
    (
        {**LINE, "adjacency": "add_or_remove", "missing": {"age": 40}},
        ["age 40, income 100000, towards"],
    ),
    ({**LINE, "mechanism": "clipped", "delta": 1e-4}, ["**Delta is 0.0001:** "]),
    ({"query": "components", "max_norm": 1e5}, []),
    ({"epsilon": 12.0}, ["**Caution:** epsilon is 12"]),
    (
        PEOPLE,
        [
            "all records of each person together",
            "whether they are in the file, and what they say",
            "at most 7.39 times as likely with a person's records as without them",
            "400 records (their number is private)",
            "the first 2 of each person",
        ],
    ),
]


@pytest.mark.parametrize(("keys", "words"), PAGES)
def test_a_receipt_is_half_a_page_of_plain_words(folder, keys, words):
    rows = np.column_stack([harness.ROWS, np.arange(400)])
    harness.save(folder / "people.csv", rows, ("age", "income", "who"))
    statement, page = released(folder, **keys)
    assert len(page.split()) < 470
    assert not re.search(r"\d\.\d{5}|\d{12}", page), "digits that mean nothing"
    for part in (DATE, "people.csv", f"**Epsilon is {keys.get('epsilon', 2):.12g}:**", *words):
        assert part in page
    for title in ("Whom it protects", "Missing and extreme values", "Records that count", "Spent"):
        assert f"**{title}:** " in page
    assert f"mechanism: {statement['mechanism']}" in page
    assert statement["total_of_the_account"] in page
    assert statement["not_covered"] in page
    assert "mu" not in page.split()
    assert str(folder) not in page + json.dumps(statement)


def test_a_release_of_records_in_memory_names_no_file_and_says_what_counts_it(tmp_path):
    settings = {"query": "mean", "bounds": {0: (0, 120), 1: (0, 2e5)}, "missing": "refuse"}
    alone = mdp.make_release(harness.ROWS, epsilon=1, **settings)
    assert alone.receipt["file"] is None
    assert "400 records in the memory of a program" in alone.page
    assert "**Spent:** no account counts this release" in alone.page
    account = {"account": tmp_path / "a.json", "total": {"epsilon": 1, "delta": 0}}
    counted = mdp.make_release(harness.ROWS, epsilon=1, **settings, **account)
    assert "by all releases of the account" in counted.page


@pytest.mark.parametrize(
    ("number", "up"),
    [
        (1.0, "1"),
        (0.9999999999999996, "1"),
        (1.2345, "1.24"),
        (75_703, "75,800"),
        (1e-6, "1e-06"),
        (0.1 + 0.2, "0.3"),
    ],
)
def test_numbers_are_rounded_so_that_no_promise_gets_stronger(number, up):
    assert receipt_page.up(number) == up


def events(law, std):
    """Return the chances (2, k) of answers above many limits, of records of 1 and with one of 0."""
    scale = std if law is stats.norm else std / np.sqrt(2)
    limits = np.linspace(-20, 20, 4001) * std
    return np.array([law.sf(limits - shift, scale=scale) for shift in (0.01, 0.0)])


@pytest.mark.parametrize("budget", [(1, 1e-6), (1, 1e-3), (0.25, 1e-3), (3, 1e-5), (0.5, 0)])
def test_the_odds_and_the_delta_of_a_page_hold_for_every_event(budget):
    epsilon, delta = budget
    mechanism, law = ("gaussian", stats.norm) if delta else ("laplace", stats.laplace)
    made = mdp.make_release(
        np.ones((100, 1)),
        query="mean",
        bounds=(0, 1),
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        missing="refuse",
        even_if_useless=True,
    )
    said = re.search(
        r"any set of answers is at most (\S+) times the other, plus (\S+)\.", made.page
    )
    factor, rest = map(float, said.groups())
    assert factor >= math.exp(epsilon)
    assert rest >= made.receipt["delta"]
    (std,) = made.receipt["noise_std"].values()
    one, other = events(law, std)
    # The other way round, and below a limit, symmetric noise gives the same.
    assert (one <= factor * other + rest).all()
    # With a hundredth less noise it would be false, at the digits that the receipt has.
    one, other = events(law, 0.99 * std)
    assert (one > math.exp(epsilon) * other + made.receipt["delta"]).any()


@pytest.mark.parametrize("budget", [(1, 1e-6), (1, 1e-3), (0.25, 1e-3)])
def test_more_than_delta_lies_beyond_the_odds_so_that_no_page_may_say_less(budget):
    epsilon, delta = budget
    query = mdp.MeanQuery(mdp.Box((0,), (1,)), n_records=100)
    std = mdp.Gaussian().calibrate(query, epsilon=epsilon, delta=delta).noise_std
    # Beyond this answer the densities of the two are further apart than e^epsilon.
    limit = 0.005 + epsilon * std**2 / 0.01
    assert stats.norm.sf(limit, 0.01, std) > 5 * delta


def test_a_repeat_on_another_day_gives_the_same_bytes(folder):
    first = released(folder)
    charge = charges(folder)
    assert released(folder, out="again", date="2032-01-01") == first
    assert charges(folder) == charge
    assert (charge[0]["date"], charge[0]["file"]) == (DATE, "people.csv")


def test_no_hash_and_no_size_of_the_records_is_written(folder):
    records = (folder / "people.csv").read_bytes()
    released(folder)
    written = [
        file
        for file in folder.rglob("*")
        if file.is_file() and file.name not in ("people.csv", "spec.toml")
    ]
    text = "\n".join(file.read_text() for file in written)
    for name in ("md5", "sha1", "sha256", "sha512", "blake2b"):
        assert hashlib.new(name, records).hexdigest()[:12] not in text
    assert not re.search(rf"\b{len(records)}\b", text)
    # Those of the request, of the receipt and of the answer, which are public, and no more.
    (charge,) = charges(folder)
    answer = json.loads((folder / charge["answer"]).read_text())["sha256"]
    public = {charge["request"], charge["receipt"], answer}
    assert {*re.findall(r"\b[0-9a-f]{64}\b", text)} == public


def test_an_account_of_a_later_format_is_refused_in_one_sentence(folder, capsys):
    statement, _ = released(folder)
    path = folder / "people.csv.privacy.json"
    content = json.loads(path.read_text())
    assert statement["format"] == content["format"] == ledger.FORMAT == 1
    later = content | {"format": ledger.FORMAT + 1, "releases": "of another shape"}
    path.write_text(json.dumps(later))
    says = ["has the format 2, ", " up to 1; install a newer one"]
    refusals.command(cli.main, ["account", folder / "people.csv"], folder, capsys, says)
    for wrong in ("two", 0, True, None):
        path.write_text(json.dumps(later | {"format": wrong}))
        refusals.call(lambda: storage.read(path), folder, ["is no account of releases"])
