"""Mechanisms for a specification: which can answer it, and which fit its account.

All of it follows from public facts.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from matrixdp.checks import InputError, plural
from matrixdp.mechanisms import histogram
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import Mechanism, delta_for_noise
from matrixdp.mechanisms.scaled import WeightedConstant
from matrixdp.noise import safe
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.privacy.sizes import SizeQuery
from matrixdp.release import (
    comparison,
    ledger,
    missing,
    outlooks,
    storage,
    words,
)
from matrixdp.release.account import Account
from matrixdp.release.comparison import Option
from matrixdp.release.keys import MECHANISMS, key_of
from matrixdp.release.outputs import Bounds, Moments, Output, serves_present
from matrixdp.release.outputs.about_mean import AboutMean
from matrixdp.release.outputs.output import CLIPPED
from matrixdp.release.specification import RECOMMENDED

#: What helps where an account has no room for any release.
_NOTHING = "ask for nothing more of this account"


def _simulates(spec: Output) -> bool:
    """Return whether what noise takes from an answer can be simulated from public facts."""
    if isinstance(spec, Moments):
        return all(map(_simulates, spec.readings))
    known = spec.loss_unit and isinstance(spec.query.domain, Box)
    return bool(known) and len(spec.columns) <= outlooks.MOST_COLUMNS


def simulated(spec: Output, listed: Sequence[Option]) -> list[Option]:
    """Return options with what they mean for the answer, and the losses that can be simulated."""
    return [_add_losses(spec.by(key_of(option.mechanism)), option) for option in listed]


def _add_losses(output: Output, option: Option) -> Option:
    """Return an option with what it means for an answer, or for each of several."""
    if isinstance(output, Moments):
        readings = [(one, _add_losses(one, option)) for one in output.readings]
        parts = tuple(part for _, part in readings)
        lines = [f"{one.name}: {part.says}" for one, part in readings]
        losses: tuple[float, ...] = ()
        if all(part.losses for part in parts):
            parts = tuple(
                replace(part, typical_loss=outlooks.typical(part.losses)) for part in parts
            )
            losses = tuple(
                map(outlooks.typical, zip(*(part.losses for part in parts), strict=True))
            )
        option = replace(option, key=output.mechanism, losses=losses, headline="; ".join(lines))
        return replace(option, readings=parts)
    losses = outlooks.losses(output, option.release) if _simulates(output) else ()
    option = replace(option, key=output.mechanism, losses=losses, worst=output.worst)
    option = replace(option, error=output.error(option))
    return replace(option, headline=output.headline(option))


def ordered(listed: Sequence[Option]) -> list[Option]:
    """Return options with their typical losses, the one that is taken first.

    Without losses, or where none is of use, the order stays.
    """
    parts = [part for option in listed for part in option.readings or (option,)]
    # Losses of answers without any information differ by chance alone.
    if (
        len(listed) < 2
        or not all(option.losses for option in listed)
        or all(part.useless for part in parts)
    ):
        return [*listed]
    typical = [outlooks.typical(option.losses) for option in listed]
    result = [replace(listed[i], typical_loss=typical[i]) for i in outlooks.order(typical)]
    # What is useless is refused: it is not taken while another one is of use.
    return sorted(result, key=lambda option: option.useless)


def candidates(spec: Output) -> list[Option]:
    """Return the mechanisms that can answer a specification, additive noise first.

    Neither the file of records nor the account is read.

    Raises:
        InputError: no mechanism gives the guarantee, or the named one does not answer the query.
    """
    ranking = by_noise(spec)
    # A stated weight of the mean is one of additive noise.
    in_parts = spec.delta and not spec.merged and spec.mean_weight is None
    if spec.mechanism == RECOMMENDED and in_parts and _simulates(spec):
        with contextlib.suppress(InputError):
            ranking += _in_parts(spec.by(CLIPPED), _usable(spec))
    return ranking


def _usable(spec: Output) -> float:
    """Return the delta of a release, without the sampler's part of the total's."""
    if spec.delta and spec.total and spec.total["delta"]:
        # That part is reserved for all releases together.
        return min(spec.delta, ledger.usable_delta(spec.total))
    return spec.delta


def by_noise(spec: Output) -> list[Option]:
    """Return the mechanisms with additive noise, or the named one, the least noise first."""
    name, delta = spec.mechanism, _usable(spec)
    if not spec.delta and name not in (RECOMMENDED, "laplace"):
        raise InputError(f"delta is 0, and {name} needs one; state a delta, or take laplace")
    try:
        return _by_noise(spec, delta)
    except InputError:
        # Where it is too small itself, name the delta that is stated, not what is left of it.
        if delta < spec.delta:
            _by_noise(spec, spec.delta)
        raise


def _by_noise(spec: Output, delta: float) -> list[Option]:
    """Return :func:`by_noise` at the delta that the account leaves for the release."""
    if isinstance(spec, Bounds):
        ranking = _of_bounds(spec, delta)
    elif spec.mechanism == CLIPPED:
        return _in_parts(spec, delta)
    elif spec.weighted and spec.mechanism == RECOMMENDED and delta:
        # Each noise has a weight of the counts that suits it.
        variants = [_ranking(spec.by(name), delta) for name in ("laplace", "gaussian")]
        ranking = sorted(itertools.chain(*variants), key=lambda option: option.error)
    else:
        ranking = _ranking(spec, delta)
    if spec.mu is None:
        return ranking
    # A pure mechanism of the same epsilon can cost more mu than the share of this release.
    fitting = [option for option in ranking if ledger.cost(option.release) <= spec.mu]
    if not fitting:
        raise InputError(
            f"{spec.mechanism} spends more than the share of {spec.release_name} in the total; "
            "take another mechanism"
        )
    return fitting


def _of_bounds(spec: Output, delta: float) -> list[Option]:
    """Return the mechanisms that find bounds, the one first that needs the fewest records.

    Its error is the number of records that must share a power of two, over that of all.

    Args:
        spec: specification of bounds.
        delta: the delta that the account leaves for the release.

    Raises:
        InputError: no safe noise gives this guarantee.
    """
    query = spec.query
    assert isinstance(query, SizeQuery)
    # Slightly less, so that rounding never overspends an account.
    left = delta_for_noise(spec.epsilon, delta, query.features) * (1 - 1e-9) if delta else 0.0
    mechanisms: list[Mechanism] = [Laplace(), Gaussian()] if left else [Laplace()]
    listed = []
    for mechanism in mechanisms:
        if spec.mechanism in (RECOMMENDED, key_of(mechanism)):
            release = mechanism.calibrate(query, epsilon=spec.epsilon, delta=left)
            assert isinstance(release, AdditiveMechanism)
            needed = histogram.thresholds(release)[0] / query.n_records
            listed.append(Option(mechanism, release, needed))
    return sorted(listed, key=lambda option: option.error)


def _in_parts(spec: Output, delta: float) -> list[Option]:
    """Return the release in parts for a specification, as the only option.

    The error of clipped moments is the largest over all radii, with records that fill the radius.

    Raises:
        InputError: no safe noise gives this guarantee.
    """
    query, budget = spec.query, {"epsilon": spec.epsilon, "delta": delta}
    assert isinstance(query, SecondMomentQuery)
    mechanism: Mechanism = Centred() if spec.about_mean else PrivatelyClipped()
    moments = ComposedMoments.calibrated(mechanism, query, **budget)
    error = max(
        # Over the mean square of an entry of records that fill the radius.
        float(np.sqrt(comparison.variances(candidate).mean()))
        / (candidate.query.domain.radius**2 / candidate.query.features)
        for candidate in moments.radii
    )
    return [Option(mechanism, moments, error)]


def _ranking(spec: Output, delta: float) -> list[Option]:
    """Return the mechanisms that answer the query itself, or the named one, by their noise."""
    mechanisms = [mechanism for name, mechanism in MECHANISMS.items() if name == spec.mechanism]
    if isinstance(spec, AboutMean) and (spec.answers_mean or spec.mean_weight is not None):
        names = [spec.mechanism] if mechanisms else [*MECHANISMS] if delta else ["laplace"]
        mechanisms = [_weighted_mechanism(spec.by(name)) for name in names]
    return comparison.compare_mechanisms(
        spec.query, epsilon=spec.epsilon, delta=delta, mechanisms=mechanisms
    )


def _weighted_mechanism(spec: Output) -> Mechanism:
    """Return the mechanism of a request whose moments give the mean a part of the noise."""
    assert isinstance(spec, AboutMean)
    mechanism = MECHANISMS[spec.mechanism]
    weight = spec.constant_weight
    return mechanism if weight == 1 else WeightedConstant(mechanism, weight)


def account_state(spec: Output, account: Account | None = None) -> tuple[ledger.Account, object]:
    """Return the account of a release as it is, and what messages call it.

    Args:
        spec: the release.
        account: of records in memory; a file has its own, a new one if none exists.

    Raises:
        InputError: the account was begun for something else.
    """
    if spec.in_file:
        return account_of(spec)
    if account is None:
        return alone(spec), "the guarantee"
    if spec.frame is not None and account.total["person"] != spec.relation.person:
        raise InputError(
            f"the account was begun with person = {account.total['person'] or 'none'}, not "
            f"{spec.relation.person or 'none'}; state the same"
        )
    return account.state(), "the account"


def rank(spec: Output, account: Account | None = None) -> list[tuple[Option, int]]:
    """Return what :func:`choose` returns by the account as it is.

    Raises:
        InputError: as :func:`account_state` and :func:`choose`.
    """
    state, name = account_state(spec, account)
    spec = replace(spec, total=ledger.terms(state)[0])
    return choose(spec, possible(spec, state), state, name)


def possible(spec: Output, account: ledger.Account) -> tuple[Option, ...]:
    """Return the candidates with their losses; a message proposes what would fit the account.

    Raises:
        InputError: no safe noise gives this guarantee.
    """
    total = tuple((spec.total or {}).items())
    try:
        # What is kept holds no records.
        facts = replace(spec, file=Path(), parts=(), account=None, frame=None, terms={})
        return _listed(facts, total)
    except InputError as error:
        # No other budget removes another reason.
        if _fits(spec, account):
            raise
        line = _total_that_fits(spec, account)
        smaller = account["releases"] and spec.mu is None and _largest_epsilon(spec, account)
        if smaller:
            line = f"epsilon = {smaller:g}"
        raise InputError(f"{error}; {line} would fit" if line else str(error)) from None


@functools.lru_cache(maxsize=64)
def _listed(spec: Output, total: tuple[tuple[str, float], ...]) -> tuple[Option, ...]:
    """Return :func:`possible`; fits of clones have the same.

    Of a specification neither the terms nor the total tell two apart, so that this is named too.
    """
    return tuple(simulated(spec, candidates(spec)))


def choose(
    spec: Output, listed: Sequence[Option], account: ledger.Account, name: object
) -> list[tuple[Option, int]]:
    """Return the options that fit an account, the one that is taken first.

    This is the one rule by which a mechanism is taken, whoever asks: of those that leave room for
    the most further releases, by :func:`ordered`. Each option comes with the number of further
    releases of the cheapest that fit the account after it. Those that leave less room come last.

    Args:
        spec: the release.
        listed: its candidates, with losses.
        account: what is spent.
        name: what messages call the account.

    Raises:
        InputError: no option fits the account; the message proposes one that would.
    """
    charges = [ledger.entry(option.release) for option in listed]
    after = [ledger.add(account, charge) for charge in charges]
    rooms = [
        None if ledger.excess(then) else max(ledger.room(then, charge) for charge in charges)
        for then in after
    ]
    most = max((room for room in rooms if room is not None), default=None)
    if most is None:
        raise InputError(
            f"{name} allows {ledger.phrase(account['total'])} in all, and with this release "
            f"{ledger.excess(min(after, key=ledger.total_epsilon))}; "
            f"{_remedy(spec, account, after)}"
        )
    roomy = [option for option, room in zip(listed, rooms, strict=True) if room == most]
    others = [
        (option, room)
        for option, room in zip(listed, rooms, strict=True)
        if room is not None and room < most
    ]
    others.sort(key=lambda pair: -pair[1])
    return [*((option, most) for option in ordered(roomy)), *others]


def _remedy(spec: Output, account: ledger.Account, after: Sequence[ledger.Account]) -> str:
    """Return a phrase that proposes releases that would fit.

    Args:
        spec: the release.
        account: what is spent.
        after: the account after the release by each mechanism.
    """
    if spec.mu is not None:
        return remedy_of_shares(account)
    if proposals := _proposals(spec, account):
        return f"{proposals[0]} would fit" + "".join(
            f", and so would {other}" for other in proposals[1:]
        )
    larger = [ledger.delta_for_numbers(then) for then in after]
    if not account["releases"] and all(larger):
        return f"give in all a delta of at least {min(larger):.2g}"
    most = account["total"]["sampler"]
    many = _has_room(account) and all(ledger.sampler_delta(then) > most for then in after)
    return "release fewer numbers" if many or not account["releases"] else _NOTHING


def _has_room(account: ledger.Account) -> bool:
    """Return whether a release of one number fits an account, of whatever epsilon."""
    return any(ledger.left(account, pure=pure) for pure in (True, False))


def _proposals(spec: Output, account: ledger.Account) -> list[str]:
    """Return the keys of releases that would fit, each with the largest epsilon for it.

    The first one has the delta of the release. Of a pure release, which counts far more beside one
    with a delta, there may be a second one with the delta of the total.
    """
    delta, free = account["total"]["delta"], spec.by(RECOMMENDED)
    other = ['mechanism = "recommend"'] * (spec.mechanism != RECOMMENDED)
    # The same release spends less at a smaller delta than that of the total.
    at = f" at delta {spec.delta!r}" * (0 < spec.delta < delta)

    def keys(epsilon: float, changes: Sequence[str]) -> str:
        smaller = [f"epsilon = {epsilon:g}{at}"] * (epsilon < spec.epsilon)
        *rest, last = [*smaller, *changes]
        return f"{', '.join(rest)} and {last}" if rest else last

    epsilon, of_free = (_largest_epsilon(one, account) for one in (spec, free))
    result = []
    if of_free == spec.epsilon or (of_free and not epsilon):
        epsilon = of_free
        result.append(keys(epsilon, other))
    elif 0 < epsilon < spec.epsilon:
        result.append(keys(epsilon, []))
    if delta and not spec.delta:
        larger = _largest_epsilon(replace(free, delta=delta), account)
        if larger > epsilon:
            result.append(keys(larger, [*other, f"delta = {words.exact(delta)}"]))
    if not result and (line := _total_that_fits(spec, account)):
        result.append(line)
    return result


def _largest_epsilon(spec: Output, account: ledger.Account) -> float:
    """Return the largest epsilon up to that of a release at which it fits an account, or 0."""

    def at(thousandths: int) -> float:
        return min(float(f"{spec.epsilon * thousandths / 1000:.3g}"), spec.epsilon)

    def fits(thousandths: int) -> bool:
        return _fits(replace(spec, epsilon=at(thousandths)), account)

    return at(ledger.largest(1000, fits))


def remedy_of_shares(account: ledger.Account) -> str:
    """Return a phrase on what helps where releases that share a whole total do not fit it.

    Args:
        account: what is spent before them.
    """
    if not account["releases"]:
        return "state a total of a smaller epsilon"
    if not _has_room(account):
        return _NOTHING
    usable = ledger.usable_delta(account["total"])
    sizes = "an epsilon and a delta that fit" if usable else "an epsilon that fits"
    return (
        f"state each [[release]] in a file of its own, with {sizes}; `matrixdp account` says what "
        "is left"
    )


def _fits(spec: Output, account: ledger.Account) -> bool:
    """Return whether an additive mechanism, or the named one, is made and fits an account."""
    with contextlib.suppress(InputError):
        charges = [ledger.entry(option.release) for option in by_noise(spec)]
        return any(not ledger.excess(ledger.add(account, charge)) for charge in charges)
    return False


def _total_that_fits(spec: Output, account: ledger.Account) -> str:
    """Return lines of a specification whose total would fit; nothing if none does, or is fixed.

    The largest epsilon is sought at which a total fits with the release, whose epsilon is its own
    or, above that of the total, that of the total.
    """
    first = ledger.terms(account)[0]
    if account["releases"] or spec.mu is not None or first["pure"]:
        return ""

    def total_at(epsilon: float) -> dict[str, float]:
        return ledger.total({"epsilon": epsilon, "delta": first["delta"]})

    def fits(hundredths: int) -> bool:
        epsilon = hundredths / 100
        total = total_at(epsilon)
        part = replace(spec, epsilon=min(spec.epsilon, epsilon), total=total)
        return _fits(part, ledger.begin(total, ledger.terms(account)[1]))

    # e^epsilon of the total multiplies the sampler's part of delta, so that a smaller total has
    # room for more numbers. Above this limit one number alone has more than any delta.
    limit = min(first["epsilon"], safe.largest_epsilon(1.0, 1))
    low = ledger.largest(int(limit * 100), fits)
    if not low:
        return ""
    stated = total_at(low / 100)
    # With all digits: a rounded delta would be another one than what was tried.
    epsilon, delta = (words.exact(stated[name]) for name in ("epsilon", "delta"))
    line, alone = f"total = {{epsilon = {epsilon}, delta = {delta}}}", ""
    if not spec.in_file:
        # Its total is stated where the account is made, or else it is the release's own.
        line, alone = f"an account of epsilon {epsilon} and delta {delta}", " without an account or"
    return f"epsilon = {epsilon}{alone} with {line}" if spec.epsilon > low / 100 else line


def together(specs: Sequence[Output], firsts: Sequence[Option]) -> str:
    """Return a sentence on the account after all releases of a file, by the given options."""
    account = account_of(specs[0])[0]
    charges = [ledger.entry(option.release) for option in firsts]

    def after(times: int) -> ledger.Account:
        return {**account, "releases": account["releases"] + charges * times}

    if excess := ledger.excess(after(1)):
        return f"together: {excess}; {remedy_of_shares(account)}"
    room = ledger.largest(ledger.MANY, lambda times: not ledger.excess(after(times + 1)))
    return (
        f"together: epsilon {ledger.total_epsilon(after(1)):.4g} of {account['total']['epsilon']:g}"
        f"; the account has room for {plural(room, 'more such file')} then"
    )


def account_of(spec: Output) -> tuple[ledger.Account, Path]:
    """Return a file's account, a new one if none exists, and its path."""
    path = storage.account_path(spec.file, spec.account)
    account = storage.read(path) or alone(spec)
    ledger.check_terms(path, account, spec.total, spec.relation)
    return account, path


def alone(spec: Output) -> ledger.Account:
    """Return a new account: for the total of a release, or without one for this release alone."""
    total = spec.total or ledger.total({"epsilon": spec.epsilon, "delta": spec.delta})
    return ledger.begin(total, spec.relation)


def proposal(spec: Output) -> str:
    """Return a sentence on what a new release must state and does not; empty if nothing lacks.

    Every release states the rule for missing values, and the first one of an account its total.
    """
    if spec.total or storage.account_path(spec.file, spec.account).exists():
        stated = "missing" in {*spec.terms, *spec.lacks}
        stated = stated or not missing.can_occur(spec.file, spec.book)
        present = serves_present(spec.terms) and not spec.merged
        return "" if stated else missing.unstated(present=present)
    return (
        "no total is stated, and the first release fixes that of all releases of the account; add "
        f"total = {{epsilon = {spec.epsilon!r}, delta = {spec.delta!r}}} for this release alone, "
        "or a larger one for further releases, before any answer is seen"
    )
