"""Sums and counts by group: what a record changes, who finds too little noise, what covers.

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
from matrixdp.privacy.groups import GroupMeanQuery
from matrixdp.release.ratios import ratios, reach_of_sum, share_ends

RELATIONS = ("replace", "zero_out", "add_or_remove")
SIZES = [(2, 0), (3, 0), (2, 1), (3, 1), (2, 2), (3, 2)]


def query(adjacency="replace", gaussian=False, groups=2, columns=1, records=6, per_person=None):
    return GroupMeanQuery.of(
        *(groups, columns, records, adjacency), gaussian=gaussian, per_person=per_person
    )


def states(group_query, levels):
    """Return all records (1, m + 1) at these levels, of each group and of none."""
    values = [*product(levels, repeat=group_query.columns)]
    places = [*range(-1, group_query.groups)]
    return [np.array([[*one, place]]) for one, place in product(values, places)]


def changes(group_query, levels=(-1.0, -0.4, 0.0, 1.0)):
    """Return the exact changes (pairs, G (1 + m)) of all pairs of states of one record or person.

    Each of the others is in a group, and those of a person that is null or absent in none.
    """
    one, group = states(group_query, levels), group_query.group
    records = [np.vstack(rows) for rows in product(one, repeat=group)]
    others = records
    if group_query.adjacency != "replace":
        absent = 0 if group_query.add_or_remove else group
        others = [np.full((absent, group_query.columns + 1), -1.0)]
    count = group_query.n_records - group
    base = np.column_stack(
        [np.full((count, group_query.columns), 0.3), np.arange(count) % group_query.groups]
    )

    def value(rows):
        return exact_sums.value(group_query, [group_query.terms(np.vstack([base, rows]))])[:, 0]

    first, second = ([value(rows) for rows in side] for side in (records, others))
    return np.array([one - other for one, other in product(first, second)])


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(("groups", "columns"), SIZES)
def test_the_sensitivities_are_the_largest_changes_of_all_states(
    adjacency, gaussian, groups, columns
):
    group_query = query(adjacency, gaussian, groups, columns)
    assert_largest(group_query, changes(group_query))


def assert_largest(group_query, differences):
    """Check every norm that noise is calibrated to: less by any share is no bound."""
    largest = np.abs(differences).sum(axis=1).max()
    assert largest == pytest.approx(group_query.l1_sensitivity, rel=1e-9)
    largest = np.linalg.norm(differences, axis=1).max()
    assert largest == pytest.approx(group_query.l2_sensitivity, rel=1e-9)
    variances = np.linspace(1, 3, group_query.features)
    largest = np.linalg.norm(differences / np.sqrt(variances), axis=1).max()
    assert largest == pytest.approx(group_query.directional_mu(variances).value, rel=1e-9)


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize(("groups", "columns"), [(3, 0), (2, 1)])
def test_a_person_changes_no_more_than_all_records_moved_alike(adjacency, groups, columns):
    group_query = query(adjacency, True, groups, columns, per_person=2)
    differences = changes(group_query, (-1.0, 1.0))
    assert_largest(group_query, differences)
    # The control: a person's records in two groups are among the changes.
    counts = np.abs(differences.reshape(len(differences), groups, -1)[:, :, 0]) > 1e-9
    assert (counts.sum(axis=1) >= 2).any()


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("columns", [0, 1, 4])
def test_noise_does_not_grow_with_the_number_of_groups(gaussian, columns):
    few, many = (query("replace", gaussian, groups, columns) for groups in (2, 500))
    for name in ("l1_sensitivity", "l2_sensitivity", "weight"):
        assert getattr(few, name) == getattr(many, name)


@pytest.mark.parametrize(("delta", "wastes"), [(0, (2.4, 7.9, 39.5)), (1e-6, (2.4, 5.3, 11.8))])
def test_one_hot_columns_in_a_box_waste_what_the_instructions_say(delta, wastes):
    """A mean of indicators and of their products with a column, for a group of an even share."""
    for groups, waste in zip((3, 10, 50), wastes, strict=True):
        box = Box((0.0,) * groups + (-1.0,) * groups, (1.0,) * (2 * groups))
        one_hot = mdp.compare_mechanisms(mdp.MeanQuery(box, 100), epsilon=1, delta=delta)[0]
        variances = one_hot.release.noise.variances[[0, -1]].sum() * groups**2
        options = [
            option
            for gaussian in (False, True)
            for option in mdp.compare_mechanisms(
                query("replace", gaussian, groups, 1, 100), epsilon=1, delta=delta
            )
        ]
        least = min(option.error for option in options)
        assert np.sqrt(variances) / least == pytest.approx(waste, abs=0.06)


@pytest.mark.parametrize("columns", [1, 2, 5, 20])
@pytest.mark.parametrize(("gaussian", "adjacency"), [*product([False, True], RELATIONS[::2])])
def test_no_other_weight_has_less_noise_in_a_mean_at_its_bound(columns, gaussian, adjacency):
    def noise(weight):
        box = Box(((0.0,) + (-1.0,) * columns) * 2, ((weight,) + (1.0,) * columns) * 2)
        one = GroupMeanQuery(box, 6, adjacency, groups=2)
        scale = one.l2_sensitivity if gaussian else one.l1_sensitivity
        return scale * np.sqrt(1 + weight**-2)

    best = query(adjacency, gaussian, 2, columns).weight
    assert min(map(noise, np.geomspace(1, 10, 40))) >= noise(best) * (1 - 1e-9)


def test_what_is_no_state_of_a_record_becomes_one():
    group_query = query(groups=2, columns=1, records=1)
    rows = [
        ([1.0, 0.8, 1.0, 0.5], [1, 0.8, 0, 0]),
        ([0.6, 0.8, 0.9, 0.5], [0, 0, 1, 0.5]),
        ([0.4, 0.8, 0.5, 0.5], [0, 0, 0, 0]),
        ([np.nan, 0.8, 1.0, np.nan], [0, 0, 1, 0]),
        ([9.0, 9.0, 0.0, -9.0], [1, 1, 0, 0]),
    ]
    for row, state in rows:
        assert exact_sums.value(group_query, [[row]])[:, 0] == pytest.approx(state)
    boxes = (Box.cube(4, -1.0, 1.0), Box((0.0, -1.0), (0.5, 1.0)), mdp.Ball(1.0, 4))
    for domain, groups in (*product(boxes, [1, 2]), (group_query.domain, 3)):
        with pytest.raises(InputError, match="as GroupMeanQuery.of gives them"):
            GroupMeanQuery(domain, 4, groups=groups)


@pytest.mark.parametrize("place", [-1, 2, 9, -7, np.nan, np.inf, 0.0])
def test_a_record_of_no_group_adds_nothing(place):
    group_query = query(groups=2, columns=1, records=1)
    terms = group_query.terms(np.array([[0.7, place]]))
    assert terms.tolist() == [[1, 0.7, 0, 0] if place == 0 else [0, 0, 0, 0]]


def calibrated(group_query, gaussian):
    if gaussian:
        return mdp.Gaussian().calibrate(group_query, epsilon=1, delta=1e-3)
    return mdp.Laplace().calibrate(group_query, epsilon=1)


@pytest.mark.parametrize("columns", [0, 1])
@pytest.mark.parametrize("stated", RELATIONS)
def test_noise_for_records_that_leave_is_refuted_where_they_move(stated, columns):
    """The sensitivity of another neighbouring relation: half of what a replaced record changes."""
    group_query, other = query(columns=columns), query(stated, columns=columns)
    scale = other.l1_sensitivity
    release = AdditiveMechanism(
        query=group_query,
        epsilon=1,
        epsilon_delivered=1,
        noise=Noise.of(safe.LAPLACE, scale, group_query.shape),
        noise_std=np.sqrt(2) * scale,
    )
    audit = releases.audit_of(release, np.random.default_rng(0))
    assert audit.attained == pytest.approx(1 if stated == "replace" else 2)
    assert audit.proven == (stated == "replace")


# --- Intervals --------------------------------------------------------------------------------

LEVEL, DRAWS = 0.95, 2000
#: Numbers of records in the groups of a file of 1,000: some of no group, and small ones.
GROUPS = [(500, 400), (800, 100, 20, 5, 0), (1, 0), (1000, 0, 0)]


def exact(group_query, sizes, ratio):
    """Return records of groups of these sizes, with values about a ratio, and the exact value."""
    rows = np.full((group_query.n_records, group_query.columns + 1), -1.0)
    places = np.repeat(np.arange(len(sizes)), sizes)
    rows[: len(places), -1] = places
    rows[:, :-1] = ratio + np.linspace(-0.05, 0.05, len(rows))[:, None]
    return rows, exact_sums.value(group_query, [group_query.terms(rows)])[:, 0]


def sample(release, draws):
    """Return noise of releases, (draws, G (1 + m)), by a sampler that is not the library's."""
    stream, noise = np.random.default_rng(7), release.noise
    law = stream.normal if noise.law == safe.NORMAL else stream.laplace
    return law(0, noise.size[:, 0], (draws, len(noise.size))) * release.rounding_factor


def noisy(release, value, draws):
    """Return noisy counts (draws, G, 1) and sums (draws, G, m)."""
    drawn = sample(release, draws)
    parts = (value + drawn).reshape(draws, release.query.groups, -1)
    return parts[..., :1], parts[..., 1:]


def misses(release, sizes, ratio, draws=DRAWS, narrower=1.0):
    """Return how many of the simulated releases have an interval that does not cover."""
    group_query = release.query
    rows, value = exact(group_query, sizes, ratio)
    means = [rows[rows[:, -1] == g, :-1] for g in range(len(sizes))]
    truth = np.array(
        [np.full(group_query.columns, part.mean(axis=0) if len(part) else np.inf) for part in means]
    )
    counts, sums = noisy(release, value, draws)
    estimate = ratios(release, sums, counts, (1 - LEVEL) / group_query.features)
    middle, half = (estimate.high + estimate.low) / 2, (estimate.high - estimate.low) / 2
    # Of an empty group there is nothing to cover, and an interval is wrong.
    outside = (np.abs(truth - middle) > narrower * half + 1e-9).any(axis=(1, 2))
    widths = release.interval(LEVEL)[0].reshape(group_query.groups, -1)[:, 0]
    numbers = np.array(sizes) * group_query.weight / group_query.n_records
    far = np.abs(counts[..., 0] - numbers) > narrower * widths + 1e-9
    return int((outside | far.any(axis=1)).sum())


def most(draws):
    """Return the misses beyond which a rate of 5 % is refuted at 1 in 2,000."""
    return (1 - LEVEL) * draws + 3.3 * np.sqrt(LEVEL * (1 - LEVEL) * draws)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("sizes", GROUPS)
def test_intervals_of_counts_and_means_hold_together(gaussian, sizes):
    for columns, adjacency, ratio in product((1, 3), RELATIONS[::2], (-0.8, 0.5)):
        group_query = query(adjacency, gaussian, len(sizes), columns, records=1000)
        assert misses(calibrated(group_query, gaussian), sizes, ratio) <= most(DRAWS)


@pytest.mark.parametrize("gaussian", [False, True])
def test_narrower_intervals_are_found_not_to_cover(gaussian):
    release = calibrated(query("replace", gaussian, 2, 1, records=1000), gaussian)
    draws = 10_000
    assert misses(release, (500, 400), 0, draws) <= most(draws)
    assert misses(release, (500, 400), 0, draws, 0.9) > most(draws)


def missed_shares(release, sizes, draws=DRAWS, narrower=1.0):
    group_query, groups = release.query, len(sizes)
    _, value = exact(group_query, sizes, 0)
    counts = noisy(release, value, draws)[0][..., 0]
    level = (1 + LEVEL) / 2
    widths, reach = release.interval(level)[0], reach_of_sum(release, groups - 1, 0.025 / groups)
    ends = share_ends(counts, narrower * widths, narrower * reach)
    truth = np.array(sizes) / sum(sizes)
    return int(((ends[..., 0] > truth + 1e-9) | (truth > ends[..., 1] + 1e-9)).any(axis=1).sum())


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("sizes", [*GROUPS, (20,) * 30])
def test_intervals_of_shares_hold_together(gaussian, sizes):
    for adjacency in RELATIONS[::2]:
        release = calibrated(query(adjacency, gaussian, len(sizes), 0, records=1000), gaussian)
        assert missed_shares(release, sizes) <= most(DRAWS)


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_third_of_the_width_of_shares_would_not_cover(gaussian):
    release = calibrated(query("replace", gaussian, 3, 0, records=1000), gaussian)
    assert missed_shares(release, (400, 300, 300), narrower=1 / 3) > most(DRAWS)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("numbers", [1, 2, 5, 40])
def test_the_noise_of_a_sum_is_within_its_reach(gaussian, numbers):
    release = calibrated(query("replace", gaussian, 41, 0, records=1000), gaussian)
    drawn = sample(release, 20_000)[:, :numbers].sum(axis=1)
    for chance in (0.2, 0.01):
        reach = reach_of_sum(release, numbers, chance)
        share = (np.abs(drawn) > reach).mean()
        assert share <= chance + 3.3 * np.sqrt(chance / 20_000)
        # The control, and that it is no wider than it need be.
        assert (np.abs(drawn) > reach / 2).mean() > chance
