"""What a release declares of itself beside its claim, held to what the audit attains.

Tables show the epsilon that noise delivers, its mu and its size. A declaration below what is
attained is a refutation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matrixdp import library
from matrixdp.auditing import draws
from matrixdp.auditing.audit import CLOSE, ERROR, ROUNDING, Audit, is_gaussian
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.projection import ComposedAudit
from matrixdp.checks import Array
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.privacy.sensitivity import RecordsQuery
from matrixdp.status import NOT_REFUTED, REFUTED

#: The verdict on Gaussian noise for a claim with delta 0.
PURE = f"{REFUTED}: Gaussian noise has no pure guarantee"

#: Draws by which a class's noise is measured.
DRAWS = 400

#: Largest factor between the deviation of that many draws and the true one, of noise that is not
#: Gaussian.
FACTOR = 2.0


class Attained(NamedTuple):
    """What replays of another author's release show: the attained epsilon and mu, NaN for none."""

    release: CalibratedMechanism
    attained: float
    mu: float
    bound: float = float("nan")


class Deviation(NamedTuple):
    """Bounds on the root mean square of the standard deviations of a release's entries."""

    low: float
    high: float


def flaws(audit: Audit | Attained, stream: np.random.Generator) -> list[str]:
    """Return verdicts on the declared epsilon, mu and size of a release's noise."""
    release, verdicts = audit.release, []
    composed = isinstance(audit, ComposedAudit)
    gaussian = isinstance(release, AdditiveMechanism) and is_gaussian(release.noise)
    if (gaussian or composed) and not release.delta:
        return [PURE]
    if other_shape := shape_flaw(release):
        return [other_shape]
    declared = release.epsilon_delivered * (1 + ROUNDING)
    epsilon = f"{release.epsilon_delivered:.3g}"
    if np.isnan(declared) or audit.attained > declared + ROUNDING:
        verdicts.append(
            f"{REFUTED}: it declares epsilon {epsilon} and attains {audit.attained:.3g}"
        )
    exact = not composed and not np.isnan(audit.mu)
    if exact and release.mu is not None and not audit.mu <= release.mu * (1 + ROUNDING):
        verdicts.append(f"{REFUTED}: it declares mu {release.mu:.3g} and attains {audit.mu:.3g}")
    allowed = release.epsilon * (1 + ROUNDING)
    if audit.bound <= allowed < declared - ROUNDING:
        # Otherwise the verdict is on the bound, or on what the runs could have proved.
        verdicts.append(f"{NOT_REFUTED}: it declares epsilon {epsilon}, above the claimed one")
    if composed and audit.bound > declared + ROUNDING:
        verdicts.append(
            f"{NOT_REFUTED}: it declares epsilon {epsilon}, and its parts compose to "
            f"{audit.bound:.3g}"
        )
    if isinstance(release, AdditiveMechanism) and not np.isnan(release.noise_std):
        size = deviation(release, stream)
        words = f"it declares noise of {release.noise_std:.3g} and adds {size.low:.3g}"
        if release.noise_std < size.low * (1 - CLOSE):
            verdicts.append(f"{REFUTED}: {words}")
        if release.noise_std > size.high * (1 + CLOSE):
            verdicts.append(f"{NOT_REFUTED}: {words}")
    return verdicts


def shape_flaw(release: CalibratedMechanism) -> str:
    """Return the verdict on noise of another shape than the value, or nothing."""
    if not isinstance(release, AdditiveMechanism) or release.noise.shape == release.query.shape:
        return ""
    shapes = f"{release.noise.shape} for a value of shape {release.query.shape}"
    return f"{REFUTED}: its noise has shape {shapes}"


def deviation(release: AdditiveMechanism, stream: np.random.Generator) -> Deviation:
    """Return bounds on the deviation of a release's noise.

    They are equal where it is computed; of draws they hold except with probability ``ERROR``.
    """
    noise = release.noise
    if library.owns(release) and not np.isnan(exact := proofs.deviation(noise)):
        return Deviation(exact, exact)
    value = _value(release)
    sample = release.simulate(value, stream, DRAWS) - value
    mean = float(np.sqrt((sample**2).mean()))
    if not is_gaussian(noise):
        return Deviation(mean / FACTOR, mean * FACTOR)
    # Laurent & Massart (2000), Lemma 1, with all of the variance in one direction.
    share = np.log(2 / ERROR) / DRAWS
    above, below = 1 + 2 * np.sqrt(share) + 2 * share, 1 - 2 * np.sqrt(share)
    return Deviation(mean / float(np.sqrt(above)), mean / float(np.sqrt(below)))


def _value(release: AdditiveMechanism) -> Array:
    """Return a value of the query within the public bounds: all records are one."""
    query, other = release.query, farthest(release.query).other
    if not isinstance(query, RecordsQuery):
        return draws.within(query, draws.value_of(query, other))
    column = np.reshape(other, (-1, query.features))[:1].T
    return draws.within(query, np.tile(column, query.n_records))
