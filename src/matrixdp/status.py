"""The status of a mechanism's guarantee: the first words of the audit's verdict.

The audit writes it beside the verdict, for the report. This module therefore imports no mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable

from matrixdp.checks import InputError

#: The library draws the noise itself, and epsilon is proved for all neighbours. The certificate is
#: of one calibrated object.
CERTIFIED = "certified"

#: No neighbours and no event were found that attain more than is claimed. No search sees all.
NOT_REFUTED = "not refuted"

#: Neighbours and an event attain more than is claimed.
REFUTED = "refuted"

#: No audit: a charge, or a release of this study that none was run on, as a class declares it.
DECLARED = "declared"

#: No release was audited.
NOT_RUN = "not run"

#: The verdict where there is no guarantee to audit, and no result either.
NO_GUARANTEE = f"{NOT_RUN}: no guarantee"

#: Statuses, the worst one first.
ORDER = (REFUTED, DECLARED, NOT_REFUTED, CERTIFIED)


def of(verdict: str) -> str:
    """Return the status that a verdict begins with, or ``NOT_RUN`` without a guarantee.

    A release whose audit failed for another reason has results, of which nothing was tried: its
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


def worst(statuses: Iterable[str]) -> str:
    """Return the worst one of statuses; empty where none of them is on a guarantee.

    Raises:
        InputError: there is another word among them.
    """
    words = {*statuses}
    for other in sorted(words - {*ORDER, NOT_RUN}):
        raise InputError(
            f"the audit's status {other!r} is none of {', '.join(ORDER)} and {NOT_RUN}; run the "
            "audit again"
        )
    return next((word for word in ORDER if word in words), "")
