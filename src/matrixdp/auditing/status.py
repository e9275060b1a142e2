"""The status of a mechanism's guarantee: the first word of the audit's verdict.

The audit writes it and the report reads it. This module therefore imports no mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable

from matrixdp.checks import InputError

#: The library draws the noise itself from a distribution that it knows, and the worst neighbours
#: are proved.
CERTIFIED = "certified"

#: Tests contradict nothing. They cannot see everything: see the caption of the table "audit".
TESTED = "tested"

#: The mechanism declares its guarantee, and nothing could test it enough.
DECLARED = "declared"

#: The guarantee does not hold.
REFUTED = "refuted"

#: No release was audited.
NOT_RUN = "not run"

#: The verdict where there is no guarantee to audit, and no result either.
NO_GUARANTEE = f"{NOT_RUN}: no guarantee"

#: Statuses, the worst one first.
ORDER = (REFUTED, DECLARED, TESTED, CERTIFIED)


def of(verdict: str) -> str:
    """Return the status that a verdict begins with, or ``NOT_RUN`` without a guarantee.

    A release whose audit failed for another reason has results, of which nothing was tested: its
    guarantee is declared.

    Raises:
        InputError: the verdict begins with another word.
    """
    words = (word for word in (*ORDER, NOT_RUN) if str(verdict).startswith(word))
    if (word := next(words, None)) is None:
        raise InputError(
            f"the audit's verdict {verdict!r} begins with none of {', '.join(ORDER)} and "
            f"{NOT_RUN}; run the audit again"
        )
    return DECLARED if word == NOT_RUN and str(verdict) != NO_GUARANTEE else word


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst status of verdicts; empty where none of them is on a guarantee."""
    statuses = {of(verdict) for verdict in verdicts}
    return next((word for word in ORDER if word in statuses), "")
