"""The audit of any mechanism: a class of the library or of another author, or a plain function.

One verdict for all: classes are judged by :func:`matrixdp.auditing.releases.judge_release`, as in
the study, and functions by :mod:`matrixdp.auditing.functions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NoReturn, get_args

import numpy as np

from matrixdp import checks, library, status
from matrixdp.auditing import functions
from matrixdp.auditing.audit import POWER
from matrixdp.auditing.releases import Limits, judge_release
from matrixdp.checks import InputError
from matrixdp.mechanisms.mechanism import BrokenPromise, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.promise import check_promise, promised
from matrixdp.privacy.sensitivity import Query

#: Largest number of runs on each neighbour, if none is given.
RUNS = 20_000

#: How often another author's mechanism is calibrated, of which the last result is judged.
CALIBRATIONS = 3

#: Columns of an audit's row that a result has under the same name.
FIELDS = (
    *("verdict", "tool", "upper", "epsilon_attained", "epsilon_largest", "runs"),
    *("detectable_effect", "tried", "beyond", "not_finite"),
)

#: What the audit of a certified mechanism does not see.
CERTIFIED = (
    "what this mechanism calibrates next; errors in this library itself; what a program shows "
    "besides the release, as time"
)


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit saw; ``str`` gives the verdict, what was tried, and what it does not see.

    It is neither true nor false: compare ``status``, or use
    :func:`matrixdp.testing.assert_not_refuted`.

    Attributes:
        status: ``certified``, ``refuted`` or ``not refuted``, see docs/audit.md.
        verdict: the status with its reason; of a refutation the neighbours and the event.
        epsilon, delta: the audited claim.
        tool: method of the verdict.
        upper: epsilon that is proved for all neighbours; None where none is.
        epsilon_attained: epsilon at ``delta`` on the worst neighbours of the search, computed; NaN
            where runs alone tell.
        epsilon_lower: lower bound that runs prove, at 95 % confidence.
        epsilon_largest: largest bound that these runs could have proved.
        runs: number of counted runs on each neighbour.
        detectable_effect: smallest share of missing noise that is detected with a probability of
            95 %; NaN if unknown.
        tried: how many neighbours and places were tried; empty for a mechanism of the library.
        beyond: neighbours beyond the bounds that refute the claim of a function, with the event;
            the claim then holds only if its caller clips. Empty where none do.
        not_finite: such neighbours with a missing or an infinite value.
        limitations: what the audit does not see.
        seed: seed of the audit.

    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
    >>> result = mdp.audit(mdp.Gaussian(), query, epsilon=1, delta=1e-6, runs=2000)
    >>> result.status, result.to_dict()["tool"]
    ('certified', 'exact curve')
    """

    status: str
    verdict: str
    epsilon: float
    delta: float
    tool: str
    upper: float | None = None
    epsilon_attained: float = float("nan")
    epsilon_lower: float = 0.0
    epsilon_largest: float = float("nan")
    runs: int = 0
    detectable_effect: float = float("nan")
    tried: str = ""
    beyond: str = ""
    not_finite: str = ""
    limitations: str
    seed: int

    @property
    def lower(self) -> float:
        """The largest epsilon that neighbours attain: computed, or at 95 % confidence."""
        attained = 0.0 if math.isnan(self.epsilon_attained) else self.epsilon_attained
        return max(attained, self.epsilon_lower)

    def __bool__(self) -> NoReturn:
        """Raise InputError: no audit is a proof, so that the caller names the status it wants."""
        raise InputError(
            f"an audit is neither true nor false, and this one is {self.status!r}; compare its "
            "status, or call matrixdp.testing.assert_not_refuted"
        )

    def __str__(self) -> str:
        """Return three lines: the verdict, the numbers with what was tried, and what it misses.

        A line more says that a claim holds only if the caller clips, or replaces values.
        """
        claim = f"epsilon {self.epsilon:g}" + f", delta {self.delta:g}" * bool(self.delta)
        exact = self.epsilon_attained >= self.epsilon_lower
        how = "computed" if exact else "at 95 % confidence"
        upper = "none proved" if self.upper is None else f"{self.upper:.4g}, proved"
        tried = [self.tried] * bool(self.tried)
        if self.runs:
            runs = f"{self.runs} runs, which could have shown epsilon {self.epsilon_largest:.3g}"
            tried.append(runs)
        if not math.isnan(self.detectable_effect):
            tried.append(_missing(self.detectable_effect))
        return "\n".join(
            (
                f"{self.verdict} (claim: {claim}; {self.tool})",
                f"epsilon at least {self.lower:.4g}, {how}; at most: {upper}; "
                f"tried: {'; '.join(tried) or 'nothing'}",
                *(f"only if {words}" for words in self.conditions),
                f"not seen: {self.limitations}",
            )
        )

    @property
    def conditions(self) -> list[str]:
        """What the caller must do for the claim to hold, as far as was seen, and why."""
        needs = {"clips": self.beyond, "replaces what is no finite number": self.not_finite}
        return [f"its caller {verb}: {why}" for verb, why in needs.items() if why]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON: None for NaN, and the text ``inf`` for infinity."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def audit(
    mechanism: Mechanism | CalibratedMechanism | Callable[..., Any],
    query: Query,
    *,
    epsilon: float,
    delta: float = 0.0,
    seed: int = 0,
    runs: int | None = None,
) -> AuditResult:
    """Return what refutes a claim of privacy, or certifies it, with evidence, power and limits.

    Args:
        mechanism: a mechanism, which is calibrated to the claim; a calibrated one; or a function
            ``f(records, generator)`` of records (n, m), one per row, and of the Generator that is
            its only source of randomness. It returns a number or an array of one shape. A function
            of the records alone has randomness of its own, which no seed repeats.
        query: what a record is, how many there are, and what neighbours differ in. For a function
            its value matters only to the search for the worst neighbours.
        epsilon, delta: the claim.
        seed: the same seed gives the same result.
        runs: largest number of counted runs on each neighbour, by default ``RUNS``; a suspicious
            mechanism is run up to four times as often.

    Raises:
        InputError: an argument is out of range or of another type, the mechanism does not serve the
            query or raises an error, or a function never returns an array of finite numbers. One
            that fails on some records alone is judged by that.

    >>> query = mdp.MeanQuery(mdp.Box.cube(2, 0, 1), n_records=100)
    >>> def release(records, generator):
    ...     return records.mean(axis=0) + generator.laplace(0, 0.01, 2)
    >>> mdp.audit(release, query, epsilon=2, runs=2000).status
    'not refuted'
    >>> mdp.audit(release, query, epsilon=1, runs=2000).status
    'refuted'
    """
    epsilon, delta = checks.positive(epsilon=epsilon), checks.not_negative(delta=delta)
    if delta >= 1:
        raise InputError(f"delta is {delta:g}; it must be below 1")
    if not isinstance(query, get_args(Query)):
        raise InputError(
            f"query is of type {type(query).__name__}; give a query of the library, such as "
            "MeanQuery(Box.cube(2, 0, 1), n_records=100)"
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed is {seed!r}; it must be a whole number of at least 0")
    most = RUNS if runs is None else checks.count(runs=runs)
    generators = np.random.default_rng(seed).spawn(7)
    if isinstance(mechanism, Mechanism | CalibratedMechanism):
        row = _judge_class(mechanism, query, epsilon, delta, generators, most)
    elif isinstance(mechanism, type) or not callable(mechanism):
        shown = checks.short(repr(mechanism))
        raise InputError(
            f"mechanism is {shown}; give an object of a mechanism's class, such as "
            "Gaussian(), or a function of records and a Generator"
        )
    else:
        row = functions.judge(mechanism, query, epsilon, delta, generators, most)
    return AuditResult(
        status=status.of(row["verdict"]),
        epsilon=epsilon,
        delta=delta,
        seed=seed,
        epsilon_lower=row.get("epsilon_certified", 0.0),
        limitations=row["note"] or functions.not_seen(),
        **{name: row[name] for name in FIELDS if name in row},
    )


def _judge_class(
    mechanism: Mechanism | CalibratedMechanism,
    query: Query,
    epsilon: float,
    delta: float,
    generators: list[np.random.Generator],
    runs: int,
) -> dict[str, Any]:
    """Return the row of an audit of a mechanism."""
    name = type(mechanism).__name__
    with checks.as_input_error(f"{name} cannot be audited: {{why}}"):
        try:
            if isinstance(mechanism, CalibratedMechanism):
                release = mechanism
                check_promise(release, name, query, epsilon=epsilon, delta=delta)
            else:
                for _ in range(1 if library.plain(mechanism) else CALIBRATIONS):
                    release = promised(mechanism, query, epsilon=epsilon, delta=delta)
        except BrokenPromise as error:
            words = f"{status.REFUTED}: {error}"
            return {"verdict": words, "tool": "promise", "note": "all else: it was not run"}
        row = judge_release(release, query, generators, Limits(runs=runs))
    if not str(row["verdict"]).startswith(status.CERTIFIED):
        return row
    kind = type(release).__name__
    # What another author's class calibrates once, it may not calibrate again; the certificate
    # of an object does not rest on who has calibrated it.
    if library.plain(mechanism) and (release.of_library or release is mechanism):
        certified = f"{row['verdict']} for this calibrated {kind}"
        return row | {"verdict": certified, "upper": release.epsilon, "note": CERTIFIED}
    words = (
        f"{status.NOT_REFUTED}: a calibrated {kind} of this class passes, and another may not; "
        "audit the one that you use"
    )
    return row | {"verdict": words, "note": CERTIFIED}


def _missing(share: float) -> str:
    """Return in words what share of missing noise is detected."""
    if share <= functions.ANY:
        return "on these neighbours any missing noise shows"
    return f"noise {share:.1%} too small is found with probability {POWER:g}"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value.item() if isinstance(value, np.generic) else value
