"""All records, with noise on every value."""

from __future__ import annotations

from dataclasses import dataclass

from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import RecordsQuery
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import Output


@dataclass(frozen=True, kw_only=True)
class Records(Output):
    """Noisy records, one a row, (n, m)."""

    name = "records"
    title = "all records, with noise on every value"
    query_type = RecordsQuery
    number, small = "value", "difference"
    number_phrase = "each value"

    @property
    def remedies(self) -> str:
        """What helps where noise hides everything; means have less of it."""
        return super().remedies + "release means instead of records, "

    def answer(self, noisy: Noisy) -> Array:
        """Return noisy records (n, m) in the columns' units."""
        return self.unscale(noisy.value)
