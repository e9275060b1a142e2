"""Mean products of every two columns, and what derives from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import Output
from matrixdp.release.uncertainty import ALONE, KEY, LEVEL
from matrixdp.release.words import table


@dataclass(frozen=True, kw_only=True)
class Products(Output):
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


@dataclass(frozen=True, kw_only=True)
class SecondMoments(Products):
    """Second moments about zero, (m, m)."""

    name = "second_moments"
    title = "mean products of every two columns"
    named_rows = True
    number, small = "mean square", "mean square"
    root = "root mean square"
    loss_unit = "relative error"
    lost = 0.3

    def _units(self, features: int) -> tuple[Box | Ball, Array, Array]:
        sizes = self.box.magnitudes
        sides = (self.box.lower / sizes, self.box.upper / sizes)
        return Box(*(side.tolist() for side in sides)), np.zeros(len(sizes)), sizes

    def answer(self, noisy: Noisy) -> Array:
        """Return second moments (m, m) in products of the columns' units."""
        return noisy.value * np.outer(self.half, self.half)

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return bounds on the noise at the private radius of a release in parts."""
        return self.widths(noisy.part, shrinks=noisy.shrinks) if noisy.outcome else {}

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return bounds on the noise of each entry."""
        widths = part.interval(LEVEL) * np.outer(self.half, self.half)
        key = f"{ALONE if shrinks else KEY}_plus_or_minus"
        return {key: table(self.columns, widths)}

    def loss(self, rows: Array, answers: Array) -> float:
        """Return the Frobenius norm of the error, over that of the exact matrix."""
        records = rows / self.half
        exact = records.T @ records / len(records)
        return relative_error(answers / np.outer(self.half, self.half) - exact, exact)


def relative_error(errors: Array, exact: Array) -> float:
    """Return the median Frobenius norm of errors (draws, m, m), over that of a matrix."""
    sizes = np.linalg.norm(errors, axis=(1, 2))
    return float(np.median(sizes) / np.linalg.norm(exact))
