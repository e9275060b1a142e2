"""The Bingham distribution of directions, sampled exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError
from reproduction.stacks import Streams, draw_blocks, normals


@dataclass(frozen=True, eq=False)
class Bingham:
    """Unit vectors of density proportional to exp(v^T K v), sampled exactly.

    Args:
        form: symmetric K, shape (m, m), or one per trial (trials, m, m).
    """

    form: ArrayLike

    def sample(self, streams: Streams) -> Array:
        """Return one draw per stream, shape (trials, m)."""
        envelope = _envelope(self.form)
        size = envelope.losses.shape[-1]
        stack = np.empty((len(streams), size))
        if len(envelope.losses) not in (1, len(streams)):
            raise InputError(
                f"form has shape {np.shape(self.form)} for {len(streams)} streams; give one, or "
                "one each"
            )
        waiting, proposals = np.arange(len(streams)), 8
        while len(waiting):
            part = envelope.select(waiting)
            noise, accepted = _propose([streams[k] for k in waiting.tolist()], part, proposals)
            done = np.flatnonzero(accepted.any(axis=1))
            first = noise[done, accepted[done].argmax(axis=1), None]
            stack[waiting[done]] = part.select(done).directions(first)[:, 0]
            waiting, proposals = np.delete(waiting, done), 2 * proposals
        return stack


class _Envelope(NamedTuple):
    """Rejection from angular central Gaussian proposals (Kent, Ganeiban & Mardia, JCGS 2018).

    In the eigenbasis of K the target is exp(-u), u = sum_i l_i v_i^2, with losses l_i =
    k_max - k_i >= 0. The proposal is v = y / |y| with y_i ~ N(0, 1 / omega_i) and
    omega_i = 1 + 2 l_i / b. Its density is proportional to (1 + 2 u / b)^(-m/2).

    Attributes:
        axes: eigenvectors, one per column, shape (T or 1, m, m).
        losses: l, shape (T or 1, m).
        b: root of sum_i 1 / (b + 2 l_i) = 1, shape (T or 1, 1); it maximises the acceptance.
        omega: shape (T or 1, m).
    """

    axes: Array
    losses: Array
    b: Array
    omega: Array

    def select(self, trials: NDArray[np.intp]) -> _Envelope:
        """Return the envelopes of these trials; an envelope for all trials stays unchanged."""
        return self if len(self.b) == 1 else _Envelope(*(field[trials] for field in self))

    def log_acceptance(self, u: Array) -> Array:
        """Return the log of the acceptance probability at u = v^T L v, shape (T, proposals).

        The probability is target over proposal, exp(-u) (1 + 2 u / b)^(m/2), divided by its
        maximum at u = (m - b) / 2. The log is at most 0.
        """
        m = self.losses.shape[-1]
        highest = (m * np.log(m / self.b) - (m - self.b)) / 2
        return m / 2 * np.log1p(2 * u / self.b) - u - highest

    def directions(self, noise: Array) -> Array:
        """Return the proposals v from standard normals of the eigenbasis, (T, count, m)."""
        y = noise / np.sqrt(self.omega)[:, None]
        y /= np.linalg.norm(y, axis=-1, keepdims=True)
        return y @ np.swapaxes(self.axes, -1, -2)


def _propose(
    streams: Streams, envelope: _Envelope, proposals: int
) -> tuple[Array, NDArray[np.bool_]]:
    """Return ``proposals`` normal vectors per stream, and a mask of the accepted ones."""
    noise = normals(streams, (proposals, envelope.losses.shape[-1]))
    # An exponential number is -ln of a uniform one.
    thresholds = draw_blocks(
        streams, lambda stream, count: stream.standard_exponential((count, proposals))
    )
    # Squares of y are squares of noise / omega; both sums are one product with two columns.
    weights = np.stack([envelope.losses, np.ones_like(envelope.losses)], axis=-1)
    sums = np.square(noise) @ (weights / envelope.omega[..., None])
    u = sums[..., 0] / sums[..., 1]
    return noise, envelope.log_acceptance(u) + thresholds >= 0


def _envelope(form: ArrayLike) -> _Envelope:
    matrices = checks.array(shape=np.shape(form)[-1:] * 2, form=form)
    asymmetry = matrices - np.swapaxes(matrices, -1, -2)
    if np.abs(asymmetry).max() > 1e-9 * np.abs(matrices).max():
        raise InputError(
            "form is not a symmetric matrix; give (K + K^T) / 2, which is the same distribution"
        )
    values, axes = np.linalg.eigh(matrices.reshape(-1, *matrices.shape[-2:]))
    losses = np.minimum(values[:, -1:] - values, 1e300)  # twice a loss stays finite
    # Newton's method on a decreasing convex function, from below the root: no step overshoots.
    b = np.ones_like(losses[:, :1])
    for _ in range(64):
        inverse = 1 / (b + 2 * losses)
        step = (inverse.sum(axis=1, keepdims=True) - 1) / (inverse**2).sum(axis=1, keepdims=True)
        b += step
        if (step <= 1e-12 * b).all():
            break
    return _Envelope(axes, losses, b, 1 + 2 * losses / b)
