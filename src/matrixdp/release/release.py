"""One private release of a file of records: its numbers, its receipt, its charge to the account."""

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
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.mechanisms.composed import InParts
from matrixdp.mechanisms.private_bounds import PrivatelyBounded
from matrixdp.release import (
    choices,
    compositions,
    durable,
    ledger,
    missing,
    private_bounds,
    receipt,
    receipt_page,
    tables,
)
from matrixdp.release.account import Account
from matrixdp.release.comparison import Option
from matrixdp.release.outputs import Output
from matrixdp.release.outputs.output import DOUBTS, UNCLIPPED
from matrixdp.release.specification import Specification

#: Upper bounds in bytes: a number as text, an interval in JSON, all else in a file.
_NUMBER, _ENTRY, _FILE = 32, 128, 1 << 14

#: Function that returns intervals and other details of a release. They derive from its numbers.
Details = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Result:
    """The files of a finished release, and messages for its owner.

    Attributes:
        texts: their content by name.
        paths: paths by role: ``release``, ``receipt``, ``page``, ``account``, and ``details``
            where there are intervals or parts.
        says: the size of the noise, in plain words; or why there is no ``release``.
        notes: further messages, a sentence each.
    """

    texts: dict[str, str]
    paths: dict[str, Path]
    says: str
    notes: list[str]


def make(
    spec: Specification, out: Path | None, *, even_if_useless: bool = False, date: str = ""
) -> Result:
    """Make a release once; a repeated request returns the same files at no further cost.

    Everything is checked before the budget is spent. Then the charge reaches the disk, noise is
    drawn, the answer reaches the disk beside the account, and ``out``, if there is one, gets its
    files, in this order (see :mod:`ledger`).

    Args:
        spec: what is released.
        out: folder of the files.
        even_if_useless: pay for a release whose noise hides everything.
        date: that the charge and the receipt of a new release state; today in UTC if empty.

    Raises:
        InputError: no mechanism gives the guarantee, the release is useless or would overspend the
            account, the records differ from the specification, or ``out`` cannot be written.
    """
    path = ledger.account_path(spec.file, spec.account)
    request = ledger.digest(_request(spec, path.parent))
    notes = receipt.cautions(spec)
    if not path.exists():
        tables.check(spec.file)
    with ledger.lock(path):
        if path != ledger.account_path(spec.file, spec.account):
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
            texts = _charge(spec, out, request, even_if_useless, date or ledger.today())
    notes += _notes_on_answer(spec, texts)
    names = {"release": ".csv", "receipt": ".receipt.json", "page": ".receipt.md"}
    names["details"] = ".details.json"
    paths = {
        key: out / f"{spec.query_name}{suffix}"
        for key, suffix in names.items()
        if out and f"{spec.query_name}{suffix}" in texts
    }
    return Result(texts, {**paths, "account": path}, _says(spec, texts), notes)


def make_in_memory(
    spec: Specification, account: Account | None, *, even_if_useless: bool = False
) -> Result:
    """Make a release of the records in ``spec.frame``; no file is written but an account's.

    The account is charged before noise is drawn. Each call is a release of its own, also of the
    same request: records in memory have no name by which an answer could be found again.

    Args:
        spec: specification with a ``frame``.
        account: account to charge; without one nothing counts the release.
        even_if_useless: whether to make a release whose noise hides everything.

    Raises:
        InputError: as :func:`make`.
    """
    if account is None:
        option = choices.options(spec)[0]
    else:
        total = {key: account.total[key] for key in ("epsilon", "delta", "pure", "sampler")}
        if account.total["person"] != spec.relation.person:
            raise InputError(
                f"the account was begun with person = {account.total['person'] or 'none'}, not "
                f"{spec.relation.person or 'none'}; state the same"
            )
        option = account.choose(choices.options(replace(spec, total=total)))
    if receipt.useless(spec, option) and not even_if_useless:
        raise InputError(
            f"{receipt.says(spec, option)}; give a larger epsilon, narrower bounds or fewer "
            "columns, or pay for it all the same with even_if_useless=True"
        )
    spec = choices.spec_of(spec, option)
    statement = receipt.build(spec, option, ledger.today())
    draw = prepare(spec, option.release, spec.output)
    if account is not None:
        account.spend(option.release, spec.label)
        statement["total_of_the_account"] = ledger.in_words(account.total)
        statement["epsilon_of_all_releases_so_far"] = account.spent
    else:
        ledger.check(option.release)
    numbers, describe = draw()
    texts = {
        **_receipts(spec, statement),
        f"{spec.query_name}.details.json": json.dumps(describe(), indent=2) + "\n",
    }
    if numbers.size:
        texts[f"{spec.query_name}.csv"] = _written(spec, numbers)
    notes = [*receipt.cautions(spec), *_notes_on_answer(spec, texts)]
    return Result(texts, {}, _says(spec, texts), notes)


def _notes_on_answer(spec: Specification, texts: Mapping[str, str]) -> list[str]:
    """Return sentences on what no interval covers: missing values, clipping, and what is empty.

    They follow from what is public or released.
    """
    notes = []
    if missing.can_occur(spec.file) and (spec.present or not np.isnan(spec.fill).any()):
        notes.append(missing.in_words(spec.columns, spec.fill, present=spec.present))
    details = json.loads(texts.get(f"{spec.query_name}.details.json", "{}"))
    if spec.output_type.read_as_values and "radius_in_half_ranges" in details:
        notes.append(
            "records beyond a radius that was found in private are shrunk to it: where their noisy "
            "share, which is in the details, is large, these numbers may be several times too "
            'small; mechanism = "analyze_gauss" has more noise and none of this'
        )
    for name, sides in details.get("private_bounds", {}).items():
        if sides:
            notes.append(
                f"{name} was clipped to [{sides[0]:g}, {sides[1]:g}], bounds that were found in "
                "private; what values beyond them would change is not in the noise"
            )
    if clipped := details.get(UNCLIPPED, {}):
        notes.append(
            f"noise took the mean of {', '.join(clipped)} beyond its bounds, and the answer has "
            f"the nearest bound; {UNCLIPPED} in the details has it as the noise left it"
        )
    return [*notes, *details.get("empty", []), *details.get(DOUBTS, [])]


def _says(spec: Specification, texts: Mapping[str, str]) -> str:
    """Return the size of the noise in plain words; or why there is no answer."""
    if f"{spec.query_name}.csv" not in texts:
        return private_bounds.failure(json.loads(texts[f"{spec.query_name}.details.json"]))
    return str(json.loads(texts[f"{spec.query_name}.receipt.json"])["says"])


def make_all(
    specs: Sequence[Specification], out: Path, *, even_if_useless: bool = False
) -> list[Result]:
    """Make all releases of one file; each of several gets a folder with its name below ``out``.

    All of them are checked before the first one is made.

    Raises:
        InputError: as :func:`make`.
    """
    if len(specs) == 1:
        return [make(specs[0], out, even_if_useless=even_if_useless)]
    path, account = choices.account_of(specs[0])
    after = account
    for spec in specs:
        if sentence := choices.proposal(spec):
            raise InputError(sentence)
        request = ledger.digest(_request(spec, path.parent))
        if not ledger.answers(path, account, request):
            _, option = _chosen(spec, even_if_useless)
            after = ledger.add(after, ledger.entry(option.release))
            for _ in _records(spec):
                pass
    if excess := ledger.excess(after):
        raise InputError(
            f"{path} allows {ledger.in_words(account['total'])} in all, and with these releases "
            f"{excess}; leave one out"
        )
    return [make(spec, out / spec.name, even_if_useless=even_if_useless) for spec in specs]


def charges(specs: Sequence[Specification]) -> list[int]:
    """Return how often the account of several releases was charged for each."""
    path = ledger.account_path(specs[0].file, specs[0].account)
    if (account := ledger.read(path)) is None:
        return [0] * len(specs)
    requests = [ledger.digest(_request(spec, path.parent)) for spec in specs]
    return [len(ledger.answers(path, account, request)) for request in requests]


def _chosen(spec: Specification, even_if_useless: bool) -> tuple[Specification, Option]:
    """Return the best option that fits, and the specification with the query that it answers.

    Raises:
        InputError: no option fits, or the best one is useless and ``even_if_useless`` is false.
    """
    option = choices.rank(spec)[0][0]
    if receipt.useless(spec, option) and not even_if_useless:
        raise InputError(
            f"{receipt.says(spec, option)}; give a larger epsilon, narrower bounds or fewer "
            f"columns, {spec.output.alternative}or pay for it all the same with --even-if-useless"
        )
    return choices.spec_of(spec, option), option


def _request(spec: Specification, folder: Path) -> dict[str, Any]:
    """Return all that identifies a request; the file's path is relative to ``folder``."""
    return {
        "file": os.path.relpath(spec.file.resolve(), folder),
        "query": spec.query_name,
        "columns": [*zip(spec.columns, spec.box.lower, spec.box.upper, strict=True)],
        "records": spec.query.n_records,
        "neighbours": spec.query.adjacency,
        "max_norm": float(spec.terms.get("max_norm", 0)),
        "target": spec.target,
        "missing": [None if np.isnan(value) else value for value in spec.fill.tolist()],
        "guarantee": [spec.epsilon, spec.delta],
        "mechanism": spec.mechanism,
        "label": spec.label,
        **({"present": True} if spec.present else {}),
        **spec.output.options,
        **({"person": [*spec.people]} if spec.people else {}),
        **({"dialect": [*spec.dialect]} if spec.dialect != tables.USUAL else {}),
        **({"private": [*spec.private]} if spec.private else {}),
    }


def _charge(
    spec: Specification, out: Path | None, request: str, even_if_useless: bool, date: str
) -> dict[str, str]:
    """Charge a new release, draw it, write it to ``out``, and return its texts by file name."""
    path, account = choices.account_of(spec)
    spec, option = _chosen(spec, even_if_useless)
    statement = receipt.build(spec, option, date)
    charge = {
        "date": date,
        "file": spec.file.name,
        "query": spec.query_name,
        "label": spec.label,
        "request": request,
        "receipt": statement["digest"],
        **ledger.entry(option.release),
    }
    statement["total_of_the_account"] = ledger.in_words(account["total"])
    statement["epsilon_of_all_releases_so_far"] = ledger.total_epsilon(ledger.add(account, charge))
    texts = _receipts(spec, statement)
    name = f"{spec.query_name}.csv"
    size = _FILE + 8 * len("".join(spec.columns)) + _NUMBER * option.release.numbers
    sizes = {name: size, **{key: _FILE + 2 * len(text.encode()) for key, text in texts.items()}}
    details = f"{spec.query_name}.details.json"
    composed = isinstance(option.release, InParts | PrivatelyBounded)
    if composed or spec.output.has_intervals or spec.output.has_details:
        sizes[details] = size * (1 + len(spec.columns)) + _ENTRY * option.release.numbers
    with ledger.reserve(path, sum(sizes.values())) as answer, _claim(out, sizes):
        draw = prepare(spec, option.release, spec.output)
        ledger.mark(spec.file, path)
        with durable.defer_signals():
            ledger.charge(path, ledger.add(account, {**charge, "answer": answer}))
            numbers, describe = draw()
            if numbers.size:
                texts = {name: _written(spec, numbers), **texts}
            if details in sizes and (content := describe()):
                texts[details] = json.dumps(content, indent=2) + "\n"
            ledger.store(path, answer, texts)
            _publish(out, texts)
    return texts


def _receipts(spec: Specification, statement: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a receipt by file name."""
    return {
        f"{spec.query_name}.receipt.json": json.dumps(statement, indent=2) + "\n",
        f"{spec.query_name}.receipt.md": receipt_page.markdown(statement, spec.query_name),
    }


@contextlib.contextmanager
def _claim(
    out: Path | None, sizes: Mapping[str, int], texts: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Lock a folder and reserve disk space for new files; existing files are never replaced.

    Raises:
        InputError: one of the files exists with other content than ``texts``, or the folder cannot
            hold them.
    """
    if out is None:
        yield
        return
    files = {name: out / name for name in sizes}
    with contextlib.ExitStack() as stack:
        with durable.explain(out, "free some space, or give another --out"):
            out.mkdir(parents=True, exist_ok=True)
            # Some file systems cannot lock folders; the account keeps a copy of each answer.
            with contextlib.suppress(OSError):
                stack.enter_context(durable.lock(out))
            for name, file in files.items():
                if file.exists() and not (texts and file.read_bytes() == texts[name].encode()):
                    raise InputError(f"{file} is there already; move it, or give another --out")
            for name, file in files.items():
                stack.callback(durable.release, file)
                durable.reserve(file, sizes[name])
        yield


def _publish(out: Path | None, texts: Mapping[str, str]) -> None:
    if out is None:
        return
    remedy = "the answer is kept beside the account; ask again with another --out, at no cost"
    for name, text in texts.items():
        with durable.explain(out / name, remedy):
            durable.write(out / name, text)


def prepare(
    spec: Specification, release: AdditiveMechanism | InParts | PrivatelyBounded, output: Output
) -> Callable[[], tuple[Array, Details]]:
    """Read the records, and return a function that draws the answer and its :data:`Details`.

    A bad file is refused here, before any noise is drawn.
    """
    if isinstance(release, PrivatelyBounded):
        return private_bounds.prepare(spec, release, _rows(spec), prepare)
    output = replace(output, query=release.query)
    draw = compositions.prepare(output, release, lambda: map(output.scaled, _rows(spec)))

    def answer() -> tuple[Array, Details]:
        noisy = draw()
        return output.answer(noisy), lambda: compositions.details(output, noisy)

    return answer


def _records(spec: Specification) -> Iterator[Array]:
    """Yield blocks (k, m) of the scaled records that count, as :func:`_rows`."""
    return map(spec.output.scaled, _rows(spec))


def _rows(spec: Specification) -> Iterator[Array]:
    """Yield blocks (k, m) of the records that count, in the columns' units.

    A private number of records is not checked: an error would reveal it.

    Raises:
        InputError: the public number of records is not the stated one, or the file is bad.
    """
    count, expected, people = 0, spec.query.n_records, spec.people
    columns = spec.columns, spec.fill, people
    if spec.frame is None:
        blocks = tables.blocks(spec.file, *columns, spec.dialect, keep_missing=spec.present)
    else:
        blocks = tables.frame_blocks(spec.frame, spec.file, *columns, keep_missing=spec.present)
    for block in blocks:
        count += len(block)
        if count <= expected or spec.query.private_count:
            yield block
    if count != expected and not spec.query.private_count:
        which = f", at most {people.most} of each {people.column!r}" if people else ""
        raise InputError(
            f"{spec.file} has {plural(count, 'record')}{which}, and the specification says "
            f"records = {expected}; correct one"
        )


def _written(spec: Specification, answer: Array) -> str:
    """Return the CSV text of an answer."""
    header, rows = spec.output.table(answer)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
