"""The audit tells wrong mechanisms from their honest twins."""

import numpy as np
import pytest
from nights import nightly_but
from wrong import sizes
from wrong.cases import CASES

from matrixdp.auditing import releases
from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.privacy import gaussian_dp
from matrixdp.status import CERTIFIED, NOT_REFUTED, REFUTED
from matrixdp.status import of as status_of
from reproduction.auditing import experiment
from reproduction.experiments import study
from reproduction.experiments.study import Settings
from reproduction.mechanisms.base import MechanismEntry

#: Limits of an audit, which are modest.
LIMITS = releases.Limits(runs=50_000, pairs=6, numbers=2_500_000)

CASES = {case.name: case for case in CASES}

#: A wrong mechanism of each kind is audited every day, and an honest one; all of them at night.
WRONG_EVERY_DAY = (
    "exact feature",
    "noise on a grid",
    "Laplace noise in opposite pairs",
    "noise x .9",
    "smaller epsilon on the same noise",
    "noise by the range of the data",
    "centred: exact centre",
)
HONEST_EVERY_DAY = ("noise on a grid", "noise by the range of the data", "centred: exact centre")


def verdict(case, wrong):
    """Return the verdict on a side of a case, as a run of an experiment with it would have it."""
    mechanism = case.mechanism(wrong)
    settings = Settings(
        experiment="wrong", seed=1, trials=1, epsilons=(f"{case.epsilon:g}",), delta=case.delta
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "find_mechanism", lambda _: MechanismEntry(lambda: mechanism))
        try:
            (row,) = experiment.run(case.name, {case.query.name: case.query}, settings, LIMITS)
        except InputError as error:
            return f"refused: {error}"
    return row["verdict"]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_called_wrong_is_wrong_and_its_twin_is_honest(case):
    honest = case.release(wrong=False)
    assert case.proof(case.release(wrong=True), case) > 1
    assert case.proof(honest, case) <= 1
    assert sizes.promise(honest, case) <= 1
    assert honest.epsilon_delivered <= case.epsilon * (1 + 1e-9)
    if honest.mu is not None:
        assert honest.epsilon_delivered >= gaussian_dp.epsilon(honest.delta, honest.mu) * (1 - 1e-9)
    if isinstance(honest, AdditiveMechanism):
        count = 1 + 100_000 // int(np.prod(honest.noise.shape))
        noise = honest.noise.sample(np.random.default_rng(0), count)
        assert np.sqrt((noise**2).mean()) == pytest.approx(honest.noise_std, rel=0.02)


@pytest.mark.parametrize("case", nightly_but(WRONG_EVERY_DAY, CASES))
def test_wrong_mechanisms_are_refuted(case):
    words = verdict(case, wrong=True)
    # A mechanism that is not run as it stands is refuted too.
    status = REFUTED if words.startswith("refused") else status_of(words)
    assert status in (REFUTED, *[NOT_REFUTED] * (not case.refutable))


@pytest.mark.parametrize("case", nightly_but(HONEST_EVERY_DAY, CASES))
def test_honest_twins_pass(case):
    words = verdict(case, wrong=False)
    assert not words.startswith("refused")
    assert status_of(words) in (CERTIFIED, NOT_REFUTED)
