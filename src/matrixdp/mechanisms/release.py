"""What a real release has, whether its noise is drawn at once or in several parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from matrixdp.checks import Array
from matrixdp.mechanisms.mechanism import PrivacyStatement
from matrixdp.privacy.sensitivity import Query

if TYPE_CHECKING:
    from matrixdp.mechanisms.additive import AdditiveMechanism

#: Returns the records in blocks (k, m); each call starts anew.
Rows = Callable[[], Iterable[Array]]


class Release(Protocol):
    """A calibrated mechanism that answers, and is charged, for real.

    :class:`~matrixdp.mechanisms.additive.AdditiveMechanism` adds noise to one value, and
    :class:`~matrixdp.mechanisms.in_parts.ComposedMoments` answers in parts.
    """

    @property
    def query(self) -> Query:
        """The query, with the public bounds of the calibration."""

    @property
    def epsilon(self) -> float:
        """Epsilon of the guarantee."""

    @property
    def delta(self) -> float:
        """Delta of the guarantee, 0 of pure differential privacy."""

    @property
    def mu(self) -> float | None:
        """The mu of all noise together; None of Laplace noise."""

    @property
    def epsilon_delivered(self) -> float:
        """The epsilon that is delivered at ``delta``."""

    @property
    def noise_std(self) -> float:
        """Root mean square of an entry's noise, of the moments at the largest radius in parts."""

    @property
    def centre_std(self) -> float:
        """Noise, as it is drawn, of an entry of a mean that is released before; 0 where none is."""

    @property
    def weight_std(self) -> float:
        """Noise of the number of records over the stated one, of parts that release it; or 0."""

    @property
    def of_library(self) -> bool:
        """Whether classes of the library alone calibrated it and draw its noise."""

    @property
    def widest(self) -> AdditiveMechanism:
        """What adds the noise of the answer, at the largest radius in parts."""

    @property
    def costs(self) -> list[dict[str, Any]]:
        """What each part spends, as receipts and accounts state it; none of a single part."""

    @property
    def numbers(self) -> int:
        """The largest number of random numbers that it draws."""

    @property
    def extra_delta(self) -> float:
        """The sampler's part of delta."""

    @property
    def statement(self) -> PrivacyStatement:
        """The privacy statement of a release."""

    def at(self, radius: float) -> AdditiveMechanism:
        """Return what adds the noise of the answer where records are clipped to a radius."""

    def check(self) -> None:
        """Check that it has the noise that it states, and that this can be drawn.

        Raises:
            InputError: it has not, or there is no safe noise.
        """

    def prepare(self, rows: Rows) -> Callable[[], Any]:
        """Read the records, and return a function that draws the release of them.

        Bad records are refused here, before any noise is drawn.
        """

    def release(self, records: ArrayLike) -> Any:
        """Return one release for real use of records, one per row (n, m)."""
