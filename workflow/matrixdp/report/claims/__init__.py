"""The ledger: a verdict on every claim of the papers, and what it rests on.

Nothing is taken as reproduced by default. The verdicts are

- ``reproduced``: the test holds (ordering claims: after Holm's correction over the claims on one
  experiment; exact claims: every number, within its tolerance);
- ``not reproduced``: the test says the opposite;
- ``reproduced only under <reading>``: it fails, or is undecided, but surely holds in another
  private reading of the papers;
- ``uninformative``: the zero predictor or a random guess meets the claim too;
- ``undecided``: the interval covers 0, or the test was not run;
- ``untestable here``: a claim about data, on simulated data.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from matrixdp import files
from matrixdp.report import markup, summary
from matrixdp.report.claims import ledger
from matrixdp.report.claims.judge import ONLY_UNDER, Judge
from matrixdp.report.claims.ledger import Known
from matrixdp.report.markup import short

PAPERS = {
    "MVG": "MVG (Chanyaswad et al., CCS 2018)",
    "IMGM": "IMGM (Yang et al., arXiv 2104.14808)",
    "Note": "Note on vector-valued noise",
}


def write(
    results: str | os.PathLike,
    *,
    known: Known,
    experiments: Collection[str],
    labels: Mapping[str, str] | None = None,
    epsilon: str = "1",
    path: str | os.PathLike = ledger.FILE,
) -> None:
    """Write claims.csv, tables/claims.{csv,md,tex} and tables/claims_comparisons.csv.

    Args:
        results: the run's folder, read and written.
        known: the names that claims may use.
        experiments, labels, epsilon: see :class:`matrixdp.report.claims.judge.Judge`.
        path: the claims.

    Raises:
        InputError: the claims are not valid (see :func:`matrixdp.report.claims.ledger.read`), or
            a file of the run is damaged.
    """
    claims = ledger.read(known, path)
    judge = Judge(results, experiments=experiments, labels=labels, epsilon=epsilon)
    table, comparisons = judge.judge(claims)
    simulated = table["data_status"].str.contains(summary.SIMULATED).any()
    grid = tabulate(table, markup.SIMULATED if simulated else "")
    root = Path(results)
    files.write_text(root / "claims.csv", table.to_csv(index=False, lineterminator="\n"))
    markup.write(root / "tables/claims", table, grid)
    files.write_text(
        root / "tables/claims_comparisons.csv", comparisons.to_csv(index=False, lineterminator="\n")
    )


def tabulate(table: pd.DataFrame, warning: str = "") -> markup.Grid:
    """Return the ledger as a person reads it, one group per paper."""
    counts = table["verdict"].str.replace(
        rf"{ONLY_UNDER} .*", f"{ONLY_UNDER} a reading", regex=True
    )
    said = ", ".join(f"{n} {verdict}" for verdict, n in counts.value_counts().items())
    over = table["readings_total"].notna().any()
    header = ["", "Claim", "Verdict", "Evidence", "p", *(["Readings"] if over else [])]
    groups = [
        (PAPERS[paper], [_cells(row, over) for row in rows.to_dict("records")])
        for paper, rows in table.groupby("paper", sort=False)
    ]
    widths = r"lp{0.3\linewidth}p{0.14\linewidth}p{0.3\linewidth}l" + ("l" if over else "")
    caption = (
        f"What the papers claim, and what became of it: {said}. Claims that order results are "
        "tested by Student's t on the differences of trials, after Welch between experiments; p is "
        "two-sided and corrected after Holm over the claims on one experiment. The larger a "
        "difference or ratio, the better for the claim. "
        "Claims of theory are checked in numbers and have no p."
    )
    if over:
        caption += " Readings: in how many private readings of the papers the claim clearly holds."
    return markup.Grid("Claims", caption, warning, header, groups, widths)


def _cells(row: Mapping, over: bool) -> list[str]:
    p = row["p_corrected"]
    total = row["readings_total"]
    share = "" if pd.isna(total) else f"{row['readings_holding']} of {total}"
    return [
        row["id"],
        f"{row['claim']} ({row['place']})",
        row["verdict"],
        row["reason"] + _effect(row),
        "" if np.isnan(p) else "< 0.001" if p < 1e-3 else f"{p:.2g}",
        *([share] if over else []),
    ]


def _effect(row: Mapping) -> str:
    if np.isnan(row["effect_low"]):
        return ""
    ends = " to ".join(short(row[name]) for name in ("effect_low", "effect_high"))
    what = "ratio" if " over that of " in row["statistic"] else "difference"
    return f"; {what} {short(row['effect'])} ({ends})"
