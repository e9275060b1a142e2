"""Releases from Python: of a specification's file, of a data frame or of an array."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from numbers import Integral, Number, Real
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from matrixdp import checks
from matrixdp.checks import InputError, as_input_error
from matrixdp.isolation import isolate
from matrixdp.privacy import cells, exact_sums
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE
from matrixdp.release import (
    bounds,
    choices,
    missing,
    parser,
    plans,
    records,
    storage,
    tables,
    toml,
)
from matrixdp.release.account import Account
from matrixdp.release.answer import Answer
from matrixdp.release.comparison import Option
from matrixdp.release.keys import QueryName, Settings
from matrixdp.release.outputs import Bounds, Counts, Moments, Output, serves_present
from matrixdp.release.outputs.output import CLIPPED
from matrixdp.release.sums import Identities, Sums

#: Keys that a release of merged sums states, and sums of a part do not.
_OF_RELEASES = ("epsilon", "delta", "total", "label", "mechanism")
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
) -> Answer | Any:
    """Make one private release, with its receipt, as `matrixdp release` does.

    The path of a TOML file is the same transaction as on the command line: its account is charged,
    a copy of the answer stays beside the account, and a repeated request gets this copy at no cost.

    **Without an account nothing counts a release of a data frame or an array**: each call then
    spends its epsilon and delta again, also of the same request. With one each call is charged
    before its noise is drawn, and the account keeps the answer beside it. No other file is written.

    Args:
        source: path of a TOML file; or a data frame, or a table of pyarrow, whose columns go by
            their names; or an array (n, columns), whose columns go by their numbers from 0. One
            record per row. Or merged sums of parts, see :func:`sums`, with ``epsilon``, ``delta``,
            ``total``, ``label`` and ``mechanism`` alone.
        account: for records in memory, an :class:`~matrixdp.release.account.Account` or the path
            of its file; a new one needs ``total={"epsilon": ..., "delta": ...}``.
        out: folder for the files of the release of a TOML file, if they are wanted.
        even_if_useless: whether to pay for a release whose noise hides everything.
        settings: for records in memory, the keys of a TOML file, see own_matrix.md. Needed are
            ``query`` ("records", "mean", "counts", "second_moments", "covariance", "components",
            ``number`` of them, or "regression" with a ``target``; or a list of "mean" and the last
            three, which are read from one release at one charge), ``bounds``, ``epsilon`` and
            ``missing`` ("refuse", "middle", a number per column, or "present" for a mean); what
            else stands for a missing value is in ``missing_values``, as ``[-999, "?"]``. Means and
            counts by group have ``by``, a column, and its public ``categories``, as
            ``{"region": ["north", "south"]}``; counts need nothing else. ``mechanism`` is a key
            that :func:`recommend` prints; ``delta``, ``label`` and the like are as there.
            ``person``, ``per_person`` and ``adjacency`` go together; ``max_norm`` is a public l2
            norm of records, beside their bounds. ``bounds`` is a dictionary
            ``{column: (lowest, highest)}``, which selects the columns, or has one of the other
            forms of an estimator's. ``records`` is the number of rows, which counts as public;
            under ``add_or_remove`` and with ``person`` it must be stated.

    Returns:
        ``answer``, ``details``, ``receipt``, ``page`` and ``notes``, see
        :class:`~matrixdp.release.answer.Answer`; of a list of queries a dictionary with one of
        these for each, by its name.

    Raises:
        InputError: as `matrixdp release`; no message shows a value of the records.

    >>> records = np.random.default_rng(1).uniform((0, 0), (120, 200_000), (400, 2))
    >>> public = {0: (0, 120), 1: (0, 200_000)}
    >>> mean = mdp.make_release(records, query="mean", bounds=public, epsilon=1, missing="refuse")
    >>> mean.receipt["mechanism"]
    'laplace'
    """
    spec = _request(source, account, {**settings})
    answers = _make(spec, account, out, even_if_useless)
    if isinstance(spec, Moments):
        return dict(zip(spec.answers, answers, strict=True))
    (answer,) = answers
    return answer


@isolate
def sums(
    query: QueryName | Sequence[QueryName],
    block: Any,
    /,
    *,
    account: str | os.PathLike | None = None,
    part: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    **settings: Unpack[Settings],
) -> Sums:
    """Return the exact sums of a part of the records, for a release of all parts together.

    ``+`` merges the sums of parts in any order, in any process, and ``make_release(merged,
    epsilon=..., ...)`` releases them: the answer has the distribution of one release of all
    records, as the sums are equal to the last bit. Sums are as secret as the records.

    Each release of merged sums is charged, a repeated one too, as of all records in memory.

    **A part must be merged once.** Each has two identities: what it holds, records in their order,
    and where it lies. ``+`` refuses parts that share one: a task that ran twice, or a copy.

    Args:
        query: as of :func:`make_release`; ``mean``, ``second_moments``, ``covariance``,
            ``components`` or ``regression``, or a list of several.
        block: the part: a data frame, an array (n, columns), or the path of a file in the folder
            of all parts.
        account: path of the account that a release will be charged to. Parts in memory need one,
            the same for all; of files it is that of their folder.
        part: name of the part, as the number of a partition, by which a task that ran twice is
            recognised where it reads its records in another order.
        separator, decimal: how a file of CSV is written, as in a TOML file.
        settings: the keys of a request but those of its budget. ``records`` is the public number
            of records of all parts together, which a release checks.

    Raises:
        InputError: as :func:`make_release`, of the records of this part; or a key of the budget,
            ``person``, or ``missing="present"`` is stated.

    >>> records = np.random.default_rng(1).uniform(0, 1, (400, 2))
    >>> keys = {"bounds": (0, 1), "records": 400, "missing": "refuse", "account": "a.privacy.json"}
    >>> merged = sum(mdp.sums("mean", block, **keys) for block in np.split(records, 4))
    >>> merged
    Sums(for 'mean', as secret as the records)
    """
    stated: dict[str, Any] = {**settings}
    if "query" in stated:
        raise InputError("query is stated twice; leave query= out")
    for key in _OF_RELEASES:
        if stated.get(key) is not None:
            raise InputError(
                f"{key} has no meaning for sums of a part; state it in make_release of all parts"
            )
    for key in ("person", "per_person"):
        if stated.get(key) is not None:
            raise InputError(
                f"{key} has no meaning for sums of parts, as a person may have rows in several; "
                "release the folder of all parts as one file"
            )
    if isinstance(stated.get("missing"), str) and stated["missing"] == missing.PRESENT:
        raise InputError(
            f"missing is {missing.PRESENT!r}, which sums of parts do not serve; release the folder "
            "of all parts as one file"
        )
    if stated.get("by") is not None or (isinstance(query, str) and query == Counts.name):
        raise InputError(
            "by has no meaning for sums of parts, as the weight of counts depends on the mechanism "
            "of the release; release the folder of all parts as one file"
        )
    if stated.get("missing") is None:
        raise InputError(missing.unstated(present=False))
    if stated.get("records") is None:
        raise InputError("records is missing; state the public number of records of all parts")
    is_file = isinstance(block, str | os.PathLike)
    if not is_file:
        _check_source(block, "block", "the path of one part")
    if not is_file and account is None:
        raise InputError(
            "account is missing; state the path of the account that a release of all parts is "
            'charged to, as account = "visits.privacy.json", the same for each part'
        )
    if account is not None and not isinstance(account, str | os.PathLike):
        raise InputError(f"account is {checks.shown(account)}; give the path of an account")
    names = [] if part is None else [checks.text(part=part)]
    account_name = "" if account is None else os.fspath(account)
    written = {"separator": separator, "decimal": decimal}
    stated |= {key: mark for key, mark in written.items() if mark is not None}
    stated |= {"query": query, "epsilon": 1.0}
    if is_file:
        place = Path(block).absolute()
        if tables.suffix(place) in tables.OTHERS:
            tables.check_format(place)
        if place.is_dir() or tables.suffix(place) not in tables.PARTS:
            raise InputError(
                f"{block} is no part of {' or '.join(tables.PARTS)}; give the path of each part in "
                "turn, or records in memory with account = ..."
            )
        spec = _of_part(place, stated)
        account_name = str(
            storage.account_path(place.parent, None if account is None else Path(account))
        )
        if not storage.is_beside(place.parent, Path(account_name)):
            # A release of the folder, or of this part alone, then finds this account.
            storage.mark(place, Path(account_name))
        names.append(os.path.realpath(place))
    else:
        spec = _specification(block, stated)
    if isinstance(spec, Bounds) or spec.name == "records":
        raise InputError(f"query is {spec.name!r}, which is no sum of records; ask for another one")
    identities = Identities(names)
    rows = (spec.scaled(identities.note(rows)) for rows in records.read_blocks(spec))
    count, steps = exact_sums.steps(spec.query, rows)
    terms = {key: value for key, value in spec.terms.items() if key not in (*_OF_FILES, "epsilon")}
    return Sums(_request_of_sums(spec), terms, account_name, identities.parts, count, steps)


def _of_part(file: Path, settings: dict[str, Any]) -> Output:
    """Return the specification of a file that is a part."""
    parser.check_names(settings)
    if "file" in settings:
        raise InputError("file has no meaning beside the path of a part; leave it out")
    if not isinstance(settings.get("bounds"), Mapping):
        raise InputError(
            "bounds of a file are by column; give a dictionary {column: (lowest, highest)}"
        )
    table = {key: _plain(value, key) for key, value in settings.items() if value is not None}
    table["bounds"] = _sides(settings["bounds"], [])
    return parser.from_table(file, {**table, "file": str(file)})


def _of_sums(merged: Sums, settings: dict[str, Any]) -> Output:
    """Return the specification of a release of merged sums."""
    parser.check_names(settings)
    for key, value in settings.items():
        if key not in _OF_RELEASES and value is not None:
            raise InputError(
                f"{key} has no meaning beside sums of parts, which were summed for what they were "
                "asked; state it in mdp.sums"
            )
    table = {key: _plain(value, key) for key, value in settings.items() if value is not None}
    mechanism = table.get("mechanism")
    if isinstance(mechanism, str) and mechanism == CLIPPED:
        raise InputError(
            f"mechanism is {CLIPPED!r}, which reads the records several times, and sums of parts "
            "are read once; take another one, or release the folder of all parts as one file"
        )
    name = Path("the sums of parts")
    _check_sums(merged, name)
    spec = parser.from_table(name, {**merged.table, **table, "file": str(name)})
    return replace(spec, frame=merged, merged=True)


def _check_sums(merged: Sums, name: Path) -> None:
    """Check that sums are of the request that was summed for: noise is calibrated to it.

    Raises:
        InputError: their table, or the form of their numbers, was changed.
    """
    changed = "the sums are not as mdp.sums made them, or as they were saved; sum the parts again"
    with as_input_error(changed):
        request = parser.from_table(name, {**merged.table, "epsilon": 1.0, "file": str(name)})
        fits = merged.steps.shape == request.query.shape
        fits &= all(type(number) is int for number in (merged.count, *merged.steps.flat))
        if not fits or _request_of_sums(request) != merged.request:
            raise InputError(changed)


def _request_of_sums(spec: Output) -> str:
    """Return the digest of a request, whose parts may be written in several ways."""
    stated = {"file": None, "dialect": None, "missing_values": spec.terms.get("missing_values")}
    return storage.digest({**spec.request(Path()), **stated})


def _make(
    spec: Output,
    account: str | os.PathLike | Account | None,
    out: str | os.PathLike | None,
    even_if_useless: bool,
) -> list[Answer]:
    """Make the release of a specification, of a file or of records in memory.

    ``account`` is None of a file, which has its own, see :func:`_request`.

    Raises:
        InputError: as :func:`make_release`.
    """
    even_if_useless = checks.flag(even_if_useless=even_if_useless)
    if out is not None and not isinstance(out, str | os.PathLike):
        raise InputError(f"out is {checks.shown(out)}; give the path of a folder")
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
    (answer,) = _make(spec, account, out, even_if_useless)
    return answer


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
        toml.check(Path(source))
        name = next(iter(settings), "account")
        raise InputError(f"{name} has no meaning beside {source}; state it in that TOML file")
    return read(Path(source))


def _specification(frame: Any, settings: dict[str, Any]) -> Output:
    """Return the specification that the settings of records in memory make."""
    if isinstance(frame, Sums):
        return _of_sums(frame, settings)
    _check_source(frame)
    if "groups" in settings:
        raise InputError(
            "groups has no meaning here; add person = the column that identifies people, with "
            "per_person and adjacency"
        )
    parser.check_names(settings)
    for key in _OF_FILES:
        if key in settings:
            raise InputError(f"{key} has no meaning for records in memory; leave it out")
    # An array is compared entry by entry.
    query = settings["query"] if isinstance(settings.get("query"), str) else ""
    if settings.get("missing") is None and query != Counts.name:
        raise InputError(missing.unstated(present=serves_present(settings)))
    table = {key: _plain(value, key) for key, value in settings.items() if value is not None}
    # Columns of arrays have numbers.
    for key in {"person", "target", "by"} & {*table}:
        table[key] = _column_name(key, table[key], tables.labels(frame))
    apart = table.get("person"), table.get("by")
    labels = [label for label in tables.labels(frame) if str(label) not in apart]
    if query == Bounds.name:
        columns = table.get("columns", labels)
        if isinstance(columns, Iterable) and not isinstance(columns, str | bytes):
            columns = [*map(str, columns)]
        table["columns"] = columns
    elif query != Counts.name:
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


def _check_source(
    frame: Any, name: str = "source", others: str = "the path of a TOML file"
) -> None:
    """Check that an argument is a data frame or an array; messages name ``others`` beside these.

    Raises:
        InputError: it is not.
    """
    cells.check_container(frame, name)
    is_frame = hasattr(frame, "columns") and hasattr(frame, "__len__")
    if not is_frame and not isinstance(frame, np.ndarray):
        raise InputError(
            f"{name} is a {type(frame).__name__}; give {others}, a data frame or an array"
        )


def _sides(stated: Any, labels: list[Any]) -> dict[str, Any]:
    """Return the bounds by column as a TOML file would give them."""
    labels = [*stated] if isinstance(stated, Mapping) else labels
    return {str(label): [*pair] for label, pair in bounds.by_column(stated, labels).items()}


def _column_name(key: str, value: object, labels: Sequence[object]) -> str:
    """Return the text of a label of a column.

    Raises:
        InputError: it is no label, as records that are given in its place; no message shows them.
    """
    is_label = isinstance(value, tuple) and value in labels
    if not (is_label or isinstance(value, str | Number | np.generic | date)):
        raise InputError(
            f"{key} is {checks.shown(value)}; give the name of a column, and the records with "
            "this column as the source"
        )
    return str(value)


def _plain(value: Any, name: str) -> Any:
    """Return a setting as a TOML file would give it, whose keys are texts."""
    if isinstance(value, Mapping):
        texts = [*map(str, value)]
        if twice := [text for text in texts if texts.count(text) > 1]:
            raise InputError(
                f"{name} has the key {twice[0]!r} twice, as a text and as a number; leave one out"
            )
        return {str(key): _plain(item, name) for key, item in value.items()}
    if isinstance(value, list | tuple) and name in ("missing_values", "query", "categories"):
        return [_plain(item, name) for item in value]
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, Real | Decimal) and not isinstance(value, int | float):
        # What is no finite number stays, for its check to refuse.
        with contextlib.suppress(ValueError, OverflowError):
            return int(value) if isinstance(value, Integral) else float(value)
    return value


def _account(spec: Output, account: str | os.PathLike | Account | None) -> Account | None:
    if isinstance(spec.frame, Sums):
        if account is not None:
            raise InputError(
                f"account has no meaning beside sums of parts, which name theirs, "
                f"{spec.frame.account}; leave it out"
            )
        account = spec.frame.account
    if isinstance(account, Account) or account is None:
        if spec.total:
            raise InputError(
                "total has no meaning without the path of an account; add account = ..., or leave "
                "it out"
            )
        return account
    adjacency, person = spec.relation
    return Account(account, **(spec.total or {}), adjacency=adjacency, person=person)
