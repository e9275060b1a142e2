"""Show what the releases of a file have spent, and what is left.

The argument is the file of records, its account, or the specification of a release. Nothing is
charged, and the records are not read.

An epsilon holds at its delta. A release spends less at the delta of the total than its own epsilon,
which is stated at a smaller delta: it can be above what is left, and fit.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matrixdp.release.storage import AccountFile


#: Of an account that nothing beside the records links to.
_ELSEWHERE = "; where a specification names another account, ask by that specification"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the verb to a parser."""
    text = "the file of records, its account, or a specification (.toml)"
    parser.add_argument("file", help=text)


def run(file: str, *, json: bool) -> None:
    """Print the total of an account, its releases, and the largest release that still fits."""
    from matrixdp.cli import terminal
    from matrixdp.release import ledger, storage

    (path, records, _), parts = _find(Path(file))
    account = storage.read(path)
    if account is None:
        _refuse_lost(path, records, parts)
    if json:
        facts = ledger.content(account) if account else {"releases": []}
        for release in facts["releases"]:
            del release["request"], release["answer"]
        terminal.show({"account": str(path), **facts})
    elif account is None:
        sentence = "nothing is spent, and the first release states the total"
        print(
            f"{path} is not there: {sentence}{'' if _is_specification(Path(file)) else _ELSEWHERE}"
        )
    else:
        for line in ledger.summary(account):
            print(line)


def _find(file: Path) -> tuple[AccountFile, tuple[str, ...]]:
    """Return the account that a release would charge, and the parts of its records.

    These are those that ``file = [...]`` lists; none stand for all of a folder.
    """
    from matrixdp.release import storage
    from matrixdp.release.parser import read_all

    if not _is_specification(file):
        return storage.find(file), ()
    # All releases of a file share one account.
    spec = read_all(file)[0]
    path = storage.account_path(spec.file, spec.account)
    return storage.AccountFile(path, spec.file), spec.parts


def _is_specification(file: Path) -> bool:
    """Return whether a file is TOML, also by another name: an account is a JSON object."""
    from matrixdp.release import tables

    kind = tables.suffix(file)
    if kind in (".toml", ".json", *tables.SUFFIXES) or not file.is_file():
        return kind == ".toml"
    with file.open("rb") as content:
        return not content.read(1 << 10).lstrip().startswith(b"{")


def _refuse_lost(path: Path, records: Path | None, parts: tuple[str, ...]) -> None:
    """Refuse a path without an account that was lost, or where none could be begun.

    Raises:
        InputError: the account was lost, its folder or the records are not there.
    """
    import os

    from matrixdp.checks import InputError
    from matrixdp.release import storage, tables

    if records is None:
        raise InputError(f"{path} is not there; give the file of records, or its account")
    tables.check(records, parts)
    beside = storage.default_path(records)
    if os.path.lexists(beside):
        raise InputError(
            f"{path} is not there, though {beside} links to it; restore it, as a new account would "
            "forget what is spent"
        )
    if not path.parent.is_dir():
        raise InputError(
            f"{path} is not there, and neither is its folder; correct account, or make the folder"
        )
