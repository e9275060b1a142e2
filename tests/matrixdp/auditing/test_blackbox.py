import numpy as np
import pytest

from matrixdp.auditing import blackbox, evidence
from matrixdp.auditing.blackbox import Event, prove
from matrixdp.auditing.evidence import Counts
from matrixdp.privacy import gaussian_dp

DELTA = 1 / 248
RUNS = int(evidence.runs_needed(1.0, DELTA))


def shifted(mu):
    def statistic(count, stream):
        noise = stream.standard_normal(count)
        return noise + mu, noise

    return statistic


def judged(statistic, seed=0, runs=RUNS, delta=DELTA):
    streams = np.random.default_rng(seed).spawn(2)
    return prove(statistic, claimed_epsilon=1.0, delta=delta, runs=runs, streams=streams)


def test_just_enough_noise_passes_and_a_tenth_less_is_refuted():
    mu = gaussian_dp.mu(1.0, DELTA)
    for seed in range(12):
        right, weak = (judged(shifted(mu / f), seed) for f in (1, 0.9))
        assert not right.refuted
        assert 0.7 < right.epsilon < 1
        assert weak.refuted
        assert weak.epsilon >= 1
        assert right.runs <= right.limit == RUNS
        assert weak.runs <= blackbox.LONGER * RUNS


def test_bets_stop_once_the_nominal_epsilon_is_refuted_or_further_runs_are_futile():
    mu = gaussian_dp.mu(1.0, DELTA)
    broken = [judged(shifted(mu / 0.5), seed) for seed in range(10)]
    assert all(proof.refuted for proof in broken)
    assert np.median([proof.runs for proof in broken]) < RUNS / 20
    assert min(proof.epsilon for proof in broken) >= 1
    wasteful = [judged(shifted(mu / 100), seed).runs for seed in range(10)]
    assert np.median(wasteful) < RUNS / 20


def test_what_the_runs_left_could_still_refute_is_not_futile():
    for first, futile in ((270, True), (450, False)):
        counts = Counts(*(np.array([k]) for k in (0, first, 100, 10_000)))
        assert blackbox._futile(counts, 1.0, 0.01, 20_000) == futile
        assert blackbox._futile(counts, 1.0, 0.01, 10_001)


@pytest.mark.filterwarnings("error")
def test_what_cannot_be_proved_is_named():
    proof = judged(shifted(1e-6), runs=10_000)
    assert proof.epsilon == 0
    assert 3 < proof.largest < 8
    assert not proof.refuted
    assert not judged(shifted(50.0), runs=3).refuted
    few = judged(shifted(50.0), runs=1000)
    assert 1 < few.epsilon <= few.largest < 6


def test_an_event_and_its_mirror_image():
    first, second = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.0, 2.5])
    assert Event(1.5, swapped=False).counts(first, second) == (1, 1, 0, 3)
    assert Event(1.5, swapped=True).counts(first, second) == (1, 1, 0, 3)
    assert Event(2.5, swapped=True).counts(first, second) == (2, 0, 0, 3)


def test_the_event_is_chosen_on_other_runs_than_those_that_are_counted():
    """A statistic that is pure noise can be fitted, but not proved."""
    assert not any(
        judged(lambda count, stream: stream.random((2, count)), seed, 2000, 0.0).epsilon > 0.5
        for seed in range(100)
    )
    calls = []

    def statistic(count, stream):
        calls.append((count, stream))
        return shifted(0.1)(count, stream)

    proof = judged(statistic, runs=5000)
    streams = [calls[0][1], calls[-1][1]]
    assert streams[0] is not streams[1]
    counted = [sum(n for n, stream in calls if stream is one) for one in streams]
    assert counted == [2000, proof.runs]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_difference_in_the_pilot_alone_is_not_proved(swapped):
    streams = np.random.default_rng(0).spawn(2)

    def statistic(count, stream):
        mu = 0.0 if stream is streams[int(not swapped)] else 3.0
        return shifted(mu)(count, stream)

    proof = prove(statistic, claimed_epsilon=1.0, delta=DELTA, runs=4000, streams=streams)
    assert proof.refuted == swapped


def test_what_is_just_private_is_seldom_refuted_whatever_the_event():
    """Randomised response at epsilon 1: all events of its two answers are equally good."""

    def statistic(count, stream):
        first, second = stream.random((2, count)) < np.array([[np.e], [1]]) / (1 + np.e)
        return first + 0.1 * stream.random(count), second + 0.1 * stream.random(count)

    proofs = [judged(statistic, seed, 3000, 0.0) for seed in range(100)]
    assert not any(proof.refuted for proof in proofs)
    assert sum(proof.epsilon > 1 for proof in proofs) <= 11
    assert np.mean([proof.epsilon for proof in proofs]) > 0.7


def test_a_claim_falls_by_the_mean_wealth_of_all_events_alone():
    # One event in four won all; by Ville's inequality a mean of 1 / ERROR is enough.
    enough = np.array([np.log(4 / evidence.ERROR), -np.inf, -np.inf, -np.inf])
    assert blackbox._rejects(enough + 1e-9, evidence.REFUTED)
    assert not blackbox._rejects(enough - 1e-2, evidence.REFUTED)
