"""One private release of a person's file: the numbers, a receipt, and a charge to the account."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import safe
from matrixdp.checks import Array, InputError, plural
from matrixdp.mechanisms.base import Additive
from matrixdp.mechanisms.composed import Composed
from matrixdp.mechanisms.moments import with_constant
from matrixdp.practice import (
    answers,
    compositions,
    durable,
    ledger,
    recommend,
    specification,
    tables,
)
from matrixdp.practice.specification import Specification
from matrixdp.privacy import exact, gaussian
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.version import VERSION

#: Epsilons at which a receipt states the exact curve.
_CURVE = (0.1, 0.3, 1.0, 3.0, 10.0)

#: A price of privacy below counts as 0.
_LEAST = 1e-6

#: An epsilon beyond which one record is told from another with odds of more than 22,000.
_LARGE_EPSILON = 10

#: Bytes that hold a number as text, and those that hold the rest of a file.
_NUMBER, _FILE = 32, 1 << 14

#: What is protected, in words.
_NEIGHBOURS = {
    "replace": "one record is replaced by any other; their number is public",
    "zero_out": "one record is zeroed out, to a null record that adds nothing to any query; the "
    "number of records is public, and none is added or removed",
}


@dataclass(frozen=True)
class Result:
    """A release in its place.

    Attributes:
        places: files by what they are: ``release``, ``receipt``, ``page``, ``account``, and
            ``details`` of a release in several parts.
        says: what the noise means, in plain words.
        notes: what its owner should know besides, a sentence each.
    """

    places: dict[str, Path]
    says: str
    notes: list[str]


def options(asked: Specification) -> list[recommend.Option]:
    """Return the mechanisms that could make a release; its file and account are not looked at.

    Raises:
        InputError: the guarantee cannot be had, or no mechanism of the name answers the query.
    """
    named = [one for name, one in specification.MECHANISMS.items() if name == asked.mechanism]
    delta = asked.delta
    if delta and asked.total and asked.total["delta"]:
        # The sampler's part of the total is reserved for all releases together.
        delta = min(delta, ledger.usable_delta(asked.total))
    if asked.mechanism == specification.CLIPPED:
        return compositions.options(asked, delta)
    return recommend.options(
        asked.query,
        epsilon=asked.epsilon,
        delta=delta,
        importance=asked.importance,
        mechanisms=named,
    )


def rank(asked: Specification) -> list[tuple[recommend.Option, int]]:
    """Return the mechanisms that fit the account and the plan, the least noise first.

    Beside each stands how many more releases at these epsilon and delta fit after it. Where no
    number is planned, the plan is to have as many as possible.

    Raises:
        InputError: none fits; the message names what would.
    """
    path, account = _account(asked)
    asked = replace(asked, total=_total(account))
    rooms = _rooms(asked, account)
    if not rooms:
        after = [ledger.add(account, ledger.entry(one.release)) for one in options(asked)]
        raise InputError(
            f"{path} allows {ledger.in_words(account['total'])} in all, and with this release "
            f"{ledger.excess(min(after, key=ledger.total_epsilon))}; {_remedy(asked, account)}"
        )
    needed = max(room for _, room in rooms)
    if asked.planned is not None:
        needed = min(needed, max(0, asked.planned - len(account["releases"]) - 1))
    return [(option, room) for option, room in rooms if room >= needed]


def _rooms(asked: Specification, account: ledger.Account) -> list[tuple[recommend.Option, int]]:
    """Return the mechanisms that fit, and how many more of the cheapest one fit after each."""
    choices = options(asked)
    rooms = ledger.rooms(account, [ledger.entry(one.release) for one in choices])
    fitting = zip(choices, rooms, strict=True)
    return [(option, room) for option, room in fitting if room is not None]


def _remedy(asked: Specification, account: ledger.Account) -> str:
    """Return what would fit, in words."""
    free = replace(asked, mechanism=specification.RECOMMENDED)
    if asked.mechanism != free.mechanism and _rooms(free, account):
        return 'mechanism = "recommend" would fit'
    for share in np.arange(0.95, 0.01, -0.05):
        epsilon = float(f"{asked.epsilon * share:.3g}")
        with contextlib.suppress(InputError):
            if _rooms(replace(free, epsilon=epsilon), account):
                return f"epsilon = {epsilon:g} would fit"
    if account["releases"]:
        return "ask for nothing more of this account"
    return "state a total with a smaller epsilon, at which safe noise counts, or a larger delta"


def _account(asked: Specification) -> tuple[Path, ledger.Account]:
    """Return where the account of a file is, and the account, begun if it is not there."""
    path, neighbours = ledger.place(asked.file, asked.account), asked.query.adjacency
    # Until a total is stated, that of this release alone.
    total = asked.total or ledger.total({"epsilon": asked.epsilon, "delta": asked.delta})
    account = ledger.read(path) or ledger.begin(total, neighbours)
    ledger.check_terms(path, account, asked.total, neighbours)
    return path, account


def _total(account: ledger.Account) -> dict[str, float]:
    return {key: value for key, value in account["total"].items() if key != "neighbours"}


def proposal(asked: Specification) -> str:
    """Return a total to state where none is, and no account has one, or nothing."""
    if asked.total or ledger.place(asked.file, asked.account).exists():
        return ""
    return (
        "no total is stated, and the first release fixes that of all releases of the account; add "
        f"total = {{epsilon = {asked.epsilon!r}, delta = {asked.delta!r}}} for this release alone, "
        "or a larger one for further releases, before any answer is seen"
    )


def cautions(asked: Specification) -> list[str]:
    """Return what is unusual about a guarantee, a sentence each."""
    guarantees = {"": (asked.epsilon, asked.delta)}
    if asked.total:
        guarantees["total."] = asked.total["epsilon"], asked.total["delta"]
    sentences = []
    for name, (epsilon, delta) in guarantees.items():
        if delta > 1 / asked.query.records:
            sentences.append(
                f"{name}delta is {delta:g}, above 1 / records = {1 / asked.query.records:.2g}: to "
                "publish one whole record, drawn at random, would keep such a promise"
            )
        if epsilon > _LARGE_EPSILON:
            sentences.append(
                f"{name}epsilon is {epsilon:g}, above {_LARGE_EPSILON}: this promises a single "
                "person next to nothing"
            )
    return sentences


def make(asked: Specification, out: Path, *, even_if_useless: bool = False) -> Result:
    """Make a release, once: the same request again gives the same files at no further cost.

    What can be refused is refused first. The charge is on the disk before noise is drawn, and the
    answer, beside the account, before the files in ``out`` appear (see :mod:`ledger`).

    Raises:
        InputError: the release cannot be had, is useless or would overspend the account, the file
            does not fit, or ``out`` cannot take it.
    """
    path = ledger.place(asked.file, asked.account)
    request = ledger.digest(_request(asked, path.parent))
    notes = cautions(asked)
    if not path.exists():
        tables.check(asked.file)
    with ledger.lock(path):
        if path != ledger.place(asked.file, asked.account):
            raise InputError(f"the account of {asked.file} was begun elsewhere just now; run again")
        account = ledger.read(path)
        charges = ledger.answers(path, account, request) if account else []
        answer = next((file for file in charges if file.exists()), None)
        if answer:
            texts = ledger.content(answer)
            with _claim(out, {name: len(text.encode()) for name, text in texts.items()}, texts):
                _publish(out, texts)
            notes.append("this is the answer of an earlier run of the same request, not charged")
            if asked.file.exists() and asked.file.stat().st_mtime > answer.stat().st_mtime:
                notes.append(
                    f"{asked.file} has changed since; to ask anew, at the price of another "
                    'release, add label = "..."'
                )
        elif sentence := proposal(asked):
            raise InputError(sentence)
        else:
            if charges:
                notes.append(
                    "an earlier run of the same request ended before its answer; its charge stays"
                )
            texts = _charge(asked, out, request, even_if_useless)
    described = json.loads(texts[f"{asked.asked}.receipt.json"])
    names = {"release": ".csv", "receipt": ".receipt.json", "page": ".receipt.md"}
    names["details"] = ".details.json"
    places = {
        key: out / f"{asked.asked}{suffix}"
        for key, suffix in names.items()
        if f"{asked.asked}{suffix}" in texts
    }
    return Result({**places, "account": path}, described["says"], notes)


def _request(asked: Specification, folder: Path) -> dict[str, Any]:
    """Return what makes two requests the same, of which an account in ``folder`` hears."""
    return {
        "file": os.path.relpath(asked.file.resolve(), folder),
        "query": asked.asked,
        "columns": [*zip(asked.columns, asked.box.lower, asked.box.upper, strict=True)],
        "records": asked.query.records,
        "neighbours": asked.query.adjacency,
        "radius": float(asked.stated.get("radius", 0)),
        "target": asked.target,
        "missing": [None if np.isnan(value) else value for value in asked.fill.tolist()],
        "guarantee": [asked.epsilon, asked.delta],
        "mechanism": asked.mechanism,
        "importance": asked.importance,
        "label": asked.label,
        **({"number": asked.number} if asked.asked == "components" else {}),
    }


def _charge(asked: Specification, out: Path, request: str, even_if_useless: bool) -> dict[str, str]:
    """Charge a new release, draw it, and return its files by their names, which are in ``out``."""
    path, account = _account(asked)
    option = rank(asked)[0][0]
    described = receipt(asked, option)
    if useless(asked, option) and not even_if_useless:
        instead = "" if asked.asked == "regression" else "release means instead of records, "
        raise InputError(
            f"{says(asked, option)}; give a larger epsilon, narrower bounds or fewer columns, "
            f"{instead}or pay for it all the same with --even-if-useless"
        )
    charge = {
        "query": asked.asked,
        "request": request,
        "receipt": described["digest"],
        **ledger.entry(option.release),
    }
    if isinstance(option.release, Composed):
        charge["parts"] = compositions.budget(option.release)
    described["total_of_the_account"] = ledger.in_words(account["total"])
    described["epsilon_of_all_releases_so_far"] = ledger.total_epsilon(ledger.add(account, charge))
    texts = {
        f"{asked.asked}.receipt.json": json.dumps(described, indent=2) + "\n",
        f"{asked.asked}.receipt.md": page(described),
    }
    name = f"{asked.asked}.csv"
    size = _FILE + 8 * len("".join(asked.columns)) + _NUMBER * option.release.numbers
    sizes = {name: size, **{key: _FILE + 2 * len(text.encode()) for key, text in texts.items()}}
    details = f"{asked.asked}.details.json"
    if isinstance(option.release, Composed):
        sizes[details] = size
    with ledger.reserve(path, sum(sizes.values())) as answer, _claim(out, sizes):
        draw = _prepare(asked, option.release)
        ledger.mark(asked.file, path)
        with durable.defer_signals():
            ledger.charge(path, ledger.add(account, {**charge, "answer": answer}))
            released, found = draw()
            texts = {name: _written(asked, released), **texts}
            if found:
                texts[details] = json.dumps(found, indent=2) + "\n"
            ledger.keep(path, answer, texts)
            _publish(out, texts)
    return texts


@contextlib.contextmanager
def _claim(
    out: Path, sizes: Mapping[str, int], texts: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Hold a folder and the space of the files to come; other files of their names stay.

    Raises:
        InputError: one of the files is there with another content than ``texts``, or the folder
            cannot take them.
    """
    files = {name: out / name for name in sizes}
    with contextlib.ExitStack() as stack:
        with durable.explain(out, "free some space, or give another --out"):
            out.mkdir(parents=True, exist_ok=True)
            # Some disks lock no folders; what is overwritten there is kept beside the account.
            with contextlib.suppress(OSError):
                stack.enter_context(durable.lock(out))
            for name, file in files.items():
                if file.exists() and not (texts and file.read_bytes() == texts[name].encode()):
                    raise InputError(f"{file} is there already; move it, or give another --out")
            for name, file in files.items():
                stack.callback(durable.release, file)
                durable.reserve(file, sizes[name])
        yield


def _publish(out: Path, texts: Mapping[str, str]) -> None:
    remedy = "the answer is kept beside the account; ask again with another --out, at no cost"
    for name, text in texts.items():
        with durable.explain(out / name, remedy):
            durable.write(out / name, text)


def compare(asked: Specification, times: int = 20) -> dict[str, float]:
    """Return how wrong each mechanism's answers are on the file itself. THIS IS NOT PRIVATE.

    It is the root mean square of what ``times`` releases, which are thrown away, are off the answer
    without noise, over the entries, in half ranges. For the owner's eyes: no account knows of it.
    """
    true, found = _true(asked), {}
    for one in options(asked):
        draw = _prepare(asked, one.release, in_half_ranges=True)
        drawn = [draw()[0] for _ in range(times)]
        if asked.asked in ("components", "first_component"):
            drawn = [_alike(answer, true, len(asked.columns)) for answer in drawn]
        found[one.name] = float(np.sqrt(np.mean((np.array(drawn) - true) ** 2)))
    return found


def _alike(answer: Array, true: Array, features: int) -> Array:
    """Return components with the signs of the true ones; eigenvectors have none of their own."""
    vectors, aligned = answer[:, -features:], answer.copy()
    signs = np.sign((vectors * true[:, -features:]).sum(axis=1))
    aligned[:, -features:] *= signs[:, None]
    return aligned


def receipt(asked: Specification, best: recommend.Option) -> dict[str, Any]:
    """Return what may be told of a release: all of it is public, nothing depends on the data."""
    release, extra = best.release, best.release.extra_delta
    fill = dict(zip(asked.columns, asked.fill.tolist(), strict=True))
    stated = {
        **asked.stated,
        "missing": "refused" if np.isnan(asked.fill).any() else fill,
        "neighbours": _NEIGHBOURS[asked.query.adjacency],
        "mechanism": best.name,
        "delta": asked.delta or extra,
    }
    text = json.dumps(stated, sort_keys=True)
    curve = [
        [e, min(1.0, gaussian.delta(e, release.mu) + safe.extra_delta(e, release.numbers))]
        for e in _CURVE
        if release.mu is not None
    ]
    return {
        **stated,
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "epsilon_at_delta": release.epsilon_actual,
        "mu": release.mu,
        "curve": curve,
        "parts": compositions.budget(release) if isinstance(release, Composed) else None,
        "noise_over_half_range": best.error,
        "noise_std": _by_column(asked, best),
        "says": says(asked, best),
        "noise": "whole steps of 2^-26 of its scale, from random bits of the operating system",
        "of_delta_for_the_noise_law": extra,
        "not_covered": "how long the release took, what is seen of the machine that made it, and "
        "that a file can be read at all: a record that is no numbers ends a release",
        "cautions": cautions(asked) or None,
        "version": {
            "matrixdp": VERSION,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def price(asked: Specification) -> float:
    """Return the epsilon at which noise is half of what hides everything; 0 where any is enough.

    Raises:
        InputError: it is beyond what safe noise can deliver at the delta that is asked for.
    """
    found = asked.epsilon
    # Noise falls with epsilon, or with its root: each step at least halves the log of the distance.
    for _ in range(60):
        found *= 2 * options(replace(asked, epsilon=found))[0].error
        if found < _LEAST:
            return 0.0
    return found


def in_words(asked: Specification, best: recommend.Option) -> list[str]:
    """Return the noise of each column beside the range of its values, a sentence each.

    Noise of moments says little of a regression: there is none for it.
    """
    if isinstance(best.release, Composed):
        return compositions.in_words(best.release)
    if asked.asked == "regression":
        return []
    what, lower, upper = "values", asked.middle - asked.half, asked.middle + asked.half
    if isinstance(asked.query, SecondMomentQuery):
        what, lower, upper = "mean squares", np.zeros(len(asked.half)), asked.half**2
    return [
        f"{name}: noise of +- {_plain(noise, 3)} on {what} from {_plain(low)} to {_plain(high)}"
        + ": do not release this" * bool(noise >= (high - low) / 2)
        for (name, noise), low, high in zip(
            _by_column(asked, best).items(), lower, upper, strict=True
        )
    ]


def alternatives(asked: Specification) -> list[str]:
    """Return what may be better than what is recommended, on records of a kind; a line each."""
    if asked.mechanism != specification.RECOMMENDED or not asked.delta:
        return []
    if not isinstance(asked.query, SecondMomentQuery):
        return []
    return [
        'where most records lie close together within their bounds, mechanism = "clipped" has less '
        "noise: it spends a part of the budget on where they lie"
    ]


def _plain(number: float, digits: int = 6) -> str:
    return f"{float(f'{number:.{digits}g}'):,.15g}"


def useless(asked: Specification, best: recommend.Option) -> bool:
    """Return whether noise hides everything, from public bounds alone.

    Of a regression: whether a constant predicts as well, even where columns fill their bounds. Of
    a release in parts: whether noise exceeds what records that fill the radius allow.
    """
    if isinstance(best.release, Composed):
        return best.error >= 1
    if asked.asked == "regression" and isinstance(asked.query.domain, Box):
        return answers.simulated_fit(best.release, answers.FILLED[0]) <= 0
    return best.error >= 1


def says(asked: Specification, best: recommend.Option) -> str:
    """Return what the noise means, in plain words."""
    hides = ": it hides everything, do not release this" * useless(asked, best)
    if isinstance(best.release, Composed):
        return f"{compositions.says(asked, best)}{hides}"
    if asked.asked == "regression":
        return f"{answers.regression_outlook(best.release)}{hides}"
    share = "the largest deviation that the public bounds allow"
    if hides:
        return f"noise of {best.error:,.3g} times {share}{hides}"
    return f"noise of {best.error:.2%} of {share}"


def _by_column(asked: Specification, best: recommend.Option) -> dict[str, float]:
    """Return the noise of each column, or of its mean square, in its own unit."""
    covers = isinstance(asked.query, SecondMomentQuery)
    own = np.diag(best.variances) if covers else best.variances[:, 0]
    if asked.constant:  # it has no unit
        own = np.delete(own, -2)
    release = best.release.widest if isinstance(best.release, Composed) else best.release
    noise = release.stretch * np.sqrt(own) * asked.half ** (2 if covers else 1)
    return dict(zip(asked.columns, noise.tolist(), strict=True))


def page(described: dict[str, Any]) -> str:
    """Return a receipt to be read."""
    lines = ["# Receipt of a private release", "", described["says"] + ".", ""]
    for key, value in described.items():
        if key not in ("says", "curve") and value is not None:
            if isinstance(value, dict):
                value = ", ".join(f"{name} {one}" for name, one in value.items())
            lines.append(f"- {key.replace('_', ' ')}: {value}")
    lines += [f"- delta at epsilon {e:g}: {delta:.3g}" for e, delta in described["curve"]]
    return "\n".join(lines) + "\n"


def _prepare(
    asked: Specification, release: Additive | Composed, *, in_half_ranges: bool = False
) -> Callable[[], tuple[Array, dict[str, Any]]]:
    """Return what draws a release: its answer, and what its parts say.

    The whole file is read, and refused, before it returns. The answer is in the columns' own units,
    or in half ranges about the middle.
    """
    middle, half = asked.middle, asked.half
    if in_half_ranges:
        middle, half = 0 * middle, 0 * half + 1
    if isinstance(release, Composed):
        for _ in _records(asked):
            pass

        def draw() -> tuple[Array, dict[str, Any]]:
            outcome = release.run(lambda: _records(asked))
            answer = compositions.answer(asked, outcome, middle, half)
            return answer, compositions.details(asked, outcome)

        return draw
    value = exact.value(asked.query, _records(asked))
    return lambda: (
        _answer(asked, release.noise_std, release.add_once(value), middle, half),
        {},
    )


def _true(asked: Specification) -> Array:
    """Return the answer without noise, in half ranges about the middle. THIS IS NOT PRIVATE."""
    query, rows = asked.query, _records(asked)
    if asked.asked in answers.WITH_CONSTANT and not asked.constant:
        domain, size = query.domain, query.features + 1
        if isinstance(domain, Ball):
            rows = (domain.clip(block.T).T for block in rows)
        query = replace(query, domain=Box.cube(size, -1.0, 1.0))
        rows = map(with_constant, rows)
    value = exact.value(query, rows)
    middle, half = 0 * asked.middle, 0 * asked.half + 1
    private = value.T if query.yields == "matrix" else value
    weighted = asked.constant and isinstance(asked.query.domain, Ball)
    return answers.answer(
        asked.asked, private, 0.0, middle, half, weighted=weighted, number=asked.number
    )


def _records(asked: Specification) -> Iterator[Array]:
    """Yield the records of the file as the query has them, if there are as many as stated."""
    count, expected = 0, asked.query.records
    for block in tables.blocks(asked.file, asked.columns, asked.fill):
        count += len(block)
        if count <= expected:
            yield asked.scaled(block)
    if count != expected:
        raise InputError(
            f"{asked.file} has {plural(count, 'record')}, and the specification says "
            f"records = {expected}; correct one"
        )


def _answer(
    asked: Specification, noise_std: float, private: Array, middle: Array, half: Array
) -> Array:
    """Return what a noisy value says, (rows, columns), in the units of ``half``."""
    weighted = isinstance(asked.query.domain, Ball)
    return answers.answer(
        asked.asked,
        private,
        noise_std,
        middle,
        half,
        weighted=weighted,
        number=asked.number,
    )


def _written(asked: Specification, answer: Array) -> str:
    """Return the CSV text of an answer."""
    names, rows = list(asked.columns), answer.tolist()
    if asked.target:
        names[-1] = "intercept"
    if asked.asked in ("second_moments", "covariance"):
        rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
        names = ["", *["mean"] * (asked.asked == "covariance"), *names]
    if asked.asked == "components":
        names = ["eigenvalue", "share", *names]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()
