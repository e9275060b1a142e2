"""Verdicts on claims, and types of claims."""

from __future__ import annotations

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
ONLY_UNDER, UNINFORMATIVE = "reproduced only under", "uninformative"
UNDECIDED, UNTESTABLE = "undecided", "untestable here"

#: Kinds of claims: proved or computed; true or false by definition; tested by trials.
THEOREM, IDENTITY, EXPERIMENT = "theorem", "identity", "experiment"
