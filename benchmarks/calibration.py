"""Time to calibrate noise; Gaussian noise as a ratio to a loop over a scalar root finder.

Run it as ``python benchmarks/calibration.py``; it takes a few seconds. It solves 1000 pairs with
epsilon in [0.01, 10] and delta in [1e-10, 1e-3] for mu, and back for epsilon. Times are CPU time,
medians of interleaved repeats. Peers are timed where they are installed. The last column is the
largest difference to our own answers, which the tests hold against 50 digits: relative in the
standard deviation 1 / mu, absolute in epsilon, and below 0 where a peer promises too much.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from matrixdp.privacy import gaussian_dp
from reproduction.privacy import generalized_gamma

REPEATS = 9
#: Milliseconds for one calibration of generalized gamma noise.
MOST = 5
EPSILONS, DELTAS = (
    grid.ravel() for grid in np.meshgrid(np.geomspace(0.01, 10, 40), np.geomspace(1e-10, 1e-3, 25))
)
MUS = gaussian_dp.mu(EPSILONS, DELTAS)
PAIRS = list(zip(EPSILONS.tolist(), DELTAS.tolist(), MUS.tolist(), strict=True))


@dataclass
class Case:
    """One row: ``solve`` returns one ``answer`` (mu or epsilon) per pair."""

    name: str
    answer: str
    solve: Callable[[], np.ndarray]
    target: float | None = None


def difference(case: Case) -> float:
    """Return the largest difference to our own answers, relative in 1 / mu, absolute in epsilon."""
    found = case.solve()
    ours = gaussian_dp.epsilon(DELTAS, MUS)
    differences = MUS / found - 1 if case.answer == "mu" else found - ours
    return float(differences[np.abs(differences).argmax()])


def log_delta(epsilon: float, mu: float) -> float:
    """Balle & Wang's curve, as a scalar solver would evaluate it."""
    a = log_ndtr(mu / 2 - epsilon / mu)
    b = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return float(a + np.log(-np.expm1(b - a))) if b < a else -np.inf


def scalar_mu(epsilon: float, delta: float) -> float:
    target = np.log(delta)
    # The root finder needs finite values at the ends, where the curve underflows to -inf.
    return brentq(lambda mu: max(log_delta(epsilon, mu), -1e4) - target, 1e-5, 20, xtol=1e-13)


def scalar_epsilon(delta: float, mu: float) -> float:
    target = np.log(delta)
    return brentq(lambda x: max(log_delta(x, mu), -1e4) - target, 0, 50, xtol=1e-13)


def cases() -> list[Case]:
    """Return the loops first: the others' ratios are to them."""
    rows = [
        Case("scipy loop", "mu", lambda: np.array([scalar_mu(e, d) for e, d, _ in PAIRS])),
        Case(
            "scipy loop", "epsilon", lambda: np.array([scalar_epsilon(d, m) for _, d, m in PAIRS])
        ),
        Case("matrixdp", "mu", lambda: gaussian_dp.mu(EPSILONS, DELTAS), 2),
        Case("matrixdp", "epsilon", lambda: gaussian_dp.epsilon(DELTAS, MUS), 2),
        Case(
            "matrixdp, one call a pair",
            "mu",
            lambda: np.array([gaussian_dp.mu(e, d) for e, d, _ in PAIRS]),
        ),
    ]
    if importlib.util.find_spec("dp_accounting"):
        from dp_accounting import gaussian_mechanism as peer

        rows += [
            Case(
                "dp_accounting",
                "mu",
                lambda: np.array([1 / peer.get_sigma_gaussian(e, d) for e, d, _ in PAIRS]),
            ),
            Case(
                "dp_accounting",
                "epsilon",
                lambda: np.array([peer.get_epsilon_gaussian(1 / m, d) for _, d, m in PAIRS]),
            ),
        ]
    if importlib.util.find_spec("diffprivlib"):
        from diffprivlib.mechanisms import GaussianAnalytic

        def scale(epsilon: float, delta: float) -> float:
            return GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1)._scale

        rows.append(
            Case("diffprivlib", "mu", lambda: np.array([1 / scale(e, d) for e, d, _ in PAIRS]))
        )
    return rows


def measured(rows: list[Case]) -> np.ndarray:
    """Return microseconds per pair, medians over interleaved repeats."""
    times = np.empty((REPEATS, len(rows)))
    for repeat in range(REPEATS):
        for i, case in enumerate(rows):
            start = time.process_time()
            case.solve()
            times[repeat, i] = time.process_time() - start
    return np.median(times, axis=0) / len(PAIRS) * 1e6


def generalized() -> dict[str, float]:
    """Return the milliseconds to calibrate generalized gamma noise once, by what is asked for."""
    found = {}
    for dimension, records in ((6, 248), (10, 10_176), (21, 2126)):
        for powers in (1.25, np.linspace(1, 2, 9)):
            times = []
            for _ in range(REPEATS):
                for epsilon in (0.1, 1.0, 10.0):
                    start = time.process_time()
                    generalized_gamma.scale(epsilon, 1 / records, powers, dimension)
                    times.append(time.process_time() - start)
            found[f"dimension {dimension}, powers: {np.size(powers)}"] = np.median(times) * 1e3
    return found


def main() -> int:
    """Print the table; return 1 if a target is missed."""
    rows = cases()
    differences = [difference(case) for case in rows]
    with threadpool_limits(1):
        times = measured(rows)
    loops = {case.answer: time_each for case, time_each in zip(rows[:2], times[:2], strict=True)}
    print(
        f"{'solver':28} {'for':8} {'us/pair':>9} {'ratio':>8} {'target':>7}  met {'difference':>11}"
    )
    missed = 0
    for case, time_each, off in zip(rows, times, differences, strict=True):
        verdict = "" if case.target is None else "yes" if time_each <= case.target else "no"
        missed += verdict == "no"
        target = "" if case.target is None else f"{case.target:g}"
        ratio = time_each / loops[case.answer]
        print(
            f"{case.name:28} {case.answer:8} {time_each:9.2f} {ratio:8.4f} {target:>7}  "
            f"{verdict:3}  {off:10.1e}"
        )
    print("Ratios are to the scipy loop for the same answer; targets are microseconds per pair.")
    print(f"\n{'generalized gamma noise':38} {'ms':>8} {'target':>8}  met")
    with threadpool_limits(1):
        for name, time_each in generalized().items():
            verdict = "yes" if time_each <= MOST else "no"
            missed += verdict == "no"
            print(f"{name:38} {time_each:8.2f} {MOST:8g}  {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
