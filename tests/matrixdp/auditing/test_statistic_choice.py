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
    """Return a size that depends on the value: what the projection hardly shows."""
    return 50.0 if value[0, 0] > 0 else 80.0


@pytest.mark.parametrize(("size", "alone"), [(wide, False), (lambda _: 5.0, True)])
def test_another_statistic_than_the_projection_is_chosen_where_it_is_clearly_stronger(size, alone):
    audit = BlackBoxAudit(Simulated(size))
    first, second = audit.statistic(1000, np.random.default_rng(1))
    runs = np.random.default_rng(1)
    # The runs again, which the projection alone shows where only the mean differs.
    for value, numbers in zip(audit._values, (first, second), strict=True):
        released = audit.release.simulate(value, runs, 1000)[:, :, 0]
        projection = audit._statistics[PROJECTION](released)
        assert np.allclose(numbers, projection) == alone
