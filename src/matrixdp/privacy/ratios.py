"""Sums of values beside weighted counts of them, whose ratios are means."""

from __future__ import annotations

import abc

import numpy as np

from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import MeanQuery


class RatioQuery(MeanQuery):
    """Sums of values s in [-1, 1] and w times their counts, over n, where w is a weight.

    The domain is a box. A record adds one of some states of it, and what is no state is made one,
    so that no records change the value by more.
    """

    @property
    @abc.abstractmethod
    def columns(self) -> int:
        """Number of columns of values."""

    @property
    @abc.abstractmethod
    def weight(self) -> float:
        """What a value adds beside itself, w."""

    @abc.abstractmethod
    def terms(self, rows: Array) -> Array:
        """Return what records add, one per row of the domain."""

    @abc.abstractmethod
    def states(self, rows: Array) -> Array:
        """Return rows of the domain as what records can add; each follows from its row alone."""

    @abc.abstractmethod
    def ratio_variances(self, variances: Array) -> Array:
        """Return variances of ratios to first order, at their worst; one per column, (m, 1).

        Args:
            variances: of the entries' noise, one per feature, (features, 1).
        """

    @property
    def l2_sensitivity(self) -> float:
        """L2 sensitivity: with unit variances mu is the norm of the change."""
        return self.directional_mu(np.ones(self.features)).value

    def value(self, records: Array) -> Array:
        """Return the sums and weighted counts of records (..., features, n), over n."""
        return super().value(np.swapaxes(self.states(np.swapaxes(records, -1, -2)), -1, -2))
