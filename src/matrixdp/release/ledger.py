"""A running account of the privacy spent on one file.

Gaussian DP composes in squares: releases of mu_1, mu_2, ... have sqrt(mu_1^2 + mu_2^2 + ...)
together (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3). This also holds where earlier answers decide
what is released later (Smith & Thakurta, 2022). A pure epsilon counts as the smallest mu that it
implies: the two trade-off functions meet at 1 / (1 + e^epsilon), and convexity does the rest.

Where all releases are pure, the sum of their epsilons counts if it gives less. Pure releases beside
others are summed only within a part of epsilon that is reserved for them from the start. Otherwise
an analyst who chooses between the two rules after each release could exceed delta.

The distribution of safe noise has a total variation distance T from the ideal one, over all numbers
of all releases. This adds (1 + e^epsilon) T to delta at the epsilon of the total. A part of delta,
``sampler``, is reserved for this from the start and caps it for all releases together. Nobody can
then trade mu against the number of released numbers. A pure total has this part as its whole delta.

A release is a transaction under the account's lock. The charge is on the disk before noise is
drawn, and the answer is on the disk, beside the account, before anybody sees it. An answer belongs
to one charge; a repeated request gets the answer that was paid for.
"""

from __future__ import annotations

import contextlib
import datetime
import glob
import hashlib
import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri_exp

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.base import UNAUDITED, NoGuarantee
from matrixdp.mechanisms.composed import Composed
from matrixdp.noise import safe
from matrixdp.privacy import gaussian
from matrixdp.privacy.quadratic import UPWARDS
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, ADJACENCIES
from matrixdp.release import durable, tables

Account = dict[str, Any]

#: Default of the sampler's part of a total's delta: a hundredth of it, 1e-6 at most.
_SAMPLER_PART, _SAMPLER = 100, 1e-6

#: Format of accounts and receipts.
FORMAT = 1

#: Suffix of an account's name, after that of its file.
SUFFIX = ".privacy.json"

#: Beginning of the request of a charge that Python made, of no file.
PYTHON = "python "

#: What else a charge may say of its release.
_OPTIONAL = ("query", "label", "date", "file", "receipt")

#: Largest number of releases that :func:`room` counts.
MANY = 1000

_REMEDY = (
    'free some space, or state account = "..." in a folder that you may write to, on a disk that '
    "has locks"
)


class Relation(NamedTuple):
    """What the neighbours of an account differ in.

    Attributes:
        neighbours: as an ``adjacency`` of :mod:`matrixdp.privacy.sensitivity`.
        person: the column that names the person of each record, where neighbours differ in all
            records of one person; empty where they differ in one record.
    """

    neighbours: str
    person: str = ""


def account_path(file: Path, account: Path | None) -> Path:
    """Return the path of a file's account: the stated one, or the one beside the file.

    A symbolic link stands for its target.

    Raises:
        InputError: the file has several names (hard links) and no account is stated, another
            account lies beside it, or the account itself has several names.
    """
    with checks.as_input_error(
        f"{checks.short(str(file))} cannot be looked up ({{why}}); correct it"
    ):
        target, beside = file.resolve(), _beside(file)
        path = (account or beside).resolve()
        if account and os.path.lexists(beside) and path != beside.resolve():
            raise InputError(f'{beside} is the account of {file}; state account = "{beside}"')
        if not account and target.is_file() and target.stat().st_nlink > 1:
            raise InputError(
                f"{file} is one of {target.stat().st_nlink} names (hard links) of the same file, "
                'and each could begin an account; state account = "...", the same for all of them'
            )
        check_names(path)
        return path


class AccountFile(NamedTuple):
    """Where an account lies.

    Attributes:
        path: path of the account, without links.
        file: file of records that the account belongs to, if the path that was stated names it.
    """

    path: Path
    file: Path | None


def find(path: Path) -> AccountFile:
    """Return where the account lies that a path stands for: of a file of records, or of itself.

    A path named like the account of a file, as ``people.csv.privacy.json`` beside ``people.csv``,
    stands for the account of that file, which may lie elsewhere. A path with the suffix of no file
    of records, and with no such file beside it, is the account itself, as of an array.

    Raises:
        InputError: as :func:`account_path`.
    """
    if tables.suffix(path) in tables.SUFFIXES:
        return AccountFile(account_path(path, None), path)
    with checks.as_input_error(
        f"{checks.short(str(path))} cannot be looked up ({{why}}); correct it"
    ):
        if path.is_dir():
            raise InputError(f"{path} is a folder; give a file of records, or an account")
        file = path.with_name(path.name.removesuffix(SUFFIX))
        if path.name.endswith(SUFFIX) and tables.suffix(file) in tables.SUFFIXES and file.is_file():
            # Only an account that exists is a choice among those that the file's names could begin.
            return AccountFile(account_path(file, path if os.path.lexists(path) else None), file)
        itself = path.resolve()
        check_names(itself)
        return AccountFile(itself, None)


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


def _beside(file: Path) -> Path:
    target = file.resolve()
    return target.with_name(f"{target.name}{SUFFIX}")


def mark(file: Path, path: Path) -> None:
    """Link to an account in another folder from beside the file, if the file's folder is writable.

    A later specification without an account then finds it, and one with another is refused.

    Raises:
        InputError: another account was begun in the meantime.
    """
    beside = _beside(file)
    if beside.resolve() == path:
        return
    with contextlib.suppress(OSError), durable.lock(beside.with_name(f"{beside.name}.lock")):
        if not os.path.lexists(beside):
            beside.symlink_to(os.path.relpath(path, beside.parent))
    if os.path.lexists(beside) and beside.resolve() != path:
        raise InputError(f'{beside} is the account of {file}; state account = "{beside}"')


def total(spec: Mapping[str, Any]) -> dict[str, float]:
    """Return the total of an account with its parts.

    Args:
        spec: ``epsilon`` and ``delta`` of all releases together; ``pure``, the part of epsilon
            that is reserved for pure releases beside others (0 unless stated); ``sampler``, the
            part of delta for the distribution of safe noise (unless stated a hundredth of delta,
            1e-6 at most; for a pure total 1e-6, beyond its delta of 0).

    Raises:
        InputError: a key is missing or unknown, or a value is out of range.
    """
    if isinstance(spec, Mapping) and "epsilon" in spec and "delta" not in spec:
        raise InputError(
            "total has no delta; give {epsilon = ..., delta = ...}, with delta = 0 if all releases "
            "are pure, otherwise well below 1 / records, such as 1e-6"
        )
    if not isinstance(spec, Mapping) or {"epsilon", "delta"} != {*spec} - {"pure", "sampler"}:
        raise InputError(f"total is {spec!r}; give {{epsilon = ..., delta = ...}}")
    epsilon, delta = checks.positive(**{"total.epsilon": spec["epsilon"]}), spec["delta"]
    if delta != 0:
        delta = checks.open_unit(**{"total.delta": delta})
    pure = checks.not_negative(**{"total.pure": spec.get("pure", 0)})
    if pure >= epsilon:
        raise InputError(f"total.pure is {pure:g}; it must be below total.epsilon = {epsilon:g}")
    most = delta or _SAMPLER
    sampler = spec.get("sampler", min(_SAMPLER, delta / _SAMPLER_PART) if delta else _SAMPLER)
    sampler = checks.positive(**{"total.sampler": sampler})
    if sampler > most or sampler == delta:
        raise InputError(f"total.sampler is {sampler:g}; it must be below {most:g}")
    return {"epsilon": epsilon, "delta": float(delta), "pure": pure, "sampler": sampler}


def phrase(total: Mapping[str, Any]) -> str:
    """Return the epsilon and delta of a total; a pure total has the delta of the sampler."""
    if total["delta"]:
        return f"(epsilon {total['epsilon']:g}, delta {total['delta']:g})"
    return f"(epsilon {total['epsilon']:g}, delta at most {total['sampler']:g})"


def usable_delta(total: Mapping[str, Any]) -> float:
    """Return the delta of a total without the sampler's part; 0 where the total is pure."""
    return float(total["delta"] - total["sampler"]) if total["delta"] else 0.0


def cost(release: AdditiveMechanism | Composed) -> float:
    """Return the mu of a release, rounded up."""
    if release.mu is not None:
        return release.mu * UPWARDS
    return _pure_mu(release.epsilon_delivered)


def _pure_mu(epsilon: float) -> float:
    """Return the smallest mu that a pure epsilon implies, rounded up."""
    return float(-2 * ndtri_exp(-np.logaddexp(0, epsilon))) * UPWARDS


def entry(release: AdditiveMechanism | Composed) -> dict[str, Any]:
    """Return the charge of a release: ``mu``, ``pure_epsilon``, ``numbers`` and any ``parts``.

    Where a class of another author declares the guarantee, ``guarantee`` says so.
    """
    pure = release.epsilon_delivered if release.mu is None else None
    charge: dict[str, Any] = {
        "mu": cost(release),
        "pure_epsilon": pure,
        "numbers": release.numbers,
    }
    if not release.of_library:
        charge["guarantee"] = UNAUDITED.removeprefix("; ")
    return charge if isinstance(release, AdditiveMechanism) else {**charge, "parts": release.costs}


def today() -> str:
    """Return the date in UTC, as YYYY-MM-DD."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def begin(total: Mapping[str, float], relation: Relation) -> Account:
    """Return an account without releases; its rule and its total are fixed from here on."""
    terms = {**total, **relation._asdict()}
    return {"format": FORMAT, "rule": rule(total), "total": terms, "releases": []}


def rule(total: Mapping[str, float]) -> str:
    """Return the one rule by which the releases of a total add up, as its account states it.

    To take whichever of several rules admits a release, one after another, would not be private.
    """
    if not total["delta"]:
        return "epsilons of pure releases add up"
    if total["pure"]:
        return "squares of mu add up, and epsilons of pure releases within the part of them"
    return "squares of mu add up, or epsilons as long as all releases are pure"


def terms(account: Mapping[str, Any]) -> tuple[dict[str, float], Relation]:
    """Return the total of an account, as :func:`total` does, and its neighbouring relation."""
    numbers = dict(account["total"])
    relation = Relation(str(numbers.pop("neighbours")), str(numbers.pop("person")))
    return numbers, relation


def read(path: Path) -> Account | None:
    """Return the account in a file, or None where the file does not exist.

    Raises:
        InputError: the file is no account, or one of a later format.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8-sig"))
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
    if not math.isfinite(total_epsilon(account)):
        raise InputError(f"{path} is no account of releases ({excess(account)}); restore it")
    return account


def _account(stored: Mapping[str, Any]) -> Account:
    """Return the checked account in a file's content."""
    numbers, relation = terms(stored)
    checks.choice((*ADJACENCIES, ADD_OR_REMOVE), neighbours=relation.neighbours)
    # Whatever is in it can be printed.
    json.dumps(stored, ensure_ascii=False).encode()
    account = {
        **begin(total(numbers), relation),
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
    if answer or not request.startswith(PYTHON):
        Path("account").with_name(answer)
    return {
        **stored,
        "mu": checks.positive(mu=stored["mu"]),
        "pure_epsilon": None if pure is None else checks.positive(pure_epsilon=pure),
        "numbers": checks.count(numbers=stored["numbers"]),
    }


def check(release: AdditiveMechanism | Composed) -> None:
    """Check that a release can be drawn and has the noise that it states, before it is charged.

    Raises:
        InputError: it has no guarantee, no safe noise, or less noise than it states.
    """
    if not isinstance(release, AdditiveMechanism | Composed):
        raise InputError(
            f"a {type(release).__name__} is for simulation alone; take one of those that "
            "`compare_mechanisms` returns"
        )
    if isinstance(release, Composed):
        release.check()
        for part in release.parts:
            for piece in part.releases:
                _require("mu", piece.mu, proofs.part_mu(piece.query, piece.noise))
        return
    _ = release.rounding_factor
    if release.mu is None:
        _require("epsilon", release.epsilon_delivered, proofs.size(release.query, release.noise))
    else:
        _require("mu", release.mu, proofs.mu(release.query, release.noise))


def _require(name: str, stated: float | None, proven: float) -> None:
    """Check what a release states against what its noise proves; NaN proves nothing.

    Of noise or of a query of another author nothing is proven: its charge is as declared, and says
    so.

    Raises:
        NoGuarantee: the noise is less than stated.
    """
    if stated is not None and proven > stated * (1 + proofs.ROUNDING):
        raise NoGuarantee(
            f"the release states {name} {stated:.4g}, and its noise gives {proven:.4g}; calibrate "
            "a mechanism, and change no field of what it returns"
        )


def check_terms(
    path: Path, account: Account, total: Mapping[str, float] | None, relation: Relation
) -> None:
    """Check that an account was begun for this total, if one is stated, and these neighbours.

    Raises:
        InputError: it was not; neither can be changed later.
    """
    first = account["total"]
    second = {**(first if total is None else total), **relation._asdict()}
    if second != first:
        name = next(key for key in first if second[key] != first[key])
        was, states = ("none" if value == "" else value for value in (first[name], second[name]))
        remedy = "leave total out" if name in ("pure", "sampler") else "state the same"
        raise InputError(
            f"{path} was begun with total {phrase(first)} and {name} = {was}, not {states}; "
            f"{remedy}"
        )


def total_epsilon(account: Account) -> float:
    """Return the epsilon of all releases together at the total's delta, an upper bound."""
    total, releases = account["total"], account["releases"]
    pure = [release["pure_epsilon"] for release in releases if release["pure_epsilon"]]
    added, reserved, bounds = math.fsum(pure), total["pure"], [np.inf]
    if len(pure) == len(releases):
        bounds.append(added)
    left = usable_delta(total)
    if left > 0 and (added <= reserved or not reserved):
        squared = [
            release["mu"] for release in releases if not (reserved and release["pure_epsilon"])
        ]
        mu = float(np.linalg.norm(squared)) * UPWARDS
        bounds.append(reserved + gaussian.epsilon(left, mu))
    return float(min(bounds))


def sampler_delta(account: Account) -> float:
    """Return the delta that safe noise adds over all releases together."""
    numbers = sum(release["numbers"] for release in account["releases"])
    return safe.extra_delta(account["total"]["epsilon"], numbers)


def excess(account: Account) -> str:
    """Return a phrase on how the releases exceed the total, or an empty one if they fit."""
    total = account["total"]
    extra = sampler_delta(account)
    if extra > total["sampler"]:
        added = f"delta {extra:.2g}" if extra < 1 else "more than any delta"
        numbers = sum(release["numbers"] for release in account["releases"])
        most = safe.largest_epsilon(total["sampler"], numbers)
        return (
            f"safe noise on so many numbers adds {added} of {total['sampler']:.2g}, as "
            f"e^{total['epsilon']:g}, of the total, multiplies its distance from the ideal law"
            + f" (a total of epsilon {most:g} has room for them)"
            * bool(most)
        )
    epsilon = total_epsilon(account)
    if epsilon <= total["epsilon"]:
        return ""
    if math.isfinite(epsilon):
        return f"epsilon {epsilon:.4g} would be spent of {total['epsilon']:g}"
    if not total["delta"]:
        return "a release with a delta does not fit a total with delta = 0"
    spent = math.fsum(release["pure_epsilon"] or 0 for release in account["releases"])
    return f"pure releases would spend epsilon {spent:.4g} of the {total['pure']:g} reserved"


def add(account: Account, entry: Mapping[str, Any], times: int = 1) -> Account:
    """Return the account after ``times`` further releases with the same charge."""
    return {**account, "releases": [*account["releases"], *([entry] * times)]}


def room(account: Account, entry: Mapping[str, Any]) -> int:
    """Return how many further releases with this charge fit, ``MANY`` at most."""
    fit, beyond = 0, MANY + 1
    while beyond - fit > 1:
        middle = (fit + beyond) // 2
        fit, beyond = (fit, middle) if excess(add(account, entry, middle)) else (middle, beyond)
    return fit


def left(account: Account, *, pure: bool) -> float:
    """Return the largest epsilon at which a release of one number still fits, or 0.

    Args:
        account: account to be charged.
        pure: whether the release is pure; otherwise it has the total's usable delta.
    """
    delta = usable_delta(account["total"])
    if not (pure or delta):
        return 0.0

    def fits(epsilon: float) -> bool:
        mu = _pure_mu(epsilon) if pure else gaussian.mu(epsilon, delta) * UPWARDS
        entry = {"mu": mu, "pure_epsilon": epsilon if pure else None, "numbers": 1}
        return not excess(add(account, entry))

    low, high = 0.0, float(account["total"]["epsilon"])
    if fits(high):
        return high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low if low > high * 1e-6 else 0.0


def summary(account: Account) -> list[str]:
    """Return lines of text: the total, the charge of each release, and what is left."""
    total, releases = account["total"], account["releases"]
    lines = [
        f"total: {phrase(total)} of all releases together, neighbours {total['neighbours']}"
        + f" of whole people, by the column {total['person']!r}" * bool(total["person"]),
        f"spent: epsilon {total_epsilon(account):.4g} in {checks.plural(len(releases), 'release')}",
    ]
    delta = usable_delta(total)
    for release in releases:
        pure = release["pure_epsilon"]
        spent = f"{pure or gaussian.epsilon(delta, release['mu']):.4g}"
        spent += f" at delta {delta:.4g}" * (not pure)
        about = [release.get("query", "a release"), release.get("label"), release.get("date")]
        lines.append(f"  {', '.join(filter(None, about))}: epsilon {spent}")
    if delta:
        room = left(account, pure=False)
        lines.append(f"left: a release of epsilon {room:.4g} at delta {delta:.4g}")
    lines.append(f"left: a pure release of epsilon {left(account, pure=True):.4g}")
    return lines


def rooms(account: Account, costs: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """Return for each of several charges how many more of the cheapest would fit after it.

    A charge that does not fit itself has None.
    """
    after = [add(account, cost) for cost in costs]
    return [None if excess(then) else max(room(then, cost) for cost in costs) for then in after]


def digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a content of JSON, such as a request, equal for equal ones."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Lock an account against other releases.

    Raises:
        InputError: its folder cannot be written.
    """
    with contextlib.ExitStack() as stack:
        with durable.explain(path, _REMEDY):
            stack.enter_context(durable.lock(path.with_name(f"{path.name}.lock")))
        yield


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


def content(answer: Path) -> dict[str, Any]:
    """Return an answer as :func:`store` wrote it.

    Raises:
        InputError: the answer cannot be read, or was changed.
    """
    with checks.as_input_error(f"{answer} cannot be read ({{why}}); restore it, as it is paid for"):
        stored = json.loads(answer.read_text(encoding="utf-8-sig"))
        result: dict[str, Any] = stored["answer"]
        if stored["sha256"] != digest(result):
            raise ValueError("it is not as it was stored")
    return result


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
        durable.release(file)


def charge(path: Path, account: Account) -> None:
    """Write an account with its new charge to the disk; only then may noise be drawn.

    Raises:
        InputError: the account cannot be written.
    """
    with durable.explain(path, _REMEDY):
        durable.write(path, json.dumps(account, indent=2) + "\n")


def store(path: Path, name: str, content: Mapping[str, Any]) -> None:
    """Write the answer of a charge to the disk, readable by its owner only.

    Raises:
        InputError: the answer cannot be written; the charge stays.
    """
    file = path.with_name(name)
    with durable.explain(file, "free some space; the charge stays in the account"):
        stored = {"answer": content, "sha256": digest(content)}
        durable.write(file, json.dumps(stored, ensure_ascii=False), 0o600)
