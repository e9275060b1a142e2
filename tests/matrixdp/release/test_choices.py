"""What fits into a total: what refusals propose works, and several releases share one."""

import json
import re
import shutil
from dataclasses import replace

import harness
import numpy as np
import pytest
from harness import run

import matrixdp as mdp
from matrixdp import cli
from matrixdp.privacy import gaussian_dp
from matrixdp.release import choices, ledger, parser, storage

TOTAL = {"epsilon": 4, "delta": 1e-5}
RECORDS = np.random.default_rng(0).uniform(0, 1, (400, 3))


def books(folder):
    return storage.read(folder / "people.csv.privacy.json")


def test_recommendations_for_what_is_planned_fit_together(folder):
    for query in ("mean", "second_moments", "components"):
        assert run(folder, query, query=query, epsilon=1.0, total=TOTAL) == 0
    assert 1.4 < ledger.total_epsilon(books(folder)) < 1.8


def test_what_noise_hides_comes_after_what_is_of_use(tmp_path):
    """Of typical losses the first has the least; even so it would be refused."""
    spec = harness.spec(tmp_path, query="covariance", mechanism="gaussian")
    (option,) = choices.candidates(spec)
    losses = {"hidden": (0.95, 1.0, 1.0, 1.0), "of use": (0.85, 3.4, 13.0, 50.0)}
    listed = [replace(option, key=key, losses=row, worst=1.0) for key, row in losses.items()]
    assert [one.key for one in choices.ordered(listed)] == ["of use", "hidden"]
    # The control: where both are of use, the least typical loss is first.
    listed[0] = replace(listed[0], losses=(0.8, 1.0, 1.0, 1.0))
    assert [one.key for one in choices.ordered(listed)] == ["hidden", "of use"]


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_all_that_fits_is_listed_and_what_leaves_less_room_comes_last(folder, capsys, query):
    keys = {"query": query, "epsilon": 1.0, "delta": 1e-8, "total": {"epsilon": 2, "delta": 1e-8}}
    assert run(folder, verb="recommend", **keys) == 0
    out = capsys.readouterr().out
    rows = re.findall(r"^(\w+) .*; the account has room for (\d) more .* then(.*)$", out, re.M)
    assert rows[-1] == ("laplace", "1", ", fewer than after the first")
    assert {row[1:] for row in rows[:-1]} == {("2", "")}
    assert len(rows) == (2 if query == "mean" else 4)
    # What is not taken is not in the comparison, whose least decides.
    assert len(re.findall("^laplace", out, re.M)) == 1
    # Each of them fits, and nothing else does.
    for name, *_ in rows:
        spec = parser.read(harness.write(folder, mechanism=name, **keys))
        assert choices.rank(spec)[0][0].key == name
    state = {**keys, "epsilon": 1.99, "total": {"epsilon": 2, "delta": 1e-8}}
    assert run(folder, query, **{**state, "mechanism": "laplace"}, insist=True) == 0
    assert run(folder, verb="recommend", **keys, label="more") == 2


def test_of_several_releases_no_room_of_one_alone_is_said(folder, capsys):
    both = [{"query": "covariance"}, {"query": "mean", "weight": 60}]
    total = {"epsilon": 10, "delta": 7.395e-8}
    assert run(folder, verb="recommend", releases=both, records=300, total=total) == 0
    out = capsys.readouterr().out
    assert "covariance: epsilon" in out
    assert "more such release" not in out
    assert "after the first" not in out


@pytest.mark.parametrize(
    "keys",
    [
        {"query": "second_moments"},
        {"query": "regression", "target": "income", "mechanism": "clipped"},
    ],
)
def test_a_refusal_charges_nothing_and_names_what_would_fit(folder, capsys, keys):
    assert run(folder, epsilon=3.0, total=TOTAL) == 0
    before = books(folder)
    assert run(folder, "second", epsilon=3.9, total=TOTAL, **keys) == 2
    sentence = capsys.readouterr().err
    assert sentence.count("\n") == 1
    assert (books(folder), (folder / "second").exists()) == (before, False)
    # What the cheapest mechanism would spend, and not the one of the least noise.
    (spent,) = re.findall("this release epsilon (.*?) would be spent of 4", sentence)
    assert 4 < float(spent) < 3 + 3.9
    # At its delta, below that of the total, where the same release spends less.
    (epsilon,) = re.findall("epsilon = (.*?) at delta 1e-06 would fit", sentence)
    assert run(folder, "second", epsilon=float(epsilon), total=TOTAL, **keys) == 0


#: Releases with a delta and without one, the total, a request that does not fit beside them, and
#: the keys in which releases that fit differ from it.
SPENT, PURE = {"epsilon": 1.0, "delta": 1e-6}, {"epsilon": 0.5, "delta": 0}
SMALL, ALL = {"epsilon": 2, "delta": 1e-5}, {"epsilon": 2.0, "delta": 1e-5}
PURE_TOTAL, NOTHING = {"epsilon": 2, "delta": 0}, "ask for nothing more of this account"
FITS = [
    ([], SMALL, {"epsilon": 3.0, "delta": 1e-6}, [["epsilon"]]),
    ([SPENT], SMALL, {"epsilon": 3.0, "delta": 1e-6}, [["epsilon"]]),
    ([SPENT], SMALL, {"epsilon": 3.0, "delta": 1e-3}, [["epsilon"]]),
    ([SPENT], SMALL, {"epsilon": 30.0, "delta": 1e-5}, [["epsilon"]]),
    ([SPENT], SMALL, {"epsilon": 1.0, "delta": 0}, [["epsilon"], ["delta"]]),
    ([SPENT], SMALL, {"epsilon": 1.9, "delta": 0}, [["epsilon"], ["epsilon", "delta"]]),
    (
        *([SPENT], SMALL, {"epsilon": 1.9, "delta": 0, "mechanism": "laplace"}),
        [["epsilon"], ["epsilon", "mechanism", "delta"]],
    ),
    ([SPENT], SMALL, {"epsilon": 1.9, "delta": 1e-6, "mechanism": "laplace"}, [["mechanism"]]),
    ([PURE], SMALL, {"epsilon": 1.9, "delta": 0}, [["epsilon"]]),
    ([PURE], SMALL, {"epsilon": 1.9, "delta": 1e-6}, [["epsilon"]]),
    (
        *([PURE], SMALL, {"epsilon": 1.9, "delta": 1e-6, "mechanism": "gaussian"}),
        [["epsilon", "mechanism"]],
    ),
    ([PURE], PURE_TOTAL, {"epsilon": 1.9, "delta": 1e-6}, [["epsilon"]]),
    ([PURE], PURE_TOTAL, {"epsilon": 1.0, "delta": 1e-6, "mechanism": "gaussian"}, [["mechanism"]]),
    (
        *([PURE], PURE_TOTAL, {"epsilon": 1.9, "delta": 1e-6, "mechanism": "gaussian"}),
        [["epsilon", "mechanism"]],
    ),
    ([ALL], SMALL, {"epsilon": 1.0, "delta": 1e-6}, NOTHING),
    ([ALL], SMALL, {"epsilon": 1.0, "delta": 0}, NOTHING),
    ([{**PURE, "epsilon": 2.0}], PURE_TOTAL, {"epsilon": 1.0, "delta": 1e-6}, NOTHING),
]


def proposed(sentence):
    """Return the keys of each release that a message says to fit."""
    phrases = re.split(" would fit, and so would ", sentence.rpartition("; ")[2])
    pairs = (re.findall(r"(epsilon|delta|mechanism) = (\S*[^\s,])", one) for one in phrases)
    return [{key: json.loads(value) for key, value in one} for one in pairs]


@pytest.mark.parametrize(("before", "total", "keys", "fits"), FITS)
def test_what_a_refusal_says_to_fit_fits(
    folder, tmp_path_factory, capsys, before, total, keys, fits
):
    for count, one in enumerate(before):
        assert run(folder, f"{count}", total=total, label=f"{count}", **one) == 0
    capsys.readouterr()
    assert run(folder, "refused", total=total, **keys) == 2
    sentence = capsys.readouterr().err
    if fits == NOTHING:
        assert NOTHING in sentence
        for delta in (total["delta"], 0):
            assert run(folder, "more", total=total, epsilon=0.01, delta=delta) == 2
        return
    changes = proposed(sentence)
    assert [[*change] for change in changes] == fits
    for change in changes:
        if "epsilon" in change:
            # The control: a hundredth more does not.
            more = {**keys, **change, "epsilon": change["epsilon"] + keys["epsilon"] / 100}
            assert run(folder, "more", insist=True, total=total, **more) == 2
        place = shutil.copytree(folder, tmp_path_factory.mktemp("copy"), dirs_exist_ok=True)
        assert run(place, "fits", insist=True, total=total, **{**keys, **change}) == 0


@pytest.mark.parametrize(("epsilon", "says"), [(12, "release fewer numbers"), (17, NOTHING)])
def test_where_numbers_are_too_many_fewer_fit_if_any(folder, capsys, epsilon, says):
    keys = {"total": {"epsilon": epsilon, "delta": 1e-5}, "epsilon": 1.0, "insist": True}
    assert run(folder, **keys) == 0
    assert run(folder, "all", query="records", **keys) == 2
    assert f"; {says}\n" in capsys.readouterr().err
    one = {"bounds": {"age": [0, 120]}, "label": "more"}
    assert run(folder, "fewer", **one, **keys) == (2 if says == NOTHING else 0)


#: Releases that share a whole total beside an earlier one, and keys of each alone that fit.
SHARED = [
    (SMALL, SPENT, "an epsilon and a delta that fit", {"delta": 1e-5}),
    (PURE_TOTAL, PURE, "an epsilon that fits", {"delta": 0}),
]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("total", "spent", "says", "keys"), SHARED)
def test_shares_that_do_not_fit_do_in_files_of_their_own(
    folder, capsys, count, total, spent, says, keys
):
    several = [{"query": "mean"}, {"query": "covariance"}][:count]
    assert run(folder, "before", total=total, label="before", **spent) == 0
    capsys.readouterr()
    status = run(folder, verb="recommend", releases=several, total=total)
    noted = capsys.readouterr()
    assert run(folder, releases=several, total=total, insist=True) == 2
    error = capsys.readouterr().err
    remedy = error.rpartition("; state ")[2]
    assert says in remedy
    assert remedy in noted.out + noted.err
    assert status == (2 if count == 1 else 0)
    # What `matrixdp account` says to be left, by composition of both.
    assert cli.main(["account", str(folder / "people.csv"), "--json"]) == 0
    left = json.loads(capsys.readouterr().out)
    left = left["left_epsilon"] if keys["delta"] else left["left_pure_epsilon"]
    for one in several:
        alone = {**one, **keys, "epsilon": 0.999 * left / count}
        assert run(folder, one["query"], total=total, insist=True, **alone) == 0
    assert len(books(folder)["releases"]) == 1 + count


def test_shares_beside_releases_that_spent_all_are_told_so(folder, capsys):
    assert run(folder, total=SMALL, **ALL) == 0
    assert run(folder, releases=[{"query": "covariance"}], total=SMALL) == 2
    assert f"; {NOTHING}\n" in capsys.readouterr().err


def test_shares_of_a_total_that_is_too_large_need_a_smaller_one(folder, capsys):
    keys = {"releases": [{"query": "mean"}, {"query": "covariance"}], "insist": True}
    assert run(folder, total={"epsilon": 20, "delta": 0}, **keys) == 2
    assert "; state a total of a smaller epsilon" in capsys.readouterr().err
    assert run(folder, total={"epsilon": 10, "delta": 0}, **keys) == 0


@pytest.mark.parametrize(
    ("query", "epsilon", "delta", "total"),
    [
        ("mean", 20.0, 0, {"epsilon": 20, "delta": 0}),
        ("mean", 1e6, 0, {"epsilon": 1e6, "delta": 0}),
        ("mean", 1.0, 1e-6, {"epsilon": 100, "delta": 1e-5}),
        ("mean", 9.0, 1e-6, {"epsilon": 60, "delta": 1.23456789e-5}),
        ("records", 10.0, 1e-6, {"epsilon": 10, "delta": 1e-6}),
        ("covariance", 1e6, 1e-6, {"epsilon": 1e6, "delta": 1e-6}),
    ],
)
def test_a_refused_total_comes_with_the_line_that_works(
    folder, capsys, query, epsilon, delta, total
):
    keys = {"query": query, "delta": delta, "insist": True}
    assert run(folder, epsilon=epsilon, total=total, **keys) == 2
    sentence = capsys.readouterr().err
    # It says why.
    assert "e^" in sentence
    (most, least) = re.findall(r"total = \{epsilon = (\S+), delta = (\S+)\} would fit", sentence)[0]
    assert float(least) == total["delta"]
    smaller = re.findall(r"epsilon = (\S+) with total", sentence)
    total = {"epsilon": float(most), "delta": float(least)}
    assert run(folder, epsilon=float(*(smaller or [epsilon])), total=total, **keys) == 0


@pytest.mark.parametrize(
    ("epsilon", "delta", "total"), [(1e6, 0, 1e6), (30, 1e-6, 30), (10, 1e-6, 100)]
)
def test_records_in_memory_fit_alone_and_in_the_account_that_is_proposed(
    tmp_path, epsilon, delta, total
):
    keys = {"query": "covariance", "bounds": (0, 1), "records": len(RECORDS), "missing": "refuse"}
    keys |= {"epsilon": epsilon, "delta": delta, "even_if_useless": True}
    account = mdp.Account(tmp_path / "a.privacy.json", epsilon=total, delta=delta)
    with pytest.raises(mdp.InputError, match="would fit") as refusal:
        mdp.make_release(RECORDS, account=account, **keys)
    sentence = str(refusal.value)
    (words,) = re.findall(r"an account of epsilon (\S+) and delta (\S+) would fit", sentence)
    most, least = map(float, words)
    assert least == delta
    other = mdp.Account(tmp_path / "b.privacy.json", epsilon=most, delta=least)
    if epsilon > most:
        assert f"epsilon = {words[0]} without an account or with" in sentence
        keys["epsilon"] = most
        with pytest.raises(mdp.InputError, match="would fit"):
            mdp.make_release(RECORDS, **keys | {"epsilon": epsilon})
        mdp.make_release(RECORDS, **keys)
    mdp.make_release(RECORDS, account=other, **keys)


@pytest.mark.parametrize("before", [[], [{"epsilon": 0.1, "delta": 0}]])
def test_no_budget_is_said_to_mend_what_is_refused_for_another_reason(folder, capsys, before):
    for number, keys in enumerate(before):
        assert run(folder, str(number), total=PURE_TOTAL, **keys) == 0
    capsys.readouterr()
    assert run(folder, "last", epsilon=1e-16, delta=0, total=PURE_TOTAL, insist=True) == 2
    sentence = capsys.readouterr().err
    assert "cannot be added safely" in sentence
    assert "would fit" not in sentence


def test_a_fit_that_does_not_fit_is_refused_at_the_price_of_the_cheapest_mechanism(tmp_path):
    account = mdp.Account(tmp_path / "a.privacy.json", epsilon=1, delta=1e-5)
    for _ in range(2):
        mdp.Covariance(epsilon=0.5, delta=1e-6, bounds=(0, 1), account=account).fit(RECORDS)
    with pytest.raises(mdp.InputError, match="would be spent of 1") as refusal:
        mdp.Covariance(epsilon=0.9, delta=1e-6, bounds=(0, 1), account=account).fit(RECORDS)
    (spent,) = re.findall(r"release epsilon ([\d.]+) would", str(refusal.value))
    assert 1 < float(spent) < 1.2


def test_an_account_in_python_says_which_total_has_room(tmp_path):
    account = mdp.Account(tmp_path / "a.privacy.json", epsilon=100, delta=1e-5)
    fit = mdp.Covariance(epsilon=1, delta=1e-6, bounds=(0, 1), account=account)
    with pytest.raises(mdp.InputError, match="a total of epsilon") as refusal:
        fit.fit(RECORDS)
    (most,) = re.findall(r"a total of epsilon ([\d.]+) has room", str(refusal.value))
    other = mdp.Account(tmp_path / "b.privacy.json", epsilon=float(most), delta=1e-5)
    fit.set_params(account=other).fit(RECORDS)


@pytest.mark.parametrize("delta", [1e-5, 0])
def test_several_releases_share_one_total_by_their_weights(folder, capsys, delta):
    several = [{"query": "mean"}, {"query": "covariance", "weight": 3}]
    several.append({"query": "mean", "label": "again", "weight": 0.5})
    keys = {"total": {"epsilon": 4, "delta": delta}, "insist": True}
    assert run(folder, verb="recommend", releases=several, total=keys["total"]) == 0
    out = capsys.readouterr().out
    assert len(re.findall(r"^\w+: epsilon", out, re.MULTILINE)) == 4
    assert out.count("room for") == 1
    assert "together: epsilon 4 of 4; the account has room for 0 more such files then" in out
    assert run(folder, releases=several, **keys) == 0
    account = books(folder)
    if delta:
        shares = np.array([charge["mu"] for charge in account["releases"]]) ** 2
        shares /= gaussian_dp.mu(4.0, ledger.usable_delta(account["total"])) ** 2
    else:
        shares = np.array([charge["pure_epsilon"] for charge in account["releases"]]) / 4
    assert shares == pytest.approx(np.array([1, 3, 0.5]) / 4.5, rel=1e-3)
    assert 0.999 * 4 < ledger.total_epsilon(account) <= 4
    for name in ("mean/mean", "covariance/covariance", "again/mean"):
        assert (folder / f"out/{name}.csv").exists()
    # Again all have their answers, at no cost, and a further one does not fit.
    assert run(folder, releases=several, **keys) == 0
    others = [{"query": "records"}, {"query": "second_moments"}]
    assert run(folder, releases=others, **keys) == 2
    assert "in all, and with" in capsys.readouterr().err
    assert books(folder) == account


@pytest.mark.parametrize(
    "several", [[{"query": "mean"}], [{"query": "mean"}, {"query": "records"}]]
)
def test_releases_that_share_a_total_beside_earlier_ones_are_sent_to_files_of_their_own(
    folder, capsys, several
):
    assert run(folder, epsilon=2.0, total=TOTAL) == 0
    assert run(folder, "second", releases=several, total=TOTAL, insist=True) == 2
    assert "state each [[release]] in a file of its own, with an ep" in capsys.readouterr().err
    assert len(books(folder)["releases"]) == 1
    for keys in several:
        assert run(folder, keys["query"], epsilon=1.0, total=TOTAL, insist=True, **keys) == 0


@pytest.mark.parametrize("query", ["mean", "covariance"])
@pytest.mark.parametrize("mechanism", ["gaussian", "recommend", "clipped"])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1, 1e-15), (1, 2.0**-60), (0.01, 1e-18), (1, 5e-13), (20, 1e-6), (30, 1e-6), (25, 0)],
)
def test_what_a_refusal_of_a_tiny_delta_proposes_works(query, mechanism, epsilon, delta):
    if (query, mechanism) == ("mean", "clipped") or (not delta and mechanism != "recommend"):
        return

    def refusal(epsilon, delta):
        request = {"query": query, "bounds": (0, 1), "missing": "refuse", "mechanism": mechanism}
        budget = {"epsilon": epsilon, "delta": delta, "even_if_useless": True}
        try:
            mdp.make_release(np.full((400, 2), 0.5), **request, **budget)
        except mdp.InputError as error:
            return str(error)
        return ""

    said = refusal(epsilon, delta)
    assert re.match(f"delta is {delta:g}; safe noise on |the guarantee allows .* so many", said)
    deltas = re.findall(r"a delta of at least (\S+?)(?:;| or|$)", said)
    epsilons = re.findall(r"an epsilon of at most (\S+?)(?:;|$)", said)
    assert deltas or epsilons
    assert "smaller epsilon" not in said
    for works in deltas:
        assert not refusal(epsilon, float(works))
    for works in epsilons:
        assert not refusal(float(works), delta)
