"""What a release promises holds where it breaks easily: rounding, refusals, names of files."""

import json

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums, gaussian_dp


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text("age,income\n1,2\n3,4e307\n-1.7e308,6\n")
    return tmp_path


def run(folder, out="out", **keys):
    keys = {"records": 3, "epsilon": 1, "total": {"epsilon": 1, "delta": 1e-6}, **keys}
    return harness.run(folder, out, insist=True, **keys)


def calibrated(query, mechanism=None, epsilon=1.0, delta=1e-6):
    return (mechanism or mdp.Gaussian()).calibrate(query, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("far", [0.0, 1.7e9, 1e12, -1e12])
def test_rounding_of_records_does_not_pass_the_range_of_their_bounds(far):
    query = mdp.MeanQuery(mdp.Box((far,), (far + 1.0,)), 1)
    values = [exact_sums.value(query, [[[far + x]]])[0, 0] for x in np.linspace(-0.5, 1.5, 401)]
    assert (min(values), max(values)) == (far, far + 1)
    assert np.ptp(values) == query.l2_sensitivity


def test_rounding_is_paid_for_in_every_entry_that_a_record_changes(monkeypatch):
    box = mdp.Box.cube(50, 0.0, 1.0)
    moments = calibrated(mdp.SecondMomentQuery(box, 100))
    assert moments.noise.symmetric
    for query, changed in (
        (mdp.SecondMomentQuery(box, 100), 1275),
        (mdp.RecordsQuery(box, 100), 50),
    ):
        release = calibrated(query)
        paid = 2 * safe.STEP * np.sqrt(changed)
        apart = release.statement.mu - paid
        assert release.rounding_factor == pytest.approx(release.mu / apart, rel=1e-11)
        # Whitened values are as much closer together as the noise is larger.
        monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.zeros(count, np.int64))
        value = np.ones(query.shape)
        assert release.release_value(value) == pytest.approx(
            value if changed == 2500 else value.T, abs=2 * safe.STEP * release.noise_std
        )


def test_a_refusal_depends_on_bounds_and_never_on_the_value():
    release = calibrated(mdp.MeanQuery(mdp.Box((0.0,), (1e9,)), 10**9))
    told = []
    for value in (0.0, 1e9):
        with pytest.raises(mdp.InputError, match="smaller epsilon or number of records") as refused:
            release.release_value(np.array([[value]]))
        told.append(str(refused.value))
    assert told[0] == told[1]


def test_any_finite_value_is_clipped_and_none_is_refused(folder):
    assert run(folder) == 0
    fitted = mdp.PrivatePCA(bounds=(0, 1e-3), even_if_useless=True).fit([[1e308, -1e308]] * 5)
    assert np.isfinite(fitted.components_).all()


@pytest.mark.parametrize(
    ("domain", "rows", "exact_mean"),
    [
        (mdp.Box((0.0, 4.0), (1.0, 6.0)), [[np.nan, np.inf], [1e308, -np.inf]], [0.75, 5.0]),
        (mdp.Ball(1.0, 2), [[np.inf, 3.0], [np.nan, np.nan]], [0.5, 0.0]),
        (mdp.Ball(1.0, 2), [[1e308, -1e308], [-np.inf, np.inf]], [0.0, 0.0]),
    ],
)
def test_no_number_decides_whether_there_is_a_release(domain, rows, exact_mean):
    query = mdp.MeanQuery(domain, 2)
    assert exact_sums.value(query, [rows])[:, 0] == pytest.approx(exact_mean, abs=1e-5)
    for one in (query, mdp.RecordsQuery(domain, 2), mdp.SecondMomentQuery(domain, 2)):
        assert np.isfinite(calibrated(one).release(rows)).all()


@pytest.mark.parametrize("kind", [int, np.float32, float, object])
@pytest.mark.parametrize("listed", [False, True])
def test_a_masked_number_is_a_missing_one(kind, listed):
    numbers = np.array([[9, 1], [2, 9]]).astype(kind)
    rows = np.ma.array(numbers, mask=[[True, False], [False, True]])
    missing = np.array([[np.nan, 1], [2, np.nan]])
    query = mdp.RecordsQuery(mdp.Box((0.0, 0.0), (10.0, 4.0)), 2)
    expected = exact_sums.value(query, [missing]).tolist()
    given = [*rows] if listed else rows
    assert exact_sums.value(query, [given]).tolist() == expected == [[5, 2], [1, 2]]


def test_delta_as_stated_has_room_for_the_law_of_noise(folder):
    query = mdp.SecondMomentQuery(mdp.Box.cube(20, -1.0, 1.0), 100)
    for one in mdp.compare_mechanisms(query, epsilon=3.0, delta=1e-9):
        stated = one.release.statement
        used = 0 if stated.mu is None else gaussian_dp.delta(stated.epsilon, stated.mu)
        assert used + stated.sampler_delta <= stated.delta <= 1e-9
    with pytest.raises(mdp.InputError, match="safe noise on 400 numbers alone"):
        mdp.compare_mechanisms(query, epsilon=20.0, delta=0)
    fitted = mdp.PrivatePCA(bounds=(-1, 1), delta=1e-9, even_if_useless=True).fit(np.eye(5))
    assert fitted.mechanism_.statement.delta <= 1e-9
    assert run(folder, mechanism="gaussian") == 0
    receipt = harness.read(folder).receipt
    assert receipt["delta"] == 1e-6
    needed = []
    for epsilon, delta in receipt["curve"]:
        # What holds at one epsilon holds at any larger one, so that the curve never grows.
        needed.append(gaussian_dp.delta(epsilon, receipt["mu"]) + safe.extra_delta(epsilon, 2))
        assert delta == min(needed)
    assert min(needed) < needed[-1]
    (folder / "people.csv.privacy.json").unlink()
    assert run(folder, "pure", delta=None, total={"epsilon": 1, "delta": 0}) == 0
    assert 0 < harness.read(folder, out="pure").receipt["delta"] <= 1e-6


def people(count):
    """Return ages and incomes of so many records, and whose they are."""
    rng = np.random.default_rng(1)
    return np.column_stack([rng.uniform(0, 9, (count, 2)), rng.integers(0, 30, count)])


PERSON = {"person": "who", "per_person": 3, "adjacency": "add_or_remove", "query": "covariance"}
LACKING = np.full((400, 2), 30.0)
LACKING[:100] = np.nan
#: What receipts, messages and details may not show: how many records there are, what they say.
SAME = [
    (
        {},
        [np.linspace(0, 1, 400)[:, None] * [120, 2e5], np.zeros((400, 2)), np.full((400, 2), 9e9)],
    ),
    ({"missing": "present"}, [np.full((400, 2), 30.0), LACKING]),
    *(
        (
            {"query": query, **keys, "adjacency": "add_or_remove"},
            [np.ones((count, 2)) for count in (0, 1, 399, 3000)],
        )
        for query, keys in (
            ("mean", {}),
            ("covariance", {}),
            ("components", {}),
            ("regression", {"target": "income"}),
            ("second_moments", {"mechanism": "clipped"}),
            ("covariance", {"mechanism": "clipped"}),
            ("components", {"mechanism": "clipped"}),
            ("regression", {"target": "income", "mechanism": "clipped"}),
        )
    ),
]

SAME += [
    ({**PERSON, **keys}, [*map(people, (0, 1, 40, 300))]) for keys in ({}, {"mechanism": "clipped"})
]
LIST = {"query": ["mean", "covariance", "regression"], "target": "age"}
SAME += [
    (LIST, [harness.ROWS, np.full((400, 2), 9e9)]),
    ({**LIST, "adjacency": "add_or_remove"}, [np.ones((count, 2)) for count in (0, 3000)]),
]
#: Records of two groups, of one of them, and of none.
GROUPS = [
    np.column_stack([np.ones((400, 2)), who]) for who in (np.arange(400) % 2, [1] * 400, [9] * 400)
]
BY = {"by": "who", "categories": {"who": [0, 1]}}
SAME += [
    (BY, GROUPS),
    ({**BY, "missing": "middle", "adjacency": "add_or_remove"}, [*GROUPS, GROUPS[0][:7]]),
    ({**BY, "query": "counts", "bounds": None, "missing": None}, GROUPS),
]
#: Lines on what the answer shows: a mean beyond its bounds.
ANSWERS = (
    "note: noise",
    "details:",
    "note: income has no mean",
    *(f"note: {group} has no mean" for group in (0, 1)),
    "note: no group has a share",
)


@pytest.mark.parametrize(("keys", "files"), SAME)
def test_nothing_but_the_noisy_answer_depends_on_the_records(tmp_path, capsys, keys, files):
    written = set()
    for number, rows in enumerate(files):
        folder = tmp_path / str(number)
        folder.mkdir()
        harness.save(folder / "people.csv", rows, ("age", "income", "who")[: rows.shape[1]])
        assert harness.run(folder, insist=True, **keys) == 0
        names = np.atleast_1d(keys.get("query", "mean")).tolist()
        answers = [harness.read(folder, name) for name in names]
        output = capsys.readouterr()
        lines = (output.out + output.err).replace(str(folder), "").splitlines()
        told = [line for line in lines if not line.startswith(ANSWERS)]
        (charge,) = harness.charges(folder)
        public = json.dumps({name: charge[name] for name in charge if name != "answer"})
        shown = [text for one in answers for text in (json.dumps(one.receipt), one.page)]
        written.add((*shown, public, *told))
    assert len(written) == 1
