"""Replays of compositions find what is executed in place of what is declared."""

from dataclasses import fields, replace
from itertools import count

import numpy as np
import pytest
from mechanismqueries import Unclipped
from nights import nightly_but

from matrixdp.auditing import alignment, releases
from matrixdp.auditing.neighbours import random_records
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.programs import Columns, Value
from matrixdp.privacy.sensitivity import (
    Box,
    RecordsQuery,
    SecondMomentQuery,
)
from reproduction.mechanisms.adaptive import AdaptiveCovariance
from reproduction.mechanisms.adassp import AdaSSP, NormalEquations, PrivatelyClippedAdaSSP
from reproduction.mechanisms.allocation import MaxPNR
from reproduction.mechanisms.clipped import PUBLIC
from reproduction.mechanisms.directions import PrivateDirections
from reproduction.mechanisms.mvg import MVG

BOX = Box.cube(6, -1, 1)
MOMENTS = SecondMomentQuery(BOX, 200)
EQUATIONS = NormalEquations(BOX, 200, target=5)
#: Mechanism, query, and the number of parts that a release asks.
COMPOSED = {
    "histogram": (PrivatelyClipped(), MOMENTS, 2),
    "search": (AdaptiveCovariance(), MOMENTS, 3),
    "centred": (Centred(), MOMENTS, 3),
    "centred, public": (Centred(1 / 16), MOMENTS, 2),
    "adassp": (AdaSSP(), EQUATIONS, 3),
    "adassp, public": (AdaSSP(PUBLIC), EQUATIONS, 3),
    "adassp, private": (PrivatelyClippedAdaSSP(), EQUATIONS, 4),
    "mvg": (
        MVG(allocation=MaxPNR(), directions=PrivateDirections()),
        RecordsQuery(BOX, 200),
        2,
    ),
}
RELEASES = {
    name: mechanism.calibrate(query, epsilon=1.0, delta=0.01)
    for name, (mechanism, query, _) in COMPOSED.items()
}


def values_of(release):
    """Return the fields of a release."""
    return {field.name: getattr(release, field.name) for field in fields(release)}


def executed(release, most=None):
    """Return what replays show of a release."""
    return alignment.replay(release, np.random.default_rng(0), most)


#: How much of the declared mu replays reach at least. Of three parts of equal mu^2 in a ball no
#: neighbours move more than one far: sqrt(1/3). Elsewhere the least is .71.
REACHED = {"adassp, public": 0.55}


@pytest.mark.parametrize("name", RELEASES)
def test_an_honest_composition_is_executed_as_declared(name):
    finding = executed(RELEASES[name])
    assert finding.differing_share == 0
    assert REACHED.get(name, 0.7) < finding.mu <= 1 + releases.ROUNDING


def scaled(part, factor):
    return replace(part, noise=part.noise.times(factor))


def times(name):
    """Return the change of a number of a release by a factor."""
    return lambda release, factor: replace(release, **{name: factor * getattr(release, name)})


def at_every_radius(change):
    """Return the change of all equations of a release by a factor."""

    def changed(release, factor):
        if not hasattr(release, "equations"):
            return change(release, factor)
        equations = tuple(changed(one, factor) for one in release.equations)
        return replace(release, equations=equations)

    return changed


#: How the noise of a part is multiplied by a factor, by release and part.
PARTS = {
    ("histogram", "counts"): times("count_std"),
    ("histogram", "moments"): lambda r, f: replace(
        r, candidates=tuple(scaled(one, f) for one in r.candidates)
    ),
    ("search", "trace"): times("trace_std"),
    ("search", "search"): lambda r, f: replace(r, search=r.search / f),
    ("search", "moments"): lambda r, f: replace(r, rest=r.rest / f),
    ("centred", "mean"): times("centre_std"),
    ("centred", "counts"): lambda r, f: replace(r, about=times("count_std")(r.about, f)),
    ("adassp, private", "counts"): times("count_std"),
    ("mvg", "moments"): lambda r, f: replace(r, moments=scaled(r.moments, f)),
    ("mvg", "noise"): lambda r, f: replace(r, limit=r.limit / f**2),
}
for _name in ("adassp", "adassp, public", "adassp, private"):
    _moments = at_every_radius(lambda r, f: replace(r, design=scaled(r.design, f)))
    PARTS[_name, "eigenvalue"] = at_every_radius(times("eigenvalue_std"))
    PARTS[_name, "moments"] = _moments
    PARTS[_name, "target"] = at_every_radius(times("target_std"))


def less_than_stated(release, name):
    """Return a release whose part of this name has a hundredth less noise than it states."""
    release = replace(release)
    part = getattr(release, name)
    vars(release)[name] = replace(part, noise=part.noise.times(0.99))
    return release


def twin(release, place, answer):
    """Return a release whose program gets the answers of one part from another function.

    ``answer`` maps what the program asks, the part and its exact value to the answer.
    """

    class Twin(type(release)):
        def run(self, records, ask):
            calls = count()

            def other(part, value):
                return answer(ask, part, value) if next(calls) == place else ask(part, value)

            return super().run(records, other)

    return Twin(**values_of(release))


def depending(ask, part, value):
    """Answer after another question, which is put or not by the last digits of the exact value."""
    if int(1e6 * np.abs(np.ravel(value)) @ np.sqrt(np.arange(2, 2 + np.size(value)))) % 2:
        ask(part, 0 * value)
    return ask(part, value)


#: How a step of a program is corrupted. The mean of two answers has less noise.
CORRUPTIONS = {
    "not accounted for": lambda ask, part, value: (ask(part, value) + ask(part, value)) / 2,
    "exact": lambda ask, part, value: value + 0 * ask(part, value),
    "depending on the data": depending,
}


def reading(release):
    """Return a release that depends by a hundredth on an exact number, without a question."""

    class Reading(type(release)):
        def run(self, records, ask):
            outcome = super().run(records, ask)
            share = 1 + 0.01 * records.value(self.query)[..., 0, -1]
            if hasattr(outcome, "_replace"):
                return outcome._replace(moments=share * outcome.moments)
            return share * outcome

    return Reading(**values_of(release))


def unclipped(part):
    query = part.query
    return replace(part, query=Unclipped(query.domain, query.n_records, query.adjacency))


def unclipped_balls(release):
    balls = tuple(unclipped(one) for one in release.candidates[1:])
    return replace(release, candidates=(release.candidates[0], *balls))


def unclipped_equations(release):
    wrong = at_every_radius(
        lambda r, _: replace(r, query=EQUATIONS, design=replace(r.design, query=EQUATIONS.design))
    )
    return wrong(release, 1.0)


def wrong_releases():
    """Yield wrong releases by name."""
    for (name, part), change in PARTS.items():
        yield f"{name}: less {part}", change(RELEASES[name], 1 - alignment.SHORTFALL)
    for name, part in (
        ("histogram", "lengths"),
        ("centred", "mean"),
        ("adassp", "smallest"),
        ("adassp", "products"),
    ):
        yield f"{name}: less {part} than stated", less_than_stated(RELEASES[name], part)
    for name, release in RELEASES.items():
        yield f"{name}: reads without a question", reading(release)
        for place in range(COMPOSED[name][2]):
            for word, answer in CORRUPTIONS.items():
                yield f"{name}: step {place} {word}", twin(release, place, answer)
    for name, change in (
        ("histogram", unclipped_balls),
        ("centred", lambda r: replace(r, about=unclipped_balls(r.about))),
        ("centred, public", lambda r: replace(r, about=unclipped(r.about))),
    ):
        yield f"{name}: not clipped", change(RELEASES[name])


@pytest.mark.parametrize(
    "release",
    nightly_but(
        (
            "histogram: less counts",
            "centred: less mean",
            "mvg: less noise",
            "adassp: less products than stated",
            "histogram: reads without a question",
            "search: step 0 exact",
            "search: step 1 not accounted for",
            "mvg: step 1 depending on the data",
            "centred, public: not clipped",
        ),
        dict(wrong_releases()),
    ),
)
def test_a_wrong_composition_is_found(release):
    # Few pairs are the first ones of many: what they show, many do. The audit clips by itself.
    assert executed(release, most=8).differing_share > 0


@pytest.mark.parametrize("name", ["adassp, public", "adassp, private"])
def test_equations_of_records_that_are_not_clipped_are_found(name):
    finding = executed(unclipped_equations(RELEASES[name]))
    assert finding.differing_share > 0 or finding.mu > 1 + releases.ROUNDING


@pytest.mark.parametrize("name", ["histogram", "mvg"])
def test_a_twin_that_changes_nothing_is_executed_as_declared(name):
    honest = twin(RELEASES[name], 0, lambda ask, part, value: ask(part, value))
    assert executed(honest, most=4).differing_share == 0


@pytest.mark.parametrize("name", RELEASES)
def test_what_a_program_asks_adds_up_to_what_is_declared(name):
    release, parts = RELEASES[name], []

    def ask(part, value):
        parts.append(part)
        return value + part.noise.sample(np.random.default_rng(0), 1)[0]

    exact = random_records(release.query, np.random.default_rng(1))
    reads = isinstance(release.query, RecordsQuery)
    release.run(Columns(exact) if reads else Value(release.query.value(exact)), ask)
    assert np.linalg.norm([part.mu for part in parts]) == pytest.approx(release.mu)
    assert len(parts) == COMPOSED[name][2]
    # What a receipt and an account state.
    declared = getattr(release, "parts", None)
    if declared:
        assert np.linalg.norm([part.mu for part in declared]) == pytest.approx(release.mu)
        pairs = zip(parts, declared, strict=True)
        assert all(any(one is part for one in stated.releases) for part, stated in pairs)
