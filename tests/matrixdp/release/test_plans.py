"""A plan and what is drawn of it: one mechanism at every door, and never an answer uncharged."""

import json
import multiprocessing
import os
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain, product

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.noise import safe
from matrixdp.release import choices, parser, specification
from matrixdp.release.comparison import Option
from matrixdp.release.fits import WeakGuaranteeWarning
from matrixdp.release.outputs import every
from matrixdp.release.plans import Outdated, plan

TOTAL = {"epsilon": 8.0, "delta": 1e-5}
BUDGET = {"epsilon": 0.5, "delta": 1e-6}


@pytest.fixture
def account(tmp_path):
    return mdp.Account(tmp_path / "a.json", **TOTAL)


def in_memory(query="mean", rows=harness.ROWS, **keys):
    """Return a specification of records in memory."""
    table = {**harness.VALID, **BUDGET, "query": query, **keys, "total": None}
    table = {key: value for key, value in table.items() if value is not None}
    renamed = {str(k): pair for k, pair in enumerate(table.pop("bounds", {}).values())}
    spec = parser.from_table(
        harness.Path("the array"), {**table, **({"bounds": renamed} if renamed else {})}
    )
    return specification.replace(spec, frame=rows)


# --- Charges and answers -------------------------------------------------------------------------


def draws(work, times=1):
    """Return the answers of some calls of a plan, and those of a copy of it."""
    return [work.draw()[0].rows for _ in range(times)]


def in_a_fork(work, folder):
    child = os.fork()
    if not child:
        (folder / "fork.json").write_text(json.dumps(draws(work)))
        os._exit(0)
    os.waitpid(child, 0)
    return json.loads((folder / "fork.json").read_text())


def in_processes(work):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return [*chain(*pool.map(draws, [work] * 4))]


WAYS = {
    "twice": lambda work, folder: draws(work, 2),
    "pickled": lambda work, folder: draws(work) + draws(pickle.loads(pickle.dumps(work))),
    "other rows": lambda work, folder: (
        draws(work) + draws(replace(work, spec=replace(work.spec, frame=harness.ROWS / 2)))
    ),
    "threads": lambda work, folder: [*chain(*ThreadPoolExecutor(4).map(draws, [work] * 4))],
    "forked": lambda work, folder: draws(work) + in_a_fork(work, folder),
    "processes": lambda work, folder: in_processes(work),
}


@pytest.mark.parametrize(
    ("way", "query"), [*product(WAYS, ["mean"]), *product(["twice", "forked"], ["bounds"])]
)
def test_there_are_at_least_as_many_charges_as_distinct_answers(tmp_path, account, way, query):
    names = {"bounds": None, "columns": ["0", "1"]} if query == "bounds" else {}
    work = plan(in_memory(query, **names), account)
    answers = WAYS[way](work, tmp_path)
    assert len(account.releases) >= len({json.dumps(rows) for rows in answers})
    # Each is stored beside the account, by the name that its charge has.
    stored = {(tmp_path / charge["answer"]).is_file() for charge in account.releases}
    assert stored == {True}


@pytest.mark.parametrize("way", sorted({*WAYS} - {"other rows", "processes"}))
def test_a_file_has_one_answer_however_often_its_plan_is_drawn(tmp_path, way):
    harness.save(tmp_path / "people.csv")
    work = plan(harness.spec(tmp_path, **BUDGET, total=TOTAL))
    answers = WAYS[way](work, tmp_path)
    assert len({json.dumps(rows) for rows in answers}) == 1
    assert len(harness.charges(tmp_path)) == 1


def test_a_plan_of_an_account_that_has_changed_is_refused_and_charges_nothing(tmp_path):
    account = mdp.Account(tmp_path / "a.json", epsilon=0.8, delta=1e-5)
    spec = in_memory("mean", epsilon=0.7)
    first, second = plan(spec, account), plan(spec, account)
    first.draw()
    with pytest.raises(mdp.InputError, match="allows"):
        second.draw()
    assert len(account.releases) == 1
    # Another mechanism would leave more room now.
    wide = mdp.Account(tmp_path / "b.json", epsilon=2.0, delta=1e-5)
    later = plan(in_memory("mean", epsilon=1.0), wide)
    options = [option.name for option in later.listed]
    assert later.option.name == "Gaussian"
    changed = replace(later, option=later.listed[options.index("Laplace")])
    with pytest.raises(Outdated, match="plan it again"):
        changed.draw()
    assert not wide.releases


def test_a_draw_that_dies_at_its_noise_has_been_charged(account, monkeypatch):
    def die(*_):
        raise KeyboardInterrupt

    work = plan(in_memory(), account)
    monkeypatch.setattr(safe, "noise", die)
    with pytest.raises(KeyboardInterrupt):
        work.draw()
    assert len(account.releases) == 1


# --- One mechanism, one refusal at every door ---------------------------------------------------

#: Outputs, budgets and bounds of columns.
REQUESTS = [
    (query, epsilon, delta, side)
    for query in every()
    # Counts are by groups, and have no bounds.
    if query != "counts"
    for epsilon, delta, side in (
        (1.0, 1e-6, (0.0, 1.0)),
        (4.0, 1e-6, (-1.0, 1.0)),
        (1.0, 0, (0.0, 1.0)),
        (0.001, 1e-6, (0.0, 1.0)),
    )
]
NAMES, COUNT = ("0", "1", "2"), 400
ESTIMATORS = {"covariance": "Covariance", "components": "PrivatePCA", "regression": "PrivateRidge"}


def doors(folder, capsys, query, epsilon, delta, side):
    """Yield what each door says: the mechanism of a release, or the reason of its refusal."""
    rows = np.random.default_rng(0).uniform(*side, (COUNT, 3))
    bounds = {"columns": [*NAMES]} if query == "bounds" else {"bounds": dict.fromkeys(NAMES, side)}
    if query == "regression":
        bounds["target"] = "2"
    budget = {"epsilon": epsilon, "delta": delta}
    table = {**bounds, **budget, "query": query, "missing": "refuse"}
    np.save(folder / "rows.npy", rows)
    keys = {"bounds": None, "file": "rows.npy", "total": budget, **table}
    path = harness.write(folder, **keys)
    verbs = {"bounds": ["bounds", path]} if query == "bounds" else {}
    verbs["release"] = ["release", path, "--out", folder / "out"]
    for door, words in verbs.items():
        (folder / "rows.npy.privacy.json").unlink(missing_ok=True)
        code, error = cli.main([*map(str, words)]), capsys.readouterr().err
        charges = harness.charges(folder, "rows.npy")
        yield door, reason(error) if code else charges[0]["mu"]
    cli.main(["recommend", str(path)])
    capsys.readouterr()
    (folder / "rows.npy.privacy.json").unlink(missing_ok=True)
    option = choices.rank(parser.read(path))[0][0]
    yield "recommend", option
    account = mdp.Account(folder / f"{epsilon}.json", **budget)
    requests = [(path, {}), (rows, table), (rows, {**table, "account": account})]
    listed = [mdp.recommend(source, **more)[0] for source, more in requests]
    if "do not release" not in listed[0].says:
        yield from zip(["mdp.recommend", "of a frame", "with account"], listed, strict=True)
    make = mdp.private_bounds if query == "bounds" else mdp.make_release
    settings = {
        name: value
        for name, value in table.items()
        if make != mdp.private_bounds or name != "query"
    }
    for door, more in (("frame", {}), ("frame with account", {"account": account})):
        yield door, attempt(lambda more=more: make(rows, **settings, **more).receipt)
    if query in ESTIMATORS and find_spec("sklearn"):
        sides = {"bounds": side}
        if query == "regression":
            sides["target_bounds"] = side
        fit = getattr(mdp, ESTIMATORS[query])(**sides, **budget)
        given = (rows[:, :2], rows[:, 2]) if query == "regression" else (rows,)
        yield "estimator", attempt(lambda: fit.fit(*given).mechanism_)


def attempt(call):
    try:
        return call()
    except mdp.InputError as error:
        return reason(str(error))


def reason(error):
    """Return why a release is refused, without where and what to add to insist."""
    return re.sub(r".*spec.toml: |matrixdp \w+: |(, or pay).*", "", error.strip())


@pytest.mark.parametrize(("query", "epsilon", "delta", "side"), REQUESTS)
def test_one_request_has_one_mechanism_and_one_refusal_at_every_door(
    tmp_path, capsys, query, epsilon, delta, side
):
    said = dict(doors(tmp_path, capsys, query, epsilon, delta, side))
    option = said.pop("recommend")
    refusals = {door: one for door, one in said.items() if isinstance(one, str)}
    if refusals:
        assert refusals.keys() == said.keys()
        assert len({*refusals.values()}) == 1
        return
    for door, one in said.items():
        if isinstance(one, dict):
            assert one["mechanism"] == option.key, door
            assert one["epsilon_at_delta"] == option.release.epsilon_delivered, door
        elif isinstance(one, float):
            assert one == choices.ledger.cost(option.release), door
        elif isinstance(one, Option):
            assert (one.name, one.error) == (option.name, option.error), door
        else:
            assert type(one) is type(option.release), door
            assert one.mu == option.release.mu, door


@pytest.mark.parametrize(
    "keys",
    [
        {"epsilon": 12.0, "delta": 0.05},
        *({"delta": 0.0, "mechanism": name} for name in ("gaussian", "analyze_gauss", "clipped")),
    ],
)
def test_an_estimator_cautions_and_refuses_as_a_release_does(keys):
    estimators = pytest.importorskip("matrixdp.estimators", exc_type=ImportError)
    keys = {"epsilon": 1.0, "bounds": (0, 1), "even_if_useless": True, "missing": "refuse", **keys}
    rows = np.zeros((30, 3))
    release = attempt(lambda: mdp.make_release(rows, query="covariance", **keys).notes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = attempt(lambda: estimators.Covariance(**keys).fit(rows))
    if keys["delta"]:
        sentences = {str(one.message) for one in caught}
        cautions = {note for note in release if "delta is" in note or "epsilon is" in note}
        assert len(cautions) == 4
        assert cautions <= sentences
    else:
        assert fit == release
        assert "needs one; state a delta, or take laplace" in fit


def test_a_warning_that_is_an_error_ends_a_fit_before_its_charge(tmp_path):
    estimators = pytest.importorskip("matrixdp.estimators", exc_type=ImportError)
    account = mdp.Account(tmp_path / "books.json", epsilon=12.0, delta=0.05)
    keys = {"epsilon": 12.0, "delta": 0.04, "bounds": (0, 1), "missing": "refuse"}
    estimator = estimators.Covariance(account=account, even_if_useless=True, **keys)
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeakGuaranteeWarning)
        with pytest.raises(WeakGuaranteeWarning):
            estimator.fit(np.zeros((30, 3)))
    assert account.releases == []
    with pytest.warns(WeakGuaranteeWarning) as caught:
        estimator.fit(np.zeros((30, 3)))
    weak = [one for one in caught if one.category is WeakGuaranteeWarning]
    assert {one.filename for one in weak} == {__file__}
    assert len(account.releases) == 1


def test_a_door_with_a_rule_of_its_own_is_seen(tmp_path, capsys, monkeypatch):
    estimator = pytest.importorskip("matrixdp.estimator_base", exc_type=ImportError)

    def other(*terms, **keys):
        work = plan(*terms, **keys)
        return replace(work, option=next(o for o in work.listed if o.release is not work.mechanism))

    monkeypatch.setattr(estimator, "plan", other)
    with pytest.raises(AssertionError):
        test_one_request_has_one_mechanism_and_one_refusal_at_every_door(
            tmp_path, capsys, "covariance", 1.0, 1e-6, (0.0, 1.0)
        )
