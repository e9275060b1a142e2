"""Second moments from a private mean and the clipped second moments about it.

Where records lie far from zero, their mean is most of their norm. A ball around zero that clips
none of them then requires much noise. Here the mean c is released first, and the ball lies around
it. Private estimators of a Gaussian's covariance do the same (Kamath, Li, Singhal & Ullman, COLT
2019; Biswas, Dong, Kamath & Ullman, NeurIPS 2020). The estimate of X X^T / n is c c^T plus the
second moments about c. Where the mean is near zero, its share of the budget is wasted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.clipped import (
    PrivatelyClipped,
    PrivatelyClippedMoments,
    Selection,
    clipped,
    records_of,
)
from matrixdp.mechanisms.gaussian import orthogonal_ensemble
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.mechanisms.moments import LEAST
from matrixdp.mechanisms.programs import Ask, Part, Program, Records, answered
from matrixdp.mechanisms.ridge import lifted, moments_ridge
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import (
    MeanQuery,
    Query,
    RecordsQuery,
    SecondMomentQuery,
)


@dataclass(frozen=True)
class CentreQuery(MeanQuery):
    """The mean of the records x, or of (x, 1) where their number is private.

    The last entry of the latter says by what sums over the stated number are to be divided.
    """

    def terms(self, rows: Array) -> Array:
        """Return what records (k, m) add, one per row."""
        return np.column_stack([rows, np.ones(len(rows))]) if self.add_or_remove else rows

    @property
    def mean_of_terms(self) -> MeanQuery:
        """The mean of what records add."""
        return MeanQuery(self.domain, self.n_records, self.adjacency, per_person=self.per_person)

    def value(self, records: Array) -> Array:
        """Return the mean of records (..., m, n) as a column, with the entry for their number."""
        mean = records.sum(axis=-1, keepdims=True) / self._count(records)
        if not self.add_or_remove:
            return np.asarray(mean)
        share = np.full((*mean.shape[:-2], 1, 1), records.shape[-1] / self.n_records)
        return np.concatenate([mean, share], axis=-2)


@dataclass(frozen=True, kw_only=True, eq=False)
class CentredMoments(Program):
    """Second moments about a private mean, with the square of the mean added.

    ``query`` is the identity query, because the release reads the records. Only the mechanism knows
    the size of its noise, so that it adds the ridge of
    :func:`~matrixdp.mechanisms.ridge.moments_ridge` itself.

    ``centre_std`` is the standard deviation of the noise of an entry of the mean. ``about`` is the
    release of the second moments of records minus the mean.
    """

    centre_std: float
    about: AdditiveGaussian | PrivatelyClippedMoments
    output_type = "second_moments"
    batches = moves_records = True

    @property
    def add_or_remove(self) -> bool:
        """Whether the number of records is private."""
        about = self.about
        return about.add_or_remove if isinstance(about, Program) else about.query.add_or_remove

    @LazyProperty
    def mean(self) -> AdditiveGaussian:
        """The first part."""
        query = self.query
        relation = query.n_records, self.adjacency
        near = SecondMomentQuery(query.domain, *relation, per_person=query.per_person)
        return self.noisy_mean(mean_query(near), self.centre_std)

    @property
    def parts(self) -> list[Part]:
        """The mean, and the parts of the second moments about it."""
        about = self.about
        rest = about.parts if isinstance(about, Program) else [Part("moments", (about,))]
        return [Part("mean", (self.mean,)), *rest]

    @property
    def drawn(self) -> int | None:
        """How many normal numbers a release draws: those of the mean, and of the other parts."""
        about = self.about
        rest = about.drawn if isinstance(about, Program) else math.prod(about.noise.shape)
        return None if rest is None else math.prod(self.mean.noise.shape) + rest

    def run(self, records: Records, ask: Ask) -> Selection:
        """Return the noisy centre, and the noisy second moments about it."""
        noisy = ask(self.mean, records.value(self.mean.query))[..., 0]
        weight: Any = 1.0
        if self.mean.query.add_or_remove:
            counts = np.maximum(noisy[..., -1:], LEAST)
            noisy = noisy[..., :-1] / counts
            weight = float(counts[0]) if counts.ndim == 1 else counts[..., 0]
        # The point of the public domain that is nearest to the noisy mean.
        centre = self.query.domain.clip(noisy[..., None])[..., 0]
        offsets = records.about(centre)
        if isinstance(self.about, Program):
            return self.about.run(offsets, ask)._replace(centre=centre, weight=weight)
        # Records themselves need no clipping: their ball has the diameter of the domain.
        moments = answered(self.about, offsets, ask)
        ridge = moments_ridge(self.about.noise_std, self.query.features)
        return Selection(0, moments, ridge, weight, centre)

    def released(self, outcome: Selection) -> Array:
        """Return the second moments with their ridge, plus the square of the centre."""
        moments, centre = lifted(outcome.moments, outcome.ridge), outcome.centre
        return np.asarray(moments + centre[..., None] * centre[..., None, :])


@dataclass(frozen=True)
class Centred(Mechanism):
    """A private mean, then clipped second moments about it, each with half of mu^2.

    mu^2 adds up even where the second release depends on the first (Dong, Roth & Su, JRSS B 2022,
    Corollary 3.3). Where the number of records is public, the second release is always calibrated
    to replacement: a record set to zero is not zero about the mean. A record that is added or
    removed changes the second moments about a given mean by its own square alone.

    Args:
        squared_radius_fraction: R^2 over the largest squared distance of two records, at most 1;
            None for the radius that :class:`~matrixdp.mechanisms.clipped.PrivatelyClipped` chooses.
    """

    squared_radius_fraction: float | None = None
    queries = frozenset({SecondMomentQuery})
    sensitivity_only = True

    def __post_init__(self) -> None:
        if self.squared_radius_fraction is not None:
            checks.fraction(squared_radius_fraction=self.squared_radius_fraction)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> CentredMoments:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, SecondMomentQuery)
        mu = gaussian_dp.mu(*budget)
        part_mu = float(mu / np.sqrt(2))
        widest = Ball(RecordsQuery(query.domain, query.n_records).l2_sensitivity, query.features)
        # Given the mean, a record that is added adds its own square; a null record is not zero.
        adjacency = query.adjacency if query.add_or_remove else "replace"
        about_mean = SecondMomentQuery(
            widest, query.n_records, adjacency, per_person=query.per_person
        )
        about: AdditiveGaussian | PrivatelyClippedMoments
        if self.squared_radius_fraction is None:
            about = PrivatelyClipped().spending(about_mean, part_mu, budget)
        else:
            about = orthogonal_ensemble(
                clipped(about_mean, self.squared_radius_fraction), part_mu, budget
            )
        per_record = replace(records_of(mean_query(query)), per_person=None)
        std = per_record.l2_sensitivity / query.effective_records / part_mu
        records = records_of(query)
        return CentredMoments.from_mu(mu, budget, query=records, centre_std=std, about=about)


def mean_query(query: SecondMomentQuery) -> CentreQuery:
    """Return the mean of the records, or of (x, 1), with its bounds."""
    domain = query.domain
    if query.add_or_remove:
        if isinstance(domain, Ball):
            domain = Ball(float(np.hypot(domain.radius, 1)), query.features + 1)
        else:
            # The last entry is always 1. These bounds leave a symmetric box symmetric.
            domain = Box((*domain.lower, -1.0), (*domain.upper, 1.0))
    return CentreQuery(domain, query.n_records, query.adjacency, per_person=query.per_person)
