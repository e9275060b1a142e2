"""Answers from the command line and from Python: what must not change them, and what must."""

import functools

import harness
import numpy as np
import pytest
from exactness import same_copies

import matrixdp as mdp
from matrixdp.mechanisms import moments
from matrixdp.release.outputs import OUTPUTS

CENTRED = ["mean", "covariance", "components", "regression"]
QUERIES = ["records", "second_moments", *CENTRED]
#: Of one part and, where there is one, of several, clipped to a private radius.
MECHANISMS = {
    query: ("recommend", "clipped")
    if OUTPUTS[query].query_type is mdp.SecondMomentQuery
    else ("recommend",)
    for query in QUERIES
}
CASES = [(query, mechanism) for query in QUERIES for mechanism in MECHANISMS[query]]
LOWER, UPPER = np.array([0.0, -5.0, 0.0]), np.array([120.0, 5.0, 2e5])
NAMES = ["age", "score", "income"]


def people(count=300):
    rng = np.random.default_rng(1)
    age = 30 + 5 * rng.standard_normal(count)
    score = 2 + 0.05 * age + rng.standard_normal(count)
    return np.clip(np.column_stack([age, score, 4e4 + 900 * age - 9e3 * score]), LOWER, UPPER)


@pytest.fixture
def answer(tmp_path, request):
    """Return a function that releases records and returns a name, or a row, to numbers."""

    def run(query, rows, lower, upper, names=NAMES, quiet=True, **keys):
        if quiet:
            request.getfixturevalue("silent")
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        folder.mkdir()
        harness.save(folder / "people.csv", rows, names)
        sides = zip(names, np.transpose([lower, upper]).tolist(), strict=True)
        keys = {"epsilon": 10.0, "records": len(rows), "bounds": dict(sides), **keys}
        if query == "regression":
            keys["target"] = "income"
        total = {"epsilon": keys["epsilon"] + 0.5, "delta": 1e-5}
        assert harness.run(folder, query=query, total=total, **keys) == 0
        result = harness.read(folder, query)
        if query in ("second_moments", "covariance"):
            cells = zip(result.rows, result.numbers, strict=True)
            return {
                (row[0], name): number
                for row, numbers in cells
                for name, number in zip(result.header[1:], numbers, strict=True)
            }
        return dict(zip(result.header, result.numbers.T, strict=True))

    return run


def close(one, other):
    return np.allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(other).max())


@pytest.mark.parametrize(("query", "mechanism"), CASES)
def test_the_order_of_columns_and_of_records_changes_nothing(answer, query, mechanism):
    plain = answer(query, people(), LOWER, UPPER, mechanism=mechanism)
    order = [2, 0, 1]
    names = [NAMES[i] for i in order]
    turned = answer(
        query, people()[:, order], LOWER[order], UPPER[order], names, mechanism=mechanism
    )
    assert all(close(turned[name], plain[name]) for name in plain)
    if query != "records":
        backwards = answer(query, people()[::-1], LOWER, UPPER, mechanism=mechanism)
        assert all(close(value, plain[name]) for name, value in backwards.items())


@pytest.mark.parametrize(("query", "mechanism"), CASES)
@pytest.mark.parametrize("factor", [np.array([12.0, 1.0, 0.001]), np.array([-1.0, 1.0, 1.0])])
def test_a_change_of_unit_or_sign_changes_the_unit_or_sign_alone(answer, query, mechanism, factor):
    plain = answer(query, people(), LOWER, UPPER, mechanism=mechanism)
    sides = np.sort([LOWER * factor, UPPER * factor], axis=0)
    other = answer(query, people() * factor, *sides, mechanism=mechanism)
    units = dict(zip(NAMES, factor, strict=True))
    if query == "components":
        # Components are in half ranges, and have no sign.
        signs = np.sign([units[name] for name in NAMES])
        for k in range(len(plain["age"])):
            one, two = (np.array([part[name][k] for name in NAMES]) for part in (plain, other))
            assert close(two * signs * np.sign((two * signs) @ one), one)
        assert close(other["eigenvalue"], plain["eigenvalue"])
    elif query in ("second_moments", "covariance"):
        for (row, column), value in plain.items():
            assert close(other[row, column] / units[row] / units.get(column, 1), value)
    elif query == "regression":
        assert close(other["intercept"] / units["income"], plain["intercept"])
        for name in ("age", "score"):
            assert close(other[name] * units[name] / units["income"], plain[name])
    else:
        assert all(close(other[name] / units[name], plain[name]) for name in NAMES)


#: Second moments are about zero, which a shift leaves where it is.
ABOUT_A_MEAN = [case for case in CASES if case[0] != "second_moments"]


@pytest.mark.parametrize(("query", "mechanism"), ABOUT_A_MEAN)
def test_a_shift_of_records_and_bounds_shifts_the_answer(answer, query, mechanism):
    shift = np.array([-500.0, 3.0, 1e6])
    plain = answer(query, people(), LOWER, UPPER, mechanism=mechanism)
    other = answer(query, people() + shift, LOWER + shift, UPPER + shift, mechanism=mechanism)
    if query == "regression":
        moved = shift[2] - sum(plain[name] * shift[NAMES.index(name)] for name in ("age", "score"))
        assert close(other["intercept"], plain["intercept"] + moved)
        assert all(close(other[name], plain[name]) for name in ("age", "score"))
    elif query == "components":
        assert all(close(other[name], plain[name]) for name in NAMES)
    elif query == "covariance":
        for (row, column), value in plain.items():
            moved = shift[NAMES.index(row)] if column == "mean" else 0
            assert close(other[row, column] - moved, value)
    else:
        assert all(close(other[n] - shift[i], plain[n]) for i, n in enumerate(NAMES))


@pytest.mark.parametrize(("query", "mechanism"), [*ABOUT_A_MEAN, ("second_moments", "recommend")])
def test_where_the_middle_of_the_bounds_lies_does_not_decide(answer, query, mechanism):
    plain = answer(query, people(), LOWER, UPPER, mechanism=mechanism)
    # Of the same width, so that half ranges are the same; no record is cut.
    moved = np.array([8.0, 0.5, -1e4])
    other = answer(query, people(), LOWER + moved, UPPER + moved, mechanism=mechanism)
    # Second moments are scaled by the largest values, others by half ranges.
    assert all(close(other[name], plain[name]) for name in plain)


def test_covariance_is_that_of_numpy_and_positive(answer):
    rows = people()
    quiet = answer("covariance", rows, LOWER, UPPER, mechanism="gaussian")
    for i, row in enumerate(NAMES):
        assert quiet[row, "mean"] == pytest.approx(rows[:, i].mean(), rel=1e-4)
        for j, column in enumerate(NAMES):
            exact = np.cov(rows.T, bias=True)
            assert abs(quiet[row, column] - exact[i, j]) < 1e-3 * np.sqrt(exact[i, i] * exact[j, j])
    # Where noise is larger than all variances, what is released is no covariance by itself.
    noisy = answer("covariance", rows, LOWER, UPPER, quiet=False, epsilon=0.3)
    matrix = np.array([[noisy[row, column] for column in NAMES] for row in NAMES])
    sides = zip(NAMES, LOWER, UPPER, strict=True)
    scaled = matrix / np.outer(UPPER - LOWER, UPPER - LOWER)
    assert (np.linalg.eigvalsh(scaled) >= -1e-12).all()
    assert all(low <= noisy[name, "mean"] <= high for name, low, high in sides)


#: Columns of unequal units, and what answers with a matrix that is symmetric by its kind.
MIXED = np.random.default_rng(1).uniform(0, 1, (2000, 4)) * [120, 2e5, 30, 1]
SIDES = [(0, 120), (0, 2e5), (0, 30), (0, 1)]
PAID = {"bounds": SIDES, "epsilon": 3, "delta": 1e-6, "even_if_useless": True}
TURN = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]


def released(query, mechanism):
    made = mdp.make_release(MIXED, query=query, mechanism=mechanism, missing="refuse", **PAID)
    raw = made.details.get("raw_covariance", {})
    matrices = [[row[-4:] for row in made.rows], [[*row.values()] for row in raw.values()]]
    return [np.array(matrix) for matrix in matrices if len(matrix)]


def fitted(mechanism):
    pytest.importorskip("sklearn")
    fit = mdp.Covariance(**PAID, mechanism=mechanism).fit(MIXED)
    return [fit.covariance_, fit.raw_covariance_]


def turned():
    query = mdp.SecondMomentQuery(mdp.Box.cube(4, 0.0, 1.0), 2000)
    directional = mdp.DirectionalGaussian(directions=TURN)
    calibrated = directional.calibrate(query, epsilon=3, delta=1e-6)
    return [calibrated.release(MIXED / MIXED.max(axis=0))]


def stack():
    noise = np.random.default_rng().standard_normal((5, 4, 4))
    return [*moments.positive(noise + np.swapaxes(noise, 1, 2))]


ADDITIVE = ("laplace", "gaussian", "analyze_gauss")
SYMMETRIC = {
    **{
        f"{query} {mechanism}": functools.partial(released, query, mechanism)
        for query in ("covariance", "second_moments")
        for mechanism in (*ADDITIVE, "clipped")
    },
    **{f"fit {name}": functools.partial(fitted, name) for name in ("gaussian", "clipped")},
    "along directions": turned,
    "stack": stack,
}


@pytest.mark.parametrize("door", SYMMETRIC)
def test_a_symmetric_answer_equals_its_transpose(door):
    for _ in range(5):
        assert all(same_copies(matrix, matrix.T) for matrix in SYMMETRIC[door]())


@pytest.mark.parametrize("door", ["covariance gaussian", "fit clipped", "stack"])
def test_a_product_of_matrices_alone_is_symmetric_to_rounding(door, monkeypatch):
    """The control: nothing else makes these answers equal their transposes."""
    monkeypatch.setattr(moments, "mirror_upper", lambda stack: stack)
    matrices = [matrix for _ in range(5) for matrix in SYMMETRIC[door]()]
    assert not all(same_copies(matrix, matrix.T) for matrix in matrices)
    assert all(np.allclose(m, m.T, rtol=1e-9, atol=1e-9 * abs(m).max()) for m in matrices)


def test_components_are_those_of_scikit_learn(answer):
    PCA = pytest.importorskip("sklearn.decomposition").PCA
    rows = people()
    exact = PCA(2).fit(rows / ((UPPER - LOWER) / 2))
    found = answer("components", rows, LOWER, UPPER, number=2, mechanism="gaussian")
    vectors = np.column_stack([found[name] for name in NAMES])
    assert np.abs((vectors * exact.components_).sum(axis=1)) == pytest.approx(1, abs=1e-3)
    biased = exact.explained_variance_ * (len(rows) - 1) / len(rows)
    assert found["eigenvalue"] == pytest.approx(biased, rel=1e-3)
    assert found["share"] == pytest.approx(exact.explained_variance_ratio_, rel=1e-3)


@pytest.mark.parametrize("mechanism", ["recommend", "clipped"])
@pytest.mark.parametrize(("alpha", "intercept"), [(5.0, True), (0.0, False), (5.0, False)])
def test_penalty_and_intercept_are_those_of_python_and_of_scikit_learn(
    answer, mechanism, alpha, intercept
):
    Ridge = pytest.importorskip("sklearn.linear_model").Ridge
    rows = people(20_000)
    more = {"alpha": alpha, "intercept": intercept, "mechanism": mechanism}
    # Scores have small bounds here, so that a penalty counts.
    rows[:, 1] /= 100
    lower, upper = LOWER / [1, 100, 1], UPPER / [1, 100, 1]
    found = answer("regression", rows, lower, upper, **more)
    ridge = mdp.PrivateRidge(
        bounds={i: (lower[i], upper[i]) for i in range(2)},
        target_bounds=(lower[2], upper[2]),
        epsilon=10.0,
        mechanism=mechanism,
        alpha=alpha,
        fit_intercept=intercept,
    ).fit(rows[:, :2], rows[:, 2])
    assert [found["age"][0], found["score"][0]] == pytest.approx(ridge.coef_, rel=1e-6)
    assert found["intercept"][0] == pytest.approx(ridge.intercept_, rel=1e-6)
    if mechanism != "recommend":
        # Clipped records have a radius as large as a ridge of a twentieth of the mean eigenvalue
        # allows.
        return
    exact = Ridge(alpha, fit_intercept=intercept).fit(rows[:, :2], rows[:, 2])
    expected = exact.predict(rows[:, :2])
    off = ridge.predict(rows[:, :2]) - expected
    assert np.std(off) < 0.05 * np.std(expected)
    assert abs(np.mean(off)) < 0.05 * np.std(expected)


@pytest.mark.parametrize("query", ["records", "mean", "second_moments"])
def test_a_release_in_python_is_the_answer_of_the_command_line(answer, query):
    kind, box = OUTPUTS[query].query_type, mdp.Box(tuple(LOWER), tuple(UPPER))
    found = answer(query, people(), LOWER, UPPER)
    for option in mdp.compare_mechanisms(kind(box, len(people())), epsilon=10, delta=1e-6):
        private = option.release.release(people())
        for i, name in enumerate(NAMES):
            column = (
                [found[row, name] for row in NAMES] if query == "second_moments" else found[name]
            )
            assert close(private[:, i], column)


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize(
    ("query", "mechanism", "expected"),
    [("mean", "gaussian", 0.3), ("covariance", "gaussian", 0.09), ("covariance", "clipped", 0.09)],
)
def test_a_record_longer_than_max_norm_is_shortened_to_it(query, mechanism, adjacency, expected):
    """Half of the records are 0 and half of length 10, which count as if they were 0.6 and 0.8."""
    rows = np.zeros((40_000, 2))
    rows[::2] = 6.0, 8.0
    settings = {"mechanism": mechanism, "adjacency": adjacency, "epsilon": 12.0, "delta": 1e-4}
    made = mdp.make_release(
        rows,
        query=query,
        bounds=(-20, 20),
        max_norm=1.0,
        records=len(rows),
        missing="refuse",
        **settings,
    )
    # A name and a mean stand before each row of a covariance.
    number = made.rows[0][2 if query == "covariance" else 0]
    assert number == pytest.approx(expected, abs=0.01)


FITS = ["covariance", "components", "regression"]


@pytest.mark.parametrize("norm", [{}, {"max_norm": 5e4}])
@pytest.mark.parametrize(("query", "mechanism"), [(q, m) for q in FITS for m in MECHANISMS[q]])
def test_a_fit_in_python_is_the_answer_of_the_command_line(
    answer, query, mechanism, norm, tmp_path
):
    rows = people()
    found = answer(query, rows, LOWER, UPPER, mechanism=mechanism, **norm)
    # Of the same total, so that the same mechanism is chosen: a ridge follows from its noise.
    account = mdp.Account(tmp_path / "other.json", epsilon=10.5, delta=1e-5)
    given = {"epsilon": 10.0, "mechanism": mechanism, "account": account, **norm}
    if query == "regression":
        sides = {
            "bounds": {i: (LOWER[i], UPPER[i]) for i in range(2)},
            "target_bounds": (LOWER[2], UPPER[2]),
        }
        fitted = mdp.PrivateRidge(**sides, **given).fit(rows[:, :2], rows[:, 2])
        assert close(
            [*fitted.coef_, fitted.intercept_], [found[n][0] for n in [*NAMES[:2], "intercept"]]
        )
        return
    if query == "covariance":
        fitted = mdp.Covariance(bounds=np.column_stack([LOWER, UPPER]), **given).fit(rows)
        for i, row in enumerate(NAMES):
            assert close(fitted.location_[i], found[row, "mean"])
            assert close(fitted.covariance_[i], [found[row, name] for name in NAMES])
        return
    fitted = mdp.PrivatePCA(3, bounds=np.column_stack([LOWER, UPPER]), **given).fit(rows)
    vectors = np.column_stack([found[name] for name in NAMES])
    assert close(fitted.components_, vectors)
    assert close(fitted.explained_variance_, found["eigenvalue"])
    assert close(fitted.explained_variance_ratio_, found["share"])


#: Releases whose noise takes means beyond their bounds: query, and keys beside it.
FAR = [
    *(("mean", {"adjacency": name}) for name in ("replace", "add_or_remove")),
    ("mean", {"mechanism": "gaussian", "delta": 1e-6}),
    ("mean", {"missing": "present"}),
    ("mean", {"max_norm": 300.0}),
    ("mean", {"max_norm": 300.0, "adjacency": "add_or_remove"}),
    ("covariance", {}),
    ("covariance", {"adjacency": "add_or_remove"}),
    ("covariance", {"max_norm": 300.0, "delta": 1e-6}),
]


@pytest.mark.parametrize(("query", "keys"), FAR)
def test_a_mean_beyond_its_bounds_is_clipped_and_stands_as_it_was_in_the_details(query, keys):
    pytest.importorskip("pandas", reason="an answer is a frame with it alone")
    rows, beyond = np.tile([0.0, 5.0], (60, 1)), 0
    settings = {"missing": "refuse", "epsilon": 2.0, **keys}
    for _ in range(20):
        made = mdp.make_release(
            rows,
            query=query,
            bounds={0: (0, 120), 1: (-5, 5)},
            records=60,
            even_if_useless=True,
            **settings,
        )
        means = made.answer.iloc[0] if query == "mean" else made.answer["mean"]
        raw = made.details.get("unclipped_mean", {})
        said = "beyond its bounds, and the answer has" in " ".join(made.notes)
        assert said == bool(raw)
        assert "put at the nearest bound" in made.page
        for name, low, high in (("0", 0, 120), ("1", -5, 5)):
            assert np.isnan(means[name]) or low <= means[name] <= high
            if name in raw:
                assert not low <= raw[name] <= high
                assert means[name] == pytest.approx(np.clip(raw[name], low, high))
        beyond += len(raw)
    assert beyond


@pytest.mark.parametrize("query", ["records", "second_moments"])
def test_noisy_records_and_second_moments_stay_as_they_are(query):
    settings = {"bounds": (0, 1), "epsilon": 1.0, "missing": "refuse", "even_if_useless": True}
    made = mdp.make_release(np.ones((20, 9)), query=query, **settings)
    numbers = np.array([row[-9:] for row in made.rows], dtype=float)
    assert (numbers > 1).any()
    assert "unclipped_mean" not in made.details


@pytest.mark.parametrize("mechanism", ["clipped", "gaussian"])
@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
def test_a_covariance_is_one_that_records_can_have_and_its_raw_values_average_out(
    mechanism, adjacency
):
    """Values of (0, 120) and (-5, 5) at their bounds, where noise of epsilon 2 is large."""
    pytest.importorskip("pandas", reason="an answer is a frame with it alone")
    half, rows = np.array([60.0, 5.0]), np.tile([[0.0, 5.0], [120.0, -5.0]], (30, 1))
    raws, answers, beyond = [], [], 0
    for _ in range(25):
        release = mdp.make_release(
            rows,
            query="covariance",
            bounds={0: (0, 120), 1: (-5, 5)},
            records=60,
            epsilon=2.0,
            delta=1e-6,
            missing="refuse",
            adjacency=adjacency,
            mechanism=mechanism,
            even_if_useless=True,
        )
        answer = release.answer[["0", "1"]].to_numpy()
        raw = np.array([[*row.values()] for row in release.details["raw_covariance"].values()])
        assert (np.diag(answer) <= half**2 * (1 + 1e-9)).all()
        assert np.linalg.eigvalsh(answer / np.outer(half, half)).min() > -1e-9
        beyond += (np.diag(raw) > half**2).any()
        answers.append(answer[0, 0] / half[0] ** 2)
        raws.append(raw[0, 0] / half[0] ** 2)
    # About a private mean, a small radius clips more than the noise adds.
    assert beyond or (mechanism, adjacency) == ("clipped", "replace")
    assert np.mean(answers) < 1
    # The control: clipped values average to less than those that the noise left.
    if (mechanism, adjacency) == ("gaussian", "replace"):
        error = np.std(raws) / np.sqrt(len(raws))
        assert abs(np.mean(raws) - 1) < 5 * error
