"""For the tests of those who write mechanisms, as with pytest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matrixdp import checks
from matrixdp.auditing import public, status
from matrixdp.mechanisms.base import CalibratedMechanism, Mechanism
from matrixdp.privacy.sensitivity import Query


def assert_private(
    mechanism: Mechanism | CalibratedMechanism | Callable[..., Any],
    query: Query,
    *,
    epsilon: float,
    delta: float = 0.0,
    at_least: str = status.TESTED,
    seed: int = 0,
    runs: int | None = None,
) -> None:
    """Raise AssertionError, with the three lines of the audit, if its status is too bad.

    A function is ``tested`` only where it adds normal or Laplace numbers of its Generator, at most
    ``functions.DRAWS`` of them, to what does not depend on them; any other is ``declared`` at best.
    Give ``at_least="declared"`` for such a function, and for one with randomness of its own: then
    it fails only if it is refuted.

    With one seed the result is always the same, except of randomness that no seed repeats. Of 250
    right mechanisms with other seeds, one is refuted by chance with a probability of at most 0.001
    (``evidence.FAMILY``). It takes some seconds: a function is called about 45,000 times.

    Args:
        mechanism, query, epsilon, delta, seed, runs: as :func:`matrixdp.audit`.
        at_least: the worst status that passes: ``certified``, ``tested`` or ``declared``.

    Raises:
        AssertionError: the status is worse.
        InputError: as :func:`matrixdp.audit`, or ``at_least`` is no such word.

    >>> from matrixdp.testing import assert_private
    >>> query = mdp.MeanQuery(mdp.Box.cube(2, 0, 1), n_records=100)
    >>> assert_private(mdp.Gaussian(), query, epsilon=1, delta=1e-6, at_least="certified")
    """
    allowed = status.ORDER[status.ORDER.index(status.DECLARED) :]
    word = checks.choice(allowed, at_least=at_least)
    result = public.audit(mechanism, query, epsilon=epsilon, delta=delta, seed=seed, runs=runs)
    if status.ORDER.index(result.status) < status.ORDER.index(word):
        raise AssertionError(f"not {word}:\n{result}")
