"""Receipts: the guarantee and the noise of a release, in public words and numbers."""

from __future__ import annotations

import hashlib
import itertools
import json
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matrixdp.noise import safe
from matrixdp.privacy import gaussian_dp
from matrixdp.release import (
    ledger,
    missing,
    outlooks,
    provenance,
)
from matrixdp.release.comparison import Option
from matrixdp.release.outputs import Output
from matrixdp.release.outputs.moments import TOGETHER, stated_answer
from matrixdp.version import VERSION

#: Epsilons at which a receipt states the exact curve.
_CURVE = (0.1, 0.3, 1.0, 3.0, 10.0)

#: Above this epsilon, one output can favour one record over another with odds above 22,000.
_LARGE_EPSILON = 10

#: Entries of a receipt on a release, beside its terms, which all of its answers share.
_OF_RELEASES = (
    *("epsilon_at_delta", "mu", "curve", "origin_of_bounds", "rule_for_missing_values", "noise"),
    *("of_delta_for_the_noise_distribution", "not_covered", "cautions", "version"),
    *("total_of_the_account", "epsilon_of_all_releases_so_far"),
)

#: Neighbouring relations in words.
_NEIGHBOURS = {
    "replace": "one record is replaced by any other; their number is public",
    "add_or_remove": "one record is added or removed; their number is private, and the stated one "
    "only sets the scale of the noise",
}
_PEOPLE = {
    "replace": "all records of one person are replaced by any others, in the same places; who has "
    "how many records is public",
    "add_or_remove": "one person is added or removed, with all records; the numbers of people and "
    "of records are private, and the stated one only sets the scale of the noise",
}


def cautions(spec: Output) -> list[str]:
    """Return a warning sentence for each weakness of a guarantee."""
    guarantees = {"": (spec.epsilon, spec.delta)}
    if spec.total:
        guarantees["total."] = spec.total["epsilon"], spec.total["delta"]
    sentences, group = [], spec.query.group
    # It is one of a person's records with this chance.
    chance = group / spec.records
    for name, (epsilon, delta) in guarantees.items():
        if delta > chance:
            sentences.append(
                f"{name}delta is {delta:g}, above {group} / records = {chance:.2g}: to publish one "
                "whole record, drawn at random, would keep such a promise"
            )
        if epsilon > _LARGE_EPSILON:
            sentences.append(
                f"{name}epsilon is {epsilon:g}, above {_LARGE_EPSILON}: this promises a single "
                "person next to nothing"
            )
    return sentences


def _curve(mu: float, numbers: int) -> list[list[float]]:
    """Return pairs of an epsilon and its delta.

    The sampler's part of delta grows with epsilon, but what holds at one epsilon also does at a
    larger one.
    """
    deltas = (gaussian_dp.delta(e, mu) + safe.extra_delta(e, numbers) for e in _CURVE)
    least = itertools.accumulate(deltas, min, initial=1.0)
    return [[e, delta] for e, delta in zip(_CURVE, itertools.islice(least, 1, None), strict=True)]


def build(
    spec: Output,
    best: Option,
    date: str,
    charge: int | None = None,
    origins: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the receipt of a release; all of it is public, and nothing depends on the data.

    ``charge`` is the place of the charge in its account, from 1, so that no two receipts of an
    account have one digest. ``origins`` are those of the bounds, all of them stated where no
    account can tell.

    Of the file it has the name alone. A checksum, a size or a time would be a function of the
    records: who knows all of them but one could try that one until it agrees.
    """
    release, extra = best.release, best.release.extra_delta
    terms = _terms(spec, best, date, charge)
    text = json.dumps(terms, sort_keys=True)
    curve = _curve(release.mu, release.numbers) if release.mu is not None else []
    return {
        **terms,
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "epsilon_at_delta": release.epsilon_delivered,
        "mu": release.mu,
        "curve": curve,
        **_noise(spec, best),
        "origin_of_bounds": origins or provenance.stated(spec),
        "rule_for_missing_values": spec.missing_rule + missing.describe_codes(spec.book),
        "noise": "whole steps of 2^-26 of its scale, from random bits of the operating system",
        "of_delta_for_the_noise_distribution": extra,
        "not_covered": "how long the release took; what is seen of the machine that made it; that "
        "the file can be read at all, as a record that is no numbers ends a release",
        "cautions": cautions(spec) or None,
        "version": {
            "matrixdp": VERSION,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _noise(spec: Output, best: Option) -> dict[str, Any]:
    """Return what a receipt says of an answer and its noise."""
    beyond = {"beyond_bounds": spec.beyond_bounds or None}
    return {**spec.noise_of(best), "says": best.says, **beyond}


def of_answer(statement: Mapping[str, Any], spec: Output) -> dict[str, Any]:
    """Return the receipt of one of several answers that are read from a release."""
    return {**statement, "answer": stated_answer(spec), "readings": TOGETHER}


def of_kept(kept: Mapping[str, Any], spec: Output, best: Option) -> dict[str, Any]:
    """Return the receipt of another answer of a release that is charged already.

    Its terms, its digest and its guarantee are those of the charge; answer and noise are its own.

    Args:
        kept: the receipt of the charge.
        spec, best: the answer, with the mechanism of the release.
    """
    names = [*kept]
    terms = names[: names.index("digest") + 1]
    shared = {name: kept[name] for name in names if name in (*terms, *_OF_RELEASES)}
    return of_answer({**shared, **_noise(spec, best)}, spec)


def _terms(spec: Output, best: Option, date: str, charge: int | None) -> dict[str, Any]:
    """Return what a receipt states of the request, whose digest it has."""
    return {
        "format": ledger.FORMAT,
        "date": date,
        **({} if charge is None else {"charge": charge}),
        "file": spec.file.name if spec.frame is None else None,
        **spec.terms,
        "missing": _missing(spec),
        "neighbours": (_PEOPLE if spec.people else _NEIGHBOURS)[spec.adjacency],
        "records_that_count": counting_rule(spec) or None,
        "mechanism": spec.mechanism,
        "delta": spec.delta or best.release.extra_delta,
    }


def _missing(spec: Output) -> object:
    """Return what becomes of missing values, as a receipt's terms state it."""
    if "missing" in spec.lacks:
        return None
    if spec.skips_missing:
        return missing.PRESENT
    fills = dict(zip(spec.columns, spec.fill.tolist(), strict=True))
    return "refused" if np.isnan(spec.fill).any() else fills


def counting_rule(spec: Output) -> str:
    """Return in words which records count; nothing where all of them do."""
    if spec.people is None:
        return ""
    return (
        f"the first {spec.people.most} of each person, by the column {spec.people.column!r} and in "
        "the order of the file; the others are left out, and what this changes is no noise, and "
        "not stated here"
    )


def noise_lines(spec: Output, best: Option) -> list[str]:
    """Return the budget of each part, and the noise of each column beside its range."""
    parts = [
        f"{part['part']}: {part['share']:.0%} of the budget, mu {part['mu']:.3g}"
        for part in best.release.costs
    ]
    output = spec.by(best.key)
    for reading in output.readings:
        name = f"{reading.name}: " * (reading is not output)
        parts += [f"{name}{line}" for line in reading.noise_in_words(best)]
    return parts


def comparison(spec: Output, options: Sequence[Option]) -> list[str]:
    """Return a table of what noise takes from the answer, by mechanism and share of the bounds.

    Its last column decides, see :mod:`matrixdp.release.outlooks`. Where the noise decides there is
    no table. Of several answers each has a table, and the geometric mean of them decides.
    """
    if any(option.typical_loss is None for option in options):
        return []
    lines = []
    for number, reading in enumerate(spec.readings):
        several = reading is not spec
        parts = [option.readings[number] if several else option for option in options]
        lines += _losses(reading, parts, f"{reading.name}: " * several)
    if len(spec.readings) > 1:
        lines.append("the typical loss of a mechanism, the geometric mean over all answers:")
        width = max(len(option.key) for option in options)
        lines += [f"{option.key:{width}}{option.typical_loss:8.3f}" for option in options]
    lines.append(
        f"the least typical one is taken, and of those at most {outlooks.TIE:g} times as large the "
        f"first with additive noise; in the mean {outlooks.FLOOR:g} is the least that counts"
    )
    return lines


def _losses(spec: Output, options: Sequence[Option], title: str) -> list[str]:
    """Return the lines of a table of losses of an answer, by mechanism."""
    width = max(len(option.key) for option in options)
    fills = "".join(f"{fill:8.0%}" for fill in outlooks.FILLS)
    lines = [
        f"{title}{spec.loss_unit}, simulated from the bounds alone, where columns fill these "
        "shares of them, and the typical one, their geometric mean:",
        f"{'':{width}}{fills} typical",
    ]
    for option in options:
        losses = "".join(f"{loss:8.2f}" for loss in option.losses)
        lines.append(f"{option.key:{width}}{losses}{option.typical_loss:8.3f}")
    return lines
