"""Requests of the command line, and fits of estimators, on neighbours of all kinds.

What is searched follows from the names that a specification may have: query x mechanism x bounds x
relation. Each is refused in a sentence or searched. Of every record of a grid the value is computed
that gets noise, and no two values may be further apart than the release says. Where that is exact
some two are 99 % as far apart, so that noise a hundredth too small fails. `make test` executes some
releases in parts; `make test-all` (``--nightly``) executes all.
"""

import functools
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from partsearch import largest_mu

import matrixdp as mdp
from matrixdp.auditing import alignment
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.mechanisms.mechanism import NoGuarantee
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.privacy import exact_sums
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, Ball, SecondMomentQuery
from matrixdp.release import choices, outlooks
from matrixdp.release.choices import by_noise as options
from matrixdp.release.keys import (
    CLIPPED,
    MECHANISMS,
    RECOMMENDED,
    RELATIONS,
    SYMMETRIC,
)
from matrixdp.release.outputs import OUTPUTS
from matrixdp.release.parser import read

#: Bounds of three columns, and what else a specification says of them.
BOUNDS = {
    "about zero": ([(-1, 1), (-40, 40), (-1e-3, 1e-3)], ""),
    "anywhere": ([(20, 120), (-5, 3), (0, 1e5)], ""),
    "max_norm": ([(-1000, 1000)] * 3, "max_norm = 1.0"),
}
NAMES = "abc"
#: Several answers of one release, whose constant has a weight other than 1.
LIST = ("mean", "covariance", "regression")
#: Records of each person that count, where a specification has people.
PER_PERSON = 3
CASES = [*product([*OUTPUTS, LIST], [*MECHANISMS, CLIPPED, RECOMMENDED])]
#: In half ranges about the middle. The fraction is the worst one of Laplace noise, see ``share``.
LEVELS = (-1.0, -1 / 4, 0.0, 1.0)
GRID = np.array([*product(LEVELS, repeat=3)])


def specified(folder, query, mechanism, bounds, adjacency, per_person=None, by=""):
    sides, more = BOUNDS[bounds]
    missing = "" if query == "counts" else 'missing = "refuse"'
    more += by and f'\nby = "g"\ncategories = {{g = {by}}}'
    if per_person:
        more += f'\nperson = "p"\nper_person = {per_person}'
    target = 'target = "c"' if "regression" in query else ""
    lines = [f"{name} = [{low}, {high}]" for name, (low, high) in zip(NAMES, sides, strict=True)]
    (folder / "s.toml").write_text(
        f'file = "s.csv"\nquery = {json.dumps(query)}\nrecords = {per_person or 1}\n'
        "epsilon = 1.0\ndelta = 1e-6\n"
        f'mechanism = "{mechanism}"\nadjacency = "{adjacency}"\n{target}\n{more}\n'
        f"{missing}\n" + "\n".join(["[bounds]", *lines] if missing else [])
    )
    return read(folder / "s.toml")


def apart(release, values, adjacency):
    """Return how far apart the release has two values of single records (k, ...), at most."""
    changes = values
    if adjacency == "replace":
        one, other = np.triu_indices(len(values), 1)
        changes = values[one] - values[other]
    norm = 1 if release.mu is None else 2
    return float(np.linalg.norm(release.noise.whiten(changes), norm, axis=-1).max())


def share(release, constant):
    """Return which share of what a release says some records of the grid attain; 0 if unknown.

    Laplace noise on second moments of z = (x, w), m columns x in [-1, 1], is charged with
    m (m + 1) / 2 + w m + w^2 for the upper triangle. Replacement leaves the constant as it is. With
    u = x + x', v = x - x', b_i = |v_i| and |u_i| <= 2 - b_i, the triangle changes by at most
    (sum_i (2 - b_i) sum_i b_i + sum_i (2 - b_i) b_i) / 2 + w sum_i b_i. This is concave in b, and
    largest where all b_i = 1 + w / (m + 1): for w = 1 at x = 1 and -1 / (m + 1). Where all are b
    it is m (m + 1) (1 - (b - 1)^2) / 2 + w m b.

    Noise of one size on the triangle for z in a ball is charged with two axes of length sqrt(2).
    With a constant, unit vectors at an angle of 120 degrees attain 3/4 of it, sqrt(9/2).
    """
    query = release.query
    if release.mu is not None:
        in_ball = constant and isinstance(query.domain, Ball)
        return (0.75 if in_ball else 1.0) if release.tight else 0.0
    if isinstance(query.domain, Ball):
        return 0.0
    if query.output_type == "matrix":
        return 1.0
    if constant and query.adjacency == "replace":
        m, w = query.features - 1, release.noise.size[0, 0] / release.noise.size[0, CONSTANT]
        b = 1 - np.array(LEVELS)
        changes = m * (m + 1) * (1 - (b - 1) ** 2) / 2 + w * m * b
        return changes.max() / (m * (m + 1) / 2 + w * m + w**2)
    return 1.0 if query.domain.symmetric else 0.0


def values(spec, rows):
    """Return what gets noise for each of some records alone, (k, ...).

    Where people have several records, for as many of each: they move a sum most if all are alike.
    """
    blocks = [np.tile(spec.scaled(row[None]), (spec.query.group, 1)) for row in rows]
    return np.array([exact_sums.value(spec.query, [block]) for block in blocks])


@pytest.mark.parametrize(("query", "mechanism"), CASES)
def test_no_neighbours_are_further_apart_than_the_receipt_says(query, mechanism, tmp_path, request):
    second_moments = query == LIST or OUTPUTS[query].query_type is SecondMomentQuery
    for bounds, adjacency, per_person in product(BOUNDS, RELATIONS, (None, PER_PERSON)):
        case = query, mechanism, bounds, adjacency, per_person
        refused = ""
        if query == "records" and per_person and adjacency != ADD_OR_REMOVE:
            # Records are alone here: columns of several are searched in test_searches.py.
            continue
        if mechanism in SYMMETRIC and not second_moments:
            refused = "answers queries on second moments alone"
        elif adjacency == ADD_OR_REMOVE and (
            query == "records" or (query == "second_moments" and mechanism != CLIPPED)
        ):
            # The answer would not say by what it is to be divided.
            refused = "which serves the queries"
        if refused:
            with pytest.raises(mdp.InputError, match=refused):
                specified(tmp_path, *case)
            continue
        spec = specified(tmp_path, *case)
        found = options(spec)
        if mechanism == RECOMMENDED:
            assert len(found) >= (3 if second_moments else 2)
        if mechanism == CLIPPED:
            (option,) = found
            some = bounds == "anywhere" and query in ("second_moments", "covariance", "regression")
            some = some and not per_person and adjacency != ADD_OR_REMOVE
            if some or request.config.getoption("--nightly"):
                assert_executed_as_declared(option.release)
            continue
        for option in found:
            assert_apart(option.release, values(spec, rows(spec)), spec.constant)


@pytest.mark.parametrize("query", ["mean", "counts"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_no_neighbours_of_groups_are_further_apart_than_the_receipt_says(
    query, mechanism, tmp_path
):
    """A record of every group, and of none, with values at the ends of their bounds."""
    ends, places = np.array([*product((-1.0, 0.0, 1.0), repeat=3)]), [-1, 0, 2]
    for adjacency, per_person in product(RELATIONS, (None, PER_PERSON)):
        case = query, mechanism, "anywhere", adjacency, per_person, '["x", "y", "z"]'
        spec = specified(tmp_path, *case)
        of_records = np.empty((1, 0))
        if query == "mean":
            of_records = spec.box.middle + spec.box.widths / 2 * ends
        records = np.array([[*row, place] for row, place in product(of_records, places)])
        for option in options(spec):
            assert_apart(option.release, values(spec, records), spec.constant)
            # The control: what a record changes that leaves, of one that moves.
            if adjacency == "replace" and mechanism == "laplace":
                less = replace(option.release, noise=option.release.noise.times(0.5))
                with pytest.raises(AssertionError):
                    assert_apart(less, values(spec, records), spec.constant)


def rows(spec):
    """Return records at ``GRID`` within the bounds of a specification."""
    return spec.box.middle + spec.box.widths / 2 * GRID


def assert_apart(release, values, constant):
    declared = release.mu or release.epsilon_delivered
    reached = apart(release, values, release.query.adjacency)
    assert reached <= declared * (1 + 1e-9), release
    assert reached > 0.99 * share(release, constant) * declared, release


def assert_executed_as_declared(release):
    assert alignment.replay(release, np.random.default_rng(0)).differing_share == 0
    assert 0.99 < largest_mu(release) / release.mu <= 1 + 1e-9


def test_a_hundredth_less_noise_is_seen(tmp_path):
    for query in (*OUTPUTS, LIST):
        spec = specified(tmp_path, query, "gaussian", "about zero", "replace")
        (option,) = options(spec)
        release = replace(option.release, mu=0.99 * option.release.mu)
        with pytest.raises(AssertionError):
            assert_apart(release, values(spec, rows(spec)), True)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("part", ["mean", "moments"])
def test_noise_of_several_answers_that_charges_one_part_alone_is_seen(tmp_path, mechanism, part):
    """The control: noise that the whole budget would allow if the other part were not released."""
    spec = specified(tmp_path, LIST, mechanism, "about zero", "replace")
    (option,), columns = options(spec), len(NAMES)
    release, size = option.release, np.array(option.release.noise.size)
    query = mdp.MeanQuery(mdp.Box.cube(columns, -1.0, 1.0), 1)
    if part == "moments":
        query = SecondMomentQuery(query.domain, 1)
    alone = option.mechanism.mechanism.calibrate(query, epsilon=1.0, delta=release.delta or 1e-6)
    row = np.arange(columns + 1) == columns + 1 + CONSTANT
    of_mean = row[:, None] ^ row
    if part == "mean":
        size[of_mean] = alone.noise.size[0, 0]
    else:
        size[~of_mean & ~row[:, None]] = np.min(alone.noise.size)
    weak = replace(release, noise=replace(release.noise, size=size))
    with pytest.raises(AssertionError):
        assert_apart(weak, values(spec, rows(spec)), constant=True)
    with pytest.raises(NoGuarantee):
        weak.check()


pytest.importorskip("sklearn", reason="estimators are searched, too")
ESTIMATORS = [one for one in map(mdp.__getattr__, mdp.__all__) if hasattr(one, "fit")]


@pytest.mark.parametrize("options", [{"delta": 1e-6}, {"delta": 0.1}, {"max_norm": 1.0}])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_neighbours_are_further_apart_than_a_fit_says(estimator, options, monkeypatch):
    seen = []
    # Without a comparison, so that noise is additive; fits in parts follow below.
    monkeypatch.setattr(outlooks, "MOST_COLUMNS", 0)
    monkeypatch.setattr(choices, "_listed", functools.cache(choices._listed.__wrapped__))
    monkeypatch.setattr(
        AdditiveMechanism, "release_value", lambda _, value: (seen.append(value), value)[1]
    )
    fitted = [fit(estimator, row[None], **options) for row in GRID]
    assert len(seen) == len(GRID)
    assert_apart(fitted[0].mechanism_, np.array(seen), constant=True)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_fit_in_parts_is_that_release_of_records_in_half_ranges(estimator, monkeypatch):
    seen, sample = [], ComposedMoments.prepare
    monkeypatch.setattr(
        ComposedMoments, "prepare", lambda self, rows: (seen.extend(rows()), sample(self, rows))[1]
    )
    fitted = fit(estimator, GRID, mechanism=CLIPPED)
    assert seen[0] == pytest.approx(GRID)
    query = fitted.mechanism_.query
    assert (query.domain, query.n_records) == (mdp.Box.cube(3, -1.0, 1.0), len(GRID))
    assert_executed_as_declared(fitted.mechanism_)


def fit(estimator, scaled, **more):
    """Return an estimator after a fit of records that are given in half ranges about the middle."""
    low, high = np.array(BOUNDS["anywhere"][0]).T
    more["even_if_useless"] = True
    rows = (low + high) / 2 + (high - low) / 2 * scaled
    if not hasattr(estimator, "target_bounds"):
        return estimator(bounds=np.column_stack([low, high]), **more).fit(rows)
    bounds = {i: (low[i], high[i]) for i in range(2)}
    sides = {"bounds": bounds, "target_bounds": (low[2], high[2])}
    return estimator(**sides, **more).fit(rows[:, :2], rows[:, 2])
