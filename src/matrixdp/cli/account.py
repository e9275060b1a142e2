"""Show what the releases of a file have spent, and what is left.

The argument is the file of records, its account, or the specification of a release. Nothing is
charged, and the records are not read.
"""

from __future__ import annotations

from pathlib import Path


def run(file: str) -> None:
    """Print the total of an account, its releases, and the largest release that still fits.

    Args:
        file: the file of records, its account, or a specification (.toml)
    """
    from matrixdp.checks import InputError
    from matrixdp.release import ledger, tables
    from matrixdp.release.specification import read_all

    if Path(file).suffix == ".toml":
        spec = read_all(Path(file))[0]
        found = ledger.AccountFile(ledger.account_path(spec.file, spec.account), spec.file)
    else:
        found = ledger.find(Path(file))
    path, records = found
    account = ledger.read(path)
    if account is None:
        if records is None:
            raise InputError(f"{path} is not there; give the file of records, or its account")
        tables.check(records)
        print(f"{path} is not there: nothing is spent, and the first release states the total")
        return
    for line in ledger.summary(account):
        print(line)
