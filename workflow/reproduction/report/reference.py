"""The reference: kept results of a full run on the original data, and comparisons of runs with it.

The same seed and trials give the same numbers up to rounding. The numbers of a quick run are
therefore kept too, in ``quick``. If all summary rows of a run equal those of a kept run, the files
that follow from them must be equal: tables, figures' data, comparisons, audit and claims.

Rows with other trials or another seed are compared with the full run by an equivalence test. Two
one-sided tests at level ``LEVEL`` must show that the means differ by less than ``MARGIN`` standard
deviations of a trial. A row fails if it is different or has too few trials to show this.

Trained networks have too few trials for that even in the full run. Their rows fail only if a t-test
shows a difference, at level ``LEVEL`` with Bonferroni's correction for the number of such rows.
This is weak evidence: with so few trials a large difference passes too. It cannot be stricter,
because training amplifies the rounding differences between processors.
"""

from __future__ import annotations

import csv
import functools
import json
import math
import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from matrixdp.checks import InputError
from reproduction import files
from reproduction.report import inputs, statistics, summary
from reproduction.report.inputs import Files

#: Files and folders of a run that are kept, where they exist.
KEPT = (
    *("settings.yaml", "data", "summary", "comparisons", "readings", "theory", "audit"),
    *("tables", "figures", "claims.csv"),
)
#: Data sets and trials are not kept; their provenance and summaries are.
_LEFT_OUT = shutil.ignore_patterns("*.npy", "*.npz", "*_trials.csv.gz")

#: Folder in the reference: the numbers of a quick run.
QUICK = "quick"
KEPT_QUICK = ("settings.yaml", "summary", "comparisons", "audit", "tables", "figures", "claims.csv")
_NO_NUMBERS = shutil.ignore_patterns("*.md", "*.tex", "*.json", "*.png", "*.svg")

#: Files that follow from summary rows and settings.
FOLLOWS = (
    *("summary/*.csv", "comparisons/*.csv", "audit/*.csv", "claims.csv"),
    *("tables/*.csv", "figures/data/*.csv"),
)
#: Name of a file, or of rows, with measured times, which differ in every run.
MEASURED = "sampler_times"

LEVEL = 0.05
MARGIN = 1.0
#: Relative difference that rounding on another processor may cause.
ROUNDING = 1e-6
#: The same of a tight epsilon: on another grid of privacy losses it moves by about 2e-5 (see
#: :func:`reproduction.privacy.accountants.pld_epsilon`).
ACCOUNTING = 1e-4
#: Differences below this are rounding too: a computed error of 0.
NOTHING = 1e-12

COLUMNS = [*summary.KEYS, "mean", "reference", "n_trials", "difference", "margin", "verdict"]


def compare(run: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Return one row per row that both summaries have (``COLUMNS``), with a verdict.

    The verdict is ``identical`` (up to rounding), ``equivalent``, ``not told apart`` (no difference
    from a reference of fewer than ``statistics.LARGE_SAMPLE`` trials) or ``not equivalent``.
    ``margin`` is the largest allowed difference of the means, in the unit of the metric.
    """
    both = run.merge(reference, on=[*summary.KEYS], suffixes=("", "_kept"))
    both = both[both["mean"].notna() & both["mean_kept"].notna()]
    difference = both["mean"] - both["mean_kept"]
    scale = both[["mean", "mean_kept"]].abs().max(axis=1)
    same = difference.abs() <= ROUNDING * scale + NOTHING
    identical = same & (both["n_trials"] == both["n_trials_kept"])
    # Rows whose trials are all equal have a margin of 0, and must agree up to rounding.
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


def verify(
    results: str | os.PathLike, reference_folder: str | os.PathLike, out: str | os.PathLike
) -> str:
    """Compare a run with the reference, write the rows to ``out`` and return one sentence.

    A row that is identical in the kept quick run needs no further test. If all rows are identical
    to those of a kept run, full or quick, the files that follow from them must be identical too. A
    run may lack whole experiments; what follows from these too is not compared.

    Raises:
        InputError: the run is on simulated data, or there is nothing to compare. Or a row is not
            equivalent or a file differs; ``out`` is then written first.
    """
    tables, summaries = [], _originals(results)
    for name, run in summaries.items():
        if (reference := Path(reference_folder, "summary", name)).is_file():
            compared = compare(run, summary.read(reference))
            if (quick := Path(reference_folder, QUICK, "summary", name)).is_file():
                repeated = compare(run, summary.read(quick))
                repeated = repeated[repeated["verdict"].eq("identical")]
                compared = pd.concat([repeated, compared]).drop_duplicates([*summary.KEYS])
            tables.append(compared)
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    if table.empty:
        raise InputError(f"{results} and {reference_folder} share no summary row; run `make` first")
    files.write_text(out, table.to_csv(index=False, lineterminator="\n"))
    counts = table["verdict"].value_counts()
    verdict_counts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    if failed := counts.get("not equivalent", 0):
        raise InputError(
            f"{failed} of {len(table)} rows are not equivalent to the reference; see {out}"
        )
    twins = [
        folder
        for folder in (Path(reference_folder), Path(reference_folder, QUICK))
        if _same_rows(summaries, folder)
    ]
    kept = inputs.below(reference_folder)
    if not twins:
        files_text = "no kept run has all its rows, so that no other file was compared"
    elif wrong := differences(results, expected := _following(twins[0], kept, {*summaries})):
        raise InputError(
            f"all rows are those of {twins[0]}, but {len(wrong)} of {len(expected)} files that "
            f"follow from them are not (`make reference` keeps what is meant): {'; '.join(wrong)}"
        )
    else:
        files_text = f"the {len(expected)} files that follow from them are those of {twins[0]}"
    return (
        f"{len(table)} rows compared with {reference_folder}: {verdict_counts} (equivalent: means "
        f"within {MARGIN:g} standard deviation of a trial, two one-sided tests at level "
        f"{LEVEL:g}; not told apart: no difference in a t-test, which with few trials may miss a "
        "large one); see "
        f"{out}; {files_text}"
    )


def differences(results: str | os.PathLike, expected: Mapping[str, Path]) -> list[str]:
    """Return a clause on each file of a run that differs from the kept one.

    Cells must be the same text, or numbers that agree up to rounding. ``expected`` are the kept
    CSV files by their names in a run's folder.
    """
    sentences = []
    for name, path in expected.items():
        if not Path(results, name).is_file():
            sentences.append(f"{name} is missing")
            continue
        run, reference = _cells(Path(results, name)), _cells(path)
        if len(run) != len(reference) or run[0] != reference[0]:
            sentences.append(f"{name} has other columns or another number of rows")
            continue
        wrong = (
            f"{name} has {mine!r} instead of {theirs!r} as {column} in row {number}"
            for number, rows in enumerate(zip(run[1:], reference[1:], strict=True), 1)
            for column, mine, theirs in zip(run[0], *rows, strict=True)
            if not _agree(mine, theirs, column)
        )
        sentences += [first for first in (next(wrong, ""),) if first]
    return sentences


def _following(folder: Path, kept: Files, summaries: Collection[str]) -> dict[str, Path]:
    """Return the files of a kept run that follow from the summaries that a run has, by name.

    What each is made from stands in the kept files of the full run.
    """
    absent = {path.stem for path in folder.glob("summary/*.csv") if path.name not in summaries}
    # All claims are corrected together.
    others = {"claims", "tables/claims_comparisons"} if absent else set()

    @functools.cache
    def follows(name: str) -> bool:
        if name in others or name.partition("/")[2].removesuffix("_sensitivities") in absent:
            return False
        words = kept.get(f"{name.replace('figures/data/', 'figures/')}.json")
        sources = json.loads(words.read_text(encoding="utf-8"))["inputs"] if words else ()
        return all(map(follows, sources))

    paths = (path for pattern in FOLLOWS for path in sorted(folder.glob(pattern)))
    names = {path.relative_to(folder).as_posix(): path for path in paths if path.stem != MEASURED}
    return {name: path for name, path in names.items() if follows(name.removesuffix(".csv"))}


def _cells(path: Path) -> list[list[str]]:
    """Return header and rows of a table as text, without rows of measured times."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.reader(stream) if not any(MEASURED in cell for cell in row)]


def _agree(mine: str, theirs: str, column: str) -> bool:
    if mine == theirs:
        return True
    try:
        pair = float(mine), float(theirs)
    except ValueError:
        return False
    accuracy = ACCOUNTING if column == "epsilon_actual" else ROUNDING
    return math.isclose(*pair, rel_tol=accuracy, abs_tol=NOTHING)


def _same_rows(summaries: dict[str, pd.DataFrame], folder: Path) -> bool:
    """Return whether a kept run has all these summary rows, identical up to rounding."""
    if not {*summaries} <= {path.name for path in Path(folder, "summary").glob("*.csv")}:
        return False
    for name, run in summaries.items():
        reference = summary.read(folder / "summary" / name)
        compared = compare(run, reference)
        counted = [table["mean"].notna().sum() for table in (run, reference)]
        if {*counted} != {len(compared)} or not compared["verdict"].eq("identical").all():
            return False
    return True


def keep(results: str | os.PathLike, out: str | os.PathLike, quick: bool = False) -> None:
    """Copy the files of a run that are kept to ``out``, in place of the previous reference.

    A quick run leaves only its numbers, in a folder beside those of the full run.

    Raises:
        InputError: the run is on simulated data, or has no summary yet.
    """
    source, target = Path(results), Path(out, QUICK) if quick else Path(out)
    if not _originals(source):
        raise InputError(f"{source} has no summary to keep; run `make` first")
    target.mkdir(parents=True, exist_ok=True)
    for name in KEPT_QUICK if quick else KEPT:
        old, new = target / name, source / name
        if old.is_dir():
            shutil.rmtree(old)
        if new.is_dir():
            shutil.copytree(new, old, ignore=_NO_NUMBERS if quick else _LEFT_OUT)
        elif new.is_file():
            shutil.copyfile(new, old)


def _originals(results: str | os.PathLike) -> dict[str, pd.DataFrame]:
    """Return the summaries of a run by file name.

    Raises:
        InputError: a summary rests on simulated data.
    """
    summaries: dict[str, pd.DataFrame] = {}
    if not (settings := Path(results, inputs.SETTINGS)).is_file():
        return summaries
    # Files of experiments that are no longer in the configuration are none of the run's.
    config = inputs.read("settings", {"settings": settings})
    names = sorted({*config["experiments"], *(config.get("training") or ())})
    paths = (Path(results, "summary", f"{name}.csv") for name in names)
    for path in (path for path in paths if path.is_file()):
        summaries[path.name] = summary.read(path)
        if summaries[path.name]["data_status"].eq(summary.SIMULATED).any():
            raise InputError(
                f"{path} rests on simulated data; the reference is on the originals, so give the "
                "run these (DATA_MIRROR) before it is verified or kept"
            )
    return summaries
