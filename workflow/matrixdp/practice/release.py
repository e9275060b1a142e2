"""One private release of a person's file: the numbers, a receipt, and a note in the account."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp import files, safe
from matrixdp.checks import Array, InputError
from matrixdp.practice import answers, ledger, recommend, specification, tables
from matrixdp.practice.specification import Specification
from matrixdp.privacy import exact, gaussian
from matrixdp.privacy.sensitivity import SecondMomentQuery
from matrixdp.version import VERSION

#: Epsilons at which a receipt states the exact curve.
_CURVE = (0.1, 0.3, 1.0, 3.0, 10.0)

#: A price of privacy below counts as 0.
_LEAST = 1e-6

#: What is protected, in words.
_NEIGHBOURS = {
    "replace": "one record is replaced by any other; their number is public",
    "add_remove": "one record's scaled values are all set to 0; the number of records is public",
}


def options(asked: Specification) -> list[recommend.Option]:
    """Return the mechanisms that could make a release; its file is not looked at.

    Raises:
        InputError: the guarantee cannot be had, or no mechanism of the name answers the query.
    """
    named = [one for name, one in specification.MECHANISMS.items() if name == asked.mechanism]
    return recommend.options(
        asked.query,
        epsilon=asked.epsilon,
        delta=asked.delta,
        importance=asked.importance,
        mechanisms=named,
    )


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
        # A link leads to the account of what it stands for.
        "account": asked.file.resolve().with_name(f"{asked.file.resolve().name}.privacy.json"),
    }
    for name in ("release", "receipt", "page"):
        if places[name].exists():
            raise InputError(f"{places[name]} is there already; move it, or give another --out")
    value = _value(asked)
    out.mkdir(parents=True, exist_ok=True)
    described = receipt(asked, best)
    note = {"query": asked.asked, "receipt": described["digest"]}
    spent = ledger.spend(places["account"], note, best.release, dict(asked.total))
    private = best.release.add_once(value)
    files.write_text(
        places["release"], _written(asked, _answer(asked, best.release.noise_std, private))
    )
    described["epsilon_of_all_releases_so_far"] = spent
    files.write_text(places["receipt"], json.dumps(described, indent=2) + "\n")
    files.write_text(places["page"], page(described))
    return places


def compare(asked: Specification, times: int = 20) -> dict[str, float]:
    """Return how wrong each mechanism's answers are on the file itself. THIS IS NOT PRIVATE.

    It is the root mean square of what ``times`` releases, which are thrown away, are off the answer
    without noise, over the entries, in half ranges. For the owner's eyes: no account knows of it.
    """
    value, found = _value(asked), {}
    asked = replace(asked, middle=0 * asked.middle, half=0 * asked.half + 1)
    true = _answer(asked, 0.0, value.T if asked.query.yields == "matrix" else value)
    for one in options(asked):
        std = one.release.noise_std
        drawn = [_answer(asked, std, one.release.add_once(value)) for _ in range(times)]
        if asked.asked == "first_component":  # which has no sign
            drawn = [answer * np.sign((answer * true).sum()) for answer in drawn]
        found[one.name] = float(np.sqrt(np.mean((np.array(drawn) - true) ** 2)))
    return found


def receipt(asked: Specification, best: recommend.Option) -> dict[str, Any]:
    """Return what may be told of a release: all of it is public, nothing depends on the data."""
    release, extra = best.release, best.release.extra_delta
    stated = {
        **asked.stated,
        "neighbours": _NEIGHBOURS[asked.query.adjacency],
        "mechanism": best.name,
        "delta": asked.delta or extra,
    }
    text = json.dumps(stated, sort_keys=True)
    curve = [
        [e, min(1.0, gaussian.delta(e, release.mu) + safe.extra_delta(e, release.numbers))]
        for e in _CURVE
        if release.mu is not None
    ]
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
        "of_delta_for_the_noise_law": extra,
        "not_covered": "how long the release took, and what is seen of the machine that made it",
        "version": {
            "matrixdp": VERSION,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def price(asked: Specification) -> float:
    """Return the epsilon at which noise is half of what hides everything; 0 where any is enough.

    Raises:
        InputError: it is beyond what safe noise can deliver at the delta that is asked for.
    """
    found = asked.epsilon
    # Noise falls with epsilon, or with its root: each step at least halves the log of the distance.
    for _ in range(60):
        found *= 2 * options(replace(asked, epsilon=found))[0].error
        if found < _LEAST:
            return 0.0
    return found


def in_words(asked: Specification, best: recommend.Option) -> list[str]:
    """Return the noise of each column beside the range of its values, a sentence each."""
    what, lower, upper = "values", asked.middle - asked.half, asked.middle + asked.half
    if isinstance(asked.query, SecondMomentQuery):
        what, lower, upper = "mean squares", np.zeros(len(asked.half)), asked.half**2
    return [
        f"{name}: noise of +- {_plain(noise, 3)} on {what} from {_plain(low)} to {_plain(high)}"
        + ": do not release this" * bool(noise >= (high - low) / 2)
        for (name, noise), low, high in zip(
            _by_column(asked, best).items(), lower, upper, strict=True
        )
    ]


def _plain(number: float, digits: int = 6) -> str:
    return f"{float(f'{number:.{digits}g}'):,.15g}"


def says(best: recommend.Option) -> str:
    """Return what the noise means, in plain words."""
    share = "the largest deviation that the public bounds allow"
    if best.error >= 1:
        return f"noise of {best.error:,.3g} times {share}: it hides everything, do not release this"
    return f"noise of {best.error:.2%} of {share}"


def _by_column(asked: Specification, best: recommend.Option) -> dict[str, float]:
    """Return the noise of each column, or of its mean square, in its own unit."""
    covers = isinstance(asked.query, SecondMomentQuery)
    own = np.diag(best.variances) if covers else best.variances[:, 0]
    if asked.target:  # the constant has no unit
        own = np.delete(own, -2)
    noise = best.release.stretch * np.sqrt(own) * asked.half ** (2 if covers else 1)
    return dict(zip(asked.columns, noise.tolist(), strict=True))


def page(described: dict[str, Any]) -> str:
    """Return a receipt to be read."""
    lines = ["# Receipt of a private release", "", described["says"] + ".", ""]
    for key, value in described.items():
        if key not in ("says", "curve") and value is not None:
            if isinstance(value, dict):
                value = ", ".join(f"{name} {one}" for name, one in value.items())
            lines.append(f"- {key.replace('_', ' ')}: {value}")
    lines += [f"- delta at epsilon {e:g}: {delta:.3g}" for e, delta in described["curve"]]
    return "\n".join(lines) + "\n"


def _value(asked: Specification) -> Array:
    """Return the exact value of the query on the file."""
    blocks = tables.blocks(asked.file, asked.columns)
    return exact.value(asked.query, (asked.scaled(block) for block in blocks))


def _answer(asked: Specification, noise_std: float, private: Array) -> Array:
    """Return what a noisy value says, (rows, columns), in the columns' own units."""
    half = asked.half
    if not isinstance(asked.query, SecondMomentQuery):
        return private * half + asked.middle
    if asked.asked == "second_moments":
        return private * np.outer(half, half)
    if asked.asked == "first_component":
        return answers.components(private)[:1]
    weights, intercept = answers.line(private, noise_std, asked.middle, half)
    return np.append(weights, intercept)[None]


def _written(asked: Specification, answer: Array) -> str:
    """Return the CSV text of an answer."""
    names, rows = list(asked.columns), answer.tolist()
    if asked.target:
        names[-1] = "intercept"
    if asked.asked == "second_moments":
        rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
        names = ["", *names]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()
