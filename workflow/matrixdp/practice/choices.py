"""Which mechanisms can make a release, and which of them fit its account, from public facts."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from matrixdp.checks import InputError
from matrixdp.practice import compositions, ledger, recommend, specification
from matrixdp.practice.specification import Specification

#: A price of privacy below counts as 0; how close it is to the last step's where it is final.
_LEAST, _CLOSE = 1e-6, 1e-6

#: How many times more, or less, epsilon or records are looked at.
_FARTHEST = 1e6


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
    if spec.mechanism in specification.IN_PARTS:
        return compositions.options(spec, delta)
    ranking = recommend.options(
        spec.query,
        epsilon=spec.epsilon,
        delta=delta,
        importance=spec.importance,
        mechanisms=mechanisms,
    )
    if spec.mu is None:
        return ranking
    # A pure mechanism of the same epsilon spends more, which is that of the other releases.
    fitting = [option for option in ranking if ledger.cost(option.release) <= spec.mu]
    if not fitting:
        raise InputError(
            f"{spec.mechanism} spends more than the share of {spec.name} in the total; take another"
            " mechanism"
        )
    return fitting


def rank(spec: Specification) -> list[tuple[recommend.Option, int]]:
    """Return the mechanisms that fit the account and the plan, the least noise first.

    Beside each stands how many more releases at these epsilon and delta fit after it. Where no
    number is planned, the plan is to have as many as possible.

    Raises:
        InputError: none fits; the message names what would.
    """
    path, account = account_of(spec)
    spec = replace(spec, total=ledger.terms(account)[0])
    rooms = _rooms(spec, account)
    if not rooms:
        after = [ledger.add(account, ledger.entry(option.release)) for option in options(spec)]
        raise InputError(
            f"{path} allows {ledger.in_words(account['total'])} in all, and with this release "
            f"{ledger.excess(min(after, key=ledger.total_epsilon))}; {_remedy(spec, account)}"
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
    if spec.mu is not None:
        return "leave a [[release]] out, or give it less weight"
    free = spec.by(specification.RECOMMENDED)
    if spec.mechanism != free.mechanism and _rooms(free, account):
        return 'mechanism = "recommend" would fit'
    for share in np.arange(0.95, 0.01, -0.05):
        epsilon = float(f"{spec.epsilon * share:.3g}")
        with contextlib.suppress(InputError):
            if _rooms(replace(free, epsilon=epsilon), account):
                return f"epsilon = {epsilon:g} would fit"
    if account["releases"]:
        return "ask for nothing more of this account"
    return "state a total with a smaller epsilon, at which safe noise counts, or a larger delta"


def account_of(spec: Specification) -> tuple[Path, ledger.Account]:
    """Return where the account of a file is, and the account, begun if it is not there."""
    path = ledger.place(spec.file, spec.account)
    # Until a total is stated, that of this release alone.
    total = spec.total or ledger.total({"epsilon": spec.epsilon, "delta": spec.delta})
    account = ledger.read(path) or ledger.begin(total, spec.relation)
    ledger.check_terms(path, account, spec.total, spec.relation)
    return path, account


def proposal(spec: Specification) -> str:
    """Return a total to state where none is, and no account has one, or nothing."""
    if spec.total or ledger.place(spec.file, spec.account).exists():
        return ""
    return (
        "no total is stated, and the first release fixes that of all releases of the account; add "
        f"total = {{epsilon = {spec.epsilon!r}, delta = {spec.delta!r}}} for this release alone, "
        "or a larger one for further releases, before any answer is seen"
    )


def needed(spec: Specification, error: float) -> dict[str, float]:
    """Return the epsilon, and the number of records, that suffice for an error, each alone.

    What no safe noise reaches, or no number of records helps, is left out.

    Args:
        spec: of anything but a regression.
        error: as that of :class:`~matrixdp.practice.recommend.Option`, above 0.
    """

    def at_epsilon(factor: float) -> bool:
        return _error(replace(spec, epsilon=spec.epsilon * factor)) <= error

    def at_records(factor: float) -> bool:
        query = replace(spec.query, records=max(1, round(spec.query.records * factor)))
        return _error(replace(spec, query=query)) <= error

    enough = {}
    if factor := _least(at_epsilon):
        enough["epsilon"] = spec.epsilon * factor
    # The noise of records does not depend on their number.
    if spec.kind != "records" and (factor := _least(at_records)):
        enough["records"] = spec.query.records * factor
    return enough


def _error(spec: Specification) -> float:
    """Return the error of the best mechanism; infinite where none has safe noise."""
    try:
        return options(replace(spec, mu=None))[0].error
    except InputError:
        return math.inf


def _least(enough: Callable[[float], bool]) -> float | None:
    """Return the least factor of a size that is enough, to a thousandth, or None up to 10^6."""
    low, high = 1.0, 1.0
    while not enough(high):
        low, high = high, high * 1.5
        if high > _FARTHEST:
            return None
    while low == high or enough(low):
        low, high = low / 1.5, low
        if low < 1 / _FARTHEST:
            return low
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def price(spec: Specification) -> float:
    """Return the epsilon at which noise is half of what hides everything; 0 where any is enough.

    Raises:
        InputError: it is beyond what safe noise can deliver at the delta that is asked for.
    """
    epsilon = spec.epsilon
    # Noise falls with epsilon, or with its root: each step at least halves the log of the distance.
    for _ in range(60):
        factor = 2 * options(replace(spec, epsilon=epsilon, mu=None))[0].error
        epsilon *= factor
        if epsilon < _LEAST:
            return 0.0
        if abs(factor - 1) < _CLOSE:
            break
    return epsilon
