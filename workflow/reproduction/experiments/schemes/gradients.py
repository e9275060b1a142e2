"""Schemes for private gradients (IMGM, section 5.1, Type I).

Every step draws a Poisson lot, clips each record's gradient to a joint Frobenius norm over all
parameters, and releases the sum with Gaussian noise. Neighbours differ by one record added or
removed, so that the sum changes by at most the clipping norm. Schemes differ only in the noise.
Each reports the tight epsilon of its noise, from the privacy loss distribution.

One scheme also arranges the lots, for noise that is correlated over the steps
(:mod:`reproduction.privacy.banded`). It takes them in a fixed order, where neighbours differ by one
record whose gradients are all zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.mechanisms.mechanism import NoGuarantee
from reproduction.experiments.schemes.base import (
    FIRST_TWO,
    IID,
    Deviations,
    Plan,
    Scheme,
    analytic_mu,
    classical_multiplier,
    compress_rows,
    row_precisions,
)
from reproduction.mechanisms.allocation import Binary
from reproduction.mechanisms.mvg import coefficients, largest_phi
from reproduction.privacy import accountants, banded, kov, sampling
from reproduction.privacy.accountants import Accountant
from reproduction.privacy.kov import Guarantee


@dataclass(frozen=True, kw_only=True)
class Gradients(Plan):
    """Training on private gradients.

    Args:
        records, lot: see :class:`Plan`; lots are Poisson samples.
        epochs: expected passes over the records.
        clip: largest joint Frobenius norm of one record's gradient.
        shapes: shape (m, n) of every parameter, by name.
        batch: records of a batch, for schemes that add noise to every batch of a lot; None for the
            entire lot.
        fixed_order: whether every record is in the same lot of each epoch, in place of Poisson
            lots.

    Raises:
        InputError: an argument is out of range, the lot is larger than the data or smaller than
            a batch, or there are no parameters.
    """

    epochs: int
    clip: float
    shapes: Mapping[str, tuple[int, int]]
    batch: int | None = None
    fixed_order: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.count(epochs=self.epochs)
        checks.positive(clip=self.clip)
        if not self.shapes:
            raise checks.InputError("shapes are empty; give the shape of at least one parameter")
        if self.batch is not None and checks.count(batch=self.batch) > self.lot:
            raise checks.InputError(
                f"batch is {self.batch}; it must be at most the lot, {self.lot}"
            )

    @property
    def lots(self) -> int:
        """Number of lots in an epoch with a fixed order."""
        return round(1 / self.rate)

    @property
    def steps(self) -> int:
        """Number of releases, T."""
        return self.epochs * self.lots if self.fixed_order else round(self.epochs / self.rate)

    @property
    def expected(self) -> float:
        """Expected number of records in a lot."""
        return self.records / self.lots if self.fixed_order else float(self.lot)

    @property
    def bands(self) -> int:
        """Number of steps over which noise is correlated: an epoch in fixed order, otherwise one.

        A record takes part once in these steps. Of all numbers up to this one, it has the least
        noise on prefix sums from two epochs on, and within a hundredth of that in one epoch.
        """
        return self.lots if self.fixed_order else 1

    @property
    def participations(self) -> dict[str, Any]:
        """Arguments of accountants: a record takes part in ``steps``, each at the ``rate``."""
        if self.fixed_order:
            return {"rate": 1.0, "steps": self.epochs}
        return {"rate": self.rate, "steps": self.steps}

    @property
    def correlation_factor(self) -> float:
        """Root mean square of a step's noise over the standard deviation of its draws."""
        return banded.step_deviation(self.bands, self.steps)

    @property
    def released(self) -> Mapping[str, tuple[int, int]]:
        """Shapes of the parameters, by name."""
        return self.shapes

    @property
    def batches(self) -> float:
        """Expected number of batches in a lot."""
        return self.lot / (self.batch or self.lot)

    def mu(self, deviations: Deviations) -> float:
        """Return clip / smallest deviation, an upper bound of mu.

        A gradient in the entries with the least noise attains it. Networks without such gradients
        have a smaller mu.
        """
        return self.clip / min(float(np.min(value)) for value in deviations.values())

    def epsilon(self, deviations: Deviations, delta: float) -> float:
        """Return the upper bound on epsilon from the privacy loss distribution."""
        multiplier = 1 / self.mu(deviations)
        return accountants.pld_epsilon(multiplier, delta=delta, **self.participations)

    def same(self, deviation: float) -> Deviations:
        """Return one deviation for all parameters."""
        return dict.fromkeys(self.shapes, deviation)


def _per_step(plan: Gradients, epsilon: float, delta: float) -> Guarantee:
    """Return guarantees of one step before sampling, over shares of KOV's slack."""
    each = kov.splits(epsilon, delta, plan.steps)
    return sampling.invert_amplification(each, plan.rate)


def _classical(plan: Gradients, epsilon: float, delta: float) -> Deviations:
    return plan.same(plan.clip * classical_multiplier(_per_step(plan, epsilon, delta)))


def _analytic(plan: Gradients, epsilon: float, delta: float) -> Deviations:
    mu, _ = analytic_mu(_per_step(plan, epsilon, delta))
    return plan.same(plan.clip / mu)


def _accounted(
    plan: Gradients, epsilon: float, delta: float, *, accountant: Accountant
) -> Deviations:
    multiplier = accountants.smallest_multiplier(
        epsilon, delta, accountant=accountant, **plan.participations
    )
    if np.isinf(multiplier):
        raise NoGuarantee(
            f"no noise multiplier up to {accountants.LARGEST_MULTIPLIER:g} is accounted "
            f"({epsilon:g}, {delta:g})-private over {plan.steps} steps; use a larger epsilon"
        )
    return plan.same(plan.clip * multiplier)


def _in_turn(plan: Gradients, epsilon: float, delta: float) -> Gradients:
    return replace(plan, fixed_order=True)


def _theorem_4(plan: Gradients, epsilon: float, delta: float, *, factor: float = 1.0) -> Deviations:
    mu = accountants.release_mu(epsilon, delta, plan.steps)
    return plan.same(factor * plan.clip / mu)


def _mvg(plan: Gradients, epsilon: float, delta: float, *, allocation: Binary) -> Deviations:
    """Return MVG's noise: split the budget over steps, invert sampling, split over the matrices.

    Both splits are by KOV.

    All matrices of a step see the same lot, so that sampling amplifies the step and not each of
    them. Theorem 2 requires that gamma bounds the released sum, which clipping does not ensure.
    With gamma = clip the theorem still holds, because gamma >= s2 / 2 is enough: its condition then
    implies mu^2 / 2 + mu sqrt(2 ln(1 / delta)) <= epsilon.
    """
    _, step = analytic_mu(_per_step(plan, epsilon, delta))
    _, guarantee = analytic_mu(kov.splits(step.epsilon, step.delta, len(plan.shapes)))
    return {
        name: compress_rows(
            _mvg_precisions(shape, guarantee, allocation, plan.clip, plan.clip) ** -0.5
        )
        for name, shape in plan.shapes.items()
    }


def _mvg_precisions(
    shape: tuple[int, int], guarantee: Guarantee, allocation: Binary, gamma: float, s2: float
) -> Array:
    """Return MVG's precision of each row, shape (m,), by Theorem 2, with the root of zeta."""
    alpha, _, beta = coefficients(shape, gamma=gamma, s2=s2, delta=guarantee.delta)
    return row_precisions(float(largest_phi(alpha, beta, guarantee.epsilon)), shape, allocation)


def _imgm_amplified(plan: Gradients, epsilon: float, delta: float) -> Deviations:
    return _theorem_4(plan, epsilon, delta, factor=plan.rate)


# The authors' public code (github.com/PatrickLwt/Privacy) is for images and Adult alone. It splits
# a lot into batches, adds fresh noise to each, and applies their sum. The noise on a lot is
# therefore sqrt(lot / batch) times that on a batch. Its lots are parts of a shuffled epoch. Poisson
# samples, and the paper's lots and epochs in place of the code's, are our assumption.


def _moments_code(plan: Gradients, epsilon: float, delta: float) -> Deviations:
    root = np.sqrt(plan.batches * plan.steps * np.log(1 / delta))
    return plan.same(float(2 * plan.rate / epsilon * root * plan.clip))


def _mvg_code(plan: Gradients, epsilon: float, delta: float) -> Deviations:
    """Return the noise of MVG in commits f3b9c7a and d6f80ce.

    They split by KOV's corollary, divide by q for amplification, and bound s2 entry by entry.
    """
    each = kov.simple_split(epsilon, delta, plan.steps)
    step = sampling.linear_before_sampling_wrong(each, plan.rate)
    deviations = {}
    for name, (m, n) in plan.shapes.items():
        s2 = plan.clip * np.sqrt(m * n)
        # The code uses the variance as the standard deviation.
        variances = 1 / _mvg_precisions((m, n), step, IID, s2 / 2, s2)
        deviations[name] = compress_rows(np.sqrt(plan.batches) * variances)
    return deviations


def _imgm_code(
    plan: Gradients, epsilon: float, delta: float, *, steps_are_batches: bool = False
) -> Deviations:
    """Return the noise of IMGM in the code: divided by the root of the batch.

    Commits 25619af, f3b9c7a and d6f80ce count lots as steps. Commits 01cf855, 2157e3f and 2b7b36e
    count batches; their noise is sqrt(lot / batch) times as large.
    """
    steps_per_lot = plan.batches if steps_are_batches else 1.0
    batch = plan.lot / plan.batches
    factor = plan.rate * np.sqrt(steps_per_lot * plan.batches / batch)
    return _theorem_4(plan, epsilon, delta, factor=float(factor))


_pld = partial(_accounted, accountant=accountants.pld_epsilon)

SCHEMES = {
    "gaussian_2014": Scheme(_classical),
    "analytic_gaussian": Scheme(_analytic),
    "matrix_mechanism": Scheme(_classical),
    "mvg_iid": Scheme(partial(_mvg, allocation=IID)),
    "mvg_binary": Scheme(partial(_mvg, allocation=FIRST_TWO)),
    "imgm": Scheme(_theorem_4),
    "imgm_amplified": Scheme(_imgm_amplified),
    "moments_accountant": Scheme(partial(_accounted, accountant=accountants.rdp_epsilon)),
    "pld_gaussian": Scheme(_pld),
    "banded": Scheme(_pld, _in_turn),
    "gaussian_code": Scheme(_moments_code),
    "mvg_code": Scheme(_mvg_code),
    "imgm_code": Scheme(_imgm_code),
    "imgm_code_batch_steps": Scheme(partial(_imgm_code, steps_are_batches=True)),
}
