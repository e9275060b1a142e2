"""Intervals: what the noise alone makes uncertain is covered as often as they say."""

import json
import os
import warnings
from itertools import product

import harness
import numpy as np
import pytest
from exactness import same_copies

import matrixdp as mdp
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.mechanisms.moments import CONSTANT, centred, positive, with_constant
from matrixdp.mechanisms.scaled import WeightedConstant
from matrixdp.release import uncertainty
from matrixdp.release.outputs.components import spectrum

BOX = mdp.Box((0.0, -3.0, 5.0), (1.0, 4.0, 900.0))
QUERIES = [mdp.MeanQuery(BOX, 50), mdp.RecordsQuery(BOX, 50), mdp.SecondMomentQuery(BOX, 50)]
SIMULATIONS = 4000
#: Three standard errors of a share of .95 among the simulations.
ERROR = 3 * np.sqrt(0.95 * 0.05 / SIMULATIONS)


def noise(release, count=SIMULATIONS):
    """Return noise of releases, symmetric as these are."""
    drawn = release.noise.sample(np.random.default_rng(1), count)
    return drawn if release.noise.symmetric else np.swapaxes(drawn, 1, 2)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_all_entries_are_within_their_widths_as_often_as_stated(query):
    shaped = mdp.DirectionalGaussian(weights=(1.0, 5.0, 2.0))
    budget = {"epsilon": 1, "delta": 1e-6}
    options = mdp.compare_mechanisms(query, **budget)
    for option in options + mdp.compare_mechanisms(query, **budget, mechanisms=[shaped]):
        widths, drawn = option.release.interval(0.95), noise(option.release)
        assert widths.shape == drawn.shape[1:]
        within = (np.abs(drawn) <= widths).all(axis=(1, 2)).mean()
        assert 0.95 - ERROR <= within <= 0.955 + ERROR, option.name
        # Each entry has its part of what may fail.
        beyond = (np.abs(drawn) > option.release.interval(0.5)).mean(axis=0)
        entries = query.features * (query.features + 1) / 2
        if query.output_type == "matrix":
            entries = widths.size
        assert beyond.mean() * entries == pytest.approx(0.5, abs=0.1)
        if entries < 10:
            assert beyond * entries == pytest.approx(np.full(widths.shape, 0.5), abs=0.15)


def test_both_copies_of_an_entry_have_one_width_also_along_directions():
    query = mdp.SecondMomentQuery(mdp.Box.cube(3, -1.0, 1.0), 50)
    laplace = mdp.Laplace().calibrate(query, epsilon=1, delta=0)
    assert same_copies(laplace.interval(), laplace.interval().T)
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    turned = mdp.DirectionalGaussian((0.8, 0.1, 0.1), directions=basis)
    for kind in (mdp.MeanQuery, mdp.SecondMomentQuery):
        release = turned.calibrate(kind(query.domain, 50), epsilon=1, delta=1e-6)
        drawn = noise(release)
        within = (np.abs(drawn) <= release.interval()).all(axis=(1, 2)).mean()
        assert within >= 0.95 - ERROR
        variances = np.broadcast_to(release.noise.variances.T, drawn.shape[1:])
        assert drawn.var(axis=0) == pytest.approx(variances, rel=0.1)


def test_noise_beyond_all_squares_has_intervals_without_end():
    query = mdp.SecondMomentQuery(mdp.Box.cube(2, 0.0, 1e60), 50)
    tiny = mdp.Laplace().calibrate(query, epsilon=1e-99)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(tiny.noise.variances).all()
        assert mdp.compare_mechanisms(query, epsilon=1e-99, delta=0)[0].name == "Laplace"


def records(count=2000):
    rng = np.random.default_rng(3)
    X = 0.3 + rng.standard_normal((count, 4)) * [0.4, 0.1, 0.05, 0.2] @ rng.standard_normal((4, 4))
    X[:, -1] = X[:, :-1] @ [0.5, -0.5, 0.2] + 0.1 * rng.standard_normal(count)
    return np.clip(X / 2, -1, 1)


def corners(count=100_000):
    """Return records in corners of their bounds, with means far from the middle."""
    rng = np.random.default_rng(4)
    X = np.where(rng.random((count, 4)) < 0.85, 1.0, -1.0)
    X[:, -1] = X[:, :-1] @ [0.5, -0.3, 0.2] + 0.1 * rng.standard_normal(count)
    return np.clip(X, -1, 1)


def released(X, mechanism=None):
    """Return a release, its simulated noise, the exact moments, and those of 1,000 releases."""
    query = mdp.SecondMomentQuery(mdp.Box.cube(5, -1.0, 1.0), len(X))
    release = (mechanism or mdp.AnalyzeGauss()).calibrate(query, epsilon=3, delta=1e-6)
    exact = with_constant(X).T @ with_constant(X) / len(X)
    return release, uncertainty.MomentNoise(release), exact, exact + noise(release, 1000)


@pytest.fixture(scope="module")
def noisy():
    # Of several answers the mean has a part of the noise.
    return released(records(2000), WeightedConstant(mdp.AnalyzeGauss(), 1.5))


@pytest.fixture(scope="module")
def precise():
    return released(records(100_000))


@pytest.fixture(scope="module")
def far():
    return released(corners())


def unprojected(moments):
    columns = np.delete(np.arange(len(moments)), CONSTANT)
    mean = moments[CONSTANT, columns]
    return mean, moments[np.ix_(columns, columns)] - np.outer(mean, mean)


def test_intervals_of_a_covariance_and_its_eigenvalues_hold_together(noisy):
    _, simulated, exact, moments_of_releases = noisy
    mean, covariance = unprojected(exact)
    values = np.linalg.eigvalsh(covariance)[::-1]
    both, spectra, sizes, released_values = [], [], [], []
    for moments in moments_of_releases:
        noisy_mean, second = unprojected(moments)
        shifts, widths = simulated.covariance_widths(noisy_mean)
        inside = (np.abs(noisy_mean - mean) <= shifts).all()
        both.append(inside and (np.abs(second - covariance) <= widths).all())
        estimate = centred(moments)
        width = simulated.eigenvalue_width(estimate.mean)
        released_values.append(spectrum(estimate.covariance)[0])
        limits = uncertainty.eigenvalues(released_values[-1], width)
        spectra.append(((limits[:, 0] <= values) & (values <= limits[:, 1])).all())
        sizes.append(np.linalg.norm(second - covariance, 2) / width)
    assert np.mean(both) >= 0.95
    assert np.mean(spectra) >= 0.95
    # Noise inflates the largest eigenvalue.
    assert np.mean(released_values, axis=0)[0] > values[0]
    # They are no wider than twice what the noise does, and half of their width would not do.
    assert np.quantile(sizes, 0.95) > 0.5


@pytest.mark.parametrize("name", ["precise", "far", "noisy"])
@pytest.mark.parametrize("line", [{}, {"alpha": 100.0}, {"intercept": False}])
def test_standard_errors_are_those_of_simulated_regressions(request, name, line):
    release, simulated, exact, moments_of_releases = request.getfixturevalue(name)
    middle, half = np.array([1.0, -0.2, 0.3, 50.0]), np.array([2.0, 0.5, 1.0, 10.0])

    box = mdp.Box(tuple(middle - half), tuple(middle + half))
    budget = {"epsilon": release.epsilon, "delta": release.delta}
    output = harness.fit("regression", box, release.query.n_records, **budget, **line)

    def fit(moments):
        return np.append(*output.line(centred(moments), release.noise_std))

    errors = np.array([fit(moments) for moments in moments_of_releases]) - fit(exact)
    stated = np.array(
        [
            output.standard_errors(output.noisy(simulated, moments))
            for moments in moments_of_releases[:200]
        ]
    )
    if "intercept" in line:
        assert (errors[:, 3] == 0).all()
        assert (stated[:, 3] == 0).all()
        errors, stated = errors[:, :3], stated[:, :3]
    within = (np.abs(errors[:200]) <= 1.96 * stated).mean(axis=0)
    assert (within > 0.9).all()
    if name != "noisy":
        # To first order: where noise is as large as a variance, they state too much.
        assert np.median(stated, axis=0) == pytest.approx(errors.std(axis=0), rel=0.1)
        assert (within < 0.99).all()


@pytest.mark.parametrize("kind", [mdp.Laplace, mdp.AnalyzeGauss])
def test_intervals_of_a_mean_that_is_read_from_moments_hold_as_often_as_stated(kind):
    query = mdp.SecondMomentQuery(mdp.Box.cube(5, -1.0, 1.0), 50)
    release = WeightedConstant(kind(), 1.5).calibrate(query, epsilon=1, delta=1e-6)
    errors = np.delete(np.abs(noise(release)[:, CONSTANT]), CONSTANT, axis=1)
    widths = uncertainty.MomentNoise(release).mean_widths(4)
    assert 0.95 - ERROR <= (errors <= widths).all(axis=1).mean() <= 0.955 + ERROR
    # The control: narrower ones do not.
    assert (errors <= 0.9 * widths).all(axis=1).mean() < 0.95 - ERROR


def test_intervals_about_a_private_mean_cover_clipped_moments_about_it():
    X = 0.2 + 0.1 * (records(500) - 0.3)
    query = mdp.SecondMomentQuery(mdp.Box.cube(4, -1.0, 1.0), len(X))
    release = ComposedMoments.calibrated(Centred(), query, epsilon=2, delta=1e-6)
    stream, inside, spectra, ready = np.random.default_rng(0), [], [], {}

    def answer(part, value):
        return value + part.noise.sample(stream, 1)[0]

    for _ in range(300):
        outcome = release.run(lambda: [X], answer)
        about = X - outcome.centre
        about = about * np.minimum(1, outcome.radius / np.linalg.norm(about, axis=1))[:, None]
        exact = about.T @ about / len(X)
        if outcome.radius not in ready:
            part = release.at(outcome.radius)
            ready[outcome.radius] = uncertainty.MomentNoise(part, outcome.centre_std)
        simulated = ready[outcome.radius]
        shifts, widths = simulated.covariance_widths(outcome.centre)
        near = (np.abs(outcome.centre - X.mean(axis=0)) <= shifts).all()
        inside.append(near and (np.abs(outcome.moments - exact) <= widths).all())
        values = np.linalg.eigvalsh(exact)[::-1]
        width = simulated.eigenvalue_width(outcome.centre)
        limits = uncertainty.eigenvalues(spectrum(positive(outcome.moments))[0], width)
        spectra.append(((limits[:, 0] <= values) & (values <= limits[:, 1])).all())
    error = 3 * np.sqrt(0.95 * 0.05 / 300)
    assert np.mean(inside) >= 0.95 - error
    assert np.mean(spectra) >= 0.95 - error


KEY, ALONE = "interval_95", "noise_alone_95"
ERRORS = "standard_errors_of_the_noise_alone"
ABOUT_MEAN = ("covariance", "components", "regression")
#: Queries, mechanisms, keys, and what their files state of the noise.
STATED = [
    *(("mean", "gaussian", keys, [f"{KEY}_plus_or_minus"]) for keys in ({}, {"max_norm": 2.0})),
    ("mean", "gaussian", {"adjacency": "add_or_remove"}, []),
    *(
        ("mean", "gaussian", {"adjacency": relation, "missing": "present"}, [KEY])
        for relation in ("replace", "add_or_remove")
    ),
    *(
        (
            "mean",
            "gaussian",
            {"adjacency": relation, "by": 3, "categories": {3: [0, 1]}, "bounds": {0: (-1, 1)}},
            [f"{KEY}_plus_or_minus_of_counts", KEY],
        )
        for relation in ("replace", "add_or_remove")
    ),
    ("covariance", "gaussian", {}, [KEY]),
    ("covariance", "clipped", {}, [KEY, ALONE]),
    ("components", "gaussian", {}, [KEY]),
    ("regression", "gaussian", {}, [ERRORS]),
    *product(ABOUT_MEAN, ["gaussian", "clipped"], [{"max_norm": 2.0}], [[]]),
    *product(ABOUT_MEAN, ["gaussian", "clipped"], [{"adjacency": "add_or_remove"}], [[]]),
    ("second_moments", "clipped", {"adjacency": "add_or_remove"}, []),
]


@pytest.mark.parametrize(("query", "mechanism", "keys", "names"), STATED)
def test_files_state_no_interval_where_none_covers(monkeypatch, query, mechanism, keys, names):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
    keys = {"missing": "refuse", "records": 2000, "bounds": (-1, 1), **keys}
    keys |= {"target": 3} if query == "regression" else {}
    made = mdp.make_release(
        records(),
        query=query,
        mechanism=mechanism,
        epsilon=3.0,
        delta=1e-6,
        even_if_useless=True,
        **keys,
    )
    starts = (KEY, ALONE, ERRORS)
    assert [name for name in {**made.receipt, **made.details} if name.startswith(starts)] == names


@pytest.mark.parametrize(
    ("query", "mechanism"),
    [
        *product(["records", "mean"], ["recommend"]),
        *product(["second_moments", "covariance", "components"], ["gaussian", "clipped"]),
        *product(["regression"], ["recommend", "clipped"]),
    ],
)
def test_files_state_them(tmp_path, monkeypatch, query, mechanism):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
    harness.save(tmp_path / "people.csv", records(), "abcd")
    keys = {"target": "d"} if query == "regression" else {}
    keys |= {"query": query, "mechanism": mechanism, "records": 2000, "epsilon": 3.0}
    bounds = {name: [-1, 1] for name in "abcd"}
    assert harness.run(tmp_path, insist=True, bounds=bounds, **keys) == 0
    answer = harness.read(tmp_path, query)
    receipt, details = answer.receipt, answer.details
    clipped = mechanism == "clipped"
    key = ALONE if clipped else KEY
    if query in ("records", "mean", "second_moments"):
        widths = (details if clipped else receipt)[f"{key}_plus_or_minus"]
        assert {*widths} == {*"abcd"}
        width = widths["a"]["b"] if query == "second_moments" else widths["a"]
        assert width > 1.9 * (receipt.get("noise_std") or {"a": 0})["a"] / np.sqrt(2)
    elif query == "regression":
        assert {*details["standard_errors_of_the_noise_alone"]} == {*"abc", "intercept"}
    elif query == "components":
        assert np.shape(details[key]["eigenvalue"]) == (4, 2)
    else:
        low, high = details[key]["covariance"]["a"]["b"]
        assert low < np.cov(records().T, bias=True)[0, 1] < high or clipped
        low, high = details[KEY]["mean"]["d"]
        assert low < records()[:, 3].mean() < high
    assert "NaN" not in json.dumps([receipt, details])
