"""Normal equations with a private ridge."""

from dataclasses import replace

import numpy as np
import pytest
from mechanismqueries import streams

from matrixdp.auditing import releases, sensitivities
from matrixdp.checks import InputError
from matrixdp.mechanisms.adassp import AdaSSP, PrivatelyClippedAdaSSP
from matrixdp.mechanisms.moments import centred, regression, with_constant
from matrixdp.mechanisms.programs import Simulation, Stack, Value
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Ball, Box, NormalEquations

LIVER = NormalEquations(Box.cube(6, -1, 1), 248, target=5)
QUERIES = [
    LIVER,
    replace(LIVER, adjacency="zero_out"),
    NormalEquations(Box.cube(5, 0, 1), 30, target=0),
    NormalEquations(Box.cube(5, 0, 1), 30, "zero_out", target=0),
    NormalEquations(Box((-1.0, -2.0, -0.5), (1.0, 2.0, 0.5)), 30, target=1),
]


def calibrated(query=LIVER, epsilon=1.0):
    return AdaSSP().calibrate(query, epsilon=epsilon, delta=1 / query.n_records)


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_a_search_attains_the_sensitivities_and_no_more(query):
    for measure in sensitivities.measures(query):
        row = sensitivities.attack(query, measure, np.random.default_rng(0).spawn(2))
        # The triangle's bound is met by two records only if their features split evenly.
        bound = measure.startswith("l2, upper") and not query.design.triangle_l2_exact
        assert row["verdict"].startswith("holds" if bound else "holds, attained")


def test_a_search_in_a_ball_comes_close_to_the_sensitivities():
    for adjacency in ("replace", "zero_out"):
        query = NormalEquations(Ball(2.0, 4), 30, adjacency, target=1)
        for measure in sensitivities.measures(query):
            row = sensitivities.attack(query, measure, np.random.default_rng(0).spawn(2))
            assert 0.99 < row["ratio"] <= 1 + 1e-9, measure


def test_the_smallest_eigenvalue_really_moves_by_its_sensitivity():
    """Records along all axes: without the one along the last, the smallest eigenvalue is 0."""
    records = np.vstack([np.eye(5) * np.sqrt(5), np.zeros((1, 5))])
    ball = NormalEquations(Ball(np.sqrt(5), 6), 5, target=5)
    without = records.copy()
    without[:, 4] = records[:, 3]
    moved = [np.linalg.eigvalsh(ball.value(one)[:5, :5])[0] for one in (records, without)]
    assert moved[0] - moved[1] == pytest.approx(ball.l2_eigenvalue)


def test_three_equal_shares_add_up():
    for epsilon in (0.01, 1.0, 100.0):
        release, mu = calibrated(epsilon=epsilon), gaussian.mu(epsilon, 1 / 248)
        parts = (
            LIVER.l2_eigenvalue / release.eigenvalue_std,
            release.design.mu,
            LIVER.l2_target / release.target_std,
        )
        np.testing.assert_allclose(parts, mu / np.sqrt(3), rtol=1e-12)
        assert release.epsilon_delivered == pytest.approx(epsilon, rel=1e-9)
    # |x| <= sqrt(5), |y| <= 1, by hand.
    assert LIVER.l2_eigenvalue * 248 == pytest.approx(5)
    assert LIVER.l2_target * 248 == pytest.approx(2 * np.sqrt(5))
    assert replace(LIVER, adjacency="zero_out").l2_target * 248 == pytest.approx(np.sqrt(5))


@pytest.mark.parametrize("part", ["eigenvalue_std", "target_std", "design"])
def test_the_audit_sees_half_a_per_cent_less_noise_in_any_part(part):
    query = NormalEquations(Box.cube(5, -1, 1), 248, target=4)
    release = calibrated(query)
    audit = releases.audit_of(release, np.random.default_rng(0))
    assert (audit.tool, audit.bound) == ("composition", pytest.approx(1, rel=1e-6))
    if part == "design":
        noise = release.design.noise
        less = replace(
            noise,
            diagonal_std=0.995 * noise.diagonal_std,
            off_diagonal_std=0.995 * noise.off_diagonal_std,
        )
        weak = replace(release, design=replace(release.design, noise=less))
    else:
        weak = replace(release, **{part: 0.995 * getattr(release, part)})
    assert releases.audit_of(weak, np.random.default_rng(0)).bound > 1 + 1e-3


def test_the_ridge_is_that_of_the_paper():
    """Algorithm 2 by hand, with the deviations of the exact calibration in place of its own."""
    release = calibrated(epsilon=30.0)
    exact = np.diag([0.3, 0.2, 0.1, 0.05, 0.01])
    normal = np.array([-1.0, 0.0, 2.0])
    sigma = release.eigenvalue_std
    root = np.sqrt(np.log(6 * 248))
    smallest = np.maximum(0.01 + sigma * normal - sigma * root, 0)
    needed = release.design.noise_std * np.sqrt(5 * np.log(2 * 25 / 0.05))
    expected = np.maximum(0, needed - smallest)

    def ridge(moments):
        value = np.zeros((6, 6))
        value[:5, :5] = moments

        def ask(part, value):
            noise = sigma * normal[:, None, None] if part is release.smallest else 0.0
            return value + noise

        return release.run(Value(value), ask).ridge

    np.testing.assert_allclose(ridge(exact), expected, rtol=1e-12)
    assert (ridge(np.eye(5)) == 0).all()


def test_with_a_constant_its_limit_is_least_squares_with_an_intercept():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (500, 3))
    y = x @ [0.5, -0.3, 0.2] + 0.1 * rng.uniform(-1, 1, 500) - 0.2
    rows = with_constant(np.column_stack([x, y]))
    query = NormalEquations(Box.cube(5, -1, 1), 500, target=4)
    release = AdaSSP().calibrate(query, epsilon=1e8, delta=1e-6)
    drawn = release.simulate(query.value(rows.T), streams(1))
    slopes, intercept = regression(centred(drawn, weighted=True), 0.0)
    exact = np.linalg.lstsq(rows[:, :4], y, rcond=None)[0]
    np.testing.assert_allclose([*slopes[0], intercept[0]], exact, atol=0.01)


def test_bad_targets_are_refused():
    with pytest.raises(InputError, match="target is 6 among 6 features"):
        replace(LIVER, target=6)
    with pytest.raises(InputError, match="target is 0 among 1 features"):
        NormalEquations(Box((0.0,), (1.0,)), 9)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_clipped_records_move_each_part_by_its_sensitivity_and_no_more(adjacency):
    """A search over pairs of records of the box, clipped, is close below; 1 % less would fail."""
    query = replace(LIVER, adjacency=adjacency)
    clipped = AdaSSP(1 / 16).calibrate(query, epsilon=1, delta=1 / 248).query
    assert clipped.domain == Ball(np.sqrt(6) / 4, 6)
    stream, n, radius = np.random.default_rng(0), 248, np.sqrt(6) / 4
    pairs = stream.uniform(-1, 1, (2, 6, 20_000))
    # Records that stretch single parts most: along axes of x, and with y as large as x.
    pairs[:, :, :2] = 0
    pairs[0, 0, 0], pairs[1, 1, 0] = 1, 1
    pairs[0, [0, 5], 1], pairs[1, [0, 5], 1] = (1, 1), (1, -1)
    if adjacency == "zero_out":
        pairs[1] = 0
    one, other = (clipped.domain.clip(side) for side in pairs)
    change = (np.einsum("ik,jk->kij", one, one) - np.einsum("ik,jk->kij", other, other)) / n
    x = change[:, :5, :5]
    moved = {
        "l2_eigenvalue": np.abs(np.linalg.eigvalsh(x)).max(),
        "l2_target": np.linalg.norm(change[:, :5, 5], axis=1).max(),
        "design": np.linalg.norm(np.triu(x), axis=(1, 2)).max(),
    }
    declared = {name: getattr(clipped, name) for name in ("l2_eigenvalue", "l2_target")}
    declared["design"] = clipped.design.triangle_l2_sensitivity
    assert declared["l2_eigenvalue"] * n == pytest.approx(radius**2)
    both = 2 if adjacency == "replace" else 1
    assert declared["l2_target"] * n == pytest.approx(both * radius**2 / 2)
    for name, most in moved.items():
        assert 0.99 * declared[name] < most <= declared[name] * (1 + 1e-12), name


def test_noise_and_ridge_shrink_with_the_radius_and_nothing_is_left_unclipped():
    plain, small = (
        AdaSSP(share).calibrate(LIVER, epsilon=1, delta=1 / 248) for share in (1, 1 / 16)
    )
    for name, gain in (("eigenvalue_std", 6 / 16 / 5), ("target_std", 6 / 16 / 2 / np.sqrt(5))):
        assert getattr(small, name) == pytest.approx(gain * getattr(plain, name))
    assert small.needed / small.design.noise_std == pytest.approx(
        plain.needed / plain.design.noise_std
    )
    records = np.ones((6, 248))
    np.testing.assert_allclose(small.query.value(records), np.full((6, 6), 1 / 16))
    with pytest.raises(InputError, match="squared_radius_fraction"):
        AdaSSP(1.5)


def test_the_private_radius_shares_mu_and_adds_no_ridge_of_its_own():
    release = PrivatelyClippedAdaSSP().calibrate(LIVER, epsilon=1, delta=1 / 248)
    counts = np.sqrt(2) / release.count_std
    for one in release.equations:
        rest = np.sqrt(3) * one.query.l2_eigenvalue / one.eigenvalue_std
        assert np.hypot(counts, rest) == pytest.approx(gaussian.mu(1, 1 / 248))
    radii = [one.query.domain.radius for one in release.equations[1:]]
    np.testing.assert_allclose(radii, np.sqrt(6 * 2.0 ** -np.arange(1, 9)))
    records = np.random.default_rng(0).uniform(-1, 1, (6, 248)) / 8
    number = release.choose(Stack(records), Simulation(streams(1)))[0][0]
    drawn = release.simulate(records, streams(1))[0]
    assert number > 0
    # The target's entry with itself is its public bound: no ridge stands there.
    assert drawn[5, 5] == pytest.approx(radii[number - 1] ** 2, rel=1e-12)


@pytest.mark.nightly
def test_the_audit_sees_too_little_noise_of_the_histogram_and_of_the_equations():
    release = PrivatelyClippedAdaSSP().calibrate(LIVER, epsilon=1, delta=1 / 248)
    assert releases.audit_of(release, np.random.default_rng(0)).bound < 1 + 1e-6
    less = [replace(one, target_std=0.9 * one.target_std) for one in release.equations]
    for weak in (
        replace(release, count_std=0.8 * release.count_std),
        replace(release, equations=tuple(less)),
    ):
        assert releases.audit_of(weak, np.random.default_rng(0)).bound > 1 + 1e-3


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_or_remove"])
@pytest.mark.parametrize("times", [5, 20])
def test_the_private_radius_has_noise_for_all_records_of_a_person(times, adjacency):
    query = replace(LIVER, adjacency=adjacency)
    one, several = (
        PrivatelyClippedAdaSSP().calibrate(
            replace(query, per_person=k), epsilon=1, delta=1 / query.n_records
        )
        for k in (1, times)
    )
    assert several.mu == one.mu
    assert several.count_std == pytest.approx(times * one.count_std)
    # A record that comes moves one count, a replaced one two.
    counts = 1 if adjacency == "add_or_remove" else np.sqrt(2)
    assert one.count_std == pytest.approx(counts / np.sqrt(0.1) / one.mu)
    for few, many in zip(one.equations, several.equations, strict=True):
        for name in ("eigenvalue_std", "target_std"):
            assert getattr(many, name) == pytest.approx(times * getattr(few, name))
        assert many.design.noise_std == pytest.approx(times * few.design.noise_std)
    records = np.random.default_rng(0).uniform(-1, 1, (6, 248))
    assert several.simulate(records, streams(1)).shape == (1, 6, 6)
