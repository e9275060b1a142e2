"""One private release of a person's file: the numbers, a receipt, and a charge to the account."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import Array, InputError, plural
from matrixdp.mechanisms.base import Additive
from matrixdp.mechanisms.equations import InParts
from matrixdp.mechanisms.moments import CONSTANT, LEAST, centred, with_constant
from matrixdp.practice import (
    answers,
    choices,
    compositions,
    durable,
    ledger,
    receipt,
    tables,
    uncertainty,
)
from matrixdp.practice.answers import Output
from matrixdp.practice.recommend import Option
from matrixdp.practice.specification import Specification
from matrixdp.privacy import exact
from matrixdp.privacy.domain import Ball, Box

#: Bytes that hold a number as text, an interval in JSON, and the rest of a file.
_NUMBER, _ENTRY, _FILE = 32, 128, 1 << 14

#: Computes what a release says beside its numbers, which is as private as these.
Details = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Result:
    """A release in its place.

    Attributes:
        places: files by what they are: ``release``, ``receipt``, ``page``, ``account``, and
            ``details`` where there are intervals or parts.
        says: what the noise means, in plain words.
        notes: what its owner should know besides, a sentence each.
    """

    places: dict[str, Path]
    says: str
    notes: list[str]


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
    notes = receipt.cautions(spec)
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
        elif sentence := choices.proposal(spec):
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


def make_all(
    specs: Sequence[Specification], out: Path, *, even_if_useless: bool = False
) -> list[Result]:
    """Make the releases of one file, several of them below ``out``, each in a folder of its name.

    What can be refused of any of them is refused before the first one is made.

    Raises:
        InputError: as :func:`make`.
    """
    if len(specs) == 1:
        return [make(specs[0], out, even_if_useless=even_if_useless)]
    path, account = choices.account_of(specs[0])
    after = account
    for spec in specs:
        request = ledger.digest(_request(spec, path.parent))
        if not ledger.answers(path, account, request):
            option = _chosen(spec, even_if_useless)
            after = ledger.add(after, ledger.entry(option.release))
            for _ in _records(spec):
                pass
    if excess := ledger.excess(after):
        raise InputError(
            f"{path} allows {ledger.in_words(account['total'])} in all, and with these releases "
            f"{excess}; leave one out"
        )
    return [make(spec, out / spec.name, even_if_useless=even_if_useless) for spec in specs]


def _chosen(spec: Specification, even_if_useless: bool) -> Option:
    """Return the best option that fits; InputError where there is none, or it is useless."""
    option = choices.rank(spec)[0][0]
    if receipt.useless(spec, option) and not even_if_useless:
        instead = "" if spec.kind == "regression" else "release means instead of records, "
        raise InputError(
            f"{receipt.says(spec, option)}; give a larger epsilon, narrower bounds or fewer "
            f"columns, {instead}or pay for it all the same with --even-if-useless"
        )
    return option


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
        **({"person": [*spec.people]} if spec.people else {}),
        **({"line": [spec.alpha, spec.intercept]} if spec.alpha or not spec.intercept else {}),
    }


def _charge(spec: Specification, out: Path, request: str, even_if_useless: bool) -> dict[str, str]:
    """Charge a new release, draw it, and return its files by their names, which are in ``out``."""
    path, account = choices.account_of(spec)
    option = _chosen(spec, even_if_useless)
    statement = receipt.build(spec, option)
    charge = {
        "query": spec.kind,
        "label": spec.label,
        "request": request,
        "receipt": statement["digest"],
        **ledger.entry(option.release),
    }
    statement["total_of_the_account"] = ledger.in_words(account["total"])
    statement["epsilon_of_all_releases_so_far"] = ledger.total_epsilon(ledger.add(account, charge))
    texts = {
        f"{spec.kind}.receipt.json": json.dumps(statement, indent=2) + "\n",
        f"{spec.kind}.receipt.md": receipt.page(statement),
    }
    name = f"{spec.kind}.csv"
    size = _FILE + 8 * len("".join(spec.columns)) + _NUMBER * option.release.numbers
    sizes = {name: size, **{key: _FILE + 2 * len(text.encode()) for key, text in texts.items()}}
    details = f"{spec.kind}.details.json"
    if isinstance(option.release, InParts) or _has_intervals(spec):
        sizes[details] = size * (1 + len(spec.columns)) + _ENTRY * option.release.numbers
    with ledger.reserve(path, sum(sizes.values())) as answer, _claim(out, sizes):
        draw = _prepare(spec, option.release, spec.output)
        ledger.mark(spec.file, path)
        with durable.defer_signals():
            ledger.charge(path, ledger.add(account, {**charge, "answer": answer}))
            numbers, describe = draw()
            texts = {name: _written(spec, numbers), **texts}
            if details in sizes:
                texts[details] = json.dumps(describe(), indent=2) + "\n"
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
    for option in choices.options(spec):
        draw = _prepare(spec, option.release, spec.output.in_half_ranges)
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


def _prepare(
    spec: Specification, release: Additive | InParts, output: Output
) -> Callable[[], tuple[Array, Details]]:
    """Return what draws a release: its answer, and what computes its details.

    The whole file is read, and refused, before it returns.
    """
    if isinstance(release, InParts):
        for _ in _records(spec):
            pass

        def compose() -> tuple[Array, Details]:
            outcome = release.run(lambda: _records(spec))
            answer = compositions.answer(spec, output, outcome)
            return answer, lambda: compositions.details(spec, release, outcome)

        return compose
    value = exact.value(spec.query, _records(spec))

    def draw() -> tuple[Array, Details]:
        private = release.add_once(value)
        answer = _answer(spec, output, private, release.noise_std)
        return answer, lambda: _intervals(spec, release, private)

    return draw


def _intervals(spec: Specification, release: Additive, private: Array) -> dict[str, Any]:
    """Return what noise alone makes uncertain in what follows from second moments."""
    if not _has_intervals(spec):
        return {}
    estimate, second = centred(private), np.delete(np.delete(private, CONSTANT, 0), CONSTANT, 1)
    unprojected = second - np.outer(estimate.mean, estimate.mean)
    noise = uncertainty.Noise(release)
    return uncertainty.details(spec, noise, estimate, unprojected, release.noise_std)


def _has_intervals(spec: Specification) -> bool:
    """Return whether a release has intervals beside the receipt's; none where a ball weighs."""
    return spec.kind in uncertainty.KINDS and not spec.weighted


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
    output = spec.output.in_half_ranges
    private = value.T if query.yields == "matrix" else value
    if spec.constant:
        return _answer(spec, output, private, 0.0)
    return answers.answer(output, private, 0.0)


def _records(spec: Specification) -> Iterator[Array]:
    """Yield the records that count, as the query has them, if there are as many as stated.

    Where their number is private, nothing depends on it.
    """
    count, expected, people = 0, spec.query.records, spec.people
    for block in tables.blocks(spec.file, spec.columns, spec.fill, people):
        count += len(block)
        if count <= expected or spec.query.private_count:
            yield spec.scaled(block)
    if count != expected and not spec.query.private_count:
        which = f", at most {people.most} of each {people.column!r}" if people else ""
        raise InputError(
            f"{spec.file} has {plural(count, 'record')}{which}, and the specification says "
            f"records = {expected}; correct one"
        )


def _answer(spec: Specification, output: Output, private: Array, noise_std: float) -> Array:
    """Return what a noisy value says, (rows, columns), in the units of the output."""
    if spec.kind == "mean" and spec.constant:
        weight = np.maximum(private[:, CONSTANT, None], LEAST)
        private = np.clip(np.delete(private, CONSTANT, axis=1) / weight, -1, 1)
    return answers.answer(output, private, noise_std, weighted=spec.weighted)


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
