"""Try wrong mechanisms on the audit, which must catch them; one that passes is an error."""

from __future__ import annotations


def run(*, seed: int = 0, out: str) -> None:
    """Run the verb.

    Args:
        out: one row per wrong mechanism, CSV
    """
    from reproduction import trials
    from reproduction.auditing import negative_control

    rows = negative_control.run(seed)
    trials.write_csv(rows, negative_control.COLUMNS, out)
    negative_control.require(rows)
