"""The audit of a function of records and random bits, of which nothing else is known.

Replays give a function the same random bits on two neighbours. They object where what it draws
depends on the records, as Re:cord-play does (Cebere et al. 2026). They go further where a function
draws normal or Laplace numbers alone: chosen numbers in place of drawn ones show its answer as a
matrix times the numbers plus an answer without noise, so that the epsilon which neighbours attain
is computed and not estimated.

Bets on runs follow (:mod:`matrixdp.auditing.blackbox`), whatever the function draws. They hold for
any statistic and any neighbours, which pilot runs choose. Runs of a pair share their bits, which
raises the power; a function with randomness of its own shares nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from matrixdp import checks
from matrixdp.auditing.blackbox import prove, strength
from matrixdp.auditing.gaussian import epsilon_of
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.projection import BlackBoxAudit
from matrixdp.auditing.releases import verdict
from matrixdp.auditing.replay import edge_records, inner_records
from matrixdp.auditing.status import DECLARED
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import Budget
from matrixdp.privacy.sensitivity import Query

#: Random pairs beside the farthest one, of records near the edges and of those anywhere in bounds;
#: pairs on which pilot runs compare statistics.
RANDOM, INSIDE, COMPARED = 8, 16, 6

#: Replays of each pair.
REPLAYS = 20

#: Pilot runs on a pair that is compared; on the chosen one at most; numbers that they may have.
FEW, PILOT, NUMBERS = 100, 1000, 1e7

#: Most entries of an answer for a linear discriminant; runs per entry for a quadratic one.
ENTRIES, RUNS_EACH = 300, 5

#: Largest number of drawn numbers, and of the matrix's entries, that are replayed one by one.
DRAWS, MATRIX = 2000, 4e6

#: Largest number of an answer, whose squares are finite.
LARGEST = 1e100

#: Sizes of the numbers at which an affine answer is tried, and its relative error.
SIZES, CLOSE = (1.0, 1.0, 10.0, 100.0), 1e-9

#: Share of missing noise that an epsilon shows which is computed.
ANY = 1e-9

#: Relative error of an answer without noise.
ROUNDING = 1e-12

#: Parameters of a draw that may depend on the records: the location of noise, and what is shuffled.
_PLACES: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("normal", "laplace", "logistic", "gumbel", "vonmises"), ("loc", "mu")
)
_PLACES |= {"multivariate_normal": ("mean",), "choice": ("a",)}
_PLACES |= dict.fromkeys(("shuffle", "permutation", "permuted"), ("x",))

#: What no audit of a function sees.
BLIND = (
    "neighbours that were not tried; records out of bounds; rare events; whatever the function "
    "keeps between runs, or does only in real use; the last bits of floating-point numbers"
)

Pair = tuple[Array, Array]


class Draw(NamedTuple):
    """What a function asks of its Generator: a method, its parameters, the shape of the result."""

    method: str
    parameters: tuple[Any, ...]
    shape: tuple[int, ...]

    def differs(self, other: Draw) -> str:
        """Return in words what differs in another draw; empty where nothing does."""
        if self.method != other.method:
            return "what it draws depends on the records"
        if self.shape != other.shape:
            return "how many numbers it draws depends on the records"
        if not all(map(_equal, self.parameters, other.parameters)):
            return f"the noise's scale, a parameter of {self.method}, depends on the records"
        return ""


class Recorder(Generator):
    """A Generator that keeps a list of its draws, and that may give chosen numbers in their place.

    Args:
        seed: seed of the bits.
        noise: standard normal and Laplace numbers in the order of draws; None for random ones.

    Attributes:
        plain: whether normal and Laplace numbers alone are drawn, by methods of the Generator.
    """

    def __init__(self, seed: int, noise: Array | None = None) -> None:
        super().__init__(np.random.PCG64(seed))
        self.draws: list[Draw] = []
        self.plain = True
        self._noise, self._start = noise, self.state

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """The source of bits, from which draws are not recorded."""
        self.plain = False
        return super().bit_generator

    @property
    def state(self) -> Any:
        """State of the source of bits."""
        return super().bit_generator.state

    @property
    def moved(self) -> bool:
        """Whether bits were taken, or chosen numbers are left."""
        left = self._noise is not None and self._noise.size > 0
        return left or not self.plain or self.state != self._start

    def spawn(self, n_children: int) -> list[Generator]:
        """Return Generators whose draws are not recorded."""
        return [*map(Generator, self.bit_generator.spawn(n_children))]

    def record(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a method of Generator, which is recorded."""
        simple = method in _NOISE and kwargs.keys() <= {*_NOISE[method]}
        # The numbers of multivariate_normal are recorded as standard normal ones, too.
        self.plain &= simple or method == "multivariate_normal"
        if self._noise is not None and simple:
            result = self._chosen(**dict(zip(_NOISE[method], args, strict=False)) | kwargs)
        else:
            result = getattr(Generator, method)(self, *args, **kwargs)
        places = _PLACES.get(method, ())
        others = [value for name, value in sorted(kwargs.items()) if name not in (*places, "out")]
        parameters = (*args[bool(places) :], *others)
        self.draws.append(Draw(method, parameters, np.shape(result)))
        return result

    def _chosen(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        count = int(np.prod(shape))
        assert self._noise is not None
        if count > self._noise.size:
            raise InputError("the function draws more numbers than before")
        numbers, self._noise = self._noise[:count], self._noise[count:]
        return loc + scale * (numbers.reshape(shape) if shape != () else float(numbers[0]))


#: Methods that draw noise, and their arguments in order.
_NOISE: dict[str, tuple[str, ...]] = {
    "normal": ("loc", "scale", "size"),
    "laplace": ("loc", "scale", "size"),
}
_NOISE |= {"standard_normal": ("size",)}


def _recording(method: str) -> Callable[..., Any]:
    def record(self: Recorder, *args: Any, **kwargs: Any) -> Any:
        return self.record(method, args, kwargs)

    return record


for _name in vars(Generator):
    if not _name.startswith("_") and _name not in ("bit_generator", "spawn"):
        setattr(Recorder, _name, _recording(_name))


@dataclass
class Runs:
    """Runs of a function, with checked answers (r, c) of one shape.

    Attributes:
        hidden: whether the function takes no Generator and has randomness of its own.
    """

    function: Callable[..., Any]
    hidden: bool = field(init=False)
    shape: tuple[int, ...] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.hidden = not _takes_generator(self.function)

    def __call__(self, records: Array, generator: Generator) -> Array:
        """Return the answer to a copy of records (n, m).

        Raises:
            InputError: the function raises, or its answer is not an array of finite real numbers
                of the shape that others have.
        """
        args = (records.copy(),) if self.hidden else (records.copy(), generator)
        with checks.as_input_error("the function raises an error on records in bounds: {why}"):
            answer = np.asarray(self.function(*args))
        if answer.dtype.kind not in "biuf" or not answer.size:
            raise InputError(
                f"the function's answer has type {answer.dtype} and shape {answer.shape}; return "
                "an array of numbers, or a number"
            )
        if not (np.abs(answer.astype(float)) <= LARGEST).all():
            raise InputError(
                f"an answer of the function is not finite, or beyond {LARGEST:g}; return smaller "
                "numbers"
            )
        self.shape = self.shape or (answer.ndim, *answer.shape)
        if (answer.ndim, *answer.shape) != self.shape:
            raise InputError(
                f"answers of the function have shapes {self.shape[1:]} and {answer.shape}; return "
                "arrays of one shape, as the shape may show the records"
            )
        return answer.astype(float).reshape(answer.shape if answer.ndim == 2 else (-1, 1))

    def pairs(self, pair: Pair, count: int, stream: Generator) -> list[Array]:
        """Return answers (count, r, c) on both neighbours; run k of both has the same bits."""
        seeds = stream.integers(2**63, size=count).tolist()
        return [
            np.stack([self(records, np.random.default_rng(seed)) for seed in seeds])
            for records in pair
        ]


def _takes_generator(function: Callable[..., Any]) -> bool:
    """Return whether a function has a second argument without a default, or one named so."""
    try:
        arguments = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        raise InputError(
            "the arguments of the function are unknown; write one that calls it, as lambda "
            "records, generator: ..."
        ) from None
    second = arguments[1:2]
    names = ("generator", "rng")
    return any(one.default is one.empty or one.name in names for one in second) and all(
        one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in second
    )


def pairs_of(query: Query, stream: Generator) -> list[Pair]:
    """Return neighbouring data sets (n, m): the farthest, and random ones, among various records.

    Raises:
        InputError: a record is zeroed out, which the bounds do not allow.
    """
    n, k = query.n_records, query.group
    domain, zeros = query.domain, np.zeros((query.features, n))
    if query.adjacency == "zero_out" and np.any(domain.clip(zeros)):
        raise InputError(
            "a function cannot be given a null record, which zero_out compares with, as zeros are "
            "out of bounds; take 'replace' or 'add_or_remove'"
        )
    one, other = (np.reshape(side, (-1, query.features)) for side in farthest(query)[:2])
    among = [domain.clip(zeros).T, edge_records(query, n, stream).T]
    among += [np.tile(side[:1], (n, 1)) for side in (one, domain.clip(other.T).T)]

    def sides(shared: Array, record: Array, start: int) -> Pair:
        first, second = shared.copy(), shared.copy()
        first[start : start + k], second[start : start + k] = record, other
        if query.private_count:
            second = np.delete(second, slice(start, start + k), axis=0)
        return first, second

    pairs = [sides(shared, one, 0) for shared in among] + [sides(among[1], one, n - k)]
    for number in range(RANDOM):
        pairs.append(sides(among[number % 2], edge_records(query, k, stream).T, 0))
    # A function may treat records in the middle otherwise, of which many hide a single one.
    pairs += [sides(among[0], inner_records(query, k, stream).T, 0) for _ in range(INSIDE)]
    return pairs


class FunctionAudit(BlackBoxAudit):
    """The audit of a function, by replays and by bets on its runs.

    Attributes:
        objections: what replays say against the function.
    """

    def __init__(self, runs: Runs, query: Query, claim: Budget, streams: Sequence[Generator]):
        self._run = runs
        self.release = claim  # type: ignore[assignment]
        pairs = pairs_of(query, streams[0])
        self.objections: list[str] = []
        self._pair, self.bound = pairs[0], float("nan")
        losses: list[float] = []
        if not runs.hidden:
            self.objections = objections(runs, pairs)
        if not runs.hidden and not self.objections:
            try:
                losses = attained(runs, pairs, claim)
            except DependentNoise:
                self.objections = ["the noise's scale depends on the records"]
        if losses:
            self.tool = "replay of draws"  # type: ignore[misc]
            self._pair, self.attained = pairs[int(np.argmax(losses))], max(losses)
            self.bound = self.attained
            self.noise_inflation = claim.epsilon / max(self.attained, 1e-300)
        else:
            self._pair = max(pairs[:COMPARED], key=lambda pair: self._strength(pair, streams[1]))
        size = runs(self._pair[0], np.random.default_rng(0)).size
        self.held = int(np.clip(NUMBERS / size, FEW, PILOT))
        self._fit(runs.pairs(self._pair, self.held, streams[1]))

    def _strength(self, pair: Pair, stream: Generator) -> float:
        """Return how clearly a few runs on a pair refute the claim."""
        self._fit(self._run.pairs(pair, FEW, stream))
        sides = self._run.pairs(pair, FEW, stream)
        epsilon, delta = self.release.epsilon, self.release.delta
        return max(
            strength(np.stack([*map(statistic, sides)]), epsilon, delta)
            for statistic in self._statistics.values()
        )

    def _fit(self, sides: list[Array]) -> None:
        self._answers = [side.mean(axis=0) for side in sides]
        self._fitted = discriminants(*(side.reshape(len(side), -1) for side in sides))

    @property
    def _statistics(self) -> dict[str, Callable[[Array], Array]]:
        """Statistics of any release, and those that pilot runs fit to this one."""
        return super()._statistics | self._fitted

    def _evaluate(self, names: Sequence[str], count: int, stream: Generator) -> tuple[Array, Array]:
        """Return the named statistics of runs on each neighbour, shape (names, count) each."""
        statistics, parts = self._statistics, []
        step = max(1, int(NUMBERS / 10 / self._answers[0].size))
        for start in range(0, count, step):
            sides = self._run.pairs(self._pair, min(step, count - start), stream)
            parts.append([np.stack([statistics[name](side) for name in names]) for side in sides])
        first, second = (np.concatenate(side, axis=1) for side in zip(*parts, strict=True))
        return first, second


def objections(runs: Runs, pairs: Sequence[Pair]) -> list[str]:
    """Return what replays with the same bits say against a function; a sentence of each kind."""
    words: dict[str, None] = {}
    for number, pair in enumerate(pair for pair in pairs for _ in range(REPLAYS)):
        recorders = [Recorder(number), Recorder(number)]
        answers = [*map(runs, pair, recorders)]
        if not np.array_equal(answers[0], runs(pair[0], Recorder(number))):
            return ["it has randomness besides its Generator"]
        first, second = (recorder.draws for recorder in recorders)
        if len(first) != len(second):
            words["how often it draws depends on the records"] = None
        elif any(kinds := [one.differs(other) for one, other in zip(first, second, strict=True)]):
            words |= dict.fromkeys(filter(None, kinds))
        elif recorders[0].state != recorders[1].state:
            words["how many random bits it takes depends on the records"] = None
    return [*words]


def attained(runs: Runs, pairs: Sequence[Pair], claim: Budget) -> list[float]:
    """Return the epsilon that each pair attains, of a function whose answer is affine in its noise.

    The answer is c(records) + A z with standard normal, or Laplace, numbers z, and with the same A
    for all records tried. A privacy loss is then that of the shift c - c' (Dong, Roth & Su 2022).
    The list is empty where this does not hold, or where Laplace numbers outnumber what the answer
    shows of them.

    Raises:
        DependentNoise: A depends on the records.
    """
    recorder = Recorder(0)
    answer = runs(pairs[0][0], recorder)
    drawn = [draw for draw in recorder.draws if draw.method in _NOISE]
    laws = {draw.method.removeprefix("standard_") for draw in drawn}
    count = sum(int(np.prod(draw.shape)) for draw in drawn)
    if not recorder.plain or len(laws) != 1 or not 0 < count <= min(DRAWS, MATRIX / answer.size):
        return []
    try:
        matrix, centres = _affine(runs, pairs, count)
    except InputError:
        # Without noise, or with much of it, the function raises an error or draws other numbers.
        return []
    if not len(matrix):
        return []
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    seen = values > 1e-10 * values[0]
    laplace = laws == {"laplace"}
    if laplace and seen.sum() < np.any(matrix != 0, axis=0).sum():
        return []
    losses = []
    for first, second in centres:
        change = first - second
        part = left[:, seen].T @ change
        rest = np.linalg.norm(change - left[:, seen] @ part)
        white = part / values[seen]
        if rest > ROUNDING * max(np.abs(first).max(), np.abs(second).max()):
            losses.append(float("inf"))
        elif laplace:
            losses.append(float(np.abs(right[seen].T @ white).sum()))
        else:
            losses.append(epsilon_of(claim.delta, float(np.linalg.norm(white))))
    return losses


class DependentNoise(Exception):
    """The noise of an answer depends on the records."""


def _affine(runs: Runs, pairs: Sequence[Pair], count: int) -> tuple[Array, list[list[Array]]]:
    """Return the matrix (d, count) of an affine answer, and answers without noise by pair.

    The matrix is empty if the answer is not affine. Numbers of several sizes show it, also of an
    answer that is cut far out or that some rare noise reveals.
    """

    def answer_of(records: Array, noise: Array) -> Array:
        chosen = Recorder(0, noise)
        result = runs(records, chosen).ravel()
        if chosen.moved:
            raise InputError("the function draws other numbers than before")
        return result

    centres = [[answer_of(records, np.zeros(count)) for records in pair] for pair in pairs]
    units = [answer_of(pairs[0][0], unit) - centres[0][0] for unit in np.eye(count)]
    matrix = np.stack(units, axis=1)
    stream, dependent = np.random.default_rng(0), False
    for size in SIZES:
        noise = size * stream.standard_normal(count)
        for pair, sides in zip(pairs, centres, strict=True):
            for records, centre in zip(pair, sides, strict=True):
                part = answer_of(records, noise) - centre
                far = answer_of(records, 2 * noise) - centre
                close = CLOSE * (np.abs(part).max() + np.abs(centre).max())
                another = bool(np.abs(part - matrix @ noise).max() > close)
                crooked = np.abs(far - 2 * part).max() > 2 * close
                if crooked or (another and records is pairs[0][0]):
                    return matrix[:0], []
                dependent |= another
    if dependent:
        raise DependentNoise
    return matrix, centres


def discriminants(first: Array, second: Array) -> dict[str, Callable[[Array], Array]]:
    """Return statistics of answers (k, ...) by name, fitted to runs (runs, d) on two neighbours."""
    count, size = first.shape
    means = first.mean(axis=0), second.mean(axis=0)
    shift, centre = means[0] - means[1], (means[0] + means[1]) / 2
    variances = [side.var(axis=0) for side in (first, second)]
    least = 1e-24 * max(float(np.abs(first).max()) ** 2, 1e-200)
    entry = int(np.argmax(np.abs(shift) / np.sqrt(sum(variances) + least)))
    spread = int(np.argmax(np.abs(np.log((variances[0] + least) / (variances[1] + least)))))

    def linear(weights: Array) -> Callable[[Array], Array]:
        return lambda y: y.reshape(len(y), -1) @ weights

    statistics = {
        "shift of means": linear(shift),
        "entry that moves most": linear(np.eye(1, size, entry)[0] * shift[entry]),
        "entry whose spread differs most": lambda y: np.abs(
            y.reshape(len(y), -1)[:, spread] - centre[spread]
        ),
    }
    if size > ENTRIES:
        return statistics
    moments = [side.T @ side / count for side in (first, second)]
    # A direction has no sign, and its mean shows nothing.
    statistics["shift of second moments"] = lambda y: np.einsum(
        "ki,ij,kj->k", *(y.reshape(len(y), -1), moments[0] - moments[1], y.reshape(len(y), -1))
    )
    covariances = [np.atleast_2d(np.cov(side.T)) for side in (first, second)]
    values, vectors = np.linalg.eigh(sum(covariances) / 2)
    floor = max(values[-1], least) * 1e-9 + (
        values.mean() * size / count if size > count / 5 else 0
    )
    inverse = vectors / np.maximum(values, floor)
    statistics["linear discriminant"] = linear(inverse @ (vectors.T @ shift))
    if RUNS_EACH * size <= count:

        def quadratic(y: Array) -> Array:
            flat, total = y.reshape(len(y), -1), np.zeros(len(y))
            for sign, mean, covariance in zip((-1, 1), means, covariances, strict=True):
                values, vectors = np.linalg.eigh(covariance)
                scaled = (flat - mean) @ vectors / np.sqrt(np.maximum(values, floor))
                total += sign * (scaled**2).sum(axis=1)
            return total

        statistics["quadratic discriminant"] = quadratic
    return statistics


def judge(
    function: Callable[..., Any],
    query: Query,
    epsilon: float,
    delta: float,
    generators: Sequence[Generator],
    runs: int,
) -> dict[str, Any]:
    """Return the facts of an audit of a function, by the names of ``public.AuditResult``."""
    claim, own = Budget(epsilon, delta), Runs(function)
    audit = FunctionAudit(own, query, claim, generators[2:4])
    proof = prove(
        audit.statistic, claimed_epsilon=epsilon, delta=delta, runs=runs, streams=generators[:2]
    )
    flaws = [f"{DECLARED}: {'; '.join(audit.objections)}"] * bool(audit.objections)
    return {
        "verdict": verdict(epsilon, audit, [], None, proof, flaws),
        "tool": audit.tool,
        "epsilon_attained": audit.attained,
        "epsilon_lower": proof.epsilon,
        "epsilon_largest": proof.largest,
        "runs": proof.runs,
        "shortfall": float("nan") if np.isnan(audit.attained) else ANY,
        "unseen": BLIND,
    }


def _equal(first: Any, second: Any) -> bool:
    """Return whether two parameters are equal up to rounding."""
    try:
        one, other = np.asarray(first, float), np.asarray(second, float)
    except (TypeError, ValueError):
        return bool(first == second)
    return one.shape == other.shape and np.allclose(one, other, rtol=CLOSE, atol=0, equal_nan=True)
