"""The same private answers from this package, diffprivlib and OpenDP: noise, time, guarantee.

Run it as ``python benchmarks/practice_peers.py [matrix.npy]`` where all three are installed (tried
with diffprivlib 0.6.6, OpenDP 0.16.0, randomgen 2.5, scikit-learn 1.7.2); elsewhere it says so. The
matrix has one record per column, within [-1, 1], as ``results/data/ctg/matrix.npy``; without one it
is simulated.

Noise is a root mean square over half of the range of what is released. What is said of a guarantee
is computed here from the installed code: by its own accounting, or by a call that should be noisy.
"""

from __future__ import annotations

import importlib.util
import inspect
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))

import matrixdp as mdp

EPSILON, DELTA = 1.0, 1e-6
#: Seconds after which an answer is no longer waited for.
PATIENCE = 60
PEERS = ("diffprivlib", "opendp", "randomgen", "sklearn")
#: From a matrix (n, m), one record per row, to an answer; the last column is what others predict.
Answer = Callable[[np.ndarray], np.ndarray]


def our_answer(query: type, X: np.ndarray) -> np.ndarray:
    asked = query(mdp.Box.cube(X.shape[1], -1, 1), records=len(X))
    mechanism = mdp.recommend(asked, epsilon=EPSILON, delta=DELTA)
    return mechanism.calibrate(asked, epsilon=EPSILON, delta=DELTA).sample_once(X)


def our_component(X: np.ndarray) -> np.ndarray:
    return mdp.PrivatePCA(epsilon=EPSILON, delta=DELTA, bounds=(-1, 1)).fit(X).components_[0]


def our_prediction(X: np.ndarray) -> np.ndarray:
    ridge = mdp.PrivateRidge(epsilon=EPSILON, delta=DELTA, bounds=(-1, 1), target_bounds=(-1, 1))
    return ridge.fit(X[:, :-1], X[:, -1]).predict(X[:, :-1])


def ibm_records(X: np.ndarray) -> np.ndarray:
    from diffprivlib.mechanisms import GaussianAnalytic

    sensitivity = 2 * np.sqrt(X.shape[1])  # by the user
    noisy = GaussianAnalytic(epsilon=EPSILON, delta=DELTA, sensitivity=sensitivity)
    return np.vectorize(noisy.randomise)(X)


def ibm_mean(X: np.ndarray) -> np.ndarray:
    from diffprivlib.tools import mean

    return mean(X, epsilon=EPSILON, bounds=(-1, 1), axis=0)


def ibm_component(X: np.ndarray) -> np.ndarray:
    from diffprivlib.models import PCA

    norm = np.sqrt(X.shape[1])
    return PCA(1, epsilon=EPSILON, centered=True, data_norm=norm).fit(X).components_[0]


def ibm_prediction(X: np.ndarray) -> np.ndarray:
    from diffprivlib.models import LinearRegression

    line = LinearRegression(epsilon=EPSILON, bounds_X=(-1, 1), bounds_y=(-1, 1))
    return line.fit(X[:, :-1], X[:, -1]).predict(X[:, :-1])


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    return dp


def open_records(X: np.ndarray) -> np.ndarray:
    return _open_vector(X.ravel(), 2 * np.sqrt(X.shape[1])).reshape(X.shape)


def open_mean(X: np.ndarray) -> np.ndarray:
    return _open_vector(X.mean(axis=0), 2 * np.sqrt(X.shape[1]) / len(X))


def _open_vector(value: np.ndarray, sensitivity: float) -> np.ndarray:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)

    def private(scale: float) -> Any:
        return dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale))

    def fixed(scale: float) -> Any:
        return dp.c.make_fix_delta(private(scale), DELTA)

    scale = dp.binary_search_param(fixed, d_in=float(sensitivity), d_out=(EPSILON, DELTA))
    return np.array(private(scale)(value.tolist()))


def open_component(X: np.ndarray) -> np.ndarray:
    sizes = {"n_samples": len(X), "n_features": X.shape[1], "n_components": 1}
    pca = _opendp().sklearn.decomposition.PCA(
        epsilon=EPSILON, row_norm=np.sqrt(X.shape[1]), **sizes
    )
    return pca.fit(X).components_[0]


ANSWERS: dict[str, dict[str, Answer | None]] = {
    "records": {
        "matrixdp": partial(our_answer, mdp.IdentityQuery),
        "diffprivlib": ibm_records,
        "OpenDP": open_records,
    },
    "mean": {
        "matrixdp": partial(our_answer, mdp.MeanQuery),
        "diffprivlib": ibm_mean,
        "OpenDP": open_mean,
    },
    "second moments": {
        "matrixdp": partial(our_answer, mdp.SecondMomentQuery),
        "diffprivlib": None,
        "OpenDP": None,
    },
    "first component": {
        "matrixdp": our_component,
        "diffprivlib": ibm_component,
        "OpenDP": open_component,
    },
    "regression": {"matrixdp": our_prediction, "diffprivlib": ibm_prediction, "OpenDP": None},
}


def error(query: str, answer: np.ndarray, X: np.ndarray) -> float:
    """Return the noise of an answer; of a component the share of the variance that it loses."""
    if query == "first component":
        values, vectors = np.linalg.eigh(X.T @ X)
        return float(1 - ((answer @ vectors) ** 2) @ values / values[-1])
    exact = {
        "records": lambda: X,
        "mean": lambda: X.mean(axis=0),
        "second moments": lambda: X.T @ X / len(X),
        "regression": lambda: _least_squares(X),
    }[query]()
    return float(np.sqrt(np.mean((answer - exact) ** 2)))


def _least_squares(X: np.ndarray) -> np.ndarray:
    known = np.column_stack([X[:, :-1], np.ones(len(X))])
    return known @ np.linalg.lstsq(known, X[:, -1], rcond=None)[0]


def lines(answer: Answer) -> int:
    """Return the lines of a function's body, and of what it calls here."""
    function = answer.func if isinstance(answer, partial) else answer
    text = inspect.getsource(function).splitlines()[1:]
    if any("_open_vector(" in line for line in text):
        text += inspect.getsource(_open_vector).splitlines()[1:]
    return sum(bool(line.strip()) for line in text)


def measured(query: str, answer: Answer, X: np.ndarray, out: Any) -> None:
    """Put the noise of several answers together, and the CPU milliseconds of the quickest."""
    warnings.simplefilter("ignore")
    errors, times = [], []
    while len(times) < 3 or (sum(times) < 2 and len(times) < 200):
        start = time.process_time()
        noisy = answer(X)
        times.append(time.process_time() - start)
        errors.append(error(query, noisy, X))
    power = 1 if query == "first component" else 2
    out.put((float(np.mean(np.power(errors, power)) ** (1 / power)), 1e3 * min(times)))


def row(query: str, name: str, answer: Answer, X: np.ndarray) -> str:
    """Return a row of the table."""
    start = f"{query:16}{name:13}{lines(answer):5}"
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    process = context.Process(target=measured, args=(query, answer, X, out))
    process.start()
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        return f"{start}  no answer within {PATIENCE} s"
    if process.exitcode:
        return f"{start}  failed"
    noise, took = out.get()
    return f"{start}{noise:12.3g}{took:12.4g}"


def verdicts() -> list[str]:
    """Return what the peers' own accounting and outputs say of their guarantees."""
    import diffprivlib.models.linear_regression as regression
    from diffprivlib.mechanisms import Bingham

    rng = np.random.default_rng(1)
    Z = rng.uniform(0, 1, (200, 2))
    found = []
    line = regression.LinearRegression(
        epsilon=1e-6, fit_intercept=False, bounds_X=(0, 1), bounds_y=(0, 1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sums = line.fit(Z[:, :1], Z[:, 1])._obj_coefs[2].item()
    off = abs(sums - (Z[:, 0] ** 2).sum())
    found.append(
        f"diffprivlib regression, values in [0, 1], epsilon 1e-6: sum of squares off by {off:.2g} "
        "(its sensitivity is computed from the lower bound twice)"
    )
    spent = []
    plain, built = regression.mean, regression._construct_regression_obj
    regression.mean = lambda *a, **k: spent.append(k["epsilon"]) or plain(*a, **k)
    regression._construct_regression_obj = lambda *a, **k: (
        spent.append(k["epsilon"]) or built(*a, **k)
    )
    try:
        regression.LinearRegression(epsilon=1, bounds_X=(0, 1), bounds_y=(0, 1)).fit(
            Z[:, :1], Z[:, 1]
        )
    finally:
        regression.mean, regression._construct_regression_obj = plain, built
    found.append(f"diffprivlib regression on one column, epsilon 1: its parts spend {sum(spent):g}")
    # exp(k cos(2 angle)) on the circle, and the law that dividing by the envelope twice gives.
    scale, C = 20.0, np.diag([1.0, 0.2])
    draws = np.array([Bingham(epsilon=scale).randomise(C)[0] ** 2 for _ in range(20_000)])
    angle = np.linspace(0, np.pi, 20_001)[:-1]
    weight = np.exp(scale / 4 * 0.8 * np.cos(angle) ** 2)
    right = np.average(np.cos(angle) ** 2, weights=weight)
    z = (draws.mean() - right) / draws.std() * np.sqrt(len(draws))
    found.append(
        f"diffprivlib first component, two columns: mean of the squared first entry is {z:.0f} "
        "standard errors from that of the law that its proof is about; OpenDP's has the same line"
    )
    pca = _opendp().sklearn.decomposition.PCA(
        epsilon=1.0, row_norm=1.0, n_samples=100, n_features=3, n_components=1
    )
    said = pca.measurement().map(2)
    found.append(f"OpenDP PCA, epsilon 1: its map says {said:.2g} for one record replaced")
    return found


def main() -> None:
    """Print the table and what was found about guarantees."""
    missing = [name for name in PEERS if importlib.util.find_spec(name) is None]
    if missing:
        print(f"not run: {', '.join(missing)} would have to be installed")
        return
    if sys.argv[1:]:
        X = np.load(sys.argv[1]).T
    else:
        X = np.random.default_rng(0).uniform(-1, 1, (2126, 21))
    print(f"{X.shape[0]} x {X.shape[1]}, epsilon {EPSILON:g}, delta {DELTA:g}, one record replaced")
    print(f"{'query':16}{'from':13}lines{'noise':>12}{'ms':>12}")
    for query, answers in ANSWERS.items():
        for name, answer in answers.items():
            told = f"{query:16}{name:13}    -  has none" if answer is None else None
            print(told or row(query, name, answer, X), flush=True)
    print(*verdicts(), sep="\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
