"""The audit tells wrong mechanisms from their correct twins."""

import numpy as np
import pytest
from wrong.cases import CASES
from wrong.evidence import promise

from matrixdp.auditing import releases
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.privacy import gaussian
from reproduction.auditing import experiment
from reproduction.experiments import study
from reproduction.experiments.study import Settings
from reproduction.mechanisms.base import MechanismEntry

#: Limits of an audit, which are modest.
LIMITS = releases.Limits(runs=50_000, pairs=6, numbers=2_500_000)

#: Standings by the first words of a verdict.
STATUSES = {
    "certified": "certified",
    "private": "certified",
    "tested": "tested",
    "declared": "declared",
    "undecided": "declared",
    "not certifiable": "declared",
    "refuted": "refuted",
    "violated": "refuted",
    "not run": "not run",
    "refused": "refuted",
}

NAMES = [case.name for case in CASES]


def status(verdict):
    """Return one of five statuses; a mechanism that is not run as it stands is refuted."""
    for words, meaning in STATUSES.items():
        if verdict.startswith(words):
            return meaning
    raise ValueError(f"the verdict is {verdict!r}; its first words are no status")


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


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("private and tight", "certified"),
        ("violated: the black box proves it", "refuted"),
        ("not certifiable at this sample size", "declared"),
        ("tested: a cut would not be seen", "tested"),
        ("refused: epsilon is 3", "refuted"),
    ],
)
def test_statuses_are_read_from_the_first_words(words, meaning):
    assert status(words) == meaning


def test_there_are_enough_cases():
    assert len(set(NAMES)) == len(CASES) >= 45


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


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_no_wrong_mechanism_passes(case):
    found = status(verdict(case, "wrong"))
    assert found != "certified"
    assert found != "tested" or not case.visible
    assert found == "refuted" or case.goal != "refuted"


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_correct_twins_pass(case):
    words = verdict(case, "right")
    assert status(words) in {"certified", "tested", "declared"}
    assert not words.startswith("refused")
