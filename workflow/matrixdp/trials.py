"""The shape of trial rows: what every experiment writes, and every summary reads.

One row per trial, or one that says in ``note`` why there is none. An empty cell is a number that
does not exist: a reference row has no epsilon, noise without a Gaussian form no ``mu_actual``.
"""

from __future__ import annotations

#: Columns of a trial file, in order.
COLUMNS = (
    *("experiment", "dataset", "data_status", "mechanism", "variant", "direction", "reading"),
    *("epsilon", "delta", "epsilon_actual", "mu_actual", "mu_exact", "noise_std"),
    *("phase", "trial", "metric", "value", "note"),
)
