"""Every mechanism on every query it serves, domain and relation: a search for worse neighbours.

What is searched follows from the public names and the registry, so that a new one is searched or
fails here. A search climbs from many starts (:mod:`matrixdp.audit.neighbours`) and tries random
pairs. Its power: where mu is exact it attains 99 %, so that noise a hundredth too small fails.
`make test` runs all public names, and of the registry one domain and relation per query;
`make faults` (``--long``) runs all, and more seeds.
"""

import inspect
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import safe
from matrixdp.audit.neighbours import SIDES, changes, worst
from matrixdp.audit.projection import ComposedAudit
from matrixdp.audit.releases import audit_of
from matrixdp.mechanisms import registry
from matrixdp.mechanisms.base import Additive, Mechanism, NoGuarantee
from matrixdp.mechanisms.exponential import PrincipalDirection
from matrixdp.mechanisms.target_mean import InterceptEquations, TargetMean
from matrixdp.privacy import exact
from matrixdp.privacy.sensitivity import ADJACENCIES, Ball, Box, NormalEquations, Query

RECORDS = 20
BUDGET = {"epsilon": 1.0, "delta": 1e-3}
DOMAINS = {
    "cube": Box.cube(4, -1.0, 1.0),
    "nonnegative": Box((0.0, 0.0, 0.0), (1.0, 2.0, 3.0)),
    "anywhere": Box((-1.0, 2.0, -3.0), (2.0, 5.0, 0.5)),
    "ball": Ball(2.0, 3),
}
PUBLIC = [getattr(mdp, name) for name in mdp.__all__]
PUBLIC = {one.__name__: one for one in PUBLIC if inspect.isclass(one)}
MECHANISMS = {name: one for name, one in PUBLIC.items() if issubclass(one, Mechanism)}
QUERIES = [one for one in PUBLIC.values() if issubclass(one, get_args(Query))]
CASES = list(product(DOMAINS, ADJACENCIES))
#: One value of each axis of a mechanism of the registry.
AXES = {"direction": (1,), "tau": 0.75, "rows": 4.0, "radius": 1 / 4}


def built(name):
    entry = registry()[name]
    names = {"direction": "important"}
    return entry.build(**{names.get(axis, axis): AXES[axis] for axis in entry.axes})


SERVED = [(name, kind) for name in registry() for kind in built(name).queries]
SERVED.sort(key=lambda pair: (pair[0], pair[1].__name__))
ALL = [(*pair, *case) for pair, case in product(SERVED, CASES)]
#: One case per query of a mechanism, another one for the next.
SOME = [(*pair, *CASES[k % len(CASES)]) for k, pair in enumerate(SERVED)]


#: Public names that release nothing by themselves.
OTHERS = {"Option", "Additive", "PrivacyStatement", "PrivatePCA", "PrivateRidge", "InputError"}


def example(name):
    """Return a public mechanism with its defaults; one that wraps another has a Gaussian one."""
    return mdp.Scaled(mdp.Gaussian()) if name == "Scaled" else MECHANISMS[name]()


def posed(kind, domain, adjacency):
    return kind(DOMAINS[domain], RECORDS, adjacency)


def random_pairs(query, stream, count=500):
    """Return pairs of records, (2, count, m): inside and at corners, or one of them null."""
    domain, shape = query.domain, (2, count, query.features)
    if isinstance(domain, Ball):
        pairs = stream.standard_normal(shape)
        pairs *= domain.radius / np.linalg.norm(pairs, axis=-1, keepdims=True)
        pairs *= np.where(stream.random((2, count, 1)) < 0.5, 1, stream.random((2, count, 1)))
    else:
        low, high = np.array(domain.lower), np.array(domain.upper)
        corners = np.where(stream.random(shape) < 0.5, low, high)
        pairs = np.where(stream.random(shape) < 0.5, corners, stream.uniform(low, high, shape))
    if query.adjacency == "zero_out":
        pairs[1] = 0
    return pairs


def searched(release, stream):
    """Return how far apart the worst neighbours are, and how far the release says at most."""
    law, query = release.noise, release.query

    def size(change):
        if release.mu is None:
            return law.size(change)
        return np.linalg.norm(law.whiten(change), axis=-1)

    pair = worst(query, size, stream)
    tried = size(changes(query, *random_pairs(query, stream))).max()
    return pair, max(pair.size, tried), release.mu or release.epsilon_actual


def seeds(config):
    return range(20) if config.getoption("--long", default=False) else range(1)


def test_all_that_is_public_is_searched():
    assert len(MECHANISMS) >= 5
    assert len(QUERIES) >= 3
    domains = [one for one in PUBLIC.values() if hasattr(one, "magnitudes")]
    assert set(domains) == {type(domain) for domain in DOMAINS.values()}
    # A public class of no kind that is searched is one of those that release nothing.
    assert {*PUBLIC.values()} - {*MECHANISMS.values(), *QUERIES, *domains} == {
        PUBLIC[name] for name in OTHERS
    }
    kinds = {kind for _, kind in SERVED} | {k for one in MECHANISMS for k in example(one).queries}
    assert kinds == set(QUERIES) | {NormalEquations, InterceptEquations}


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_neighbours_are_further_apart_than_public_mechanisms_say(
    name, kind, domain, adjacency, request, monkeypatch
):
    mechanism, query = example(name), posed(kind, domain, adjacency)
    if name == "Scaled" and domain == "ball":
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
        # A pure release is tight where a box is all that changes.
        if release.mu_exact if release.mu else query.yields == "matrix" and domain != "ball":
            assert pair.size > 0.99 * declared
        # The same on what is released for real, with all roundings.
        rows = np.clip(random_pairs(query, stream, RECORDS)[0], -10, 10)
        value = exact.value(query, [rows])
        other = value.copy()
        change = changes(query, pair.record[None], pair.other[None])[0]
        other[:, : change.shape[1]] -= change
        released = [release.add_once(one) for one in (value, other)]
        change = released[0] - released[1]
        change = change.T if query.yields == "matrix" else change
        white = release.noise.whiten(change) / release.stretch
        apart = np.linalg.norm(white, 2 if release.mu else 1)
        assert 0.99 * pair.size < apart <= (release.statement.mu or declared) * (1 + 1e-9)


@pytest.mark.parametrize("kind", QUERIES)
def test_noise_a_hundredth_too_small_is_seen(kind):
    release = mdp.Gaussian().calibrate(posed(kind, "cube", "replace"), **BUDGET)
    factor = 0.99 * release.noise.row_factor
    release = replace(release, noise=replace(release.noise, row_factor=factor))
    _, widest, declared = searched(release, np.random.default_rng(0))
    assert widest > 1.005 * declared


def searched_case(name, kind, domain, adjacency, seed):
    try:
        release = built(name).calibrate(posed(kind, domain, adjacency), **BUDGET)
    except NoGuarantee:
        return
    stream = np.random.default_rng(seed)
    if isinstance(release, Additive) and (release.mu or hasattr(release.noise, "norm")):
        _, widest, declared = searched(release, stream)
        assert widest <= declared * (1 + 1e-9)
        return
    if isinstance(release, PrincipalDirection):
        # The exponent moves by this at most, and the normaliser as far again if a record comes.
        pair = worst(release.query, lambda d: np.linalg.norm(d, ord=2, axis=(-2, -1)), stream)
        loss = release.kappa * pair.size * SIDES[adjacency]
        # The squared norm of a record is attained where the other one may be 0, else a bound.
        tight = adjacency == "zero_out" or getattr(DOMAINS[domain], "contains_zero", True)
        assert (0.99 if tight else 0.95) * release.epsilon < loss <= release.epsilon * (1 + 1e-9)
        return
    if isinstance(release, TargetMean):
        # The constant is 1, so that the mean of the last column is all that is released.
        one, other = random_pairs(release.query, stream)[..., -1]
        moved = np.abs(one - other).max() / RECORDS / release.mean_std
        reach = 0.9 if isinstance(release.query.domain, Box) else 0.5
        assert reach * release.mu < moved <= release.mu * (1 + 1e-9)
        return
    audit = audit_of(release, stream)
    # A black box alone searches nothing.
    assert audit.tool != "black box"
    if isinstance(audit, ComposedAudit):
        assert audit.mu <= release.mu * (1 + 1e-9)
    else:
        assert 0 <= audit.attained <= release.epsilon_actual * (1 + 1e-9)


@pytest.mark.parametrize(("name", "kind", "domain", "adjacency"), SOME)
def test_no_neighbours_are_further_apart_than_a_mechanism_says(name, kind, domain, adjacency):
    searched_case(name, kind, domain, adjacency, 0)


def test_all_cases_of_the_registry(request):
    if not request.config.getoption("--long", default=False):
        pytest.skip("make faults runs all cases")
    for case in ALL:
        for seed in range(3):
            searched_case(*case, seed)
