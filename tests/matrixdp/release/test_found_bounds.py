"""A release whose bounds a part of it finds: the charge, the answer, and what is not called so."""

import json
from pathlib import Path

import numpy as np
import pytest

import matrixdp
from matrixdp import cli
from matrixdp.mechanisms.private_bounds import MISSING, SHARE, PrivatelyBounded
from matrixdp.release import choices, ledger, private_bounds, receipt, release, specification

SPECIFICATION = """
file = "people.csv"
query = "QUERY"
records = 2000
epsilon = 1.0
delta = 1e-5
total = {epsilon = 1.0, delta = 1e-5}
missing = "middle"
bounds = "private"
columns = ["age", "income"]
MORE
"""
QUERIES = ("mean", "second_moments", "covariance", "components", "regression")


#: A mean of one column, whose first record is in one of two bins. Both have so many others that
#: the first record decides which count is above the threshold, so that bounds and mean show it.
PAIR = """
file = "{}.csv"
query = "mean"
records = {}
epsilon = {}
delta = {}
total = {{epsilon = 4, delta = {}}}
missing = "refuse"
bounds = "private"
columns = ["x"]
"""
PACKAGE = Path(matrixdp.__file__).parent


def save(folder, rows=None):
    rng = np.random.default_rng(3)
    if rows is None:
        rows = np.column_stack([rng.uniform(20, 80, 2000), rng.lognormal(10, 0.35, 2000)])
    np.savetxt(folder / "people.csv", rows, delimiter=",", header="age,income", comments="")


@pytest.fixture
def folder(tmp_path):
    save(tmp_path)
    return tmp_path


def written(folder, query="mean", more="", **replaced):
    text = SPECIFICATION.replace("QUERY", query).replace("MORE", more)
    lines = {line.partition(" =")[0]: line for line in text.splitlines()}
    for key, value in replaced.items():
        lines[key] = f"{key} = {value}" if value else ""
    path = folder / "s.toml"
    path.write_text("\n".join(lines.values()) + f"\n{more}" * (more not in text))
    return path


def run(folder, out="out", options=(), **given):
    path = written(folder, **given)
    return cli.main(["release", str(path), "--out", str(folder / out), *options])


def content(folder, name, out="out"):
    return json.loads((folder / out / name).read_text())


def are_near(details, sides):
    """Return whether these are the bounds, or wider ones by an empty bin at either end."""
    bounds = details["private_bounds"]
    return set(bounds) == set(sides) and all(
        bounds[name] == side
        or (
            (side and bounds[name][0] in (side[0], side[0] / 2))
            and bounds[name][1] in (side[1], side[1] * 2)
        )
        for name, side in sides.items()
    )


PURE = {"delta": "0", "total": "{epsilon = 1.0, delta = 0}"}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("pure", [False, True])
def test_every_query_is_answered_and_charged_once_in_whole(folder, query, pure):
    more = 'target = "income"' * (query == "regression")
    assert run(folder, query=query, more=more, **(PURE if pure else {})) == 0
    (charge,) = content(folder, "people.csv.privacy.json", ".")["releases"]
    account = ledger.read(folder / "people.csv.privacy.json")
    assert 0.99 < ledger.total_epsilon(account) <= 1
    assert [part["share"] for part in charge["parts"]] == pytest.approx(
        [SHARE, 1 - SHARE], rel=0.01
    )
    details = content(folder, f"{query}.details.json")
    assert are_near(details, {"age": [16, 128], "income": [8192, 65536]})
    assert (folder / "out" / f"{query}.csv").exists()


def test_a_release_in_parts_may_come_second(folder):
    more = 'target = "income"\nmechanism = "clipped"'
    assert run(folder, query="regression", more=more) == 0
    assert set(content(folder, "regression.details.json")) > {"private_bounds"}


def test_the_answer_is_near_where_nothing_is_clipped(folder):
    run(folder)
    age, income = np.loadtxt(folder / "out" / "mean.csv", delimiter=",", skiprows=1)
    assert age == pytest.approx(50, abs=2)
    assert income == pytest.approx(np.exp(10.06), rel=0.1)


@pytest.mark.parametrize("query", QUERIES)
def test_nothing_is_called_an_interval_of_the_answer(folder, query):
    run(folder, query=query, more='target = "income"' * (query == "regression"))
    texts = [file.read_text() for file in (folder / "out").iterdir()]
    assert "interval_" not in "".join(texts)
    assert "clipped" in "".join(texts)
    if query in ("mean", "second_moments"):
        alone = content(folder, f"{query}.details.json")["noise_alone_95_plus_or_minus"]
        assert set(alone) == {"age", "income"}


def test_the_receipt_is_public_and_the_same_whatever_the_records(folder):
    run(folder)
    first = (folder / "out" / "mean.receipt.json").read_text()
    (folder / "people.csv.privacy.json").unlink()
    save(folder, np.random.default_rng(0).normal(size=(2000, 2)))
    run(folder, out="other")
    assert (folder / "other" / "mean.receipt.json").read_text() == first
    assert content(folder, "mean.details.json", "other")["private_bounds"]["age"][0] < 0
    statement = json.loads(first)
    assert statement["missing"] == dict.fromkeys(
        ["age", "income"], "the middle of its private bounds"
    )
    assert "noisy histogram" in statement["private_bounds"]


def test_a_repeated_request_gives_the_same_bytes_and_costs_nothing(folder):
    run(folder)
    run(folder, out="again")
    for file in (folder / "out").iterdir():
        assert (folder / "again" / file.name).read_bytes() == file.read_bytes()
    assert len(content(folder, "people.csv.privacy.json", ".")["releases"]) == 1


def test_without_bounds_nothing_is_released_and_the_charge_stays(folder, capsys):
    save(folder, np.column_stack([np.full(2000, 50.0), np.full(2000, np.nan)]))
    for out in ("out", "again"):
        assert run(folder, out=out) == 0
        assert "no bounds were found for 'income', so that nothing" in capsys.readouterr().out
        assert not (folder / out / "mean.csv").exists()
        details = content(folder, "mean.details.json", out)
        assert are_near(details, {"age": [32, 64], "income": None})
        assert set(details) == {"private_bounds"}
    account = ledger.read(folder / "people.csv.privacy.json")
    assert len(account["releases"]) == 1
    assert ledger.total_epsilon(account) > 0.99


def test_public_bounds_may_stand_beside_private_ones(folder):
    bounds = '[bounds]\nage = [0, 100]\nincome = "private"'
    assert run(folder, query="second_moments", more=bounds, bounds="", columns="") == 0
    details = content(folder, "second_moments.details.json")
    assert are_near(details, {"income": [8192, 65536]})
    spec = specification.read(folder / "s.toml")
    (name,) = spec.private
    assert name == "income"
    assert choices.options(spec)[0].release.search.query.columns == 1


def test_missing_values_are_filled_once_bounds_are_known(folder):
    rows = np.full((2000, 2), np.nan)
    rows[:1000] = [40.0, 20000.0]
    save(folder, rows)
    run(folder)
    age, income = np.loadtxt(folder / "out" / "mean.csv", delimiter=",", skiprows=1)
    assert (age, income) == pytest.approx(((40 + 48) / 2, (20000 + 24576) / 2), rel=0.05)
    spec = specification.read(written(folder, missing="{age = 40}"))
    assert spec.fill.tolist() == [40, MISSING]
    assert run(folder, out="refused", missing='"refuse"', label='"refused"') == 2


@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_both_parts_protect_the_records_of_a_person(folder, relation):
    people = np.arange(4000) // 2
    rows = np.column_stack([np.full((4000, 2), 50.0), people])
    header = "age,income,who"
    np.savetxt(folder / "people.csv", rows, delimiter=",", header=header, comments="")
    more = f'person = "who"\nper_person = 1\nadjacency = "{relation}"'
    assert run(folder, more=more) == 0
    # Half of the records count, in both parts, and none of the others.
    numbers = [
        choices.options(specification.read(written(folder, more=text)))[0].release
        for text in (more, more.replace("per_person = 1", "per_person = 3"))
    ]
    one, three = ((it.search.noise_std, it.inner.noise_std) for it in numbers)
    assert np.divide(three, one) == pytest.approx([3, 3], rel=1e-6)
    assert all(it.inner.query.adjacency == relation for it in numbers)
    assert all(it.search.query.adjacency == relation for it in numbers)


@pytest.mark.parametrize("query", QUERIES)
def test_records_within_any_bounds_are_records_of_the_calibration(folder, query):
    more = 'intercept = false\ntarget = "income"' * (query == "regression")
    spec = specification.read(written(folder, query=query, more=more))
    rows = np.array([[-np.inf, 1e308], [0.0, -5.0], [MISSING, 3.0], [np.inf, -1e-300], [7.0, 9.0]])
    for sides in ([(-8.0, -4.0), (0.0, 2.0)], [(4.0, 8.0), (-(2.0**64), 2.0**64)]):
        bounded = private_bounds.within(spec, sides)
        records = bounded.scaled(rows)
        assert bounded.query == spec.query
        assert (np.abs(records) <= 1).all()
        assert np.isfinite(bounded.fill).all()
        assert (np.abs(bounded.fill - bounded.box.middle) == 0).all()


@pytest.mark.nightly
@pytest.mark.parametrize(("delta", "rmse"), [(0, 630), (1e-5, 500)])
def test_the_mean_of_skewed_incomes_is_as_near_as_the_docs_say(tmp_path, delta, rmse):
    rows = np.random.default_rng(5).lognormal(10, 1, (5000, 1))
    np.savetxt(tmp_path / "1.csv", rows, header="x", comments="")
    (tmp_path / "s.toml").write_text(PAIR.format(1, 5000, 1, delta, delta))
    spec = specification.read(tmp_path / "s.toml")
    draw = release.prepare(spec, choices.options(spec)[0].release, spec.output)
    errors = [draw()[0][0, 0] - rows.mean() for _ in range(200)]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(rmse, rel=0.2)
    assert f" {rmse} |" in (PACKAGE / "own_matrix.md").read_text(encoding="utf-8")


def test_too_few_records_are_refused_before_they_are_charged(folder, capsys):
    save(folder, np.ones((50, 2)))
    assert run(folder, records="50") == 2
    assert "need about 60 records that share a power of two, and there are 50" in (
        capsys.readouterr().err
    )
    assert not (folder / "people.csv.privacy.json").exists()


def test_other_requests_keep_their_digest_and_private_ones_have_another(folder):
    private = specification.read(written(folder))
    bounds = "[bounds]\nage = [-1, 1]\nincome = [-1, 1]"
    public = specification.read(written(folder, more=bounds, bounds="", columns=""))
    assert "private" not in release._request(public, folder)
    assert release._request(private, folder)["private"] == ["age", "income"]


def test_a_share_of_a_total_is_kept(folder):
    path = written(folder, query="", epsilon="", delta="")
    text = path.read_text().replace('query = ""', "")
    path.write_text(
        text + '\n[[release]]\nquery = "mean"\n[[release]]\nquery = "covariance"\nweight = 3\n'
    )
    assert cli.main(["release", str(path), "--out", str(folder / "out")]) == 0
    account = ledger.read(folder / "people.csv.privacy.json")
    assert len(account["releases"]) == 2
    assert 0.99 < ledger.total_epsilon(account) <= 1


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_both_parts_are_calibrated_to_the_whole_before_records_are_read(folder, query):
    spec = specification.read(written(folder, query=query))
    (folder / "people.csv").unlink()
    option = choices.rank(spec)[0][0]
    assert isinstance(option.release, PrivatelyBounded)
    assert ledger.entry(option.release)["mu"] == ledger.cost(option.release)
    assert receipt.build(spec, option, "")["parts"] == option.release.costs


@pytest.mark.parametrize("delta", [0, 1e-5])
def test_noise_decides_on_bounds_of_counts_at_the_threshold(tmp_path, delta):
    (tmp_path / "s.toml").write_text(PAIR.format(1, 200, 1, delta, delta))
    spec = specification.read(tmp_path / "s.toml")
    chosen = choices.options(spec)[0].release
    rows = 2.0 ** (1 + np.arange(200)[:, None] % 60)
    rows[: int(chosen.thresholds[0])] = 1.0
    np.savetxt(tmp_path / "1.csv", rows, header="x", comments="")
    draw = release.prepare(spec, chosen, spec.output)
    assert 5 < sum(draw()[0].size for _ in range(40)) < 35
