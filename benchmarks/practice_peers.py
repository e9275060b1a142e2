"""The same private answers from this package, diffprivlib and OpenDP: errors, time, promises.

``python benchmarks/practice_peers.py`` writes benchmarks/peers_errors.csv and peers_promises.csv,
and from these the tables of docs/peers.md. It needs an environment that has the three packages and
scikit-learn 1.6, as diffprivlib 0.6.6 cannot be imported beside 1.9; elsewhere it says so. All
packages get the same records, scaled to [-1, 1] by the same public bounds, and promise a pure
epsilon where one record is replaced. In a column of its own this package also has a delta, at which
other mechanisms can be its first choice.

What is said of a promise is computed from the installed code, by its own accounting or by a call.
Their samplers of a first component are audited by benchmarks/audit_peers.py.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import importlib.metadata
import importlib.util
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import matrixdp as mdp
from reproduction.report.parts import replace_parts

ROOT = Path(__file__).resolve().parents[1]
EPSILON = 1.0
#: The delta of this package's second column.
DELTA = 1e-6
#: Answers to each question, how many suffice after half of the patience, and the CPU seconds that
#: they may take together.
ANSWERS, ENOUGH, PATIENCE = 200, 25, 120
OURS, IBM, OPEN = ("matrixdp", "diffprivlib", "opendp")
#: This package with a delta.
APPROXIMATE = "matrixdp with a delta"
COLUMNS = (OURS, APPROXIMATE, IBM, OPEN)
#: How sentences name the peers.
PEERS = {IBM: "diffprivlib", OPEN: "OpenDP"}
#: Probability of the intervals of medians.
LEVEL = 0.95
NEEDED = (OURS, IBM, OPEN, "sklearn", "randomgen")
ERRORS, PROMISES = (ROOT / f"benchmarks/peers_{name}.csv" for name in ("errors", "promises"))
PAGE = ROOT / "docs/peers.md"

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


#: Maps records to an answer.
Answer = Callable[[np.ndarray], np.ndarray]


def our_mean(X: np.ndarray, delta: float = 0.0) -> np.ndarray:
    query = mdp.MeanQuery(mdp.Box.cube(X.shape[1], -1, 1), len(X))
    best = mdp.compare_mechanisms(query, epsilon=EPSILON, delta=delta)[0]
    return best.release.release(X)[0]


def our_covariance(X: np.ndarray, delta: float = 0.0) -> np.ndarray:
    return mdp.Covariance(epsilon=EPSILON, delta=delta, bounds=(-1, 1)).fit(X).covariance_


def our_component(X: np.ndarray, delta: float = 0.0) -> np.ndarray:
    return mdp.PrivatePCA(epsilon=EPSILON, delta=delta, bounds=(-1, 1)).fit(X).components_[0]


def our_line(X: np.ndarray, delta: float = 0.0) -> np.ndarray:
    sides = {"bounds": (-1, 1), "target_bounds": (-1, 1)}
    line = mdp.PrivateRidge(epsilon=EPSILON, delta=delta, **sides)
    return line.fit(X[:, :-1], X[:, -1]).predict(X[:, :-1])


def ibm_mean(X: np.ndarray) -> np.ndarray:
    from diffprivlib import tools

    return tools.mean(X, epsilon=EPSILON, bounds=(-1, 1), axis=0)


def ibm_component(X: np.ndarray) -> np.ndarray:
    from diffprivlib.models import PCA

    # The largest norm of a record, as its documentation says.
    norm = np.sqrt(X.shape[1])
    return PCA(1, epsilon=EPSILON, bounds=(-1, 1), data_norm=norm).fit(X).components_[0]


def ibm_line(X: np.ndarray) -> np.ndarray:
    from diffprivlib.models import LinearRegression

    line = LinearRegression(epsilon=EPSILON, bounds_X=(-1, 1), bounds_y=(-1, 1))
    return line.fit(X[:, :-1], X[:, -1]).predict(X[:, :-1])


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    return dp


def open_mean(X: np.ndarray) -> np.ndarray:
    dp = _opendp()
    # The number of records is public. Resizing would double the distance of neighbours.
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(X))
    mean = (domain, dp.symmetric_distance()) >> dp.t.then_clamp((-1.0, 1.0)) >> dp.t.then_mean()
    each = EPSILON / X.shape[1]
    scale = dp.binary_search_param(lambda s: mean >> dp.m.then_laplace(s), d_in=2, d_out=each)
    private = mean >> dp.m.then_laplace(scale)
    return np.array([private(column.tolist()) for column in X.T])


def open_component(X: np.ndarray) -> np.ndarray:
    dp = _opendp()
    # Its epsilon is for a record that is added or removed; replacing is both.
    options = {"epsilon": EPSILON / 2, "n_samples": len(X), "n_features": X.shape[1]}
    options |= {"row_norm": float(np.sqrt(X.shape[1])), "n_components": 1}
    return dp.sklearn.decomposition.PCA(**options).fit(X).components_[0]


def open_line(X: np.ndarray) -> np.ndarray:
    dp = _opendp()

    def line(scale: float) -> Any:
        options = {"x_bounds": [(-1.0, 1.0)], "y_bounds": (-1.0, 1.0), "scale": scale}
        return dp.sklearn.linear_model.LinearRegression(dp.max_divergence(), **options)

    scale = dp.binary_search_param(lambda s: line(s).measurement, d_in=2, d_out=EPSILON, T=float)
    return line(scale).fit(X[:, :-1], X[:, -1]).predict(X[:, :-1])


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


class Question(NamedTuple):
    """A question, its error, who answers it by which function, and the columns that it is about."""

    error: Callable[[np.ndarray, np.ndarray], float]
    answers: Mapping[str, tuple[str, Answer]]
    columns: Sequence[int] | slice = slice(None)


def ours(function: str, answer: Callable[..., np.ndarray]) -> dict[str, Any]:
    """Return this package's answers without and with a delta, by column."""
    approximate = functools.partial(answer, delta=DELTA)
    return {OURS: (function, answer), APPROXIMATE: (function, approximate)}


QUESTIONS = {
    "mean": Question(
        mean_error,
        {
            **ours("compare_mechanisms, MeanQuery", our_mean),
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
    """Put the errors of several answers, and the CPU ms of the quickest."""
    warnings.simplefilter("ignore")
    errors, times, begin = [], [], time.process_time()
    answer = question.answers[package][1]
    while len(errors) < ANSWERS:
        start = time.process_time()
        result = answer(X.copy())
        times.append(time.process_time() - start)
        errors.append(question.error(result, X))
        if len(errors) >= ENOUGH and time.process_time() - begin > PATIENCE / 2:
            break
    out.put((errors, 1e3 * min(times)))


def wait(process: Any) -> bool:
    """Wait until a process ends, or kill it where its CPU time is beyond the patience; say which.

    So nothing else on the machine decides which answers come. A limit of the system's own would
    make the process's clock coarse.
    """
    while process.is_alive():
        process.join(1)
        with contextlib.suppress(FileNotFoundError):
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            if sum(map(int, fields[11:13])) > PATIENCE * os.sysconf("SC_CLK_TCK"):
                process.kill()
                process.join()
                return False
    return True


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
                ended = wait(process)
                row = {"question": name, "file": file, "records": len(X), "package": package}
                row |= {"version": version(package), "function": function}
                if not ended:
                    row["note"] = f"fewer than {ENOUGH} answers in {PATIENCE} s of CPU time"
                elif process.exitcode:
                    row["note"] = "failed"
                else:
                    errors, took = out.get()
                    low, middle, high = np.quantile(errors, [0.1, 0.5, 0.9])
                    row |= {"low": low, "median": middle, "high": high, "cpu_ms": took}
                    row["answers"] = len(errors)
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


def refusal(call: Callable[[], object]) -> Verdict:
    """Return whether a call is refused, and in which words."""
    try:
        call()
    except Exception as error:
        return "refused", f"{type(error).__name__}: {str(error).splitlines()[-1].strip()}"
    return "accepted", ""


def our_bounds() -> Verdict:
    return refusal(lambda: mdp.PrivatePCA().fit(_records()))


def ibm_bounds() -> Verdict:
    from diffprivlib import tools

    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        tools.mean(_records()[:, 0], epsilon=EPSILON)
    return "taken from the data", f"{raised[0].category.__name__}, a warning"


def open_bounds() -> Verdict:
    dp = _opendp()
    return refusal(lambda: _space(dp) >> dp.t.then_sum())


def our_neighbours() -> Verdict:
    query = mdp.MeanQuery(mdp.Box.cube(2, 0, 1), 400)
    release = mdp.Laplace().calibrate(query, epsilon=EPSILON)
    adjacency = release.statement.adjacency
    return "one record replaced", f"`adjacency={adjacency!r}`; two other relations can be asked for"


def ibm_neighbours() -> Verdict:
    """Return the relation that a sensitivity implies: a replaced record moves a mean by 1 / n."""
    from diffprivlib.tools import utils

    with mock.patch.object(utils, "LaplaceTruncated", wraps=utils.LaplaceTruncated) as noise:
        utils.mean(_records(400)[:, 0], epsilon=EPSILON, bounds=(0, 1))
    factor = 400 * noise.call_args.kwargs["sensitivity"]
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

    Z, parts = _records(), []
    with contextlib.ExitStack() as stack:
        for name in ("mean", "_construct_regression_obj"):
            part = mock.patch.object(regression, name, wraps=getattr(regression, name))
            parts.append(stack.enter_context(part))
        line = regression.LinearRegression(epsilon=EPSILON, bounds_X=(0, 1), bounds_y=(0, 1))
        line.fit(Z[:, :1], Z[:, 1])
    total = sum(call.kwargs["epsilon"] for part in parts for call in part.call_args_list)
    words = "not in a regression" if total > EPSILON else "yes"
    return words, f"on one column its parts spend {total:g} at epsilon 1"


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
    return words, f"at epsilon 1e-6 a sum of squares is off by {off:.2g}, where noise of 3e6 is due"


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


def table(
    rows: Rows,
    header: Sequence[str],
    line: Callable[[Mapping[str, str]], tuple[str, ...]],
    cell: Callable[[Mapping[str, str]], str],
    empty: str,
) -> str:
    """Return rows in Markdown: lines by the names that they share, a column for each package."""
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        cells.setdefault(line(row), {})[row["package"]] = cell(row)
    versions = {row["package"]: row["version"] for row in rows}
    packages = [package for package in COLUMNS if package in versions]
    titles = {package: f"{package} {versions[package]}" for package in packages}
    names = {**titles, OPEN: f"OpenDP {versions[OPEN]}", APPROXIMATE: f"matrixdp, δ = {DELTA:g}"}
    lines = [
        [*header, *(names[package] for package in packages)],
        ["---"] * (len(header) + len(packages)),
        *([*key, *(by.get(package, empty) for package in packages)] for key, by in cells.items()),
    ]
    return "".join(f"| {' | '.join(parts)} |\n" for parts in lines)


def error_cell(row: Mapping[str, str]) -> str:
    """Return a median and its interval, or why there is none."""
    if row["note"]:
        return row["note"]
    median, low, high = (f"{float(row[f'median{end}']):.2g}" for end in ("", "_low", "_high"))
    return f"{median} ({low} to {high})"


def list_better_peers(rows: Iterable[Mapping[str, str]]) -> str:
    """Return in a sentence where the interval of a peer lies below that of this package."""
    answered = [row for row in rows if not row["note"]]
    ours = {(row["question"], row["file"]): row for row in answered if row["package"] == OURS}
    where = [
        f"{row['question']}, {row['file']} ({PEERS[row['package']]})"
        for row in answered
        if row["package"] in PEERS
        and float(row["median_high"]) < float(ours[row["question"], row["file"]]["median_low"])
    ]
    listed = "; ".join(where) or "nowhere"
    return f"\nA peer's interval lies below that of this package without a δ in: {listed}.\n"


def promise_cell(row: Mapping[str, str]) -> str:
    """Return a verdict, and what it rests on."""
    return "; ".join(filter(None, [row["verdict"], row["evidence"]]))


def page(text: str) -> str:
    """Return docs/peers.md with the tables of the two files in their places."""
    tables = {
        "errors": table(
            _read(ERRORS),
            ["Question", "File (records)"],
            lambda row: (row["question"], f"{row['file']} ({row['records']})"),
            error_cell,
            "none",
        )
        + list_better_peers(_read(ERRORS)),
        "promises": table(_read(PROMISES), [""], lambda row: (row["promise"],), promise_cell, ""),
    }
    return replace_parts(text, tables)


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
