"""Exact claims of the papers and their errors, as numbers for the ledger of claims."""

from __future__ import annotations

import pandas as pd

from reproduction import seeds
from reproduction.theory import chance, exact_errata, exact_imgm, exact_mvg, radii, rank_one
from reproduction.theory.numbers import Check

CHECKS: dict[str, Check] = {
    **exact_mvg.CHECKS,
    **exact_imgm.CHECKS,
    **radii.CHECKS,
    **exact_errata.CHECKS,
    **chance.CHECKS,
    **rank_one.CHECKS,
}

COLUMNS = ("check", "statistic", "value", "relation", "expected", "tolerance", "holds")


def exact(seed: int) -> pd.DataFrame:
    """Return the numbers of every check, one row each.

    ``check`` is the name by which claims and errata refer to it; see :class:`Number` for the rest.
    """
    rows = [
        (name, *number, number.holds)
        for name, check in CHECKS.items()
        for number in check(seeds.streams(seed, "theory", "exact", name, trials=[0])[0])
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


THEORY = {"exact": exact}
