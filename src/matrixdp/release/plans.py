"""One private release of a file of records: its numbers, its receipt, its charge to the account."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

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
    stored_draws,
)
from matrixdp.release.account import Account
from matrixdp.release.answer import Answer, claim, publish, rename_answer
from matrixdp.release.comparison import Option
from matrixdp.release.description import (
    FILE,
    NUMBER,
    Description,
    columns_without_bounds,
)
from matrixdp.release.outputs import Moments, Output
from matrixdp.release.outputs.about_mean import AboutMean
from matrixdp.release.outputs.moments import moments_request
from matrixdp.release.outputs.noisy import (
    Draw,
    Reader,
    draw_content,
    reader,
    rehearse,
)

T = TypeVar("T")

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

    def draw(self, out: Path | None = None, *, date: str = "") -> list[Answer]:
        """Charge the release, draw it, store the draw beside the account, and return its answers.

        There is one answer for each that the request asks for.

        All that can refuse comes before, also a trial of the answer's description on public values.
        Then this is the order on the disk: the charge, the draw, the answer. What fails after the
        draw loses neither: the same request of a file describes the stored draw at no cost, and
        records in memory give the noisy numbers in place of their description. They have no name by
        which an answer could be found again: each call is a release of its own. An answer that can
        be read from a draw beside the account is read from it, and nothing is charged.

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
            draw, descriptions = self._prepare(date, {})
            drawn = draw()
            return [description.answer(drawn, self.output) for description in descriptions]
        with self.account.open() as (state, location):
            path, request = location.path, stored_draws.request_digest(self.spec, location.path)
            charges = storage.answers(path, state, request) if request else []
            if stored := next((file for file in charges if file.exists()), None):
                return stored_draws.answers_again(self, stored, state, out, path)
            if request and (kept := stored_draws.draw_file(self.spec, state, path)):
                return stored_draws.answers_again(self, kept, state, out, path, new=True)
            if self.option is None or not self._is_taken(state, path):
                raise Outdated(
                    f"{path} has changed since this release was planned, and another mechanism "
                    "would now be taken; plan it again"
                )
            answers = self._charge(state, location, request, out, date)
        if charges:
            answers[0].notes.append(
                "an earlier run of the same request ended before its answer; its charge stays"
            )
        return [stored_draws.with_paths(answer, out, path) for answer in answers]

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
    ) -> tuple[Callable[[], Draw], list[Description]]:
        """Read the records, try to describe answers, and return what draws and what describes.

        Raises:
            InputError: a record is bad, or no answer of this release could be described.
        """
        assert self.option is not None
        spec, release = self.output, self.mechanism
        draw = records.prepare(spec, release)
        notes, descriptions = columns_without_bounds(spec), []
        for output, option in _answers(spec, self.option):
            statement = {**receipt.build(output, option, date, **of_account), **more}
            if output is not spec:
                statement = receipt.of_answer(statement, output)
            read = reader(output, release, spec.columns)
            description = Description(output, statement, read, notes)

            def describe(few: Reader, trial: Draw, whole: Description = description) -> None:
                answer = replace(whole, read=few).describe(trial)
                if self.account is not None:
                    texts = [answer.files(), draw_content(trial)]
                    json.dumps(texts, ensure_ascii=False).encode()

            rehearse(output.release_name, output, release, describe)
            descriptions.append(description)
        return draw, descriptions

    def _charge(
        self,
        state: ledger.Account,
        location: storage.AccountFile,
        request: str,
        out: Path | None,
        date: str,
    ) -> list[Answer]:
        """Charge the release under the lock, draw it, store it and write it to ``out``."""
        assert self.account is not None
        spec, path, number = self.spec, location.path, len(state["releases"]) + 1
        names = ", ".join(output.name for output in spec.readings)
        entry = {**self.account.entry(self.mechanism, spec.label), "query": names}
        entry |= {"date": date}
        if request:
            entry |= {"file": spec.file.name, "request": request}
            if isinstance(spec, AboutMean):
                entry["moments"] = storage.digest(moments_request(spec, path.parent))
        more = {
            "total_of_the_account": ledger.phrase(state["total"]),
            "epsilon_of_all_releases_so_far": ledger.total_epsilon(ledger.add(state, entry)),
        }
        origins = provenance.of_bounds(spec, path, state)
        draw, descriptions = self._prepare(date, more, charge=number, origins=origins)
        statement = descriptions[0].statement
        entry["receipt"] = statement["digest"]
        sizes: dict[str, int] = {}
        for description in descriptions:
            sizes |= description.sizes(self.mechanism.numbers)
        content = {**spec.request(path.parent), **self.calibration(), "receipt": statement}
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
                    with stored_draws.explain_failure(spec, path):
                        answers = [one.describe(drawn) for one in descriptions]
                        texts = stored_draws.file_texts(answers)
                else:
                    answers = [one.answer(drawn, self.output) for one in descriptions]
                    answers = [rename_answer(answer, sizes, out) for answer in answers]
                    texts = stored_draws.file_texts(answers) if out else {}
                with contextlib.suppress(InputError):
                    # The draw is there already, from which the answer can be described again.
                    if isinstance(spec, Moments):
                        keys = [
                            stored_draws.request_digest(one, path) or one.name
                            for one in spec.readings
                        ]
                        readings = dict(
                            zip(keys, map(stored_draws.content_with_receipt, answers), strict=True)
                        )
                        storage.store(path, name, content, None, readings)
                    else:
                        storage.store(path, name, content, answers[0].content())
                publish(out, texts)
        for answer in answers:
            answer.notes.extend(notes)
        return answers

    def calibration(self) -> dict[str, Any]:
        """Return the mechanism that is taken and its calibration, as :meth:`draw` stores them."""
        release, output = self.mechanism, self.output
        names = ("epsilon", "delta", "mu", "noise_std")
        taken: dict[str, Any] = {"taken": output.mechanism}
        if isinstance(output, AboutMean):
            taken["constant_weight"] = output.constant_weight
        return taken | {key: getattr(release, key) for key in names}


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
        if stored_draws.is_kept(spec, state, name):
            return Plan(spec, account)
        sentence = stored_draws.larger_draw(spec, state, name) or choices.proposal(spec)
        if sentence:
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


def _check_out(spec: Output, out: Path | None) -> None:
    """Check that no file of an answer becomes a part of a folder of records.

    Raises:
        InputError: the folder of answers is that of the records, or lies within.
    """
    if out is not None and spec.in_file and not spec.parts and spec.file.is_dir():
        folder = spec.file.resolve()
        if folder in (out.resolve(), *out.resolve().parents):
            raise InputError(
                f"{out} is in {spec.file}, the folder of the records, of which files of an answer "
                "would be parts; give another --out"
            )


def make(
    spec: Output,
    out: Path | None,
    account: Account | None = None,
    *,
    even_if_useless: bool = False,
    date: str = "",
) -> list[Answer]:
    """Make a release; the same request of a file again returns the same answers at no cost.

    Args:
        spec: what is released.
        out: folder of the files; None writes none but those of the account.
        account: for records in memory, the account to charge.
        even_if_useless: as of :func:`plan`.
        date: as of :meth:`Plan.draw`.

    Raises:
        InputError: as :func:`plan` and :meth:`Plan.draw`.
    """
    _check_out(spec, out)
    return retried(
        lambda: plan(spec, account, even_if_useless=even_if_useless).draw(out, date=date)
    )


def retried(attempt: Callable[[], T]) -> T:
    """Return what a plan and its charge give, planned anew where the account has changed."""
    for _ in range(TRIES):
        with contextlib.suppress(Outdated):
            return attempt()
    return attempt()


def _answers(spec: Output, option: Option) -> list[tuple[Output, Option]]:
    """Return what a release is read for, each with what the noise means for it."""
    if isinstance(spec, Moments):
        return [*zip(spec.readings, option.readings, strict=True)]
    return [(spec, option)]


def make_all(
    specs: Sequence[Output], out: Path | None, *, even_if_useless: bool = False
) -> list[list[Answer]]:
    """Make all releases of one file; each of several gets a folder with its name below ``out``.

    All of them are checked before the first one is made.

    Raises:
        InputError: as :func:`make`.
    """
    if len(specs) == 1:
        return [make(specs[0], out, even_if_useless=even_if_useless)]
    account, path = choices.account_of(specs[0])
    after = account
    charged: list[Plan] = []
    for spec in specs:
        planned = plan(spec, even_if_useless=even_if_useless)
        if planned.option is not None:
            if sentence := stored_draws.repetition(planned, charged):
                raise InputError(sentence)
            charged.append(planned)
            after = ledger.add(after, ledger.entry(planned.mechanism))
            for _ in records.read_records(spec):
                pass
    if excess := ledger.excess(after):
        raise InputError(
            f"{path} allows {ledger.phrase(account['total'])} in all, and with these releases "
            f"{excess}; {choices.remedy_of_shares(account)}"
        )
    folders = [out and out / spec.release_name for spec in specs]
    pairs = zip(specs, folders, strict=True)
    return [make(spec, folder, even_if_useless=even_if_useless) for spec, folder in pairs]


def charge_counts(specs: Sequence[Output]) -> list[int]:
    """Return how often each of several releases was charged to the account that they share."""
    path = storage.account_path(specs[0].file, specs[0].account)
    if (account := storage.read(path)) is None:
        return [0] * len(specs)
    return [
        len(storage.answers(path, account, stored_draws.request_digest(spec, path)))
        for spec in specs
    ]
