"""A release is drawn and charged by what its query and its noise prove, whatever its fields say."""

import copy
import pickle
from dataclasses import replace

import conformance
import numpy as np
import pytest
from mechanismqueries import BUDGET

import matrixdp as mdp
from matrixdp.checks import InputError
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveGaussian, AdditiveMechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import Budget, NoGuarantee
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Box, MeanQuery, SecondMomentQuery
from matrixdp.release import ledger

MEAN = MeanQuery(Box((0.0, -1.0), (1.0, 3.0)), 50)
MOMENTS = SecondMomentQuery(Box.cube(3, -1.0, 1.0), 50)
GAUSSIAN = mdp.Gaussian().calibrate(MEAN, **BUDGET)
LAPLACE = mdp.Laplace().calibrate(MEAN, epsilon=1.0)
SYMMETRIC = mdp.AnalyzeGauss().calibrate(MOMENTS, **BUDGET)
SYMMETRIC_LAPLACE = mdp.Laplace().calibrate(MOMENTS, epsilon=1.0)
TURNED = mdp.DirectionalGaussian(directions=np.eye(2)[::-1]).calibrate(MEAN, **BUDGET)


def mutated(release, **fields):
    """Return a copy whose fields were changed in place."""
    other = copy.deepcopy(release)
    for name, value in fields.items():
        object.__setattr__(other, name, value)
    return other


def quiet(release, factor=0.01):
    """Return a copy whose array of sizes was changed in place."""
    other = copy.deepcopy(release)
    size = other.noise.size
    size.flags.writeable = True
    size *= factor
    return other


BUILT = {
    "query": MEAN,
    "noise": Noise.of(safe.LAPLACE, 1e-3, (2, 1)),
    "epsilon": 1.0,
    "epsilon_delivered": 1.0,
}
CHANGED = {
    "Laplace noise with a mu": replace(LAPLACE, mu=1e-3),
    "Laplace noise with a mu, by another author": replace(LAPLACE, mu=1e-3, author="Mine"),
    "less Laplace noise": replace(LAPLACE, noise=LAPLACE.noise.times(0.01)),
    "a hundredth less Laplace noise": replace(LAPLACE, noise=LAPLACE.noise.times(0.99)),
    "less Gaussian noise": replace(GAUSSIAN, noise=GAUSSIAN.noise.times(0.01)),
    "a hundredth less Gaussian noise": replace(GAUSSIAN, noise=GAUSSIAN.noise.times(0.99)),
    "less by another author": replace(GAUSSIAN, noise=GAUSSIAN.noise.times(0.99), author="Mine"),
    "less symmetric noise": replace(SYMMETRIC, noise=SYMMETRIC.noise.times(0.99)),
    "less symmetric Laplace noise": replace(
        SYMMETRIC_LAPLACE, noise=SYMMETRIC_LAPLACE.noise.times(0.99)
    ),
    "less noise along directions": replace(TURNED, noise=TURNED.noise.times(0.99)),
    "less mu": replace(GAUSSIAN, mu=0.99 * GAUSSIAN.mu),
    "more mu than the epsilon": replace(GAUSSIAN, mu=2 * GAUSSIAN.mu),
    "no delta": replace(GAUSSIAN, delta=0.0),
    "less delta": replace(GAUSSIAN, delta=1e-9),
    "less epsilon": replace(LAPLACE, epsilon=0.5, epsilon_delivered=0.5),
    "less Gaussian epsilon": replace(GAUSSIAN, epsilon=0.5, epsilon_delivered=0.5),
    "fewer records": replace(GAUSSIAN, query=replace(MEAN, n_records=40)),
    "wider bounds": replace(LAPLACE, query=replace(MEAN, domain=Box((0.0, -1.0), (1.0, 3.1)))),
    "several records of a person": replace(GAUSSIAN, query=replace(MEAN, per_person=2)),
    "built by hand": AdditiveMechanism(**BUILT),
    "built by hand, with a mu": AdditiveGaussian(
        **{**BUILT, "noise": Noise.of(safe.NORMAL, 1e-3, (2, 1))}, delta=1e-6, mu=0.2
    ),
    "noise changed in place": mutated(GAUSSIAN, noise=GAUSSIAN.noise.times(0.01)),
    "mu changed in place": mutated(LAPLACE, mu=1e-3),
    "sizes changed in place": quiet(GAUSSIAN),
    "Laplace sizes changed in place": quiet(LAPLACE),
}
COMPOSED = ComposedMoments.calibrated(Centred(), MOMENTS, **BUDGET)


def composed(change):
    """Return a release in parts whose program was changed in place."""
    return mutated(COMPOSED, program=change(copy.deepcopy(COMPOSED.program)))


def quieter_radius(program):
    first, *others = program.about.candidates
    candidates = (replace(first, noise=first.noise.times(0.99)), *others)
    return replace(program, about=replace(program.about, candidates=candidates))


CHANGED_PARTS = {
    "less noise of a radius": quieter_radius,
    "less noise of the counts": lambda program: replace(
        program, about=replace(program.about, count_std=0.99 * program.about.count_std)
    ),
    "less noise of the mean": lambda program: replace(
        program, centre_std=0.99 * program.centre_std
    ),
    "less mu in all": lambda program: replace(program, mu=0.99 * program.mu),
    "half of the records": lambda program: replace(
        program, query=replace(program.query, n_records=25)
    ),
}
CHANGED_QUERIES = {
    "wider bounds": replace(MOMENTS, domain=Box.cube(3, -1.0, 1.1)),
    "fewer records": replace(MOMENTS, n_records=40),
    "records that come and go": replace(MOMENTS, adjacency="add_or_remove"),
}
CHANGED_IN_PARTS = {
    **{name: composed(change) for name, change in CHANGED_PARTS.items()},
    **{name: mutated(COMPOSED, query=query) for name, query in CHANGED_QUERIES.items()},
}


def attempts(release, folder):
    """Yield what would draw, state or charge a release."""
    account = mdp.Account(folder / "a.json", epsilon=100, delta=0.1, pure=50)
    features = release.query.features
    yield lambda: release.release(np.zeros((release.query.n_records, features)))
    yield lambda: release.statement
    yield lambda: account.spend(release)
    yield lambda: account.room(release)
    yield lambda: ledger.check(release)
    if isinstance(release, AdditiveMechanism):
        yield lambda: release.release_value(np.zeros(release.query.shape))
        yield lambda: release.interval()


@pytest.mark.parametrize("name", CHANGED)
def test_a_release_of_changed_fields_is_refused_before_any_draw_and_any_charge(
    name, tmp_path, monkeypatch
):
    monkeypatch.setattr(safe, "noise", lambda *_: pytest.fail("drawn"))
    for attempt in attempts(CHANGED[name], tmp_path):
        with pytest.raises(NoGuarantee):
            attempt()
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize("name", CHANGED_IN_PARTS)
def test_a_release_in_parts_of_changed_fields_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr(safe, "noise", lambda *_: pytest.fail("drawn"))
    for attempt in attempts(CHANGED_IN_PARTS[name], tmp_path):
        with pytest.raises(NoGuarantee):
            attempt()
    assert not (tmp_path / "a.json").exists()


def test_a_check_of_other_parts_than_are_drawn_would_charge_without_an_answer(
    tmp_path, monkeypatch
):
    """The control: a check that reads the parts as they were before the change."""
    changed, former = CHANGED_IN_PARTS["less noise of a radius"], COMPOSED.parts
    monkeypatch.setattr(ComposedMoments, "parts", property(lambda _: former))
    account = mdp.Account(tmp_path / "a.json", epsilon=10, delta=0.1)
    account.spend(changed)
    with pytest.raises(InputError, match="asks for more than it declares"):
        changed.release(np.zeros((50, 3)))


def test_a_program_that_another_one_replaced_in_place_is_charged_and_drawn(tmp_path):
    less = ComposedMoments.calibrated(Centred(), MOMENTS, epsilon=0.5, delta=BUDGET["delta"])
    changed = mutated(COMPOSED, program=less.program)
    account = mdp.Account(tmp_path / "a.json", epsilon=10, delta=0.1)
    account.spend(changed)
    assert account.releases[0]["mu"] == ledger.cost(less) < ledger.cost(COMPOSED)
    assert changed.release(np.zeros((50, 3))).moments.shape == (3, 3)


WAYS = {
    "as it is": lambda release: release,
    "pickled": lambda release: pickle.loads(pickle.dumps(release)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "with the same query": lambda release: replace(release, query=copy.deepcopy(release.query)),
}
REAL = [
    case
    for case in conformance.cases(conformance.library_mechanisms(), conformance.QUERIES)
    if isinstance(case.release, AdditiveMechanism)
]


@pytest.mark.parametrize("way", WAYS)
def test_what_the_library_calibrates_can_be_drawn_and_equals_its_copy(way):
    assert {type(case.mechanism).__name__ for case in REAL} >= {"Laplace", "Gaussian"}
    for case in REAL:
        other = WAYS[way](case.release)
        ledger.check(other)
        assert other.statement == case.release.statement
        assert other == case.release, str(case)
        assert hash(other) == hash(case.release)
        assert other == case.mechanism.calibrate(case.query, **conformance.BUDGET)
    for mechanism in (Centred(), PrivatelyClipped()):
        release = ComposedMoments.calibrated(mechanism, MOMENTS, **BUDGET)
        other = WAYS[way](release)
        ledger.check(other)
        assert (other, hash(other)) == (release, hash(release))


@pytest.mark.parametrize("release", [GAUSSIAN, LAPLACE], ids=["Gaussian", "Laplace"])
def test_noise_of_the_library_of_which_nothing_is_proven_is_refused(release):
    """A second line of defence: other checks of shapes refuse these releases already."""
    other = replace(release, noise=Noise.of(release.noise.law, 9.0, (3, 1)))
    assert other.of_library
    with pytest.raises(NoGuarantee, match="nothing proves it of its noise"):
        proofs.require(other)
    proofs.require(replace(other, author="Mine"))


def test_what_differs_in_a_field_is_not_equal():
    for release in (GAUSSIAN, LAPLACE, SYMMETRIC):
        for other in (
            replace(release, noise=release.noise.times(1 + 1e-15)),
            replace(release, epsilon=2.0),
            replace(release, query=replace(release.query, n_records=51)),
        ):
            assert other != release
            assert len({other, release, copy.deepcopy(release)}) == 2
    assert GAUSSIAN != LAPLACE
    assert GAUSSIAN.noise == copy.deepcopy(GAUSSIAN.noise) != "noise"


def test_of_another_author_what_nothing_proves_is_declared(tmp_path):
    class Halved(MeanQuery):
        """A query whose sensitivity another author states."""

    release = replace(LAPLACE, query=Halved(MEAN.domain, MEAN.n_records))
    account = mdp.Account(tmp_path / "a.json", epsilon=2, delta=0)
    account.spend(release)
    assert "declared" in account.releases[0]["guarantee"]
    with pytest.raises(InputError, match="Laplace noise has none"):
        account.spend(replace(release, mu=1e-3))


def test_a_budget_without_a_guarantee_is_for_simulation_alone():
    release = AdditiveGaussian.independent(MEAN, 1e-3, Budget(1.0, 1e-6))
    with pytest.raises(NoGuarantee, match="for simulation alone"):
        release.release(np.zeros((50, 2)))


@pytest.mark.parametrize("delta", [-0.1, 1.0, 2, float("nan"), "a"])
def test_laplace_refuses_a_delta_that_is_none(delta):
    with pytest.raises(InputError, match=r"delta is .*; it must be 0 or a number"):
        Laplace().calibrate(MEAN, epsilon=1.0, delta=delta)
