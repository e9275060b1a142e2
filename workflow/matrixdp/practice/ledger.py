"""A running account of the privacy spent on one file.

Gaussian DP adds up in squares: releases of mu_1, mu_2, ... have sqrt(mu_1^2 + mu_2^2 + ...)
together (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3), also where later ones are chosen after
seeing earlier ones (Smith & Thakurta, 2022). A pure epsilon counts as the smallest mu that it
implies: the two trade-off functions meet at 1 / (1 + e^epsilon), and convexity does the rest. Where
all releases are pure their sum counts, if it is less. Beside others, pure ones count by their sum
only within a part of epsilon that was reserved for them from the start: who could choose, after
each release, which of the two to spend next would exceed delta.

The law of safe noise is a distance T in total variation off the ideal one, over all numbers of all
releases, which adds (1 + e^epsilon) T to delta at the epsilon of the total.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri_exp

from matrixdp import checks, files, safe
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import Additive
from matrixdp.privacy import gaussian
from matrixdp.privacy.quadratic import UPWARDS


def cost(release: Additive) -> float:
    """Return the mu of a release, rounded up."""
    if release.mu is not None:
        return release.mu * UPWARDS
    return float(-2 * ndtri_exp(-np.logaddexp(0, release.epsilon_actual))) * UPWARDS


def spend(path: Path, entry: dict[str, Any], release: Additive, limit: dict[str, float]) -> float:
    """Write a release into the account before it is made, and return the epsilon of all.

    Two at once cannot both pass: the account is locked while it is read and written. What was
    written counts as spent, whatever happens to the release afterwards.

    Args:
        path: of the account, which is begun if it is not there.
        entry: what is noted of the release.
        release: the one to come.
        limit: ``epsilon`` and ``delta`` of all releases together, and ``pure``, the part of epsilon
            that is reserved; neither it nor what counts as neighbours can be changed later.

    Raises:
        InputError: the total would be overspent, another total was stated before, or the file is
            no account.
    """
    stated = {"pure": 0.0, **limit, "neighbours": release.query.adjacency}
    with _locked(path):
        account: dict[str, Any] = {"total": stated, "releases": []}
        if path.exists():
            account = _read(path)
        if account["total"] != stated:
            raise InputError(
                f"{path} was begun with a total of {account['total']}, not {stated}; state the same"
            )
        pure = release.epsilon_actual if release.mu is None else None
        noted = {"mu": cost(release), "pure_epsilon": pure, "numbers": release.numbers}
        account["releases"].append({**entry, **noted})
        spent = _spent(account)
        if spent > limit["epsilon"]:
            raise InputError(
                f"{path} allows epsilon {limit['epsilon']:g} at delta {limit['delta']:g} in all, "
                f"and with this release {spent:.4g} would be spent; ask for a smaller epsilon, or "
                "for nothing more of this file"
            )
        files.write_text(path, json.dumps(account, indent=2) + "\n")
        # Noise must not reach a disk that forgets this after a power cut.
        for place in (path, path.parent):
            handle = os.open(place, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)
    return spent


def _spent(account: dict[str, Any]) -> float:
    """Return the epsilon of all releases together at the total's delta, an upper bound."""
    total, releases = account["total"], account["releases"]
    numbers = sum(one["numbers"] for one in releases)
    left = total["delta"] - safe.extra_delta(total["epsilon"], numbers)
    pure = [one["pure_epsilon"] for one in releases if one["pure_epsilon"]]
    added, reserved, bounds = math.fsum(pure), total["pure"], [np.inf]
    if len(pure) == len(releases) and (left > 0 or not total["delta"]):
        bounds.append(added)
    if left > 0 and (added <= reserved or not reserved):
        squared = [one["mu"] for one in releases if not (reserved and one["pure_epsilon"])]
        mu = float(np.linalg.norm(squared)) * UPWARDS
        bounds.append(reserved + gaussian.epsilon(left, mu))
    return float(min(bounds))


def _read(path: Path) -> dict[str, Any]:
    try:
        account = json.loads(path.read_text(encoding="utf-8"))
        for one in account["releases"]:
            checks.positive(mu=one["mu"])
            checks.positive(pure_epsilon=one["pure_epsilon"] or one["mu"])
            checks.count(numbers=one["numbers"])
        checks.positive(spent=_spent(account))
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
