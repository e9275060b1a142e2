"""The reference: kept results of a full run on the original data, and a run held against it.

The same seed and trials give the same words and decisions and, up to rounding, the same numbers.
The numbers of a quick run are therefore kept too, in ``quick``. A run of other trials has nothing
to compare with. Private gradients on MNIST have a run of their own (`make mnist`): its files, and
its verdicts on MNIST, take their place among those of the full run. The run on pictures in colour
(`make images`) is kept in a folder of its own, ``images``, and the verdicts of the run with another
root seed (`make second-seed`) in ``second_seed``.

Training makes more of another processor's rounding, as it is in float32. With XLA for SSE4.2, an
MVG row of IMDB moves by at most 2 of 25,000 test records in a trial, and its mean by 1e-5. So the
mean of a row of a training must lie within its 95 % interval, and other numbers of such rows are
not compared, but for what formulas give (``CLOSED``). By one such record p of a sign test may
double: a pair of trainings may be even in one run and better or worse in the other, not better in
one and worse in the other.

Tables and figures follow from what is compared, and
:func:`reproduction.report.figures.redraw_figures` compares drawings.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from pandas.testing import assert_series_equal

from matrixdp.checks import InputError
from reproduction import job_settings, terminal
from reproduction.files import read_yaml, write_text
from reproduction.report import comparisons, inputs, second_seed, statistics, summary, tables

#: Files and folders of a run that are kept, where they exist.
KEPT = (
    *("settings.yaml", "data", "summary", "comparisons", "rows", "readings", "theory", "audit"),
    *("implied_noise", "tables", "figures", "claims.csv", "held_out.csv", terminal.SECONDS),
)
#: Data sets and trials are not kept; their provenance and summaries are.
_LEFT_OUT = shutil.ignore_patterns("*.npy", "*.npz", "*_trials.csv.gz")

#: Folder in the reference: the numbers of a quick run.
QUICK = "quick"
KEPT_QUICK = (
    *("settings.yaml", "summary", "comparisons", "audit", "implied_noise", "tables", "figures"),
    *("claims.csv", terminal.SECONDS),
)
_NO_NUMBERS = shutil.ignore_patterns("*.md", "*.tex", "*.json", "*.png", "*.svg", "*.pdf")

#: What is kept of the run on MNIST, beside its settings and its claims.
MNIST = "mnist"
_OF_MNIST = (
    *("summary/mnist.csv", "comparisons/mnist.csv", "rows/mnist.csv"),
    "data/mnist/provenance.json",
    *(f"tables/imgm_mnist.{ending}" for ending in ("csv", "json", "md", "tex")),
)
#: What is kept of the run with another root seed.
_OF_SECOND_SEED = ("claims.csv", inputs.SETTINGS)

#: Tables with claims, by the identifier in the first column.
_CLAIMS = ("claims.csv", "tables/claims.csv", "tables/claims_comparisons.csv")

#: Files that are compared.
COMPARED = ("summary/*.csv", "comparisons/*.csv", "rows/*.csv", "audit/*.csv", "claims.csv")
#: Columns that no processor changes by more than rounding.
CLOSED = {*summary.KEYS, "delta", "epsilon_delivered", "mu", "noise_std", "n_trials"}
#: Columns of numbers that move by ``ROUNDING`` at most.
EXACT = CLOSED - {"epsilon_delivered"} | {"mean", "sd", "ci95"}

#: Relative difference that rounding on another processor may cause in means and what formulas give.
ROUNDING = 1e-6
#: The same of all other numbers, such as differences of means, and of a delivered epsilon: on
#: another grid of privacy losses it moves by about 2e-5 (see
#: :func:`reproduction.privacy.accountants.pld_epsilon`).
FOLLOWING = 1e-4
#: The absolute difference of a delivered epsilon that such a grid causes.
GRID = 1e-8
#: The relative difference of p-values, which far out move more than what they are of.
P_ROUNDING = 1e-3
P_VALUES = {"p", "p_corrected"}
#: The same of what runs of an audit prove, or could, and of how many there are: by a last digit a
#: draw leaves an event, and runs end when more of them are futile.
SAMPLED = 0.2
RUNS = {"epsilon_certified", "epsilon_largest", "runs"}
#: The same of mechanisms whose sampler rejects draws: by a last digit it takes another one, and all
#: that follow, as of another seed. Ten seeds of PPCA's audit with 20,000 runs prove between .18 and
#: .44, and two processors .26 and .29 of one seed.
RESAMPLED = 0.6
REJECTING = {"ppca"}

#: A number in a text; what stands around it are words.
_NUMBER = r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)(?!\.?\w)"


def verify(results: str | os.PathLike, reference: str | os.PathLike) -> str:
    """Compare a run with the kept one of the same trials; return one sentence.

    A run may lack whole experiments; then their rows, and what follows from all, are not compared.

    Raises:
        InputError: the run is on simulated data, or there is nothing to compare. Or a file is
            missing or has other columns, or differs by more than the module's docstring allows.
    """
    names = _originals(results)
    folder = _kept_run(results, reference, names)
    expected = _following(folder, names)
    # Verdicts on MNIST are those of another run.
    aside = frozenset() if MNIST in names else _claims_on_mnist(folder)
    settings = inputs.read_input("settings", {"settings": folder / inputs.SETTINGS})
    trained = {*settings["training"]}
    wrong = [
        f"{name} {fault}"
        for name in expected
        if (fault := _fault(Path(results, name), folder / name, trained, aside))
    ]
    if wrong:
        raise InputError(
            f"{len(wrong)} of {len(expected)} files are not those of {folder} (`make reference` "
            f"keeps what is meant): {'; '.join(wrong)}"
        )
    return f"{len(expected)} files are those of {folder}; numbers agree up to rounding"


def _kept_run(
    results: str | os.PathLike, reference: str | os.PathLike, names: Collection[str]
) -> Path:
    """Return the folder of the kept run, full or quick, with the seed and trials of a run.

    Raises:
        InputError: there is none.
    """

    def trials(folder: str | os.PathLike) -> dict[str, Any]:
        if not (path := Path(folder, inputs.SETTINGS)).is_file():
            return {}
        settings = inputs.read_input("settings", {"settings": path})
        entries = job_settings.runs(settings)
        counts = {name: entry.get("trials") for name, entry in entries.items()}
        return {"seed": settings.get("seed"), **counts}

    if not (run := trials(results)):
        raise InputError(f"{results} has no run to compare; run `make` or `make quick` first")
    run = {name: count for name, count in run.items() if name in ("seed", *names)}
    kept = (QUICK, inputs.IMAGES, inputs.SECOND_SEED)
    for folder in (Path(reference), *(Path(reference, name) for name in kept)):
        if names and run.items() <= trials(folder).items():
            return folder
    raise InputError(
        f"no run in {reference} has the seed, experiments and trials of {results}, so that there "
        "is nothing to compare; run `make` or `make quick` as they are"
    )


def _claims_on_mnist(folder: Path) -> frozenset[str]:
    """Return the identifiers of the kept claims that need the run on MNIST."""
    if not (path := folder / "claims.csv").is_file():
        return frozenset()
    table = _read(path)
    names = table.get("experiments", pd.Series("", table.index)).str.split()
    return frozenset(table["id"][[MNIST in experiments for experiments in names]])


def _fault(run: Path, reference: Path, trained: set[str], aside: Collection[str]) -> str:
    """Return a clause on what differs first by more than rounding; empty if nothing does.

    Args:
        run, reference: tables.
        trained: experiments whose rows may move, see the module's docstring.
        aside: claims that are left out.
    """
    if not run.is_file():
        return "is missing"
    tables_ = (
        pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in (run, reference)
    )
    new, old = (table[~table.iloc[:, 0].isin(aside)] for table in tables_)
    if [*new] != [*old] or len(new) != len(old):
        return "has other columns or another number of rows"
    numbers = {*new.select_dtypes("number")} & {*old.select_dtypes("number")}
    # A number that moves may move its row, too.
    order = [column for column in old if column in summary.KEYS or column not in numbers]
    new, old = (table.sort_values(order, kind="stable", ignore_index=True) for table in (new, old))
    experiments = old.get("experiments", old.get("experiment", pd.Series("", old.index)))
    free = experiments.fillna("").map(lambda names: bool(trained & {*str(names).split()}))
    if "ci95" in old and ((new["mean"] - old["mean"]).abs() > old["ci95"])[free].any():
        return "has a mean outside its 95 % interval"
    if "statistic" in old:
        even = new["verdict"].eq(comparisons.EVEN) | old["verdict"].eq(comparisons.EVEN)
        for column, rows in (("statistic", free), ("verdict", free & even)):
            new[column] = new[column].mask(rows, old[column])
    for column in old:
        is_number = column in numbers
        parts = [table[column] if is_number else _words(table[column]) for table in (new, old)]
        accuracies = _accuracies(column, old, free & is_number)
        for accuracy, rows in accuracies.groupby(accuracies):
            limits = {
                "rtol": accuracy,
                "atol": GRID if column == "epsilon_delivered" else statistics.ROUNDING,
            }
            if _differ(*(part[rows.index] for part in parts), **limits):
                cells = ([part.loc[[row]] for part in parts] for row in rows.index)
                first = next(pair for pair in cells if _differ(*pair, **limits))
                values = " != ".join(repr(cell.tolist()[0]) for cell in first)
                return f"has another {column} ({values}) in {_row(old, first[0].index[0])}"
    return ""


def _accuracies(column: str, table: pd.DataFrame, free: pd.Series) -> pd.Series:
    """Return by row the relative difference that a number may have; NaN for any, of free rows."""
    limits = dict.fromkeys(EXACT, ROUNDING) | dict.fromkeys(P_VALUES, P_ROUNDING)
    limits |= dict.fromkeys(RUNS, SAMPLED)
    accuracies = pd.Series(limits.get(column, FOLLOWING), table.index)
    if column in RUNS:
        accuracies = accuracies.mask(table["mechanism"].isin(REJECTING), RESAMPLED)
    return accuracies if column in CLOSED else accuracies.mask(free)


def _differ(new: pd.Series, old: pd.Series, **limits: Any) -> bool:
    """Return whether two columns are not the same up to limits of :mod:`pandas.testing`."""
    try:
        assert_series_equal(new, old, check_dtype=False, **limits)
    except AssertionError:
        return True
    return False


def _words(column: pd.Series) -> pd.Series:
    """Return texts with a sign for each number, which a text may round another way; keys as is."""
    texts = column.astype(object).fillna("").astype(str)
    return texts if column.name in summary.KEYS else texts.str.replace(_NUMBER, "#", regex=True)


def _row(table: pd.DataFrame, number: int) -> str:
    """Return what names a row: the first cells that are no numbers."""
    words = table.select_dtypes(exclude="number").iloc[number].dropna().astype(str)
    return ", ".join(words.iloc[:4])


def _following(folder: Path, experiments: Collection[str]) -> list[str]:
    """Return the files of a kept run that follow from the experiments that a run has.

    Claims follow from all of them.
    """
    absent = {path.stem for path in folder.glob("summary/*.csv")} - {*experiments}
    paths = (path for pattern in COMPARED for path in sorted(folder.glob(pattern)))
    names = [path.relative_to(folder).as_posix() for path in paths]
    if MNIST in experiments and {*experiments} <= {MNIST, f"{MNIST}_features"}:
        # `make mnist` makes nothing else.
        return [name for name in names if MNIST in name]
    if absent - {MNIST}:
        names = [name for name in names if name.startswith(("summary/", "comparisons/", "audit/"))]
    stems = {name: Path(name).stem.removesuffix("_sensitivities") for name in names}
    return [name for name in names if stems[name].removeprefix("imgm_") not in absent]


def keep(
    results: str | os.PathLike,
    out: str | os.PathLike,
    quick: bool = False,
    mnist: str | os.PathLike = "",
) -> None:
    """Copy the files of a run that are kept to ``out``, in place of the previous reference.

    A quick run leaves only its numbers, in a folder beside those of the full run. ``mnist`` is the
    folder of the run on MNIST, which is kept with the full one; empty for none.

    Raises:
        InputError: a run is on simulated data, or has no summary yet.
    """
    source, target = Path(results), Path(out, QUICK) if quick else Path(out)
    if not _originals(source):
        raise InputError(f"{source} has no summary to keep; run `make` first")
    if mnist and MNIST not in _originals(mnist):
        raise InputError(f"{mnist} has no summary of {MNIST} to keep; run `make mnist` first")
    target.mkdir(parents=True, exist_ok=True)
    for name in KEPT_QUICK if quick else KEPT:
        old, new = target / name, source / name
        if old.is_dir():
            shutil.rmtree(old)
        if new.is_dir():
            shutil.copytree(new, old, ignore=_NO_NUMBERS if quick else _LEFT_OUT)
            # An audit by mechanism stands in the table of its experiment too.
            for folder in old.glob("*/") if name == "audit" else ():
                shutil.rmtree(folder)
        elif new.is_file():
            shutil.copyfile(new, old)
    if mnist:
        _add_mnist(Path(mnist), target)


def keep_second_seed(results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Copy the verdicts of a run with another root seed into the reference, and write their table.

    Raises:
        InputError: a run is on simulated data or has no verdicts, or the two differ in more than
            the seed, or not in it.
    """
    source, target = Path(results), Path(out)
    for folder, command in ((source, "make second-seed"), (target, "make reference")):
        if not _originals(folder) or not all((folder / name).is_file() for name in _OF_SECOND_SEED):
            raise InputError(f"{folder} has no verdicts to keep; run `{command}` first")
    settings = [read_yaml(folder / inputs.SETTINGS) for folder in (target, source)]
    if not second_seed.is_second_seed(*settings):
        raise InputError(
            f"{source} is not the run in {target} with another seed and nothing else; run `make "
            "second-seed`"
        )
    (target / inputs.SECOND_SEED).mkdir(exist_ok=True)
    for name in _OF_SECOND_SEED:
        shutil.copyfile(source / name, target / inputs.SECOND_SEED / name)
    folders = (target / inputs.SECOND_SEED, target)
    files = inputs.files_by_name(folder / name for folder in folders for name in _OF_SECOND_SEED)
    tables.write_table("second_seed", files, target / "tables/second_seed.csv")


def _add_mnist(source: Path, target: Path) -> None:
    """Put what the run on MNIST has in its place among the kept files of the full run."""
    for name in _OF_MNIST:
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)
    other, settings = (read_yaml(folder / inputs.SETTINGS) for folder in (source, target))
    settings["training"] = {**settings["training"], MNIST: other["training"][MNIST]}
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    write_text(target / inputs.SETTINGS, text)
    aside = _claims_on_mnist(source)
    order = [*_read(target / _CLAIMS[0])["id"]]
    for name in _CLAIMS[::2]:
        new, old = _read(source / name), _read(target / name)
        if [*new] != [*old]:
            raise InputError(f"{source / name} has other columns than a run now; run `make mnist`")
        rows = pd.concat([old[~old["id"].isin(aside)], new[new["id"].isin(aside)]])
        rows = rows.sort_values("id", key=lambda ids: ids.map(order.index), kind="stable")
        write_text(target / name, rows.to_csv(index=False, lineterminator="\n"))
    files = inputs.files_by_name([target / _CLAIMS[0], target / inputs.SETTINGS])
    tables.write_table("claims", files, target / _CLAIMS[1])


def _read(path: Path) -> pd.DataFrame:
    """Return a table as the text that it has."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _originals(results: str | os.PathLike) -> list[str]:
    """Return the experiments of a run that have a summary.

    Raises:
        InputError: a summary rests on simulated data, or the run is on some experiments alone.
    """
    if not (settings := Path(results, inputs.SETTINGS)).is_file():
        return []
    # Files of experiments that are no longer in the configuration are none of the run's.
    config = inputs.read_input("settings", {"settings": settings})
    paths = {
        name: Path(results, "summary", f"{name}.csv") for name in sorted(job_settings.runs(config))
    }
    paths = {name: path for name, path in paths.items() if path.is_file()}
    for path in paths.values():
        if summary.read_summary(path)["data_status"].eq(summary.SIMULATED).any():
            raise InputError(
                f"{path} rests on simulated data; the reference is on the originals, so give the "
                "run these (DATA_MIRROR) before it is verified or kept"
            )
    return [*paths]
