"""What derives from mean products of every two columns."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.release.outputs.output import Output


@dataclass(frozen=True, kw_only=True)
class Products(Output, abc.ABC):
    """An answer from second moments, whose numbers have the squared units of the columns."""

    query_type = SecondMomentQuery
    unit = "the squared unit of the column"
    cell = "mean square"

    @property
    def sizes(self) -> Array:
        """Squared units of the columns."""
        return self.half**2

    @property
    def _ends(self) -> tuple[Array, Array]:
        return np.zeros(len(self.half)), self.sizes

    @property
    def _noise_key(self) -> str:
        return f"noise_std_of_{self.number or 'mean square'}s_in_{self.unit}".replace(" ", "_")
