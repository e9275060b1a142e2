"""The mean of the values present: what a record changes, who finds too little noise, what covers.

The states of a record are few enough to try all pairs; the audit searches on its own.
"""

from itertools import product

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.auditing import releases
from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import exact_sums
from matrixdp.privacy.domain import Box
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.release.outputs import present_mean

RELATIONS = ("replace", "zero_out", "add_or_remove")
#: A column of a record, in half ranges: missing, at its bounds and within them.
COLUMN = (np.nan, -1.0, -0.4, 0.0, 0.7, 1.0)
SHARED = np.array([[0.3, np.nan], [np.nan, -1.0], [-0.2, 0.5]])


def query(adjacency="replace", gaussian=False, columns=2, records=4, per_person=None):
    return PresentMeanQuery.of(
        columns, records, adjacency, gaussian=gaussian, per_person=per_person
    )


def calibrated(mean_query, gaussian):
    if gaussian:
        return mdp.Gaussian().calibrate(mean_query, epsilon=1, delta=1e-3)
    return mdp.Laplace().calibrate(mean_query, epsilon=1)


def changes(mean_query):
    """Return the exact changes (pairs, 2m) of all pairs of states of one record."""
    records = [np.array([pair]) for pair in product(COLUMN, repeat=mean_query.columns)]
    others = records
    if mean_query.adjacency == "zero_out":
        others = [np.full((1, mean_query.columns), np.nan)]
    if mean_query.adjacency == "add_or_remove":
        others = [np.empty((0, mean_query.columns))]
    base = SHARED[:, : mean_query.columns]

    def value(rows):
        return exact_sums.value(mean_query, [mean_query.terms(np.vstack([base, rows]))])[:, 0]

    first, second = ([value(rows) for rows in side] for side in (records, others))
    return np.array([one - other for one, other in product(first, second)])


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("columns", [1, 2])
def test_the_sensitivities_are_the_largest_changes_of_all_states(adjacency, gaussian, columns):
    mean_query = query(adjacency, gaussian, columns)
    differences = changes(mean_query)
    assert np.abs(differences).sum(axis=1).max() == pytest.approx(
        mean_query.l1_sensitivity, rel=1e-9
    )
    assert np.linalg.norm(differences, axis=1).max() == pytest.approx(
        mean_query.l2_sensitivity, rel=1e-9
    )
    variances = np.linspace(1, 3, 2 * columns)
    largest = np.linalg.norm(differences / np.sqrt(variances), axis=1).max()
    assert largest == pytest.approx(mean_query.directional_mu(variances).value, rel=1e-9)


def test_what_is_no_state_of_a_record_becomes_one():
    mean_query = query(columns=1, records=1)
    for row, state in (([0.8, 0.9], [0.8, 1]), ([0.8, 0.5], [0, 0]), ([np.nan, 1], [0, 1])):
        assert exact_sums.value(mean_query, [[row]])[:, 0] == pytest.approx(state)
        assert mean_query.value(np.nan_to_num(np.transpose([row])))[:, 0].tolist() == state
    for domain in (Box.cube(2, -1.0, 1.0), Box((-1.0, 0.0), (1.0, 0.5)), mdp.Ball(1.0, 2)):
        with pytest.raises(InputError, match="as PresentMeanQuery.of gives them"):
            PresentMeanQuery(domain, 4)


def test_a_count_that_is_too_heavy_to_be_free_is_refuted():
    """A weight of 2, charged as the sums alone are."""
    mean_query = PresentMeanQuery(Box((-1.0, 0.0), (1.0, 2.0)), 4)
    scale = 2 / mean_query.n_records
    release = AdditiveMechanism(
        query=mean_query,
        epsilon=1,
        epsilon_delivered=1,
        noise=Noise.of(safe.LAPLACE, scale, mean_query.shape),
        noise_std=np.sqrt(2) * scale,
    )
    audit = releases.audit_of(release, np.random.default_rng(0))
    assert audit.attained == pytest.approx(1.5)
    assert not audit.proven
    assert mean_query.l1_sensitivity == 3 / 4


def misses(release, ratio, share, draws=2000, narrower=1.0):
    """Return how many of the simulated releases have an interval that does not cover."""
    mean_query, count = release.query, round(share * release.query.n_records)
    rows = np.full((mean_query.n_records, mean_query.columns), np.nan)
    rows[:count] = ratio + np.linspace(-0.05, 0.05, count)[:, None]
    truth = np.nanmean(rows, axis=0) if count else np.inf
    stream = np.random.default_rng(7)
    size, law = release.noise.size, release.noise.law
    sample = stream.normal if law == safe.NORMAL else stream.laplace
    noise = sample(0, size[:, 0], (draws, len(size))) * release.rounding_factor
    private = exact_sums.value(mean_query, [mean_query.terms(rows)])[:, 0] + noise
    estimate = present_mean.means(release, private)
    middle, half = (estimate.high + estimate.low) / 2, (estimate.high - estimate.low) / 2
    outside = np.abs(truth - middle) > narrower * half + 1e-9
    assert not np.isnan(estimate.values[~np.isnan(middle)]).any()
    return int(outside.any(axis=1).sum())


def most(draws):
    """Return the misses beyond which a rate of 5 % is refuted at 1 in 2,000."""
    return 0.05 * draws + 3.3 * np.sqrt(0.0475 * draws)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("share", [1, 0.5, 0.1, 0.02, 0.005, 0])
def test_intervals_cover_the_exact_mean_of_the_values_present(gaussian, share):
    for columns, adjacency, ratio in product((1, 3), ("replace", "add_or_remove"), (-0.8, 0, 0.5)):
        mean_query = query(adjacency, gaussian, columns, records=1000)
        release = calibrated(mean_query, gaussian)
        # Without a value there is nothing to cover, and an interval is wrong.
        assert misses(release, ratio, share) <= most(2000)


@pytest.mark.parametrize("gaussian", [False, True])
def test_narrower_intervals_are_found_not_to_cover(gaussian):
    release = calibrated(query("replace", gaussian, 1, records=1000), gaussian)
    draws = 10_000
    assert misses(release, 0, 0.5, draws) <= most(draws) < misses(release, 0, 0.5, draws, 0.9)


@pytest.mark.parametrize("q", [2.0, 4.0, 8.0])
def test_the_chord_is_above_the_quantiles_of_laplace_noise(q):
    """Of e - t f, whose tail is (e^-s - t^2 e^(-s / t)) / (1 - t^2)."""
    chance = (1 + q / 2) * np.exp(-q)
    alone = -np.log(chance)
    for t in np.linspace(0.01, 0.99, 50):
        s = alone + (q - alone) * t
        assert (np.exp(-s) - t**2 * np.exp(-s / t)) / (1 - t**2) <= chance * (1 + 1e-9)
