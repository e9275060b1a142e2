"""Exact claims of the papers, and errors in them, as numbers that the ledger of claims rests on."""

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

    ``check`` is its name, which claims and errata refer to; see :class:`Number` for the rest.
    Checks of packages that are not installed are left out.
    """
    checks = CHECKS | (exact_errata.PEERS if exact_errata.installed() else {})
    return pd.concat([evaluate(name, check, seed) for name, check in checks.items()])


def controls(seed: int) -> pd.DataFrame:
    """Return what altered statements change in the checks (see :class:`Check`), one row each.

    ``changed`` of the ``numbers`` no longer hold, or do so now; ``holds``: whether all do.
    """
    rows = []
    for name, check in CHECKS.items():
        plain = check(_stream(name, seed))
        for altered in check.altered:
            found = check(_stream(name, seed), altered)
            pairs = zip(plain, found, strict=True)
            changed = sum(one.holds != other.holds for one, other in pairs)
            rows.append((name, altered, changed, len(plain), all(one.holds for one in found)))
    return pd.DataFrame(rows, columns=["check", "altered", "changed", "numbers", "holds"])


def evaluate(name: str, check: Check, seed: int) -> pd.DataFrame:
    """Return the rows of one check (see :func:`exact`)."""
    rows = [(name, *number, number.holds) for number in check(_stream(name, seed))]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def names() -> list[str]:
    """Return the names of all checks, those of packages that may be missing too."""
    return [*CHECKS, *exact_errata.PEERS]


def _stream(name: str, seed: int) -> np.random.Generator:
    (stream,) = seeds.streams(seed, "theory", "exact", name, trials=[0])
    return stream


THEORY = {"exact": exact, "controls": controls}
