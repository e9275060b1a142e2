"""Refusals of an account say what would fit, and rooms are those of what is planned."""

import re

import numpy as np
import pytest
from samplefile import release

import matrixdp as mdp
from matrixdp import cli


def test_a_fit_that_does_not_fit_is_refused_at_the_price_of_the_cheapest_mechanism(tmp_path):
    account = mdp.Account(tmp_path / "a.privacy.json", epsilon=1, delta=1e-5)
    records = np.random.default_rng(0).uniform(0, 1, (400, 3))
    for _ in range(2):
        mdp.Covariance(epsilon=0.5, delta=1e-6, bounds=(0, 1), account=account).fit(records)
    with pytest.raises(mdp.InputError, match="would be spent of 1") as refusal:
        mdp.Covariance(epsilon=0.9, delta=1e-6, bounds=(0, 1), account=account).fit(records)
    (spent,) = re.findall(r"release epsilon ([\d.]+) would", str(refusal.value))
    assert 1 < float(spent) < 1.2


def stated(folder, more, epsilon, delta="0", query="mean"):
    return release(folder, query=query, epsilon=epsilon, delta=delta, more=more)


@pytest.mark.parametrize(
    ("query", "epsilon", "delta", "total"),
    [
        ("mean", "20.0", "0", "{epsilon = 20, delta = 0}"),
        ("mean", "1e6", "0", "{epsilon = 1e6, delta = 0}"),
        ("mean", "1.0", "1e-6", "{epsilon = 100, delta = 1e-5}"),
        ("records", "10.0", "1e-6", "{epsilon = 10, delta = 1e-6}"),
        ("covariance", "1e6", "1e-6", "{epsilon = 1e6, delta = 1e-6}"),
    ],
)
def test_a_refused_total_comes_with_the_line_that_works(
    folder, capsys, query, epsilon, delta, total
):
    given = {"query": query, "delta": delta, "options": ["--even-if-useless"]}
    assert release(folder, **given, epsilon=epsilon, more=f"total = {total}") == 2
    sentence = capsys.readouterr().err
    # It says why.
    assert "e^" in sentence
    assert "distance from the ideal law" in sentence
    (line,) = re.findall(r"(total = \{.*?\}) would fit", sentence)
    smaller = re.findall(r"epsilon = (\S+) with total", sentence)
    assert release(folder, **given, epsilon=(smaller or [epsilon])[0], more=line) == 0


def test_an_account_in_python_says_which_total_has_room(tmp_path):
    account = mdp.Account(tmp_path / "a.privacy.json", epsilon=100, delta=1e-5)
    fit = mdp.Covariance(epsilon=1, delta=1e-6, bounds=(0, 1), account=account)
    with pytest.raises(mdp.InputError, match="a total of epsilon") as refusal:
        fit.fit(np.random.default_rng(0).uniform(0, 1, (400, 3)))
    (most,) = re.findall(r"a total of epsilon ([\d.]+) has room", str(refusal.value))
    other = mdp.Account(tmp_path / "b.privacy.json", epsilon=float(most), delta=1e-5)
    fit.set_params(account=other).fit(np.random.default_rng(0).uniform(0, 1, (400, 3)))


def test_several_releases_say_the_room_of_the_whole_file(folder, capsys):
    text = 'file = "people.csv"\nrecords = 400\ntotal = {epsilon = 3, delta = 1e-5}\n'
    text += "[bounds]\nage = [0, 120]\nincome = [0, 200000]\n"
    text += "".join(f'[[release]]\nquery = "{query}"\n' for query in ("mean", "covariance"))
    (folder / "three.toml").write_text(f'{text}[[release]]\nquery = "components"\n')
    assert cli.main(["recommend", str(folder / "three.toml")]) == 0
    out = capsys.readouterr().out
    assert out.count("room for") == 1
    assert "together: epsilon 3 of 3; the account has room for 0 more such files then" in out
