"""A running account of the privacy spent on one data set.

Gaussian DP adds up in squares: releases of mu_1, mu_2, ... have sqrt(mu_1^2 + mu_2^2 + ...)
together (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3), also where later ones are chosen after
seeing earlier ones (Smith & Thakurta, 2022). A pure epsilon counts as the smallest mu that it
implies: the two trade-off functions meet at 1 / (1 + e^epsilon), and convexity does the rest. It
may also add to the epsilon of the others, whichever comes to less.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from matrixdp import checks, files
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import Additive
from matrixdp.privacy import gaussian


def cost(release: Additive) -> float:
    """Return the mu of a release, rounded up."""
    if release.mu is not None:
        return float(release.mu)
    # 1 / (1 + e^epsilon) without overflow; ndtri is good to some units in the last place.
    chance = np.exp(-np.logaddexp(0, release.epsilon_actual))
    return float(-2 * ndtri(chance) * (1 + 1e-12))


def spend(path: Path, entry: dict[str, Any], release: Additive, limit: dict[str, float]) -> float:
    """Write a release into the account before it is made, and return the epsilon of all.

    Two at once cannot both pass: the account is locked while it is read and written. What was
    written counts as spent, whatever happens to the release afterwards.

    Args:
        path: of the account, which is begun if it is not there.
        entry: what is noted of the release.
        release: the one to come.
        limit: ``epsilon`` and ``delta`` of all releases together; it cannot be changed later.

    Raises:
        InputError: the total would be overspent, another total was stated before, or the file is
            no account.
    """
    epsilon = checks.positive(epsilon=limit["epsilon"])
    stated = {"epsilon": epsilon, "delta": limit["delta"]}
    with _locked(path):
        account: dict[str, Any] = {"total": stated, "releases": []}
        if path.exists():
            account = _read(path)
        if account["total"] != stated:
            raise InputError(
                f"{path} was begun with a total of {account['total']}, not {stated}; state the same"
            )
        pure = release.epsilon_actual if release.mu is None else None
        noted = {"mu": cost(release), "pure_epsilon": pure, "extra_delta": release.extra_delta}
        account["releases"].append({**entry, **noted})
        spent = _spent(account)
        if spent > epsilon:
            raise InputError(
                f"{path} allows epsilon {epsilon:g} at delta {limit['delta']:g} in all, "
                f"and with this release {spent:.4g} would be spent; ask for a smaller epsilon, or "
                "for nothing more of this file"
            )
        files.write_text(path, json.dumps(account, indent=2) + "\n")
    return spent


def _spent(account: dict[str, Any]) -> float:
    """Return the epsilon of all releases together at the total's delta, an upper bound.

    The smaller of two: all in Gaussian DP, or pure epsilons added to the epsilon of the others.
    """
    releases, delta = account["releases"], account["total"]["delta"]
    pure = [one for one in releases if one["pure_epsilon"] is not None]
    others = [one for one in releases if one["pure_epsilon"] is None]
    left = delta - sum(one["extra_delta"] for one in releases)
    bounds = [np.inf]
    for linear, squared in ((pure, others), ([], releases)):
        mu = float(np.linalg.norm([one["mu"] for one in squared]))
        added = sum(one["pure_epsilon"] for one in linear)
        if mu == 0:
            bounds.append(added)
        elif left > 0:
            bounds.append(added + gaussian.epsilon(left, mu))
    return float(min(bounds))


def _read(path: Path) -> dict[str, Any]:
    try:
        account = json.loads(path.read_text(encoding="utf-8"))
        checks.positive(spent=_spent(account))
        for one in account["releases"]:
            checks.positive(mu=one["mu"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(f"{path} is no account of releases ({error}); restore it") from None
    return dict(account)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not a name that :func:`files.replacing` takes for what a killed job left.
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
