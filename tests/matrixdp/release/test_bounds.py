"""Bounds that a release of its own finds, pasted into another one: charge, answer, neighbours."""

import csv
import io
import tomllib
from itertools import combinations
from pathlib import Path

import harness
import numpy as np
import pytest
from harness import charges

import matrixdp as mdp
from matrixdp import cli
from matrixdp.checks import InputError
from matrixdp.mechanisms import histogram
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.release.bounds import by_column as column_bounds
from matrixdp.release.outputs import OUTPUTS
from matrixdp.release.provenance import text as table_text

PACKAGE = Path(mdp.__file__).parent
COLUMNS = ["age", "income"]
#: Bounds of 2,000 records, and a release within them.
BOUNDS = {
    "records": 2000,
    "epsilon": 0.5,
    "delta": 1e-6,
    "total": {"epsilon": 3.0, "delta": 1e-5},
    "missing": "middle",
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.uniform(20, 80, 2000), rng.lognormal(10, 0.35, 2000)])
    harness.save(tmp_path / "people.csv", rows)
    return tmp_path


def find(folder, capsys, columns=COLUMNS, status=0, **keys):
    """Find bounds by the command line; return what it prints."""
    path = folder / "limits.toml"
    keys = {"file": "people.csv", "columns": columns, **BOUNDS, **keys}
    lines = [f"{key} = {harness.toml(value)}" for key, value in keys.items() if value is not None]
    path.write_text("\n".join(lines))
    capsys.readouterr()
    code = cli.main(["bounds", str(path)])
    captured = capsys.readouterr()
    assert code == status, captured.err
    return captured


def paste(folder, text, query="mean", out="out", **keys):
    """Release within bounds as they were printed; return the exit status."""
    keys = {**BOUNDS, "query": query, "bounds": None, **keys}
    path = folder / "spec.toml"
    path.write_text(harness.text(**keys) + text)
    return cli.main(["release", str(path), "--out", str(folder / out), "--even-if-useless"])


def test_the_same_request_costs_nothing_and_another_label_does(folder, capsys):
    text = find(folder, capsys).out
    assert find(folder, capsys).out == text
    (charge,) = charges(folder)
    assert f"charge {charge['receipt'][:12]}" in text
    sides = tomllib.loads(text)["bounds"]
    # An empty bin at either end may count, too.
    assert sides["age"][0] in (8, 16)
    assert sides["age"][1] in (128, 256)
    assert find(folder, capsys, label="again").out != text
    assert len(charges(folder)) == 2


@pytest.mark.parametrize("query", OUTPUTS)
def test_a_receipt_says_which_bounds_were_found_and_which_are_stated(folder, capsys, query):
    text = find(folder, capsys, ["age"]).out
    charge = charges(folder)[0]["receipt"][:12]
    more = {"target": "income"} if query == "regression" else {}
    assert paste(folder, f"{text}income = [0, 200000]\n", query, **more) == 0
    notes = capsys.readouterr().err
    answer = harness.read(folder, query)
    assert answer.receipt["origin_of_bounds"] == {
        "age": f"found in private by the charge {charge}, clipping not covered by intervals",
        "income": "stated by you",
    }
    assert "bounds of age were found in private" in notes
    assert "Bounds of age were found in private" in answer.page
    assert paste(folder, "[bounds]\nage = [0, 127.5]\nincome = [0, 1]", query, "b", **more) == 0
    assert {*harness.read(folder, query, "b").receipt["origin_of_bounds"].values()} == {
        "stated by you"
    }
    # One end may be changed afterwards; the other one is still of the records.
    end = tomllib.loads(text)["bounds"]["age"][1]
    assert paste(folder, f"[bounds]\nage = [-1, {end!r}]\nincome = [0, 1]", query, "c", **more) == 0
    origins = harness.read(folder, query, "c").receipt["origin_of_bounds"]
    assert origins["age"].startswith(f"one end found in private by the charge {charge}")
    assert origins["income"] == "stated by you"
    assert len(charges(folder)) == 4


@pytest.mark.parametrize("verb", ["recommend", "account", "release"])
def test_a_file_of_bounds_is_one_at_every_door(folder, capsys, monkeypatch, verb):
    monkeypatch.chdir(folder)
    find(folder, capsys)
    file = folder / "limits.toml"
    assert "query" not in tomllib.loads(file.read_text(encoding="utf-8"))
    assert cli.main([verb, str(file)]) == 0
    assert len(charges(folder)) == 1


def test_a_table_of_bounds_is_toml_whatever_the_names_of_its_columns():
    names = [chr(number) for number in range(1, 1000)]
    rows = [[name, "", ""] if name.isdigit() else [name, -1.0, 2.0] for name in names]
    table = tomllib.loads(table_text(rows, {"digest": "0" * 64}))["bounds"]
    assert table == {name: [-1.0, 2.0] for name in names if not name.isdigit()}


def test_bounds_that_are_found_serve_records_in_memory(tmp_path):
    rows = np.random.default_rng(0).uniform(20, 60, (2000, 2))
    account = mdp.Account(tmp_path / "a.json", epsilon=3.0, delta=1e-5)
    terms = {"missing": "refuse", "account": account}
    bounds = mdp.private_bounds(rows, epsilon=1, **terms)
    assert bounds.answer == {"0": (16.0, 64.0), "1": (16.0, 64.0)}
    # Nobody stated any bounds.
    assert bounds.receipt["origin_of_bounds"] == {}
    mean = mdp.make_release(rows, query="mean", bounds=bounds.answer, epsilon=1, **terms)
    assert "found in private" in mean.receipt["origin_of_bounds"]["1"]
    assert [charge["query"] for charge in account.releases] == ["bounds", "mean"]
    # An estimator takes them too: the columns of an array have numbers there.
    assert column_bounds(bounds.answer, (0, 1)) == {0: (16.0, 64.0), 1: (16.0, 64.0)}
    # Without an account nobody knows.
    alone = mdp.make_release(rows, query="mean", bounds=bounds.answer, epsilon=1, missing="refuse")
    assert alone.receipt["origin_of_bounds"]["1"] == "stated by you"


def test_each_charge_has_a_name_of_its_own(tmp_path):
    rows = np.random.default_rng(0).uniform(20, 60, (2000, 1))
    account = mdp.Account(tmp_path / "a.json", epsilon=9.0, delta=1e-5)
    first, second = (
        mdp.private_bounds(rows, epsilon=1, missing="refuse", account=account) for _ in range(2)
    )
    assert first.answer == second.answer
    receipts = [charge["receipt"] for charge in account.releases]
    texts = [answer.files()["bounds.toml"].partition("\n")[0] for answer in (first, second)]
    assert texts == [f"[bounds]  # found in private by the charge {r[:12]}" for r in receipts]
    assert len({*texts}) == 2
    alone = mdp.private_bounds(rows, epsilon=1, missing="refuse").files()["bounds.toml"]
    assert alone.startswith("[bounds]  # found in private and counted by no account\n")


def test_of_an_answer_that_is_gone_nobody_can_tell_whether_bounds_were_found(folder, capsys):
    text = find(folder, capsys).out
    (charge,) = charges(folder)
    (folder / charge["answer"]).unlink()
    assert paste(folder, text) == 0
    says = "nobody can tell whether bounds of age, income were found in private"
    assert says in capsys.readouterr().err
    answer = harness.read(folder)
    assert says[1:] in answer.page
    assert {*answer.receipt["origin_of_bounds"].values()} == {
        f"stated by you or found in private, which nobody can tell: {charge['answer']} is not there"
    }


#: Rules for missing values of bounds and of a release within them, and what a receipt says of it.
RULES = [
    ("refuse", "refuse", ""),
    ("middle", "present", ""),
    ("refuse", "middle", ", where a missing value would have ended it"),
    ("present", "refuse", ", where a missing value was left out"),
]


@pytest.mark.parametrize(("first", "second", "says"), RULES)
def test_a_receipt_says_where_bounds_were_found_by_another_rule(
    folder, capsys, first, second, says
):
    text = find(folder, capsys, missing=first).out
    (charge,) = charges(folder)
    assert paste(folder, text, missing=second) == 0
    assert harness.read(folder).receipt["origin_of_bounds"]["age"] == (
        f"found in private by the charge {charge['receipt'][:12]}{says}, "
        "clipping not covered by intervals"
    )
    # Whom an account protects, and against what, is fixed when it begins.
    keys = {"person": "age", "per_person": 2, "adjacency": "replace"}
    for other in ({"adjacency": "add_or_remove"}, keys):
        assert paste(folder, text.replace("age", "aged"), out="other", **other) == 2
        assert "was begun with total" in capsys.readouterr().err


def test_a_column_that_no_query_takes_is_refused_before_the_charge(folder, capsys):
    said = find(folder, capsys, columns=["age", ""], status=2)
    assert "columns has the column '', and no query answers for" in said.err
    assert not charges(folder)


def test_a_column_without_bounds_is_said_and_the_charge_stays(folder, capsys):
    harness.save(folder / "people.csv", [[50.0, np.nan]] * 2000)
    for _ in range(2):
        said = find(folder, capsys)
        assert "no bounds were found for 'income', and the charge stays" in said.err
        assert [*tomllib.loads(said.out)["bounds"]] == ["age"]
    assert len(charges(folder)) == 1


@pytest.mark.parametrize(("delta", "count"), [(1e-5, "135 records"), (0, "250 without")])
def test_three_columns_need_as_many_records_as_the_page_says(tmp_path, delta, count):
    keys = {"query": "bounds", "columns": ["a", "b", "c"], "bounds": None, "records": 442}
    request = harness.spec(tmp_path, **keys, epsilon=0.25, delta=delta)
    needed = 442 * harness.options(request)[0].error
    assert needed == pytest.approx(float(count.partition(" ")[0]), rel=0.02)
    assert count in (PACKAGE / "own_matrix.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [1, 20])
def test_an_empty_column_gets_bounds_by_chance_as_rarely_as_the_page_says(
    tmp_path, columns, monkeypatch
):
    names = [f"c{number}" for number in range(columns)]
    keys = {**BOUNDS, "query": "bounds", "columns": names, "bounds": None}
    release = harness.options(harness.spec(tmp_path, **keys))[0].release
    # Of one release they are always the same.
    limits, factor = histogram.thresholds(release), release.rounding_factor
    monkeypatch.setattr(histogram, "thresholds", lambda _: limits)
    stream, passed = np.random.default_rng(0), 0
    for noise in release.noise.sample(stream, 4000):
        passed += any(histogram.bounds(release, noise * factor))
    # Within three standard errors of a share of 1 %.
    assert 0.0052 < passed / 4000 < 0.0148


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_too_few_records_are_refused_before_they_are_charged(folder, capsys, delta):
    harness.save(folder / "people.csv", np.ones((30, 2)))
    said = find(folder, capsys, status=2, records=30, delta=delta)
    assert "records that share a power of two, and there are 30" in said.err
    assert not charges(folder)


def test_missing_values_are_counted_nowhere_or_end_the_release(folder, capsys):
    rows = np.full((2000, 2), np.nan)
    rows[:1000] = [40.0, 20000.0]
    harness.save(folder / "people.csv", rows)
    assert "no finite number" in find(folder, capsys, status=2, missing="refuse").err
    answers = [find(folder, capsys, missing=rule).out for rule in ("present", {"age": 3e9})]
    for text in answers:
        assert tomllib.loads(text)["bounds"]["age"][1] <= 128


@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_the_records_of_a_person_are_protected(folder, relation):
    keys = {"query": "bounds", "columns": COLUMNS, "bounds": None, **BOUNDS}
    people = {"person": "who", "adjacency": relation}
    one, three = (
        harness.options(harness.spec(folder, per_person=most, **people, **keys))[0].release
        for most in (1, 3)
    )
    assert three.noise_std == pytest.approx(3 * one.noise_std, rel=1e-6)
    assert one.query.adjacency == relation


def test_bounds_are_no_part_of_another_request(folder, capsys):
    assert "has no meaning" in find(folder, capsys, status=2, max_norm=3).err
    another = "query is 'mean', and bounds are found before"
    assert another in find(folder, capsys, status=2, query="mean").err
    harness.spec(folder)
    with pytest.raises(InputError, match=another):
        mdp.private_bounds(folder / "spec.toml")
    for keys, says in (
        ({"columns": COLUMNS}, "columns has no meaning for the query 'mean'"),
        ({"bounds": None}, "`matrixdp bounds` finds some in private"),
        ({"bounds": {"age": "private"}}, "bounds.age is 'private'"),
        ({"bounds": None, "query": "bounds"}, "columns is missing"),
    ):
        with pytest.raises(InputError, match=says):
            harness.spec(folder, **keys)


# --- Neighbours of the whole: bounds, their table pasted, a release within it -------------------

VALUES = ("", "inf", "-inf", "-3.0", "50")
#: Keys that change the protected unit; how many rows a person has.
UNITS = [({}, 1), ({"person": "who", "per_person": 3, "adjacency": "replace"}, 3)]
UNITS.append(({**UNITS[1][0], "adjacency": "add_or_remove"}, 3))
FEW = {"records": 90, "epsilon": 4.0, "total": {"epsilon": 9.0, "delta": 1e-5}}


class Tape:
    """What a program computes before noise; a second program gets the noisy answers of a first."""

    def __init__(self, monkeypatch, answers=()):
        self.steps, rest = [], iter(answers)

        def add_noise(mechanism, value, bits):
            white = mechanism.noise.whiten(value)
            noise = np.random.default_rng(len(self.steps)).normal(size=white.shape)
            noisy = next(rest, None)
            if noisy is None:
                noisy = mechanism.noise.colour(white + noise / 9)
            self.steps.append((mechanism, value, noisy))
            return noisy

        monkeypatch.setattr(AdditiveMechanism, "add_noise", add_noise)


def table(rows, who):
    text = io.StringIO()
    csv.writer(text).writerows(
        [(*COLUMNS, "who"), *((*row, name) for row, name in zip(rows, who, strict=True))]
    )
    return text.getvalue()


def program(folder, capsys, rows, who, delta, query, **keys):
    """Run bounds, paste and release on records; return what both show."""
    (folder / "people.csv").write_text(table(rows, who))
    (folder / "people.csv.privacy.json").unlink(missing_ok=True)
    text = find(folder, capsys, **{**FEW, **keys, "delta": delta}).out
    mechanism = "gaussian" if delta else "laplace"
    keys = {**FEW, **keys, "delta": delta, "mechanism": mechanism}
    out = str(len(list(folder.iterdir())))
    assert paste(folder, text, query, out, **keys) == 0
    return [
        text,
        *((folder / out / f"{query}{end}").read_text() for end in (".csv", ".receipt.json")),
    ]


def lost(folder, monkeypatch, capsys, rows, delta, query, keys):
    """Return the privacy lost between two files over what is charged, and whether both show alike.

    The second program gets the noisy answers of the first one.
    """
    with monkeypatch.context() as patch:
        first = Tape(patch)
        shown = program(folder, capsys, *rows[0], delta, query, **keys)
        spent = charges(folder)
    with monkeypatch.context() as patch:
        second = Tape(patch, [noisy for *_, noisy in first.steps])
        alike = program(folder, capsys, *rows[1], delta, query, **keys) == shown
    sizes = [
        np.linalg.norm(mechanism.noise.whiten(one - other), 1 if not delta else 2)
        for (mechanism, one, _), (_, other, _) in zip(first.steps, second.steps, strict=True)
    ]
    costs = [charge["mu"] if delta else charge["pure_epsilon"] for charge in spent]
    power = 2 if delta else 1
    return np.linalg.norm(sizes, power) / np.linalg.norm(costs, power), alike


def neighbours(keys, count):
    """Yield pairs of files, each rows and the people of these, that differ in one record or all
    ``count`` of one person."""
    rows = [[str(20 + k % 40), str(4000 + 700 * (k % 7))] for k in range(90)]
    # Identifiers of several kinds, all of them texts.
    who = [("7", "x7", "-1.5")[k // count % 3] + "_" * (k // count // 3) for k in range(90)]
    added = keys.get("adjacency") == "add_or_remove"
    for one, other in [(value, "") for value in VALUES] if added else combinations(VALUES, 2):
        pair = [
            (rows[count:] + [[value, value]] * count, who[count:] + ["new"] * count)
            for value in (one, other)
        ]
        yield (pair[0], (rows[count:], who[count:])) if added else tuple(pair)


@pytest.mark.parametrize(("keys", "count"), UNITS)
@pytest.mark.parametrize(("delta", "query"), [(0, "mean"), (1e-6, "covariance")])
def test_no_neighbours_lose_more_by_bounds_paste_and_release_than_both_charges(
    tmp_path, monkeypatch, capsys, keys, count, delta, query
):
    largest = 0.0
    for rows in neighbours(keys, count):
        share, alike = lost(tmp_path, monkeypatch, capsys, rows, delta, query, keys)
        assert alike
        largest = max(largest, share)
    # Some are as near, so that noise a hundredth too small fails.
    assert 0.99 < largest <= 1 + 1e-9


def test_a_program_that_pastes_the_largest_value_is_refuted(tmp_path, monkeypatch, capsys):
    def read(mechanism, noisy):
        rows = list(csv.DictReader((tmp_path / "people.csv").open()))
        return [(0.0, max(float(row[name] or 0) for row in rows) + 1) for name in COLUMNS]

    monkeypatch.setattr(histogram, "bounds", read)
    rows = [([["20", "4000"]] * 89 + [[value, value]], ["a"] * 90) for value in ("50", "9000")]
    assert not lost(tmp_path, monkeypatch, capsys, rows, 0, "mean", {})[1]


# --- The page's table of errors ------------------------------------------------------------------


def skewed(data):
    """Return patients, or incomes."""
    if data == "patients":
        datasets = pytest.importorskip("sklearn.datasets")
        return datasets.load_diabetes(scaled=False).data[:, [0, 2, 3]]
    return np.random.default_rng(5).lognormal(10, 1, (5000, 1))


def check_errors(errors, says, tolerance):
    """Compare errors with those of the page, which have one digit after the point, or tens."""
    stated = [float(number.replace(",", "")) for number in says.split(", ")]
    assert errors == pytest.approx(stated, rel=tolerance, abs=0.05)
    assert says in (PACKAGE / "own_matrix.md").read_text(encoding="utf-8")


#: Data, public bounds, and the errors of means within them.
PUBLIC = [
    ("patients", [(18, 90), (15, 45), (60, 140)], "0.7, 0.3, 0.8"),
    ("incomes", (0, 1e6), "280"),
    ("incomes", (0, 2e5), "1,380"),
]


@pytest.mark.parametrize("delta", [0, 1e-5])
@pytest.mark.parametrize(("data", "bounds", "says"), PUBLIC)
def test_means_within_public_bounds_have_the_errors_on_the_page(data, bounds, delta, says):
    rows = skewed(data)
    terms = {"missing": "refuse", "delta": delta, "epsilon": 1.0}
    mean = mdp.make_release(rows, query="mean", bounds=bounds, **terms)
    low, high = np.transpose(np.broadcast_to(bounds, (rows.shape[1], 2)))
    clipping = np.clip(rows, low, high).mean(axis=0) - rows.mean(axis=0)
    check_errors(np.hypot([*mean.receipt["noise_std"].values()], clipping), says, 0.02)


FOUND = [("patients", 0, "0.6, 0.4, 1.0"), ("patients", 1e-5, "1.0, 0.5, 1.0")]
FOUND += [("incomes", 0, "630"), ("incomes", 1e-5, "570")]


@pytest.mark.nightly
@pytest.mark.parametrize(("data", "delta", "says"), FOUND)
def test_means_within_private_bounds_have_the_errors_on_the_page(data, delta, says):
    rows, errors, terms = skewed(data), [], {"missing": "refuse", "delta": delta}
    for _ in range(200):
        bounds = mdp.private_bounds(rows, epsilon=0.25, **terms).answer
        # Of a column or two in a thousand noise hides all records, and no bounds are found.
        if len(bounds) < rows.shape[1]:
            continue
        mean = mdp.make_release(rows, query="mean", bounds=bounds, epsilon=0.75, **terms)
        errors.append(np.array(mean.rows[0], dtype=float) - rows.mean(axis=0))
    assert len(errors) >= 195
    check_errors(np.sqrt(np.mean(np.square(errors), axis=0)), says, 0.25)
