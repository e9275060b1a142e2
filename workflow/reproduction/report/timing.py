"""Wall time of a run, from the benchmark files that Snakemake writes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from reproduction.report import inputs


def span(paths: Iterable[str | os.PathLike]) -> tuple[float, datetime] | None:
    """Return the seconds in which at least one job ran, and the end of the last one, in UTC.

    Parallel jobs count once; a job ends when its benchmark file is written. The result is None
    without such files. Snakemake measures wall time to the millisecond, but samples processor time
    so rarely that its sum is too small.

    Args:
        paths: the benchmark files of the run's jobs; those of jobs that have not run are missing.

    Raises:
        InputError: a file is not a table.
    """
    spans = []
    for path in filter(Path.is_file, map(Path, paths)):
        end = path.stat().st_mtime
        spans.append((end - _seconds(path), end))
    total, last = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, last))
        last = max(last, end)
    return (total, datetime.fromtimestamp(last, UTC)) if spans else None


def _seconds(path: Path) -> float:
    """Return the wall time of a job in seconds, 0 if it was not measured."""
    with inputs.file_errors(path, "delete it"):
        seconds = pd.read_csv(path, sep="\t", dtype=str)["s"]
    return float(pd.to_numeric(seconds, errors="coerce").sum())
