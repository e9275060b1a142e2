"""Try known ways to get privacy wrong, which the audit must catch."""

from __future__ import annotations


def run(*, seed: int = 0, out: str) -> None:
    """Run the verb.

    Args:
        out: one row per mistake, CSV
    """
    from reproduction import trials
    from reproduction.auditing import known_bugs

    trials.write_csv(known_bugs.run(seed), known_bugs.COLUMNS, out)
