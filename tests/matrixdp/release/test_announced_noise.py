"""The noise that recommend and receipts announce is at least that of the answers."""

from itertools import product

import numpy as np
import pytest

from matrixdp import cli
from matrixdp.release import choices, compositions, receipt, release, specification, uncertainty

DRAWS, TOLERANCE, COUNT = 2000, 0.05, 1000
TEXT = """
file = "people.csv"
query = "{query}"
records = {stated}
epsilon = {epsilon}
delta = {delta}
adjacency = "{adjacency}"
mechanism = "{mechanism}"
missing = "refuse"
total = {{epsilon = 9, delta = {total}}}
bounds = {{a = [0, 4], b = [-1, 1], income = [0, 200000]}}
"""
DEFAULTS = {"stated": COUNT, "epsilon": 2, "delta": 1e-6, "adjacency": "replace"}
#: Queries, mechanisms and deltas, each with a neighbouring relation that they serve.
CASES = [
    *product(["mean"], [("laplace", 0), ("gaussian", 1e-6)], ["replace", "add_or_remove"]),
    *product(["second_moments"], [("laplace", 0), ("goe", 1e-6)], ["replace"]),
    *product(
        ["covariance"],
        [("laplace", 0), ("goe", 1e-6), ("analyze_gauss", 1e-6)],
        ["replace", "add_or_remove"],
    ),
]


def write(folder, **keys):
    """Write a specification; return its path."""
    keys = {**DEFAULTS, "mechanism": "recommend", **keys}
    path = folder / "s.toml"
    path.write_text(TEXT.format(**keys, total=1e-5 if keys["delta"] else 0))
    return path


def specified(folder, **keys):
    """Return a specification, and its first option."""
    (spec,) = specification.read_all(write(folder, **keys))
    return spec, choices.options(spec)[0]


def corners(mean, count=COUNT):
    """Return records in the corners of their bounds, with a column's mean at 1 or -1 times it."""
    rows = np.where(np.random.default_rng(3).random((count, 3)) < (1 + mean) / 2, 1.0, -1.0)
    return rows * [1, -1, 1]


def of_columns(spec, answer):
    """Return the number of each column (m,) in half ranges or their squares."""
    if spec.query_name == "mean":
        return answer[0] / spec.half
    return np.diag(answer[:, -len(spec.columns) :]) / spec.half**2


def answers(spec, calibrated, X):
    """Return the numbers of the columns in many releases (draws, m)."""
    rows = np.insert(X, X.shape[1] - 1, 1.0, axis=1) if spec.constant else X
    total = rows.sum(axis=0, keepdims=True) if spec.query_name == "mean" else rows.T @ rows
    value, numbers = total / spec.query.n_records, []
    for noise in calibrated.noise.sample([np.random.default_rng(0)] * DRAWS):
        drawn = noise.T if spec.query_name == "mean" else (noise + noise.T) / 2
        answer = release._answer(spec, spec.output, value + drawn, calibrated.noise_std)
        numbers.append(of_columns(spec, answer))
    return np.array(numbers)


@pytest.mark.parametrize(("query", "mechanism", "adjacency"), CASES)
def test_announced_noise_is_that_of_answers(tmp_path, query, mechanism, adjacency):
    keys = {"query": query, "mechanism": mechanism[0], "delta": mechanism[1]}
    spec, option = specified(tmp_path, **keys, adjacency=adjacency)
    least, largest = uncertainty.deviations(spec, option)
    for mean in (0.0, 0.6, 0.97):
        measured = answers(spec, option.release, corners(mean)).std(axis=0)
        assert (measured <= (1 + TOLERANCE) * largest).all()
        if not mean:
            assert (measured <= (1 + TOLERANCE) * least).all()
            assert (measured >= 0.9 * np.sqrt(least**2 - 0.5 * (least**2) * spec.weighted)).all()
    # Half as many records as were stated have twice the noise.
    if adjacency == "add_or_remove":
        measured = answers(spec, option.release, corners(0.6, COUNT // 2)).std(axis=0)
        assert (measured <= 2 * (1 + TOLERANCE) * largest).all()
        assert measured.max() > 1.2 * largest.max()


@pytest.mark.parametrize("query", ["second_moments", "covariance"])
@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
def test_announced_noise_of_clipped_moments_is_that_of_the_largest_radius(
    tmp_path, query, adjacency
):
    keys = {"query": query, "mechanism": "clipped", "adjacency": adjacency}
    spec, option = specified(tmp_path, **keys, epsilon=12)
    stream, numbers = np.random.default_rng(0), []
    X = corners(0.6)

    def noisy(part, value):
        return value + part.noise.sample([stream])[0]

    for _ in range(300):
        outcome = option.release.run(lambda: [X], noisy)
        numbers.append(of_columns(spec, compositions.answer(spec, spec.output, outcome)))
    least, largest = uncertainty.deviations(spec, option)
    assert largest == pytest.approx(least)
    assert (np.std(numbers, axis=0) <= 1.1 * largest).all()


LINES = {
    ("mean", "replace"): (
        "mean of income: noise of +- 773 on values from 0 to 200,000; a difference below 1,550 "
        "drowns in it",
        "+- is a standard deviation in the unit of the column",
    ),
    ("mean", "add_or_remove"): (
        "mean of income: noise of +- 446, and +- 631 where the mean is at a bound, on values from "
        "0 to 200,000; a difference below 1,260 drowns in it",
        "+- is a standard deviation in the unit of the column, if the file has the stated number "
        "of records: with half as many it is twice as large",
    ),
    ("second_moments", "replace"): (
        "mean square of income: noise of +- 268,000,000 on values from 0 to 40,000,000,000; a mean "
        "square below 535,000,000 drowns in it",
        "+- is a standard deviation in the squared unit of the column",
    ),
    ("covariance", "replace"): (
        "variance of income: noise of +- 89,200,000, and +- 200,000,000 where the mean is at a "
        "bound, on values from 0 to 10,000,000,000; a variance below 399,000,000 drowns in it",
        "+- is a standard deviation in the squared unit of the column",
    ),
    ("components", "replace"): (
        "variance of income: noise of +- 0.00892, and +- 0.02 where the mean is at a bound, on "
        "values from 0 to 1; a variance below 0.0399 drowns in it",
        "+- is a standard deviation in squared half ranges of the column",
    ),
}


#: A mechanism that adds its noise, for queries for which ``recommend`` may take one that clips.
NAMED = dict.fromkeys(("second_moments", "covariance", "components"), "analyze_gauss")


@pytest.mark.parametrize(("query", "adjacency"), LINES)
def test_lines_name_quantity_unit_condition_and_what_drowns(tmp_path, capsys, query, adjacency):
    path = write(
        tmp_path, query=query, adjacency=adjacency, mechanism=NAMED.get(query, "recommend")
    )
    assert cli.main(["recommend", str(path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert {*LINES[query, adjacency]} <= {*printed}
    told = any("where the mean is at a bound" in line for line in printed if "allow" in line)
    assert told == (query in ("covariance", "components") or adjacency == "add_or_remove")


@pytest.mark.parametrize(
    ("query", "more", "names"),
    [
        ("mean", {}, ["noise_std"]),
        ("second_moments", {}, ["noise_std_of_mean_squares_in_the_squared_unit_of_the_column"]),
        (
            "covariance",
            {"mechanism": "laplace"},
            [
                "noise_std_of_variances_in_the_squared_unit_of_the_column_" + case
                for case in ("with_means_in_the_middle_of_the_bounds", "with_means_at_a_bound")
            ],
        ),
        (
            "second_moments",
            {"mechanism": "clipped", "adjacency": "add_or_remove"},
            [
                "noise_std_of_mean_squares_in_the_squared_unit_of_the_column_at_the_largest_radius",
                "noise_std_holds",
            ],
        ),
    ],
)
def test_receipts_name_what_noise_is_of(tmp_path, query, more, names):
    statement = receipt._noise(*specified(tmp_path, query=query, **more))
    names_of_noise = [
        name for name, value in statement.items() if name.startswith("noise_std") and value
    ]
    assert names_of_noise == names


def test_a_number_of_records_that_is_mostly_noise_bounds_nothing(tmp_path, capsys):
    keys = {"query": "covariance", "adjacency": "add_or_remove", "mechanism": "goe"}
    lines = []
    for stated in (COUNT, 30):
        assert cli.main(["recommend", str(write(tmp_path, **keys, stated=stated))]) == 0
        lines.append(capsys.readouterr().out.splitlines()[-2])
    assert ["any factor" in line for line in lines] == [False, True]
    assert "that number has noise of 30% itself" in lines[1]
