import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanismqueries import (
    BUDGET,
    CTG,
    LIVER,
    MOVEMENT,
    budget,
    streams,
)

from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.mechanism import NoGuarantee
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Ball, Box, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.allocation import Binary, MaxPNR, Shares
from reproduction.mechanisms.directional import AllocatedGaussian
from reproduction.mechanisms.directions import PrivateDirections
from reproduction.mechanisms.gaussian import IMGM
from reproduction.mechanisms.mvg import MVG
from reproduction.privacy import published


def by_mpmath(query, epsilon, delta, theorem, zeta, sensitivity="paper"):
    """Return zeta, alpha or omega, beta and phi of Theorems 2 and 3, with 60 digits."""
    mp.mp.dps = 60
    m, n = query.shape
    s2 = mp.mpf({"paper": published.l2_sensitivity(query)}.get(sensitivity, query.l2_sensitivity))
    gamma, log = mp.mpf(query.largest_norm), -mp.log(mp.mpf(delta))
    harmonic = sum(mp.mpf(1) / i for i in range(1, min(m, n) + 1))
    root = sum(1 / mp.sqrt(i) for i in range(1, min(m, n) + 1))
    laurent_massart = m * n + 2 * mp.sqrt(m * n * log) + 2 * log
    zeta = mp.sqrt(laurent_massart) if zeta == "sqrt" else laurent_massart
    alpha = (harmonic + root) * gamma**2 + 2 * harmonic * gamma * s2
    omega = 4 * harmonic * gamma * s2
    beta = 2 * mp.mpf(m * n) ** mp.mpf("0.25") * zeta * harmonic * s2
    first = alpha if theorem == 2 else omega
    phi = (-beta + mp.sqrt(beta**2 + 8 * first * mp.mpf(epsilon))) / (2 * first)
    return zeta, first, beta, phi


#: query, theorem, zeta, then zeta's value, alpha or omega, beta, phi, std, B / mu
PAPER = [
    (LIVER, 2, "sqrt", 40.98998, 9987.7827, 6111.2514, 3.2709036e-4, 18988.2, 1790.9),
    (LIVER, 2, "literal", 1680.1785, 9987.7827, 250500.08, 7.9840269e-6, 777909, 73370),
    (CTG, 2, "sqrt", 214.08193, 518650.45, 103969.41, 1.9234583e-5, 755723, 59252),
    (CTG, 2, "literal", 45831.072, 518650.45, 22257971, 8.9855451e-8, 1.61771e8, 1.2684e7),
    (MOVEMENT, 2, "sqrt", 7.665337, 7.7897749e9, 502.18404, 1.599112e-5, 125069, 7053),
    (MOVEMENT, 3, "sqrt", 7.665337, 2620545.1, 502.18404, 7.8303529e-4, 2554.16, 144.03),
    (MOVEMENT, 3, "literal", None, 2620545.1, None, 4.0686618e-4, 4915.62, None),
]


@pytest.mark.parametrize(
    ("query", "theorem", "zeta", "zeta_value", "first", "beta", "phi", "std", "slack"), PAPER
)
def test_the_papers_experiments(query, theorem, zeta, zeta_value, first, beta, phi, std, slack):
    independent = by_mpmath(query, 1, 1 / query.n_records, theorem, zeta)
    for value, printed in zip(independent, (zeta_value, first, beta, phi), strict=True):
        assert printed is None or float(value) == pytest.approx(printed, rel=1e-6)
    found = MVG(theorem, zeta).precision_budget(query, **budget(query))
    assert found == pytest.approx(phi, rel=1e-6)
    release = MVG(theorem, zeta).calibrate(query, **budget(query))
    assert release.noise_std == pytest.approx(std, rel=1e-5)
    assert release.tight
    if slack:
        assert gaussian_dp.mu(1, 1 / query.n_records) / release.mu == pytest.approx(slack, rel=1e-4)


def test_a_binary_allocation_moves_the_noise_by_a_fourth_root():
    release = MVG(allocation=Binary((0, 5), 0.75)).calibrate(LIVER, **budget(LIVER))
    deviations = release.noise.row_factor
    np.testing.assert_allclose(deviations[[0, 5]], 15503.8, rtol=1e-5)
    np.testing.assert_allclose(deviations[[1, 2, 3, 4]], 24264.7, rtol=1e-5)
    assert release.mu == pytest.approx(2.459e-4, rel=1e-3)
    assert release.noise_std == pytest.approx(np.sqrt((2 * 15503.8**2 + 4 * 24264.7**2) / 6))


@pytest.mark.parametrize(
    ("theorem", "important", "tau", "slack"),
    [(2, (0, 3), 0.55, 7061.54), (2, (0,), 0.95, 11478.92)]
    + [(3, (0, 3), 0.55, 144.2106), (3, (0,), 0.95, 234.4221)],
)
def test_the_least_and_most_wasteful_shares_of_second_moments(theorem, important, tau, slack):
    """The factors by which noise could shrink, against the exact supremum over records."""
    mechanism = MVG(theorem, allocation=Binary(important, tau))
    release = mechanism.calibrate(MOVEMENT, **budget(MOVEMENT))
    assert release.tight
    limit = gaussian_dp.mu(1, 1 / MOVEMENT.n_records)
    assert limit / release.mu == pytest.approx(slack, rel=1e-6)


@st.composite
def queries(draw):
    m = draw(st.integers(1, 6))
    adjacency = draw(st.sampled_from(["replace", "zero_out"]))
    side = draw(st.floats(1e-3, 1e3))
    domain = draw(
        st.sampled_from(
            [
                Box.cube(m, -side, side),
                Box.cube(m, 0, side),
                Box(tuple(-side / (k + 1) for k in range(m)), (side,) * m),
                Ball(side, m),
            ]
        )
    )
    return draw(st.sampled_from([RecordsQuery, SecondMomentQuery]))(
        domain, draw(st.integers(1, 10**5)), adjacency
    )


def allocations(m):
    return st.lists(st.floats(1e-4, 1), min_size=m, max_size=m).map(
        lambda raw: Shares(tuple(np.divide(raw, sum(raw))))
    )


@given(
    queries(),
    st.floats(1e-3, 20),
    st.floats(1e-300, 0.5),
    st.sampled_from([2, 3]),
    st.sampled_from(["sqrt", "literal"]),
    st.sampled_from(["paper", "tight"]),
)
@settings(max_examples=150, deadline=None)
def test_the_stable_formula_against_many_digits(query, epsilon, delta, theorem, zeta, sensitivity):
    found = MVG(theorem, zeta, sensitivity).precision_budget(query, epsilon=epsilon, delta=delta)
    expected = by_mpmath(query, epsilon, delta, theorem, zeta, sensitivity)[-1]
    assert found == pytest.approx(float(expected), rel=1e-12)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_whatever_satisfies_the_theorems_is_private(data):
    query = data.draw(queries())
    m = query.features
    epsilon, delta = data.draw(st.floats(1e-3, 20)), data.draw(st.floats(1e-30, 0.5))
    mechanism = MVG(
        theorem=data.draw(st.sampled_from([2, 3])),
        zeta=data.draw(st.sampled_from(["sqrt", "literal"])),
        sensitivity=data.draw(st.sampled_from(["paper", "tight"])),
        allocation=data.draw(allocations(m)),
        directions=np.linalg.qr(
            np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal((m, m))
        )[0]
        if data.draw(st.booleans())
        else None,
    )
    release = mechanism.calibrate(query, epsilon=epsilon, delta=delta)
    assert release.mu < gaussian_dp.mu(epsilon, delta)
    assert release.epsilon_delivered <= epsilon


@pytest.mark.parametrize("theorem", [2, 3])
def test_the_theorems_limit_is_spent_whole(theorem):
    """|sigma(Sigma^-1)| |sigma(Psi^-1)| = phi^2 in Frobenius norms, as Algorithms 1 and 2 say."""
    allocation = Shares((0.5, 0.3, 0.15, 0.05))
    for query in (RecordsQuery(Box.cube(4, -1, 1), 30), MOVEMENT):
        mechanism = MVG(theorem=theorem, allocation=allocation)
        distribution = mechanism.calibrate(query, **budget(query)).noise
        rows = np.linalg.norm(distribution.row_factor**-2)
        columns = distribution.column_factor
        columns = np.sqrt(query.n_records) if columns is None else np.linalg.norm(columns**-2)
        phi = MVG(theorem).precision_budget(query, **budget(query))
        assert rows * columns == pytest.approx(phi**2, rel=1e-12)


class TestPrivateDirections:
    value = np.random.default_rng(2).uniform(-1, 1, LIVER.shape)

    def replay(self, release, trials):
        """Release, and with the same Generators again what each release has drawn first."""
        moments, again = self.value @ self.value.T / 248, streams(trials)
        released = np.concatenate(
            [release.simulate(self.value, stream, 1) for stream in streams(trials)]
        )
        noisy = np.concatenate([release.moments.simulate(moments, stream, 1) for stream in again])
        directions, spectrum = release.private.of(noisy, 248)
        return released, directions, spectrum, again

    def test_the_budget_is_split_in_epsilon_and_in_delta(self):
        mechanism = MVG(allocation=MaxPNR(), directions=PrivateDirections())
        release = mechanism.calibrate(LIVER, **budget(LIVER))
        phi = float(by_mpmath(LIVER, 0.8, 0.8 / 248, 2, "sqrt")[-1])
        assert release.limit == pytest.approx(phi**2 / np.sqrt(248), rel=1e-9)
        assert (release.moments.epsilon, release.moments.delta) == (0.2, 0.2 / 248)

    def test_only_filled_directions_are_released(self):
        release = MVG(allocation=MaxPNR(), directions=PrivateDirections()).calibrate(
            LIVER, **budget(LIVER)
        )
        released, directions, spectrum, _ = self.replay(release, 50)
        along = directions.swapaxes(1, 2) @ released
        empty = MaxPNR().precisions(release.limit, 6, spectrum) == 0
        assert empty.sum(axis=1).min() == 5  # the paper's parameters fill the first one alone
        assert np.abs(along[empty]).max() <= 1e-12 * np.abs(along).max()
        assert (np.linalg.matrix_rank(released) == 1).all()

    @pytest.mark.parametrize("norm", ["l1", "l2"])
    @pytest.mark.parametrize("epsilon", [1, 1e7])
    def test_the_law_given_the_directions(self, norm, epsilon):
        """The second budget is so large that several directions are filled."""
        allocation = MaxPNR(norm)
        release = MVG(allocation=allocation, directions=PrivateDirections()).calibrate(
            LIVER, epsilon=epsilon, delta=1 / 248
        )
        released, directions, spectrum, again = self.replay(release, 2)
        u = allocation.precisions(release.limit, 6, spectrum)
        assert (u.sum(axis=1) if norm == "l1" else np.linalg.norm(u, axis=1)) == pytest.approx(
            release.limit, rel=1e-9
        )
        filled = np.count_nonzero(u)
        assert filled == 2 * (1 if epsilon == 1 and norm == "l1" else 6)
        along = directions.swapaxes(1, 2) @ (released - self.value)
        normals = np.array([stream.standard_normal(LIVER.shape) for stream in again])
        expected = np.divide(
            normals,
            np.sqrt(u)[..., None],
            where=u[..., None] > 0,
            out=-(directions.swapaxes(1, 2) @ self.value),
        )
        np.testing.assert_allclose(along, expected, rtol=1e-9, atol=1e-9 * np.abs(along).max())


@given(
    st.integers(1, 6).flatmap(
        lambda m: st.tuples(*[st.lists(st.floats(0.05, 20), min_size=m, max_size=m)] * 3)
    )
)
@settings(max_examples=100, deadline=None)
def test_exact_directional_noise_costs_least_and_mvg_most(numbers):
    """Weighted mean squared error: optimal <= i.i.d. at the same budget <= MVG, whatever theta."""
    widths, weights, raw = map(np.array, numbers)
    query = RecordsQuery(Box((0,) * len(widths), tuple(widths)), 20)
    theta = Shares(tuple(raw / raw.sum()))

    def cost(mechanism):
        release = mechanism.calibrate(query, epsilon=1, delta=1e-3)
        white = release.noise.whiten(np.ones(query.shape)).reshape(query.shape)
        return weights @ white[:, 0] ** -2.0

    optimal = cost(DirectionalGaussian(weights=tuple(weights)))
    assert optimal == pytest.approx(
        (widths @ np.sqrt(weights)) ** 2 / gaussian_dp.mu(1, 1e-3) ** 2, rel=1e-9
    )
    assert optimal <= cost(IMGM()) * (1 + 1e-9)
    assert optimal <= cost(AllocatedGaussian(allocation=theta)) * (1 + 1e-9)
    assert cost(IMGM()) <= cost(MVG(allocation=theta))
    shared = widths * np.sqrt(weights) / (widths @ np.sqrt(weights))
    assert optimal == pytest.approx(cost(DirectionalGaussian(tuple(shared))), rel=1e-9)


class Twice(Shares):
    """Shares far beyond the limit."""

    def precisions(self, budget, features, spectrum):
        return 2e4 * super().precisions(budget, features, spectrum)


@pytest.mark.parametrize(
    "mechanism",
    [MVG(gamma=0.01), MVG(gamma=0.01, directions=np.eye(2)), MVG(allocation=Twice())],
)
def test_a_release_without_a_guarantee_is_refused(mechanism):
    query = RecordsQuery(Box.cube(2, -1, 1), 50)
    release = mechanism.calibrate(query, **BUDGET)
    assert release.epsilon_delivered > 1
    with pytest.raises(NoGuarantee, match="delivers epsilon .* and not 1; .* release nothing"):
        release.release(np.zeros((50, 2)))


def test_the_papers_l2_sensitivities():
    assert published.l2_sensitivity(published.LIVER) == pytest.approx(4.898979)
    assert published.l2_sensitivity(published.MOVEMENT) == pytest.approx(7.861635e-4, rel=1e-6)
