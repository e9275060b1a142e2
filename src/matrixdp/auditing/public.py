"""The audit of any mechanism: a class of the library or of another author, or a plain function.

One verdict for all: classes are judged by :func:`matrixdp.auditing.releases.judge_release`, as in
the study, and functions by :mod:`matrixdp.auditing.functions`.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NoReturn, get_args

import numpy as np

from matrixdp import checks
from matrixdp.auditing import functions, status
from matrixdp.auditing.base import POWER
from matrixdp.auditing.releases import Limits, judge_release
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import (
    BrokenPromise,
    CalibratedMechanism,
    Mechanism,
    check_promise,
    promised,
)
from matrixdp.privacy.sensitivity import Query

#: Largest number of runs on each neighbour, if none is given.
RUNS = 20_000

#: What the audit of a certified mechanism does not see, and that of another one at least.
CERTIFIED = "errors in this library itself, and what a program shows besides the release, as time"
OTHER = "neighbours that were not tried, and rare events"


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit saw; ``str`` gives the verdict, its power, and what it does not see.

    It is neither true nor false: compare ``status``, or use
    :func:`matrixdp.testing.assert_private`.

    Attributes:
        status: ``certified``, ``tested``, ``declared`` or ``refuted``, see docs/audit.md.
        verdict: the status with its reason.
        epsilon, delta: the audited claim.
        tool: method of the verdict.
        epsilon_attained: epsilon at ``delta`` on the worst neighbours of the search; NaN where runs
            alone tell.
        epsilon_lower: lower bound that runs prove, at 95 % confidence.
        epsilon_largest: largest bound that these runs could have proved.
        runs: number of counted runs on each neighbour.
        shortfall: smallest share of missing noise that is detected with a probability of 95 %; NaN
            if unknown.
        unseen: what the tests do not see.
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
    epsilon_attained: float
    epsilon_lower: float
    epsilon_largest: float
    runs: int
    shortfall: float
    unseen: str
    seed: int

    def __bool__(self) -> NoReturn:
        """Raise InputError: no audit is a proof, so that the caller names the status it wants."""
        raise InputError(
            f"an audit is neither true nor false, and this one is {self.status!r}; compare its "
            "status, or call matrixdp.testing.assert_private"
        )

    def __str__(self) -> str:
        """Return three lines: the verdict with its evidence, its power, and what it misses."""
        claim = f"epsilon {self.epsilon:g}" + f", delta {self.delta:g}" * bool(self.delta)
        facts = [f"runs prove epsilon {self.epsilon_lower:.3g} at least"] * bool(self.runs)
        if not math.isnan(self.epsilon_attained):
            facts.insert(0, f"neighbours attain epsilon {self.epsilon_attained:.4g}")
        power = [f"{self.runs} runs could have proved epsilon {self.epsilon_largest:.3g}"]
        if not math.isnan(self.shortfall):
            power.append(_missing(self.shortfall))
        return "\n".join(
            (
                f"{self.verdict} ({'; '.join([f'claim: {claim}', self.tool, *facts])})",
                f"power: {'; '.join(power) if self.runs else 'no run was needed'}",
                f"not seen: {self.unseen}",
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON: None for NaN, and the text ``inf`` for infinity."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    def to_frame(self) -> Any:
        """Return a pandas data frame of one row, with a column for each field.

        Raises:
            InputError: pandas is not installed.
        """
        if importlib.util.find_spec("pandas") is None:
            raise InputError("to_frame needs pandas; install it, or take to_dict")
        import pandas as pd

        return pd.DataFrame([asdict(self)])


def audit(
    mechanism: Mechanism | CalibratedMechanism | Callable[..., Any],
    query: Query,
    *,
    epsilon: float,
    delta: float = 0.0,
    seed: int = 0,
    runs: int | None = None,
) -> AuditResult:
    """Return whether a mechanism is as private as is claimed, with evidence, power and limits.

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
            query or raises an error, or a function returns what is no array of finite numbers of
            one shape.

    >>> query = mdp.MeanQuery(mdp.Box.cube(2, 0, 1), n_records=100)
    >>> def release(records, generator):
    ...     return records.mean(axis=0) + generator.laplace(0, 0.01, 2)
    >>> mdp.audit(release, query, epsilon=2, runs=2000).status
    'tested'
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
        facts = _judge_class(mechanism, query, epsilon, delta, generators, most)
    elif isinstance(mechanism, type) or not callable(mechanism):
        shown = checks.short(repr(mechanism))
        raise InputError(
            f"mechanism is {shown}; give an object of a mechanism's class, such as "
            "Gaussian(), or a function of records and a Generator"
        )
    else:
        facts = functions.judge(mechanism, query, epsilon, delta, generators, most)
    return AuditResult(
        status=status.of(facts["verdict"]), epsilon=epsilon, delta=delta, seed=seed, **facts
    )


def _judge_class(
    mechanism: Mechanism | CalibratedMechanism,
    query: Query,
    epsilon: float,
    delta: float,
    generators: list[np.random.Generator],
    runs: int,
) -> dict[str, Any]:
    """Return the facts of an :class:`AuditResult` on a mechanism."""
    name = type(mechanism).__name__
    nothing = float("nan")
    with checks.as_input_error(f"{name} cannot be audited: {{why}}"):
        try:
            if isinstance(mechanism, CalibratedMechanism):
                release = mechanism
                check_promise(release, name, query, epsilon=epsilon, delta=delta)
            else:
                release = promised(mechanism, query, epsilon=epsilon, delta=delta)
        except BrokenPromise as error:
            return {
                "verdict": f"{status.REFUTED}: {error}",
                "tool": "promise",
                "epsilon_attained": nothing,
                "epsilon_lower": 0.0,
                "epsilon_largest": nothing,
                "runs": 0,
                "shortfall": nothing,
                "unseen": "all else: it was not run",
            }
        row = judge_release(release, query, generators, Limits(runs=runs))
    verdict = str(row["verdict"])
    certified = verdict.startswith(status.CERTIFIED)
    fields = ("tool", "epsilon_attained", "epsilon_largest", "runs", "shortfall")
    return {
        "verdict": verdict,
        **{name: row[name] for name in fields},
        "epsilon_lower": row["epsilon_certified"],
        "unseen": CERTIFIED if certified else str(row["note"]) or OTHER,
    }


def _missing(share: float) -> str:
    """Return in words what share of missing noise is detected."""
    if share <= functions.ANY:
        return "on these neighbours any missing noise shows"
    return f"noise {share:.1%} too small is found with probability {POWER:g}"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value.item() if isinstance(value, np.generic) else value
