"""A part of a composed release counts only where its own query fits the release's records."""

from dataclasses import replace

import numpy as np
import pytest

from matrixdp.auditing.parts import proven_mus
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import orthogonal_ensemble
from matrixdp.mechanisms.mechanism import Budget
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import (
    ADJACENCIES,
    RecordsQuery,
    SecondMomentQuery,
)

BUDGET = Budget(1.0, 1e-6)
DOMAINS = Box.cube(3, -1, 1), Box.cube(3, 0, 1), Ball(2.0, 3)


def of(mechanism, domain=DOMAINS[0], adjacency="replace", **options):
    query = SecondMomentQuery(domain, 60, adjacency, **options)
    return mechanism.calibrate(query, epsilon=1.0, delta=1e-6)


def proven(release):
    return np.linalg.norm(proven_mus(release)) <= gaussian_dp.mu(*BUDGET) * (1 + 1e-9)


def again(release, **changes):
    """Return a release calibrated to another query, of the same mu."""
    return orthogonal_ensemble(replace(release.query, **changes), release.mu, BUDGET)


@pytest.mark.parametrize("per_person", [None, 3])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("domain", DOMAINS)
def test_what_the_library_calibrates_is_proven(domain, adjacency, per_person):
    options = {"domain": domain, "adjacency": adjacency, "per_person": per_person}
    for mechanism in (PrivatelyClipped(), Centred(), Centred(0.5), Centred(1.0)):
        assert proven(of(mechanism, **options))


@pytest.mark.parametrize("place", [0, 1, 8])
def test_a_candidate_for_other_records_is_not_proven(place):
    release = of(PrivatelyClipped())
    for changes in (
        {"n_records": 600},
        {"adjacency": "zero_out"},
        {"domain": Box.cube(3, -0.1, 0.1)},
    ):
        candidates = [*release.candidates]
        candidates[place] = again(candidates[place], **changes)
        assert not proven(replace(release, candidates=tuple(candidates)))


def test_candidates_that_may_be_others_next_time_are_not_proven():
    class Other(tuple):
        __slots__ = ()

    release = of(PrivatelyClipped())
    assert not proven(replace(release, candidates=Other(release.candidates)))


@pytest.mark.parametrize("domain", DOMAINS)
def test_candidates_protect_all_records_of_a_person(domain):
    few, many = (of(PrivatelyClipped(), domain=domain, per_person=k) for k in (None, 3))
    person = RecordsQuery(domain, 60, per_person=3)
    assert proven(replace(many, query=person))
    assert not proven(replace(many, query=person, candidates=few.candidates))


def test_moments_about_a_mean_are_calibrated_to_replacement():
    release = of(Centred(0.5), adjacency="zero_out")
    for changes in (
        {"adjacency": "zero_out"},
        {"adjacency": "add_or_remove"},
        {"n_records": 600},
        {"domain": Box.cube(3, -0.1, 0.1)},
    ):
        assert not proven(replace(release, about=again(release.about, **changes)))
    release = of(Centred(), adjacency="zero_out")
    histogram = of(PrivatelyClipped(), domain=release.about.query.domain, adjacency="zero_out")
    assert not proven(replace(release, about=histogram))


def test_a_mean_changes_by_all_records_of_a_person():
    """A person's k records change the mean k times as much, and the matrix sqrt(k) times."""
    grouped = of(Centred(0.5), per_person=4)
    release = replace(grouped, query=replace(grouped.query, per_person=None))
    assert proven(grouped)
    assert proven_mus(grouped)[0] == pytest.approx(4 * proven_mus(release)[0])
    assert not proven(replace(grouped, centre_std=grouped.centre_std / 2))
