"""Releases from Python: of a specification's file, of a data frame or of an array."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.isolation import isolate
from matrixdp.privacy import cells
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE
from matrixdp.release import (
    bounds,
    choices,
    missing,
    parser,
    plans,
    tables,
)
from matrixdp.release.account import Account
from matrixdp.release.answer import Answer
from matrixdp.release.comparison import Option
from matrixdp.release.keys import Settings
from matrixdp.release.outputs import Bounds, Output

#: Keys of a specification that say nothing of records in memory.
_OF_FILES = ("file", "separator", "decimal")


@isolate
def make_release(
    source: Any,
    *,
    account: str | os.PathLike | Account | None = None,
    out: str | os.PathLike | None = None,
    even_if_useless: bool = False,
    **settings: Unpack[Settings],
) -> Answer:
    """Make one private release, with its receipt, as `matrixdp release` does.

    The path of a TOML file is the same transaction as on the command line: its account is charged,
    a copy of the answer stays beside the account, and a repeated request gets this copy at no cost.

    **Without an account nothing counts a release of a data frame or an array**: each call then
    spends its epsilon and delta again, also of the same request. With one each call is charged
    before its noise is drawn, and the account keeps the answer beside it. No other file is written.

    Args:
        source: path of a TOML file; or a data frame, whose columns go by their names; or an array
            (n, columns), whose columns go by their numbers from 0. One record per row.
        account: for records in memory, an :class:`~matrixdp.release.account.Account` or the path
            of its file; a new one needs ``total={"epsilon": ..., "delta": ...}``.
        out: folder for the files of the release of a TOML file, if they are wanted.
        even_if_useless: whether to pay for a release whose noise hides everything.
        settings: for records in memory, the keys of a TOML file, see own_matrix.md. Needed are
            ``query`` ("records", "mean", "second_moments", "covariance", "components", ``number``
            of them, or "regression" with a ``target``), ``bounds``, ``epsilon`` and ``missing``
            ("refuse", "middle", a number per column, or "present" for a mean); what else stands for
            a missing value is in ``missing_values``, as ``[-999, "?"]``. ``mechanism`` is a key
            that :func:`recommend` prints; ``delta``, ``label`` and the like are as there.
            ``person``, ``per_person`` and ``adjacency`` go together; ``max_norm`` is a public l2
            norm of records, beside their bounds. ``bounds`` is a dictionary
            ``{column: (lowest, highest)}``, which selects the columns, or has one of the other
            forms of an estimator's. ``records`` is the number of rows, which counts as public;
            under ``add_or_remove`` and with ``person`` it must be stated.

    Returns:
        ``answer``, ``details``, ``receipt``, ``page`` and ``notes``, see
        :class:`~matrixdp.release.answer.Answer`.

    Raises:
        InputError: as `matrixdp release`; no message shows a value of the records.

    >>> records = np.random.default_rng(1).uniform((0, 0), (120, 200_000), (400, 2))
    >>> public = {0: (0, 120), 1: (0, 200_000)}
    >>> mean = mdp.make_release(records, query="mean", bounds=public, epsilon=1, missing="refuse")
    >>> mean.receipt["mechanism"]
    'laplace'
    """
    return _make(_request(source, account, {**settings}), account, out, even_if_useless)


def _make(
    spec: Output,
    account: str | os.PathLike | Account | None,
    out: str | os.PathLike | None,
    even_if_useless: bool,
) -> Answer:
    """Make the release of a specification, of a file or of records in memory."""
    even_if_useless = checks.flag(even_if_useless=even_if_useless)
    if spec.in_file:
        folder = None if out is None else Path(out)
        return plans.make(spec, folder, even_if_useless=even_if_useless)
    if out is not None:
        raise InputError("out has no meaning for records in memory; save the answer yourself")
    books = _account(spec, account)
    return plans.make(spec, None, books, even_if_useless=even_if_useless)


@isolate
def private_bounds(
    source: Any,
    *,
    account: str | os.PathLike | Account | None = None,
    out: str | os.PathLike | None = None,
    even_if_useless: bool = False,
    **settings: Unpack[Settings],
) -> Answer:
    """Find bounds of columns in private, as `matrixdp bounds` does.

    It is a release of its own, whose ``answer`` is a dictionary ``{column: (lowest, highest)}`` of
    the bounds that were found. Give it to :func:`make_release` or an estimator as ``bounds``, with
    the same account: a receipt then says by which charge they were found.

    Args:
        source, account, out, even_if_useless: as of :func:`make_release`.
        settings: for records in memory, the keys of a TOML file: ``columns`` (None takes all),
            ``epsilon`` and ``missing``, and ``delta``, ``label``, ``person`` and the like. State a
            ``delta`` where releases with one follow: beside a pure release they may not fit, see
            ``pure`` of :class:`~matrixdp.release.account.Account`.

    Raises:
        InputError: as :func:`make_release`.

    >>> records = np.random.default_rng(1).uniform(20, 60, (2000, 1))
    >>> bounds = mdp.private_bounds(records, epsilon=1, missing="refuse")
    >>> [*bounds.answer]
    ['0']
    """
    stated: dict[str, Any] = {**settings}
    if not isinstance(source, str | os.PathLike):
        stated = parser.with_bounds_query(stated)
    spec = _request(source, account, stated, parser.read_bounds)
    return _make(spec, account, out, even_if_useless)


@isolate
def recommend(
    source: Any, *, account: str | os.PathLike | Account | None = None, **settings: Unpack[Settings]
) -> list[Option]:
    """Return the mechanisms for a release, the one that it takes first, as `matrixdp recommend`.

    This is the rule of every door: of what leaves most room in the account, the least typical
    loss over records that fill little or much of their bounds, see
    :mod:`matrixdp.release.outlooks`; where nothing is simulated, the least noise. No value of the
    records is read, and nothing is charged.

    Args:
        source, account, settings: as of :func:`make_release`. Of an array or a data frame only its
            columns and its number of rows count.

    Returns:
        All options that fit the account, by that rule; those that leave less room come last.
        ``print(option)`` gives the key for ``mechanism=`` of each, what its noise means for the
        answer, in its unit, and the typical loss that decides (``option.typical_loss``).

    Raises:
        InputError: as :func:`make_release`; no mechanism fits the account.

    >>> records = np.zeros((2126, 21))
    >>> public = {"bounds": (0, 1), "epsilon": 1, "missing": "refuse"}
    >>> print(mdp.recommend(records[:, :2], query="mean", **public)[0])
    laplace: noise of +- 0.00133 in the mean of 0, +- 0.00133 in the mean of 1; certified
    """
    spec = _request(source, account, {**settings})
    books = None if spec.in_file else _account(spec, account)
    return [option for option, _ in choices.rank(spec, books)]


def _request(
    source: Any,
    account: object,
    settings: dict[str, Any],
    read: Callable[[Path], Output] = parser.read,
) -> Output:
    """Return the specification of a release of a file, as ``read``, or of records in memory."""
    if not isinstance(source, str | os.PathLike):
        return _specification(source, settings)
    if settings or account is not None:
        name = next(iter(settings), "account")
        raise InputError(f"{name} has no meaning beside {source}; state it in that TOML file")
    return read(Path(source))


def _specification(frame: Any, settings: dict[str, Any]) -> Output:
    """Return the specification that the settings of records in memory make."""
    cells.check_container(frame, "source")
    # A lazy frame has no length.
    if not (
        (hasattr(frame, "columns") and hasattr(frame, "__len__")) or isinstance(frame, np.ndarray)
    ):
        raise InputError(
            f"source is a {type(frame).__name__}; give the path of a TOML file, a data frame or an "
            "array"
        )
    if "groups" in settings:
        raise InputError(
            "groups has no meaning here; add person = the column that identifies people, with "
            "per_person and adjacency"
        )
    parser.check_names(settings)
    for key in _OF_FILES:
        if key in settings:
            raise InputError(f"{key} has no meaning for records in memory; leave it out")
    if settings.get("missing") is None:
        raise InputError(missing.UNSTATED)
    table = {key: _plain(value, key) for key, value in settings.items() if value is not None}
    # Columns of arrays have numbers.
    table |= {key: str(table[key]) for key in ("person", "target") if key in table}
    labels = [label for label in tables.labels(frame) if str(label) != table.get("person")]
    # An array is compared entry by entry.
    if isinstance(table.get("query"), str) and table["query"] == Bounds.name:
        columns = table.get("columns", labels)
        if isinstance(columns, Iterable) and not isinstance(columns, str | bytes):
            columns = [*map(str, columns)]
        table["columns"] = columns
    else:
        table["bounds"] = _sides(settings.get("bounds"), labels)
    if "records" not in table:
        # Another type is refused with its name; an array would be compared entry by entry.
        adjacency = table.get("adjacency")
        if "person" in table or (isinstance(adjacency, str) and adjacency == ADD_OR_REMOVE):
            raise InputError(
                "records is missing; state the public number of rows that count, or a guess of it "
                "under add_or_remove"
            )
        table["records"] = len(frame)
    name = Path("the data frame" if hasattr(frame, "columns") else "the array")
    spec = parser.from_table(name, {**table, "file": str(name)})
    return replace(spec, frame=frame)


def _sides(stated: Any, labels: list[Any]) -> dict[str, Any]:
    """Return the bounds by column as a TOML file would give them."""
    labels = [*stated] if isinstance(stated, Mapping) else labels
    return {str(label): [*pair] for label, pair in bounds.by_column(stated, labels).items()}


def _plain(value: Any, name: str) -> Any:
    """Return a setting as a TOML file would give it, whose keys are texts."""
    if isinstance(value, Mapping):
        texts = [*map(str, value)]
        if twice := [text for text in texts if texts.count(text) > 1]:
            raise InputError(
                f"{name} has the key {twice[0]!r} twice, as a text and as a number; leave one out"
            )
        return {str(key): _plain(item, name) for key, item in value.items()}
    if isinstance(value, list | tuple) and name == "missing_values":
        return [_plain(item, name) for item in value]
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, Real | Decimal) and not isinstance(value, int | float):
        # What is no finite number stays, for its check to refuse.
        with contextlib.suppress(ValueError, OverflowError):
            return int(value) if isinstance(value, Integral) else float(value)
    return value


def _account(spec: Output, account: str | os.PathLike | Account | None) -> Account | None:
    if isinstance(account, Account) or account is None:
        if spec.total:
            raise InputError(
                "total has no meaning without the path of an account; add account = ..., or leave "
                "it out"
            )
        return account
    adjacency, person = spec.relation
    return Account(account, **(spec.total or {}), adjacency=adjacency, person=person)
