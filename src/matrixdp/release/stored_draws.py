"""Answers that an account has already: they are read from a draw beside it, and cost nothing."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.release import choices, ledger, provenance, receipt, storage, tables
from matrixdp.release.answer import Answer, claim, file_names, publish
from matrixdp.release.description import (
    Description,
    columns_without_bounds,
    notes_of_release,
)
from matrixdp.release.outputs import Moments, Output
from matrixdp.release.outputs.about_mean import AboutMean
from matrixdp.release.outputs.moments import (
    are_of_same_moments,
    as_reading,
    moments_request,
)
from matrixdp.release.outputs.noisy import reader, stored_draw
from matrixdp.release.outputs.output import CLIPPED

if TYPE_CHECKING:
    from matrixdp.release.plans import Plan

#: Relative difference of two calibrations to the same noise, on different processors.
_SAME = 1e-6


def is_kept(spec: Output, state: ledger.Account, path: Path) -> bool:
    """Return whether an account has the answer of a request, or a draw from which it is read."""
    stored = storage.answers(path, state, request_digest(spec, path)) if spec.in_file else []
    return any(file.exists() for file in stored) or draw_file(spec, state, path) is not None


def draw_file(spec: Output, state: ledger.Account, path: Path) -> Path | None:
    """Return where the account has a draw that answers a request, the latest one; or None.

    It is of the same moments, see :func:`moments_request`, of bounds of the same origin, and has a
    mean of the weight that the request asks for.
    """
    readings = _readings(spec) if spec.in_file else []
    if not readings:
        return None
    request, origins = storage.digest(moments_request(spec, path.parent)), None
    for charge in reversed(state["releases"]):
        file = path.with_name(charge["answer"] or "no answer")
        if charge.get("moments") != request or not file.is_file():
            continue
        stored = storage.content(file)
        origins = origins or provenance.of_bounds(spec, path, state)
        same = stored.release is not None and stored.receipt["origin_of_bounds"] == origins
        if same and _has_mean(spec, stored.release or {}):
            return file
    return None


def _has_mean(spec: Output, stored: Mapping[str, Any]) -> bool:
    """Return whether a stored draw has a mean of the weight that a request asks for, if it does."""
    whole = spec if isinstance(spec, Moments) else as_reading(spec)
    assert whole is not None
    if stored["taken"] == CLIPPED or not whole.answers_mean:
        return whole.mean_weight is None
    weight = whole.by(stored["taken"]).constant_weight
    return math.isclose(weight, stored.get("constant_weight", 1.0), rel_tol=_SAME)


def larger_draw(spec: Output, state: ledger.Account, path: Path) -> str:
    """Return a sentence on a kept draw of a larger epsilon that answers a request; else nothing.

    Args:
        spec: the release, which the account has no draw of.
        state, path: the account, and its path.
    """
    if not (spec.in_file and _readings(spec)):
        return ""
    epsilons: set[float] = set()
    for charge in state["releases"]:
        file = path.with_name(charge["answer"] or "no answer")
        if "moments" in charge and file.is_file():
            # What cannot be read answers nothing.
            with contextlib.suppress(InputError):
                stored = storage.content(file).release
                if stored and stored["guarantee"][1] == spec.delta:
                    epsilons.add(stored["guarantee"][0])
    for epsilon in sorted(epsilons, reverse=True):
        if epsilon > spec.epsilon and draw_file(replace(spec, epsilon=epsilon), state, path):
            delta = f" and delta = {spec.delta!r}" if spec.delta else ""
            return (
                f"{path} keeps a draw of a larger epsilon, which answers {spec.release_name}; ask "
                f"for it alone with epsilon = {epsilon!r}{delta}, which costs nothing, or state a "
                'label = "..." for another draw'
            )
    return ""


def repetition(planned: Plan, others: Sequence[Plan]) -> str:
    """Return a sentence on a new release of moments that another new one has; else nothing.

    At the same weight it would be read from that draw, not charged, and its share of the total
    would buy nothing. At another weight both answers have less noise in one draw for both shares,
    where this is of the same mechanism and the same weight of a mean.

    Args:
        planned: the release.
        others: those that are charged before it.
    """
    spec = planned.spec
    account = storage.account_path(spec.file, spec.account)
    for other in others:
        is_read = isinstance(other.spec, AboutMean) and _readings(spec)
        if not is_read or not are_of_same_moments(other.spec, spec, account.parent):
            continue
        same_weight = (other.spec.epsilon, other.spec.delta) == (spec.epsilon, spec.delta)
        outputs = {
            storage.digest({**one.request(account.parent), "guarantee": None}): one.name
            for one in (*_readings(other.spec), *_readings(spec))
        }
        names = [*outputs.values()]
        # A list has one regression, of one target.
        remedy = (
            f"ask for both in one [[release]] by query = {json.dumps(names)}, with the sum of "
            "their weights"
            if len({*names}) == len(names)
            else f"leave it out, and put it in the place of {other.spec.release_name} afterwards, "
            "where it costs nothing"
        )
        asks = f"{spec.release_name} asks for the moments of {other.spec.release_name} at"
        label = 'or state a label = "..." for another draw'
        if same_weight and _has_mean(spec, other.calibration()):
            return (
                f"{asks} the same weight and would be read from its draw, so that a share of the "
                f"total buys nothing; {remedy}, {label}"
            )
        if not same_weight and _is_same_draw(planned, other):
            return (
                f"{asks} another weight, and one draw for both shares has less noise in each; "
                f"{remedy}, {label}"
            )
    return ""


def _is_same_draw(one: Plan, other: Plan) -> bool:
    """Return whether two draws of the same moments differ by the size of their noise alone."""
    if not isinstance(one.spec, AboutMean):
        return False
    first, second = one.calibration(), other.calibration()
    weights = first["constant_weight"], second["constant_weight"]
    return first["taken"] == second["taken"] and math.isclose(*weights, rel_tol=_SAME)


def answers_again(
    plan: Plan,
    file: Path,
    state: ledger.Account,
    out: Path | None,
    path: Path,
    *,
    new: bool = False,
) -> list[Answer]:
    """Return the answers to a draw that is stored already, which may be described only now.

    Args:
        file: where it is stored.
        state, path: the account, and its path.
        out: folder of the files.
        new: whether the request is another one than that of the draw.
    """
    spec, stored = plan.spec, storage.content(file)
    with explain_failure(spec, path):
        if new or isinstance(spec, Moments):
            answers = _read(plan, file, stored, state, path)
        elif stored.answer is None:
            assert stored.release is not None
            answers = [_describe_draw(plan, spec, stored.release, state, path)]
            with contextlib.suppress(InputError):
                content = answers[0].content()
                storage.store(path, file.name, stored.release, content, stored.readings)
        else:
            answers = [Answer.of(stored)]
        texts = file_texts(answers)
    # Of files without a text an earlier run that was killed may have left the space.
    names = (name for answer in answers for name in file_names(answer.query).values())
    sizes = dict.fromkeys(names, 0)
    sizes |= {name: len(text.encode()) for name, text in texts.items()}
    with claim(out, path, sizes, texts):
        publish(out, texts)
    notes = _notes_again(plan, file, stored, new=new)
    result = []
    for answer in answers:
        more = notes_of_release(
            _output_of(answer, spec), answer.rows, answer.details, answer.receipt
        )
        result.append(with_paths(replace(answer, notes=[*notes, *more]), out, path))
    return result


def _notes_again(plan: Plan, file: Path, stored: storage.Stored, *, new: bool) -> list[str]:
    """Return the notes on a draw that is stored already."""
    spec = plan.spec
    earlier = "this is the answer of an earlier run of the same request, not charged"
    if new:
        statement = stored.receipt
        earlier = (
            f"this is read from the noisy moments of the charge {statement['charge']} of "
            f'{statement["date"]}, not charged; to ask anew, at a charge, add label = "..."'
        )
    notes = [*receipt.cautions(spec), earlier]
    if tables.newest(spec.file, spec.parts) > file.stat().st_mtime:
        notes.append(
            f"{spec.file} has changed since; to ask anew, at the price of another "
            'release, add label = "..."'
        )
    # A file that has gone or changed says nothing of its columns.
    with contextlib.suppress(Exception):
        notes += columns_without_bounds(spec)
    return notes


def _read(
    plan: Plan, file: Path, stored: storage.Stored, state: ledger.Account, path: Path
) -> list[Answer]:
    """Return the answers that are read from a stored draw, and store those that are new."""
    assert stored.release is not None
    readings = {request_digest(output, path): output for output in _readings(plan.spec)}
    answers, all_readings = [], dict(stored.readings)
    for key, output in readings.items():
        if key not in all_readings:
            answer = _describe_draw(plan, output, stored.release, state, path, several=True)
            all_readings[key] = content_with_receipt(answer)
        answers.append(Answer(**all_readings[key]))
    if len(all_readings) > len(stored.readings):
        with contextlib.suppress(InputError):
            storage.store(path, file.name, stored.release, stored.answer, all_readings)
    return answers


def _describe_draw(
    plan: Plan,
    spec: Output,
    stored: dict[str, Any],
    state: ledger.Account,
    path: Path,
    *,
    several: bool = False,
) -> Answer:
    """Return an answer to a stored draw, by the mechanism that drew it.

    Args:
        spec: the answer.
        stored: the draw, and of what it is.
        state, path: the account, and its path.
        several: whether the draw has several answers.

    Raises:
        InputError: this version calibrates it to other noise, or its description fails again.
    """
    weight = stored.get("constant_weight", 1.0) if several else spec.mean_weight
    weight = None if stored["taken"] == CLIPPED else weight
    spec = replace(spec, total=ledger.terms(state)[0], mean_weight=weight).by(stored["taken"])
    option = choices.possible(spec, state)[0]
    plan_of_draw = replace(plan, spec=spec, option=option)
    for key, value in plan_of_draw.calibration().items():
        # A draw of an earlier version says nothing of a weight, which it has not.
        first = stored.get(key, value)
        if value != first and not math.isclose(value, first, rel_tol=_SAME):
            raise InputError(
                f"the draw beside {path} has {key} = {first:.6g}, where this version of "
                f"matrixdp has {value:.6g}; describe it by the version of its receipt"
            )
    statement = stored["receipt"]
    if several:
        statement = receipt.of_kept(statement, plan_of_draw.output, option)
    columns = [name for name, *_ in stored["columns"]]
    read = reader(plan_of_draw.output, plan_of_draw.mechanism, columns)
    return Description(plan_of_draw.output, statement, read).describe(stored_draw(stored["draw"]))


def _readings(spec: Output) -> list[Output]:
    """Return the answers of a request as readings of moments; none where moments have none."""
    if isinstance(spec, Moments):
        return [*spec.readings]
    reading = as_reading(spec)
    return [] if reading is None else [reading]


@contextlib.contextmanager
def explain_failure(spec: Output, path: Path) -> Iterator[None]:
    """Say of any error that the draw is stored, where the same request finds it again."""
    with checks.as_input_error(
        f"{spec.release_name} was charged and drawn, and its description fails ({{why}}); the draw "
        f"is kept beside {path}, and the same request describes it at no cost"
    ):
        yield


def _output_of(answer: Answer, spec: Output) -> Output:
    """Return the output of one of the answers of a request."""
    return next((output for output in spec.readings if output.name == answer.query), spec)


def with_paths(answer: Answer, out: Path | None, account: Path) -> Answer:
    """Return an answer with the paths of its files and of the account."""
    return replace(answer, paths={**answer.paths_in(out), "account": account})


def file_texts(answers: Sequence[Answer]) -> dict[str, str]:
    """Return the texts of the files of answers, by name."""
    return {name: text for answer in answers for name, text in answer.files().items()}


def content_with_receipt(answer: Answer) -> dict[str, Any]:
    """Return what an account stores of one of several answers of a release."""
    return {**answer.content(), "receipt": answer.receipt}


def request_digest(spec: Output, account: Path) -> str:
    """Return the digest of a request; empty of records in memory, whose answers have no name."""
    return storage.digest(spec.request(account.parent)) if spec.in_file else ""
