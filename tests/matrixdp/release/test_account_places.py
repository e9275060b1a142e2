"""One account for each file of records, by whatever path, object or process it is charged."""

import contextlib
import copy
import json
import multiprocessing
import os
import pickle
import shutil

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.release import durable, ledger, tables
from matrixdp.release.release import make
from matrixdp.release.specification import read

TOTAL = {"epsilon": 1.0, "delta": 0}
ONE = mdp.Laplace().calibrate(mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 50), epsilon=1.0)
HALF = mdp.Laplace().calibrate(ONE.query, epsilon=0.5)
NAME = "people.csv" + ledger.SUFFIX


@pytest.fixture
def folder(tmp_path):
    """A folder with a file, a specification that spends all, and a link to it elsewhere."""
    home = tmp_path / "home"
    home.mkdir()
    np.savetxt(home / "people.csv", np.arange(50) / 50, header="age", comments="")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "people.csv").symlink_to(home / "people.csv")
    return tmp_path


def specified(folder, more=""):
    """Return a specification of all of the total, beside a file or a link to it."""
    (folder / "people.toml").write_text(
        'file = "people.csv"\nquery = "mean"\nrecords = 50\nepsilon = 1.0\nmechanism = "laplace"\n'
        f"total = {{epsilon = 1.0, delta = 0}}\nmissing = 'refuse'\n"
        f"{more}\n[bounds]\nage = [0, 1]\n"
    )
    return read(folder / "people.toml")


def accounts(folder):
    """Return the contents of all accounts below a folder, without links."""
    found = [path for path in folder.rglob("*.json") if not path.is_symlink()]
    return [one for path in found if "releases" in (one := json.loads(path.read_text()))]


@pytest.mark.parametrize("name", ["people.csv", NAME])
@pytest.mark.parametrize("place", ["home", "links"])
def test_through_links_the_command_line_and_python_spend_one_total(folder, name, place):
    make(specified(folder / "links"), folder / "out")
    account = mdp.Account(folder / place / name, **TOTAL)
    assert account.spent == 1
    with pytest.raises(mdp.InputError, match="the account allows"):
        account.spend(HALF)
    assert len(accounts(folder)) == 1


@pytest.mark.parametrize("name", ["people.csv", NAME])
@pytest.mark.parametrize("place", ["home", "links"])
def test_what_python_spent_through_links_the_command_line_counts(folder, name, place):
    mdp.Account(folder / place / name, **TOTAL).spend(HALF)
    assert [path.name for path in (folder / "home").glob("*.json")] == [NAME]
    for other in ("home", "links"):
        with pytest.raises(mdp.InputError, match="in all, and with this release"):
            make(specified(folder / other), folder / "out")
    assert len(accounts(folder)) == 1


@pytest.mark.parametrize("name", ["people.csv", NAME])
def test_an_account_that_was_opened_before_it_was_begun_elsewhere_follows(folder, name):
    early = mdp.Account(folder / "home" / name, **TOTAL)
    make(specified(folder / "home", 'account = "../other.json"'), folder / "out")
    assert (folder / "home" / NAME).is_symlink()
    with pytest.raises(mdp.InputError, match="the account allows"):
        early.spend(HALF)
    assert (folder / "home" / NAME).is_symlink()
    assert early.spent == mdp.Account(folder / "home" / name).spent == 1
    assert len(accounts(folder)) == 1


def test_a_place_that_changes_before_the_lock_is_refused(folder, monkeypatch):
    early, lock = mdp.Account(folder / "home" / NAME, **TOTAL), durable.lock

    @contextlib.contextmanager
    def late(path):
        (folder / "home" / NAME).symlink_to(folder / "other.json")
        with lock(path):
            yield

    monkeypatch.setattr(durable, "lock", late)
    with pytest.raises(mdp.InputError, match="was begun elsewhere just now; spend again"):
        early.spend(HALF)
    monkeypatch.undo()
    early.spend(HALF)
    assert (folder / "home" / NAME).is_symlink()
    assert early.spent == 0.5


def test_an_account_beside_a_link_alone_becomes_that_of_the_file(folder):
    """As version 0.1.0 began it there."""
    stray = folder / "links" / NAME
    books = ledger.begin(ledger.total(TOTAL), ledger.Relation("replace"))
    stray.write_text(json.dumps(ledger.add(books, {**entry(), "answer": ""})))
    mdp.Account(stray, **TOTAL).spend(HALF)
    with pytest.raises(mdp.InputError, match="in all, and with this release"):
        make(specified(folder / "home"), folder / "out")
    # Beside another account of the file it is refused.
    (folder / "home" / NAME).unlink()
    shutil.copy(stray, folder / "home" / NAME)
    with pytest.raises(mdp.InputError, match="is the account of"):
        mdp.Account(stray)


def entry():
    return {"query": "mean", "request": "python 0", **ledger.entry(HALF)}


def test_hard_links_are_refused_as_on_the_command_line(folder):
    other = folder / "links" / "other.csv"
    other.hardlink_to(folder / "home" / "people.csv")
    for path in (folder / "home" / "people.csv", other, folder / "home" / NAME):
        with pytest.raises(mdp.InputError, match="2 names .hard links. of the same file"):
            mdp.Account(path, **TOTAL)
    with pytest.raises(mdp.InputError, match="2 names .hard links. of the same file"):
        make(specified(folder / "home"), folder / "out")
    assert not accounts(folder)
    # One that exists is stated, as by account = "...".
    make(specified(folder / "home", f'account = "{NAME}"'), folder / "out")
    with pytest.raises(mdp.InputError, match="the account allows"):
        mdp.Account(folder / "home" / NAME).spend(HALF)


def test_names_that_an_open_file_gets_are_seen_inside_the_lock(folder):
    account = mdp.Account(folder / "home" / "people.csv", **TOTAL)
    (folder / "home" / "other.csv").hardlink_to(folder / "home" / "people.csv")
    with pytest.raises(mdp.InputError, match="2 names"):
        account.spend(HALF)
    assert not accounts(folder)


def test_an_array_has_the_account_of_its_path(folder, monkeypatch):
    monkeypatch.chdir(folder)
    account = mdp.Account("survey.privacy.json", **TOTAL)
    monkeypatch.chdir(folder / "home")
    account.spend(HALF)
    assert (folder / "survey.privacy.json").is_file()
    (folder / "link.json").symlink_to("survey.privacy.json")
    mdp.Account(folder / "link.json").spend(HALF)
    assert (folder / "link.json").is_symlink()
    assert account.spent == 1


def test_a_file_of_records_that_is_not_there_begins_no_account(folder):
    with pytest.raises(mdp.InputError, match="is not there, or no file"):
        mdp.Account(folder / "home" / "poeple.csv", **TOTAL)
    assert {".csv", ".npy", ".parquet"} == {*tables.SUFFIXES}


def test_the_command_line_shows_the_account_of_a_link_and_of_any_path(folder, capsys):
    make(specified(folder / "home", 'account = "../other.json"'), folder / "out")
    shown = set()
    for path in ("links/people.csv", f"links/{NAME}", f"home/{NAME}", "other.json"):
        assert cli.main(["account", str(folder / path)]) == 0
        shown.add(capsys.readouterr().out)
    assert len(shown) == 1
    assert "spent: epsilon 1 in 1 release" in shown.pop()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_account(folder, copied):
    account = mdp.Account(folder / "home" / "people.csv", **TOTAL)
    copied(account).spend(HALF)
    account.spend(HALF)
    with pytest.raises(mdp.InputError, match="the account allows"):
        copied(account).spend(HALF)


def test_a_pickle_opens_the_file_and_remembers_what_was_spent(folder):
    path = folder / "home" / NAME
    account = mdp.Account(folder / "home" / "people.csv", **TOTAL)
    fresh = pickle.dumps(account)
    account.spend(HALF)
    older, pickled = path.read_text(), pickle.dumps(account)
    pickle.loads(fresh).spend(HALF)
    with pytest.raises(mdp.InputError, match="the account allows"):
        pickle.loads(pickled).spend(HALF)
    assert account.spent == 1
    after = pickle.dumps(account)
    path.write_text(older)
    for one in (account, pickle.loads(after)):
        with pytest.raises(mdp.InputError, match="lacks releases that it had"):
            one.spend(HALF)
    path.unlink()
    for one in (account, pickle.loads(pickled), pickle.loads(after)):
        with pytest.raises(mdp.InputError, match="no longer there; restore it"):
            one.spend(HALF)
    assert not path.exists()


def test_a_restored_account_is_refused_by_who_saw_more(folder):
    path = folder / "home" / NAME
    account = mdp.Account(path, **TOTAL)
    account.spend(HALF)
    older = path.read_text()
    # Charges of others count as seen, too.
    mdp.Account(path).spend(HALF)
    assert account.spent == 1
    path.write_text(older)
    for look in (lambda: account.spend(HALF), lambda: account.spent, lambda: account.left):
        with pytest.raises(mdp.InputError, match="lacks releases that it had; restore its newest"):
            look()
    # Whoever opens it only now cannot know, as the documentation says.
    assert mdp.Account(path).spent == 0.5


def forked(action):
    """Return what an action says in a forked process, an error as its message."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            action()
            text = "done"
        except BaseException as error:
            text = str(error)
        os.write(theirs, text.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_account_counts_forked_processes(folder):
    account = mdp.Account(folder / "home" / "people.csv", **TOTAL)
    texts = [forked(lambda: account.spend(HALF)) for _ in range(3)]
    assert texts[:2] == ["done", "done"]
    assert "the account allows" in texts[2]
    assert account.spent == 1


def spend_in_pool(account):
    try:
        account.spend(HALF)
    except mdp.InputError:
        return 0
    return 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_pool_spends_an_account_once(folder, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"needs {method}")
    account = mdp.Account(folder / "home" / "people.csv", **TOTAL)
    with multiprocessing.get_context(method).Pool(2) as pool:
        spent = pool.map_async(spend_in_pool, [account] * 6, chunksize=1).get(timeout=100)
        assert sum(spent) == 2
    assert account.spent == 1
