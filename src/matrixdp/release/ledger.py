"""A running account of the privacy spent on one file.

Gaussian DP composes in squares: releases of mu_1, mu_2, ... have sqrt(mu_1^2 + mu_2^2 + ...)
together (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3). This also holds where earlier answers decide
what is released later (Smith & Thakurta, 2022). A pure epsilon counts as the smallest mu that it
implies: the two trade-off functions meet at 1 / (1 + e^epsilon), and convexity does the rest.

Where all releases are pure, the sum of their epsilons counts if it gives less, see :func:`added`.
Pure releases beside others are summed only within a part of epsilon that is reserved for them from
the start. Otherwise an analyst who chooses between the two rules after each release could exceed
delta.

The distribution of safe noise has a total variation distance T from the ideal one, over all numbers
of all releases. This adds (1 + e^epsilon) T to delta at the epsilon of the total. A part of delta,
``sampler``, is reserved for this from the start and caps it for all releases together. Nobody can
then trade mu against the number of released numbers. A pure total has this part as its whole delta.
"""

from __future__ import annotations

import datetime
import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erfinv, ndtri_exp

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.mechanisms.mechanism import UNAUDITED, least_delta
from matrixdp.mechanisms.release import Release
from matrixdp.noise import safe
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.quadratic import UPWARDS

Account = dict[str, Any]

#: Default of the sampler's part of a total's delta: a hundredth of it, 1e-6 at most.
_SAMPLER_PART, _SAMPLER = 100, 1e-6

#: Format of accounts and receipts.
FORMAT = 1

#: Beginning of the request of a charge that Python made, of no file.
PYTHON = "python "

#: Largest number of releases that :func:`room` counts.
MANY = 1000

#: Largest relative distance of a float from the numbers that round to it.
_HALF_DIGIT = Fraction(1, 2**53)


class Relation(NamedTuple):
    """What the neighbours of an account differ in.

    Attributes:
        adjacency: one of :mod:`matrixdp.privacy.sensitivity`.
        person: the column that names the person of each record, where neighbours differ in all
            records of one person; empty where they differ in one record.
    """

    adjacency: str
    person: str = ""

    @property
    def content(self) -> dict[str, str]:
        """What an account states of it."""
        return {"neighbours": self.adjacency, "person": self.person}


def total(spec: Mapping[str, Any]) -> dict[str, float]:
    """Return the total of an account with its parts.

    Args:
        spec: ``epsilon`` and ``delta`` of all releases together; ``pure``, the part of epsilon
            that is reserved for pure releases beside others (0 unless stated); ``sampler``, the
            part of delta for the distribution of safe noise (unless stated a hundredth of delta,
            1e-6 at most; for a pure total 1e-6, beyond its delta of 0).

    Raises:
        InputError: a key is missing or unknown, or a value is out of range.
    """
    if isinstance(spec, Mapping) and "epsilon" in spec and spec.get("delta") is None:
        raise InputError(
            "total has no delta; give {epsilon = ..., delta = ...}, with delta = 0 if all releases "
            "are pure, otherwise well below 1 / records, such as 1e-6"
        )
    if not isinstance(spec, Mapping) or {"epsilon", "delta"} != {*spec} - {"pure", "sampler"}:
        raise InputError(f"total is {checks.shown(spec)}; give {{epsilon = ..., delta = ...}}")
    epsilon, delta = checks.budget(**{"total.epsilon": spec["epsilon"]}), spec["delta"]
    if delta != 0:
        delta = checks.open_unit(**{"total.delta": delta})
    pure = checks.not_negative(**{"total.pure": spec.get("pure", 0)})
    if pure >= epsilon:
        raise InputError(f"total.pure is {pure:g}; it must be below total.epsilon = {epsilon:g}")
    most = delta or _SAMPLER
    sampler = spec.get("sampler", min(_SAMPLER, delta / _SAMPLER_PART) if delta else _SAMPLER)
    sampler = checks.positive(**{"total.sampler": sampler})
    if sampler > most or sampler == delta:
        raise InputError(f"total.sampler is {sampler:g}; it must be below {most:g}")
    return {"epsilon": epsilon, "delta": float(delta), "pure": pure, "sampler": sampler}


def phrase(total: Mapping[str, Any]) -> str:
    """Return the epsilon and delta of a total; a pure total has the delta of the sampler."""
    epsilon = _text(total["epsilon"])
    if total["delta"]:
        return f"(epsilon {epsilon}, delta {total['delta']:g})"
    return f"(epsilon {epsilon}, delta at most {total['sampler']:g})"


def _text(number: float) -> str:
    """Return a number as people state it: all its digits, and no more."""
    text = f"{number:g}"
    return text if float(text) == number else repr(number)


def _beyond(number: float, most: float, digits: int = 4) -> str:
    """Return a number above ``most`` in as many digits, ``digits`` or more, as show this."""
    texts = (f"{number:.{count}g}" for count in range(digits, 18))
    return next((text for text in texts if float(text) > most), repr(number))


def _below(number: float) -> str:
    """Return a number in four digits that is not above it: what is left must fit."""
    text = f"{number:.4g}"
    return text if float(text) <= number else f"{number - 10.0 ** (_place(number) - 3):.4g}"


def _place(number: float) -> int:
    """Return the power of ten of a number's first digit."""
    return math.floor(math.log10(number))


def usable_delta(total: Mapping[str, Any]) -> float:
    """Return the delta of a total without the sampler's part; 0 where the total is pure."""
    return float(total["delta"] - total["sampler"]) if total["delta"] else 0.0


def cost(release: Release) -> float:
    """Return the mu of a release, rounded up."""
    if release.mu is not None:
        return release.mu * UPWARDS
    return pure_mu(release.epsilon_delivered)


def pure_mu(epsilon: float) -> float:
    """Return the smallest mu that a pure epsilon implies, rounded up.

    It is that with Phi(-mu / 2) = 1 / (1 + e^epsilon), and so erf(mu / sqrt(8)) = tanh(epsilon /
    2), which keeps its digits where epsilon is small.
    """
    if epsilon < 1:
        return float(np.sqrt(8) * erfinv(np.tanh(epsilon / 2))) * UPWARDS
    return float(-2 * ndtri_exp(-np.logaddexp(0, epsilon))) * UPWARDS


def entry(release: Release) -> dict[str, Any]:
    """Return the charge of a release: ``mu``, ``pure_epsilon``, ``numbers`` and any ``parts``.

    Where a class of another author declares the guarantee, ``guarantee`` says so.
    """
    pure = release.epsilon_delivered if release.mu is None else None
    charge: dict[str, Any] = {
        "mu": cost(release),
        "pure_epsilon": pure,
        "numbers": release.numbers,
    }
    if not release.of_library:
        charge["guarantee"] = UNAUDITED.removeprefix("; ")
    return {**charge, "parts": release.costs} if release.costs else charge


def today() -> str:
    """Return the date in UTC, as YYYY-MM-DD."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def begin(total: Mapping[str, float], relation: Relation) -> Account:
    """Return an account without releases; its rule and its total are fixed from here on."""
    terms = {**total, **relation.content}
    return {"format": FORMAT, "rule": rule(total), "total": terms, "releases": []}


def rule(total: Mapping[str, float]) -> str:
    """Return the one rule by which the releases of a total add up, as its account states it.

    To take whichever of several rules admits a release, one after another, would not be private.
    """
    if not total["delta"]:
        return "epsilons of pure releases add up"
    if total["pure"]:
        return "squares of mu add up, and epsilons of pure releases within the part of them"
    return "squares of mu add up, or epsilons as long as all releases are pure"


def terms(account: Mapping[str, Any]) -> tuple[dict[str, float], Relation]:
    """Return the total of an account, as :func:`total` does, and its neighbouring relation."""
    numbers = dict(account["total"])
    relation = Relation(str(numbers.pop("neighbours")), str(numbers.pop("person")))
    return numbers, relation


def check(release: Release) -> None:
    """Check that a release can be drawn and has the noise that it states, before it is charged.

    Raises:
        InputError: it is for simulation alone, or as :meth:`Release.check`.
    """
    if not isinstance(release, AdditiveMechanism | ComposedMoments):
        raise InputError(
            f"a {type(release).__name__} is for simulation alone; take one of those that "
            "`compare_mechanisms` returns"
        )
    if isinstance(release, AdditiveMechanism):
        # Also where another author's class has a check of its own.
        proofs.require(release)
    release.check()


def check_terms(
    path: Path, account: Account, total: Mapping[str, float] | None, relation: Relation
) -> None:
    """Check that an account was begun for this total, if one is stated, and these neighbours.

    Raises:
        InputError: it was not; neither can be changed later.
    """
    first = account["total"]
    second = {**(first if total is None else total), **relation.content}
    if second != first:
        key = next(key for key in first if second[key] != first[key])
        was, states = ("none" if value == "" else value for value in (first[key], second[key]))
        name = "adjacency" if key == "neighbours" else key
        remedy = "leave total out" if name in ("pure", "sampler") else "state the same"
        raise InputError(
            f"{path} was begun with total {phrase(first)} and {name} = {was}, not {states}; "
            f"{remedy}"
        )


def added(epsilons: Iterable[float], most: float) -> float:
    """Return the sum of pure epsilons as decimals, which is ``most`` where they just fit it.

    A float stands for all numbers that round to it: .1 for a tenth, 1 / 11 for an eleventh. They
    fit where some of these numbers do, in exact sums: three of .1 fit .3, and eleven of 1 / 11 fit
    1, which sums of floats exceed. Noise is rounded up by far more
    (:class:`~matrixdp.mechanisms.laplace.Laplace`), so that it delivers less than any of them.
    """
    counts = Counter(epsilons)
    exact = sum((Fraction(one) * count for one, count in counts.items()), Fraction())
    decimal = sum((Fraction(repr(one)) * count for one, count in counts.items()), Fraction())
    if exact * (1 - _HALF_DIGIT) <= Fraction(most) * (1 + _HALF_DIGIT):
        return min(float(decimal), most)
    return float(decimal)


def total_epsilon(account: Account) -> float:
    """Return the epsilon of all releases together at the total's delta, an upper bound."""
    total, releases = account["total"], account["releases"]
    pure = [release["pure_epsilon"] for release in releases if release["pure_epsilon"]]
    reserved, bounds = total["pure"], [np.inf]
    if len(pure) == len(releases):
        bounds.append(added(pure, total["epsilon"]))
    left = usable_delta(total)
    if left > 0 and (not reserved or added(pure, reserved) <= reserved):
        squared = [
            release["mu"] for release in releases if not (reserved and release["pure_epsilon"])
        ]
        mu = float(np.linalg.norm(squared)) * UPWARDS
        bounds.append(reserved + _epsilon(left, mu))
    return float(min(bounds))


@functools.lru_cache(maxsize=4096)
def _epsilon(delta: float, mu: float) -> float:
    """Return the epsilon of mu at delta, which each choice of a mechanism asks for many times."""
    return float(gaussian_dp.epsilon(delta, mu))


def sampler_delta(account: Account) -> float:
    """Return the delta that safe noise adds over all releases together."""
    numbers = sum(release["numbers"] for release in account["releases"])
    return safe.extra_delta(account["total"]["epsilon"], numbers)


def excess(account: Account) -> str:
    """Return a phrase on how the releases exceed the total, or an empty one if they fit."""
    total = account["total"]
    extra = sampler_delta(account)
    if extra > total["sampler"]:
        more = _beyond(extra, total["sampler"], 2)
        more = f"delta {more}" if extra < 1 else "more than any delta"
        numbers = sum(release["numbers"] for release in account["releases"])
        most = safe.largest_epsilon(total["sampler"], numbers)
        return (
            f"safe noise on so many numbers adds {more} of {_text(total['sampler'])}, as "
            f"e^{_text(total['epsilon'])}, of the total, multiplies its distance from the ideal law"
            + f" (a total of epsilon {most:g} has room for them)"
            * bool(most)
        )
    epsilon = total_epsilon(account)
    if epsilon <= total["epsilon"]:
        return ""
    if math.isfinite(epsilon):
        spent = _beyond(epsilon, total["epsilon"])
        kinds = {bool(release["pure_epsilon"]) for release in account["releases"]}
        return f"epsilon {spent} would be spent of {_text(total['epsilon'])}" + (
            ", as a pure release counts far more beside one with a delta, but in an account that "
            "was begun with pure=, a part of epsilon for pure ones"
        ) * (len(kinds) == 2 and not total["pure"])
    if not total["delta"]:
        return "a release with a delta does not fit a total with delta = 0"
    pure = (release["pure_epsilon"] or 0.0 for release in account["releases"])
    spent = _beyond(added(pure, total["pure"]), total["pure"])
    return f"pure releases would spend epsilon {spent} of the {_text(total['pure'])} reserved"


def delta_for_numbers(account: Account) -> float:
    """Return a delta of the total with room for the numbers of all releases; 0 if it has, or none.

    A pure total has no other delta.
    """
    total = account["total"]
    if not total["delta"] or sampler_delta(account) <= total["sampler"]:
        return 0.0
    return least_delta(total["epsilon"], sum(release["numbers"] for release in account["releases"]))


def add(account: Account, entry: Mapping[str, Any], times: int = 1) -> Account:
    """Return the account after ``times`` further releases with the same charge."""
    return {**account, "releases": [*account["releases"], *([entry] * times)]}


def room(account: Account, entry: Mapping[str, Any]) -> int:
    """Return how many further releases with this charge fit, ``MANY`` at most."""
    return largest(MANY, lambda times: not excess(add(account, entry, times)))


def largest(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest whole number from 1 to ``most`` that fits, as all below it do; or 0."""
    low, beyond = 0, most + 1
    while beyond - low > 1:
        middle = (low + beyond) // 2
        low, beyond = (middle, beyond) if fits(middle) else (low, middle)
    return low


def left(account: Account, *, pure: bool) -> float:
    """Return the largest epsilon at which a release of one number still fits, or 0.

    Args:
        account: account to be charged.
        pure: whether the release is pure; otherwise it has the total's usable delta.
    """
    delta = usable_delta(account["total"])
    if not (pure or delta):
        return 0.0

    def fits(epsilon: float) -> bool:
        mu = pure_mu(epsilon) if pure else gaussian_dp.mu(epsilon, delta) * UPWARDS
        entry = {"mu": mu, "pure_epsilon": epsilon if pure else None, "numbers": 1}
        return not excess(add(account, entry))

    low, high = 0.0, float(account["total"]["epsilon"])
    if fits(high):
        return high
    if pure and fits(rest := _rest(account)):
        # As decimals, so that .1 is left of .3 after .2; the other rule may leave more.
        low = rest
        if not fits(low * (1 + 1e-9)):
            return low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low if low > high * 1e-6 else 0.0


def _rest(account: Account) -> float:
    """Return the part of epsilon for pure releases that they have not spent, as a decimal."""
    total = account["total"]
    spent = (Fraction(repr(release["pure_epsilon"] or 0.0)) for release in account["releases"])
    return float(Fraction(repr(total["pure"] or total["epsilon"])) - sum(spent, Fraction()))


def content(account: Account) -> dict[str, Any]:
    """Return the total, the charge of each release with its epsilon and delta, and what is left."""
    total, delta = account["total"], usable_delta(account["total"])
    releases = [
        {
            **release,
            "epsilon": release["pure_epsilon"] or gaussian_dp.epsilon(delta, release["mu"]),
            "delta": 0 if release["pure_epsilon"] else delta,
        }
        for release in account["releases"]
    ]
    return {
        "total": total,
        "spent_epsilon": total_epsilon(account),
        "releases": releases,
        "left_epsilon": left(account, pure=False) if delta else None,
        "left_delta": delta or None,
        "left_pure_epsilon": left(account, pure=True),
    }


def summary(account: Account) -> list[str]:
    """Return :func:`content` as lines of text."""
    facts, total, delta = content(account), account["total"], usable_delta(account["total"])
    releases, room = facts["releases"], facts["left_epsilon"]
    lines = [
        f"total: {phrase(total)} of all releases together, adjacency {total['neighbours']}"
        + f" of whole people, by the column {total['person']!r}" * bool(total["person"]),
        f"spent: epsilon {facts['spent_epsilon']:.4g} in {checks.plural(len(releases), 'release')}",
    ]
    for release in releases:
        spent = f"{release['epsilon']:.4g}" + f" at delta {delta:.4g}" * bool(release["delta"])
        about = [release.get("query", "a release"), release.get("label"), release.get("date")]
        lines.append(f"  {', '.join(filter(None, about))}: epsilon {spent}")
    pure = facts["left_pure_epsilon"]
    reason = (
        "  as pure releases count far more beside one with a delta; a new account can reserve a "
        "part of epsilon for them: pure= of mdp.Account"
    )
    if total["pure"]:
        reason = f"  of the epsilon {_text(total['pure'])} that is reserved for pure releases"
    if delta:
        lines.append(f"left: a release of epsilon {_below(room)} at delta {delta:.4g}")
        if not room and not total["pure"] and any(release["pure_epsilon"] for release in releases):
            lines.append(reason)
    lines.append(f"left: a pure release of epsilon {_below(pure)}")
    if delta and pure < room:
        lines.append(reason)
    return lines
