"""The audit of noise of another author that states its log density.

A class of noise may offer ``log_density(noise)``, (k, m, n) -> (k,): the log of its density, or of
its probabilities on a grid, up to a constant. Nothing is its own evidence: draws test the density
before it counts. Let x follow a density p, and let T be a map of noise with an inverse. Then

    E g(p(T x) |T'| / p(x)) = E g(p(T^-1 x) / (|T'| p(x))),   g(r) = r / (1 + r)

(detailed balance, with the acceptance of Barker 1965). It holds for no other density for all T, and
no constant enters. Both sides are bounded, so that bets on their difference have a proven error
probability. Maps that stretch noise show draws that are smaller or larger than the density says,
shells of the noise show its tails, and single entries and directions what lies in them.

Such a density then gives lower bounds: from the privacy loss log p(z) - log p(z + D) for changes D
of neighbours that a search finds. They refute a claim, and prove none: the worst neighbours are not
known, nor is the density where no draw tests it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from matrixdp.auditing import draws, runs
from matrixdp.auditing.base import POWER, Audit, Scale
from matrixdp.auditing.evidence import ERROR, SHORTFALL
from matrixdp.auditing.neighbours import Neighbours, farthest, random_records, worst
from matrixdp.auditing.status import DECLARED, REFUTED
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.sensitivity import IdentityQuery

#: Numbers of the draws that test the size of noise, of those that bound epsilon, and of each search
#: and test of an entry; limits on the number of draws.
NUMBERS, BOUND, SEARCH = 1e7, 6e7, 1.5e8
DRAWS, LEAST, PILOT = 200_000, 1000, 400

#: Largest number of maps of entries, and of directions; draws that choose what is tested.
ENTRIES, DIRECTIONS, EACH = 500, 24, 2000

#: Draws of one entry that are the same number off a grid, at which a density is objected to. Draws
#: of 24 bits are hardly ever the same four times.
SAME = 20

#: Values of each pair of neighbours that are tried where noise lies on a grid.
SHAKEN = 16

#: Sizes of bets.
BETS = 0.9 * 0.5 ** np.arange(12)

#: Logarithms of the factors of maps that stretch noise, of which draws choose one.
STRETCHES = 0.5 ** np.arange(9)

#: Shares of missing noise at which the power is computed.
SHARES = 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5

#: Decimals of losses, and the relative size of what is a rounding.
DECIMALS, CLOSE = 9, 1e-7

#: Largest epsilon that bets try, over the claimed one, and halvings of what is left.
LARGEST, HALVINGS = 20.0, 16

#: Objections.
OTHER = "its density is not that of its draws"
LESS = "less noise is drawn than its density has"
BETWEEN = "noise on a grid is added to values between its points"
PLUS = "its release is not its value plus its noise"

#: A map of the free entries of draws, and the log of its determinant.
Move = Callable[[Array], tuple[Array, float]]


class Density:
    """The declared log density as a function of the free entries x (k, d) of noise.

    Attributes:
        symmetric: whether noise is a symmetric matrix, whose free entries are its upper triangle.
        step: the spacing of a grid that holds the draws; 0 without one.
        repeats: whether numbers repeat off a grid, which no density has.
    """

    def __init__(self, noise: NoiseDistribution, sample: Array) -> None:
        self._noise, self.shape = noise, noise.shape
        m, n = noise.shape
        close = 1e-9 * float(np.abs(sample).max())
        self.symmetric = m == n > 1 and bool(
            np.abs(sample - np.swapaxes(sample, 1, 2)).max() <= close
        )
        self.rows, self.columns = (
            np.triu_indices(m) if self.symmetric else map(np.ravel, np.indices((m, n)))
        )
        self.step = 0.0
        entries = self.entries(sample)
        step = _step(entries)
        self.repeats = bool(np.isnan(step)) or (step == 0 and _has_atom(entries))
        self.step = 0.0 if self.repeats else step

    def entries(self, noise: Array) -> Array:
        """Return the free entries of noise (k, m, n), on its grid but for rounding."""
        x = noise[:, self.rows, self.columns]
        if not self.step > 0:
            return x
        grid = np.rint(x / self.step) * self.step
        return np.where(np.abs(x - grid) <= CLOSE * self.step, grid, x)

    def __call__(self, x: Array) -> Array:
        """Return the log density (k,) of noise with these free entries (k, d).

        Raises:
            InputError: the class gives another shape.
        """

        def part(start: int) -> Array:
            block = x[start : start + step]
            if self.symmetric:
                noise = np.empty((len(block), *self.shape))
                noise[:, self.rows, self.columns] = noise[:, self.columns, self.rows] = block
            else:
                # A copy: the class may write to it.
                noise = block.reshape(-1, *self.shape).copy()
            with np.errstate(all="ignore"):
                density: Any = self._noise
                logs: Array = np.asarray(density.log_density(noise), dtype=float)
            if logs.shape != (len(block),):
                raise InputError(
                    f"log_density of {type(self._noise).__name__} has shape {logs.shape} for noise "
                    f"of shape {noise.shape}; give one number for each trial"
                )
            return np.nan_to_num(logs, nan=-np.inf, posinf=np.inf, neginf=-np.inf)

        step = max(1, runs.PART // int(np.prod(self.shape)))
        return np.concatenate([part(start) for start in range(0, len(x), step)])

    def loss(self, x: Array, change: Array) -> Array:
        """Return log p(x) - log p(x + change), broadcast; NaN where noise cannot be either."""
        with np.errstate(invalid="ignore"):
            return np.round(self(x) - self(x + change), DECIMALS)


def _step(x: Array) -> float:
    """Return the spacing of the grid of numbers: 0 without one, NaN if they repeat off a grid."""
    numbers = np.unique(np.round(x.ravel()[:DRAWS] / (size := max(np.abs(x).max(), 1e-300)), 12))
    if len(numbers) > 0.99 * min(x.size, DRAWS):
        return 0.0
    gap = float(np.diff(numbers).min(initial=1.0)) * size
    # The smallest gap is rounded; the whole range divides by it again and again.
    sizes = np.abs(x)
    for far in np.geomspace(gap, size, 12):
        near = sizes[(sizes >= gap / 2) & (sizes <= 1.01 * far)]
        if near.size:
            gap = float(near.max() / np.rint(near.max() / gap))
    off = np.abs(x / gap - np.rint(x / gap)).max()
    return gap if off < 1e-4 else float("nan")


def _has_atom(x: Array) -> bool:
    """Return whether some number occurs at least ``SAME`` times in an entry of draws (k, d)."""
    ordered = np.sort(x, axis=0)
    return bool((ordered[SAME - 1 :] == ordered[: len(x) - SAME + 1]).any())


def rejected(differences: Array, level: float) -> int:
    """Return the sign of the mean of bounded numbers in [-1, 1], or 0 where it may be 0.

    The mean wealth of bets on independent numbers of mean 0 reaches 1 / level with a probability of
    at most ``level``.
    """
    wealth = np.array([np.log1p(bet * differences).sum() for bet in (*BETS, *-BETS)])
    if special.logsumexp(wealth) - np.log(len(wealth)) < -np.log(level):
        return 0
    return 1 if wealth.argmax() < len(BETS) else -1


def _balance(
    density: Density, x: Array, logs: Array, there: Move, back: Move
) -> tuple[Array, Array]:
    """Return both sides of the detailed balance (k,) of each draw."""
    sides = []
    for move in (there, back):
        moved, determinant = move(x)
        ratio = density(moved) - logs + determinant
        sides.append(special.expit(np.nan_to_num(ratio, nan=-np.inf)))
    return sides[0], sides[1]


def _stretch(weights: Array, log: float) -> Move:
    """Return the map that stretches entries by e^(log weight), or a unit direction (1, d)."""
    if weights.ndim == 1:
        return lambda x: (x * np.exp(log * weights), float(log * weights.sum()))
    factor = np.expm1(log)
    return lambda x: (x + factor * (x @ weights.T) * weights, log)


def _shift(change: Array) -> Move:
    """Return the map that adds a change."""
    return lambda x: (x + change, 0.0)


class Tested(NamedTuple):
    """What draws say of a density.

    Attributes:
        sign: 1 where draws are smaller than the density says, -1 where larger, 0 where neither.
        other: whether draws follow another density in some other way.
        shortfall: smallest share of missing noise that the draws show with probability ``POWER``.
        entries, directions: numbers of entries and directions that were tested alone.
    """

    sign: int
    other: bool
    shortfall: float
    entries: int
    directions: int


class _Tests:
    """Tests of a density on draws x (T, d), with an error probability of ``ERROR`` together.

    ``pilot``, other draws, and changes that no draw of x chose, say what is tested.
    """

    def __init__(
        self, density: Density, pilot: Array, x: Array, changes: Array, stream: np.random.Generator
    ) -> None:
        self._density, self._pilot, self._x, self._stream = density, pilot, x, stream
        self._changes = changes
        self._logs, self._scale = density(x), _scale(pilot)
        self._numbers = float(np.prod(density.shape))

    def result(self) -> Tested:
        """Return the result of all tests."""
        if not np.isfinite(self._logs).all():
            return Tested(0, True, 1.0, 0, 0)
        sizes, single = self._sizes(), self._entries()
        entries = single.shape[1]
        others = [*self._others(), *single.T]
        level = ERROR / 4
        means = [*sizes[:1], single.mean(axis=1)]
        signs = [rejected(each, level) for each in means]
        # A part of the noise, and the noise in a shell, may be smaller for another reason.
        beside = [rejected(each, 2 * level / len(others + sizes[1:])) for each in others]
        shells = [rejected(each, 2 * level / len(others + sizes[1:])) for each in sizes[1:]]
        less = 1 in signs and -1 not in (*signs, *shells)
        return Tested(
            1 if less else -1 if -1 in signs and 1 not in (*signs, *shells) else 0,
            any(signs) or any(beside) or any(shells),
            self._shortfall(level),
            entries,
            len(others) - entries,
        )

    def _sizes(self) -> list[Array]:
        """Return differences of sides where all noise is stretched, overall and in shells."""
        if self._density.step:
            return []
        x, logs, density = self._x, self._logs, self._density
        weights = np.ones(x.shape[1])
        log = self._tuned(weights)
        there, back = _balance(density, x, logs, _stretch(weights, log), _stretch(weights, -log))
        lengths = np.linalg.norm(x, axis=1)
        inner, outer = np.quantile(np.linalg.norm(self._pilot, axis=1), (0.5, 0.95))
        results = [there - back]
        for low, high in ((0, inner), (inner, np.inf), (outer, np.inf)):
            # The weight of a shell is a symmetric function of the draw and where it moves.
            ahead, behind = (lengths * np.exp(side * log / 2) for side in (1, -1))
            results.append(
                there * ((ahead >= low) & (ahead < high))
                - back * ((behind >= low) & (behind < high))
            )
        return results

    def _tuned(self, weights: Array) -> float:
        """Return the stretch of the most power, for draws that follow the density."""
        x = self._pilot[:PILOT]
        logs = self._density(x)
        power = []
        for log in STRETCHES:
            there, back = _balance(
                self._density, x, logs, _stretch(weights, log), _stretch(weights, -log)
            )
            power.append(log * float((there * (1 - there) + back * (1 - back)).mean()))
        return float(STRETCHES[int(np.argmax(power))])

    def _others(self) -> Iterator[Array]:
        """Yield differences of sides for rows, columns and directions, and for changes."""
        density = self._density
        count = int(np.clip(SEARCH / (4 * DIRECTIONS * self._numbers), LEAST, EACH * 10))
        x, logs = self._x[-count:], self._logs[-count:]
        scale = self._scale
        for change in self._changes:
            there, back = _balance(density, x, logs, _shift(change), _shift(-change))
            yield there - back
        if density.step:
            return
        maps = [change / np.linalg.norm(change) for change in self._changes]
        parts = [
            places == one for places in (density.rows, density.columns) for one in np.unique(places)
        ]
        few = self._stream.permutation(len(parts))[: DIRECTIONS // 2]
        for part in (parts[i].astype(float) for i in few):
            log = self._tuned(part)
            there, back = _balance(density, x, logs, _stretch(part, log), _stretch(part, -log))
            yield there - back
        entries = x.shape[1]
        for number in range(DIRECTIONS // 2):
            unit = self._stream.standard_normal(entries) * scale
            if number % 2 and entries > 1:
                # Two entries that share noise.
                pair = self._stream.choice(entries, 2, replace=False)
                unit[:] = 0
                unit[pair] = scale[pair] * self._stream.choice((-1.0, 1.0), 2)
            maps.append(unit / np.linalg.norm(unit))
        for unit in maps:
            row = unit[None]
            there, back = _balance(density, x, logs, _stretch(row, 0.5), _stretch(row, -0.5))
            yield there - back

    def _entries(self) -> Array:
        """Return differences of sides where one entry moves away from 0, (draws, entries)."""
        entries = self._x.shape[1]
        most = 64 if self._density.step else min(ENTRIES, int(SEARCH / LEAST / self._numbers))
        chosen = self._stream.permutation(entries)[:most]
        count = int(np.clip(SEARCH / (len(chosen) * self._numbers), LEAST, DRAWS))
        return self._outward(self._x[:count], self._logs[:count], chosen)

    def _outward(self, x: Array, logs: Array, chosen: NDArray[np.intp]) -> Array:
        shifts = self._scale
        if self._density.step:
            shifts = np.maximum(np.rint(shifts / self._density.step), 1) * self._density.step
        results = np.empty((len(x), len(chosen)))
        moved = x.copy()
        for number, entry in enumerate(chosen):
            column, shift = x[:, entry], shifts[entry]
            sign = np.where(column >= 0, 1.0, -1.0)
            sides = []
            for way in (1, -1):
                moved[:, entry] = column + way * sign * shift
                ratio = np.nan_to_num(self._density(moved) - logs, nan=-np.inf)
                sides.append(special.expit(ratio))
            # What moves back across 0 did not come from there.
            sides[1][(moved[:, entry] >= 0) != (column >= 0)] = 0
            results[:, number] = sides[0] - sides[1]
            moved[:, entry] = column
        return results

    def _shortfall(self, level: float) -> float:
        """Return the smallest share of missing noise that the draws show."""
        density, entries = self._density, self._x.shape[1]
        if density.step:
            few = self._stream.permutation(entries)[:16]
            count = int(np.clip(SEARCH / (min(64, entries) * self._numbers), LEAST, len(self._x)))
            numbers, repeats = count, min(64, entries) / len(few)
        else:
            weights = np.ones(entries)
            log, numbers, repeats = self._tuned(weights), len(self._x), 1.0
        x = self._pilot
        needed = np.sqrt(2 * (np.log(2 * len(BETS)) - np.log(level))) + special.ndtri(POWER)

        def difference(share: float) -> Array:
            less = (1 - share) * x
            if density.step:
                # At random to one of the two nearest points.
                less = np.floor(less / density.step + self._stream.random(x.shape)) * density.step
                return np.asarray(self._outward(less, density(less), few).mean(axis=1))
            moves = _stretch(weights, log), _stretch(weights, -log)
            return np.subtract(*_balance(density, less, density(less), *moves))

        # The same draws without a share missing take most of the chance out of the mean.
        base = difference(0.0).mean()
        for share in SHARES:
            found = difference(share)
            if found.mean() - base >= needed * float(found.std()) / np.sqrt(numbers * repeats):
                return share
        return 1.0


def _scale(x: Array) -> Array:
    """Return the size of each entry (d,), which exists for heavy tails too."""
    return np.maximum(np.median(np.abs(x), axis=0) * 1.5, 1e-300)


class DensityAudit(Audit):
    """An audit of noise that states its log density, see the module."""

    tool = "log density"
    noise_inflation = float("nan")

    def __init__(self, release: AdditiveMechanism, stream: np.random.Generator) -> None:
        self.release: AdditiveMechanism = release
        self.bound, self.attained = release.epsilon_delivered, float("nan")
        self.cost = 2.0 * float(np.prod(release.query.shape))
        self._flaws: list[str] = []
        value = draws.value_within(release, farthest(release.query))
        numbers = float(np.prod(release.noise.shape))
        count = int(np.clip(NUMBERS / numbers, LEAST, DRAWS))
        centre = self._centre(value)
        noise = self._noise(value, centre, EACH + count, stream)
        self.density = Density(release.noise, noise)
        pilot, x = np.split(self.density.entries(noise), [EACH])
        # Numbers that repeat off a grid, an entry without noise, draws that cannot be.
        void = self.density.repeats or not np.ptp(pilot, axis=0).all()
        void = bool(void or not np.isfinite(self.density(pilot)).all())
        self._choose(pilot, stream, void)
        self.tested = Tested(0, True, 1.0, 0, 0)
        if not void:
            self.tested = _Tests(self.density, pilot, x, self._changes, stream).result()
        if self.tested.sign > 0:
            self._flaws.append(f"{REFUTED}: {LESS}")
        elif self.tested.other:
            self._flaws.append(f"{DECLARED}: {OTHER}")
        elif self.tested.shortfall > 1 - SHORTFALL:
            share = self.tested.shortfall
            self._flaws.append(
                f"{DECLARED}: draws show no density that is {1 - SHORTFALL:.0%} off ({share:.0%})"
            )
        if not self._flaws:
            self.attained = self._attained(pilot, stream)
            least = f"{100 * self.tested.shortfall:g}% less noise than its density has would show"
            self.words = f"not refuted above epsilon {self.attained:.3g}; {least}"
        self.unseen += (
            f"; its density was tested on {len(x)} draws, {self.tested.entries} entries alone and "
            f"{self.tested.directions} directions, and the worst neighbours are of a search"
        )

    def _centre(self, value: Array) -> Array:
        """Return what a release adds its noise to: the value, or a rounding of it."""
        release = self.release
        seeds = range(3)
        centres = np.stack(
            [
                release.simulate(value, [np.random.default_rng(seed)])[0]
                - release.noise.sample([np.random.default_rng(seed)])[0]
                for seed in seeds
            ]
        )
        apart = np.abs(centres - centres[0]).max()
        if not apart <= CLOSE * max(float(np.abs(centres).max()), release.noise_std or 0.0):
            self._flaws.append(f"{DECLARED}: {PLUS}")
            return value
        return np.asarray(centres[0])

    def _noise(self, value: Array, centre: Array, count: int, stream: np.random.Generator) -> Array:
        return self.release.simulate(value, [stream] * count) - centre

    def _values(self, pair: Neighbours, column: int) -> list[Array]:
        """Return the values of neighbours, for records from a column on."""
        query = self.release.query
        if not isinstance(query, IdentityQuery):
            return [runs.within(query, value) for value in runs.values(query, pair)]
        value = draws.value_within(self.release, pair)
        values = [value.copy(), value.copy()]
        for copy, side in zip(values, pair[:2], strict=True):
            columns = np.reshape(side, (-1, query.features)).T
            copy[:, column : column + columns.shape[1]] = columns
        return values

    def _choose(self, x: Array, stream: np.random.Generator, void: bool) -> None:
        """Search for the neighbours with the largest loss, and keep their values.

        Where the density is ``void`` the search is that of the largest change.
        """
        query, density = self.release.query, self.density
        columns = [0]
        if isinstance(query, IdentityQuery):
            sizes = np.bincount(density.columns, _scale(x), minlength=query.n_records)
            last = query.n_records - query.group
            columns = sorted({0, last, min(int(sizes.argmin()), last)})
        found = [
            (pair, column)
            for column in columns
            for pair in ([farthest(query)] if void else self._pairs(x, column, stream))
        ]
        values = [self._values(*one) for one in found]
        if density.step > 0:
            values += [self._shaken(pair, stream) for pair, _ in found for _ in range(SHAKEN)]
        ends = [[self._centre(side) for side in sides] for sides in values]
        if density.step > 0 and not self._flaws:
            self._between(stream)
        changes = np.stack([first - second for first, second in ends])
        changes = density.entries(changes)
        best = 0 if void else int(np.argmax([self._harm(x, change) for change in changes]))
        self._ends, self._neighbours = ends[best], values[best]
        self._change = changes[best]
        apart = np.abs(changes).max(axis=1) > 0
        self._changes = np.unique(changes[apart], axis=0)

    def _shaken(self, pair: Neighbours, stream: np.random.Generator) -> list[Array]:
        """Return the values of shorter records among random ones, as a rounding may move them."""
        query = self.release.query
        records = random_records(query, stream)
        short = 1 - 0.1 * stream.random(2)
        values = []
        for side, share in zip(pair[:2], short, strict=True):
            columns = np.reshape(side, (-1, query.features)).T * share
            records[:, : columns.shape[1]] = columns
            values.append(query.value(records))
        return values

    def _between(self, stream: np.random.Generator) -> None:
        """Object to values between the points of the grid that holds the noise."""
        query, step = self.release.query, self.density.step
        values = [query.value(random_records(query, stream)) for _ in range(4)]
        first, *others = [self._centre(value) / step for value in values]
        if any(np.abs(one - first - np.rint(one - first)).max() > 1e-6 for one in others):
            self._flaws.append(f"{REFUTED}: {BETWEEN}")

    def _harm(self, x: Array, change: Array) -> float:
        """Return how much a change loses, by draws: for pure claims at most, else in delta."""
        losses = np.concatenate([self.density.loss(x, change), self.density.loss(x, -change)])
        losses = np.nan_to_num(losses, nan=0.0, posinf=1e6)
        if not self.release.delta:
            return self._largest(x[:PILOT], change)
        excess = np.maximum(0, -np.expm1(np.minimum(self.release.epsilon - losses, 0)))
        return float(excess.mean() + 1e-9 * losses.mean())

    def _pairs(self, x: Array, column: int, stream: np.random.Generator) -> list[Neighbours]:
        """Return neighbours whose change is largest in norms of the noise, and in the loss."""
        query, density = self.release.query, self.density
        rows, places = density.rows, density.columns - column
        inside = (
            (places >= 0) & (places < query.group)
            if isinstance(query, IdentityQuery)
            else (np.ones(len(rows), dtype=bool))
        )
        scale = _scale(x)[inside]
        # Tails as heavy as any leave a covariance.
        sample = np.clip(x[:, inside] / scale, -10, 10)
        covariance = np.atleast_2d(np.cov(sample.T)) + 1e-6 * np.eye(len(scale))
        whiten = np.linalg.inv(np.linalg.cholesky(covariance)).T / scale[:, None]

        def flat(change: Array) -> Array:
            return change[:, rows[inside], places[inside]]

        norms: list[Callable[[Array], Array]] = [
            lambda change: np.abs(flat(change) / scale).sum(axis=1),
            lambda change: np.abs(flat(change) / scale).max(axis=1),
            lambda change: np.linalg.norm(flat(change) @ whiten, axis=1),
        ]
        pairs = [farthest(query), *(worst(query, norm, stream) for norm in norms)]
        each = 600 * query.features * query.group * float(np.prod(density.shape))
        few = x[: int(np.clip(SEARCH / each, 4, 64))]
        points = np.concatenate([np.zeros_like(few[:1]), few])
        logs, pure = density(points), not self.release.delta

        def harm(change: Array) -> Array:
            moved = np.zeros((len(change), 1, x.shape[1]))
            moved[:, 0, inside] = flat(change)
            sides = np.stack([points + moved, points - moved]).reshape(-1, x.shape[1])
            losses = logs - density(sides).reshape(2, len(change), -1)
            losses = np.nan_to_num(losses, nan=0.0, posinf=1e6, neginf=-1e6)
            mean = losses[..., 1:].mean(axis=(0, 2))
            return np.asarray(losses.max(axis=(0, 2)) + 1e-3 * mean if pure else mean)

        starts = np.stack([[np.ravel(pair[side]) for pair in pairs] for side in (0, 1)])
        return pairs if density.step else [*pairs, worst(query, harm, stream, starts)]

    def _largest(self, x: Array, change: Array) -> float:
        """Return the largest loss of points, each with points about it that have it too.

        A point alone has no probability, and the last digits of a sum decide on which side of a
        step of the density it lies.
        """
        rays = np.linspace(-3, 3, 601)[:, None] * change
        points = np.concatenate([np.zeros_like(x[:1]), rays, x, x[:PILOT] / 30])
        close = CLOSE * _scale(x)
        if self.density.step:
            points = np.rint(points / self.density.step) * self.density.step
        best = 0.0
        for way in (1, -1):
            losses = np.nan_to_num(self.density.loss(points, way * change), nan=0.0)
            top = np.argsort(-losses, kind="stable")[:32]
            near, losses = points[top], losses[top]
            if not self.density.step:
                for sign in (-1, 1, *(1 - 2 * (np.arange(x.shape[1]) % 2)[None, None])):
                    moved = near + close * sign
                    losses = np.minimum(losses, self.density.loss(moved, way * change))
            best = max(best, float(np.nan_to_num(losses, nan=0.0, posinf=np.inf).max()))
        return best

    def _attained(self, x: Array, stream: np.random.Generator) -> float:
        """Return the epsilon that the loss shows: at most, or by bets at the claimed delta."""
        release = self.release
        if not release.delta:
            return self._largest(x, self._change)
        count = int(np.clip(BOUND / np.prod(self.density.shape), LEAST, DRAWS))
        value = self._values(farthest(release.query), 0)[1]
        fresh = self.density.entries(self._noise(value, self._centre(value), count, stream))
        logs = self.density(fresh)
        return max(
            self._proved(np.nan_to_num(logs - self.density(fresh + change), nan=0.0))
            for change in (self._change, -self._change)
        )

    def _proved(self, losses: Array) -> float:
        """Return the largest epsilon at which losses have more than the claimed delta.

        What is paid falls with epsilon in each draw, and so does the wealth: one error probability
        serves all values.
        """
        low, high = 0.0, LARGEST * self.release.epsilon
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            paid = -np.expm1(np.minimum(middle - losses, 0))
            more = _exceeds(paid, self.release.delta, ERROR / 2)
            low, high = (middle, high) if more else (low, middle)
        return low

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the privacy loss of runs on each of the neighbours."""
        first, second = self._ends
        sides = []
        for value in self._neighbours:

            def part(number: int, value: Array = value) -> Array:
                released = self.release.simulate(value, [stream] * number)
                logs = [
                    self.density(self.density.entries(released - end)) for end in (first, second)
                ]
                with np.errstate(invalid="ignore"):
                    loss = np.round(logs[0] - logs[1], DECIMALS)
                return np.nan_to_num(loss, nan=0.0, posinf=1e6, neginf=-1e6)

            sides.append(runs.in_blocks(part, count, self.cost))
        return sides[0], sides[1]

    def scale(self, stream: np.random.Generator) -> Scale:
        """Return the smallest shortfall that the tests of the density show."""
        nan = float("nan")
        return Scale(nan, nan, nan, self.tested.shortfall)

    def flaws(self, stream: np.random.Generator) -> list[str]:
        """Return what draws object to the density."""
        return self._flaws


def _exceeds(payoffs: Array, mean: float, level: float) -> bool:
    """Return whether the mean of numbers from 0 to 1 is proven to be above another one."""
    sizes = BETS / max(mean, 1e-12)
    # Small bets cost little where the mean is near 0, and large ones win where it is rare.
    wealth = [np.log1p(bet * (payoffs - mean)).sum() for bet in sizes]
    return bool(special.logsumexp(wealth) - np.log(len(wealth)) >= -np.log(level))
