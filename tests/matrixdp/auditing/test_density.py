"""Noise of another author that states its log density: tested where right, caught where wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import optimize

from matrixdp.auditing import density, releases
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import IdentityQuery, MeanQuery, SecondMomentQuery

MEAN = MeanQuery(Box.cube(3, -1, 1), 50)
LIVER = IdentityQuery(Box.cube(6, -1, 1), 248)
MOMENTS = SecondMomentQuery(Box.cube(21, -1, 1), 400)

TESTED, REFUTED = "tested: not refuted above epsilon", "refuted"
OTHER, LESS = f"declared: {density.OTHER}", f"refuted: {density.LESS}"
SHOWN, PROVED = "refuted: the log density shows it", "refuted: the black box proves it"


@dataclass(frozen=True, eq=False)
class Elliptical(NoiseDistribution):
    """Density exp(-|A^-1 z|_2 / scale), A diagonal (m,); a radius of Gamma(d).

    Draws are ``less`` times what they should be, or have a radius of Gamma(d + ``more``). The
    density omits the first row where ``omits``.
    """

    scale: float
    sides: tuple[float, ...] = (1.0,)
    less: float = 1.0
    more: float = 0.0
    omits: bool = False

    def _draw(self, streams, stack):
        sides = np.array(self.sides)[:, None]
        for stream, trial in zip(streams, stack, strict=True):
            stream.standard_normal(out=trial)
            radius = self.less * self.scale * stream.standard_gamma(trial.size + self.more)
            trial *= sides * radius / np.linalg.norm(trial)

    def log_density(self, noise):
        rows = (noise / np.array(self.sides)[:, None])[:, int(self.omits) :]
        return -np.linalg.norm(rows, axis=(1, 2)) / self.scale


@dataclass(frozen=True, eq=False)
class Staircase(NoiseDistribution):
    """Density exp(-k) for (k - 1 + g) D <= |z|_1 < (k + g) D, k = 0, 1, ... at epsilon 1.

    Geng, Kairouz, Oh & Viswanath, IEEE J. Sel. Topics Signal Process. 9(7), 2015. ``each``: the
    entries are independent staircases in one dimension.
    """

    sensitivity: float
    each: bool = False
    gamma = 0.4

    def _draw(self, streams, stack):
        size = 1 if self.each else stack[0].size
        edges = np.concatenate([[0.0], np.arange(40 * (size + 5)) + self.gamma])
        logs = size * np.log(edges[1:]) - np.arange(len(edges) - 1)
        logs += np.log1p(-((edges[:-1] / edges[1:]) ** size))
        weights = np.exp(logs - logs.max()).cumsum()
        for stream, trial in zip(streams, stack, strict=True):
            count = trial.size if self.each else 1
            place = np.searchsorted(weights, stream.random(count) * weights[-1])
            low, high = edges[place], edges[place + 1]
            share = (low / high) ** size
            radius = high * (share + stream.random(count) * (1 - share)) ** (1 / size)
            rays = np.ones(count) if self.each else stream.dirichlet(np.ones(size))
            signs = stream.choice((-1.0, 1.0), trial.size)
            trial[...] = (self.sensitivity * radius * rays * signs).reshape(trial.shape)

    def log_density(self, noise):
        sizes = np.abs(noise) if self.each else np.abs(noise).sum(axis=(1, 2), keepdims=True)
        steps = np.floor(sizes / self.sensitivity + 1 - self.gamma)
        return -steps.sum(axis=(1, 2))


@dataclass(frozen=True, eq=False)
class Student(NoiseDistribution):
    """Multivariate t noise of 5 degrees of freedom; of ``drawn`` in its draws."""

    scale: float
    drawn: float = 5.0

    def _draw(self, streams, stack):
        for stream, trial in zip(streams, stack, strict=True):
            stream.standard_normal(out=trial)
            trial *= self.scale / np.sqrt(2 * stream.standard_gamma(self.drawn / 2) / self.drawn)

    def log_density(self, noise):
        squares = (noise**2).sum(axis=(1, 2)) / self.scale**2
        return -(5 + noise[0].size) / 2 * np.log1p(squares / 5)


@dataclass(frozen=True, eq=False)
class Grid(NoiseDistribution):
    """Independent multiples k of ``step`` of probability exp(-(|k| step / scale)^power / power).

    Discrete Laplace noise for the power 1, discrete Gaussian noise for 2.
    """

    scale: float
    step: float
    power: int = 1
    less: float = 1.0

    def _draw(self, streams, stack):
        counts = np.arange(-500, 501)
        scale = self.less * self.scale
        logs = -((np.abs(counts) * self.step / scale) ** self.power) / self.power
        weights = np.exp(logs).cumsum()
        for stream, trial in zip(streams, stack, strict=True):
            places = np.searchsorted(weights, stream.random(trial.shape) * weights[-1])
            trial[...] = self.step * counts[places]

    def log_density(self, noise):
        counts = np.rint(noise / self.step)
        logs = -((np.abs(noise) / self.scale) ** self.power).sum(axis=(1, 2)) / self.power
        off = np.abs(noise / self.step - counts).max(axis=(1, 2)) > 1e-6
        return np.where(off, -np.inf, logs)


class Rounded(AdditiveMechanism):
    """A release that rounds its value to the grid of its noise first."""

    def _draw(self, value, streams):
        step = self.noise.step
        return np.rint(value / step) * step + self.noise.sample(streams)


def student_scale(query, delta):
    """Return the scale of t noise for epsilon 1 and a change of the length of the sensitivity.

    The loss depends on the noise along the change and on the length of the rest.
    """
    stream, size = np.random.default_rng(5), int(np.prod(query.shape))
    factor = 5 / (2 * stream.standard_gamma(2.5, 400_000))
    along = stream.standard_normal(400_000) * np.sqrt(factor)
    squares = along**2 + 2 * stream.standard_gamma((size - 1) / 2, 400_000) * factor

    def excess(log):
        change = query.l2_sensitivity / np.exp(log)
        after = squares + 2 * along * change + change**2
        losses = (5 + size) / 2 * (np.log1p(after / 5) - np.log1p(squares / 5))
        return np.maximum(0, -np.expm1(np.minimum(1 - losses, 0))).mean() - delta

    return float(np.exp(optimize.brentq(excess, -9, 9)))


def judge(noise, query=MEAN, *, delta=0.0, release=AdditiveMechanism, seed=0, runs=20_000):
    streams = [np.random.default_rng([seed, number]) for number in range(6)]
    one = release(query=query, epsilon=1.0, delta=delta, epsilon_delivered=1.0, noise=noise)
    audit = releases.audit_of(one, streams[0])
    assert isinstance(audit, density.DensityAudit)
    return releases.judge(audit, streams[1:], releases.Limits(runs))


@pytest.fixture
def fewer(monkeypatch):
    """Draw less: the sizes of these mistakes are seen by fewer draws."""
    monkeypatch.setattr(density, "DRAWS", 80_000)


ELLIPTICAL = Elliptical(MEAN.shape, MEAN.l2_sensitivity)
# The change of every entry is 2 / 50; the farthest corner of the box attains it.
SIDES = 1.0, 2.0, 4.0
ALONG = Elliptical(MEAN.shape, 2 / 50 * np.linalg.norm(1 / np.array(SIDES)), SIDES)
STAIRCASE = Staircase(MEAN.shape, MEAN.l1_sensitivity)


@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (ELLIPTICAL, TESTED),
        (replace(ELLIPTICAL, scale=0.99 * ELLIPTICAL.scale), SHOWN),
        (replace(ELLIPTICAL, less=0.98), LESS),
        (replace(ELLIPTICAL, less=1.02), OTHER),
        (replace(ELLIPTICAL, more=-1.0), PROVED),
        (replace(ELLIPTICAL, omits=True), LESS),
        (ALONG, TESTED),
        (replace(ALONG, scale=0.99 * ALONG.scale), SHOWN),
        (replace(ALONG, sides=(0.99, 2.0, 4.0)), SHOWN),
        (STAIRCASE, TESTED),
        (replace(STAIRCASE, sensitivity=0.99 * STAIRCASE.sensitivity), SHOWN),
        (replace(STAIRCASE, each=True), REFUTED),
    ],
)
def test_noise_of_a_pure_guarantee_is_tested_and_its_wrong_twins_are_caught(noise, words):
    row = judge(noise)
    assert row["verdict"].startswith(words)
    if words == TESTED:
        # The search attains all of epsilon, so that a claim of less would be refuted.
        assert row["epsilon_attained"] == pytest.approx(1, abs=1e-6)
        assert 0 < row["shortfall"] <= 0.02
        assert "its density was tested on" in row["note"]


@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize(
    ("size", "drawn", "words"),
    [(1.0, 5.0, TESTED), (0.9, 5.0, REFUTED), (1.0, 4.0, OTHER)],
)
def test_student_noise_is_tested_and_its_wrong_twins_are_caught(size, drawn, words):
    scale = student_scale(MEAN, 1 / 50)
    row = judge(Student(MEAN.shape, size * scale, drawn), delta=1 / 50)
    assert row["verdict"].startswith(words)
    if words == TESTED:
        assert 0.9 < row["epsilon_attained"] <= 1


STEP = 0.008
# Values that differ by five steps in each entry are five steps apart after rounding, too.
DISCRETE = Grid(MEAN.shape, 3 * 5 * STEP, STEP)


@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize(
    ("noise", "release", "words"),
    [
        (DISCRETE, Rounded, TESTED),
        (replace(DISCRETE, scale=0.98 * DISCRETE.scale), Rounded, SHOWN),
        (replace(DISCRETE, less=0.97), Rounded, LESS),
        (replace(DISCRETE, less=1.03), Rounded, OTHER),
        (DISCRETE, AdditiveMechanism, REFUTED),
    ],
)
def test_discrete_laplace_noise_is_tested_where_the_value_is_rounded(noise, release, words):
    row = judge(noise, release=release)
    assert row["verdict"].startswith(words)
    if words == TESTED:
        assert row["epsilon_attained"] == pytest.approx(1)


@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize(("size", "words"), [(1.0, TESTED), (0.8, REFUTED)])
def test_discrete_gaussian_noise_is_tested_and_too_little_of_it_is_refuted(size, words):
    """Noise with the deviation of continuous noise, mu 0.5325 at (1, 0.01), but for a hundredth."""
    scale = 1.01 * size * 5 * STEP * np.sqrt(3) / 0.5325
    row = judge(Grid(MEAN.shape, scale, STEP, power=2), delta=0.01, release=Rounded)
    assert row["verdict"].startswith(words)


class Mirrored(Elliptical):
    """Symmetric matrices, whose upper triangle has the distribution."""

    def _draw(self, streams, stack):
        rows, columns = np.triu_indices(self.shape[0])
        flat = np.empty((len(stack), len(rows), 1))
        super()._draw(streams, flat)
        stack[:, rows, columns] = stack[:, columns, rows] = flat[..., 0]

    def log_density(self, noise):
        rows, columns = np.triu_indices(self.shape[0])
        return super().log_density(noise[:, rows, columns, None])


@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize(
    ("adjacency", "size", "words"), [("replace", 1.0, TESTED), ("zero_out", 0.99, SHOWN)]
)
def test_symmetric_noise_has_the_entries_of_its_triangle(adjacency, size, words):
    query = SecondMomentQuery(Ball(1.0, 4), 50, adjacency)
    noise = Mirrored(query.shape, size * query.triangle_l2_sensitivity)
    row = judge(noise, query)
    assert row["verdict"].startswith(words)
    assert row["epsilon_attained"] == pytest.approx(1 / size, rel=0.002)


class Atom(Elliptical):
    """No noise at all in one draw of ten."""

    share = 0.1

    def _draw(self, streams, stack):
        super()._draw(streams, stack)
        stack *= np.array([stream.random() > self.share for stream in streams])[:, None, None]


class RareAtom(Atom):
    """No noise at all in one draw of a thousand, which moves no mean of bets."""

    share = 1e-3


class Partial(Elliptical):
    """No noise in the first entry."""

    def _draw(self, streams, stack):
        super()._draw(streams, stack)
        stack[:, 0] = 0


@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize("kind", [Atom, RareAtom, Partial])
def test_noise_without_a_density_is_no_tested_one(kind):
    row = judge(kind(MEAN.shape, ELLIPTICAL.scale))
    assert row["verdict"].startswith(("refuted", "declared"))


class Leaky(AdditiveMechanism):
    """The noise is smaller where the value is."""

    def _draw(self, value, streams):
        return value + self.noise.sample(streams) * (0.5 + np.abs(value).max())


@pytest.mark.usefixtures("fewer")
def test_a_release_that_is_not_its_value_plus_its_noise_is_no_tested_one():
    assert not judge(ELLIPTICAL, release=Leaky)["verdict"].startswith("tested")


class Wide(Elliptical):
    def log_density(self, noise):
        return super().log_density(noise)[:, None]


def test_a_density_of_another_shape_is_refused():
    with pytest.raises(InputError, match=r"log_density of Wide has shape \(\d+, 1\) for noise"):
        judge(Wide(MEAN.shape, 1.0))


def test_a_grid_is_told_from_numbers_of_any_size():
    stream = np.random.default_rng(0)
    whole = stream.integers(-9000, 9001, (2000, 3))
    for step in (1.0, 0.1, 1e-7 / 3):
        assert density._step(step * whole) == pytest.approx(step, rel=1e-6)
    assert density._step(stream.standard_t(1, (2000, 3))) == 0
    assert np.isnan(density._step(stream.standard_normal((2000, 3)) * (whole > 0)))


def test_bets_reject_as_often_as_they_may_and_find_a_small_mean():
    """Ville's inequality: a mean of 0 is rejected with at most the level."""
    stream = np.random.default_rng(0)
    numbers = stream.uniform(-1, 1, (2000, 300))
    assert np.mean([density.rejected(row, 0.05) != 0 for row in numbers]) < 0.05
    near = stream.uniform(-0.8, 0.8, (20, 900))
    for sign in (1, -1):
        assert {density.rejected(row + sign * 0.2, 1e-6) for row in near} == {sign}


@pytest.mark.long
@pytest.mark.parametrize("query", [LIVER, MOMENTS])
@pytest.mark.parametrize(
    ("less", "size", "words"),
    [(1.0, 1.0, TESTED), (0.98, 1.0, LESS), (1.02, 1.0, OTHER), (1.0, 0.99, SHOWN)],
)
def test_noise_of_the_study_s_size_two_percent_off_its_density_is_seen(query, less, size, words):
    noise = Elliptical(query.shape, size * query.l2_sensitivity, less=less)
    assert judge(noise, query)["verdict"].startswith(words)


@pytest.mark.long
def test_no_right_density_is_objected_to():
    for seed in range(12):
        assert judge(ELLIPTICAL, seed=seed)["verdict"].startswith(TESTED)
        assert judge(DISCRETE, seed=seed, release=Rounded)["verdict"].startswith(TESTED)
