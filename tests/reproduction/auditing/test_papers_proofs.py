"""Parts of the papers' compositions count only where they fit the records of the release."""

from dataclasses import replace

import numpy as np
import pytest
from mechanismqueries import BUDGET

from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import RecordsQuery, SecondMomentQuery
from reproduction.auditing import private_directions, search
from reproduction.mechanisms.adaptive import AdaptiveCovariance, SearchNoise
from reproduction.mechanisms.allocation import MaxPNR
from reproduction.mechanisms.directions import PrivateDirections
from reproduction.mechanisms.mvg import MVG

BOX = Box.cube(3, -1, 1)
DIRECTED = MVG(allocation=MaxPNR(), directions=PrivateDirections()).calibrate(
    RecordsQuery(BOX, 30), **BUDGET
)
SEARCHED = AdaptiveCovariance().calibrate(SecondMomentQuery(BOX, 30), **BUDGET)


def within(mus, release):
    return np.linalg.norm(mus) <= release.mu * (1 + 1e-9)


def test_what_the_study_calibrates_is_proven():
    assert within(private_directions.proven_mus(DIRECTED), DIRECTED)
    assert within(search.proven_mus(SEARCHED), SEARCHED)
    for domain in (BOX, Ball(1.0, 3)):
        release = AdaptiveCovariance().calibrate(
            SecondMomentQuery(domain, 30, "zero_out"), **BUDGET
        )
        assert within(search.proven_mus(release), release)


def test_directions_of_another_class_are_not_proven():
    class Others(PrivateDirections):
        def of(self, noisy, records):
            directions, spectrum = super().of(noisy, records)
            return directions * (1 + noisy[..., :1, :1]), spectrum

    assert not within(private_directions.proven_mus(replace(DIRECTED, private=Others())), DIRECTED)


def test_the_moments_of_directions_answer_the_records_of_the_release():
    for changes in ({"n_records": 300}, {"domain": Ball(0.1, 3)}, {"adjacency": "zero_out"}):
        query = replace(DIRECTED.moments.query, **changes)
        release = replace(DIRECTED, moments=replace(DIRECTED.moments, query=query))
        assert not within(private_directions.proven_mus(release), release)


def test_the_source_of_a_search_has_the_records_of_the_release():
    for changes in ({"n_records": 300}, {"domain": Ball(0.1, 3)}, {"adjacency": "zero_out"}):
        release = replace(SEARCHED, source=replace(SEARCHED.source, **changes))
        assert not within(search.proven_mus(release), release)


def test_nothing_is_proven_of_a_person_with_several_records():
    query = replace(SEARCHED.query, per_person=3)
    source = replace(SEARCHED.source, per_person=3)
    assert not within(search.proven_mus(replace(SEARCHED, query=query, source=source)), SEARCHED)


@pytest.mark.parametrize("place", [0, 1])
def test_a_search_with_half_the_noise_is_not_proven(place, monkeypatch):
    """Neither the threshold's noise nor that of the answers may be smaller."""
    scales = SEARCHED.comparison.noise.scales.copy()
    scales[place:][: 1 if place == 0 else None] /= 2
    monkeypatch.setattr(SearchNoise, "scales", scales)
    assert not within(search.proven_mus(SEARCHED), SEARCHED)
