"""Real releases in parts: replayed, their noise measured, and seen as a black box."""

from dataclasses import replace
from itertools import product

import numpy as np
import partreplays as parts
import pytest
from mechanismqueries import DOMAINS, RELATIONS

from matrixdp.auditing import evidence
from matrixdp.checks import InputError
from matrixdp.mechanisms.adassp import AdaSSP
from matrixdp.mechanisms.base import NoGuarantee
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped, shells
from matrixdp.mechanisms.composed import (
    ComposedEquations,
    ComposedMoments,
)
from matrixdp.noise import safe
from matrixdp.noise.distributions import MatrixNormal, SymmetricNormal
from matrixdp.privacy import exact_sums
from matrixdp.privacy.sensitivity import (
    ADD_OR_REMOVE,
    Box,
    NormalEquations,
    SecondMomentQuery,
)
from matrixdp.release import specification

BUDGET = {"epsilon": 1.0, "delta": 0.01}
PER_PERSON = 2
#: Clipped moments about a private mean or about zero, and normal equations.
KINDS = "mean", "zero", "equations"
CASES = [*product(DOMAINS, RELATIONS, KINDS, (None, PER_PERSON))]
#: Some are cases of `make test`.
NUMBERS = [
    number if number == 1 or number % 7 == 0 else pytest.param(number, marks=pytest.mark.long)
    for number in range(len(CASES))
]


def built(domain="cube", adjacency="replace", kind="mean", per_person=None):
    bounds = DOMAINS[domain]
    if kind == "equations":
        last = bounds.features - 1
        query = NormalEquations(bounds, 60, adjacency, last, per_person=per_person)
        return ComposedEquations.calibrated(AdaSSP(), query, **BUDGET)
    query = SecondMomentQuery(bounds, 60, adjacency, per_person=per_person)
    mechanism = Centred() if kind == "mean" else PrivatelyClipped()
    return ComposedMoments.calibrated(mechanism, query, **BUDGET)


def executed(release):
    return parts.executed(release, np.random.default_rng(0))


@pytest.mark.parametrize("case", NUMBERS)
def test_all_cases_are_executed_as_declared_and_tight(case):
    release = built(*CASES[case])
    finding = executed(release)
    assert finding.other == 0
    assert parts.reached(release) < finding.mu <= 1 + 1e-9
    assert np.linalg.norm([one.mu for one in release.parts]) == pytest.approx(release.mu)
    assert release.statement.epsilon <= BUDGET["epsilon"] * (1 + 1e-9)
    assert release.statement.delta == BUDGET["delta"]


def test_every_mechanism_of_a_specification_is_searched():
    """Those of one part are public, see test_searches.py; of those in parts this file has all."""
    import matrixdp as mdp

    one_part = {type(one).__name__ for one in specification.MECHANISMS.values()}
    assert one_part <= {*mdp.__all__}
    assert {*specification.IN_PARTS} == {specification.CLIPPED, specification.ADASSP}


def shrunk(release, name, factor):
    """Return the release with other noise in one part than its mu says."""
    (part,) = (part for part in release.parts if part.name == name)
    for one in part.releases:
        noise = one.noise
        if isinstance(noise, SymmetricNormal):
            stds = noise.diagonal_std, noise.off_diagonal_std
            noise = SymmetricNormal(noise.shape, *(factor * std for std in stds))
        else:
            noise = MatrixNormal(noise.shape, factor * noise.row_factor)
        # In place: the program holds the part.
        vars(one)["noise"] = noise
    return release


#: All parts, by a kind of release that has them.
PARTS = [
    *product(["mean"], ["mean", "lengths", "moments"]),
    *product(["equations"], ["smallest eigenvalue", "moments", "products"]),
]


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_one_percent_less_noise_of_a_part_is_found(kind, name):
    domain = "nonnegative" if kind == "equations" else "cube"
    assert executed(shrunk(built(domain, kind=kind), name, 0.99)).mu > 1 + 1e-4


@pytest.mark.parametrize("case", range(len(PARTS)))
def test_noise_for_one_record_of_a_person_is_found(case):
    kind, name = PARTS[case]
    adjacency = ["replace", ADD_OR_REMOVE][case % 2]
    release = shrunk(built("ball", adjacency, kind, PER_PERSON), name, 1 / PER_PERSON)
    assert executed(release).mu > 1.05


@pytest.mark.parametrize("kind", KINDS)
def test_noise_that_is_calibrated_to_one_record_serves_no_person(kind):
    one, several = (built(kind=kind, per_person=k) for k in (None, PER_PERSON))
    with pytest.raises(NoGuarantee, match="calibrated to another query"):
        replace(several, simulated=one.simulated)


def test_a_record_that_comes_needs_less_noise_than_a_replaced_one():
    """In a ball sqrt(2) times less on moments about the mean, and as much less on counts."""
    replaced, added = (built("ball", name) for name in ("replace", ADD_OR_REMOVE))
    assert replaced.noise_std == pytest.approx(np.sqrt(2) * added.noise_std, rel=1e-6)
    stds = [release.parts[1].releases[0].noise_std for release in (replaced, added)]
    assert stds[0] == pytest.approx(np.sqrt(2) * stds[1], rel=1e-6)


def test_parts_that_spend_more_than_the_whole_are_refused():
    release = built()
    with pytest.raises(NoGuarantee, match="the parts spend"):
        replace(release, simulated=replace(release.simulated, mu=0.99 * release.mu))


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", ["mean", "zero"])
def test_the_noise_that_is_announced_is_the_most_of_all_radii(domain, kind):
    release = built(domain, kind=kind)
    noise = [one.noise_std for one in release.radii]
    assert max(noise) == noise[0] == release.widest.noise_std
    for one in release.radii:
        assert one.noise.shape == (release.query.features,) * 2


class LooksAgain(ComposedMoments):
    def run(self, rows, answer=None):
        outcome = super().run(rows, answer)
        largest = max(np.abs(block).max() for block in rows())
        return outcome._replace(radius=outcome.radius * (1 + 1e-9 * largest))


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


class TakesTheExactEigenvalue(ComposedEquations):
    def run(self, rows, answer=None):
        block = exact_sums.value(self.query, rows())[:-1, :-1]
        least = np.linalg.eigvalsh(block)[0]
        return super().run(rows, answer)._replace(ridge=float(self.simulated.ridge_for(least)))


class AddsNoNoiseToTheProducts(ComposedEquations):
    def run(self, rows, answer=None):
        def quiet(part, value):
            noisy = answer(part, value)
            return value if part.query.name == "products" else noisy

        return super().run(rows, quiet)


BAD = [LooksAgain, ClipsByTheData, AddsNoNoiseToTheMean]
BAD += [TakesTheExactEigenvalue, AddsNoNoiseToTheProducts]


@pytest.mark.parametrize("kind", BAD)
def test_a_program_that_breaks_its_word_is_found(kind):
    good = built(kind="equations" if issubclass(kind, ComposedEquations) else "mean")
    finding = executed(kind(good.query, good.epsilon, good.delta, good.simulated))
    assert finding.other > 0 or finding.mu > 1.01


@pytest.mark.parametrize("kind", ["mean", "equations"])
def test_the_noise_of_every_part_is_what_is_declared(monkeypatch, kind):
    release = built(kind=kind)
    assert parts.scale(release, np.random.default_rng(0)).verdict == "right"
    whole = safe.noise
    monkeypatch.setattr(safe, "noise", lambda *given: whole(*given) // 2)
    assert parts.scale(release, np.random.default_rng(0)).verdict == "too small"


def proof(monkeypatch, pairs, above, share=1):
    """Return whether pairs of releases on neighbours refute, and the epsilon that they prove."""
    query = SecondMomentQuery(Box.cube(1, -1.0, 1.0), 20)
    release = ComposedMoments.calibrated(PrivatelyClipped(), query, **BUDGET)
    whole, found = safe.noise, []
    for seed, first in product(range(pairs), (1.0, 0.0)):
        bits = np.random.default_rng(seed).bytes
        monkeypatch.setattr(
            safe,
            "noise",
            lambda distribution, count, _, bits=bits: whole(distribution, count, bits) // share,
        )
        rows = np.array([[first]] + [[1.0]] * 10 + [[0.0]] * 9)
        outcome = release.release(rows)
        found.append(outcome.moments[0, 0] / outcome.radius**2)
    one, other = (np.reshape(found, (pairs, 2)) > above).T
    both = (one & other).sum()
    counts = evidence.Counts(both, one.sum() - both, other.sum() - both, pairs)
    wealth = evidence.log_wealth(counts, evidence.bets([np.e], BUDGET["delta"]))
    return wealth[0] >= -np.log(1 - evidence.SUSPECTED), evidence.epsilon(counts, BUDGET["delta"])


def test_a_black_box_does_not_refute_honest_noise(monkeypatch, request):
    many = request.config.getoption("--long")
    refuted, epsilon = proof(monkeypatch, 3000 if many else 200, 0.55)
    assert not refuted
    assert epsilon <= 1


@pytest.mark.parametrize(
    ("share", "short", "many"), [(6, 200, 600), pytest.param(2, 0, 6000, marks=pytest.mark.long)]
)
def test_a_black_box_refutes_too_little_noise(monkeypatch, request, share, short, many):
    pairs = many if request.config.getoption("--long") else short
    refuted, epsilon = proof(monkeypatch, pairs, 0.53 if share == 6 else 0.58, share)
    assert refuted
    assert epsilon > 1


def test_a_release_is_that_of_the_experiments(monkeypatch):
    """The same answers give what a simulation gives, but for the ridge and the mean added back."""
    release = built(kind="zero")
    rows = np.random.default_rng(1).uniform(-0.2, 0.2, (60, 4))
    monkeypatch.setattr(safe, "noise", lambda distribution, count, bits: np.zeros(count, np.int64))
    outcome = release.release(rows)
    chosen = release._chosen
    counts = shells(rows.T, chosen.query.domain.radius, len(chosen.candidates))
    assert outcome.radius == chosen.candidates[int(chosen.best(counts))].query.domain.radius
    limited = rows * np.minimum(1, outcome.radius / np.linalg.norm(rows, axis=1))[:, None]
    assert outcome.moments == pytest.approx(limited.T @ limited / 60, abs=1e-5)


@pytest.mark.parametrize("rows", [np.zeros((59, 4)), np.zeros((60, 3)), np.zeros(60), [["secret"]]])
def test_bad_records_are_one_sentence_without_a_value(rows):
    with pytest.raises(InputError, match="record") as refused:
        built().release(rows)
    assert "secret" not in str(refused.value)
