"""The black box looks at the statistic that distinguishes the neighbours best."""

from dataclasses import dataclass

import numpy as np
import pytest

from matrixdp.auditing.projection import BlackBoxAudit
from matrixdp.auditing.statistics import PROJECTION
from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import Box, MeanQuery, Query

QUERY = MeanQuery(Box.cube(8, -1.0, 1.0), 1)


@dataclass(frozen=True)
class Simulated:
    """A release whose noise is that of ``size``, which maps the exact value to its size."""

    size: object
    query: Query = QUERY
    epsilon: float = 1.0
    epsilon_delivered: float = 1.0
    delta: float = 1e-3

    def simulate(self, value: Array, stream: np.random.Generator, count: int) -> Array:
        """Return simulated releases, (count, m, 1)."""
        return value + self.size(value) * stream.standard_normal((count, *value.shape))


def wide(value):
    """Return a size that depends on the value: what the norm shows, and the projection hardly."""
    return 50.0 if value[0, 0] > 0 else 80.0


@pytest.mark.parametrize(
    ("size", "name"), [(wide, "the norm"), (lambda _: 5.0, PROJECTION)], ids=["size", "mean"]
)
def test_the_clearest_statistic_is_chosen(size, name):
    audit = BlackBoxAudit(Simulated(size))
    first, second = audit._values
    statistics = audit._statistics
    chosen = audit.statistic(1000, np.random.default_rng(1))
    runs = np.random.default_rng(1)
    sides = [audit.release.simulate(value, runs, 1000)[:, :, 0] for value in (first, second)]
    for numbers, side in zip(chosen, sides, strict=True):
        assert np.allclose(numbers, statistics[name](side))
