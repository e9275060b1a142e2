"""Verdicts on claims, and kinds of claims."""

from __future__ import annotations

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
ONLY_UNDER, UNDECIDED = "reproduced only under", "undecided"
UNTESTABLE = "untestable here"

#: Kinds of claims that are counted by themselves.
THEOREM, EXPERIMENT = "theorem", "experiment"
#: All kinds: what the paper calls the claim. An experiment is a claim on results.
KINDS = (
    *(THEOREM, "lemma", "example", "step of a proof", "equation", "remark", "setting"),
    EXPERIMENT,
)
