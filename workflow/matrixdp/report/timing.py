"""How long the jobs of a run took, from the benchmark files that Snakemake writes."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from matrixdp.checks import InputError
from matrixdp.report import inputs

#: Our name of each benchmark column.
MEASURED = {"s": "wall_s", "cpu_time": "cpu_s", "max_rss": "max_rss_mb"}


def collect(folder: str | os.PathLike) -> pd.DataFrame:
    """Return what the jobs took, one row per ``step``, ``experiment`` and ``mechanism``.

    ``jobs`` are counted, ``wall_s`` and ``cpu_s`` sums of seconds, ``max_rss_mb`` is the largest
    memory of a job. What no job measured (too short, or another system) is NaN. The folder holds
    benchmark files as ``<step>/<experiment>/.../<mechanism>.tsv``; a file nearer to the top has no
    mechanism, or no experiment.

    Raises:
        InputError: there are no benchmark files, or one is not a table.
    """
    root = Path(folder)
    paths = sorted(root.rglob("*.tsv"))
    if not paths:
        raise InputError(f"{root} holds no benchmark files (*.tsv); run the workflow first")
    jobs = pd.concat([_job(path, path.relative_to(root)) for path in paths], ignore_index=True)
    groups = jobs.groupby(["step", "experiment", "mechanism"])
    return pd.concat(
        [
            groups.size().rename("jobs"),
            groups[["wall_s", "cpu_s"]].sum(min_count=1),
            groups["max_rss_mb"].max(),
        ],
        axis=1,
    ).reset_index()


def elapsed(folder: str | os.PathLike) -> float:
    """Return the seconds in which at least one job ran: jobs side by side count once.

    A job ends when its benchmark file is written.
    """
    spans = []
    for path in Path(folder).rglob("*.tsv"):
        end = path.stat().st_mtime
        took = _job(path, path.relative_to(folder))["wall_s"].sum()
        spans.append((end - took, end))
    total, last = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, last))
        last = max(last, end)
    return total


def finished(folder: str | os.PathLike) -> datetime:
    """Return when the last job of a run ended, in UTC."""
    last = max(path.stat().st_mtime for path in Path(folder).rglob("*.tsv"))
    return datetime.fromtimestamp(last, UTC)


def _job(path: Path, place: Path) -> pd.DataFrame:
    """Return one row per run of a job; a measurement that is missing or no number is NaN."""
    with inputs.whole(path, "delete it"):
        measured = pd.read_csv(path, sep="\t", dtype=str)
    parts = place.with_suffix("").parts
    numbers = measured.reindex(columns=[*MEASURED]).apply(pd.to_numeric, errors="coerce")
    return numbers.rename(columns=MEASURED).assign(
        step=parts[0],
        experiment=parts[1] if len(parts) > 1 else "",
        mechanism=parts[-1] if len(parts) > 2 else "",
    )
