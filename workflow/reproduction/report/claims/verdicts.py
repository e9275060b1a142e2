"""Verdicts on claims, and kinds of claims."""

from __future__ import annotations

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
ONLY_UNDER, UNINFORMATIVE = "reproduced only under", "uninformative"
UNDECIDED, UNTESTABLE = "undecided", "untestable here"

#: Kinds of claims that are counted by themselves.
THEOREM, EXPERIMENT = "theorem", "experiment"
#: All kinds: what the paper calls the claim. An experiment is a claim on results.
KINDS = (
    *(THEOREM, "lemma", "example", "step of a proof", "equation", "remark", "setting"),
    EXPERIMENT,
)
