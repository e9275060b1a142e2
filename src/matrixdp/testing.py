"""For the tests of those who write mechanisms, as with pytest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matrixdp import checks, status
from matrixdp.auditing import public
from matrixdp.mechanisms.mechanism import CalibratedMechanism, Mechanism
from matrixdp.privacy.sensitivity import Query


def assert_not_refuted(
    mechanism: Mechanism | CalibratedMechanism | Callable[..., Any],
    query: Query,
    *,
    epsilon: float,
    delta: float = 0.0,
    at_least: str = status.NOT_REFUTED,
    caller_clips: bool = False,
    seed: int = 0,
    runs: int | None = None,
) -> None:
    """Raise AssertionError, with the lines of the audit, if it refutes a claim of privacy.

    It fails too where records beyond the bounds refute the claim, as those of a function that does
    not clip. Missing and infinite values, which most functions leave to their caller, do not count:
    a line of :func:`matrixdp.audit` tells of these.

    To pass is no proof: an audit sees the neighbours and the events that it tries. Calibrated
    mechanisms of the library are certified; give ``at_least="certified"`` for these.

    With one seed the result is always the same, except of randomness that no seed repeats. A right
    mechanism is refuted by chance with a probability of at most 1e-4, over all neighbours, places
    and events that are tried. It takes some seconds: a function is called about 45,000 times.

    Args:
        mechanism, query, epsilon, delta, seed, runs: as :func:`matrixdp.audit`.
        at_least: the worst status that passes: ``certified`` or ``not refuted``.
        caller_clips: whether the function gets records in bounds alone, so that it need not clip.

    Raises:
        AssertionError: the status is worse, or the claim holds only if the caller clips.
        InputError: as :func:`matrixdp.audit`, or ``at_least`` is no such word.

    >>> from matrixdp.testing import assert_not_refuted
    >>> query = mdp.MeanQuery(mdp.Box.cube(2, 0, 1), n_records=100)
    >>> assert_not_refuted(mdp.Gaussian(), query, epsilon=1, delta=1e-6, at_least="certified")
    """
    verdicts = (status.NOT_REFUTED, status.CERTIFIED)
    word = checks.choice(verdicts, at_least=at_least)
    result = public.audit(mechanism, query, epsilon=epsilon, delta=delta, seed=seed, runs=runs)
    if status.ORDER.index(result.status) < status.ORDER.index(word):
        raise AssertionError(f"{result.status}, not {word}:\n{result}")
    if result.beyond and not caller_clips:
        raise AssertionError(
            f"{result.status}, but only for records in bounds; clip in the function, or give "
            f"caller_clips=True if what calls it clips:\n{result}"
        )
