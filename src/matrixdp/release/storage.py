"""Accounts and paid answers on the disk: where they lie, and how they are read and written.

A release is a transaction under the account's lock. The charge is on the disk before noise is
drawn, and the answer is on the disk, beside the account, before anybody sees it. An answer belongs
to one charge; a repeated request gets the answer that was paid for.
"""

from __future__ import annotations

import contextlib

# Before any fork: a child whose parent imports it just then would wait for that import forever.
import encodings.utf_8_sig  # noqa: F401
import glob
import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, ADJACENCIES
from matrixdp.release import durable, ledger, tables
from matrixdp.release.ledger import FORMAT, Account

#: Suffix of an account's name, after that of its file.
SUFFIX = ".privacy.json"

#: What else a charge may say of its release.
_OPTIONAL = ("query", "label", "date", "file", "receipt", "moments")

#: Beginning of a file that stands for a link, on a disk without links.
_POINTER = b'{"account": '

_REMEDY = (
    '{cure}, or state account = "..." in a folder that you may write to, on a disk that has locks'
)


def account_path(file: Path, account: Path | None) -> Path:
    """Return the path of a file's account: the stated one, or the one beside the file.

    A folder of parts is one file of records, whose account lies beside the folder.

    A symbolic link stands for its target.

    Raises:
        InputError: the file, or a part of the folder, has several names (hard links) and no account
            is stated, another account lies beside it, or the account itself has several names. Or
            a part of a folder has another account than the folder.
    """
    with checks.as_input_error(
        f"{checks.short(str(file))} cannot be looked up ({{why}}); correct it"
    ):
        beside = default_path(file)
        path = _follow(account or beside)
        _check_folders(file, path)
        _check_parts(file, path)
        if account and os.path.lexists(beside) and path != _follow(beside):
            raise InputError(f'{beside} is the account of {file}; state account = "{beside}"')
        several = [part for part in _parts(file) if part.is_file() and part.stat().st_nlink > 1]
        if several and not account:
            count = several[0].stat().st_nlink
            raise InputError(
                f"{several[0]} is one of {count} names (hard links) of the same file, "
                'and each could begin an account; state account = "...", the same for all of them'
            )
        check_names(path)
        return path


class AccountFile(NamedTuple):
    """Where an account lies.

    Attributes:
        path: path of the account, without links.
        file: file of records that the account belongs to, if the path that was stated names it.
        holds: whether the lock of the account holds, see :func:`lock`; without one it does not.
    """

    path: Path
    file: Path | None
    holds: Callable[[], bool] = bool


def find(path: Path, account: Path | None = None) -> AccountFile:
    """Return where the account lies that a path stands for: of a file of records, or of itself.

    A path named like the account of a file, as ``people.csv.privacy.json`` beside ``people.csv``,
    stands for the account of that file, which may lie elsewhere. A path with the suffix of no file
    of records, and with no such file beside it, is the account itself, as of an array.

    Args:
        path: a file of records, or what stands for an account.
        account: the account that is stated of a file of records.

    Raises:
        InputError: as :func:`account_path`.
    """
    if tables.suffix(path) in tables.SUFFIXES:
        return AccountFile(account_path(path, account), path)
    with checks.as_input_error(
        f"{checks.short(str(path))} cannot be looked up ({{why}}); correct it"
    ):
        if path.is_dir() or (not path.exists() and has_account(path)):
            if not _parts(path) and not has_account(path):
                raise InputError(
                    f"{path} is a folder without a part; give a file of records, or an account"
                )
            return AccountFile(account_path(path, account), path)
        file = path.with_name(path.name.removesuffix(SUFFIX))
        is_file = tables.suffix(file) in tables.SUFFIXES and file.is_file()
        if path.name.endswith(SUFFIX) and (is_file or (file.is_dir() and _parts(file))):
            # Only an account that exists is a choice among those that the file's names could begin.
            return AccountFile(account_path(file, path if os.path.lexists(path) else None), file)
        itself = _follow(path)
        check_names(itself)
        return AccountFile(itself, None)


def has_account(file: Path) -> bool:
    """Return whether an account, or a link to one, lies beside a file or a folder of parts."""
    return os.path.lexists(default_path(file))


def is_beside(file: Path, account: Path) -> bool:
    """Return whether an account is the one that lies beside a file or a folder of parts."""
    return _follow(default_path(file)) == account


def check_names(path: Path) -> None:
    """Check that an account has one name; writing it would turn hard links into separate accounts.

    Raises:
        InputError: it has several names.
    """
    if path.is_file() and path.stat().st_nlink > 1:
        raise InputError(
            f"{path} is an account with {path.stat().st_nlink} names (hard links); put a copy of "
            "it in its place if the others are backups, and remove them if not"
        )


def _parts(file: Path) -> list[Path]:
    """Return a file, or what may be a part of a folder."""
    if not file.is_dir():
        return [file]
    return sorted(part for part in file.iterdir() if tables.suffix(part) in tables.PARTS)


def _check_parts(folder: Path, path: Path) -> None:
    """Check that no part of a folder has another account than the folder.

    Raises:
        InputError: one was released alone, or is a link to a part of another folder that was
            released, and their charges would not count.
    """
    # Each path is followed once: a folder may have thousands of parts, on a slow disk.
    places = {one: default_path(one) for one in [folder, *_parts(folder)]}
    accounts = {one: _follow(beside) for one, beside in places.items() if os.path.lexists(beside)}
    whole = folder.resolve()
    del places[folder]
    for part, beside in places.items():
        # A link leads to a folder that may have been released.
        if beside.parent != whole:
            _check_folders(part, path)
        if accounts.get(part, path) != path:
            # No other one can be stated for all where there are several.
            alone = len({*accounts.values()}) == 1
            state = f'state account = "{beside}" for the folder too, or ' * alone
            raise InputError(
                f"{part} was released alone, and {beside} is its account; {state}take this part "
                f"out of {folder}"
            )


def _check_folders(file: Path, path: Path) -> None:
    """Check that no folder of a file has another account, as that of which it is a part.

    Raises:
        InputError: one was released, and its charges would not count.
    """
    if tables.suffix(file) not in tables.PARTS or file.is_dir():
        return
    for folder in {file.absolute().parent, file.resolve().parent}:
        # Nothing lies beside the root of a disk.
        beside = default_path(folder) if folder.name else folder
        if folder.name and os.path.lexists(beside) and _follow(beside) != path:
            raise InputError(
                f"{file} is a part of {folder}, which was released whole, and {beside} is its "
                f'account; give the folder in its place, or state account = "{beside}" for this '
                "part too"
            )


def default_path(file: Path) -> Path:
    """Return the path of the account beside a file or a folder of parts, links followed."""
    target = file.resolve()
    return target.with_name(f"{target.name}{SUFFIX}")


def _follow(path: Path) -> Path:
    """Return the path of an account without links, and without files that stand for links."""
    place = path.resolve()
    if place.is_file():
        # What cannot be read is refused where an account is read.
        with contextlib.suppress(OSError), place.open("rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                return (place.parent / json.loads(place.read_bytes())["account"]).resolve()
    return place


def mark(file: Path, path: Path) -> None:
    """Link to an account in another folder from beside the file, if the file's folder is writable.

    A later specification without an account then finds it, and one with another is refused. On a
    disk without links a small file stands for the link.

    Raises:
        InputError: another account was begun in the meantime, or the disk is full.
    """
    for part in _parts(file):
        # A link from the folder: its target could be released alone from where it lies.
        if file.is_dir() and part.resolve().parent != file.resolve():
            mark(part, path)
    beside = default_path(file)
    if _follow(beside) == path:
        return
    link = os.path.relpath(path, beside.parent)
    with contextlib.ExitStack() as stack:
        # On a disk without locks no account can be begun beside the file.
        with contextlib.suppress(OSError):
            place = beside.with_name(f"{beside.name}.lock")
            stack.enter_context(durable.lock(place, lambda: _follow(beside) != beside))
        if not os.path.lexists(beside):
            try:
                beside.symlink_to(link)
            except OSError:
                _write_pointer(beside, link)
    if os.path.lexists(beside) and _follow(beside) != path:
        raise InputError(f'{beside} is the account of {file}; state account = "{beside}"')


def _write_pointer(beside: Path, link: str) -> None:
    """Write a file that stands for a link, unless its folder cannot be written.

    Raises:
        InputError: the disk is full.
    """
    remedy = "{cure}, so that the records stay tied to their account"
    with durable.explain(beside, remedy):
        try:
            durable.write(beside, json.dumps({"account": link}))
        except OSError as error:
            if error.errno not in durable.PROTECTED:
                raise


def read(path: Path) -> Account | None:
    """Return the account in a file, or None where the file does not exist.

    Raises:
        InputError: the file is no account, or one of a later format.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        stored = json.loads(text, object_pairs_hook=_single)
        number = checks.count(format=stored["format"])
        account = _account(stored) if number <= FORMAT else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({checks.why(error)}); correct it, or get leave to read it"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is no account of releases ({checks.why(error)}); give the path of one, or "
            "restore it if it was, as a new one would forget what is spent"
        ) from None
    if account is None:
        raise InputError(
            f"{path} has the format {number}, and this version of matrixdp reads formats up to "
            f"{FORMAT}; install a newer one"
        )
    if not math.isfinite(ledger.total_epsilon(account)):
        raise InputError(f"{path} is no account of releases ({ledger.excess(account)}); restore it")
    return account


def _single(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, in which a later value of a key would hide an earlier charge."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("it states a key twice")
    return content


def _account(stored: Mapping[str, Any]) -> Account:
    """Return the checked account in a file's content."""
    numbers, relation = ledger.terms(stored)
    if not isinstance(stored["releases"], list):
        raise TypeError("releases is no list")
    checks.choice((*ADJACENCIES, ADD_OR_REMOVE), neighbours=relation.adjacency)
    # Whatever is in it can be printed.
    json.dumps(stored, ensure_ascii=False).encode()
    account = {
        **ledger.begin(ledger.total(numbers), relation),
        "releases": [_charge(release) for release in stored["releases"]],
    }
    if stored["rule"] != account["rule"]:
        raise ValueError(f"its rule is {stored['rule']!r}, not {account['rule']!r}")
    return account


def _charge(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a checked charge of an account's content."""
    pure, request, answer = stored["pure_epsilon"], stored["request"], stored["answer"]
    for key in ("request", "answer", *_OPTIONAL):
        if not isinstance(stored.get(key, ""), str):
            raise TypeError(f"{key} is no text")
    # The answer to what Python spends by itself is stored nowhere.
    if answer or not request.startswith(ledger.PYTHON):
        Path("account").with_name(answer)
    mu = checks.positive(mu=stored["mu"])
    if pure is not None:
        pure = checks.positive(pure_epsilon=pure)
        # 0.1.0 rounded the mu of a small epsilon otherwise.
        if not mu >= ledger.pure_mu(pure) * (1 - 1e-9) - 1e-14:
            raise ValueError(f"a charge of the pure epsilon {pure:g} has mu {mu:g}, which is less")
    return {
        **stored,
        "mu": mu,
        "pure_epsilon": pure,
        "numbers": checks.count(numbers=stored["numbers"]),
    }


def digest(content: object) -> str:
    """Return the SHA-256 of a content of JSON, such as a request, equal for equal ones."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def lock(path: Path) -> Iterator[Callable[[], bool]]:
    """Lock an account against other releases; yield a function that tells whether this holds.

    Nothing is left where no account was begun.

    Raises:
        InputError: its folder cannot be written.
    """
    with contextlib.ExitStack() as stack:
        with durable.explain(path, _REMEDY):
            lock = durable.lock(path.with_name(f"{path.name}.lock"), lambda: not path.exists())
            holds = stack.enter_context(lock)
        yield holds


def answers(path: Path, account: Account, request: str) -> list[Path]:
    """Return the paths of the answers to a request, the latest charge first.

    After a crash an answer may be missing.

    Args:
        path: path of the account.
        account: its content.
        request: digest of the request.
    """
    names = [release["answer"] for release in account["releases"] if release["request"] == request]
    return [path.with_name(name) for name in reversed(names)]


class Stored(NamedTuple):
    """What is stored of a charge.

    Attributes:
        receipt: its receipt.
        answer: query, header, rows and details; None where the answer was not described yet.
        release: what was drawn and of what, see :meth:`matrixdp.release.plans.Plan.draw`; None in
            files of version 0.1.0, which have the answer alone.
        readings: other answers that were read from the draw, with their receipts, by the digests
            of requests for them alone.
    """

    receipt: dict[str, Any]
    answer: dict[str, Any] | None
    release: dict[str, Any] | None
    readings: Mapping[str, dict[str, Any]] = MappingProxyType({})


def content(file: Path) -> Stored:
    """Return what :func:`store`, or version 0.1.0, wrote to a file.

    Raises:
        InputError: the file cannot be read, or was changed.
    """
    with checks.as_input_error(f"{file} cannot be read ({{why}}); restore it, as it is paid for"):
        stored = json.loads(file.read_text(encoding="utf-8-sig"))
        answer, release = stored["answer"], stored.get("release")
        readings = stored.get("readings", {})
        if stored["sha256"] != _seal(release, answer, readings):
            raise ValueError("it is not as it was stored")
        if release is None:
            return Stored(answer.pop("receipt"), answer, None)
        return Stored(release["receipt"], answer, release, readings)


def _seal(release: object, answer: object, readings: Mapping[str, Any]) -> str:
    """Return the digest of what is stored of a charge."""
    if release is None:
        return digest(answer)
    return digest([release, answer, readings] if readings else [release, answer])


@contextlib.contextmanager
def reserve(path: Path, size: int) -> Iterator[str]:
    """Reserve disk space for an answer, yield its file name, and free unused space at the end.

    Raises:
        InputError: there is no space, or the folder cannot be written.
    """
    name = f"{path.stem}.{secrets.token_hex(8)}.json"
    file = path.with_name(name)
    try:
        with durable.explain(path, _REMEDY):
            # Leftovers of killed releases: the lock is held here, so nobody is writing them.
            for stale in path.parent.glob(f".{glob.escape(path.stem)}.{'?' * 16}.json.part"):
                stale.unlink(missing_ok=True)
            durable.reserve(file, size, 0o600)
        yield name
    finally:
        durable.unreserve(file)


def charge(location: AccountFile, account: Account) -> None:
    """Write an account with its new charge to the disk; only then may noise be drawn.

    Whoever deletes the file of the lock lets others spend meanwhile, whose charges must stay.

    Args:
        location: where the account lies, within its :func:`lock`.
        account: its content with the new charge at the end.

    Raises:
        InputError: the account cannot be written, or is not what the new charge was added to.
    """
    path, before = location.path, account["releases"][:-1]
    text = json.dumps(account, indent=2) + "\n"

    def require(*, unchanged: bool) -> None:
        if not (unchanged and location.holds()):
            raise InputError(
                f"{path} has changed although it was locked; delete no file whose name ends in "
                ".lock, and try again"
            )

    def check() -> None:
        stored = read(path)
        require(unchanged=(stored["releases"] if stored else []) == before)

    with durable.explain(path, _REMEDY):
        durable.write(path, text, check=check)
        # Others who lock anew write to the same temporary file.
        require(unchanged=path.read_text(encoding="utf-8") == text)


def store(
    path: Path,
    name: str,
    release: Mapping[str, Any],
    answer: Mapping[str, Any] | None,
    readings: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write the draw of a charge to the disk, readable by its owner only, with its answers.

    It is written before there is an answer, and again with it. The time of the file stays that of
    the draw, so that a file of records that changed since is noticed.

    Raises:
        InputError: it cannot be written; the charge stays.
    """
    file, first = path.with_name(name), None
    with durable.explain(file, "{cure}; the charge stays in the account"):
        with contextlib.suppress(OSError):
            first = file.stat().st_mtime_ns
        stored: dict[str, Any] = {"release": release, "answer": answer}
        if readings:
            stored["readings"] = {**readings}
        stored["sha256"] = _seal(release, answer, readings)

        def keep_time() -> None:
            if first is not None:
                os.utime(durable.part(file), ns=(first, first))

        durable.write(file, json.dumps(stored, ensure_ascii=False), 0o600, check=keep_time)
