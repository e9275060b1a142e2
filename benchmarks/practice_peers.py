"""The same private answers from this package, diffprivlib and OpenDP: errors, time, promises.

``python benchmarks/practice_peers.py`` writes benchmarks/peers_errors.csv and peers_promises.csv,
and from these the tables of docs/peers.md. It needs an environment that has the three packages and
scikit-learn; elsewhere it says so. All packages get the same records, scaled to [-1, 1] by the same
public bounds, and promise a pure epsilon where one record is replaced. In a column of its own this
package also has a delta, at which other mechanisms can be its first choice.

What is said of a promise is computed from the installed code: by its own accounting, by a call, or
by the black-box audit of this package (:mod:`matrixdp.auditing.blackbox`).
"""

from __future__ import annotations

import csv
import functools
import importlib.metadata
import importlib.util
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import matrixdp as mdp
from matrixdp.auditing import blackbox

ROOT = Path(__file__).resolve().parents[1]
EPSILON = 1.0
#: The delta of this package's second column.
DELTA = 1e-6
#: Answers to each question, how many suffice after half of the patience, and the seconds that they
#: may take together.
ANSWERS, ENOUGH, PATIENCE = 200, 25, 120
OURS, IBM, OPEN = ("matrixdp", "diffprivlib", "opendp")
#: This package with a delta.
APPROXIMATE = "matrixdp with a delta"
COLUMNS = (OURS, APPROXIMATE, IBM, OPEN)
#: Probability of the intervals of medians.
LEVEL = 0.95
NEEDED = (OURS, IBM, OPEN, "sklearn", "randomgen")
ERRORS, PROMISES = (ROOT / f"benchmarks/peers_{name}.csv" for name in ("errors", "promises"))
PAGE = ROOT / "docs/peers.md"
MISSING = "none"

#: Columns of the files of scikit-learn that are used, and their public bounds; the last column is
#: what the others predict.
FILES: dict[str, dict[str, tuple[float, float]]] = {
    "diabetes": {
        "age": (18, 90),
        "s6": (50, 150),
        "bp": (60, 140),
        "bmi": (15, 45),
        "target": (0, 400),
    },
    "wine": {
        "alcohol": (10, 16),
        "malic_acid": (0, 6),
        "color_intensity": (0, 15),
        "hue": (0, 2),
        "proline": (0, 2000),
    },
    "breast_cancer": {
        "mean radius": (5, 30),
        "mean texture": (5, 45),
        "mean smoothness": (0, 0.2),
        "mean compactness": (0, 0.4),
        "mean concavity": (0, 0.5),
    },
}
#: Records and columns of a larger file, which is simulated.
SIMULATED = 20_000, 5


def files() -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and records (n, m) in half ranges about the middle of their bounds."""
    from sklearn import datasets

    for name, columns in FILES.items():
        options = {"scaled": False} if name == "diabetes" else {}
        frame = getattr(datasets, f"load_{name}")(as_frame=True, **options).frame
        lower, upper = np.array([*columns.values()], dtype=float).T
        records = frame[[*columns]].to_numpy().clip(lower, upper)
        yield name, (2 * records - lower - upper) / (upper - lower)
    stream = np.random.default_rng(0)
    shared = stream.standard_normal((SIMULATED[0], 1))
    records = 0.3 + 0.15 * (shared + stream.standard_normal(SIMULATED))
    yield "simulated", records.clip(-1, 1)


#: Maps records to an answer, and to the mechanism that it comes from where the package chose one.
Answer = Callable[[np.ndarray], tuple[np.ndarray, str]]


def our_mean(X: np.ndarray, delta: float = 0.0) -> tuple[np.ndarray, str]:
    query = mdp.MeanQuery(mdp.Box.cube(X.shape[1], -1, 1), len(X))
    best = mdp.compare_mechanisms(query, epsilon=EPSILON, delta=delta)[0]
    return best.release.release(X)[0], best.name


def _choice(estimator: Any) -> str:
    """Return the name of the mechanism of a fit."""
    release = estimator.mechanism_
    return str(getattr(release, "noise_name", type(getattr(release, "program", release)).__name__))


def our_covariance(X: np.ndarray, delta: float = 0.0) -> tuple[np.ndarray, str]:
    estimator = mdp.Covariance(epsilon=EPSILON, delta=delta, bounds=(-1, 1)).fit(X)
    return estimator.covariance_, _choice(estimator)


def our_component(X: np.ndarray, delta: float = 0.0) -> tuple[np.ndarray, str]:
    estimator = mdp.PrivatePCA(epsilon=EPSILON, delta=delta, bounds=(-1, 1)).fit(X)
    return estimator.components_[0], _choice(estimator)


def our_line(X: np.ndarray, delta: float = 0.0) -> tuple[np.ndarray, str]:
    sides = {"bounds": (-1, 1), "target_bounds": (-1, 1)}
    ridge = mdp.PrivateRidge(epsilon=EPSILON, delta=delta, **sides).fit(X[:, :-1], X[:, -1])
    return ridge.predict(X[:, :-1]), _choice(ridge)


def ibm_mean(X: np.ndarray) -> tuple[np.ndarray, str]:
    from diffprivlib import tools

    return tools.mean(X, epsilon=EPSILON, bounds=(-1, 1), axis=0), ""


def ibm_component(X: np.ndarray) -> tuple[np.ndarray, str]:
    from diffprivlib.models import PCA

    # The largest norm of a record, as its documentation says.
    norm = np.sqrt(X.shape[1])
    return PCA(1, epsilon=EPSILON, bounds=(-1, 1), data_norm=norm).fit(X).components_[0], ""


def ibm_line(X: np.ndarray) -> tuple[np.ndarray, str]:
    from diffprivlib.models import LinearRegression

    line = LinearRegression(epsilon=EPSILON, bounds_X=(-1, 1), bounds_y=(-1, 1))
    return line.fit(X[:, :-1], X[:, -1]).predict(X[:, :-1]), ""


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    return dp


def open_mean(X: np.ndarray) -> tuple[np.ndarray, str]:
    dp = _opendp()
    # The number of records is public. Resizing would double the distance of neighbours.
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(X))
    mean = (domain, dp.symmetric_distance()) >> dp.t.then_clamp((-1.0, 1.0)) >> dp.t.then_mean()
    each = EPSILON / X.shape[1]
    scale = dp.binary_search_param(lambda s: mean >> dp.m.then_laplace(s), d_in=2, d_out=each)
    private = mean >> dp.m.then_laplace(scale)
    return np.array([private(column.tolist()) for column in X.T]), ""


def open_component(X: np.ndarray) -> tuple[np.ndarray, str]:
    dp = _opendp()
    # Its epsilon is for a record that is added or removed; replacing is both.
    options = {"epsilon": EPSILON / 2, "n_samples": len(X), "n_features": X.shape[1]}
    options |= {"row_norm": float(np.sqrt(X.shape[1])), "n_components": 1}
    return dp.sklearn.decomposition.PCA(**options).fit(X).components_[0], ""


def open_line(X: np.ndarray) -> tuple[np.ndarray, str]:
    dp = _opendp()

    def line(scale: float) -> Any:
        options = {"x_bounds": [(-1.0, 1.0)], "y_bounds": (-1.0, 1.0), "scale": scale}
        return dp.sklearn.linear_model.LinearRegression(dp.max_divergence(), **options)

    scale = dp.binary_search_param(lambda s: line(s).measurement, d_in=2, d_out=EPSILON, T=float)
    return line(scale).fit(X[:, :-1], X[:, -1]).predict(X[:, :-1]), ""


def mean_error(answer: np.ndarray, X: np.ndarray) -> float:
    """Return the root mean square error, in half ranges."""
    return float(np.sqrt(np.mean((answer - X.mean(axis=0)) ** 2)))


def covariance_error(answer: np.ndarray, X: np.ndarray) -> float:
    """Return the Frobenius norm of the error over that of the covariance."""
    exact = np.cov(X.T, bias=True)
    return float(np.linalg.norm(answer - exact) / np.linalg.norm(exact))


def component_error(answer: np.ndarray, X: np.ndarray) -> float:
    """Return the share of the first component's variance that a direction loses."""
    covariance = np.cov(X.T, bias=True)
    return float(1 - answer @ covariance @ answer / np.linalg.eigvalsh(covariance)[-1])


def line_error(answer: np.ndarray, X: np.ndarray) -> float:
    """Return the share of what a regression explains that predictions lose; 1 for a constant."""
    target = X[:, -1]
    design = np.column_stack([X[:, :-1], np.ones(len(X))])
    exact = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    best, constant = (np.mean((target - one) ** 2) for one in (exact, target.mean()))
    error = np.mean((target - np.clip(answer, -1, 1)) ** 2)
    return float((error - best) / (constant - best))


class Question:
    """A question, its error, the columns that it is about, and who answers it by which function."""

    def __init__(
        self,
        error: Callable[[np.ndarray, np.ndarray], float],
        answers: Mapping[str, tuple[str, Answer]],
        columns: Sequence[int] | slice = slice(None),
    ) -> None:
        self.error, self.answers, self.columns = error, answers, columns


def ours(function: str, answer: Callable[..., tuple[np.ndarray, str]]) -> dict[str, Any]:
    """Return this package's answers without and with a delta, by column."""
    approximate = functools.partial(answer, delta=DELTA)
    return {OURS: (function, answer), APPROXIMATE: (function, approximate)}


QUESTIONS = {
    "mean": Question(
        mean_error,
        {
            **ours("options, MeanQuery", our_mean),
            IBM: ("tools.mean", ibm_mean),
            OPEN: ("then_clamp, then_mean, then_laplace by column", open_mean),
        },
    ),
    "covariance": Question(covariance_error, ours("Covariance", our_covariance)),
    "first component": Question(
        component_error,
        {
            **ours("PrivatePCA", our_component),
            IBM: ("models.PCA", ibm_component),
            OPEN: ("sklearn.decomposition.PCA", open_component),
        },
    ),
    "regression on four columns": Question(
        line_error,
        {**ours("PrivateRidge", our_line), IBM: ("models.LinearRegression", ibm_line)},
    ),
    "regression on one column": Question(
        line_error,
        {
            **ours("PrivateRidge", our_line),
            IBM: ("models.LinearRegression", ibm_line),
            OPEN: ("sklearn.linear_model.LinearRegression", open_line),
        },
        [-2, -1],
    ),
}


def measured(question: Question, package: str, X: np.ndarray, out: Any) -> None:
    """Put the errors of several answers, the mechanism, and the CPU ms of the quickest."""
    warnings.simplefilter("ignore")
    errors, times, begin, mechanism = [], [], time.monotonic(), ""
    answer = question.answers[package][1]
    while len(errors) < ANSWERS:
        start = time.process_time()
        result, mechanism = answer(X.copy())
        times.append(time.process_time() - start)
        errors.append(question.error(result, X))
        if len(errors) >= ENOUGH and time.monotonic() - begin > PATIENCE / 2:
            break
    out.put((errors, mechanism, 1e3 * min(times)))


def median_interval(errors: Sequence[float]) -> tuple[float, float]:
    """Return the interval of a median between two order statistics, by the binomial law."""
    place = int(binom.ppf((1 - LEVEL) / 2, len(errors), 0.5))
    ordered = sorted(errors)
    return ordered[max(place - 1, 0)], ordered[min(len(errors) - place, len(errors) - 1)]


def error_rows() -> Iterator[dict[str, object]]:
    """Yield a row per question, file and package."""
    context = multiprocessing.get_context("fork")
    for name, question in QUESTIONS.items():
        for file, records in files():
            X = records[:, question.columns]
            for package, (function, _) in question.answers.items():
                out = context.Queue()
                process = context.Process(target=measured, args=(question, package, X, out))
                process.start()
                process.join(PATIENCE)
                row = {"question": name, "file": file, "records": len(X), "package": package}
                row |= {"version": version(package), "function": function}
                if process.is_alive():
                    process.kill()
                    row["note"] = f"no answer within {PATIENCE} s"
                elif process.exitcode:
                    row["note"] = "failed"
                else:
                    errors, mechanism, took = out.get()
                    low, middle, high = np.quantile(errors, [0.1, 0.5, 0.9])
                    row |= {"low": low, "median": middle, "high": high, "cpu_ms": took}
                    row |= {"answers": len(errors), "mechanism": mechanism}
                    row["median_low"], row["median_high"] = median_interval(errors)
                print(row, flush=True)
                yield row


def version(package: str) -> str:
    """Return the installed version."""
    return (
        mdp.__version__ if package in (OURS, APPROXIMATE) else importlib.metadata.version(package)
    )


#: A verdict in a few words, and what it rests on.
Verdict = tuple[str, str]


def _records(count: int = 400) -> np.ndarray:
    return np.random.default_rng(1).uniform(0, 1, (count, 2))


def _space(dp: Any) -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def our_bounds() -> Verdict:
    try:
        mdp.PrivatePCA().fit(_records())
    except mdp.InputError as error:
        return "refused", str(error)
    return "accepted", ""


def ibm_bounds() -> Verdict:
    from diffprivlib import tools

    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        tools.mean(_records()[:, 0], epsilon=EPSILON)
    return "taken from the data", f"{raised[0].category.__name__}, a warning"


def open_bounds() -> Verdict:
    dp = _opendp()
    try:
        _space(dp) >> dp.t.then_sum()
    except Exception as error:
        return "refused", f"{type(error).__name__}: {str(error).split(chr(10))[-1].strip()}"
    return "accepted", ""


def our_neighbours() -> Verdict:
    query = mdp.MeanQuery(mdp.Box.cube(2, 0, 1), 400)
    release = mdp.Laplace().calibrate(query, epsilon=EPSILON)
    adjacency = release.statement.adjacency
    return "one record replaced", f"`adjacency={adjacency!r}`; two other relations can be asked for"


def ibm_neighbours() -> Verdict:
    """Return the relation that a sensitivity implies: a replaced record moves a mean by 1 / n."""
    from diffprivlib import mechanisms, tools

    sensitivities, build = [], mechanisms.LaplaceTruncated.__init__

    def record(self: Any, **options: Any) -> None:
        sensitivities.append(options["sensitivity"])
        build(self, **options)

    mechanisms.LaplaceTruncated.__init__ = record
    try:
        tools.mean(_records(400)[:, 0], epsilon=EPSILON, bounds=(0, 1))
    finally:
        mechanisms.LaplaceTruncated.__init__ = build
    factor = 400 * sensitivities[0]
    return "one record replaced", f"sensitivity of a mean in [0, 1]: {factor:g} / n"


def open_neighbours() -> Verdict:
    pca = _opendp().sklearn.decomposition.PCA(
        epsilon=EPSILON, row_norm=1.0, n_samples=100, n_features=3, n_components=1
    )
    replaced = pca.measurement().map(2)
    return "as its map states", f"PCA with epsilon 1 states {replaced:.3g} for one record replaced"


def our_parts() -> Verdict:
    options = {"delta": 0, "bounds": (0, 1), "target_bounds": (0, 1)}
    Z = _records()
    with tempfile.TemporaryDirectory() as folder:
        account = mdp.Account(f"{folder}/a.json", epsilon=EPSILON, delta=0)
        mdp.PrivateRidge(epsilon=EPSILON, **options, account=account).fit(Z[:, :1], Z[:, 1])
    return "yes", "a regression is one release, of second moments"


def ibm_parts() -> Verdict:
    """Add up what the parts of a regression on one column spend."""
    from diffprivlib.models import linear_regression as regression

    spent: list[float] = []
    originals = regression.mean, regression._construct_regression_obj

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **options: Any) -> Any:
            spent.append(options["epsilon"])
            return function(*values, **options)

        return call

    regression.mean, regression._construct_regression_obj = map(counted, originals)
    Z = _records()
    try:
        line = regression.LinearRegression(epsilon=EPSILON, bounds_X=(0, 1), bounds_y=(0, 1))
        line.fit(Z[:, :1], Z[:, 1])
    finally:
        regression.mean, regression._construct_regression_obj = originals
    words = "not in a regression" if sum(spent) > EPSILON else "yes"
    return words, f"on one column its parts spend {sum(spent):g} at epsilon 1"


def open_parts() -> Verdict:
    dp = _opendp()
    private = _space(dp) >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(1.0)
    both = dp.c.make_composition([private, private])
    each, total = private.map(2), both.map(2)
    return "yes", f"two sums of {each:.3g} compose to {total:.3g} by its map"


def ibm_sensitivity() -> Verdict:
    from diffprivlib.models import LinearRegression

    Z = _records()
    line = LinearRegression(epsilon=1e-6, fit_intercept=False, bounds_X=(0, 1), bounds_y=(0, 1))
    total = line.fit(Z[:, :1], Z[:, 1])._obj_coefs[2].item()
    off = abs(total - (Z[:, 0] ** 2).sum())
    # Laplace noise at a third of epsilon and a sensitivity of 1 has a mean size of 3e6.
    words = "too small in a regression" if off < 1 else "not found too small"
    return words, f"a sum of squares at epsilon 1e-6 is off by {off:.2g}"


#: Directions of a component, and records along the first axis; one less lie along the second.
DIRECTIONS, ALONG = 8, 201
#: Runs of a sampler that the black box may count.
RUNS = 8000


def _moments() -> np.ndarray:
    """Return the sum of x x^T over these records, whose norm is 1."""
    return np.diag([ALONG, ALONG - 1.0] + [0.0] * (DIRECTIONS - 2))


def component_loss(draw: Callable[[], np.ndarray]) -> Verdict:
    """Return what a black box proves of a direction's epsilon, which is claimed to be 1.

    In the neighbour one record lies along the second axis in place of the first. That exchanges the
    axes, so that a draw with its axes exchanged is one on the neighbour.
    """

    def statistic(count: int, stream: object) -> tuple[np.ndarray, np.ndarray]:
        squares = np.array([draw() for _ in range(count)]) ** 2
        ahead = squares[:, 0] - squares[:, 1]
        return ahead, -ahead

    streams = [np.random.default_rng(0)] * 2
    proof = blackbox.prove(
        statistic, claimed_epsilon=EPSILON, delta=0.0, runs=RUNS, streams=streams
    )
    words = "refuted" if proof.refuted else "not refuted"
    return words, f"{proof.runs} draws prove an epsilon of at least {proof.epsilon:.2g}"


def our_component_loss() -> Verdict:
    X = np.repeat(np.eye(DIRECTIONS)[:2], [ALONG, ALONG - 1], axis=0)
    options = {"epsilon": EPSILON, "delta": 0, "bounds": (-1, 1)}
    return component_loss(lambda: mdp.PrivatePCA(**options).fit(X).components_[0])


def ibm_component_loss() -> Verdict:
    from diffprivlib.mechanisms import Bingham

    bingham, moments = Bingham(epsilon=EPSILON), _moments()
    return component_loss(lambda: bingham.randomise(moments))


def open_component_loss() -> Verdict:
    dp = _opendp()
    from opendp.extras.numpy import _sscp_domain
    from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector

    size = 2 * ALONG - 1
    domain = _sscp_domain(num_features=DIRECTIONS, norm=1.0, p=2, size=size, T=float)
    private = make_private_eigenvector(domain, dp.symmetric_distance(), EPSILON)
    assert private.map(2) == EPSILON
    moments = _moments()
    return component_loss(lambda: np.asarray(private(moments)))


def last_bits(draw: Callable[[float], float]) -> Verdict:
    """Return how often an output near 0 has last bits that it could not have near the value 1.

    A float64 sum of 1 and noise near -1 is a multiple of 2^-53 (Mironov, CCS 2012).
    """
    counts = []
    for value in (0.0, 1.0):
        outputs = np.array([draw(value) for _ in range(10_000)])
        near = outputs[np.abs(outputs) < 1 / 16]
        counts.append(int(np.count_nonzero(near * 2.0**53 % 1)))
    zero, one = counts
    words = "tell neighbours apart" if zero and not one else "tell nothing"
    return words, f"{zero} of 10,000 outputs for a value of 0, {one} for one of 1"


def our_bits() -> Verdict:
    release = mdp.Laplace().calibrate(mdp.MeanQuery(mdp.Box.cube(1, 0, 1), 1), epsilon=EPSILON)
    return last_bits(lambda value: release.release([[value]]).item())


def ibm_bits() -> Verdict:
    from diffprivlib.mechanisms import Laplace

    return last_bits(Laplace(epsilon=EPSILON, sensitivity=1).randomise)


def open_bits() -> Verdict:
    dp = _opendp()
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    return last_bits(space >> dp.m.then_laplace(1 / EPSILON))


def three_fits(fit: Callable[[], object]) -> Verdict:
    """Return how many of three equal requests are answered; each spends epsilon anew."""
    for done in range(3):
        try:
            fit()
        except Exception as error:
            return f"{done} of 3", f"then {type(error).__name__}"
    return "3 of 3", ""


def our_fits() -> Verdict:
    pca = mdp.PrivatePCA(epsilon=EPSILON, delta=0, bounds=(0, 1))
    return three_fits(lambda: pca.fit(_records()))


def ibm_fits() -> Verdict:
    from diffprivlib.models import PCA

    pca = PCA(1, epsilon=EPSILON, bounds=(0, 1), data_norm=2)
    words, _ = three_fits(lambda: pca.fit(_records()))
    return words, "a `BudgetAccountant` of its user's may set a limit"


def open_fits() -> Verdict:
    sizes = {"n_samples": 400, "n_features": 2, "n_components": 1}
    pca = _opendp().sklearn.decomposition.PCA(epsilon=EPSILON, row_norm=2.0, **sizes)
    return three_fits(lambda: pca.fit(_records()))


#: Promises, and how each package was tried.
CHECKS: dict[str, dict[str, Callable[[], Verdict]]] = {
    "Bounds that are left out": {OURS: our_bounds, IBM: ibm_bounds, OPEN: open_bounds},
    "Neighbours of ε": {OURS: our_neighbours, IBM: ibm_neighbours, OPEN: open_neighbours},
    "Parts spend ε together": {OURS: our_parts, IBM: ibm_parts, OPEN: open_parts},
    "Sensitivity": {IBM: ibm_sensitivity},
    "ε of 1 of a component": {
        OURS: our_component_loss,
        IBM: ibm_component_loss,
        OPEN: open_component_loss,
    },
    "Last bits of Laplace noise": {OURS: our_bits, IBM: ibm_bits, OPEN: open_bits},
    "Equal fits answered": {OURS: our_fits, IBM: ibm_fits, OPEN: open_fits},
}


def promise_rows() -> Iterator[dict[str, object]]:
    """Yield a row per promise and package."""
    for promise, checks in CHECKS.items():
        for package, check in checks.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                words, evidence = check()
            row = {"promise": promise, "package": package, "version": version(package)}
            row |= {"verdict": words, "evidence": evidence}
            print(row, flush=True)
            yield row


Rows = Sequence[Mapping[str, str]]


def error_table(rows: Rows) -> str:
    """Return the errors in Markdown, by question and file."""
    by_case: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        cells = by_case.setdefault((row["question"], f"{row['file']} ({row['records']})"), {})
        cells[row["package"]] = row["note"] or " ".join(
            [
                _short(row["median"]),
                f"({_short(row['median_low'])} to {_short(row['median_high'])})",
            ]
        )
    lines = [
        [question, file, *(cells.get(package, MISSING) for package in COLUMNS)]
        for (question, file), cells in by_case.items()
    ]
    return _markdown(["Question", "File (records)", *_names(rows)], lines)


def promise_table(rows: Rows) -> str:
    """Return the promises in Markdown."""
    by_promise: dict[str, dict[str, str]] = {}
    for row in rows:
        words = "; ".join(filter(None, [row["verdict"], row["evidence"]]))
        by_promise.setdefault(row["promise"], {})[row["package"]] = words
    lines = [
        [promise, *(cells.get(package, "") for package in (OURS, IBM, OPEN))]
        for promise, cells in by_promise.items()
    ]
    return _markdown(["", *_names(rows)], lines)


def _names(rows: Rows) -> list[str]:
    versions = {row["package"]: row["version"] for row in rows}
    titles = {OPEN: f"OpenDP {versions[OPEN]}", APPROXIMATE: f"matrixdp, δ = {DELTA:g}"}
    columns = [package for package in COLUMNS if package in versions]
    return [titles.get(package, f"{package} {versions[package]}") for package in columns]


def _short(number: str) -> str:
    return f"{float(number):.2g}" if number else ""


def _markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page(text: str) -> str:
    """Return docs/peers.md with the tables of the two files in their places."""
    errors, promises = (_read(path) for path in (ERRORS, PROMISES))
    tables = {"errors": error_table(errors), "promises": promise_table(promises)}
    for name, table in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(start)
        text = before + start + "\n" + table + "\n" + end + rest.partition(end)[2]
    return text


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Ask all packages, keep the answers, and write the tables of the page."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"not run: {', '.join(missing)} would have to be installed")
        return
    _write(PROMISES, list(promise_rows()))
    _write(ERRORS, list(error_rows()))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
