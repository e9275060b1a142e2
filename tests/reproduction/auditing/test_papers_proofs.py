"""What the study's audits prove, and where they prove nothing."""

from dataclasses import replace

import numpy as np
import pytest
from mechanismqueries import BUDGET

from matrixdp.auditing.releases import audit_of
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import RecordsQuery, SecondMomentQuery
from reproduction.auditing import private_directions, search
from reproduction.mechanisms.adaptive import AdaptiveCovariance, SearchNoise
from reproduction.mechanisms.adassp import AdaSSP, NormalEquations
from reproduction.mechanisms.allocation import MaxPNR
from reproduction.mechanisms.directions import PrivateDirections
from reproduction.mechanisms.exponential import PPCA
from reproduction.mechanisms.jl import JohnsonLindenstrauss
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


def proven(release, **changes):
    return audit_of(replace(release, **changes), np.random.default_rng(0)).proven


MOMENTS = SecondMomentQuery(Box.cube(4, -1, 1), 100)
SKETCH = JohnsonLindenstrauss().calibrate(MOMENTS, **BUDGET)
DIRECTION = PPCA().calibrate(MOMENTS, epsilon=1.0)


@pytest.mark.parametrize("release", [SKETCH, DIRECTION, SEARCHED])
def test_the_curve_of_one_record_proves_nothing_of_a_person_with_several(release):
    assert proven(release, query=replace(release.query, per_person=1))
    assert not proven(release, query=replace(release.query, per_person=3))


@pytest.mark.parametrize("per_person", [None, 3])
def test_normal_equations_of_a_person_are_proven(per_person):
    query = NormalEquations(BOX, 60, target=2, per_person=per_person)
    assert proven(AdaSSP().calibrate(query, **BUDGET))


@pytest.mark.parametrize("kappa", [-120.0, float("nan"), float("inf")])
def test_what_is_proven_of_a_direction_holds_whatever_its_exponent(kappa):
    assert proven(DIRECTION)
    assert proven(DIRECTION, kappa=-DIRECTION.kappa)
    with np.errstate(invalid="ignore", over="ignore"):
        assert not proven(DIRECTION, kappa=kappa)


@pytest.mark.parametrize("place", [0, 1])
def test_a_search_with_half_the_noise_is_not_proven(place, monkeypatch):
    """Neither the threshold's noise nor that of the answers may be smaller."""
    scales = SEARCHED.comparison.noise.scales.copy()
    scales[place:][: 1 if place == 0 else None] /= 2
    monkeypatch.setattr(SearchNoise, "scales", scales)
    assert not within(search.proven_mus(SEARCHED), SEARCHED)
