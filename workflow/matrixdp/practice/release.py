"""One private release of a person's file: the numbers, a receipt, and a note in the account."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import files, safe
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import Additive
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.practice import ledger, recommend, specification, tables
from matrixdp.practice.specification import Specification
from matrixdp.privacy import exact, gaussian
from matrixdp.privacy.sensitivity import Covariance
from matrixdp.version import VERSION

#: Epsilons at which a receipt states the exact curve.
_CURVE = (0.1, 0.3, 1.0, 3.0, 10.0)


def options(asked: Specification) -> list[recommend.Option]:
    """Return the mechanisms that could make a release; its file is not looked at.

    Part of delta is set aside for what the law of safe noise is off the ideal one.

    Raises:
        InputError: the guarantee cannot be had, or no mechanism of the name answers the query.
    """
    query, count = asked.query, int(np.prod(asked.query.shape))
    # The last bits of what follows are not to decide whether a release fits its account.
    delta = asked.delta * (1 - 1e-9) - safe.extra_delta(asked.epsilon, count)
    if asked.delta and delta <= 0:
        raise InputError(
            f"delta is {asked.delta:g}; safe noise on {count} numbers alone needs "
            f"{asked.delta - delta:.2g} at epsilon {asked.epsilon:g}, so give a larger one"
        )
    given: dict[str, Any] = {"epsilon": asked.epsilon, "delta": delta if asked.delta else 0.5}
    kind = "approximate" if asked.delta else "pure"
    if asked.mechanism == specification.RECOMMENDED:
        importance = asked.importance
        return recommend.options(query, **given, importance=importance, guarantee=kind)
    mechanism = specification.MECHANISMS[asked.mechanism]
    if kind == "pure" and asked.mechanism != "laplace":
        raise InputError(f"delta is 0; {asked.mechanism} noise needs one above 0, or take laplace")
    return [recommend.option(mechanism, query, asked.importance, **given)]


def make(asked: Specification, out: Path) -> dict[str, Path]:
    """Make a release and return the files of it: ``release``, ``receipt``, ``page``, ``account``.

    The order is: everything that can fail on the file, then the note in the account, then noise.

    Raises:
        InputError: the file does not fit, the account would be overspent, or ``out`` has a release.
    """
    best = options(asked)[0]
    stem = out / asked.asked
    places = {
        "release": stem.with_suffix(".csv"),
        "receipt": stem.with_suffix(".receipt.json"),
        "page": stem.with_suffix(".receipt.md"),
        "account": asked.file.with_name(f"{asked.file.name}.privacy.json"),
    }
    for name in ("release", "receipt", "page"):
        if places[name].exists():
            raise InputError(f"{places[name]} is there already; move it, or give another --out")
    blocks = tables.blocks(asked.file, asked.columns)
    value = exact.value(asked.query, ((block - asked.middle) / asked.half for block in blocks))
    out.mkdir(parents=True, exist_ok=True)
    described = receipt(asked, best)
    note = {"query": asked.asked, "receipt": described["digest"]}
    spent = ledger.spend(places["account"], note, best.release, dict(asked.total))
    private = best.release.add_once(value)
    files.write_text(places["release"], _written(asked, best.release, private))
    described["epsilon_of_all_releases_so_far"] = spent
    files.write_text(places["receipt"], json.dumps(described, indent=2) + "\n")
    files.write_text(places["page"], page(described))
    return places


def receipt(asked: Specification, best: recommend.Option) -> dict[str, Any]:
    """Return what may be told of a release: all of it is public, nothing depends on the data."""
    release, query = best.release, asked.query
    stated = {
        "query": asked.asked,
        "columns": list(asked.columns),
        "bounds": asked.bounds,
        "records": query.records,
        "neighbours": query.adjacency,
        "mechanism": best.name,
        "epsilon": asked.epsilon,
        "delta": best.release.delta,
    }
    text = json.dumps(stated, sort_keys=True)
    curve = [] if release.mu is None else [[e, gaussian.delta(e, release.mu)] for e in _CURVE]
    return {
        **stated,
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "epsilon_at_delta": release.epsilon_actual,
        "mu": release.mu,
        "curve": curve,
        "noise_over_half_range": best.error,
        "noise_std": _by_column(asked, best),
        "says": says(best),
        "noise": "whole steps of 2^-26 of its scale, from random bits of the operating system",
        "delta_for_the_noise_law": release.extra_delta,
        "version": {
            "matrixdp": VERSION,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def says(best: recommend.Option) -> str:
    """Return what the noise means, in plain words."""
    share = "the largest deviation that the public bounds allow"
    if best.error >= 1:
        return f"noise of {best.error:,.3g} times {share}: it hides everything, do not release this"
    return f"noise of {best.error:.2%} of {share}"


def _by_column(asked: Specification, best: recommend.Option) -> dict[str, float]:
    """Return the noise of each column, or of its mean square, in its own unit."""
    covers = isinstance(asked.query, Covariance)
    own = np.diag(best.variances) if covers else best.variances[:, 0]
    noise = np.sqrt(own) * asked.half ** (2 if covers else 1)
    return dict(zip(asked.columns, noise.tolist(), strict=True))


def page(described: dict[str, Any]) -> str:
    """Return a receipt to be read."""
    lines = ["# Receipt of a private release", "", described["says"] + ".", ""]
    for key, value in described.items():
        if key not in ("says", "curve"):
            told = value
            if isinstance(value, dict):
                told = ", ".join(f"{name} {one}" for name, one in value.items())
            lines.append(f"- {key.replace('_', ' ')}: {told}")
    lines += [f"- delta at epsilon {e:g}: {delta:.3g}" for e, delta in described["curve"]]
    return "\n".join(lines) + "\n"


def _written(asked: Specification, release: Additive, private: Array) -> str:
    """Return the CSV text of a release, or of what is computed from it."""
    names, half = list(asked.columns), asked.half
    if not isinstance(asked.query, Covariance):
        table: list[list[Any]] = [names, *(private * half + asked.middle).tolist()]
    elif asked.asked == "second_moments":
        rows = (private * np.outer(half, half)).tolist()
        table = [["", *names], *([name, *row] for name, row in zip(names, rows, strict=True))]
    elif asked.asked == "first_component":
        # Of records in the unit of their bounds; an eigenvector has no sign of its own.
        _, vectors = np.linalg.eigh(private)
        table = [names, (vectors[:, -1] * np.sign(vectors[:, -1].sum() or 1)).tolist()]
    else:
        target = names.index(asked.target)
        others = [i for i in range(len(names)) if i != target]
        ridge = moments_ridge(release.noise_std, len(others)) * np.eye(len(others))
        weights = np.linalg.solve(private[np.ix_(others, others)] + ridge, private[others, target])
        table = [[names[i] for i in others], (weights * half[target] / half[others]).tolist()]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue()
