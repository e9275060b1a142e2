"""The account in Python: what it adds up to, what it refuses, and what dp_accounting says of it."""

import contextlib
import json
import os
import pickle
import re
import threading
from dataclasses import replace
from pathlib import Path

import harness
import numpy as np
import pytest
from harness import charges, run

import matrixdp as mdp
from matrixdp import cli
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.privacy import gaussian_dp
from matrixdp.release import choices, ledger, storage
from matrixdp.release.parser import read
from matrixdp.release.plans import make

fcntl = pytest.importorskip("fcntl")

TOTAL = {"epsilon": 2.0, "delta": 1e-5}
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def mean(epsilon=1.0, mechanism=None, adjacency="replace"):
    query = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 500, adjacency)
    return (mechanism or mdp.Gaussian()).calibrate(query, epsilon=epsilon, delta=1e-6)


@pytest.mark.parametrize(
    ("query_type", "name"),
    [
        (mdp.RecordsQuery, "records"),
        (mdp.MeanQuery, "mean"),
        (mdp.SecondMomentQuery, "second_moments"),
    ],
)
def test_a_charge_names_its_query_as_a_specification_does(query_type, name):
    query = query_type(mdp.Box((0.0,), (1.0,)), 50)
    account = mdp.Account("a.json", **TOTAL)
    account.spend(mdp.Gaussian().calibrate(query, **BUDGET))
    assert account.releases[0]["query"] == name


BOX = mdp.Box((0.0, -1.0, 10.0), (120.0, 3.0, 60.0))
QUERIES = {
    "mean": mdp.MeanQuery(BOX, 60, per_person=2),
    "moments": mdp.SecondMomentQuery(BOX, 60, "add_or_remove"),
    "records": mdp.RecordsQuery(BOX, 60),
    "ball": mdp.MeanQuery(mdp.Ball(2.0, 3), 60),
}
MECHANISMS = [
    *(
        mdp.Gaussian(),
        mdp.AnalyzeGauss(),
        mdp.Laplace(),
        mdp.MinMaxScaled(mdp.Gaussian()),
    ),
    *(mdp.MinMaxScaled(mdp.Laplace()), mdp.DirectionalGaussian(weights=(9.0, 1.0, 2.0))),
]


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_a_release_with_less_noise_than_it_states_is_not_charged(mechanism, query):
    terms = {"adjacency": query.adjacency, "person": "p" if query.per_person else ""}
    account = mdp.Account("a.json", epsilon=9.0, delta=1e-5, **terms)
    try:
        release = mechanism.calibrate(query, epsilon=1.0, delta=1e-6)
    except mdp.InputError:
        pytest.skip("the mechanism does not serve the query")
    shrunk = replace(release, noise=release.noise.times(0.99))
    stated = {"epsilon_delivered": 0.99} if release.mu is None else {"mu": 0.99 * release.mu}
    for wrong in (shrunk, replace(release, **stated)):
        with pytest.raises(mdp.InputError, match="and its noise gives"):
            account.spend(wrong)
    assert not account.releases
    account.spend(replace(release, noise=release.noise.times(1.01)))
    account.spend(release)
    assert len(account.releases) == 2


def test_clones_of_an_estimator_share_an_account():
    clone = pytest.importorskip("sklearn.base").clone
    X = np.random.default_rng(1).uniform(0, 1, (400, 3))
    account = mdp.Account("a.json", epsilon=2.0, delta=1e-5)
    pca = mdp.PrivatePCA(epsilon=1.0, delta=1e-6, bounds=(0, 1), account=account)
    pca.fit(X)
    clone(pca).fit(X)
    mdp.Covariance(epsilon=0.5, bounds=(0, 1), mechanism="clipped", account=account).fit(X)
    sides = {"bounds": (0, 1), "target_bounds": (0, 1)}
    mdp.PrivateRidge(epsilon=0.5, **sides, mechanism="clipped", account=account).fit(X, X[:, 0])
    assert len(account.releases) == 4
    assert [[part["part"] for part in charge["parts"]] for charge in account.releases[2:]] == [
        ["mean", "lengths", "moments"]
    ] * 2
    with pytest.raises(mdp.InputError, match="the account allows"):
        mdp.PrivatePCA(epsilon=1.9, bounds=(0, 1), account=account).fit(X)
    assert not hasattr(clone(pca), "components_")


def test_of_mechanisms_the_one_is_chosen_that_leaves_most_room():
    query = mdp.SecondMomentQuery(mdp.Box.cube(4, -1.0, 1.0), 400)
    options = mdp.compare_mechanisms(query, epsilon=1.0, delta=1e-6)
    spec = harness.fit("second_moments", query.domain, 400, epsilon=1.0, delta=1e-6)
    assert options[0].name == "Laplace"
    for total, name in ((TOTAL, "AnalyzeGauss"), ({"epsilon": 1.0, "delta": 0}, "Laplace")):
        state = mdp.Account(f"{name}.json", **total).state()
        assert choices.choose(spec, options, state, "it")[0][0].name == name


TOTALS = [TOTAL, {"epsilon": 2.0, "delta": 0}, {**TOTAL, "pure": 0.7}]


def test_the_rule_is_written_when_an_account_begins_and_holds_for_good(tmp_path):
    rules = set()
    for number, total in enumerate(TOTALS):
        path = tmp_path / f"{number}.json"
        mdp.Account(path, **total).spend(mean(0.5, mdp.Laplace()))
        content = json.loads(path.read_text())
        rules.add(content["rule"])
        path.write_text(json.dumps({**content, "rule": "what admits most"}))
        with pytest.raises(mdp.InputError, match="its rule is 'what admits most'"):
            mdp.Account(path, **total)
    assert len(rules) == len(TOTALS)


@pytest.mark.parametrize("total", TOTALS)
def test_what_is_left_fits_and_more_does_not(total):
    account, delta = mdp.Account("a.json", **total), total["delta"] * 0.99
    mechanism = mdp.Gaussian() if delta else mdp.Laplace()
    query = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 500)
    for epsilon in (0.5, 0.3):
        account.spend(mechanism.calibrate(query, epsilon=epsilon, delta=delta))
        room = account.left
        assert 0 < room < total["epsilon"]
        more, less = (
            mechanism.calibrate(query, epsilon=room * factor, delta=delta)
            for factor in (1.001, 0.999)
        )
        assert (account.room(more), account.room(less)) == (0, 1)
    account.spend(less)
    assert account.left < 0.1 * total["epsilon"]


GAUSSIAN = {"mechanism": "gaussian", "epsilon": 1.0, "total": TOTAL}


def test_the_account_of_a_file_is_shared_with_the_command_line(folder):
    path = folder / "people.csv.privacy.json"
    account = mdp.Account(os.fsencode(path), **TOTAL, person=None)
    account.spend(mean(1.0), label="by hand")
    assert run(folder, **GAUSSIAN) == 0
    assert [charge["label"] for charge in charges(folder)] == ["by hand", ""]
    assert account.spent == mdp.Account(path).spent == ledger.total_epsilon(storage.read(path))
    assert account.total["person"] == ""
    # What does not fit, or states another total, charges nothing.
    with pytest.raises(mdp.InputError, match="the account allows .epsilon 2, delta 1e-05. in all"):
        mdp.Account(path).spend(mean(1.9))
    with pytest.raises(mdp.InputError, match="state the same"):
        mdp.Account(path, epsilon=9.0, delta=1e-5)
    # The same request has its answer still.
    assert run(folder, "again", **GAUSSIAN) == 0
    assert pickle.loads(pickle.dumps(account)).spent == account.spent
    assert len(account.releases) == 2


def test_an_account_that_another_began_with_other_terms_is_refused(folder):
    path = folder / "a.json"
    early = [mdp.Account(path, **TOTAL), mdp.Account(path, **TOTAL, adjacency="zero_out")]
    early.append(mdp.Account(path, epsilon=9.0, delta=1e-5))
    early[0].spend(mean(0.3))
    with pytest.raises(mdp.InputError, match="state the same"):
        early[1].spend(mean(0.3, adjacency="zero_out"))
    with pytest.raises(mdp.InputError, match="state the same"):
        early[2].spend(mean(0.3))
    assert len(early[0].releases) == 1


def test_an_account_says_why_nothing_is_left_beside_pure_releases(tmp_path):
    path = tmp_path / "a.json"
    account = mdp.Account(path, epsilon=1, delta=1e-5)
    query = mdp.MeanQuery(mdp.Box.cube(2, -1, 1), 40)
    account.spend(mdp.Laplace().calibrate(query, epsilon=0.25))
    lines = ledger.summary(account.state())
    assert lines[-3] == "left: a release of epsilon 0 at delta 9.9e-06"
    assert "pure= of mdp.Account" in lines[-2]


def test_an_account_says_why_less_is_left_for_a_pure_release(tmp_path):
    def lines_after(name, epsilon, **terms):
        account = mdp.Account(tmp_path / name, epsilon=2, delta=1e-5, **terms)
        account.spend(mean(epsilon))
        return ledger.summary(account.state())

    lines = lines_after("a.json", 0.5)
    with_delta, pure = (float(line.split(" epsilon ")[1].split()[0]) for line in lines[-3:-1])
    assert pure < with_delta / 3
    assert "pure releases count far more beside one with a delta" in lines[-1]
    lines = lines_after("b.json", 0.5, pure=0.25)
    assert lines[-2:] == [
        "left: a pure release of epsilon 0.25",
        "  of the epsilon 0.25 that is reserved for pure releases",
    ]
    # Nothing is to be explained where nothing is spent.
    account = mdp.Account(tmp_path / "c.json", epsilon=2, delta=1e-5)
    assert ledger.summary(account.state())[-1].startswith("left: a pure release of epsilon")


def test_the_command_line_says_what_is_spent_and_left(folder, capsys):
    path = folder / "people.csv.privacy.json"
    assert run(folder, **GAUSSIAN) == 0
    mdp.Account(path).spend(mean(0.3), label="by hand")
    before = path.read_text()
    capsys.readouterr()
    assert cli.main(["account", str(folder / "people.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("total: (epsilon 2, delta 1e-05) of all releases together")
    assert re.fullmatch(r"spent: epsilon 0\.9\d* .*in 2 releases", lines[1])
    assert re.match(r"  mean, 2\d{3}-\d\d-\d\d: epsilon 0\.\d+ at delta 9.9e-06", lines[2])
    assert ", by hand, 2" in lines[3]
    assert "left: a release of epsilon 1." in lines[4]
    assert not re.search(r"\bmu\b", "\n".join(lines))
    assert path.read_text() == before


def spend_alone(folder, label, shared):
    mdp.Account(folder / "people.csv", epsilon=1.0, delta=0).spend(mean(0.3, mdp.Laplace()))


def spend_shared(folder, label, shared):
    shared.spend(mean(0.3, mdp.Laplace()))


def release(folder, label, shared):
    make(read(folder / f"{label}.toml"), folder / label)


@pytest.mark.parametrize("action", [spend_alone, spend_shared, release])
def test_of_many_at_once_only_as_many_pass_as_fit(folder, action):
    passed, shared = [], mdp.Account(folder / "people.csv", epsilon=1.0, delta=0)
    total = {"epsilon": 1.0, "delta": 0}
    for label in "abcdef":
        text = harness.text(label=label, epsilon=0.3, delta=None, total=total)
        (folder / f"{label}.toml").write_text(text)

    def one(label):
        try:
            action(folder, label, shared)
            passed.append(label)
        except mdp.InputError:
            pass

    threads = [threading.Thread(target=one, args=label) for label in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == len(charges(folder)) == 3


@pytest.mark.parametrize("step", ["read", "moved", "written", "renamed", "held by another"])
def test_no_charge_is_lost_where_the_file_of_the_lock_is_deleted(folder, monkeypatch, step):
    """Whoever was not refused may draw noise, and has a charge."""
    path = folder / "a.json"
    first, second = mdp.Account(path, **TOTAL), mdp.Account(path, **TOTAL)
    first.spend(mean(0.3), "before")
    done, lock = ["before"], path.with_name("a.json.lock")

    def other():
        lock.rename("moved")
        second.spend(mean(0.3), "second")
        done.append("second")
        if step == "moved":
            Path("moved").replace(lock)

    def before(module, name, action):
        function = getattr(module, name)

        def call(*given):
            monkeypatch.setattr(module, name, function)
            action()
            return function(*given)

        monkeypatch.setattr(module, name, call)

    if step == "held by another":
        # The file that was waited for is no longer the lock.
        before(fcntl, "flock", other)
    with contextlib.suppress(mdp.InputError), first.open() as (state, location):
        after = first.admit(state, location, first.entry(mean(0.3), "first"))
        if step in ("read", "moved"):
            other()
        elif step == "written":
            before(os, "fsync", other)
        elif step == "renamed":
            before(os, "replace", lock.unlink)
        first.charge(after, location)
        done.append("first")
    labels = [charge["label"] for charge in json.loads(path.read_text())["releases"]]
    assert {*done} <= {*labels}
    assert ("first" in done) == (step == "held by another")


def test_a_reader_that_is_overtaken_forgets_no_release(folder, monkeypatch):
    """A thread reads the file, another one spends, and only then does the first one note it."""
    path, check = folder / "people.csv.privacy.json", ledger.check_terms
    account = mdp.Account(folder / "people.csv", **TOTAL)
    account.spend(mean(0.3))
    old, has_read, is_overtaken = path.read_text(), threading.Event(), threading.Event()

    def slow(*words):
        if threading.current_thread() is reader:
            has_read.set()
            assert is_overtaken.wait(60)
        return check(*words)

    monkeypatch.setattr(ledger, "check_terms", slow)
    reader = threading.Thread(target=lambda: account.spent)
    reader.start()
    assert has_read.wait(60)
    account.spend(mean(0.3))
    is_overtaken.set()
    reader.join()
    path.write_text(old)
    with pytest.raises(mdp.InputError, match="lacks releases that it had; restore its newest"):
        account.spend(mean(0.3))


def accountants():
    """Return all accountants of dp_accounting by name."""
    pytest.importorskip("dp_accounting")
    from dp_accounting import pld, rdp
    from dp_accounting.privacy_accountant import PrivacyAccountant

    assert pld.PLDAccountant in PrivacyAccountant.__subclasses__()
    assert rdp.RdpAccountant in PrivacyAccountant.__subclasses__()
    return {one.__name__: one for one in PrivacyAccountant.__subclasses__()}


def composed(account, name="PLDAccountant"):
    """Return an accountant of dp_accounting that composed what an account exports."""
    dp_event = pytest.importorskip("dp_accounting.dp_event")
    from dp_accounting.privacy_accountant import NeighboringRelation

    exported = account.events()
    accountant = accountants()[name](
        neighboring_relation=NeighboringRelation[exported["neighboring_relation"]]
    )
    for one in exported["events"]:
        arguments = {k: v for k, v in one.items() if k not in ("event", "exact")}
        accountant.compose(getattr(dp_event, one["event"])(**arguments))
    return accountant


#: dp_accounting rounds losses up to steps of 1e-4, and its FFT truncates mass.
DISCRETE = 1e-3


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_dp_accounting_agrees_on_gaussian_releases(adjacency):
    account = mdp.Account("a.json", epsilon=9.0, delta=1e-5, adjacency=adjacency)
    for epsilon in (1.0, 0.5, 2.0):
        account.spend(mean(epsilon, adjacency=adjacency))
    query = mdp.SecondMomentQuery(mdp.Box.cube(3, -1.0, 1.0), 500, adjacency)
    account.spend(ComposedMoments.calibrated(Centred(), query, epsilon=1.0, delta=1e-6))
    assert all(one["exact"] for one in account.events()["events"])
    mu = np.linalg.norm([one["mu"] for one in account.releases])
    for delta in (1e-6, 1e-5):
        theirs = composed(account).get_epsilon(delta)
        assert theirs == pytest.approx(gaussian_dp.epsilon(delta, mu), rel=DISCRETE)
    # A hundredth of the noise is seen, and so is the factor of 2 between the relations.
    assert gaussian_dp.epsilon(1e-5, 1.01 * mu) > theirs * (1 + 5 * DISCRETE)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_or_remove"])
@pytest.mark.parametrize("mechanisms", [(None,), (mdp.Laplace(),), (None, mdp.Laplace(), None)])
def test_no_accountant_that_is_not_named_understates_what_is_exported(adjacency, mechanisms):
    account = mdp.Account("a.json", epsilon=9.0, delta=1e-5, adjacency=adjacency)
    for mechanism in mechanisms:
        account.spend(mean(1.0, mechanism, adjacency))
    exported = account.events()
    assert {*exported["unsuitable"]} == ({"RdpAccountant"} if adjacency == "replace" else set())
    mu = np.linalg.norm([one["mu"] for one in account.releases if not one["pure_epsilon"]])
    # What Gaussian releases spend together, and no less than one pure one alone.
    least = gaussian_dp.epsilon(1e-5 - exported["sampler_delta"], mu) if mu else 0.9
    for name in {*accountants()} - {*exported["unsuitable"]}:
        theirs = composed(account, name).get_epsilon(1e-5 - exported["sampler_delta"])
        assert theirs > least * (1 - DISCRETE)
    # The accountant that is named would understate them.
    if adjacency == "replace" and mechanisms == (None,):
        assert composed(account, "RdpAccountant").get_epsilon(1e-5) < 0.7 * least


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_pure_releases_are_exported_as_upper_bounds(adjacency):
    account = mdp.Account("a.json", epsilon=5.0, delta=1e-5, pure=2.0, adjacency=adjacency)
    for release in (mean(1.0, mdp.Laplace(), adjacency), mean(0.5, adjacency=adjacency)):
        account.spend(release)
    assert [one["exact"] for one in account.events()["events"]] == [False, True]
    theirs = composed(account).get_epsilon(1e-5)
    alone = mdp.Account("alone.json", epsilon=5.0, delta=1e-5, adjacency=adjacency)
    alone.spend(mean(0.5, adjacency=adjacency))
    # No less than one Laplace number and the Gaussian one really have together.
    assert theirs > alone.spent + 0.3
    if adjacency == "replace":
        assert theirs <= account.spent * (1 + DISCRETE)
