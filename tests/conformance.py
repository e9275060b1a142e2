"""What every mechanism keeps to: a list of checks, and the cases that they run on.

A case is a mechanism and a query that it serves. Mechanisms are looked up where they are
registered, so that a new one is in the suite without a line. Checks compare what a mechanism
declares with what it draws, and with neighbours that are searched here.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from epsilonsteps import guaranteed, rises
from numpy.typing import NDArray
from scipy import optimize, special, stats

import matrixdp.mechanisms
from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import CalibratedMechanism, Mechanism
from matrixdp.mechanisms.programs import Block, Columns, Program, Value, drawing
from matrixdp.mechanisms.scaled import MinMaxScaled, WeightedConstant
from matrixdp.noise import safe
from matrixdp.noise.distributions import GaussianDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.groups import GroupMeanQuery
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.ratios import RatioQuery
from matrixdp.privacy.sensitivity import (
    MeanQuery,
    Query,
    RecordsQuery,
    SecondMomentQuery,
)

Array = NDArray[np.float64]
#: Chance of a false alarm of a check that is right; seeds are fixed, so it is met once or never.
LEVEL = 1e-4
#: Numbers that show noise of 1 % less: of such samples of a normal, p is below ``LEVEL``.
NUMBERS = 2_500_000
BUDGET = {"epsilon": 1.0, "delta": 0.01}
RECORDS = 5
DOMAINS = {
    "cube": Box.cube(3, -1.0, 1.0),
    "uneven": Box((-1.0, 0.0, -2.0), (1.0, 3.0, 2.0)),
    "ball": Ball(2.0, 3),
}
QUERIES = [
    RecordsQuery(DOMAINS["cube"], RECORDS),
    RecordsQuery(DOMAINS["uneven"], RECORDS, "zero_out"),
    RecordsQuery(DOMAINS["ball"], RECORDS),
    MeanQuery(DOMAINS["uneven"], RECORDS),
    MeanQuery(DOMAINS["ball"], RECORDS, "zero_out"),
    PresentMeanQuery.of(2, RECORDS),
    GroupMeanQuery.of(2, 1, RECORDS),
    SecondMomentQuery(DOMAINS["cube"], RECORDS),
    SecondMomentQuery(DOMAINS["uneven"], RECORDS),
    SecondMomentQuery(DOMAINS["ball"], RECORDS, "zero_out"),
    RecordsQuery(DOMAINS["cube"], RECORDS, per_person=2),
    MeanQuery(DOMAINS["uneven"], RECORDS, "add_or_remove"),
    SecondMomentQuery(DOMAINS["cube"], RECORDS, per_person=2),
    SecondMomentQuery(DOMAINS["ball"], RECORDS, "add_or_remove"),
]
TURNED = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
#: Mechanisms at parameters that are not their default, or have none.
OTHERS = [
    DirectionalGaussian(weights=(1.0, 2.0, 3.0)),
    DirectionalGaussian(directions=TURNED),
    MinMaxScaled(Gaussian()),
    MinMaxScaled(Laplace()),
    WeightedConstant(Gaussian(), 1.4),
    WeightedConstant(Laplace(), 0.5),
    Centred(1 / 16),
]


@dataclass(frozen=True)
class Case:
    """A mechanism and a query that it serves."""

    mechanism: Mechanism
    query: Query

    def __str__(self) -> str:
        query = self.query
        names = f"{query.name}-{query.adjacency}-{query.group}-{query.domain.radius:.3g}"
        return f"{self.mechanism}-{names}"

    @functools.cached_property
    def release(self) -> CalibratedMechanism:
        """The mechanism, calibrated to ``BUDGET``."""
        return self.mechanism.calibrate(self.query, **BUDGET)

    def value(self, count: int | None = None) -> Array:
        """Return the value, or one per trial, of what a simulation of the release reads."""
        rows = inside(self.query.domain, np.random.default_rng(2), count or 1)
        value = self.release.query.value(np.swapaxes(rows, 1, 2))
        return value if count else value[0]


def inside(domain: Box | Ball, rng: np.random.Generator, count: int) -> Array:
    """Return data sets of records (count, RECORDS, m) in a domain."""
    shape = (count, RECORDS, domain.features)
    if isinstance(domain, Box):
        return rng.uniform(domain.lower, domain.upper, shape)
    rows = rng.standard_normal(shape)
    rows *= domain.radius / np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows * rng.random((*shape[:2], 1))


def library_mechanisms() -> list[Mechanism]:
    """Return every mechanism of the library at its defaults, and ``OTHERS``."""
    for module in pkgutil.iter_modules(matrixdp.mechanisms.__path__):
        importlib.import_module(f"matrixdp.mechanisms.{module.name}")
    built = list(OTHERS)
    for kind in sorted(below(Mechanism), key=lambda kind: (kind.__module__, kind.__qualname__)):
        if kind.__module__.startswith("matrixdp.") and not inspect.isabstract(kind):
            with contextlib.suppress(TypeError):
                built.append(kind())
            assert any(type(mechanism) is kind for mechanism in built), kind
    return built


def below(kind: type) -> set[type]:
    """Return a class and its subclasses."""
    return {kind}.union(*map(below, kind.__subclasses__()))


def cases(mechanisms: Iterable[Mechanism], queries: Iterable[Query]) -> list[Case]:
    """Return a case for each mechanism and each query that it serves."""
    every = []
    for mechanism, query in itertools.product(mechanisms, queries):
        if type(query) in mechanism.queries:
            case = Case(mechanism, query)
            with contextlib.suppress(InputError):
                _ = case.release
                every.append(case)
    return every


# Neighbours


def pairs(query: Query) -> list[tuple[Array, Array]]:
    """Return pairs of records (m,) that may change a value most.

    They are corners of a box and of its sides; points of a sphere on axes, diagonals and at random;
    and zero.
    """
    domain = query.domain
    if isinstance(domain, Box):
        sides = zip(domain.lower, domain.upper, strict=True)
        ends = np.array([*itertools.product(*({low, 0.0, high} for low, high in sides))])
    else:
        rows = np.random.default_rng(3).standard_normal((20, domain.features))
        rows = np.concatenate([np.eye(domain.features), np.ones((1, domain.features)), rows])
        ends = rows * (domain.radius / np.linalg.norm(rows, axis=1, keepdims=True))
        ends = np.concatenate([ends, -ends])
    zero = np.zeros(domain.features)
    if query.adjacency != "replace":
        return [(end, zero) for end in ends]
    return [*itertools.combinations([*ends, zero], 2)]


def data_sets(query: Query) -> tuple[Array, Array]:
    """Return neighbours (pairs, m, n): the records of one person differ, and are all alike.

    All other records lie along the first axis.
    """
    both = np.zeros((2, len(pairs(query)), query.domain.features, RECORDS))
    both[..., 0, :] = query.domain.magnitudes[0]
    both[..., : query.group] = np.swapaxes(np.array(pairs(query)), 0, 1)[..., None]
    return both[0], both[1][..., query.group * query.add_or_remove :]


def length(noise: Any, change: Array) -> float:
    """Return how far apart two values are, in the unit of the guarantee of their noise."""
    if isinstance(noise, Noise):
        order = 2 if noise.law == safe.NORMAL else 1
        return float(np.linalg.norm(noise.whiten(change), order))
    if isinstance(noise, GaussianDistribution):
        return float(np.linalg.norm(noise.whiten(change)))
    return float(noise.size(change))


class Answers:
    """Answers of one run of a program: noisy ones, or those of another run."""

    def __init__(self, answers: list[Array] | None = None) -> None:
        self.answers, self.rng = answers, np.random.default_rng(4)
        self.asked: list[tuple[Any, Array, Array]] = []
        self.released = np.empty(0)

    def __call__(self, question: Any, value: Array) -> Array:
        if self.answers is None:
            answer = value + question.noise.sample(self.rng, 1)[0]
        else:
            answer = self.answers[len(self.asked)]
        self.asked.append((question, np.array(value), answer.copy()))
        return answer.copy()


def answers_of(release: Program, columns: Array, answers: list[Array] | None = None) -> Answers:
    """Return what a program asks of one data set."""
    ask = Answers(answers)
    reads = isinstance(release.query, RecordsQuery)
    records = Columns(columns) if reads else Value(release.query.value(columns))
    ask.released = release.released(release.run(records, ask))
    return ask


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return delta of mu-Gaussian privacy (Balle & Wang, Theorem 8), apart from the library's."""
    far = special.log_ndtr(-mu / 2 - epsilon / mu) + epsilon
    return float(special.ndtr(mu / 2 - epsilon / mu) - np.exp(far))


# The checks


def check_calibration(case: Case) -> None:
    """Neighbours that are searched stay within the guarantee, and attain it where it is exact.

    The smallest multiple of the noise that the guarantee allows is at most 1, and 1 where the
    mechanism says that it delivers what is asked for, exactly.
    """
    release = case.release
    assert release.epsilon_delivered <= release.epsilon * (1 + 1e-9) <= 1 + 1e-8
    assert release.delta in (0, BUDGET["delta"])
    if isinstance(release, Program):
        check_parts(case)
        return
    noise = getattr(release, "noise", None)
    if not (hasattr(noise, "norm") or isinstance(noise, GaussianDistribution | Noise)):
        # Curves of sketches, directions and generalized gamma noise have tests of their own.
        return
    first, second = (release.query.value(columns) for columns in data_sets(case.query))
    most = max(length(noise, change) for change in first - second)
    if is_normal(noise):
        assert most <= release.mu * (1 + 1e-9)
        assert_smallest(release, most)
    else:
        assert most <= release.epsilon_delivered * (1 + 1e-9)
        assert not release.tight or most > release.epsilon_delivered * (1 - 1e-6)


def assert_smallest(release: CalibratedMechanism, mu: float) -> None:
    """Assert that no less noise is private, as far as the release says so."""
    epsilon, delta = release.epsilon, release.delta

    def excess(multiple: float) -> float:
        return gaussian_delta(epsilon, mu / multiple) - delta

    multiple = optimize.brentq(excess, 1e-9, 1e3, xtol=1e-13, rtol=1e-13)
    assert multiple <= 1 + 1e-9
    if release.tight:
        tight = release.epsilon_delivered > epsilon * (1 - 1e-6)
        assert (multiple > 1 - 1e-6) == tight
        if release.epsilon_delivered > 0:
            real = gaussian_delta(release.epsilon_delivered, mu)
            assert real == pytest.approx(delta, rel=1e-6)


def check_parts(case: Case) -> None:
    """Each part of a program moves by its mu at most; mu^2 adds up to what is stated."""
    release, most = case.release, dict[int, float]()
    assert_smallest(release, release.mu)
    first, second = data_sets(case.query)
    step = max(1, len(first) // 80)
    for columns, other in zip(first[::step], second[::step], strict=True):
        run = answers_of(release, columns)
        again = answers_of(release, other, [answer for *_, answer in run.asked])
        # All else of a release is made of the answers alone.
        close = 1e-9 * np.abs(run.released).max()
        np.testing.assert_allclose(again.released, run.released, rtol=1e-9, atol=close)
        total = 0.0
        for k, ((part, value, _), (_, moved, _)) in enumerate(
            zip(run.asked, again.asked, strict=True)
        ):
            # Of a search, the first answer above the threshold is all that is used.
            apart = part.mu if getattr(part, "unit", 0) else length(part.noise, value - moved)
            assert apart <= part.mu * (1 + 1e-9)
            most[k] = max(most.get(k, 0.0), apart / part.mu)
            total += part.mu**2
        assert np.sqrt(total) == pytest.approx(release.mu, rel=1e-9)
    assert min(most.values()) > 0.1


def noise_of(case: Case, trials: int) -> list[tuple[Any, Array]]:
    """Return the noise that is drawn, (distribution, (trials, m, n)), of each part."""
    release, value, rng = case.release, case.value(), np.random.default_rng(0)
    if isinstance(release, AdditiveMechanism):
        return [(release.noise, release.simulate(value, rng, trials) - value)]
    assert isinstance(release, Program)
    drawn: dict[Any, list[Array]] = {}
    if release.batches:
        # As `simulate` does it, which `check_draws` holds to one release after another.
        numbers = release.drawn
        ask = Block(rng.standard_normal((trials, numbers))) if numbers else drawing(rng, trials)
        release.run(release.reads(value), Recorder(ask, drawn))
    else:
        release.simulated(value, [Recorder(drawing(rng), drawn)] * trials)
    return [(part.noise, np.concatenate(noise)) for part, noise in drawn.items()]


class Recorder(Block):
    """Passes questions on to who answers them, and keeps the noise of each in ``drawn``.

    It is a block, as a program asks one for the answers of some of its releases.
    """

    def __init__(self, ask: Any, drawn: dict[Any, list[Array]]) -> None:
        self.ask, self.drawn = ask, drawn

    def __call__(self, question: Any, exact: Array) -> Array:
        released = self.ask(question, exact)
        noise = np.reshape(released - exact, (-1, *question.noise.shape))
        self.drawn.setdefault(question, []).append(noise)
        return released

    def of(self, which: Array) -> Recorder:
        """Return what does so for some of the releases, by marks (k,)."""
        return Recorder(self.ask.of(which), self.drawn)


def whitened(noise: Any, drawn: Array) -> Array:
    """Return drawn noise whitened, one trial a row."""
    if np.ndim(getattr(noise, "row_factor", 0)) == 3:
        return (drawn / noise.row_factor).reshape(len(drawn), -1)
    return noise.whiten(drawn).reshape(len(drawn), -1)


def assert_law(sizes: Array, law: Any) -> None:
    """Assert a law by Kolmogorov and Smirnov, and that sizes of 1 % less have another."""
    sizes, steps = np.sort(sizes.ravel()), np.arange(sizes.size + 1) / sizes.size
    for factor in (1.0, 0.99):
        below = law.cdf(factor * sizes)
        distance = max((steps[1:] - below).max(), (below - steps[:-1]).max())
        p = special.kolmogorov(np.sqrt(sizes.size) * distance)
        assert (p > LEVEL) == (factor == 1), (factor, p)


def check_law(case: Case) -> None:
    """Whitened noise of all parts has its law, independent in all entries, and no mean."""
    first = noise_of(case, 20)
    numbers = sum(drawn.size for _, drawn in first) // 20
    pooled: dict[str, list[Array]] = {"normal": [], "laplace": []}
    for noise, drawn in noise_of(case, NUMBERS // numbers + 1):
        if not hasattr(noise, "whiten"):
            assert_law(noise.size(drawn), stats.gamma(noise.gamma_shape))
            continue
        white = whitened(noise, drawn)
        pooled["normal" if is_normal(noise) else "laplace"].append(white.ravel())
        if len(white) < 5000:
            continue
        squares = white**2 - (1 if is_normal(noise) else 2)
        scores = squares.mean(axis=0) / squares.std(axis=0) * np.sqrt(len(white))
        assert np.abs(scores).max() < 5
        assert np.abs(white.mean(axis=0) / white.std(axis=0)).max() < 5 / np.sqrt(len(white))
        if white.shape[1] > 1:
            apart = np.corrcoef(white.T) - np.eye(white.shape[1])
            assert np.abs(apart).max() < 5.5 / np.sqrt(len(white))
    for name, law in (("normal", stats.halfnorm), ("laplace", stats.expon)):
        if sum(map(len, pooled[name])) > NUMBERS / 4:
            assert_law(np.abs(np.concatenate(pooled[name])), law)


def is_normal(noise: Any) -> bool:
    """Return whether whitened noise is normal; otherwise it is Laplace."""
    if isinstance(noise, Noise):
        return noise.law == safe.NORMAL
    return isinstance(noise, GaussianDistribution)


def check_deviation(case: Case) -> None:
    """The declared deviation is that of the noise: of its colouring, or of what is drawn.

    Of draws four errors are allowed, which are below 1 %.
    """
    release = case.release
    if not isinstance(release, AdditiveMechanism):
        return
    noise = release.noise
    if hasattr(noise, "colour"):
        unit = np.eye(np.size(noise.whiten(np.zeros(noise.shape))))
        unit *= 1 if is_normal(noise) else np.sqrt(2)
        squares = sum(noise.colour(white) ** 2 for white in unit)
        assert release.noise_std == pytest.approx(np.sqrt(squares.mean()), rel=1e-9)
        return
    trials = NUMBERS // 3 // np.prod(release.query.shape)
    ((_, drawn),) = noise_of(case, trials)
    squares = (drawn**2).mean(axis=(1, 2))
    error = squares.std() / squares.mean() / 2 / np.sqrt(trials)
    assert 4 * error < 0.008
    assert np.sqrt(squares.mean()) == pytest.approx(release.noise_std, rel=4 * error)


def check_draws(case: Case) -> None:
    """Each release of a simulation has noise of its own, and one Generator gives the same again.

    A program that serves many at once makes of the answers to each what it makes of them alone.
    """
    release, value = case.release, case.value()
    first, again, other = (
        release.simulate(exact, np.random.default_rng(seed), 3)
        for exact, seed in ((value, 0), (np.stack([value] * 3), 0), (value, 9))
    )
    np.testing.assert_allclose(again, first, rtol=1e-7, atol=1e-9 * np.abs(first).max())
    for one, another in itertools.combinations([*first, *other], 2):
        assert not np.allclose(one, another)
    if not getattr(release, "batches", False):
        return
    if release.drawn is not None:
        # Few records, of which the noise decides otherwise from release to release.
        values, stream = case.value(32), np.random.default_rng(1)
        batch = release.simulate(values, np.random.default_rng(1), 32)
        alone = release.simulated(values, [drawing(stream)] * 32)
        np.testing.assert_allclose(batch, alone, rtol=1e-7, atol=1e-9 * np.abs(alone).max())
        return
    noises: dict[Any, Array] = {}

    def ask(question: Any, exact: Array) -> Array:
        # Far more noise, of each release its own, by which few records decide otherwise too.
        noise = question.noise.sample(np.random.default_rng(len(noises)), 1)[0]
        turns = np.cos(1000 * exact.sum(axis=(-2, -1), keepdims=True))
        return exact + 100 * turns * noises.setdefault(question, noise)

    values = case.value(8)
    batch = release.released(release.run(release.reads(values), ask))
    for one, each in zip(batch, values, strict=True):
        alone = release.released(release.run(release.reads(each), ask))
        np.testing.assert_allclose(one, alone, rtol=1e-7, atol=1e-9 * np.abs(alone).max())


def check_noise_falls_with_epsilon(case: Case) -> None:
    """More epsilon never asks for more noise."""
    risen, compared = rises(case.mechanism, case.query)
    assert risen == 0
    assert compared >= 5 or not guaranteed(case.mechanism, case.query)


BAD = [("epsilon", bad) for bad in (0, -1, np.nan, np.inf, "1")]
BAD += [("delta", bad) for bad in (0, -0.1, np.nan, np.inf, 1, 2)]


def check_refusals(case: Case) -> None:
    """A bad budget, another query, and a value or a count that do not fit are one sentence."""
    release = case.release
    for name, bad in BAD:
        # A pure guarantee needs no delta.
        if name == "epsilon" or release.delta:
            with pytest.raises(InputError, match=f"{name} is {bad!r}; it must be") as refused:
                case.mechanism.calibrate(case.query, **BUDGET | {name: bad})
            assert "\n" not in str(refused.value)
    for query in QUERIES:
        if type(query) not in case.mechanism.queries and isinstance(query.domain, Box):
            with pytest.raises(InputError, match=rf"type {type(query).__name__}; .* serves only"):
                case.mechanism.calibrate(query, **BUDGET)
    value = case.value()
    for wrong, count, words in (
        (value[:-1], 1, "must end in"),
        (np.full(value.shape, np.nan), 1, "value is nan"),
        (value, 0, "count is 0"),
        (np.stack([value] * 2), 3, "for a count of 3; give one value, or one per release"),
    ):
        with pytest.raises(InputError, match=words):
            release.simulate(wrong, np.random.default_rng(0), count)
    if not (isinstance(case.query, RatioQuery) or case.query.add_or_remove):
        with pytest.raises(InputError, match="outside its public bounds"):
            release.simulate(1e6 * (1 + np.abs(value)), np.random.default_rng(0), 1)


CHECKS = [
    check_calibration,
    check_draws,
    check_noise_falls_with_epsilon,
    check_refusals,
    check_deviation,
    check_law,
]


def rows(mechanisms: Iterable[Mechanism], queries: Iterable[Query] = QUERIES) -> list[Any]:
    """Return parameters (check, case) of a test: samplers once for each kind of noise."""
    every, drawn = cases(mechanisms, queries), set()
    result = []
    for check, case in itertools.product(CHECKS, every):
        release = case.release
        noise = getattr(release, "noise", release)
        if check is check_law or (check is check_deviation and not hasattr(noise, "colour")):
            law = type(noise), getattr(noise, "law", ""), getattr(noise, "symmetric", False)
            key = check, str(case.mechanism), *law
            if check is check_law and hasattr(noise, "colour"):
                key = check, type(case.mechanism).__name__, *law
            if key in drawn or not isinstance(release, AdditiveMechanism | Program):
                continue
            drawn.add(key)
        result.append(pytest.param(check, case, id=f"{check.__name__[6:]}-{case}"))
    return result
