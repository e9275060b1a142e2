"""Compare mechanisms whose rule was made on the papers' data with others, on other data."""

from __future__ import annotations


def run(*, seed: int = 0, trials: int = 100, out: str) -> None:
    """Run the verb.

    Args:
        trials: number of trials of each mechanism
        out: one row per data set, epsilon and mechanism, CSV
    """
    from reproduction.experiments import held_out
    from reproduction.report import evidence

    evidence.write(held_out.run(seed, int(trials)), out)
