"""The audit tells wrong mechanisms from their correct twins."""

import numpy as np
import pytest
from wrong.cases import CASES
from wrong.evidence import promise

from matrixdp.auditing import releases
from matrixdp.auditing.status import CERTIFIED, NOT_REFUTED, REFUTED
from matrixdp.auditing.status import of as status_of
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.privacy import gaussian
from reproduction.auditing import experiment
from reproduction.experiments import study
from reproduction.experiments.study import Settings
from reproduction.mechanisms.base import MechanismEntry

#: Limits of an audit, which are modest.
LIMITS = releases.Limits(runs=50_000, pairs=6, numbers=2_500_000)

NAMES = [case.name for case in CASES]

#: A case of each file of ``wrong`` is audited every day, all of them at night.
EVERY_DAY = {
    "exact feature",
    "noise cut at 4 deviations",
    "smaller epsilon on the same noise",
    "noise x .9",
    "noise by the range of the data",
    "noise on a grid",
    "Laplace noise in opposite pairs",
    "centred: exact centre",
}
AUDITED = [
    pytest.param(case, id=case.name, marks=[] if case.name in EVERY_DAY else pytest.mark.nightly)
    for case in CASES
]


def status(verdict):
    """Return the status of a verdict; a mechanism that is not run as it stands is refuted."""
    return REFUTED if verdict.startswith("refused") else status_of(verdict)


def verdict(case, side):
    """Return the verdict on a side of a case, as a run of an experiment with it would have it."""
    mechanism = getattr(case, side)
    settings = Settings(
        experiment="wrong", seed=1, trials=1, epsilons=(f"{case.epsilon:g}",), delta=case.delta
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "find", lambda _: MechanismEntry(lambda: mechanism))
        try:
            (row,) = experiment.run(case.name, {case.query.name: case.query}, settings, LIMITS)
        except InputError as error:
            return f"refused: {error}"
    return row["verdict"]


def test_there_are_enough_cases():
    assert len(set(NAMES)) == len(CASES) >= 45
    assert set(NAMES) > EVERY_DAY


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_is_called_wrong_is_wrong_and_its_twin_is_not(case):
    budget = {"epsilon": case.epsilon, "delta": case.delta}
    wrong, right = (side.calibrate(case.query, **budget) for side in (case.wrong, case.right))
    assert case.proof(wrong, case) > 1
    assert case.proof(right, case) <= 1


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_correct_twins_declare_what_they_are(case):
    right = case.right.calibrate(case.query, epsilon=case.epsilon, delta=case.delta)
    assert promise(right, case) <= 1
    assert right.epsilon_delivered <= case.epsilon * (1 + 1e-9)
    if right.mu is not None:
        assert right.epsilon_delivered >= gaussian.epsilon(right.delta, right.mu) * (1 - 1e-9)
    if isinstance(right, AdditiveMechanism):
        count = 1 + 100_000 // int(np.prod(right.noise.shape))
        noise = right.noise.sample([np.random.default_rng(0)] * count)
        assert np.sqrt((noise**2).mean()) == pytest.approx(right.noise_std, rel=0.02)


@pytest.mark.parametrize("case", AUDITED)
def test_wrong_mechanisms_are_refuted(case):
    assert status(verdict(case, "wrong")) in (REFUTED, *[NOT_REFUTED] * (case.goal != REFUTED))


@pytest.mark.parametrize("case", AUDITED)
def test_correct_twins_pass(case):
    words = verdict(case, "right")
    assert status(words) in (CERTIFIED, NOT_REFUTED)
    assert not words.startswith("refused")
