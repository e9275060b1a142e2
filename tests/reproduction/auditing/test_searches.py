"""Every mechanism on every query it serves, domain and relation: a search for worse neighbours.

What is searched follows from the public names and the registry, so that a new one is searched or
fails here. A search climbs from many starts (:mod:`matrixdp.auditing.neighbours`) and tries random
pairs, of one record or of all records of one person. Its power: where mu is exact it attains 99 %,
so that noise a hundredth too small fails.
`make test` runs all public names, and of the registry one domain and relation per query;
`make test-all` (``--nightly``) runs all, and more seeds. What requests of the command line and
estimators make of these is searched in test_request_searches.py.
"""

import contextlib
import importlib
import inspect
import pkgutil
import sys
from dataclasses import fields, replace
from itertools import product
from typing import get_args

import numpy as np
import pytest
from mechanismqueries import DOMAINS, RELATIONS
from nights import nightly_but

import matrixdp as mdp
from matrixdp.auditing.neighbours import SIDES, changes, worst
from matrixdp.auditing.projection import ComposedAudit
from matrixdp.auditing.releases import audit_of
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.centred import CentredMoments, mean_query
from matrixdp.mechanisms.clipped import PrivatelyClippedMoments, shells
from matrixdp.mechanisms.mechanism import CalibratedMechanism, Mechanism, NoGuarantee
from matrixdp.mechanisms.scaled import WeightedConstant
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import exact_sums
from matrixdp.privacy.groups import GroupMeanQuery
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import (
    ADD_OR_REMOVE,
    ADJACENCIES,
    Ball,
    Box,
    Query,
    RecordsQuery,
    SecondMomentQuery,
)
from matrixdp.privacy.sizes import SizeQuery
from reproduction import mechanisms
from reproduction.mechanisms import registry
from reproduction.mechanisms.adaptive import Spectrum
from reproduction.mechanisms.adassp import NormalEquations, RidgedEquations
from reproduction.mechanisms.exponential import PrincipalDirection

RECORDS = 20
BUDGET = {"epsilon": 1.0, "delta": 1e-3}
PUBLIC = [getattr(mdp, name) for name in mdp.__all__]
PUBLIC = {one.__name__: one for one in PUBLIC if inspect.isclass(one)}
MECHANISMS = {name: one for name, one in PUBLIC.items() if issubclass(one, Mechanism)}
QUERIES = [one for one in PUBLIC.values() if issubclass(one, get_args(Query))]
CASES = list(product(DOMAINS, ADJACENCIES))
#: One value of each parameter of a mechanism of the registry.
PARAMETERS = {
    "direction": (1,),
    "tau": 0.75,
    "sketch_multiple": 4.0,
    "squared_radius_fraction": 1 / 4,
}


def built(name):
    entry = registry()[name]
    return entry.build(**{each: PARAMETERS[each] for each in entry.parameters})


#: Its neighbours are records, and its values are counts: test_histogram.py searches it.
COUNTED = SizeQuery
SERVED = [(name, kind) for name in registry() for kind in built(name).queries - {COUNTED}]
SERVED.sort(key=lambda pair: (pair[0], pair[1].__name__))
#: One case per query of a mechanism, another one for the next.
SOME = [(*pair, *CASES[k % len(CASES)]) for k, pair in enumerate(SERVED)]


#: Public classes that release nothing by themselves.
OTHERS = {
    *("Option", "AuditResult", "AdditiveMechanism", "PrivacyStatement", "Account", "InputError"),
    "Sums",
}
#: Those that release what mechanisms do, see test_request_searches.py.
ESTIMATORS = [one for one in PUBLIC.values() if hasattr(one, "fit")]


def example(name):
    """Return a public mechanism with its defaults; one that wraps another has a Gaussian one."""
    return mdp.MinMaxScaled(mdp.Gaussian()) if name == "MinMaxScaled" else MECHANISMS[name]()


def posed(kind, domain, adjacency):
    bounds = DOMAINS[domain]
    if kind is PresentMeanQuery:
        return kind.of(bounds.features, RECORDS, adjacency)
    if kind is GroupMeanQuery:
        return kind.of(3, 1, RECORDS, adjacency)
    return kind(bounds, RECORDS, adjacency)


def random_pairs(query, stream, count=500):
    """Return pairs of records, (2, count, m): inside and at corners, or one of them null.

    Where people have k records, (2, count, k m).
    """
    domain, sides = query.domain, (2, count * query.group, 1)
    shape = (*sides[:2], query.features)
    if isinstance(domain, Ball):
        pairs = stream.standard_normal(shape)
        pairs *= domain.radius / np.linalg.norm(pairs, axis=-1, keepdims=True)
        pairs *= np.where(stream.random(sides) < 0.5, 1, stream.random(sides))
    else:
        low, high = np.array(domain.lower), np.array(domain.upper)
        corners = np.where(stream.random(shape) < 0.5, low, high)
        pairs = np.where(stream.random(shape) < 0.5, corners, stream.uniform(low, high, shape))
    if query.adjacency != "replace":
        pairs[1] = 0
    return pairs.reshape(2, count, -1)


def searched(release, stream):
    """Return how far apart the worst neighbours are, and how far the release says at most."""
    distribution, query = release.noise, release.query

    def size(change):
        if not isinstance(distribution, Noise):
            # K-norm noise of the study.
            if release.mu is None:
                return distribution.size(change)
            return np.linalg.norm(distribution.whiten(change), axis=-1)
        return np.linalg.norm(distribution.whiten(change), 1 if release.mu is None else 2, axis=-1)

    pair = worst(query, size, stream)
    tried = size(changes(query, *random_pairs(query, stream))).max()
    return pair, max(pair.size, tried), release.mu or release.epsilon_delivered


def seeds(config):
    return range(20) if config.getoption("--nightly") else range(1)


def test_all_that_is_public_is_searched():
    assert len(MECHANISMS) >= 5
    assert len(QUERIES) >= 3
    domains = [one for one in PUBLIC.values() if hasattr(one, "magnitudes")]
    assert set(domains) == {type(domain) for domain in DOMAINS.values()}
    # A public class of no kind that is searched is one of those that release nothing.
    kinds = {*MECHANISMS.values(), *QUERIES, *domains, *ESTIMATORS}
    assert {*PUBLIC.values()} - kinds == {PUBLIC[name] for name in OTHERS}
    kinds = {kind for _, kind in SERVED} | {k for one in MECHANISMS for k in example(one).queries}
    assert kinds == set(QUERIES) | {NormalEquations, PresentMeanQuery, GroupMeanQuery, COUNTED}


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_neighbours_are_further_apart_than_public_mechanisms_say(
    name, kind, domain, adjacency, request, monkeypatch
):
    mechanism, query = example(name), posed(kind, domain, adjacency)
    if name == "MinMaxScaled" and domain == "ball":
        with pytest.raises(mdp.InputError, match="a ball bounds the records"):
            mechanism.calibrate(query, **BUDGET)
        return
    if kind not in mechanism.queries:
        with pytest.raises(mdp.InputError, match="serves only"):
            mechanism.calibrate(query, **BUDGET)
        return
    release = mechanism.calibrate(query, **BUDGET)
    monkeypatch.setattr(safe, "noise", lambda unit, count, bits: np.zeros(count, np.int64))
    for seed in seeds(request.config):
        stream = np.random.default_rng(seed)
        pair, widest, declared = searched(release, stream)
        assert widest <= declared * (1 + 1e-9)
        if release.tight:
            assert pair.size > 0.99 * declared
        # The same on what is released for real, with all roundings.
        rows = np.clip(random_pairs(query, stream, RECORDS)[0], -10, 10)
        value = exact_sums.value(query, [rows])
        other = value.copy()
        change = changes(query, pair.record[None], pair.other[None])[0]
        other[:, : change.shape[1]] -= change
        released = [release.release_value(side) for side in (value, other)]
        change = released[0] - released[1]
        change = change.T if query.output_type == "matrix" else change
        white = release.noise.whiten(change) / release.rounding_factor
        apart = np.linalg.norm(white, 2 if release.mu else 1)
        assert 0.99 * pair.size < apart <= (release.statement.mu or declared) * (1 + 1e-9)


@pytest.mark.parametrize("kind", QUERIES)
def test_noise_a_hundredth_too_small_is_seen(kind):
    release = mdp.Gaussian().calibrate(posed(kind, "cube", "replace"), **BUDGET)
    release = replace(release, noise=release.noise.times(0.99))
    _, widest, declared = searched(release, np.random.default_rng(0))
    assert widest > 1.005 * declared


#: Records of one person.
PER_PERSON = 3
OF_PEOPLE = list(product(DOMAINS, RELATIONS))


def people_apart(mechanism, query, stream):
    """Return how far apart the worst people are, over what a release says, and whether exactly.

    And how far apart they are for noise that is made for one record.
    """
    release = mechanism.calibrate(query, **BUDGET)
    assert release.statement.per_person == PER_PERSON
    pair, widest, declared = searched(release, stream)
    assert widest <= declared * (1 + 1e-9)
    if release.tight:
        assert pair.size > 0.99 * declared
    single = mechanism.calibrate(replace(query, per_person=None), **BUDGET)
    return widest / declared, searched(replace(release, noise=single.noise), stream)[1] / declared


@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_people_are_further_apart_than_public_mechanisms_say(name, kind, request):
    mechanism, first = example(name), [*MECHANISMS].index(name) + [*QUERIES].index(kind)
    if kind not in mechanism.queries:
        return
    night = request.config.getoption("--nightly")
    for domain, adjacency in OF_PEOPLE if night else OF_PEOPLE[first % 4 :: 4]:
        if kind is RecordsQuery and adjacency == ADD_OR_REMOVE:
            with pytest.raises(mdp.InputError, match="show their number"):
                posed(kind, domain, adjacency)
        elif name != "MinMaxScaled" or domain != "ball":
            query = replace(posed(kind, domain, adjacency), per_person=PER_PERSON)
            reached, single = people_apart(mechanism, query, np.random.default_rng(0))
            # Columns that change are at right angles, terms of a sum add up.
            times = np.sqrt(PER_PERSON) if kind is RecordsQuery else PER_PERSON
            assert single > 0.99 * times * reached


#: A domain, a relation, and how many records each person has at most, beyond ``CASES``.
PEOPLE_CASES = [
    *product(DOMAINS, RELATIONS, [PER_PERSON]),
    *product(DOMAINS, [ADD_OR_REMOVE], [None]),
]


def parts_apart(release, query, stream, known=None):
    """Return how far apart neighbours of a query have a release, as its mu or pure epsilon.

    Of a release in parts the squares of mu add up. What neighbours change follows from the query
    that was asked, and not from those of the parts. ``known`` keeps what is found of parts, by id.
    """
    known = {} if known is None else known
    if id(release) not in known:
        # The object is kept, too: its id is then no other's.
        known[id(release)] = _apart(release, query, stream, known), release
    return known[id(release)][0]


def _apart(release, query, stream, known):
    if isinstance(release, AdditiveMechanism):
        assert (release.query.adjacency, release.query.group) == (query.adjacency, query.group)
        return searched(release, stream)[1]
    if isinstance(release, RidgedEquations):
        assert (release.query.adjacency, release.query.group) == (query.adjacency, query.group)
        norms = release.query.measures
        eigenvalue, products = (
            worst(release.query, norms[measure][1], stream).size
            for measure in ("smallest eigenvalue of x", "l2, x times y")
        )
        moments = parts_apart(release.design, query, stream, known)
        return np.linalg.norm(
            [eigenvalue / release.eigenvalue_std, moments, products / release.target_std]
        )
    if isinstance(release, PrivatelyClippedMoments):
        counted = counts_apart(release, query) / release.count_std
        # All but the largest radius are those of balls, which differ in their unit alone.
        parts = [release.release_at(number) for number in range(len(release.candidates))]
        rest = [parts_apart(part, query, stream, known) for part in (parts[0], parts[-1])]
        np.testing.assert_allclose(
            [per_square(part) for part in parts[1:]], [per_square(parts[-1])] * (len(parts) - 1)
        )
        return np.hypot(counted, max(rest))
    assert isinstance(release, CentredMoments), f"nothing searches {type(release).__name__}"
    # What is released of the mean is of (x, 1) where the number of records is private.
    mean = mean_query(query)
    moved = worst(mean, lambda d: np.linalg.norm(d, axis=(-2, -1)), stream).size
    # About a mean, a record that is set to zero is one that is replaced.
    about = query if query.add_or_remove else replace(query, adjacency="replace")
    return np.hypot(moved / release.centre_std, parts_apart(release.about, about, stream, known))


def per_square(part):
    """Return the deviations of the noise of a release at a radius, over the squared radius."""
    if isinstance(part, RidgedEquations):
        noise = part.eigenvalue_std, part.design.noise_std, part.target_std
    else:
        noise = part.noise_std
    return np.array(noise, float) / part.query.domain.radius**2


def counts_apart(release, query):
    """Return how far apart the counts of lengths are, for records of two lengths of one person."""
    radius, count = release.query.domain.radius, len(release.candidates)
    full = np.zeros((2, query.features, query.group))
    full[0, 0] = radius
    before, after = shells(full, radius, count)
    return np.linalg.norm(before - (0 if query.add_or_remove else after))


def people_searched(name, kind, domain, adjacency, per_person):
    """Search the neighbours of one case, and return the class of the release; None if refused."""
    mechanism = built(name)
    if kind is RecordsQuery and adjacency == ADD_OR_REMOVE:
        with pytest.raises(mdp.InputError, match="show their number"):
            posed(kind, domain, adjacency)
        return None
    query = replace(posed(kind, domain, adjacency), per_person=per_person)
    if not mechanism.sensitivity_only:
        with pytest.raises(mdp.InputError, match="protects one record of a public number"):
            mechanism.calibrate(query, **BUDGET)
        return None
    try:
        release = mechanism.calibrate(query, **BUDGET)
    except NoGuarantee:
        return None
    apart = parts_apart(release, query, np.random.default_rng(0))
    declared = release.mu or release.epsilon_delivered
    assert apart <= declared * (1 + 1e-9), (name, domain, adjacency, per_person)
    return type(release)


@pytest.mark.parametrize(("name", "kind"), SERVED)
def test_a_mechanism_protects_people_or_refuses_them(name, kind, request):
    night = request.config.getoption("--nightly")
    turn = SERVED.index((name, kind)) % len(PEOPLE_CASES)
    for case in PEOPLE_CASES if night else [PEOPLE_CASES[turn]]:
        people_searched(name, kind, *case)


#: Releases in parts, each with a relation; every day one relation each.
PARTS_OF_PEOPLE = {
    f"{name}, {adjacency}": (name, adjacency)
    for name in ("clipped_private", "adassp_private", "centred_private")
    for adjacency in RELATIONS
}


@pytest.mark.parametrize(
    ("name", "adjacency"), nightly_but([*PARTS_OF_PEOPLE][::4], PARTS_OF_PEOPLE)
)
def test_noise_for_one_record_of_a_person_is_seen_in_every_part(name, adjacency):
    (kind,) = built(name).queries
    query = replace(posed(kind, "ball", adjacency), per_person=PER_PERSON)
    release = built(name).calibrate(query, **BUDGET)
    stream, known = np.random.default_rng(0), {}
    # Some neighbours reach most of it: no two records do in all parts.
    reached = parts_apart(release, query, stream, known)
    assert 0.9 * release.mu < reached <= release.mu * (1 + 1e-9)
    weak = []
    if isinstance(release, CentredMoments):
        about = release.about
        weak.append(replace(release, centre_std=release.centre_std / PER_PERSON))
        about = replace(about, count_std=about.count_std / PER_PERSON)
        weak.append(replace(release, about=about))
    else:
        weak.append(replace(release, count_std=release.count_std / PER_PERSON))
    for one in weak:
        assert parts_apart(one, query, stream, known) > 1.05 * release.mu


def subclasses(kind):
    """Return all classes of the package below a class that can have objects.

    The negative control's classes are wrong on purpose.
    """
    below = {*kind.__subclasses__()}
    for one in kind.__subclasses__():
        below |= subclasses(one)
    return {
        one
        for one in below
        if one.__module__.startswith("matrixdp.")
        and ".negative_control" not in one.__module__
        and getattr(sys.modules[one.__module__], one.__name__, None) is one
        and not inspect.isabstract(one)
    }


def test_every_class_that_can_be_calibrated_is_searched():
    """What neither the registry nor the public names build is searched nowhere, and fails."""
    for package in (mdp.mechanisms, mechanisms):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    searched = {type(built(name)) for name in registry()} | {*MECHANISMS.values()}
    # A list of answers alone asks for it: the conformance suite searches it.
    searched.add(WeightedConstant)
    assert {one.__name__ for one in subclasses(Mechanism) - searched} == set()


def test_every_class_that_can_be_released_is_searched():
    """Of simulated releases here, of real ones in parts in test_composed_parts.py."""
    found = set()
    for name, kind in SERVED:
        with contextlib.suppress(NoGuarantee):
            pending = [built(name).calibrate(posed(kind, "cube", "replace"), **BUDGET)]
            while pending:
                release = pending.pop()
                found.add(type(release))
                parts = [getattr(release, field.name) for field in fields(release)]
                parts += [one for part in parts if isinstance(part, tuple) for one in part]
                pending += [one for one in parts if isinstance(one, CalibratedMechanism)]
    # What a radius search holds in its steps alone.
    found |= {Spectrum}
    assert {one.__name__ for one in subclasses(CalibratedMechanism) - found} == set()


def largest_eigenvalue(domain, adjacency):
    """Return the largest eigenvalue in size of x x^T - x' x'^T, exactly, over a public domain.

    It is R^2, the largest squared norm, where x' may be orthogonal to a longest x: a null record
    is, in a ball some record is, and in a box that depends on c = sum_i lower_i upper_i.

    Let m be the middle of the box, w its half-widths, v a unit vector with v . m >= 0, s = v . m
    and t = sum_i |v_i| w_i. Over the box v . x goes from s - t to s + t. So (v . x)^2 - (v . x')^2
    is at most f(v) = (s + t)^2 - max(0, s - t)^2. The corner p = m + sign(v) w has v . p = s + t,
    and its opposite corner q = 2 m - p has v . q = s - t, so that points of the segment from p to q
    attain f(v). Whatever the corner, p . q = c and |p|^2 + |q|^2 = T = sum_i lower_i^2 + upper_i^2.

    - c <= 0: the segment from the longest corner p has a point x' orthogonal to p. With v along p
      the difference is R^2.
    - c > 0: f(v) is at most the largest eigenvalue of p p^T - q q^T. Where v . q >= 0 this is its
      form. Where v . q < 0, v less its part along q, made a unit vector u, has u . q = 0 and
      u . p >= v . p, since p . q > 0. p and q are neighbours, so that the bound is attained. The
      eigenvalue is |p|^2 - T / 2 + sqrt(T^2 / 4 - c^2), largest for |p| = R.

    The smallest eigenvalue is that of x and x' exchanged.
    """
    square = domain.radius**2
    if adjacency == "zero_out" or isinstance(domain, Ball):
        return square
    lower, upper = np.array(domain.lower), np.array(domain.upper)
    product, half = lower @ upper, (lower @ lower + upper @ upper) / 2
    return square if product <= 0 else square - half + np.sqrt(half**2 - product**2)


def searched_case(name, kind, domain, adjacency, seed):
    """Search the neighbours that move a release most, and hold them to the mu that it states.

    A mechanism without a guarantee for the query has nothing to hold.
    """
    try:
        release = built(name).calibrate(posed(kind, domain, adjacency), **BUDGET)
    except NoGuarantee:
        return
    stream = np.random.default_rng(seed)
    if isinstance(release, AdditiveMechanism) and (release.mu or hasattr(release.noise, "norm")):
        _, widest, declared = searched(release, stream)
        assert widest <= declared * (1 + 1e-9)
        return
    if isinstance(release, PrincipalDirection):
        # The exponent moves by this at most, and the normaliser as far again if a record comes.
        pair = worst(release.query, lambda d: np.linalg.norm(d, ord=2, axis=(-2, -1)), stream)
        most = largest_eigenvalue(DOMAINS[domain], adjacency) / RECORDS
        assert 0.99 * most < pair.size <= most * (1 + 1e-9)
        loss = release.kappa * most * SIDES[adjacency]
        radius = DOMAINS[domain].radius
        assert loss == pytest.approx(release.epsilon * most * RECORDS / radius**2)
        assert loss <= release.epsilon * (1 + 1e-9)
        return
    audit = audit_of(release, stream)
    # A black box alone searches nothing.
    assert audit.tool != "black box"
    if isinstance(audit, ComposedAudit):
        assert audit.mu <= release.mu * (1 + 1e-9)
    else:
        assert 0 <= audit.attained <= release.epsilon_delivered * (1 + 1e-9)


def test_a_search_attains_the_largest_eigenvalue_and_never_passes_it():
    assert DOMAINS["anywhere"].radius ** 2 == pytest.approx(38)
    assert largest_eigenvalue(DOMAINS["anywhere"], "replace") == pytest.approx(37)
    stream = np.random.default_rng(0)
    for far in (0.0, 0.5, 1.5, 4.0):
        lower = far + stream.uniform(-1, 0, 3)
        box = Box(tuple(lower), tuple(lower + stream.uniform(0.5, 2, 3)))
        query = SecondMomentQuery(box, RECORDS)
        pair = worst(query, lambda d: np.linalg.norm(d, ord=2, axis=(-2, -1)), stream)
        most = largest_eigenvalue(box, "replace") / RECORDS
        assert most * (1 - 1e-6) < pair.size <= most * (1 + 1e-9)


@pytest.mark.parametrize(("name", "kind", "domain", "adjacency"), SOME)
def test_no_neighbours_are_further_apart_than_a_mechanism_says(name, kind, domain, adjacency):
    searched_case(name, kind, domain, adjacency, 0)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "kind"), SERVED)
def test_all_cases_of_a_mechanism(name, kind):
    for case, seed in product(CASES, range(3)):
        searched_case(name, kind, *case, seed)
