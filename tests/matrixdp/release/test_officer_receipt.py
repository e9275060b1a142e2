"""The receipt for a data protection officer, and the formats of receipts and accounts."""

import hashlib
import json
import os
import re

import pytest
import samplefile

import matrixdp as mdp
from matrixdp import cli
from matrixdp.checks import InputError
from matrixdp.release import ledger, receipt_page
from matrixdp.release.release import make
from matrixdp.release.specification import read

DATE = "2031-02-03"


def released(folder, out="out", date=DATE, **keys):
    """Make a release on a date; return its result, receipt and page."""
    result = make(
        read(samplefile.written(folder, **keys)), folder / out, even_if_useless=True, date=date
    )
    return json.loads(result.paths["receipt"].read_text()), result.paths["page"].read_text()


def account_of(folder):
    return json.loads((folder / "people.csv.privacy.json").read_text())


@pytest.mark.parametrize(
    ("query", "more"),
    [
        ("mean", 'missing = "refuse"'),
        ("records", ""),
        ("second_moments", 'missing = "middle"'),
        ("covariance", 'mechanism = "clipped"'),
        ("regression", 'target = "income"\nadjacency = "add_or_remove"\nmissing = {age = 40}'),
        ("regression", 'target = "income"\nmechanism = "clipped"\nlabel = "again"'),
        ("components", "max_norm = 1e5"),
    ],
)
def test_a_receipt_is_half_a_page_of_plain_words(folder, query, more):
    statement, page = released(folder, query=query, more=more)
    assert len(page.split()) < 450
    assert not re.search(r"\d\.\d{5}|\d{12}", page), "digits that mean nothing"
    for words in (DATE, "people.csv", "**Epsilon is 2:**", "**Delta is 1e-06:**", "one in 1,000"):
        assert words in page
    for title in ("Whom it protects", "Missing and extreme values", "Records that count", "Spent"):
        assert f"**{title}:** " in page
    assert f"mechanism: {statement['mechanism']}" in page
    assert statement["total_of_the_account"] in page
    assert statement["not_covered"] in page
    assert "mu" not in page.split()
    assert str(folder) not in page + json.dumps(statement)


def test_the_sentences_are_those_of_the_relation_and_the_unit(folder):
    rows = [(who, 30, 4e4) for who in range(400)]
    lines = ["patient,age,income", *(",".join(map(str, row)) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    _, page = released(
        folder, more='person = "patient"\nper_person = 2\nadjacency = "add_or_remove"'
    )
    assert "all records of each person together" in page
    assert "whether they are in the file, and what they say" in page
    assert "at most 7.39 times as likely with a person's records as without them" in page
    assert "400 records (their number is private)" in page
    assert "the first 2 of each person" in page


@pytest.mark.parametrize(
    ("number", "up", "down"),
    [
        (1.0, "1", "1"),
        (0.9999999999999996, "1", "0.999"),
        (1.2345, "1.24", "1.23"),
        (75_703, "75,800", "75,700"),
        (1e-6, "1e-06", "1e-06"),
        (0.1 + 0.2, "0.3", "0.3"),
    ],
)
def test_numbers_are_rounded_so_that_no_promise_gets_stronger(number, up, down):
    assert receipt_page._up(number) == up
    if number != 0.9999999999999996:
        assert receipt_page._down(number) == down


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"missing": {"age": 60, "income": 1e5}}, "counted as the middle of its bounds;"),
        ({"missing": {"age": 41, "income": 1e5}}, "counted as age 41, income 100,000;"),
        ({"missing": "refused"}, "a missing value would have ended the release."),
        ({"missing": "other", "rule_for_missing_values": "they go"}, "values:** they go."),
        ({"bounds": {"age": "private", "income": [0, 1]}}, "| age | private |"),
        ({"bounds": "private", "columns": ["age", "income"]}, "| income | private |"),
        ({"bounds": {f"c{i}": [0, 1] for i in range(30)}}, "18 more, see the JSON"),
        ({"epsilon": 700.0}, "at most e^700 times as likely"),
        ({"delta": 3e-5}, "at most one in 33,300."),
        ({"delta": 1e-14}, "less than one in a trillion"),
        ({"cautions": ["epsilon is large"]}, "**Caution:** epsilon is large."),
        ({"ridge": "a ridge shrinks all"}, " Also, a ridge shrinks all."),
        ({"label": "again"}, 'means, "again", of 400 records'),
    ],
)
def test_every_fact_has_its_words(folder, changes, words):
    statement, _ = released(folder)
    table = {"missing": dict.fromkeys(changes.get("bounds", ()), 0.5)}
    changed = statement | (table if "bounds" in changes else {}) | changes
    if changes.get("bounds") == "private":
        changed["missing"] = "refused"
    assert words in receipt_page.markdown(changed, "mean")


def test_a_repeat_on_another_day_gives_the_same_bytes(folder):
    first = released(folder)
    charged = account_of(folder)
    assert released(folder, out="again", date="2032-01-01") == first
    assert account_of(folder) == charged
    (charge,) = charged["releases"]
    assert (charge["date"], charge["file"]) == (DATE, "people.csv")


def test_the_date_is_the_day_in_utc():
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", ledger.today())


def test_nothing_that_is_written_depends_on_the_records(folder):
    first = released(folder)
    (folder / "people.csv.privacy.json").unlink()
    samplefile.save(folder / "people.csv", samplefile.ROWS[::-1] * 0.37 + 1)
    os.utime(folder / "people.csv", (1, 1))
    assert released(folder, out="second") == first


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
    # Those of the request and of the receipt, which are public, and no more.
    (charge,) = account_of(folder)["releases"]
    assert {*re.findall(r"\b[0-9a-f]{64}\b", text)} == {charge["request"], charge["receipt"]}


def test_accounts_and_receipts_carry_the_number_of_their_format(folder):
    statement, _ = released(folder)
    assert statement["format"] == account_of(folder)["format"] == ledger.FORMAT == 1


def test_an_account_of_a_later_format_is_refused_in_one_sentence(folder, capsys):
    released(folder)
    path = folder / "people.csv.privacy.json"
    later = account_of(folder) | {"format": ledger.FORMAT + 1, "releases": "of another shape"}
    path.write_text(json.dumps(later))
    with pytest.raises(InputError, match=r"has the format 2, .* up to 1; install a newer one$"):
        ledger.read(path)
    assert cli.main(["account", str(folder / "people.csv")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    for wrong in ("two", 0, True, None):
        path.write_text(json.dumps(later | {"format": wrong}))
        with pytest.raises(InputError, match="is no account of releases"):
            ledger.read(path)


def test_the_account_prints_dates_and_epsilons_and_no_mu(folder, capsys):
    more = "total = {epsilon = 3, delta = 1e-5}\nmechanism = "
    released(folder, epsilon="0.5", more=f'{more}"laplace"')
    more += '"gaussian"\nlabel = "again"'
    released(folder, out="second", date="2031-12-24", epsilon="0.5", more=more)
    capsys.readouterr()
    assert cli.main(["account", str(folder / "people.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "  mean, 2031-02-03: epsilon 0.5"
    assert re.fullmatch(r"  mean, again, 2031-12-24: epsilon 0\.4\d* at delta 9\.9e-06", lines[3])
    assert not re.search(r"\bmu\b", "\n".join(lines))


def test_a_release_of_records_in_memory_names_no_file():
    settings = {"query": "mean", "bounds": {0: (0, 120), 1: (0, 2e5)}, "missing": "refuse"}
    alone = mdp.make_release(samplefile.ROWS, epsilon=1, **settings)
    assert alone.receipt["file"] is None
    assert "400 records in the memory of a program" in alone.page
    assert "**Spent:** no account counts this release" in alone.page
