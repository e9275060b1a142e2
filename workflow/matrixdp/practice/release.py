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


def options(spec: Specification) -> list[recommend.Option]:
    """Return the mechanisms that could make a release; its file and account are not looked at.

    Raises:
        InputError: the guarantee cannot be had, or no mechanism of the name answers the query.
    """
    mechanisms = [
        mechanism for name, mechanism in specification.MECHANISMS.items() if name == spec.mechanism
    ]
    delta = spec.delta
    if delta and spec.total and spec.total["delta"]:
        # The sampler's part of the total is reserved for all releases together.
        delta = min(delta, ledger.usable_delta(spec.total))
    if spec.mechanism == specification.CLIPPED:
        return compositions.options(spec, delta)
    return recommend.options(
        spec.query,
        epsilon=spec.epsilon,
        delta=delta,
        importance=spec.importance,
        mechanisms=mechanisms,
    )


def rank(spec: Specification) -> list[tuple[recommend.Option, int]]:
    """Return the mechanisms that fit the account and the plan, the least noise first.

    Beside each stands how many more releases at these epsilon and delta fit after it. Where no
    number is planned, the plan is to have as many as possible.

    Raises:
        InputError: none fits; the message names what would.
    """
    path, account = _account(spec)
    spec = replace(spec, total=_total(account))
    rooms = _rooms(spec, account)
    if not rooms:
        cost = ledger.entry(options(spec)[0].release)
        raise InputError(
            f"{path} allows {ledger.in_words(account['total'])} in all, and with this release "
            f"{ledger.excess(ledger.add(account, cost))}; {_remedy(spec, account)}"
        )
    needed = max(room for _, room in rooms)
    if spec.planned is not None:
        needed = min(needed, max(0, spec.planned - len(account["releases"]) - 1))
    return [(option, room) for option, room in rooms if room >= needed]


def _rooms(spec: Specification, account: ledger.Account) -> list[tuple[recommend.Option, int]]:
    """Return the mechanisms that fit, and how many more of the cheapest one fit after each."""
    choices = options(spec)
    rooms = ledger.rooms(account, [ledger.entry(option.release) for option in choices])
    fitting = zip(choices, rooms, strict=True)
    return [(option, room) for option, room in fitting if room is not None]


def _remedy(spec: Specification, account: ledger.Account) -> str:
    """Return what would fit, in words."""
    free = replace(spec, mechanism=specification.RECOMMENDED)
    if spec.mechanism != free.mechanism and _rooms(free, account):
        return 'mechanism = "recommend" would fit'
    for share in np.arange(0.95, 0.01, -0.05):
        epsilon = float(f"{spec.epsilon * share:.3g}")
        with contextlib.suppress(InputError):
            if _rooms(replace(free, epsilon=epsilon), account):
                return f"epsilon = {epsilon:g} would fit"
    if account["releases"]:
        return "ask for nothing more of this account"
    return "state a larger total, whose sampler has a larger part of delta, or a smaller epsilon"


def _account(spec: Specification) -> tuple[Path, ledger.Account]:
    """Return where the account of a file is, and the account, begun if it is not there."""
    path, neighbours = ledger.place(spec.file, spec.account), spec.query.adjacency
    # Until a total is stated, that of this release alone.
    total = spec.total or ledger.total({"epsilon": spec.epsilon, "delta": spec.delta})
    account = ledger.read(path) or ledger.begin(total, neighbours)
    ledger.check_terms(path, account, spec.total, neighbours)
    return path, account


def _total(account: ledger.Account) -> dict[str, float]:
    return {key: value for key, value in account["total"].items() if key != "neighbours"}


def proposal(spec: Specification) -> str:
    """Return a total to state where none is, and no account has one, or nothing."""
    if spec.total or ledger.place(spec.file, spec.account).exists():
        return ""
    return (
        "no total is stated, and the first release fixes that of all releases of the account; add "
        f"total = {{epsilon = {spec.epsilon!r}, delta = {spec.delta!r}}} for this release alone, "
        "or a larger one for further releases, before any answer is seen"
    )


def cautions(spec: Specification) -> list[str]:
    """Return what is unusual about a guarantee, a sentence each."""
    guarantees = {"": (spec.epsilon, spec.delta)}
    if spec.total:
        guarantees["total."] = spec.total["epsilon"], spec.total["delta"]
    sentences = []
    for name, (epsilon, delta) in guarantees.items():
        if delta > 1 / spec.query.records:
            sentences.append(
                f"{name}delta is {delta:g}, above 1 / records = {1 / spec.query.records:.2g}: to "
                "publish one whole record, drawn at random, would keep such a promise"
            )
        if epsilon > _LARGE_EPSILON:
            sentences.append(
                f"{name}epsilon is {epsilon:g}, above {_LARGE_EPSILON}: this promises a single "
                "person next to nothing"
            )
    return sentences


def make(spec: Specification, out: Path, *, even_if_useless: bool = False) -> Result:
    """Make a release, once: the same request again gives the same files at no further cost.

    What can be refused is refused first. The charge is on the disk before noise is drawn, and the
    answer, beside the account, before the files in ``out`` appear (see :mod:`ledger`).

    Raises:
        InputError: the release cannot be had, is useless or would overspend the account, the file
            does not fit, or ``out`` cannot take it.
    """
    path = ledger.place(spec.file, spec.account)
    request = ledger.digest(_request(spec, path.parent))
    notes = cautions(spec)
    if not path.exists():
        tables.check(spec.file)
    with ledger.lock(path):
        if path != ledger.place(spec.file, spec.account):
            raise InputError(f"the account of {spec.file} was begun elsewhere just now; run again")
        account = ledger.read(path)
        charges = ledger.answers(path, account, request) if account else []
        answer = next((file for file in charges if file.exists()), None)
        if answer:
            texts = ledger.content(answer)
            with _claim(out, {name: len(text.encode()) for name, text in texts.items()}, texts):
                _publish(out, texts)
            notes.append("this is the answer of an earlier run of the same request, not charged")
            if spec.file.exists() and spec.file.stat().st_mtime > answer.stat().st_mtime:
                notes.append(
                    f"{spec.file} has changed since; to ask anew, at the price of another "
                    'release, add label = "..."'
                )
        elif sentence := proposal(spec):
            raise InputError(sentence)
        else:
            if charges:
                notes.append(
                    "an earlier run of the same request ended before its answer; its charge stays"
                )
            texts = _charge(spec, out, request, even_if_useless)
    statement = json.loads(texts[f"{spec.kind}.receipt.json"])
    names = {"release": ".csv", "receipt": ".receipt.json", "page": ".receipt.md"}
    names["details"] = ".details.json"
    places = {
        key: out / f"{spec.kind}{suffix}"
        for key, suffix in names.items()
        if f"{spec.kind}{suffix}" in texts
    }
    return Result({**places, "account": path}, statement["says"], notes)


def _request(spec: Specification, folder: Path) -> dict[str, Any]:
    """Return what makes two requests the same, of which an account in ``folder`` hears."""
    return {
        "file": os.path.relpath(spec.file.resolve(), folder),
        "query": spec.kind,
        "columns": [*zip(spec.columns, spec.box.lower, spec.box.upper, strict=True)],
        "records": spec.query.records,
        "neighbours": spec.query.adjacency,
        "radius": float(spec.terms.get("radius", 0)),
        "target": spec.target,
        "missing": [None if np.isnan(value) else value for value in spec.fill.tolist()],
        "guarantee": [spec.epsilon, spec.delta],
        "mechanism": spec.mechanism,
        "importance": spec.importance,
        "label": spec.label,
        **({"number": spec.number} if spec.kind == "components" else {}),
    }


def _charge(spec: Specification, out: Path, request: str, even_if_useless: bool) -> dict[str, str]:
    """Charge a new release, draw it, and return its files by their names, which are in ``out``."""
    path, account = _account(spec)
    option = rank(spec)[0][0]
    statement = receipt(spec, option)
    if useless(spec, option) and not even_if_useless:
        instead = "" if spec.kind == "regression" else "release means instead of records, "
        raise InputError(
            f"{says(spec, option)}; give a larger epsilon, narrower bounds or fewer columns, "
            f"{instead}or pay for it all the same with --even-if-useless"
        )
    charge = {
        "query": spec.kind,
        "request": request,
        "receipt": statement["digest"],
        **ledger.entry(option.release),
    }
    statement["total_of_the_account"] = ledger.in_words(account["total"])
    statement["epsilon_of_all_releases_so_far"] = ledger.total_epsilon(ledger.add(account, charge))
    texts = {
        f"{spec.kind}.receipt.json": json.dumps(statement, indent=2) + "\n",
        f"{spec.kind}.receipt.md": page(statement),
    }
    name = f"{spec.kind}.csv"
    size = _FILE + 8 * len("".join(spec.columns)) + _NUMBER * option.release.numbers
    sizes = {name: size, **{key: _FILE + 2 * len(text.encode()) for key, text in texts.items()}}
    details = f"{spec.kind}.details.json"
    if isinstance(option.release, Composed):
        sizes[details] = size
    with ledger.reserve(path, sum(sizes.values())) as answer, _claim(out, sizes):
        draw = _prepare(spec, option.release)
        ledger.mark(spec.file, path)
        with durable.defer_signals():
            ledger.charge(path, ledger.add(account, {**charge, "answer": answer}))
            numbers, outcome = draw()
            texts = {name: _written(spec, numbers), **texts}
            if outcome:
                texts[details] = json.dumps(outcome, indent=2) + "\n"
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


def compare(spec: Specification, times: int = 20) -> dict[str, float]:
    """Return how wrong each mechanism's answers are on the file itself. THIS IS NOT PRIVATE.

    It is the root mean square of what ``times`` releases, which are thrown away, are off the answer
    without noise, over the entries, in half ranges. For the owner's eyes: no account knows of it.
    """
    true, errors = _true(spec), {}
    for option in options(spec):
        draw = _prepare(spec, option.release, in_half_ranges=True)
        releases = [draw()[0] for _ in range(times)]
        if spec.kind in ("components", "first_component"):
            releases = [_alike(answer, true, len(spec.columns)) for answer in releases]
        errors[option.name] = float(np.sqrt(np.mean((np.array(releases) - true) ** 2)))
    return errors


def _alike(answer: Array, true: Array, features: int) -> Array:
    """Return components with the signs of the true ones; eigenvectors have none of their own."""
    vectors, aligned = answer[:, -features:], answer.copy()
    signs = np.sign((vectors * true[:, -features:]).sum(axis=1))
    aligned[:, -features:] *= signs[:, None]
    return aligned


def receipt(spec: Specification, best: recommend.Option) -> dict[str, Any]:
    """Return what may be told of a release: all of it is public, nothing depends on the data."""
    release, extra = best.release, best.release.extra_delta
    fill = dict(zip(spec.columns, spec.fill.tolist(), strict=True))
    terms = {
        **spec.terms,
        "missing": "refused" if np.isnan(spec.fill).any() else fill,
        "neighbours": _NEIGHBOURS[spec.query.adjacency],
        "mechanism": best.name,
        "delta": spec.delta or extra,
    }
    text = json.dumps(terms, sort_keys=True)
    curve = [
        [e, min(1.0, gaussian.delta(e, release.mu) + safe.extra_delta(e, release.numbers))]
        for e in _CURVE
        if release.mu is not None
    ]
    return {
        **terms,
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "epsilon_at_delta": release.epsilon_actual,
        "mu": release.mu,
        "curve": curve,
        **_noise(spec, best),
        "says": says(spec, best),
        "noise": "whole steps of 2^-26 of its scale, from random bits of the operating system",
        "of_delta_for_the_noise_law": extra,
        "not_covered": "how long the release took, what is seen of the machine that made it, and "
        "that a file can be read at all: a record that is no numbers ends a release",
        "cautions": cautions(spec) or None,
        "version": {
            "matrixdp": VERSION,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _noise(spec: Specification, best: recommend.Option) -> dict[str, Any]:
    """Return what a receipt states of the noise; of a release in parts, at most."""
    release, deviations = best.release, _by_column(spec, best)
    if not isinstance(release, Composed):
        return {"noise_over_half_range": best.error, "noise_std": deviations}
    return {
        "parts": release.costs,
        "noise_over_filled_radius": best.error,
        "noise_std_at_the_largest_radius": deviations,
        "clipping": compositions.CLIPPING,
    }


def price(spec: Specification) -> float:
    """Return the epsilon at which noise is half of what hides everything; 0 where any is enough.

    Raises:
        InputError: it is beyond what safe noise can deliver at the delta that is asked for.
    """
    epsilon = spec.epsilon
    # Noise falls with epsilon, or with its root: each step at least halves the log of the distance.
    for _ in range(60):
        epsilon *= 2 * options(replace(spec, epsilon=epsilon))[0].error
        if epsilon < _LEAST:
            return 0.0
    return epsilon


def in_words(spec: Specification, best: recommend.Option) -> list[str]:
    """Return the noise of each column beside the range of its values, a sentence each.

    Noise of moments says little of a regression: there is none for it.
    """
    if isinstance(best.release, Composed):
        return compositions.in_words(best.release)
    if spec.kind == "regression":
        return []
    what, lower, upper = "values", spec.middle - spec.half, spec.middle + spec.half
    if isinstance(spec.query, SecondMomentQuery):
        what, lower, upper = "mean squares", np.zeros(len(spec.half)), spec.half**2
    return [
        f"{name}: noise of +- {_plain(noise, 3)} on {what} from {_plain(low)} to {_plain(high)}"
        + ": do not release this" * bool(noise >= (high - low) / 2)
        for (name, noise), low, high in zip(
            _by_column(spec, best).items(), lower, upper, strict=True
        )
    ]


def alternatives(spec: Specification) -> list[str]:
    """Return what may be better than what is recommended, on records of a kind; a line each."""
    if spec.mechanism != specification.RECOMMENDED or not spec.delta:
        return []
    if not isinstance(spec.query, SecondMomentQuery):
        return []
    return [
        'where most records lie close together within their bounds, mechanism = "clipped" has less '
        "noise: it spends a part of the budget on where they lie"
    ]


def _plain(number: float, digits: int = 6) -> str:
    return f"{float(f'{number:.{digits}g}'):,.15g}"


def useless(spec: Specification, best: recommend.Option) -> bool:
    """Return whether noise hides everything, from public bounds alone.

    Of a regression: whether a constant predicts as well, even where columns fill their bounds. Of
    a release in parts: whether noise exceeds what records that fill the radius allow.
    """
    if isinstance(best.release, Composed):
        return best.error >= 1
    if spec.kind == "regression" and isinstance(spec.query.domain, Box):
        return answers.simulated_fit(best.release, answers.FILLED[0]) <= 0
    return best.error >= 1


def says(spec: Specification, best: recommend.Option) -> str:
    """Return what the noise means, in plain words."""
    hides = ": it hides everything, do not release this" * useless(spec, best)
    if isinstance(best.release, Composed):
        return f"{compositions.says(spec, best)}{hides}"
    if spec.kind == "regression":
        return f"{answers.regression_outlook(best.release)}{hides}"
    share = "the largest deviation that the public bounds allow"
    if hides:
        return f"noise of {best.error:,.3g} times {share}{hides}"
    return f"noise of {best.error:.2%} of {share}"


def _by_column(spec: Specification, best: recommend.Option) -> dict[str, float]:
    """Return the noise of each column, or of its mean square, in its own unit."""
    covers = isinstance(spec.query, SecondMomentQuery)
    variances = np.diag(best.variances) if covers else best.variances[:, 0]
    if spec.constant:  # it has no unit
        variances = np.delete(variances, -2)
    release = best.release.widest if isinstance(best.release, Composed) else best.release
    noise = release.stretch * np.sqrt(variances) * spec.half ** (2 if covers else 1)
    return dict(zip(spec.columns, noise.tolist(), strict=True))


def page(statement: dict[str, Any]) -> str:
    """Return a receipt to be read."""
    lines = ["# Receipt of a private release", "", statement["says"] + ".", ""]
    for key, value in statement.items():
        if key not in ("says", "curve") and value is not None:
            if isinstance(value, dict):
                value = ", ".join(f"{name} {item}" for name, item in value.items())
            lines.append(f"- {key.replace('_', ' ')}: {value}")
    lines += [f"- delta at epsilon {e:g}: {delta:.3g}" for e, delta in statement["curve"]]
    return "\n".join(lines) + "\n"


def _prepare(
    spec: Specification, release: Additive | Composed, *, in_half_ranges: bool = False
) -> Callable[[], tuple[Array, dict[str, Any]]]:
    """Return what draws a release: its answer, and what its parts say.

    The whole file is read, and refused, before it returns. The answer is in the columns' own units,
    or in half ranges about the middle.
    """
    middle, half = spec.middle, spec.half
    if in_half_ranges:
        middle, half = 0 * middle, 0 * half + 1
    if isinstance(release, Composed):
        for _ in _records(spec):
            pass

        def draw() -> tuple[Array, dict[str, Any]]:
            outcome = release.run(lambda: _records(spec))
            answer = compositions.answer(spec, outcome, middle, half)
            return answer, compositions.details(spec, outcome)

        return draw
    value = exact.value(spec.query, _records(spec))
    return lambda: (
        _answer(spec, release.noise_std, release.add_once(value), middle, half),
        {},
    )


def _true(spec: Specification) -> Array:
    """Return the answer without noise, in half ranges about the middle. THIS IS NOT PRIVATE."""
    query, rows = spec.query, _records(spec)
    if spec.kind in answers.WITH_CONSTANT and not spec.constant:
        domain, size = query.domain, query.features + 1
        if isinstance(domain, Ball):
            rows = (domain.clip(block.T).T for block in rows)
        query = replace(query, domain=Box.cube(size, -1.0, 1.0))
        rows = map(with_constant, rows)
    value = exact.value(query, rows)
    middle, half = 0 * spec.middle, 0 * spec.half + 1
    private = value.T if query.yields == "matrix" else value
    weighted = spec.constant and isinstance(spec.query.domain, Ball)
    return answers.answer(
        spec.kind, private, 0.0, middle, half, weighted=weighted, number=spec.number
    )


def _records(spec: Specification) -> Iterator[Array]:
    """Yield the records of the file as the query has them, if there are as many as stated."""
    count, expected = 0, spec.query.records
    for block in tables.blocks(spec.file, spec.columns, spec.fill):
        count += len(block)
        if count <= expected:
            yield spec.scaled(block)
    if count != expected:
        raise InputError(
            f"{spec.file} has {plural(count, 'record')}, and the specification says "
            f"records = {expected}; correct one"
        )


def _answer(
    spec: Specification, noise_std: float, private: Array, middle: Array, half: Array
) -> Array:
    """Return what a noisy value says, (rows, columns), in the units of ``half``."""
    weighted = isinstance(spec.query.domain, Ball)
    return answers.answer(
        spec.kind,
        private,
        noise_std,
        middle,
        half,
        weighted=weighted,
        number=spec.number,
    )


def _written(spec: Specification, answer: Array) -> str:
    """Return the CSV text of an answer."""
    names, rows = list(spec.columns), answer.tolist()
    if spec.target:
        names[-1] = "intercept"
    if spec.kind in ("second_moments", "covariance"):
        rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
        names = ["", *["mean"] * (spec.kind == "covariance"), *names]
    if spec.kind == "components":
        names = ["eigenvalue", "share", *names]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()
