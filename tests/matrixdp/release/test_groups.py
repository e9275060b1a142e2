"""Means, counts and shares by group: whose group a record counts in, and what stands where."""

import datetime
import json
from dataclasses import replace

import harness
import numpy as np
import pandas as pd
import pytest
from harness import charges

import matrixdp as mdp
from matrixdp.noise import safe
from matrixdp.release import plans, storage, tables
from matrixdp.release.notation import Categories, Dialect

pa = pytest.importorskip("pyarrow")

#: Cells of CSV, a pair of categories, and the place of the cell's category.
CELLS = [
    ("north", ("north", "south"), 0),
    (" South ", ("north", "south"), 1),
    ('"south"', ("north", "south"), 1),
    ("", ("north", "south"), -1),
    ("NA", ("north", "south"), -1),
    ("NA", ("na", "sa"), 0),
    ("east", ("north", "south"), -1),
    ("1", (1, 2), 0),
    ("2.0", (1, 2), 1),
    ("2e0", ("1", "2"), 1),
    ("1.5", (1, 2), -1),
    ("inf", (1, 2), -1),
    ("nan", (1, 2), -1),
    ("1_0", (10, 2), -1),
    ("TRUE", (False, True), 1),
    ("1", ("false", "true"), 1),
    ("Zu\u0308rich", ("z\u00fcrich", "bern"), 0),
]


def spec(folder, categories, file="people.csv", column="g", **keys):
    by = {"by": column, "categories": {column: [*categories]}, "file": file, "records": 1}
    counts = {"query": "counts", "bounds": None, "missing": None}
    return harness.spec(folder, **{**counts, **by, **keys})


def read(made, frame=None):
    """Return the records that a specification reads."""
    columns, fill, book = made.layout
    more = {"frame": frame, "book": book}
    blocks = tables.blocks(made.file, columns, fill, made.people, made.dialect, **more)
    return np.concatenate([*blocks])


@pytest.mark.parametrize(("cell", "categories", "place"), CELLS)
def test_a_cell_decides_alone_in_which_group_its_record_is(tmp_path, cell, categories, place):
    made = spec(tmp_path, categories)
    for others in ([], [str(categories[0])] * 3, ["x", "", "1", '"7"']):
        text = "\n".join(["h,g", f"1,{cell}", *(f"2,{other}" for other in others), ""])
        (tmp_path / "people.csv").write_text(text, encoding="utf-8")
        assert read(made)[0].tolist() == [place]


DAYS = ("2020-01-01", "2020-01-02")
#: Columns of other formats, pairs of categories, and the places of their cells.
COLUMNS = [
    (["north", None, "South"], ("north", "south"), [0, -1, 1]),
    ([1, 2, 3], (1, 2), [0, 1, -1]),
    ([1.0, np.nan, 2.0], ("1", "2"), [0, -1, 1]),
    (np.array([0.1, 0.2, 3], np.float32), (0.1, 0.2), [0, 1, -1]),
    ([True, False, True], (False, True), [1, 0, 1]),
    ([1, 2, 3], ("north", "south"), [-1, -1, -1]),
    (["1", "x", "2.0"], (1, 2), [0, -1, 1]),
    (pd.to_datetime(["2020-01-01"] * 3), (1, 2), [-1, -1, -1]),
    (pd.to_datetime(["2020-01-01", "2020-01-02", None]), DAYS, [0, 1, -1]),
    ([datetime.date(2020, 1, 2), None, datetime.date(2020, 1, 1)], DAYS, [1, -1, 0]),
    (pd.to_datetime(["2020-01-02 01:00"]).tz_localize("Etc/GMT-1"), DAYS, [1]),
    (pd.to_datetime(["2020-01-02 00:00"]).tz_localize("Etc/GMT-1"), DAYS, [-1]),
    (
        pd.to_datetime(["2020-01-01 12:30", "2020-01-02 00:00"]),
        ("2020-01-01 12:30:00", DAYS[1]),
        [0, 1],
    ),
    (pd.to_datetime(["2020-01-01 00:00:00.25"]), ("2020-01-01 00:00:00.25", DAYS[0]), [0]),
    (pd.to_timedelta([1, 2, 3], "ns"), (1, 2), [-1, -1, -1]),
    (pd.Categorical(["north", "x", "north"]), ("north", "south"), [0, -1, 0]),
    (pd.array([1, None, 2], "Int64"), (1, 2), [0, -1, 1]),
    (pd.array(["north", None, "x"], "string"), ("north", "south"), [0, -1, -1]),
]
#: What a column of objects may hold beside texts.
ODD = [b"north", object(), [1], 1j, 10**400, np.longdouble(1), np.ma.masked, pd.NA, {"a": 1}]
ODD += [pd.NaT, np.datetime64("NaT"), datetime.time(7), datetime.timedelta(1)]
ODD += [datetime.datetime.max.replace(tzinfo=datetime.timezone(-datetime.timedelta(hours=1)))]


@pytest.mark.parametrize(("cells", "categories", "places"), COLUMNS)
def test_no_type_of_a_column_is_refused(tmp_path, cells, categories, places):
    frame = pd.DataFrame({"g": cells})
    made = spec(tmp_path, categories, records=len(frame))
    assert read(made, frame)[:, 0].tolist() == places
    frame.to_parquet(tmp_path / "people.parquet")
    made = spec(tmp_path, categories, file="people.parquet", records=len(frame))
    assert read(made)[:, 0].tolist() == places
    array = np.asarray(cells)
    if array.dtype.kind in "biuf":
        np.save(tmp_path / "people.npy", array[:, None])
        made = spec(tmp_path, categories, file="people.npy", column="0", records=3)
        assert read(made)[:, 0].tolist() == places


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_no_object_is_refused(tmp_path, odd, recwarn):
    column = np.empty(2, dtype=object)
    column[:] = ["north", "south"]
    column[0] = odd
    made = spec(tmp_path, ("north", "1"), records=2)
    expected = 1 if isinstance(odd, np.longdouble) else -1
    assert read(made, pd.DataFrame({"g": column}))[:, 0].tolist() == [expected, -1]
    assert not recwarn.list


def test_a_number_has_the_decimals_of_its_file():
    categories = Categories(("1.5", "2"), (1.5, 2.0))
    assert categories.place("1,5", Dialect(";", ",")) == 0
    assert categories.place("1.5", Dialect(";", ",")) == -1
    assert categories.place("1,5", Dialect()) == -1


# --- Answers ----------------------------------------------------------------------------------

RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame(
    {
        "region": RNG.choice(["north", "South", "east", "west", "?"], 400),
        "age": RNG.uniform(-10, 150, 400).round(),
        "income": RNG.gamma(2, 20_000, 400).round(),
        "who": np.arange(400) // 3,
    }
)
BY = {"by": "region", "categories": {"region": ["north", "south", "west", "nobody"]}}
BOUNDS = {"age": [0, 120], "income": [0, 200_000]}


def exact(rows):
    """Return the exact numbers of records and clipped means of the first three categories."""
    rows = rows.assign(region=rows.region.str.lower())
    for name, (low, high) in BOUNDS.items():
        rows[name] = rows[name].clip(low, high)
    groups = rows.groupby("region")
    names = BY["categories"]["region"][:3]
    return groups.size()[names].to_numpy(), groups[[*BOUNDS]].mean().loc[names].to_numpy()


@pytest.mark.parametrize(
    ("mechanism", "adjacency", "person"),
    [
        ("laplace", "replace", False),
        ("gaussian", "add_or_remove", False),
        ("gaussian", "replace", True),
    ],
)
def test_without_noise_all_doors_give_the_exact_numbers(
    tmp_path, silent, mechanism, adjacency, person
):
    people = {"person": "who", "per_person": 2} if person else {}
    rows = PEOPLE[mdp.bound_contributions(PEOPLE.who, 2)] if person else PEOPLE
    counts, means = exact(rows)
    keys = {**BY, **people, "adjacency": adjacency, "mechanism": mechanism, "epsilon": 2.0}
    keys |= {"delta": 1e-6, "records": len(rows)}
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    assert harness.run(tmp_path, **keys, bounds=BOUNDS) == 0
    of_file = harness.read(tmp_path)
    assert of_file.header == ["", "count", "age", "income"]
    assert [row[0] for row in of_file.rows] == BY["categories"]["region"]
    made = mdp.make_release(PEOPLE, query="mean", missing="refuse", bounds=BOUNDS, **keys)
    for numbers in (of_file.numbers, np.asarray(made.answer, float)):
        assert numbers[:3, 0] == pytest.approx(counts, rel=1e-6)
        assert numbers[:3, 1:] == pytest.approx(means, rel=1e-6)
        # Of a group without records there is no mean.
        assert numbers[3, 0] == pytest.approx(0, abs=1e-6)
        assert np.isnan(numbers[3, 1:]).all()
    assert [row[2:] for row in of_file.rows[3:]] == [["", ""]]
    assert "nobody has no mean" in of_file.details["empty"][0]
    shares = mdp.make_release(PEOPLE, query="counts", **keys).answer
    numbers = np.asarray(shares, float)
    assert numbers[:3, 0] == pytest.approx(counts, rel=1e-6)
    assert numbers[:3, 1] == pytest.approx(counts / counts.sum(), rel=1e-6)


def test_all_intervals_stand_beside_the_answer():
    made = mdp.make_release(PEOPLE, query="mean", bounds=BOUNDS, epsilon=3, missing="middle", **BY)
    _, means = exact(PEOPLE)
    names = BY["categories"]["region"]
    intervals = made.details["interval_95"]
    assert [*intervals["count"]] == names
    assert {*intervals["mean"]} <= {*names}
    for k, name in enumerate(names[:3]):
        low, high = intervals["mean"][name]["age"]
        assert low < high
        assert abs((low + high) / 2 - means[k, 0]) < 2 * (high - low)
    assert made.receipt["interval_95_plus_or_minus_of_counts"] > 0
    assert "by region" in made.page
    assert "one of none of them counts in no group" in made.page


MEAN = {"query": "mean", "bounds": BOUNDS, "missing": "refuse"}
#: Keys under which there may be no record.
NONE = {"epsilon": 2, "records": 400, "adjacency": "add_or_remove"}


@pytest.fixture
def _below(monkeypatch):
    """Take every noisy number far below 0."""
    size = -3 * 2**26
    monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.full(count, size, np.int64))


@pytest.mark.usefixtures("_below")
@pytest.mark.parametrize("keys", [{"query": "counts"}, MEAN], ids=["counts", "mean"])
def test_a_count_beyond_what_it_can_be_is_put_there(keys):
    made = mdp.make_release(PEOPLE[:0], **BY, **NONE, **keys)
    answer = np.asarray(made.answer, float)
    assert answer[:, 0].tolist() == [0] * 4
    assert np.isnan(answer[:, 1:]).all()
    assert max(made.details["unclipped_count"].values()) < -1
    assert made.details["interval_95"]["count"]["north"][0] == 0


@pytest.mark.usefixtures("_below")
def test_shares_of_no_noisy_records_are_empty_and_say_so():
    made = mdp.make_release(PEOPLE[:0], query="counts", **BY, **NONE)
    assert made.details["interval_95"]["share"]["north"] == [0, 1]
    assert any("no group has a share" in note for note in made.notes)


def test_recommend_says_the_noise_of_a_group_of_an_even_share(tmp_path, capsys):
    keys = {**BY, "records": 2000, "mechanism": "laplace"}
    assert harness.run(tmp_path, verb="recommend", bounds=BOUNDS, **keys) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "in the mean of age, +- " in first
    assert "for a group of 500 records, an even share of all, and in means 1 / k of it" in first
    counts = {**keys, "query": "counts", "bounds": None, "missing": None}
    assert harness.run(tmp_path, verb="recommend", **counts) == 0
    assert (
        "noise of +- 1.41 in the count of each group, 0.0028 of an even" in capsys.readouterr().out
    )


@pytest.mark.parametrize("query", ["mean", "counts"])
def test_what_noise_hides_in_an_even_share_is_refused(query):
    stated = {"bounds": BOUNDS, "missing": "refuse"} if query == "mean" else {}
    many = {"by": "region", "categories": {"region": [*map(str, range(100))]}}
    with pytest.raises(mdp.InputError, match="it hides everything, do not release this"):
        mdp.make_release(PEOPLE, query=query, epsilon=0.1, **many, **stated)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_announced_noise_is_that_of_answers(tmp_path, mechanism):
    """Of two groups with an even share each, and means at their bounds, the worst case."""
    made = harness.spec(tmp_path, by="g", categories={"g": ["a", "b"]}, mechanism=mechanism)
    (option,) = harness.options(made)
    rows = np.column_stack([np.tile([120.0, 200_000.0], (400, 1)), np.arange(400) % 2])
    value = made.scaled(rows).mean(axis=0)[:, None]
    release, read = option.release, []
    for noise in release.noise.sample(np.random.default_rng(1), 500):
        noisy = made.noisy(type("Noise", (), {"release": release}), value + noise)
        read.append([*(made._counts(noisy)[0]), *made._means(noisy).values.ravel()])
    counts, means = np.split(np.std(read, axis=0), [2])
    announced = made.noise_of(option)
    assert counts == pytest.approx(announced["noise_std_of_counts"], rel=0.1)
    stated = [*announced["noise_std_for_a_group_of_an_even_share"].values()]
    assert means.reshape(2, 2) * made.half == pytest.approx(np.array([stated] * 2), rel=0.12)


# --- Accounts ---------------------------------------------------------------------------------


def test_a_repeated_request_is_free_and_other_categories_are_another(tmp_path, capsys):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    keys = {**BY, "bounds": BOUNDS, "total": {"epsilon": 9, "delta": 1e-4}}
    keys["mechanism"] = "gaussian"
    assert harness.run(tmp_path, "one", **keys) == 0
    assert harness.run(tmp_path, "two", **keys) == 0
    assert "not charged" in capsys.readouterr().err
    assert len(charges(tmp_path)) == 1
    assert harness.read(tmp_path, out="one").rows == harness.read(tmp_path, out="two").rows
    for number, change in enumerate(
        (
            {"query": ["mean", "covariance"], "by": None, "categories": None},
            {"label": "not read from those moments"},
            {"categories": {"region": ["north", "south"]}},
            {"by": "who", "categories": {"who": [1, 2]}},
            {"by": None, "categories": None, "label": "all"},
            {"query": "counts", "bounds": None, "missing": None},
        )
    ):
        assert harness.run(tmp_path, f"other{number}", insist=True, **{**keys, **change}) == 0
        assert len(charges(tmp_path)) == 2 + number


def test_a_request_without_groups_has_the_digest_that_it_had(tmp_path):
    made = harness.spec(tmp_path)
    assert "by" not in json.dumps(made.request(tmp_path))
    other = harness.spec(tmp_path, **{**BY, "bounds": BOUNDS})
    digests = {storage.digest(one.request(tmp_path)) for one in (made, other)}
    assert len(digests) == 2


def test_several_releases_share_categories(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    shared = {"categories": {**BY["categories"], "who": [1, 2]}, "bounds": BOUNDS}
    several = [
        {"query": "mean", "by": "region"},
        {"query": "counts", "by": "who", "weight": 2},
        {"query": "mean", "label": "all"},
    ]
    total = {"epsilon": 9, "delta": 1e-4}
    assert harness.run(tmp_path, insist=True, releases=several, **shared, total=total) == 0
    assert [charge["query"] for charge in charges(tmp_path)] == ["mean", "counts", "mean"]


def test_parts_of_a_folder_have_groups(tmp_path):
    (tmp_path / "parts").mkdir()
    for k, part in enumerate(np.array_split(np.arange(400), 3)):
        PEOPLE.iloc[part].to_csv(tmp_path / f"parts/{k}.csv", index=False)
    made = harness.spec(tmp_path, **BY, bounds=BOUNDS, file="parts")
    rows = read(made)
    assert [*np.bincount(rows[rows[:, 2] >= 0, 2].astype(int))] == [*exact(PEOPLE)[0]]


def test_many_categories_have_room_on_the_disk(tmp_path):
    """The space that is reserved before the charge holds the files of the answer."""
    names = [f"a rather long name of a small region {k}" for k in range(300)]
    by = {"by": "region", "categories": {"region": names}, "bounds": BOUNDS}
    made = replace(harness.spec(tmp_path, **by), frame=PEOPLE)
    plan = plans.plan(made, even_if_useless=True)
    draw, (description,) = plan._prepare("2020-01-01", {})
    sizes = description.sizes(plan.mechanism.numbers)
    for name, text in description.answer(draw(), plan.output).files().items():
        assert len(text.encode()) <= sizes[name]
