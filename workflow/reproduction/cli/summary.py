"""Summarise an experiment's trials to one row per cell, and compare the rows."""

from __future__ import annotations

from collections.abc import Sequence


def run(
    files: Sequence[str],
    *,
    settings: str = "",
    fixed: str = "{}",
    same: str = "{}",
    out: str,
    comparisons: str,
) -> None:
    """Run the verb.

    Args:
        files: trial files
        settings: digests of the settings that the trials must have, comma-separated (default: any)
        fixed: publicly fixed configurations by mechanism, which are compared too, a JSON object
        same: by scheme that is not run the one whose rows it has, a JSON object
        out: summary, CSV
        comparisons: comparisons of its rows, CSV
    """
    import json

    from reproduction.report import comparisons as compared
    from reproduction.report import summary

    if settings:
        summary.check_settings(files, settings.split(","))
    same_as = json.loads(same)
    summary.write(files, out, same_as)
    compared.write(files, out, comparisons, json.loads(fixed), same_as)
