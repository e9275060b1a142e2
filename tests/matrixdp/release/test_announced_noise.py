"""The noise that recommend and receipts announce is at least that of the answers."""

from itertools import product

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.uncertainty import MomentNoise

DRAWS, TOLERANCE, COUNT = 2000, 0.05, 1000
KEYS = {"records": COUNT, "bounds": {"a": [0, 4], "b": [-1, 1], "income": [0, 200_000]}}
#: Queries, mechanisms and deltas, each with a neighbouring relation that they serve.
CASES = [
    *product(["mean"], [("laplace", 0), ("gaussian", 1e-6)], ["replace", "add_or_remove"]),
    *product(["second_moments"], [("laplace", 0), ("gaussian", 1e-6)], ["replace"]),
    *product(
        ["covariance"],
        [("laplace", 0), ("gaussian", 1e-6), ("analyze_gauss", 1e-6)],
        ["replace", "add_or_remove"],
    ),
]


def specified(folder, **keys):
    """Return a specification, and its first option."""
    spec = harness.spec(folder, **{**KEYS, **keys})
    return spec, harness.options(spec)[0]


def corners(mean, count=COUNT):
    """Return records in the corners of their bounds, with a column's mean at 1 or -1 times it."""
    rows = np.where(np.random.default_rng(3).random((count, 3)) < (1 + mean) / 2, 1.0, -1.0)
    return rows * [1, -1, 1]


def of_columns(spec, answer):
    """Return the number of each column (m,) in half ranges or their squares."""
    if spec.name == "mean":
        return answer[0] / spec.half
    return np.diag(answer[:, -len(spec.columns) :]) / spec.half**2


def answers(spec, calibrated, X):
    """Return the numbers of the columns in many releases (draws, m)."""
    rows = np.insert(X, X.shape[1] - 1, 1.0, axis=1) if spec.constant else X
    total = rows.sum(axis=0, keepdims=True) if spec.name == "mean" else rows.T @ rows
    value, numbers = total / spec.records, []
    for noise in calibrated.noise.sample(np.random.default_rng(0), DRAWS):
        drawn = noise.T if spec.name == "mean" else (noise + noise.T) / 2
        noisy = spec.noisy(MomentNoise(calibrated), value + drawn)
        numbers.append(of_columns(spec, spec.answer(noisy)))
    return np.array(numbers)


@pytest.mark.parametrize(("query", "mechanism", "adjacency"), CASES)
def test_announced_noise_is_that_of_answers(tmp_path, query, mechanism, adjacency):
    keys = {"query": query, "mechanism": mechanism[0], "delta": mechanism[1]}
    spec, option = specified(tmp_path, **keys, adjacency=adjacency)
    least, largest = spec.deviations(option.release)
    # A variance at its bound would be cut there.
    size = 0.9 if query == "covariance" else 1.0
    for mean in (0.0, 0.6, 0.97):
        measured = answers(spec, option.release, size * corners(mean)).std(axis=0)
        assert (measured <= (1 + TOLERANCE) * largest).all()
        if not mean:
            assert (measured <= (1 + TOLERANCE) * least).all()
            share = 0.5 * spec.query.add_or_remove
            assert (measured >= 0.9 * np.sqrt(least**2 - share * (least**2))).all()
    # Half as many records as were stated have twice the noise.
    if adjacency == "add_or_remove":
        measured = answers(spec, option.release, size * corners(0.6, COUNT // 2)).std(axis=0)
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
        return value + part.noise.sample(stream, 1)[0]

    for _ in range(300):
        outcome = option.release.run(lambda: [X], noisy)
        result = Noisy.of_parts(spec, option.release, outcome)
        numbers.append(of_columns(spec, spec.answer(result)))
    least, largest = spec.deviations(option.release)
    assert largest == pytest.approx(least)
    assert (np.std(numbers, axis=0) <= 1.1 * largest).all()


def test_noise_of_parts_is_stated_as_it_is_drawn():
    """At a small epsilon the noise is far larger than the ideal one, to cover roundings."""
    query = mdp.SecondMomentQuery(mdp.Box.cube(16, -1.0, 1.0), COUNT)
    release = ComposedMoments.calibrated(Centred(), query, epsilon=1e-6, delta=1e-6)
    bits, program = np.random.default_rng(0).bytes, release.program
    stated = [
        (program.mean, release.centre_std, program.centre_std),
        (program.about.lengths, release.count_std, program.about.count_std),
    ]
    for part, std, ideal in stated:
        value = np.zeros(part.query.shape)
        drawn = [part.add_noise(value, bits) for _ in range(4000 // value.size)]
        measured = np.sqrt(np.square(drawn).mean())
        assert measured == pytest.approx(std, rel=0.05)
        # The control: the ideal noise is another one.
        assert measured != pytest.approx(ideal, rel=0.05)


#: Requests, and parts of the lines of ``recommend``: quantity, noise, unit, what drowns.
LINES = [
    (
        "mean",
        "replace",
        "mean of income: noise of +- 773 on values from 0 to 200,000",
        "unit of the",
    ),
    ("mean", "add_or_remove", "mean of income: noise of +- 446, and +- 631", "twice as large"),
    ("second_moments", "replace", "mean square of income: noise of +- 268,000,000", "squared unit"),
    ("covariance", "replace", "variance of income: noise of +- 89,200,000", "in the squared unit"),
    ("components", "replace", "variance of income: noise of +- 0.00892", "squared half ranges"),
]


@pytest.mark.parametrize(("query", "adjacency", "noise", "unit"), LINES)
def test_lines_name_quantity_noise_unit_and_what_drowns(
    tmp_path, capsys, query, adjacency, noise, unit
):
    # Not one that clips.
    mechanism = "recommend" if query == "mean" else "analyze_gauss"
    keys = {**KEYS, "query": query, "adjacency": adjacency, "mechanism": mechanism}
    keys["total"] = {"epsilon": 9, "delta": 1e-5}
    assert harness.run(tmp_path, verb="recommend", **keys) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if " of income: " in line]
    assert line.startswith(noise)
    assert line.endswith("drowns in it")
    assert unit in printed


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
    spec, option = specified(tmp_path, query=query, **more)
    statement = spec.noise_of(option)
    names_of_noise = [
        name for name, value in statement.items() if name.startswith("noise_std") and value
    ]
    assert names_of_noise == names


def test_a_number_of_records_that_is_mostly_noise_bounds_nothing(tmp_path, capsys):
    keys = {"query": "covariance", "adjacency": "add_or_remove", "mechanism": "gaussian"}
    lines = []
    for stated in (COUNT, 30):
        assert harness.run(tmp_path, verb="recommend", **{**KEYS, **keys, "records": stated}) == 0
        lines.append(capsys.readouterr().out.splitlines()[-1])
    assert ["any factor" in line for line in lines] == [False, True]
    assert "that number has noise of 30% itself" in lines[1]
