"""Run mechanisms whose rule was made on the papers' data, and others, on other data."""

from __future__ import annotations


def run(*, seed: int = 0, trials: int = 100, out: str) -> None:
    """Run the verb.

    Args:
        trials: number of trials of each mechanism
        out: one row per trial, .csv.gz
    """
    from reproduction import trials as tidy
    from reproduction.experiments import held_out

    tidy.write_trials(held_out.run(seed, int(trials)), out)
