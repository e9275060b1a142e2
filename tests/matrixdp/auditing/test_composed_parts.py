"""Real releases in parts: replayed, their noise measured, and seen as a black box."""

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest
from mechanismqueries import DOMAINS, RELATIONS
from partsearch import largest_mu

from matrixdp.auditing import alignment, real
from matrixdp.checks import InputError
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import (
    PrivatelyClipped,
    PrivatelyClippedMoments,
    shells,
)
from matrixdp.mechanisms.in_parts import ComposedMoments, chooser
from matrixdp.mechanisms.mechanism import Budget, NoGuarantee
from matrixdp.noise import safe
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import (
    ADD_OR_REMOVE,
    ADJACENCIES,
    MeanQuery,
    SecondMomentQuery,
)
from matrixdp.release import keys

BUDGET = {"epsilon": 1.0, "delta": 0.01}
PER_PERSON = 2
#: Clipped moments about a private mean or about zero.
MECHANISMS = {"mean": Centred(), "zero": PrivatelyClipped()}
KINDS = tuple(MECHANISMS)
CASES = [*product(DOMAINS, RELATIONS, KINDS, (None, PER_PERSON))]
#: Some are cases of `make test`.
NUMBERS = [
    number if number == 1 or number % 7 == 0 else pytest.param(number, marks=pytest.mark.nightly)
    for number in range(len(CASES))
]


def built(domain="cube", adjacency="replace", kind="mean", per_person=None):
    query = SecondMomentQuery(DOMAINS[domain], 60, adjacency, per_person=per_person)
    return ComposedMoments.calibrated(MECHANISMS[kind], query, **BUDGET)


def executed(release):
    return alignment.replay(release, np.random.default_rng(0))


@pytest.mark.parametrize("case", NUMBERS)
def test_all_cases_are_executed_as_declared_and_tight(case):
    release = built(*CASES[case])
    finding = executed(release)
    assert finding.differing_share == 0
    assert finding.mu <= 1 + 1e-9
    assert 0.99 < largest_mu(release) / release.mu <= 1 + 1e-9
    assert np.linalg.norm([one.mu for one in release.parts]) == pytest.approx(release.mu)
    assert release.statement.epsilon <= BUDGET["epsilon"] * (1 + 1e-9)
    assert release.statement.delta == BUDGET["delta"]


def test_every_mechanism_of_a_specification_is_searched():
    """Those of one part are public, see test_searches.py; this file has the one in parts."""
    import matrixdp as mdp

    one_part = {type(one).__name__ for one in keys.MECHANISMS.values()}
    assert one_part <= {*mdp.__all__}


def shrunk(release, name, factor):
    """Return the release with other noise in one part than its mu says."""
    (part,) = (part for part in release.parts if part.name == name)
    for one in part.releases:
        # In place: the program holds the part.
        vars(one)["noise"] = one.noise.times(factor)
    return release


PARTS = "mean", "lengths", "moments"


@pytest.mark.parametrize("name", PARTS)
def test_one_percent_less_noise_of_a_part_is_found(name):
    release = shrunk(built(), name, 0.99)
    assert executed(release).differing_share > 0
    assert largest_mu(release) / release.mu > 1 + 1e-4


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("adjacency", ["replace", ADD_OR_REMOVE])
def test_noise_for_one_record_of_a_person_is_found(adjacency, name):
    release = shrunk(built("ball", adjacency, "mean", PER_PERSON), name, 1 / PER_PERSON)
    assert executed(release).differing_share > 0
    assert largest_mu(release) / release.mu > 1.05


#: Changes of a release of a kind that its noise does not allow, and why each is refused.
REFUSALS = {
    "noise for one record of a person": (
        lambda r, kind: replace(built(kind=kind, per_person=PER_PERSON), program=r.program),
        "calibrated to another query",
    ),
    "parts that spend more than the whole": (
        lambda r, kind: replace(r, program=replace(r.program, mu=0.99 * r.mu)),
        "the parts spend",
    ),
    "a smaller delta": (lambda r, kind: replace(r, delta=1e-9), "and not 1e-09 at 1"),
    "all of delta, of which the sampler takes a part": (
        lambda r, kind: replace(
            r, program=MECHANISMS[kind].calibrate(r.query, epsilon=1.0, delta=1e-9), delta=1e-9
        ),
        "and not 1e-09 at 1",
    ),
    "a smaller epsilon": (lambda r, kind: replace(r, epsilon=0.9), "and not 0.01 at 0.9"),
    "a program of a smaller epsilon": (
        lambda r, kind: replace(r, program=replace(r.program, epsilon_delivered=0.9)),
        "at epsilon 0.9, and not 0.01 at 1",
    ),
    "a program of no epsilon": (
        lambda r, kind: replace(r, program=replace(r.program, epsilon_delivered=np.nan)),
        "epsilon is nan",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("change", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_release_that_its_noise_does_not_allow_is_refused(change, words, kind):
    release = built(kind=kind)
    with pytest.raises(InputError, match=words):
        change(release, kind)


def with_parts_for(release, adjacency):
    """Return the program of a release with moments that are calibrated to other neighbours."""
    program, query = release.program, release.query
    about = chooser(release.program)
    widest = about.candidates[0].query.domain
    other = SecondMomentQuery(widest, 60, adjacency, per_person=query.per_person)
    other = PrivatelyClipped().spending(other, about.mu, Budget(program.epsilon, program.delta))
    if about is program:
        return replace(program, candidates=other.candidates)
    return replace(program, about=other)


@pytest.mark.parametrize("per_person", [None, PER_PERSON])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pair", [*product(RELATIONS, repeat=2)])
def test_parts_for_other_neighbours_are_refused(pair, kind, per_person):
    """Parts for replaced records cover a null one, of zeros; about a mean no other parts do."""
    adjacency, other = pair
    release = built("ball", adjacency, kind, per_person)
    covered = adjacency == other
    if adjacency == "zero_out":
        covered = other == "replace" if kind == "mean" else other in ADJACENCIES
    program = with_parts_for(release, other)
    if covered:
        assert type(release)(release.query, *BUDGET.values(), program).mu == release.mu
    else:
        with pytest.raises(NoGuarantee, match="calibrated to another query"):
            type(release)(release.query, *BUDGET.values(), program)


def test_a_replaced_record_far_from_zero_hides_no_null_one():
    """From 2 to 5, replaced records differ by 3, and a null record from others by up to 5."""
    release = built("anywhere", "zero_out", "mean")
    wide, null = (
        MeanQuery(DOMAINS["anywhere"], 60, adjacency).l2_sensitivity for adjacency in ADJACENCIES
    )
    assert wide < null
    mean = replace(release.program.mean)
    vars(mean)["query"] = replace(mean.query, adjacency="replace")
    program = replace(release.program)
    vars(program)["mean"] = mean
    with pytest.raises(NoGuarantee, match="calibrated to another query"):
        replace(release, program=program)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.01, 1e-12), (0.01, 0.3), (1.0, 1e-12), (1.0, 1e-6), (12.0, 1e-6)]
)
def test_what_is_calibrated_has_its_guarantee(kind, epsilon, delta):
    query = built(kind=kind).query
    budget = {"epsilon": epsilon, "delta": delta}
    statement = ComposedMoments.calibrated(MECHANISMS[kind], query, **budget).statement
    assert statement.epsilon <= epsilon * (1 + 1e-9)
    spent = gaussian_dp.delta(statement.epsilon, statement.mu) + statement.sampler_delta
    assert spent <= statement.delta == delta


class CountsTwice(PrivatelyClippedMoments):
    """A mean of two noisy histograms has less noise than is declared."""

    def choose(self, records, ask):
        ask(self.lengths, records.value(self.lengths.query))
        return super().choose(records, ask)


class AsksTwice(PrivatelyClippedMoments):
    def run(self, records, ask):
        super().run(records, ask)
        return super().run(records, ask)


class AsksInReverse(PrivatelyClippedMoments):
    def run(self, records, ask):
        ask(self.candidates[0], records.value(self.candidates[0].query))
        return super().run(records, ask)


class AsksForItsOwn(PrivatelyClippedMoments):
    """The same noise, of an object that is not declared."""

    def run(self, records, ask):
        return super().run(records, lambda part, value: ask(replace(part), value))


def as_kind(program, kind):
    return kind(**{field.name: getattr(program, field.name) for field in fields(program)})


@pytest.mark.parametrize(
    ("kind", "answers"), [(CountsTwice, 1), (AsksTwice, 2), (AsksInReverse, 0), (AsksForItsOwn, 0)]
)
def test_a_question_beyond_the_declared_ones_is_refused_before_its_noise(
    monkeypatch, kind, answers
):
    good = built(kind="zero")
    release = replace(good, program=as_kind(good.program, kind))
    whole, draws = safe.noise, []
    monkeypatch.setattr(safe, "noise", lambda *given: draws.append(0) or whole(*given))
    rows = np.zeros((60, 4))
    for run in (lambda: release.release(rows), release.prepare(lambda: [rows])):
        draws.clear()
        with pytest.raises(InputError, match="asks for more than it declares"):
            run()
        assert len(draws) == answers
    assert executed(release).differing_share == 1


class LooksAgain(ComposedMoments):
    def run(self, rows, answer=None):
        outcome = super().run(rows, answer)
        largest = max(np.abs(block).max() for block in rows())
        return outcome._replace(radius=outcome.radius * (1 + 1e-7 * largest))


class ClipsByTheData(ComposedMoments):
    def run(self, rows, answer=None):
        scale = np.abs(np.concatenate([*rows()])).max()
        return super().run(lambda: (block / scale for block in rows()), answer)


class AddsNoNoiseToTheMean(ComposedMoments):
    def run(self, rows, answer=None):
        def quiet(part, value):
            noisy = answer(part, value)
            return value if part.query.name == "mean" else noisy

        return super().run(rows, quiet)


BAD = [LooksAgain, ClipsByTheData, AddsNoNoiseToTheMean]


@pytest.mark.parametrize("kind", BAD)
def test_a_program_that_breaks_its_word_is_found(kind):
    good = built()
    finding = executed(kind(good.query, good.epsilon, good.delta, good.program))
    assert finding.differing_share > 0 or finding.mu > 1.01


def test_the_noise_of_every_part_is_what_is_declared(monkeypatch):
    release = built()
    every = [one for part in release.parts for one in part.releases]
    stream, whole = np.random.default_rng(0), safe.noise
    assert {real.scale(one, stream).verdict for one in every} == {"right"}
    monkeypatch.setattr(safe, "noise", lambda *given: whole(*given) // 2)
    assert {real.scale(one, stream).verdict for one in every} == {"too small"}


def test_a_release_is_that_of_the_experiments(monkeypatch):
    """The same answers give what a simulation gives, but for the ridge and the mean added back."""
    release = built(kind="zero")
    rows = np.random.default_rng(1).uniform(-0.2, 0.2, (60, 4))
    monkeypatch.setattr(safe, "noise", lambda distribution, count, bits: np.zeros(count, np.int64))
    outcome = release.release(rows)
    chosen = chooser(release.program)
    counts = shells(rows.T, chosen.query.domain.radius, len(chosen.candidates))
    assert outcome.radius == chosen.candidates[int(chosen.best(counts))].query.domain.radius
    limited = rows * np.minimum(1, outcome.radius / np.linalg.norm(rows, axis=1))[:, None]
    assert outcome.moments == pytest.approx(limited.T @ limited / 60, abs=1e-5)
