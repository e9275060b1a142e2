"""A person's own file: through the command line to a release, a receipt and an account."""

import errno
import os
import re
from pathlib import Path

import harness
import numpy as np
import pytest
from harness import ROWS, charges, read, run

import matrixdp as mdp
from matrixdp import cli
from matrixdp.privacy import gaussian_dp

LINE = {"query": "regression", "target": "income"}
CLIPPED = {"mechanism": "clipped"}
#: Requests, and the shapes of the numbers that they give.
REQUESTS = [
    ({"query": "records"}, (400, 2)),
    ({"query": "mean"}, (1, 2)),
    ({"query": "second_moments"}, (2, 2)),
    ({"query": "second_moments", **CLIPPED}, (2, 2)),
    ({"query": "covariance"}, (2, 3)),
    ({"query": "covariance", **CLIPPED}, (2, 3)),
    ({"query": "components"}, (2, 4)),
    ({"query": "components", "number": 1}, (1, 4)),
    ({"query": "components", "max_norm": 1e5}, (2, 4)),
    ({"query": "components", "max_norm": 1e5, **CLIPPED}, (2, 4)),
    ({"query": "components", "number": 1, **CLIPPED}, (1, 4)),
    (LINE, (1, 2)),
    ({**LINE, "mechanism": "gaussian"}, (1, 2)),
    ({**LINE, **CLIPPED}, (1, 2)),
    ({**LINE, **CLIPPED, "adjacency": "add_or_remove"}, (1, 2)),
]


@pytest.mark.parametrize(("keys", "shape"), REQUESTS)
def test_every_request_gives_numbers_a_receipt_and_a_charge(folder, keys, shape):
    assert run(folder, insist=True, **keys) == 0
    answer = read(folder, keys["query"])
    assert answer.numbers.shape == shape
    assert np.isfinite(answer.numbers).all()
    assert answer.receipt["epsilon_at_delta"] <= 2
    assert answer.receipt["epsilon_of_all_releases_so_far"] <= 2
    assert answer.page.startswith("# Receipt")
    assert len(charges(folder)) == 1


def test_a_release_in_parts_states_the_budget_of_each(folder):
    keys = {"query": "second_moments", **CLIPPED, "total": {"epsilon": 2.0, "delta": 1e-6}}
    assert run(folder, "about zero", **keys) == 0
    parts = read(folder, "second_moments", "about zero").receipt["parts"]
    shares = {part["part"]: part["share"] for part in parts}
    assert shares == pytest.approx({"lengths": 0.1, "moments": 0.9})
    (folder / "people.csv.privacy.json").unlink()
    keys = {"query": "covariance", **CLIPPED}
    assert run(folder, **keys) == 0
    answer, (charge,) = read(folder, "covariance"), charges(folder)
    assert charge["parts"] == answer.receipt["parts"]
    assert "noise_std" not in answer.receipt
    assert [part["part"] for part in charge["parts"]] == ["mean", "lengths", "moments"]
    assert [part["share"] for part in charge["parts"]] == pytest.approx([0.5, 0.05, 0.45])
    together = np.linalg.norm([part["mu"] for part in charge["parts"]])
    assert together / (1 + 1e-12) <= charge["mu"] <= gaussian_dp.mu(2.0, 1e-6)
    assert {*answer.details["noise_of_mean"]} == {"age", "income"}


def test_all_components_cost_as_much_as_one(folder):
    total = {"epsilon": 9, "delta": 1e-5}
    for number in (1, 2):
        # Without a label the second is read from the draw of the first.
        keys = {"query": "components", "number": number, "label": str(number), "total": total}
        assert run(folder, str(number), **keys) == 0
    one, both = charges(folder)
    assert (one["mu"], one["numbers"]) == (both["mu"], both["numbers"])


@pytest.mark.parametrize("name", ["people.csv", "people.npy"])
def test_means_are_those_of_clipped_records(folder, name):
    sides = [[0, 120], [0, 200_000]]
    np.save(folder / "people.npy", ROWS)
    columns = ("0", "1") if name == "people.npy" else ("age", "income")
    bounds = dict(zip(columns, sides, strict=True))
    assert run(folder, file=name, bounds=bounds, epsilon=9.0) == 0
    exact = np.clip(ROWS, *np.transpose(sides)).mean(axis=0)
    assert read(folder).numbers[0] == pytest.approx(exact, rel=0.02)


def test_an_existing_release_stays(folder, capsys):
    assert run(folder) == 0
    first = read(folder).rows
    (folder / "people.csv.privacy.json").unlink()
    assert run(folder, epsilon=3.0) == 2
    assert "is there already" in capsys.readouterr().err
    assert not charges(folder)
    assert read(folder).rows == first


def test_a_first_release_needs_a_total_and_the_proposed_one_works(folder, capsys):
    assert run(folder, total=None) == 2
    assert not charges(folder)
    (proposal,) = re.findall("total = {.*?}", capsys.readouterr().err)
    path = folder / "spec.toml"
    path.write_text(f"{proposal}\n{path.read_text()}")
    assert cli.main(["release", str(path), "--out", str(folder / "out")]) == 0
    # Afterwards that of the account counts.
    assert run(folder, "second", total=None) == 0


def test_an_account_elsewhere_for_data_that_cannot_be_written_to(folder, capsys, monkeypatch):
    opened = os.open

    def deny(path, flags, *mode, **keys):
        if flags & os.O_CREAT and Path(path).parent == folder:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, *mode, **keys)

    (folder / "accounts").mkdir()
    monkeypatch.setattr(os, "open", deny)
    assert run(folder) == 2
    assert 'or state account = "..."' in capsys.readouterr().err
    assert run(folder, account="accounts/people.json") == 0
    assert "accounts" not in (folder / "out/mean.receipt.json").read_text()


@pytest.mark.parametrize(
    "keys",
    [
        {"query": "records"},
        {**LINE, "epsilon": 0.05},
        {**LINE, **CLIPPED, "epsilon": 0.001},
        *(
            {"query": query, "epsilon": 0.003}
            for query in ("second_moments", "covariance", "components")
        ),
        {**LINE, "epsilon": 0.003},
        {"query": ["covariance", "mean"], "mean_weight": 1e-9},
        {"query": ["mean", "covariance"], "mean_weight": 1e9},
    ],
)
def test_a_useless_release_costs_nothing_unless_its_owner_insists(folder, capsys, keys):
    assert run(folder, **keys) == 2
    remedy = "leave mean_weight out, " * ("mean_weight" in keys) + "give a larger epsilon"
    assert f"do not release this; {remedy}" in capsys.readouterr().err
    assert not charges(folder)
    assert run(folder, insist=True, **keys) == 0


@pytest.mark.parametrize(("times", "status"), [(0.98, 2), (1.02, 0)])
def test_a_mean_with_noise_of_half_the_range_is_useless(folder, capsys, times, status):
    # Laplace noise of scale range / (n epsilon) has sqrt(2) times it as its standard deviation.
    epsilon = times * 2 * np.sqrt(2) / 400
    keys = {"bounds": {"age": [0, 120]}, "delta": None, "total": {"epsilon": 1, "delta": 0}}
    assert run(folder, **keys, epsilon=epsilon) == status
    assert ("do not release this" in capsys.readouterr().err) == (status == 2)


@pytest.mark.parametrize(
    ("keys", "notes"),
    [
        ({"delta": 0.01}, ["delta is 0.01, above 1 / records", "total.delta is 0.01"]),
        ({"epsilon": 11.0}, ["epsilon is 11, above 10", "total.epsilon is 11"]),
        ({}, []),
    ],
)
def test_unusual_guarantees_are_carried_out_with_a_warning(folder, capsys, keys, notes):
    assert run(folder, **keys) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(notes)
    assert all(note in line for note, line in zip(notes, lines, strict=True))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_another_dialect_of_the_same_numbers_gives_the_same_answer(
    folder, silent, separator, decimal
):
    """What is not stated is the usual one: its request is the same."""
    if separator == decimal:
        pytest.skip("refused, see refusals.toml")
    assert run(folder, "plain", total={"epsilon": 4, "delta": 1e-5}) == 0
    text = (folder / "people.csv").read_text()
    text = text.replace(",", separator).replace(".", decimal)
    (folder / "people.csv").write_text(text)
    keys = {"separator": separator, "decimal": decimal, "total": {"epsilon": 4, "delta": 1e-5}}
    assert run(folder, **keys) == 0
    assert len(charges(folder)) == (1 if (separator, decimal) == (",", ".") else 2)
    assert read(folder).numbers == pytest.approx(read(folder, out="plain").numbers)
    assert harness.spec(folder, **keys).columns == ("age", "income")


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_of_many_columns_notes_name_the_first_and_the_details_have_all(query):
    rows = np.random.default_rng(0).uniform(0, 1, (60, 40))
    settings = {"epsilon": 1.0, "missing": "middle", "even_if_useless": True}
    answer = mdp.make_release(rows, query=query, bounds=(0, 1), **settings)
    assert 0 < len(answer.notes) < 10
    assert max(map(len, answer.notes)) < 500
    assert "and 36 more columns" in answer.notes[0]
    doubts = answer.details.get("may_be_noise_alone", [])
    assert len(doubts) in (0, 40)
    assert (f"of {len(doubts) - 4} more; may_be" in answer.notes[-1]) == bool(doubts)
