"""The last words of a run: its page, its verdicts, and how long it took."""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

#: What a verdict is called where its own word says too little alone.
_WORDS = {"narrower": "reproduced only in a narrower case"}


def sentences(folder: str, start: float) -> Iterator[str]:
    """Yield what a person needs at the end of a run.

    Args:
        folder: that of the results.
        start: when the run began, in seconds since the epoch; what is older is not of this run.
    """

    def new(name: str) -> Path | None:
        path = Path(folder, name)
        return path if path.is_file() and path.stat().st_mtime > start else None

    if claims := new("claims.csv"):
        with claims.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        words = Counter(_WORDS.get(row["verdict"], row["verdict"]) for row in rows)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in words.most_common())
        simulated = any(row["data_status"] == "simulated" for row in rows)
        yield f"{len(rows)} claims of the papers: {counts} (see {folder}/tables/claims.md)."
        if simulated:
            yield "They rest on SIMULATED data, which are no evidence about the papers."
    if new("report.html"):
        yield f"Look at {folder}/report.html."
    minutes, seconds = divmod(round(time.time() - start), 60)
    yield f"This run took {minutes} min {seconds} s."
