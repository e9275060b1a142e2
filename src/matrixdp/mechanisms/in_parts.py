"""Real releases in several parts, each part with noise that is safe on a real computer.

Each part is a Gaussian release. Later parts may depend on the answers of earlier ones: mu^2 adds up
nevertheless (Dong, Roth & Su, JRSS B 2022, Corollary 3.3). Records enter through the answers alone,
so that all other steps are post-processing.

The parts of :class:`ComposedMoments` are the mean, the numbers of records by length, and the second
moments of records clipped to the radius that these numbers select.

Where the number of records is private, all parts are sums over the stated number. The mean is that
of (x, 1): its last entry says by what the sums are to be divided. Without a mean the numbers by
length say it, whose sum is the number of records.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import library
from matrixdp.checks import Array, InputError
from matrixdp.isolation import isolate
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.centred import CentredMoments, CentreQuery
from matrixdp.mechanisms.clipped import (
    PrivatelyClippedMoments,
    ShellQuery,
    records_of,
)
from matrixdp.mechanisms.mechanism import (
    CalibratedMechanism,
    Mechanism,
    NoGuarantee,
    PrivacyStatement,
    delta_for_noise,
)
from matrixdp.mechanisms.parts import parts_mu
from matrixdp.mechanisms.programs import Part, Question, Records
from matrixdp.mechanisms.promise import promised
from matrixdp.mechanisms.release import Rows
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums, gaussian_dp
from matrixdp.privacy.quadratic import UPWARDS
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery

#: Maps a release of a part and its exact value to the noisy value.
AddNoise = Callable[[AdditiveGaussian, Array], Array]

#: Queries whose exact values are sums. Noise has no margin for the error of any other value.
SUMS = {CentreQuery, ShellQuery, SecondMomentQuery}

#: Why a release in parts has no guarantee.
OTHER = "the parts are calibrated to another query; calibrate them to this one"


@dataclass(frozen=True)
class Blocks(Records):
    """Records of a real release, whose exact values are sums of integers.

    ``rows`` returns them within the public bounds, in blocks (k, m); each call starts anew.
    """

    rows: Rows

    def value(self, query: Query) -> Array:
        """Return the exact value of a query (m, n).

        Raises:
            InputError: as :func:`matrixdp.privacy.exact_sums.value`.
        """
        if isinstance(query, ShellQuery):
            # Whole numbers, which float64 adds up without rounding.
            return sum((query.value(rows.T) for rows in self.rows()), np.zeros(query.shape))
        if isinstance(query, CentreQuery):
            return exact_sums.value(query.mean_of_terms, map(query.terms, self.rows()))
        return exact_sums.value(query, self.rows())

    def about(self, centre: Array) -> Blocks:
        """Return the records minus a centre (m,)."""
        return Blocks(lambda: (block - centre for block in self.rows()))


class Outcome(NamedTuple):
    """Second moments (m, m) of clipped records about a centre (m,), as they were released.

    ``moments_std`` and ``centre_std`` are root mean squares of an entry's noise as drawn, with its
    :attr:`~matrixdp.mechanisms.additive.AdditiveMechanism.rounding_factor`. The latter is 0
    where records are clipped about zero. All values are in the unit of the records. The moments are
    still to be divided by ``weight``: the noisy number of records over the stated one, if it is
    private. ``beyond`` is the noisy share of records beyond the radius, of the stated number, and
    ``beyond_std`` the standard deviation of its noise; both are 0 at the largest radius.
    """

    moments: Array
    moments_std: float
    radius: float
    centre: Array
    centre_std: float
    weight: float = 1.0
    beyond: float = 0.0
    beyond_std: float = 0.0


@isolate
@dataclass(frozen=True)
class ComposedMoments:
    """Second moments of records clipped to a private radius, about a private mean or about zero.

    Attributes:
        query: the query, with the public bounds of the calibration.
        epsilon, delta: the guarantee, which includes the sampler's part of delta.
        program: the mechanism's program, which simulations and audits run too.

    Raises:
        InputError: the class does not release such a program.
        NoGuarantee: the parts do not give the guarantee.
    """

    query: SecondMomentQuery
    epsilon: float
    delta: float
    program: CentredMoments | PrivatelyClippedMoments

    def __post_init__(self) -> None:
        self._require_parts()

    def _require_parts(self) -> None:
        """Check that the parts have the noise that they state, and give the guarantee together.

        Each draw and each charge comes here. The program is read anew: it may have been changed in
        place, and what is checked must be what is drawn.

        Raises:
            InputError: as the class.
            NoGuarantee: as the class, or as :func:`matrixdp.mechanisms.proofs.require`.
        """
        chooser(self.program)
        if self.program.query != records_of(self.query):
            raise NoGuarantee(OTHER)
        releases = [release for part in self.parts for release in part.releases]
        for query in (release.query for release in releases):
            if type(query) not in SUMS:
                raise InputError(
                    f"noise has no margin for the rounding of {query.name}, which is no exact sum; "
                    "simulate this release, or take Centred() or PrivatelyClipped()"
                )
        for release in releases:
            proofs.require(release)
        centred = isinstance(self.program, CentredMoments)
        mus = parts_mu(self.parts, self.program.query, self.query.adjacency, centred=centred)
        total_mu = float(np.linalg.norm(mus))
        if np.isnan(total_mu):
            raise NoGuarantee(OTHER)
        if not total_mu <= self.mu * UPWARDS:
            raise NoGuarantee(f"the parts spend mu {total_mu:.4g} of {self.mu:.4g} together")
        delivered = gaussian_dp.delta(self.epsilon_delivered, self.mu) + self.extra_delta
        if not (
            self.epsilon_delivered <= self.epsilon * (1 + 1e-9) + 1e-11
            and delivered <= self.delta * UPWARDS
        ):
            raise NoGuarantee(
                f"the parts deliver delta {delivered:.4g} at epsilon {self.epsilon_delivered:.4g}, "
                f"and not {self.delta:g} at {self.epsilon:g}; calibrate them to this guarantee"
            )

    @property
    def parts(self) -> list[Part]:
        """The parts in their order."""
        return self.program.parts

    def run(self, rows: Rows, answer: AddNoise | None = None) -> Outcome:
        """Return the outcome of one release.

        Args:
            rows: the records, which are clipped to the public bounds.
            answer: adds a part's noise. By default its bits are those of the operating system; an
                audit replays other noise.

        Raises:
            InputError: as :func:`matrixdp.privacy.exact_sums.value` and :meth:`check`. Or the
                program asks for more than its parts, each once and in their order. What an account
                was charged stays: earlier parts have been answered.
        """
        self._require_parts()
        lengths: list[Array] = []
        parts = iter(self.parts)

        def ask(question: Question, value: Array) -> Array:
            # Another question is refused before its noise, as no guarantee covers its answer.
            part = next(parts, None)
            if not any(question is release for release in (part.releases if part else ())):
                due = f"the part {part.name!r} is due" if part else "all parts have been answered"
                raise InputError(
                    f"the program asks for more than it declares: {due}; declare each question in "
                    "`parts`, in the order in which they are asked"
                )
            assert isinstance(question, AdditiveGaussian)
            noisy = answer(question, value) if answer else question.add_noise(value, os.urandom)
            if isinstance(question.query, ShellQuery):
                lengths.append(noisy[:, 0])
            return noisy

        domain = self.query.domain
        records = Blocks(lambda: (domain.clip(block.T).T for block in rows()))
        outcome = self.program.run(records, ask)
        number, n_records = outcome.number, self.query.n_records
        release = self.radii[number]
        # Shell j lies outside the radius of number j + 1.
        beyond = float(lengths[0][:number].sum())
        return Outcome(
            moments=outcome.moments,
            moments_std=release.noise_std * release.rounding_factor,
            radius=release.query.domain.radius,
            centre=outcome.centre,
            centre_std=self.centre_std,
            weight=outcome.weight,
            beyond=beyond / n_records,
            beyond_std=self.count_std * np.sqrt(number) / n_records,
        )

    def prepare(self, rows: Rows) -> Callable[[], Outcome]:
        """Read the records once, so that bad ones end it; return a function that runs a release."""
        for _ in exact_sums.clipped(self.query, rows()):
            pass
        return lambda: self.run(rows)

    @property
    def of_library(self) -> bool:
        """Whether it and its program are, see :attr:`CalibratedMechanism.of_library`."""
        return library.owns(self) and library.plain(self.query) and self.program.of_library

    @property
    def radii(self) -> tuple[AdditiveGaussian, ...]:
        """The second moments at each radius, the largest first."""
        return chooser(self.program).candidates

    @property
    def widest(self) -> AdditiveGaussian:
        """The second moments at the largest radius, which have the largest noise."""
        return self.radii[0]

    def at(self, radius: float) -> AdditiveGaussian:
        """Return the second moments at a radius, one of those of ``radii``."""
        (part,) = (part for part in self.radii if part.query.domain.radius == radius)
        return part

    @property
    def noise_std(self) -> float:
        """Noise of an entry of the second moments at the largest radius."""
        return self.widest.noise_std

    @property
    def centre_std(self) -> float:
        """Noise of an entry of the mean as it is drawn, 0 where records are clipped about zero."""
        if not isinstance(self.program, CentredMoments):
            return 0.0
        return self.program.centre_std * self.program.mean.rounding_factor

    @property
    def count_std(self) -> float:
        """Noise of a number of records by length, as it is drawn."""
        inner = chooser(self.program)
        return inner.count_std * inner.lengths.rounding_factor

    @property
    def weight_std(self) -> float:
        """Noise of the number of records over the stated one, 0 where it is public."""
        if not self.query.add_or_remove:
            return 0.0
        shells = float(np.sqrt(len(self.radii)))
        return self.centre_std or shells * self.count_std / self.query.n_records

    @property
    def mu(self) -> float:
        """The mu of all parts together."""
        assert self.program.mu is not None
        return self.program.mu

    @property
    def epsilon_delivered(self) -> float:
        """The epsilon that is delivered at ``delta``."""
        return self.program.epsilon_delivered

    @property
    def costs(self) -> list[dict[str, Any]]:
        """What each part spends, as receipts and accounts state it."""
        return [
            {"part": part.name, "mu": part.mu, "share": (part.mu / self.mu) ** 2}
            for part in self.parts
        ]

    @property
    def numbers(self) -> int:
        """The largest number of random numbers of all parts."""
        return sum(part.numbers for part in self.parts)

    @property
    def extra_delta(self) -> float:
        """The sampler's part of delta."""
        return safe.extra_delta(self.epsilon_delivered, self.numbers)

    @property
    def statement(self) -> PrivacyStatement:
        """The privacy statement of a release.

        Raises:
            NoGuarantee: as :meth:`check`.
        """
        self._require_parts()
        return PrivacyStatement.of(self, self.delta, self.mu)

    def check(self) -> None:
        """Check that safe noise exists for every part.

        Raises:
            InputError: as :meth:`matrixdp.mechanisms.additive.AdditiveMechanism.check`.
            NoGuarantee: the parts do not give the guarantee.
        """
        self._require_parts()
        for part in self.parts:
            for release in part.releases:
                _ = release.rounding_factor
        safe.table(safe.NORMAL)

    def release(self, records: ArrayLike) -> Outcome:
        """Return the outcome of one release for real use of records, one per row (n, m).

        Raises:
            InputError: as :func:`matrixdp.privacy.exact_sums.value`.
        """
        blocks = list(exact_sums.clipped(self.query, [records]))
        return self.run(lambda: blocks)

    @classmethod
    def calibrated(
        cls, mechanism: Mechanism, query: SecondMomentQuery, *, epsilon: float, delta: float
    ) -> Self:
        """Return the release of a mechanism that leaves the sampler its part of delta.

        Raises:
            InputError: a number is out of range, or there is no safe noise at this guarantee. Or
                the mechanism releases no moments at a private radius.
        """
        whole: Any = promised(mechanism, query, epsilon=epsilon, delta=delta)
        chooser(whole)
        remainder = delta_for_noise(epsilon, delta, sum(part.numbers for part in whole.parts)) * (
            1 - 1e-9
        )
        release = promised(mechanism, query, epsilon=epsilon, delta=remainder)
        composed = cls(query, epsilon, delta, release)  # type: ignore[arg-type]
        composed.check()
        return composed


def chooser(program: CalibratedMechanism) -> PrivatelyClippedMoments:
    """Return what chooses a private radius; InputError: nothing of the program does."""
    inner = program.about if isinstance(program, CentredMoments) else program
    if not isinstance(inner, PrivatelyClippedMoments):
        raise InputError(
            f"{type(inner).__name__} does not release second moments at a private radius; take "
            "Centred() or PrivatelyClipped()"
        )
    return inner
