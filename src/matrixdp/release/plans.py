"""One private release of a file of records: its numbers, its receipt, its charge to the account."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError, plural, why
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.composed import ComposedMoments, Rows
from matrixdp.release import (
    choices,
    compositions,
    durable,
    ledger,
    missing,
    provenance,
    readers,
    receipt,
    storage,
    tables,
)
from matrixdp.release.account import Account
from matrixdp.release.answer import Answer, claim, file_names, publish
from matrixdp.release.comparison import Option
from matrixdp.release.outputs import Bounds, Output, words
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import DOUBTS, SHRUNK, UNCLIPPED
from matrixdp.release.specification import Specification

#: Upper bounds in bytes: a number as text, a number with its interval in JSON, all else in a file.
_NUMBER, _ENTRY, _FILE = 32, 128, 1 << 14

#: Numbers of records that are held in memory, so that a release in parts reads its file once.
_HELD = 1 << 24

#: Largest number of notes of one kind.
_SENTENCES = 4

T = TypeVar("T")

#: Relative difference of two calibrations to the same noise, on different processors.
_SAME = 1e-6

#: How often a release is planned anew where others spend of the same account meanwhile.
TRIES = 20


class Outdated(InputError):
    """The account has changed since a plan, so that it would be another one now."""


@dataclass(frozen=True)
class Plan:
    """A release that is chosen, checked and not drawn yet.

    Attributes:
        spec: what is released.
        account: the account to charge; None where nothing counts the release.
        listed: the mechanisms that can answer, of which the account decides.
        option: the one that is taken; None where the account has the answer already.
    """

    spec: Specification
    account: Account | None
    listed: tuple[Option, ...] = ()
    option: Option | None = None

    @property
    def release(self) -> AdditiveMechanism | ComposedMoments:
        """The calibrated mechanism that is taken."""
        assert self.option is not None
        return self.option.release

    @property
    def output(self) -> Output:
        """What is read from the release, with the query of its mechanism."""
        assert self.option is not None
        assert self.option.output is not None
        return self.option.output

    def draw(self, out: Path | None = None, *, date: str = "") -> Answer:
        """Charge the release, draw it, store the draw beside the account, and return its answer.

        All that can refuse comes before, also a trial of the answer's description on public values.
        Then this is the order on the disk: the charge, the draw, the answer. What fails after the
        draw loses neither: the same request of a file describes the stored draw at no cost, and
        records in memory give the noisy numbers in place of their description. They have no name by
        which an answer could be found again: each call is a release of its own.

        What is stored is the request (file, query, columns with bounds, records, neighbours,
        person, max_norm, missing, mechanism, label), the mechanism that was taken with its
        calibration, the receipt, and the draw.

        Args:
            out: folder of the files; None writes none but those of the account.
            date: that the charge and the receipt of a new release state; today in UTC if empty.

        Raises:
            Outdated: the account has changed, and the plan would now be another one.
            InputError: the records differ from the specification, or ``out`` cannot be written.
        """
        date = date or ledger.today()
        if self.account is None:
            ledger.check(self.release)
            draw, description = self._prepare(date, {})
            return description.answer(draw())
        with self.account.open() as (state, location):
            path, request = location.path, _digest(self.spec, location.path)
            charges = storage.answers(path, state, request) if request else []
            if stored := next((file for file in charges if file.exists()), None):
                return self._again(stored, state, out, path)
            if self.option is None or not self._is_taken(state, path):
                raise Outdated(
                    f"{path} has changed since this release was planned, and another mechanism "
                    "would now be taken; plan it again"
                )
            answer = self._charge(state, location, request, out, date)
        if charges:
            answer.notes.append(
                "an earlier run of the same request ended before its answer; its charge stays"
            )
        return replace(answer, paths={**answer.paths_in(out), "account": path})

    def charge(self, label: str = "") -> None:
        """Charge the release to its account; whoever calls it draws the noise only then.

        Raises:
            Outdated: as :meth:`draw`.
        """
        assert self.account is not None
        entry = self.account.entry(self.release, label)
        with self.account.open() as (state, location):
            if not self._is_taken(state, location.path):
                raise Outdated(f"{location.path} has changed since this release was planned")
            self.account.charge(self.account.admit(state, location, entry), location)

    def _is_taken(self, state: ledger.Account, name: object) -> bool:
        option = choices.choose(self.spec, self.listed, state, name)[0][0]
        return option.release is self.release

    def _prepare(
        self, date: str, more: Mapping[str, Any], **of_account: Any
    ) -> tuple[Callable[[], compositions.Draw], _Description]:
        """Read the records, try to describe an answer, and return what draws and what describes.

        Raises:
            InputError: a record is bad, or no answer of this release could be described.
        """
        assert self.option is not None
        spec, release = replace(self.spec, output=self.output), self.release
        statement = {**receipt.build(spec, self.option, date, **of_account), **more}
        draw = compositions.prepare(spec.output, release, _scaled(spec, release))
        notes = _unbounded(spec)

        def describe(few: compositions.Reader, trial: compositions.Draw) -> None:
            answer = _Description(spec, statement, few, notes).describe(trial)
            if self.account is not None:
                texts = [answer.files(), compositions.content(trial)]
                json.dumps(texts, ensure_ascii=False).encode()

        compositions.rehearse(spec.name, spec.output, release, describe)
        read = compositions.reader(spec.output, release)
        return draw, _Description(spec, statement, read, notes)

    def _charge(
        self,
        state: ledger.Account,
        location: storage.AccountFile,
        request: str,
        out: Path | None,
        date: str,
    ) -> Answer:
        """Charge the release under the lock, draw it, store it and write it to ``out``."""
        assert self.account is not None
        spec, path, number = self.spec, location.path, len(state["releases"]) + 1
        entry = {**self.account.entry(self.release, spec.label), "query": spec.output.name}
        entry |= {"date": date}
        if request:
            entry |= {"file": spec.file.name, "request": request}
        more = {
            "total_of_the_account": ledger.phrase(state["total"]),
            "epsilon_of_all_releases_so_far": ledger.total_epsilon(ledger.add(state, entry)),
        }
        origins = provenance.of_bounds(spec, path, state)
        draw, description = self._prepare(date, more, charge=number, origins=origins)
        entry["receipt"] = description.statement["digest"]
        sizes = description.sizes(self.release.numbers)
        content = {
            **_request(spec, path.parent),
            **self._calibration(),
            "receipt": description.statement,
        }
        size = sum(sizes.values()) + _FILE + _NUMBER * self.release.numbers
        with storage.reserve(path, size) as name, claim(out, path, sizes):
            after = self.account.admit(state, location, {**entry, "answer": name})
            with durable.defer_signals():
                self.account.charge(after, location)
                drawn = draw()
                content["draw"] = compositions.content(drawn)
                notes = []
                try:
                    storage.store(path, name, content, None)
                except InputError as error:
                    notes = [f"{error}; the same request would be charged again"]
                if request and not notes:
                    with _finding(spec, path):
                        answer = description.describe(drawn)
                        texts = answer.files()
                else:
                    answer = description.answer(drawn)
                    texts = answer.files() if out else {}
                with contextlib.suppress(InputError):
                    # The draw is there already, from which the answer can be described again.
                    storage.store(path, name, content, answer.content())
                publish(out, texts)
        answer.notes.extend(notes)
        return answer

    def _calibration(self) -> dict[str, Any]:
        """Return the mechanism that is taken and its calibration, as :meth:`draw` stores them."""
        release = self.release
        names = ("epsilon", "delta", "mu", "noise_std")
        return {"taken": self.output.mechanism} | {key: getattr(release, key) for key in names}

    def _again(self, file: Path, state: ledger.Account, out: Path | None, path: Path) -> Answer:
        """Return the answer to a draw that is stored already, which may be described only now."""
        spec, stored = self.spec, storage.content(file)
        with _finding(spec, path):
            if stored.answer is None:
                assert stored.release is not None
                answer = self._described(stored.release, state, path)
                texts = answer.files()
                with contextlib.suppress(InputError):
                    storage.store(path, file.name, stored.release, answer.content())
            else:
                answer = Answer.of(stored)
                texts = answer.files()
        # Of files without a text an earlier run that was killed may have left the space.
        sizes = dict.fromkeys(file_names(answer.query).values(), 0)
        sizes |= {name: len(text.encode()) for name, text in texts.items()}
        with claim(out, path, sizes, texts):
            publish(out, texts)
        notes = [
            *receipt.cautions(spec),
            "this is the answer of an earlier run of the same request, not charged",
        ]
        if spec.file.exists() and spec.file.stat().st_mtime > file.stat().st_mtime:
            notes.append(
                f"{spec.file} has changed since; to ask anew, at the price of another "
                'release, add label = "..."'
            )
        # A file that has gone or changed says nothing of its columns.
        with contextlib.suppress(Exception):
            notes += _unbounded(spec)
        notes += _notes(spec, answer.rows, answer.details, answer.receipt)
        return replace(answer, notes=notes, paths={**answer.paths_in(out), "account": path})

    def _described(self, stored: dict[str, Any], state: ledger.Account, path: Path) -> Answer:
        """Return the answer to a stored draw, by the mechanism that drew it.

        Raises:
            InputError: this version calibrates it to other noise, or its description fails again.
        """
        spec = replace(self.spec, total=ledger.terms(state)[0]).by(stored["taken"])
        option = choices.possible(spec, state)[0]
        plan = replace(self, spec=spec, option=option)
        for key, value in plan._calibration().items():
            if value != stored[key] and not math.isclose(value, stored[key], rel_tol=_SAME):
                raise InputError(
                    f"the draw beside {path} has {key} = {stored[key]:.6g}, where this version of "
                    f"matrixdp has {value:.6g}; describe it by the version of its receipt"
                )
        read = compositions.reader(plan.output, plan.release)
        description = _Description(replace(spec, output=plan.output), stored["receipt"], read)
        return description.describe(compositions.from_content(stored["draw"]))


@dataclass(frozen=True)
class _Description:
    """What makes an answer of a draw.

    Attributes:
        spec: what is released, with the output of the mechanism that is taken.
        statement: its receipt.
        read: maps a draw to what the output reads.
        notes: sentences on the file.
    """

    spec: Specification
    statement: dict[str, Any]
    read: Callable[[compositions.Draw], Noisy]
    notes: Sequence[str] = ()

    def describe(self, draw: compositions.Draw) -> Answer:
        """Return the answer of a draw, with all that stands beside it."""
        spec, noisy = self.spec, self.read(draw)
        header, rows = spec.output.table(spec.output.answer(noisy))
        details = json.loads(json.dumps(spec.output.described(noisy)))
        notes = [
            *receipt.cautions(spec),
            *self.notes,
            *_notes(spec, rows, details, self.statement),
        ]
        return Answer(spec.output.name, header, rows, details, self.statement, notes)

    def answer(self, draw: compositions.Draw) -> Answer:
        """Return the answer of a draw, or its numbers alone where their description fails."""
        try:
            return self.describe(draw)
        except Exception as error:
            reason = why(error)
        output = self.spec.output
        content = compositions.content(draw)
        rows = content["value" if "value" in content else "moments"]
        details = {
            "draw": content,
            "columns": [*output.columns],
            "middle": output.middle.tolist(),
            "half": output.half.tolist(),
        }
        note = (
            f"the description of this answer fails ({reason}), so that it has the noisy numbers as "
            "they were drawn, of records minus middle, over half, as the details state them"
        )
        header = [*map(str, range(len(rows[0])))]
        return Answer("draw", header, rows, details, self.statement, [note])

    def sizes(self, numbers: int) -> dict[str, int]:
        """Return upper bounds in bytes on the files of an answer of so many numbers, by name."""
        output = self.spec.output
        columns, names = len(output.columns), len(json.dumps(output.columns))
        # Numbers and intervals are named by column, or by row and column.
        entries = (columns + 2) * (_ENTRY * (columns + 2) + 2 * names)
        roles = file_names(output.name)
        texts = Answer(output.name, [], [], {}, self.statement).files()
        sizes = {name: len(text.encode()) for name, text in texts.items()}
        sizes[roles["release"]] = _FILE + 2 * names + _NUMBER * numbers
        sizes[roles["details"]] = _FILE + entries * (not isinstance(output, Bounds))
        return sizes


def plan(
    spec: Specification,
    account: Account | None = None,
    *,
    even_if_useless: bool = False,
) -> Plan:
    """Return the plan of a release: its mechanism, from public facts and the account.

    Every door comes this way, so that one request has one mechanism and one refusal. Without an
    account the mechanism is that of an account for this release alone.

    Args:
        spec: what is released.
        account: for records in memory, the account to charge; a file has its own.
        even_if_useless: whether to release what noise hides.

    Raises:
        InputError: no mechanism gives the guarantee, the release is useless or would overspend the
            account, or the specification lacks something.
    """
    name: object
    if spec.in_file:
        account = Account.of(spec)
        state, name = account.state(), account.path
        if any(one.exists() for one in storage.answers(name, state, _digest(spec, name))):
            return Plan(spec, account)
        if sentence := choices.proposal(spec):
            raise InputError(sentence)
    else:
        state, name = choices.books(spec, account)
    spec = replace(spec, total=ledger.terms(state)[0])
    listed = choices.possible(spec, state)
    option = choices.choose(spec, listed, state, name)[0][0]
    if option.useless and not even_if_useless:
        insist = "--even-if-useless" if spec.in_file else "even_if_useless=True"
        is_wide = len(spec.output.columns) > spec.output.records
        transpose = "transpose the table if its columns are records, or " * is_wide
        raise InputError(
            f"{option.says}; {transpose}{spec.output.remedies}or pay for it all the same with "
            f"{insist}"
        )
    return Plan(spec, account, listed, option)


def make(
    spec: Specification,
    out: Path | None,
    account: Account | None = None,
    *,
    even_if_useless: bool = False,
    date: str = "",
) -> Answer:
    """Make a release; the same request of a file again returns the same answer at no cost.

    Args:
        spec: what is released.
        out: folder of the files; None writes none but those of the account.
        account: for records in memory, the account to charge.
        even_if_useless: as of :func:`plan`.
        date: as of :meth:`Plan.draw`.

    Raises:
        InputError: as :func:`plan` and :meth:`Plan.draw`.
    """
    return retried(
        lambda: plan(spec, account, even_if_useless=even_if_useless).draw(out, date=date)
    )


def retried(attempt: Callable[[], T]) -> T:
    """Return what a plan and its charge give, planned anew where the account has changed."""
    for _ in range(TRIES):
        with contextlib.suppress(Outdated):
            return attempt()
    return attempt()


@contextlib.contextmanager
def _finding(spec: Specification, path: Path) -> Iterator[None]:
    """Say of any error that the draw is stored, where the same request finds it again."""
    with checks.as_input_error(
        f"{spec.name} was charged and drawn, and its description fails ({{why}}); the draw is kept "
        f"beside {path}, and the same request describes it at no cost"
    ):
        yield


def _digest(spec: Specification, account: Path) -> str:
    """Return the digest of a request; empty of records in memory, whose answers have no name."""
    return storage.digest(_request(spec, account.parent)) if spec.in_file else ""


def _notes(
    spec: Specification,
    rows: Sequence[Sequence[Any]],
    details: Mapping[str, Any],
    statement: Mapping[str, Any],
) -> list[str]:
    """Return sentences on what no interval covers: missing values, clipping, and what is empty.

    They follow from what is public or released.
    """
    if isinstance(spec.output, Bounds):
        return provenance.failure(rows)
    notes, fills = [], spec.leaves_missing_out or not np.isnan(spec.fill).any()
    if fills and missing.can_occur(spec.file):
        notes.append(statement["rule_for_missing_values"])
    if found := provenance.describe(statement):
        notes.append(found)
    return [*notes, *answer_notes(spec.output, details)]


def answer_notes(
    output: Output, details: Mapping[str, Any], *, most: int = _SENTENCES
) -> list[str]:
    """Return sentences on what an answer is not, by its details, whatever the door.

    Args:
        output: what is released.
        details: what stands beside the answer.
        most: how many sentences of one kind.
    """
    notes = [SHRUNK] if output.root and details.get("clipping") == SHRUNK else []
    if clipped := details.get(UNCLIPPED, {}):
        notes.append(
            f"noise took the mean of {words.join([*clipped])} beyond its bounds, and the answer "
            f"has the nearest bound; {UNCLIPPED} in the details has it as the noise left it"
        )
    for key in ("empty", DOUBTS):
        sentences = details.get(key, [])
        notes += sentences[:most]
        if more := len(sentences[most:]):
            notes.append(f"the same holds of {more} more; {key} in the details has all of them")
    return notes


def make_all(
    specs: Sequence[Specification], out: Path | None, *, even_if_useless: bool = False
) -> list[Answer]:
    """Make all releases of one file; each of several gets a folder with its name below ``out``.

    All of them are checked before the first one is made.

    Raises:
        InputError: as :func:`make`.
    """
    if len(specs) == 1:
        return [make(specs[0], out, even_if_useless=even_if_useless)]
    account, path = choices.account_of(specs[0])
    after = account
    for spec in specs:
        if (option := plan(spec, even_if_useless=even_if_useless).option) is not None:
            after = ledger.add(after, ledger.entry(option.release))
            for _ in _rows(spec):
                pass
    if excess := ledger.excess(after):
        raise InputError(
            f"{path} allows {ledger.phrase(account['total'])} in all, and with these releases "
            f"{excess}; {choices.ALONE}"
        )
    folders = [out and out / spec.name for spec in specs]
    pairs = zip(specs, folders, strict=True)
    return [make(spec, folder, even_if_useless=even_if_useless) for spec, folder in pairs]


def charges(specs: Sequence[Specification]) -> list[int]:
    """Return how often the account of several releases was charged for each."""
    path = storage.account_path(specs[0].file, specs[0].account)
    if (account := storage.read(path)) is None:
        return [0] * len(specs)
    return [len(storage.answers(path, account, _digest(spec, path))) for spec in specs]


def _request(spec: Specification, folder: Path) -> dict[str, Any]:
    """Return all that identifies a request; the file's path is relative to ``folder``."""
    output = spec.output
    return {
        "file": os.path.relpath(spec.file.resolve(), folder) if spec.in_file else None,
        "query": output.name,
        "columns": [*zip(output.columns, output.box.lower, output.box.upper, strict=True)],
        "records": output.records,
        "neighbours": output.adjacency,
        "max_norm": output.max_norm or 0.0,
        "target": output.columns[-1] if output.has_target else "",
        "missing": [None if np.isnan(value) else value for value in spec.fill.tolist()],
        "guarantee": [spec.epsilon, spec.delta],
        "mechanism": output.mechanism,
        "label": spec.label,
        **({"leaves_missing_out": True} if spec.leaves_missing_out else {}),
        **output.options,
        **({"person": [*spec.people]} if spec.people else {}),
        **({"dialect": [*spec.dialect]} if spec.dialect != readers.USUAL else {}),
    }


def _unbounded(spec: Specification) -> list[str]:
    """Return a sentence on the columns that have no bounds, if there are any.

    It counts them alone: the first line of a file may be a record.
    """
    if isinstance(spec.output, Bounds):
        return []
    used = len(spec.output.columns) + bool(spec.people)
    rest = tables.width(spec.file, spec.dialect, spec.frame) - used
    if rest <= 0:
        return []
    verb = "has" if rest == 1 else "have"
    return [
        f"{plural(rest, 'column')} of {spec.file} {verb} no bounds, and nothing is said of them"
    ]


def _scaled(spec: Specification, release: AdditiveMechanism | ComposedMoments) -> Rows:
    """Return a function that yields the scaled records in blocks, anew in each call.

    A release in parts reads its records again after its charge, when a file may have changed or
    gone. Those of up to ``_HELD`` numbers are therefore held in memory.
    """

    def scaled() -> Iterator[Array]:
        return map(spec.output.scaled, _rows(spec))

    if (
        isinstance(release, AdditiveMechanism)
        or spec.output.records * spec.output.box.features > _HELD
    ):
        return scaled
    blocks, held = [], 0
    for block in scaled():
        blocks.append(block)
        held += block.size
        # A private number of records may be far above the stated one.
        if held > _HELD:
            return scaled
    return lambda: blocks


def _rows(spec: Specification) -> Iterator[Array]:
    """Yield blocks (k, m) of the records that count, in the columns' units.

    A private number of records is not checked: an error would reveal it.

    Raises:
        InputError: the public number of records is not the stated one, or the file is bad.
    """
    count, expected, people = 0, spec.output.records, spec.people
    blocks = tables.blocks(
        *(spec.file, spec.output.columns, spec.fill, people, spec.dialect),
        frame=spec.frame,
        keep_missing=spec.leaves_missing_out,
    )
    for block in blocks:
        count += len(block)
        if count <= expected or spec.output.query.private_count:
            yield block
    if count != expected and not spec.output.query.private_count:
        which = f", at most {people.most} of each {people.column!r}" if people else ""
        raise InputError(
            f"{spec.file} has {plural(count, 'record')}{which}, and the specification says "
            f"records = {expected}; correct one"
        )
