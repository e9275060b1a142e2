"""One account for each file of records, by whatever path, object or process it is charged."""

import contextlib
import copy
import errno
import json
import multiprocessing
import pickle
import shutil

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.release import durable, ledger, storage
from matrixdp.release.plans import make

TOTAL = {"epsilon": 1.0, "delta": 0}
ONE = mdp.Laplace().calibrate(mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 50), epsilon=1.0)
HALF = mdp.Laplace().calibrate(ONE.query, epsilon=0.5)
NAME = "people.csv" + storage.SUFFIX


#: A specification of all of the total.
ALL = {"epsilon": 1.0, "delta": None, "total": TOTAL, "mechanism": "laplace"}


@pytest.fixture
def folder(folder):
    """A folder with a file of records in ``home``, and a link to it in ``links``."""
    (folder / "home").mkdir()
    (folder / "people.csv").rename(folder / "home/people.csv")
    (folder / "links").mkdir()
    (folder / "links/people.csv").symlink_to(folder / "home/people.csv")
    return folder


def specified(folder, **keys):
    """Return a specification of all of the total, beside a file or a link to it."""
    return harness.spec(folder, **{**ALL, **keys})


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
    make(specified(folder / "home", account="../other.json"), folder / "out")
    assert (folder / "home" / NAME).is_symlink()
    with pytest.raises(mdp.InputError, match="the account allows"):
        early.spend(HALF)
    assert (folder / "home" / NAME).is_symlink()
    assert early.spent == mdp.Account(folder / "home" / name).spent == 1
    assert len(accounts(folder)) == 1


def test_a_place_that_changes_before_the_lock_is_refused(folder, monkeypatch):
    early, lock = mdp.Account(folder / "home" / NAME, **TOTAL), durable.lock

    @contextlib.contextmanager
    def late(path, *more):
        (folder / "home" / NAME).symlink_to(folder / "other.json")
        with lock(path, *more) as holds:
            yield holds

    monkeypatch.setattr(durable, "lock", late)
    with pytest.raises(mdp.InputError, match="was begun elsewhere just now; try again"):
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
    make(specified(folder / "home", account=NAME), folder / "out")
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


@pytest.mark.parametrize("account", [None, "../other.json"])
@pytest.mark.parametrize("several", [[], [{"query": "mean"}, {"query": "mean", "label": "again"}]])
def test_every_name_of_an_account_shows_what_is_spent(folder, capsys, account, several):
    home, total = folder / "home", {"epsilon": 2.0, "delta": 1e-6}
    text = harness.text(several, account=account, total=total)
    for name in ("spec.toml", "spec.TOML", "spec.txt", "spec"):
        (home / name).write_text(text)
    assert cli.main(["account", str(home / "spec.toml")]) == 0
    assert "nothing is spent" in capsys.readouterr().out
    assert cli.main(["release", str(home / "spec.toml"), "--out", str(folder / "out")]) == 0
    capsys.readouterr()
    names = ["home/spec.toml", "home/spec.TOML", "home/spec.txt", "home/spec", "home/people.csv"]
    names += [f"home/{NAME}", "links/people.csv", f"links/{NAME}", *["other.json"] * bool(account)]
    shown = set()
    for name in names:
        assert cli.main(["account", str(folder / name)]) == 0
        shown.add(capsys.readouterr().out)
    assert len(shown) == 1
    assert f"in {1 + bool(several)} release" in shown.pop()


#: A first request, a second one, and what is said of it.
PERSON = {"person": "who", "per_person": 3, "adjacency": "replace"}
TERMS = [
    ({}, {"adjacency": "add_or_remove"}, "adjacency = replace, not add_or_remove"),
    ({"adjacency": "add_or_remove"}, {}, "adjacency = add_or_remove, not replace"),
    ({}, {"total": {"epsilon": 9, "delta": 1e-5}}, "epsilon = 4.0, not 9.0"),
    (PERSON, {"adjacency": "replace"}, "person = who, not none"),
    (PERSON, {**PERSON, "person": "age2"}, "person = who, not age2"),
    ({}, PERSON, "person = none, not who"),
]


@pytest.mark.parametrize(("first", "second", "words"), TERMS)
def test_an_account_keeps_its_terms(tmp_path, capsys, first, second, words):
    rows = np.column_stack([harness.ROWS, *[np.arange(400)] * 2])
    harness.save(tmp_path / "people.csv", rows, ("age", "income", "who", "age2"))
    total = {"epsilon": 4, "delta": 1e-5}
    assert harness.run(tmp_path, **{"total": total, **first}) == 0
    keys = {"total": total, "query": "covariance", **second}
    assert harness.run(tmp_path, "second", **keys) == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert words in sentence
    assert "state the same" in sentence
    # How many rows of a person count is a matter of each release.
    fewer = {"per_person": 2} if "person" in first else {}
    keys = {"query": "covariance", "total": total, **first, **fewer}
    assert harness.run(tmp_path, "third", **keys) == 0
    assert len(harness.charges(tmp_path)) == 2


def refuse_links(*_):
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("disk", ["with links", "without links", "without links and locks"])
def test_an_account_elsewhere_stays_the_only_one(folder, capsys, monkeypatch, disk):
    home, lock = folder / "home", durable.lock
    (home / "books").mkdir()
    if disk != "with links":
        monkeypatch.setattr("pathlib.Path.symlink_to", refuse_links)
    if disk == "without links and locks":
        no_locks = lambda path, *more: (  # noqa: E731
            lock(path, *more) if path.parent != home else refuse_links()
        )
        monkeypatch.setattr(durable, "lock", no_locks)
    assert harness.run(home, account="books/other.json", **ALL) == 0
    assert harness.run(home, "second", query="second_moments", **ALL) == 2
    assert "would be spent of 1" in capsys.readouterr().err
    assert harness.run(home, "second", account="books/third.json", **ALL) == 2
    assert "is the account of" in capsys.readouterr().err
    assert not (home / "books/third.json").exists()
    assert (home / NAME).is_symlink() == (disk == "with links")
    for name in (f"home/{NAME}", "home/people.csv", f"links/{NAME}", "home/books/other.json"):
        assert mdp.Account(folder / name).spent == 1
    assert len(accounts(folder)) == 1


@pytest.mark.parametrize("name", ["mean.csv", "mean.receipt.json", ".mean.csv.part", "link"])
def test_an_account_is_no_file_of_its_answers(folder, capsys, name):
    """The answer would replace it."""
    home, out = folder / "home", folder / "home/out"
    out.mkdir()
    (out / "mean.details.json").symlink_to(out / "link")
    assert harness.run(home, account=f"out/{name}", **ALL) == 2
    assert "state another account, or give another --out" in capsys.readouterr().err
    assert not accounts(folder)
    (out / "mean.details.json").unlink()
    assert harness.run(home, "second", account=f"out/{name}", **ALL) == 0
    assert len(json.loads((out / name).read_text())["releases"]) == 1


def test_records_are_tied_to_an_account_elsewhere_or_not_charged(folder, capsys, monkeypatch):
    monkeypatch.setattr("pathlib.Path.symlink_to", refuse_links)
    write = durable.write

    def full(path, *others, **keys):
        if path.name == NAME:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, *others, **keys)

    monkeypatch.setattr(durable, "write", full)
    assert harness.run(folder / "home", account="other.json", **ALL) == 2
    assert "stay tied to their account" in capsys.readouterr().err
    assert not accounts(folder)


def test_space_of_an_account_of_a_similar_name_stays(folder):
    home = folder / "home"
    part, stale = (home / f".people.csv.privacy.{name}.json.part" for name in ("b", "0" * 16))
    part.touch()
    stale.touch()
    assert harness.run(home, **ALL) == 0
    assert (part.exists(), stale.exists()) == (True, False)


def test_an_account_stays_one_whatever_its_names(folder, capsys):
    home, account = folder / "home", folder / "home" / NAME
    account.symlink_to("../links/account.json")
    assert harness.run(home, **ALL) == 0
    assert account.is_symlink()
    assert len(json.loads((folder / "links/account.json").read_text())["releases"]) == 1
    account.unlink()
    account.hardlink_to(folder / "links/account.json")
    assert harness.run(home, "second", **ALL) == 2
    assert "is an account with 2 names (hard links)" in capsys.readouterr().err


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


@pytest.mark.parametrize("change", [{"pure_epsilon": 0.25}, {"numbers": 9}, {"label": "another"}])
def test_a_charge_that_was_changed_is_refused_by_who_saw_it(folder, change):
    path = folder / "home" / NAME
    account = mdp.Account(path, **TOTAL)
    account.spend(HALF, "one")
    stored = json.loads(path.read_text())
    path.write_text(json.dumps(stored))
    account.spend(HALF, "two")
    stored = json.loads(path.read_text())
    stored["releases"][0].update(change)
    path.write_text(json.dumps(stored))
    for look in (lambda: account.spend(HALF), lambda: account.spent):
        with pytest.raises(mdp.InputError, match="lacks releases that it had; restore its newest"):
            look()


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
