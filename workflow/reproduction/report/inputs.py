"""The inputs of tables, figures and the page: the files that a rule lists, by name.

``summary/regression``, ``comparisons/regression``, ``rows/regression``, ``readings/regression``,
``theory/exact``, ``audit/regression``, ``tables/table3`` and ``claims`` are CSV files in the
results' folder, and ``trials/regression/default/laplace.csv.gz`` or ``tables/table3.json`` other
files there.
``published/table3`` holds the numbers of a paper, ``data/liver`` the provenance of a data set,
``images/rows/cifar10_features`` the rows of the kept run on pictures in colour,
``second_seed/claims`` the verdicts of the kept run with another root seed,
``settings`` the configuration of the run, and ``errata`` the papers' errors.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from matrixdp.checks import InputError, as_input_error
from reproduction import catalogue, job_settings
from reproduction.report import findings, rows, summary
from reproduction.report.sheet import Sheet, load_sheet

AGAIN = "delete it and run again"
FROM_GIT = "restore it from git"
DATA_AGAIN = "delete it and run `snakemake data`"

#: Columns of written tables that are text, whatever they look like.
_TEXT = dict.fromkeys(("published", "published_ci"), str)

#: Functions that read the files of a folder.
_READERS = {"rows": rows.read_rows, "summary": summary.read_summary, "claims": findings.read_ledger}

#: Paths of files by name.
Files = Mapping[str, Path]

#: Folder of the numbers that the papers print.
PUBLISHED = Path(__file__).parents[2] / "published"

#: List of errors in the papers.
ERRATA = PUBLISHED.with_name("errata.yaml")

#: Folder of the kept results, which lies below that of a run's.
REFERENCE = "reference"

#: Folder in the reference: a run on pictures in colour, of which a full run shows a panel.
IMAGES = "images"

#: Folder in the reference: a run with another root seed, beside whose verdicts a full run's stand.
SECOND_SEED = "second_seed"

#: Folders in the reference of which another run shows something.
_OTHER_RUNS = (IMAGES, SECOND_SEED)

#: File name of a run's configuration, which lies in the results' folder.
SETTINGS = "settings.yaml"

#: File name of a data set's provenance.
PROVENANCE = "provenance.json"

#: Status of results that use no data set, such as formulas and samples of noise.
COMPUTED = "computed"

#: Columns of a file of published values.
_PRINTED = (
    *("place", "method", "work", "reference", "mechanism", "epsilon", "delta", "qualifier"),
    *("value", "interval", "unit", "unit_factor"),
)


def file_errors(
    path: str | os.PathLike, remedy: str = AGAIN
) -> contextlib.AbstractContextManager[None]:
    """Turn an error while a file is read into one sentence that names the file.

    Raises:
        InputError: the file is missing or damaged.
    """
    return as_input_error(f"{path} cannot be read ({{why}}); {remedy}")


def files_by_name(
    paths: Iterable[str | os.PathLike], root: str | os.PathLike = ""
) -> dict[str, Path]:
    """Return files by name.

    Args:
        paths: files of a run and of the project.
        root: the results' folder; by default the last configuration among the files marks it.

    Raises:
        InputError: a file is missing, or nothing says which folder that of the results is.
    """
    files = [Path(path) for path in paths]
    for path in files:
        if not path.is_file():
            raise InputError(f"{path} is missing; run `snakemake {path}`")
    roots = [path.parent for path in files if path.name == SETTINGS]
    roots = [Path(root)] if root else roots
    if not roots:
        raise InputError(f"{files[0]} has no {SETTINGS} beside it; name that of the run too")
    return {_name(path, roots[-1]): path for path in files}


def files_of_folder(folder: str | os.PathLike) -> dict[str, Path]:
    """Return all files below a results' folder by name, and those of the project."""
    root = Path(folder)
    folders = os.walk(root, followlinks=True)
    paths = [Path(place, name) for place, _, names in folders for name in names]
    paths += [*PUBLISHED.glob("*.csv"), ERRATA]
    return {_name(path, root): path for path in sorted(paths) if path.is_file()}


def _name(path: Path, root: Path) -> str:
    if path.is_relative_to(root):
        path = path.relative_to(root)
        # The kept results lie in the folder of the full run.
        if path.parts[:2] in {(REFERENCE, name) for name in _OTHER_RUNS}:
            path = path.relative_to(REFERENCE)
    else:
        folders = {PUBLISHED.name: 1, SECOND_SEED: 1, "rows": 2}.get(path.parent.name, 0)
        path = Path(*path.parts[-1 - folders :])
    path = path.parent if path.name == PROVENANCE else path
    return path.as_posix().removesuffix(".csv").removesuffix(".yaml")


def find_file(name: str, files: Files) -> Path:
    """Return the path of a file by its name.

    Raises:
        InputError: the file is not among the files.
    """
    if name not in files:
        raise InputError(f"{name} is not among the files of this step; run `snakemake` to make it")
    return files[name]


def read_input(name: str, files: Files) -> Any:
    """Return the content of a file by its name.

    It is a frame, a list for ``errata``, or a dictionary for ``settings`` and for the provenance of
    a data set. Published values are text.

    Raises:
        InputError: the file is missing or damaged.
    """
    path, kind = find_file(name, files), _own_name(name)
    folder = kind.partition("/")[0]
    if folder in _READERS:
        return _READERS[folder](path)
    if path.name == PROVENANCE:
        return provenance(path)
    with file_errors(path, FROM_GIT if folder in ("published", "errata") else AGAIN):
        if folder == "published":
            return pd.read_csv(path, dtype=str, keep_default_na=False)
        if kind in ("settings", "errata"):
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            return [*content] if kind == "errata" else {**content}
        text = _TEXT if folder == "tables" else {}
        return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=text)


def _own_name(name: str) -> str:
    """Return the name that a file has in its own run."""
    folder, _, rest = name.partition("/")
    return rest if folder in _OTHER_RUNS else name


def read_sheet(name: str, files: Files) -> Sheet:
    """Return what a table shows, such as ``tables/table3``.

    Raises:
        InputError: the file is missing or damaged.
    """
    path = find_file(f"{name}.json", files)
    with file_errors(path):
        return load_sheet(path.read_text(encoding="utf-8"))


def data_sets(files: Files) -> list[Path]:
    """Return the provenance of every data set, without those of a data set's other scalings."""
    names = (name for name in files if name.startswith("data/") and name.count("/") == 1)
    return sorted(path for path in map(files.__getitem__, names) if path.name == PROVENANCE)


def provenance(path: Path) -> dict[str, Any]:
    """Return the content of a data set's ``provenance.json``.

    Raises:
        InputError: the file is missing or damaged.
    """
    with file_errors(path, DATA_AGAIN):
        return {**json.loads(path.read_text(encoding="utf-8"))}


class Run(Mapping[str, Any]):
    """The results of a run by name, each read when it is needed.

    Args:
        files: files of the run by name.
    """

    def __init__(self, files: Files) -> None:
        self.files = files
        self._statuses: set[str] = set()

    @functools.cached_property
    def settings(self) -> dict[str, Any]:
        """The configuration of the run."""
        return {**read_input("settings", self.files)}

    def __getitem__(self, name: str) -> Any:
        content = read_input(name, self.files)
        if _own_name(name) != name:
            # Of another run, whose status stands where it is shown.
            return content
        # Provenance has one status, a frame one per row.
        if isinstance(content, pd.DataFrame):
            self._statuses |= {*content.get("data_status", ())}
        elif isinstance(content, dict) and "status" in content:
            self._statuses.add(content["status"])
        return content

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.files

    def get(self, name: str, default: Any = None) -> Any:
        """Return the content of a file; ``default`` if the run lacks it."""
        return self[name] if name in self.files else default

    def published(self, name: str) -> pd.DataFrame:
        """Return a paper's numbers; a frame without rows where it prints none."""
        return self.get(f"published/{name}", pd.DataFrame(columns=[*_PRINTED], dtype=str))

    @property
    def status(self) -> str:
        """Status of the data behind all that was read; ``computed`` without a data set."""
        statuses = (*catalogue.section("marks"), "original")
        return next((status for status in statuses if status in self._statuses), COMPUTED)

    @property
    def nothing(self) -> str:
        """What is said where the files have nothing to show."""
        return f"nothing of it is in {', '.join(name for name in self if name != 'settings')}"

    @property
    def table_epsilon(self) -> float:
        """The tables' epsilon; NaN for none."""
        return float(self.settings.get("table_epsilon", "nan"))

    @property
    def experiments(self) -> list[str]:
        """Names of all experiments on releases, then of all trainings, as in the settings."""
        return [*job_settings.runs(self.settings)]

    def each(self, folder: str) -> dict[str, pd.DataFrame]:
        """Return the files ``<folder>/<experiment>`` by experiment, as far as they are there."""
        names = {name: f"{folder}/{name}" for name in self.experiments}
        return {name: self[file] for name, file in names.items() if file in self.files}
