"""The conformance suite over the library's mechanisms, and that each of its checks can fail."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import conformance
import numpy as np
import pytest
from conformance import Case

from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.mechanism import Mechanism


@pytest.mark.parametrize(("check", "case"), conformance.rows(conformance.library_mechanisms()))
def test_conformance(check, case):
    check(case)


GAUSSIAN = Gaussian()


@dataclass(frozen=True)
class Changed(Mechanism):
    """Another mechanism, whose budget or release is changed."""

    release: Callable[[Any], Any] = lambda release: release
    epsilon: Callable[[float], float] = float
    mechanism: Mechanism = GAUSSIAN
    queries = Gaussian.queries
    sensitivity_only = True

    def calibrate(self, query, *, epsilon, delta):
        return self.release(
            self.mechanism.calibrate(query, epsilon=self.epsilon(epsilon), delta=delta)
        )


class QuietNoise(AdditiveGaussian):
    """Draws 1 % less noise than it declares."""

    def _draw(self, value, generator, count):
        return value + 0.99 * (super()._draw(value, generator, count) - value)


class OneDraw(AdditiveGaussian):
    """Gives the noise of the first release to all."""

    def _draw(self, value, generator, count):
        return np.repeat(super()._draw(value, generator, count)[:1], count, axis=0)


def less(release):
    """Declare what is calibrated, with 1 % less noise."""
    return replace(release, noise=release.noise.times(0.99))


@pytest.mark.parametrize(
    ("check", "mechanism"),
    [
        (conformance.check_calibration, Changed(less)),
        (
            conformance.check_calibration,
            Changed(
                lambda release: replace(release, count_std=0.99 * release.count_std),
                mechanism=PrivatelyClipped(),
            ),
        ),
        (conformance.check_calibration, Changed(epsilon=lambda epsilon: 1.01 * epsilon)),
        (conformance.check_deviation, Changed(less)),
        (conformance.check_law, Changed(lambda release: QuietNoise(**vars(release)))),
        (conformance.check_draws, Changed(lambda release: OneDraw(**vars(release)))),
        (
            conformance.check_noise_falls_with_epsilon,
            Changed(epsilon=lambda epsilon: epsilon / (1 + 3 * (epsilon > 1))),
        ),
        (conformance.check_refusals, Changed(epsilon=lambda epsilon: 1.0)),
    ],
)
def test_every_check_refuses_a_mechanism_that_is_a_little_wrong(check, mechanism):
    composed = isinstance(mechanism.mechanism, PrivatelyClipped)
    query = conformance.QUERIES[7 if composed else 0]
    check(Case(mechanism.mechanism, query))
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(Case(mechanism, query))
