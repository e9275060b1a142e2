"""Summarise an experiment's trials to one row per cell, and compare the rows."""

from __future__ import annotations

from collections.abc import Sequence


def run(files: Sequence[str], *, settings: str = "", out: str, comparisons: str) -> None:
    """Run the verb.

    Args:
        files: trial files
        settings: a JSON object with the digests of the settings that the trials must have (default:
            any), the fixed configuration by mechanism, which is compared too, and by scheme that is
            not run the one whose rows it has (same_as)
        out: summary, CSV
        comparisons: comparisons of its rows, CSV
    """
    from reproduction import job_settings
    from reproduction.report import comparisons as compared
    from reproduction.report import summary

    job = job_settings.load_settings(settings) if settings else {}
    if digests := job.get("digests"):
        summary.check_settings(files, digests)
    same_as = job.get("same_as", {})
    # Once for both: an experiment has millions.
    rows = summary.join_trials(files, same_as)
    summary.write_summary(rows, out, same_as)
    compared.write_comparisons(rows, out, comparisons, job.get("fixed", {}), same_as)
