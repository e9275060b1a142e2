"""Show what the releases of a file have spent, and what is left.

The argument is the file of records, or the account itself. Nothing is charged, and the records are
not read.
"""

from __future__ import annotations

from pathlib import Path


def run(file: str) -> None:
    """Print the total of an account, its releases, and the largest release that still fits.

    Args:
        file: the file of records, or the account itself
    """
    from matrixdp.release import ledger

    place = ledger.find(Path(file)).path
    account = ledger.read(place)
    if account is None:
        print(f"{place} is not there: nothing is spent, and the first release states the total")
        return
    for line in ledger.summary(account):
        print(line)
