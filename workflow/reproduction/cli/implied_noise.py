"""Search the noise that the printed errors of an experiment would need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(files: Sequence[str], *, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        files: the summary of the experiment, then the errors that the paper prints
        settings: settings of the releases, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per release, CSV
    """
    import pandas as pd

    from reproduction import catalogue, job_settings, trials
    from reproduction.experiments import implied_noise
    from reproduction.report import summary

    job = job_settings.load_settings(settings)
    results, published = summary.read_summary(files[0]), pd.read_csv(files[1])
    rows = summary.default_rows(results)
    rows = rows[rows["epsilon"].isin(job["epsilons"])]
    unit = published["unit_factor"] / (catalogue.experiment(job["experiment"]).conjecture or 1)
    printed = published[["value", "interval"]].mul(unit, axis=0)
    printed = printed.set_axis(published["mechanism"])
    found = implied_noise.compute_implied_noise(job, Path(data).parent, rows, printed)
    trials.write_csv(found, implied_noise.COLUMNS, out)
