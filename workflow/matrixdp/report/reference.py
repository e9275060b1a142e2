"""The kept results of a full run on the original data: keeping them, and comparing a run with them.

The same seed and trials give the same numbers but for rounding; for that, the summaries of a quick
run are kept beside those of the full one, in ``quick``. Rows that no kept run repeats (other
trials, another seed) are held against the full run by an equivalence test: two one-sided tests at
level ``LEVEL`` that the means differ by less than ``MARGIN`` standard deviations of a trial. A row
that cannot show this, because it is different or because it has too few trials, fails.

Where the full run itself has too few trials for that, as trained networks have, a row fails only
if a t-test at level ``LEVEL``, corrected after Bonferroni for the number of such rows, tells it
apart. To pass this shows little: with so few trials a large difference passes too. It cannot be
stricter, because the last digits of another processor grow while a network is trained.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy.special import stdtrit

from matrixdp import files, places
from matrixdp.checks import InputError
from matrixdp.report import inputs, statistics, summary

#: What is kept of a run, as far as it is there.
KEPT = (
    *("settings.yaml", "data", "summary", "comparisons", "readings", "theory", "audit"),
    *("tables", "figures", "claims.csv"),
)
#: Data sets themselves are not: of them the provenance is kept.
_LEFT_OUT = shutil.ignore_patterns("*.npy", "*.npz")

#: Below the reference: the summaries of a quick run.
QUICK = "quick"

LEVEL = 0.05
MARGIN = 1.0
#: Relative difference that another processor's last digits may add up to.
ROUNDING = 1e-6
#: What is below this is rounding too: an error of 0 that was computed.
NOTHING = 1e-12

COLUMNS = [*summary.KEYS, "mean", "reference", "n_trials", "difference", "margin", "verdict"]


def compare(run: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Return one row per summary row that both have, with a verdict.

    Args:
        run, reference: summaries, as :func:`matrixdp.report.summary.read` returns them.

    Returns:
        A frame of ``COLUMNS``: ``verdict`` is ``identical`` (but for rounding), ``equivalent``,
        ``not told apart`` (kept from fewer than ``statistics.LARGE_SAMPLE`` trials) or ``not
        equivalent``; ``margin`` is what the means may differ by, in the metric.
    """
    both = run.merge(reference, on=[*summary.KEYS], suffixes=("", "_kept"))
    both = both[both["mean"].notna() & both["mean_kept"].notna()]
    difference = both["mean"] - both["mean_kept"]
    scale = both[["mean", "mean_kept"]].abs().max(axis=1)
    same = difference.abs() <= ROUNDING * scale + NOTHING
    identical = same & (both["n_trials"] == both["n_trials_kept"])
    # A row whose trials are all alike has no spread, and must agree but for rounding.
    variances = [both[f"sd{end}"].fillna(0) ** 2 / both[f"n_trials{end}"] for end in ("", "_kept")]
    error = np.sqrt(sum(variances))
    freedom = np.maximum(both[["n_trials", "n_trials_kept"]].min(axis=1) - 1, 1)
    margin = MARGIN * both["sd_kept"].fillna(0)
    equivalent = difference.abs() + stdtrit(freedom, 1 - LEVEL) * error < margin
    few = both["n_trials_kept"] < statistics.LARGE_SAMPLE
    pooled = np.maximum(both["n_trials"] + both["n_trials_kept"] - 2, 1)
    reach = stdtrit(pooled, 1 - LEVEL / 2 / max(few.sum(), 1)) * error
    margin = margin.mask(few, reach)
    verdict = np.select(
        [identical, ~few & equivalent | (same & (margin == 0)), few & (difference.abs() <= reach)],
        ["identical", "equivalent", "not told apart"],
        "not equivalent",
    )
    return both.assign(
        reference=both["mean_kept"], difference=difference, margin=margin, verdict=verdict
    )[COLUMNS]


def verify(results: str | os.PathLike, kept: str | os.PathLike, out: str | os.PathLike) -> str:
    """Compare the summaries of a run with the kept ones, write ``out`` and return one sentence.

    A row that is identical to its row of the kept quick run needs no further test.

    Raises:
        InputError: the run is on simulated data, there is nothing to compare, or a row is not
            equivalent; in the last case ``out`` is written first.
    """
    tables = []
    for name, run in _originals(results).items():
        if (reference := Path(kept, "summary", name)).is_file():
            compared = compare(run, summary.read(reference))
            if (quick := Path(kept, QUICK, "summary", name)).is_file():
                repeated = compare(run, summary.read(quick))
                repeated = repeated[repeated["verdict"].eq("identical")]
                compared = pd.concat([repeated, compared]).drop_duplicates([*summary.KEYS])
            tables.append(compared)
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    if table.empty:
        raise InputError(f"{results} and {kept} share no summary row; run `make` first")
    files.write_text(out, table.to_csv(index=False, lineterminator="\n"))
    counts = table["verdict"].value_counts()
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    if failed := counts.get("not equivalent", 0):
        raise InputError(
            f"{failed} of {len(table)} rows are not equivalent to the reference; see {out}"
        )
    return (
        f"{len(table)} rows compared with {kept}: {said} (equivalent: means within {MARGIN:g} "
        f"standard deviation of a trial, two one-sided tests at level {LEVEL:g}; not told apart: "
        "no difference in a t-test, which with few trials may miss a large one); see "
        f"{out}"
    )


def keep(results: str | os.PathLike, out: str | os.PathLike, quick: bool = False) -> None:
    """Copy what is kept of a run to ``out``, in place of what was kept before.

    Args:
        results: the run's folder.
        out: the reference's folder.
        quick: the run is a quick one, of which the summaries alone are kept, beside the full one.

    Raises:
        InputError: the run is on simulated data, or has no summary yet.
    """
    source, target = Path(results), Path(out, QUICK) if quick else Path(out)
    if not _originals(source):
        raise InputError(f"{source} has no summary to keep; run `make` first")
    target.mkdir(parents=True, exist_ok=True)
    for name in ("summary",) if quick else KEPT:
        old, new = target / name, source / name
        if old.is_dir():
            shutil.rmtree(old)
        if new.is_dir():
            shutil.copytree(new, old, ignore=_LEFT_OUT)
        elif name == places.SETTINGS and new.is_file():
            # Where somebody has the data sets is nobody else's business.
            settings = inputs.read("settings", source)
            settings["data"] = {**settings.get("data", {}), "mirror": ""}
            files.write_text(old, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
        elif new.is_file():
            shutil.copyfile(new, old)


def _originals(results: str | os.PathLike) -> dict[str, pd.DataFrame]:
    """Return the summaries of a run by file name; none may rest on simulated data."""
    found = {}
    for path in sorted(Path(results, "summary").glob("*.csv")):
        found[path.name] = summary.read(path)
        if found[path.name]["data_status"].eq(summary.SIMULATED).any():
            raise InputError(
                f"{path} rests on simulated data; the reference is on the originals, so give the "
                "run these (DATA_MIRROR) before it is verified or kept"
            )
    return found
