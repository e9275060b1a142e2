"""Exact claims of the papers and their errors, as numbers for the ledger of claims."""

from __future__ import annotations

import numpy as np
import pandas as pd

from matrixdp import seeds
from matrixdp.theory import chance, exact_errata, exact_imgm, exact_mvg, rank_one
from matrixdp.theory.numbers import Check

CHECKS: dict[str, Check] = {
    **exact_mvg.CHECKS,
    **exact_imgm.CHECKS,
    **exact_errata.CHECKS,
    **chance.CHECKS,
    **rank_one.CHECKS,
}

COLUMNS = ("check", "statistic", "value", "relation", "expected", "tolerance", "holds")


def exact(seed: int) -> pd.DataFrame:
    """Return the numbers of every check, one row each.

    ``check`` is the name by which claims and errata refer to it; see :class:`Number` for the rest.
    Checks of packages that are not installed are omitted.
    """
    checks = CHECKS | (exact_errata.PEERS if exact_errata.installed() else {})
    return pd.concat([evaluate(name, check, seed) for name, check in checks.items()])


def controls(seed: int) -> pd.DataFrame:
    """Return the effect of altered statements on the checks (see :class:`Check`), one row each.

    ``changed`` counts the ``numbers`` whose verdict differs; ``holds``: whether all of them hold.
    """
    rows = []
    for name, check in CHECKS.items():
        numbers = check(_stream(name, seed))
        for altered in check.altered:
            altered_numbers = check(_stream(name, seed), altered)
            pairs = zip(numbers, altered_numbers, strict=True)
            changed = sum(before.holds != after.holds for before, after in pairs)
            all_hold = all(number.holds for number in altered_numbers)
            rows.append((name, altered, changed, len(numbers), all_hold))
    return pd.DataFrame(rows, columns=["check", "altered", "changed", "numbers", "holds"])


def evaluate(name: str, check: Check, seed: int) -> pd.DataFrame:
    """Return the rows of one check (see :func:`exact`)."""
    rows = [(name, *number, number.holds) for number in check(_stream(name, seed))]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def names() -> list[str]:
    """Return the names of all checks, including those of packages that may be missing."""
    return [*CHECKS, *exact_errata.PEERS]


def _stream(name: str, seed: int) -> np.random.Generator:
    (stream,) = seeds.streams(seed, "theory", "exact", name, trials=[0])
    return stream


THEORY = {"exact": exact, "controls": controls}
