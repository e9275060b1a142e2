"""Known-bug tests: privacy mistakes from the literature that the audit must catch in every run.

Each test names the tool that must object to the mistake. Its control does the same thing correctly,
and the same tool must accept it.
"""

from __future__ import annotations

# Importing a module of cases enters them in KNOWN_BUGS.
from reproduction.auditing.known_bugs import calibration, noise, records
from reproduction.auditing.known_bugs.tools import KNOWN_BUGS
from reproduction.seeds import streams

__all__ = ["COLUMNS", "KNOWN_BUGS", "calibration", "noise", "records", "run"]

COLUMNS = ("known_bug", "mistake", "tool", "caught", "evidence", "control")


def run(seed: int) -> list[dict[str, object]]:
    """Return one row per known-bug test; ``control``: whether the tool accepts the control."""
    rows = []
    for name, (mistake, tool, build) in KNOWN_BUGS.items():
        wrong, right = (
            tool.judge(
                build(kind == "wrong"), streams(seed, "known bug", name, kind, trials=range(4))
            )
            for kind in ("wrong", "right")
        )
        values = (name, mistake, tool.name, wrong.caught, wrong.evidence, not right.caught)
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows
