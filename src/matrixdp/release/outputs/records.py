"""All records, with noise on every value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.privacy.sensitivity import RecordsQuery
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import Output
from matrixdp.release.outputs.words import by_name
from matrixdp.release.uncertainty import KEY, LEVEL


@dataclass(frozen=True, kw_only=True)
class Records(Output):
    """Noisy records, one a row, (n, m)."""

    name = "records"
    title = "all records, with noise on every value"
    query_type = RecordsQuery
    number, small = "value", "difference"
    number_phrase = "each value"
    alternative = "release means instead of records, "

    def answer(self, noisy: Noisy) -> Array:
        """Return noisy records (n, m) in the columns' units."""
        return noisy.value * self.half + self.middle

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return bounds on the noise by column, alike for all records."""
        return {f"{KEY}_plus_or_minus": by_name(self.columns, part.interval(LEVEL)[0] * self.half)}
