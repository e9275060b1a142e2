"""The last words of a run: its page, its verdicts, and how long it took."""

from __future__ import annotations

import csv
import json
import shlex
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

#: How a person starts Snakemake in a clone, and in a folder of their own without our profile.
_IN_CLONE, _ELSEWHERE = ".venv/bin/snakemake", "snakemake -c 1"

#: What a verdict is called where its own word says too little alone.
_WORDS = {
    "narrower": "reproduced only in a narrower case",
    "depends": "depend on epsilon or the unit",
}


def stand_ins(folder: str, options: str) -> Iterator[str]:
    """Yield a line with the command that tries again for originals, where stand-ins stand.

    Args:
        folder: that of the results.
        options: those of snakemake that give this configuration.
    """
    names, files = [], []
    for file in sorted(Path(folder, "data").glob("*/provenance.json")):
        origin = json.loads(file.read_text(encoding="utf-8"))
        if origin.get("requested") == "auto" and origin.get("status") == "simulated":
            names.append(file.parent.name)
            files.append(shlex.quote(str(file)))
    if names:
        start = _IN_CLONE if Path(_IN_CLONE).exists() else _ELSEWHERE
        again = " ".join([start, *filter(None, [options]), "--forcerun", *files, "--", *files])
        yield (
            f"SIMULATED stand-ins take the place of {', '.join(names)}. With a network, or with "
            f"the originals in a folder that DATA_MIRROR names, say `{again}`, and start again.\n"
        )


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
            every = list(csv.DictReader(stream))
        # As the page counts them: claims that one fact decides count once.
        names = {row["id"] for row in every}
        rows = [row for row in every if row.get("same_as") not in names]
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
