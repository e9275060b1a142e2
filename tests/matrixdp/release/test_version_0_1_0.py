"""What version 0.1.0 wrote: accounts, receipts, specifications and answers of made-up people.

The files are the program's own, of one release of each kind. Whatever changes later, they can be
read, their totals are enforced, and the same request returns the same bytes at no cost.
"""

import hashlib
import json
import shutil
from itertools import takewhile
from pathlib import Path

import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.release import ledger

STORED = Path(__file__).parent / "version_0_1_0"
#: What each account had spent, in epsilon at its total's delta.
SPENT = {
    "pure": 1.0,
    "approximate": 0.9225065,
    "several": 4.0,
    "clipped": 0.87306056,
    "person": 0.87306057,
    "adassp": 0.87306056,
    "elsewhere": 0.87306057,
}


@pytest.fixture(params=SPENT)
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    """A copy that may be written, as the files would lie on another machine."""
    return shutil.copytree(STORED / kind, tmp_path / "elsewhere" / kind, symlinks=True)


def account_of(folder):
    return (folder / "people.csv.privacy.json").resolve()


def in_python(path):
    _, relation = ledger.terms(ledger.read(path))
    return mdp.Account(path, adjacency=relation.neighbours, person=relation.person)


def released(folder, out):
    return cli.main(["release", str(folder / "people.toml"), "--out", str(out)])


def contents(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_every_stored_account_is_tested():
    assert {path.name for path in STORED.iterdir()} == {*SPENT}


def test_an_account_can_be_read(kind, folder, capsys):
    path = account_of(folder)
    account = ledger.read(path)
    assert account == json.loads(path.read_text())
    assert ledger.total_epsilon(account) == pytest.approx(SPENT[kind], rel=1e-6)
    opened = in_python(path)
    assert opened.spent == ledger.total_epsilon(account)
    assert len(opened.releases) == len(account["releases"])
    assert cli.main(["account", str(folder / "people.csv")]) == 0
    assert capsys.readouterr().out.splitlines() == ledger.summary(account)


def test_a_receipt_belongs_to_its_charge(folder):
    statements = [json.loads(file.read_text()) for file in folder.rglob("*.receipt.json")]
    for statement in statements:
        terms = dict(takewhile(lambda item: item[0] != "digest", statement.items()))
        text = json.dumps(terms, sort_keys=True)
        assert statement["digest"] == hashlib.sha256(text.encode()).hexdigest()
    charges = [one for one in ledger.read(account_of(folder))["releases"] if "receipt" in one]
    assert {one["digest"] for one in statements} == {one["receipt"] for one in charges}
    assert charges


def test_the_same_request_returns_the_same_bytes_uncharged(folder, tmp_path):
    before = account_of(folder).read_bytes()
    # Not even the file is read: the answer was paid for.
    (folder / "people.csv").write_text("patient,age,income\n")
    assert released(folder, tmp_path / "again") == 0
    assert contents(tmp_path / "again") == contents(folder / "release") != {}
    assert account_of(folder).read_bytes() == before


def test_the_total_is_enforced(folder, tmp_path, capsys):
    before = account_of(folder).read_bytes()
    spec = folder / "people.toml"
    stored = spec.read_text()
    beyond = stored.replace("epsilon = 1.0", "epsilon = 1.5").replace("weight = 2", "weight = 3")
    spec.write_text(beyond)
    words = ["release", str(spec), "--out", str(tmp_path / "beyond"), "--even-if-useless"]
    assert cli.main(words) == 2
    assert "in all, and with th" in capsys.readouterr().err
    spec.write_text(beyond.replace("total = {epsilon = ", "total = {epsilon = 1"))
    assert cli.main(words) == 2
    assert "was begun with total" in capsys.readouterr().err
    assert account_of(folder).read_bytes() == before
    assert not [*(tmp_path / "beyond").rglob("*.csv")]


def test_an_account_in_python_spends_the_rest_and_no_more(kind, folder, tmp_path):
    path = account_of(folder)
    before = ledger.read(path)
    adjacency = before["total"]["neighbours"]
    per_person = 2 if before["total"]["person"] else None
    query = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 24, adjacency, per_person=per_person)
    pure = not before["total"]["delta"]
    mechanism = mdp.Laplace() if pure else mdp.Gaussian()
    account = in_python(path)
    with pytest.raises(mdp.InputError, match="the account allows"):
        account.spend(mechanism.calibrate(query, epsilon=1.45, delta=1e-6))
    assert ledger.read(path) == before
    small = mechanism.calibrate(query, epsilon=0.1, delta=1e-6)
    if kind == "several":
        with pytest.raises(mdp.InputError, match="the account allows"):
            account.spend(small)
        return
    account.spend(small)
    assert ledger.read(path)["releases"][:-1] == before["releases"]
    assert released(folder, tmp_path / "again") == 0
    assert contents(tmp_path / "again") == contents(folder / "release")
    assert len(account.releases) == len(before["releases"]) + 1
