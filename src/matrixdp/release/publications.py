"""Releases from Python: of a specification's file, of a data frame or of an array."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import Array, InputError
from matrixdp.release import bounds, missing, release, specification, tables
from matrixdp.release.account import Account

#: Keys of a specification that say nothing of records in memory.
_OF_FILES = ("file", "separator", "decimal")


@dataclass(frozen=True, repr=False)
class Publication:
    """What a release says; all of it may be shown.

    Attributes:
        answer: the private numbers as the CSV file has them: a data frame of pandas, or without
            pandas a dictionary with ``columns``, ``index`` (names of the rows, or None) and
            ``values``, an array (rows, columns). None where no private bounds were found, which the
            last note says.
        details: what depends on the answer, as the details in JSON have it: intervals, private
            bounds, parts; empty where the receipt has all.
        receipt: the guarantee and the noise, as the receipt in JSON has them.
        page: the receipt as Markdown.
        notes: messages for the owner of the records, a sentence each.
    """

    answer: Any
    details: dict[str, Any]
    receipt: dict[str, Any]
    page: str
    notes: list[str]

    def __repr__(self) -> str:
        return f"{self.answer}\n{self.receipt['says']}"


def make_release(
    source: Any,
    *,
    account: str | os.PathLike | Account | None = None,
    out: str | os.PathLike | None = None,
    even_if_useless: bool = False,
    **settings: Any,
) -> Publication:
    """Make one private release, with its receipt, as `matrixdp release` does.

    The path of a TOML file is the same transaction as on the command line: its account is charged,
    a copy of the answer stays beside the account, and a repeated request gets this copy at no cost.

    **Without an account nothing counts a release of a data frame or an array**: each call then
    spends its epsilon and delta again, also of the same request. With one each call is charged
    before its noise is drawn. No file is written but the account's.

    Args:
        source: path of a TOML file; or a data frame, whose columns go by their names; or an array
            (n, columns), whose columns go by their numbers from 0. One record per row.
        account: for records in memory, an :class:`~matrixdp.release.account.Account` or the path
            of its file; a new one needs ``total={"epsilon": ..., "delta": ...}``.
        out: folder for the files of the release of a TOML file, if they are wanted.
        even_if_useless: whether to pay for a release whose noise hides everything.
        settings: for records in memory, the keys of a TOML file, see own_matrix.md: ``query``,
            ``bounds``, ``epsilon`` and ``missing`` are needed, and ``delta``, ``mechanism``,
            ``target``, ``label`` and the like are as there. ``bounds`` is a dictionary ``{column:
            (lowest, highest)}``, which selects the columns, or has one of the other forms of an
            estimator's. ``records`` is the number of rows, which counts as public; under
            ``add_or_remove`` and with ``person`` it must be stated.

    Returns:
        ``answer``, ``details``, ``receipt``, ``page`` and ``notes``, see
        :class:`~matrixdp.release.publications.Publication`.

    Raises:
        InputError: as `matrixdp release`; no message shows a value of the records.

    >>> records = np.random.default_rng(1).uniform((0, 0), (120, 200_000), (400, 2))
    >>> public = {0: (0, 120), 1: (0, 200_000)}
    >>> mean = mdp.make_release(records, query="mean", bounds=public, epsilon=1, missing="refuse")
    >>> mean.receipt["mechanism"]
    'laplace'
    """
    if isinstance(source, str | os.PathLike):
        if settings or account is not None:
            name = next(iter(settings), "account")
            raise InputError(f"{name} has no meaning beside {source}; state it in that TOML file")
        spec = specification.read(Path(source))
        folder = None if out is None else Path(out)
        result = release.make(spec, folder, even_if_useless=even_if_useless)
    else:
        if out is not None:
            raise InputError("out has no meaning for records in memory; save the answer yourself")
        spec = _specification(source, settings)
        ledger_of = _account(spec, account)
        result = release.make_in_memory(spec, ledger_of, even_if_useless=even_if_useless)
    return _publication(spec.query_name, result)


def _specification(frame: Any, settings: dict[str, Any]) -> specification.Specification:
    """Return the specification that the settings of records in memory make."""
    if not (hasattr(frame, "columns") or isinstance(frame, np.ndarray)):
        raise InputError(
            f"source is a {type(frame).__name__}; give the path of a TOML file, a data frame or an "
            "array"
        )
    for key in _OF_FILES:
        if key in settings:
            raise InputError(f"{key} has no meaning for records in memory; leave it out")
    if settings.get("missing") is None:
        raise InputError(missing.UNSTATED)
    table = {key: _plain(value, key) for key, value in settings.items() if value is not None}
    # Columns of arrays have numbers.
    table |= {key: str(table[key]) for key in ("person", "target") if key in table}
    labels = [label for label in tables.labels(frame) if str(label) != table.get("person")]
    if table.get("bounds") == specification.PRIVATE:
        table.setdefault("columns", [*map(str, labels)])
    else:
        table["bounds"] = _sides(settings.get("bounds"), labels)
    if "records" not in table:
        if "person" in table or table.get("adjacency") == "add_or_remove":
            raise InputError(
                "records is missing; state the public number of rows that count, or a guess of it "
                "under add_or_remove"
            )
        table["records"] = len(frame)
    name = Path("the data frame" if hasattr(frame, "columns") else "the array")
    spec = specification.from_table(name, {**table, "file": str(name)})
    return replace(spec, frame=frame)


def _sides(stated: Any, labels: list[Any]) -> dict[str, Any]:
    """Return the bounds by column as a TOML file would give them; private ones are texts."""
    if not isinstance(stated, Mapping):
        pairs = bounds.by_column(stated, labels)
        return {str(label): [*pair] for label, pair in pairs.items()}
    public = {label: sides for label, sides in stated.items() if not isinstance(sides, str)}
    pairs = bounds.by_column(public, [*public])
    return {str(label): [*pairs.get(label, ())] or sides for label, sides in stated.items()}


def _plain(value: Any, name: str) -> Any:
    """Return a setting as a TOML file would give it, whose keys are texts."""
    if isinstance(value, Mapping):
        texts = [*map(str, value)]
        if twice := [text for text in texts if texts.count(text) > 1]:
            raise InputError(
                f"{name} has the key {twice[0]!r} twice, as a text and as a number; leave one out"
            )
        return {str(key): _plain(item, name) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _account(
    spec: specification.Specification, account: str | os.PathLike | Account | None
) -> Account | None:
    if isinstance(account, Account) or account is None:
        if spec.total:
            raise InputError(
                "total has no meaning without the path of an account; add account = ..., or leave "
                "it out"
            )
        return account
    neighbours, person = spec.relation
    return Account(account, **(spec.total or {}), adjacency=neighbours, person=person)


def _publication(query_name: str, result: release.Result) -> Publication:
    texts = {name.removeprefix(query_name): text for name, text in result.texts.items()}
    receipt, page = json.loads(texts[".receipt.json"]), texts[".receipt.md"]
    details = json.loads(texts.get(".details.json", "{}"))
    if ".csv" not in texts:
        return Publication(None, details, receipt, page, [*result.notes, result.says])
    return Publication(_table(texts[".csv"]), details, receipt, page, result.notes)


def _table(text: str) -> Any:
    """Return the table of a CSV text, whose first column names the rows if its head is empty."""
    header, *lines = csv.reader(io.StringIO(text))
    first = header[0] == ""
    names = [line[0] for line in lines] if first else None
    values: Array = np.array([[float(cell or "nan") for cell in line[first:]] for line in lines])
    try:
        import pandas as pd
    except ImportError:
        return {"columns": header[first:], "index": names, "values": values}
    return pd.DataFrame(values, columns=header[first:], index=names)
