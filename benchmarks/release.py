"""Time of a released number, as a ratio to the physical limit of the same run.

The limit L is one standard normal of numpy's PCG64 written to an array that exists already. Run it
as ``python benchmarks/release.py``; it uses one BLAS thread and takes about half a minute. Targets
hold for the medians of interleaved repeats, of CPU time, so that other work on the machine counts
less. Peers are timed where they are installed.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from matrixdp.mechanisms.gaussian import AnalyzeGauss
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.mechanisms.programs import Step
from matrixdp.noise import distributions, safe
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Box, SecondMomentQuery
from reproduction.bingham import Bingham
from reproduction.experiments import draws
from reproduction.mechanisms.clipped import ClippedMoments
from reproduction.mechanisms.generalized_gamma import GeneralizedGamma, SymmetricGeneralizedGamma
from reproduction.mechanisms.noise import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
    MatrixNormal,
)
from reproduction.stacks import normals

REPEATS = 15


@dataclass
class Case:
    """One row: ``run`` makes ``numbers`` numbers; its limit is L of as many, plus ``floor``.

    ``instead`` takes the place of that limit.
    """

    name: str
    numbers: int
    run: Callable[[], object]
    target: float | None = None
    floor: Callable[[], object] | None = None
    instead: Callable[[], object] | None = None


def streams(trials: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(trials)]


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def additive(trials: int, m: int, n: int) -> list[Case]:
    """Releases of X plus noise without a column factor."""
    each, numbers = streams(trials), trials * m * n
    value = np.random.default_rng(0).random((m, n))
    scales = np.linspace(1, 2, m)
    directions = np.linalg.qr(np.random.default_rng(1).normal(size=(m, m)))[0] * scales

    def plus(distribution: distributions.NoiseDistribution) -> Callable[[], object]:
        def run() -> None:
            noisy = draws.noise_of(Step(distribution, 1.0), each)
            noisy += value

        return run

    size, shape = f"{trials} x {m} x {n}", (m, n)
    rows = [MatrixNormal(shape, factor) for factor in (scales, directions)]
    return [
        Case(f"unimodal, row scaling, {size}", numbers, plus(rows[0]), 1.15),
        Case(f"unimodal, dense, {size}", numbers, plus(rows[1]), 1.3),
        Case(f"Laplace, {size}", numbers, plus(Noise.of(safe.LAPLACE, 2.0, shape)), 1.6),
        Case(
            f"K-norm, Frobenius, {size}",
            numbers,
            plus(FrobeniusExponential(shape, 2.0)),
        ),
        Case(
            f"K-norm, column l2, {size}",
            numbers,
            plus(ColumnL2Exponential(shape, 2.0)),
        ),
        Case(
            f"K-norm, column l_inf, {size}",
            numbers,
            plus(ColumnLinfExponential(shape, 2.0, scales)),
        ),
    ]


def bimodal(trials: int, m: int, n: int) -> Case:
    """A N B^T + X with dense A and B, against L plus the two products alone."""
    each, out, spare = streams(trials), np.empty((trials, m, n)), np.empty((trials, m, n))
    rng = np.random.default_rng(0)
    value, a, b = rng.random((m, n)), rng.normal(size=(m, m)), rng.normal(size=(n, n))
    drawn = normals(each, (m, n))

    def released() -> None:
        noisy = MatrixNormal((m, n), a, b).trials(each)
        noisy += value

    def products() -> None:
        np.matmul(drawn.reshape(-1, n), b.T, out=spare.reshape(-1, n))
        np.matmul(a, spare, out=out)

    return Case(
        f"bimodal, dense, {trials} x {m} x {n}",
        out.size,
        released,
        1.1,
        products,
    )


def generalized_gamma(trials: int, m: int, n: int, target: float | None = None) -> Case:
    """Noise of power 1.25 against the normals that it is made from; symmetric where m is n."""
    kind = SymmetricGeneralizedGamma if m == n else GeneralizedGamma
    distribution, each = kind((m, n), 2.0, 1.25), streams(trials)
    out = np.empty((trials, m, n))
    return Case(
        f"generalized gamma, {trials} x {m} x {n}",
        out.size,
        lambda: distribution.trials(each),
        target,
        instead=lambda: normals(each, (m, n), out),
    )


def clipped_moments(trials: int, m: int, n: int, shared: bool, target: float) -> Case:
    """Clipped second moments against Analyze Gauss.

    Of the same records in all trials, as the experiments on components have them (``shared``), or
    of other records in each, as the regression has them.
    """
    rng, each = np.random.default_rng(0), streams(trials)
    records = rng.uniform(-1, 1, (m, n) if shared else (trials, m, n))
    query = SecondMomentQuery(Box.cube(m, -1, 1), n)

    def release(mechanism: Mechanism) -> Callable[[], object]:
        found = mechanism.calibrate(query, epsilon=1, delta=1 / n)
        return lambda: next(draws.simulate_all(found, [found.query.value(records)], lambda: each))

    return Case(
        f"clipped moments, {'one' if shared else 'any'} X, {trials} x {m} x {n}",
        trials * m * m,
        release(ClippedMoments()),
        target,
        instead=release(AnalyzeGauss()),
    )


def bingham(epsilon: float) -> list[Case]:
    """PPCA's exponent for 21 features in [0, 1] and 2126 records: kappa = n epsilon / (2 R^2)."""
    spectrum = np.concatenate([[4.5], np.geomspace(0.6, 0.002, 20)])
    axes = np.linalg.qr(np.random.default_rng(1).normal(size=(21, 21)))[0]
    form = 2126 * epsilon / (2 * 21) * (axes * spectrum) @ axes.T
    each = streams(1000)
    return [
        Case(
            "Bingham, d = 21, one draw of 1000 streams",
            21_000,
            lambda: Bingham(form).sample(each),
        ),
    ]


def peers(m: int, n: int) -> list[Case]:
    """Other packages' ways to the same releases, a few numbers each."""
    from scipy import stats

    rng = np.random.default_rng(0)
    rows, columns = np.eye(m) + 0.5, np.eye(n)
    small = np.kron(np.eye(4) + 0.5, np.eye(4))
    cases = [
        Case(
            f"scipy matrix_normal, 10 x {m} x {n}",
            10 * m * n,
            lambda: stats.matrix_normal.rvs(rowcov=rows, colcov=columns, size=10, random_state=rng),
        ),
        Case(
            "numpy multivariate_normal, Kronecker, 1000 x 4 x 4",
            16_000,
            lambda: rng.multivariate_normal(np.zeros(16), small, size=1000, method="cholesky"),
        ),
    ]
    values = [0.5] * 1000
    if importlib.util.find_spec("diffprivlib"):
        from diffprivlib.mechanisms import GaussianAnalytic

        gauss = GaussianAnalytic(epsilon=1, delta=1e-5, sensitivity=1, random_state=0)
        cases.append(
            Case("diffprivlib Gaussian", 1000, lambda: [gauss.randomise(x) for x in values])
        )
    if importlib.util.find_spec("opendp"):
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
        release = dp.m.make_gaussian(*space, scale=1.0)
        cases.append(Case("OpenDP Gaussian", 1000, lambda: release(values)))
    return cases


def measured(cases: list[Case]) -> list[tuple[float, float]]:
    """Return seconds per number and the ratio to the limit, medians of interleaved repeats."""
    stream = np.random.default_rng(3)
    limit = np.empty(max(case.numbers for case in cases))
    for case in cases:
        case.run()
    times, ratios = np.empty((2, len(cases), REPEATS))
    for repeat in range(REPEATS):
        for i, case in enumerate(cases):
            # Right before the case, as the processor's clock drifts, and into as large an array.
            if case.instead:
                least = seconds(case.instead)
            else:
                part = limit[: case.numbers]
                least = seconds(lambda part=part: stream.standard_normal(out=part))
                least += seconds(case.floor) if case.floor else 0.0
            times[i, repeat] = seconds(case.run)
            ratios[i, repeat] = times[i, repeat] / least
    per_number = np.median(times, axis=1) / [case.numbers for case in cases]
    return list(zip(per_number, np.median(ratios, axis=1), strict=True))


def main() -> int:
    """Print the table; return 1 if a target is missed."""
    cases = [
        *additive(100, 21, 2126),
        bimodal(100, 6, 248),
        bimodal(40, 21, 2126),
        generalized_gamma(1000, 6, 248, 1.5),
        generalized_gamma(100, 21, 2126, 1.5),
        generalized_gamma(10_000, 4, 4),
        clipped_moments(200, 6, 248, False, 1.3),
        clipped_moments(100, 21, 2126, True, 1.3),
        clipped_moments(100, 4, 10_176, True, 1.3),
        *bingham(1.0),
        *peers(6, 248),
    ]
    # Now that every package is loaded: a BLAS that comes later would not be limited.
    with threadpool_limits(1):
        rows = list(zip(cases, measured(cases), strict=True))
    print(f"{'release':52} {'ns/number':>10} {'ratio':>8} {'target':>7}  met")
    missed = 0
    for case, (time_each, ratio) in rows:
        verdict = "" if case.target is None else "yes" if ratio <= case.target else "no"
        missed += verdict == "no"
        target = "" if case.target is None else f"{case.target:g}"
        print(f"{case.name:52} {time_each * 1e9:10.2f} {ratio:8.3f} {target:>7}  {verdict}")
    print(
        "Ratios are to L; for bimodal releases to L plus their two matrix products, for generalized"
    )
    print("gamma noise to its normals, for clipped moments to Analyze Gauss on the same records.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
