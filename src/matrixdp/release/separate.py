"""The noise of several answers of one release, beside that of a release for each alone."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from matrixdp.checks import Array
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.release import choices
from matrixdp.release.comparison import Option
from matrixdp.release.keys import SYMMETRIC
from matrixdp.release.outputs import OUTPUTS, Moments, Output


def beside_separate(spec: Output, best: Option) -> list[str]:
    """Return a sentence on the noise of each of several answers, beside releases for it alone.

    Each is by the same mechanism, a mean where that has none by Gaussian noise; the noise is that
    of a column's number with its mean in the middle of the bounds.
    """
    if not isinstance(spec, Moments):
        return []
    lines, readings = [], spec.by(best.key).readings
    for reading in readings:
        noise, one = reading.deviations(best.release)[0], _alone(reading, 1)
        part = _alone(reading, len(readings))
        whole, shared = (float(np.median(noise / other)) for other in (one, part))
        lines.append(
            f"{reading.name}: {whole:.2f} times the noise of a release for it alone that spends "
            f"all of this budget, and {shared:.2f} times that of one of {len(readings)} releases "
            "that share it"
        )
    return lines


def _alone(reading: Output, count: int) -> Array:
    """Return the noise (m,) of a release for one answer, one of ``count`` that share a budget."""
    kind = OUTPUTS[reading.name]
    values = {one.name: getattr(reading, one.name) for one in fields(kind) if one.init}
    symmetric = reading.mechanism in SYMMETRIC and kind.query_type is not SecondMomentQuery
    epsilon = reading.epsilon / count
    if reading.delta:
        mu = gaussian_dp.mu(reading.epsilon, reading.delta) / np.sqrt(count)
        epsilon = gaussian_dp.epsilon(reading.delta, mu)
    mechanism = "gaussian" if symmetric else reading.mechanism
    spec = kind(**values | {"epsilon": epsilon, "mean_weight": None, "mechanism": mechanism})
    return spec.deviations(choices.by_noise(spec)[0].release)[0]
