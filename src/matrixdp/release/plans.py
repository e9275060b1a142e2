"""One private release of a file of records: its numbers, its receipt, its charge to the account."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.mechanisms.release import Release
from matrixdp.release import (
    choices,
    durable,
    ledger,
    provenance,
    receipt,
    records,
    storage,
    tables,
)
from matrixdp.release.account import Account
from matrixdp.release.answer import Answer, claim, file_names, publish, unclaimed
from matrixdp.release.comparison import Option
from matrixdp.release.description import (
    FILE,
    NUMBER,
    Description,
    columns_without_bounds,
    notes_of_release,
)
from matrixdp.release.outputs import Output
from matrixdp.release.outputs.noisy import (
    Draw,
    Reader,
    draw_content,
    reader,
    rehearse,
    stored_draw,
)

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

    spec: Output
    account: Account | None
    listed: tuple[Option, ...] = ()
    option: Option | None = None

    @property
    def mechanism(self) -> Release:
        """The calibrated mechanism that is taken."""
        assert self.option is not None
        return self.option.release

    @property
    def output(self) -> Output:
        """The specification by the mechanism that is taken."""
        assert self.option is not None
        return self.spec.by(self.option.key)

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
            ledger.check(self.mechanism)
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
        entry = self.account.entry(self.mechanism, label)
        with self.account.open() as (state, location):
            if not self._is_taken(state, location.path):
                raise Outdated(f"{location.path} has changed since this release was planned")
            self.account.charge(self.account.admit(state, location, entry), location)

    def _is_taken(self, state: ledger.Account, name: object) -> bool:
        option = choices.choose(self.spec, self.listed, state, name)[0][0]
        return option.release is self.mechanism

    def _prepare(
        self, date: str, more: Mapping[str, Any], **of_account: Any
    ) -> tuple[Callable[[], Draw], Description]:
        """Read the records, try to describe an answer, and return what draws and what describes.

        Raises:
            InputError: a record is bad, or no answer of this release could be described.
        """
        assert self.option is not None
        spec, release = self.output, self.mechanism
        statement = {**receipt.build(spec, self.option, date, **of_account), **more}
        draw = records.prepare(spec, release)
        notes = columns_without_bounds(spec)

        def describe(few: Reader, trial: Draw) -> None:
            answer = Description(spec, statement, few, notes).describe(trial)
            if self.account is not None:
                texts = [answer.files(), draw_content(trial)]
                json.dumps(texts, ensure_ascii=False).encode()

        rehearse(spec.release_name, spec, release, describe)
        read = reader(spec, release)
        return draw, Description(spec, statement, read, notes)

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
        entry = {**self.account.entry(self.mechanism, spec.label), "query": spec.name}
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
        sizes = description.sizes(self.mechanism.numbers)
        content = {
            **spec.request(path.parent),
            **self._calibration(),
            "receipt": description.statement,
        }
        size = sum(sizes.values()) + FILE + NUMBER * self.mechanism.numbers
        with storage.reserve(path, size) as name, claim(out, path, sizes):
            after = self.account.admit(state, location, {**entry, "answer": name})
            with durable.defer_signals():
                self.account.charge(after, location)
                drawn = draw()
                content["draw"] = draw_content(drawn)
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
                    answer = unclaimed(description.answer(drawn), sizes, out)
                    texts = answer.files() if out else {}
                with contextlib.suppress(InputError):
                    # The draw is there already, from which the answer can be described again.
                    storage.store(path, name, content, answer.content())
                publish(out, texts)
        answer.notes.extend(notes)
        return answer

    def _calibration(self) -> dict[str, Any]:
        """Return the mechanism that is taken and its calibration, as :meth:`draw` stores them."""
        release = self.mechanism
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
        if tables.newest(spec.file, spec.parts) > file.stat().st_mtime:
            notes.append(
                f"{spec.file} has changed since; to ask anew, at the price of another "
                'release, add label = "..."'
            )
        # A file that has gone or changed says nothing of its columns.
        with contextlib.suppress(Exception):
            notes += columns_without_bounds(spec)
        notes += notes_of_release(spec, answer.rows, answer.details, answer.receipt)
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
        read = reader(plan.output, plan.mechanism)
        description = Description(plan.output, stored["receipt"], read)
        return description.describe(stored_draw(stored["draw"]))


def plan(
    spec: Output,
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
        state, name = choices.account_state(spec, account)
    spec = replace(spec, total=ledger.terms(state)[0])
    listed = choices.possible(spec, state)
    option = choices.choose(spec, listed, state, name)[0][0]
    if option.useless and not even_if_useless:
        insist = "--even-if-useless" if spec.in_file else "even_if_useless=True"
        is_wide = len(spec.columns) > spec.records
        transpose = "transpose the table if its columns are records, or " * is_wide
        raise InputError(
            f"{option.says}; {transpose}{spec.remedies}or pay for it all the same with {insist}"
        )
    return Plan(spec, account, listed, option)


def make(
    spec: Output,
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
def _finding(spec: Output, path: Path) -> Iterator[None]:
    """Say of any error that the draw is stored, where the same request finds it again."""
    with checks.as_input_error(
        f"{spec.release_name} was charged and drawn, and its description fails ({{why}}); the draw "
        f"is kept beside {path}, and the same request describes it at no cost"
    ):
        yield


def _digest(spec: Output, account: Path) -> str:
    """Return the digest of a request; empty of records in memory, whose answers have no name."""
    return storage.digest(spec.request(account.parent)) if spec.in_file else ""


def make_all(
    specs: Sequence[Output], out: Path | None, *, even_if_useless: bool = False
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
            for _ in records.read_records(spec):
                pass
    if excess := ledger.excess(after):
        raise InputError(
            f"{path} allows {ledger.phrase(account['total'])} in all, and with these releases "
            f"{excess}; {choices.ALONE}"
        )
    folders = [out and out / spec.release_name for spec in specs]
    pairs = zip(specs, folders, strict=True)
    return [make(spec, folder, even_if_useless=even_if_useless) for spec, folder in pairs]


def charges(specs: Sequence[Output]) -> list[int]:
    """Return how often the account of several releases was charged for each."""
    path = storage.account_path(specs[0].file, specs[0].account)
    if (account := storage.read(path)) is None:
        return [0] * len(specs)
    return [len(storage.answers(path, account, _digest(spec, path))) for spec in specs]
