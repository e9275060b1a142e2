"""Records, read in blocks: files (CSV, NPY or Parquet), data frames and arrays."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from matrixdp.checks import Array, InputError, as_input_error, short
from matrixdp.release import notation, readers
from matrixdp.release.people import FirstRecords, People

#: Suffixes of any text; then those of files that are not read, and what to do with these.
_TEXTS = (".txt", ".dat", ".data", ".asc", ".psv", "")
_CONVERSIONS = {
    (".tsv", ".tab"): (
        'rename it to .csv, and state separator = "\\t", and decimal = "." or "," as its numbers '
        "have it"
    ),
    _TEXTS: "if it is a table of text, rename it to .csv",
    (".gz", ".bz2", ".xz", ".zst", ".zip", ".7z"): "unpack it",
    (".xlsx", ".xlsm", ".xls", ".ods", ".numbers"): "save its table as CSV, in UTF-8",
}
#: First bytes of files, in small letters: the suffix that has them, what they say, and the remedy.
_SIGNATURES = {
    b"pk\x03\x04": ("", "a workbook or an archive", "save its table as CSV, in UTF-8"),
    b"\x1f\x8b": ("", "compressed", "unpack it"),
    b"par1\x15": (".parquet", "Parquet", "rename it to .parquet"),
    b"\x93numpy": (".npy", "NPY", "rename it to .npy"),
    b"version https://git-lfs": ("", "a pointer of Git LFS", "get the file by `git lfs pull`"),
    b"<!doctype html": ("", "a web page", "download the file itself"),
    b"<html": ("", "a web page", "download the file itself"),
}
#: Bytes by which files are compared before they are read in full.
_COMPARED = 1 << 12
#: What a shell, another system or a browser would resolve in a path.
_UNRESOLVED = re.compile(r"(^|/)~|[$%\\*?]|\b[a-z][a-z0-9]+:/")


def suffix(path: Path) -> str:
    """Return the suffix of a path in small letters, by which its format is known."""
    return path.suffix.lower()


def parts(path: Path, names: Sequence[str] = ()) -> list[Path]:
    """Return the files of records that a path stands for: itself, or the parts of a folder.

    Parts are the files of ``PARTS`` in the order of their names. Names that begin with ``.`` or
    ``_`` are no parts, as other programs leave such files there, and neither are accounts.

    Args:
        path: a file, or a folder of parts.
        names: names of those parts of the folder that are meant; none for all.

    Raises:
        InputError: the folder has no part, parts of two formats, a folder within, or a file that
            may be a part and is not read.
    """
    if names:
        return [path / name for name in names]
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name[0] not in "._")
    for file in files:
        if file.is_dir():
            raise InputError(
                f"{path} has the folder {file.name} within; give a folder of parts alone, each "
                f"{' or '.join(PARTS)}"
            )
        if suffix(file) in (*OTHERS, ".npy"):
            raise InputError(
                f"{path} has {file.name}, which is no part of {' or '.join(PARTS)}; "
                f"{conversion(file)}, or take it out of the folder"
            )
    found = [file for file in files if suffix(file) in PARTS]
    kinds = sorted({*map(suffix, found)})
    if len(kinds) > 1:
        raise InputError(
            f"{path} has parts of {' and of '.join(kinds)}; convert them to one of these"
        )
    if not found:
        raise InputError(
            f"{path} is a folder without a part; give the path of a file of records, or put parts "
            f"of {' or '.join(PARTS)} there"
        )
    return found


def check_parts(path: Path, files: Sequence[Path], dialect: notation.Dialect) -> None:
    """Check that each part of a folder is there once: a copy would count its records twice.

    Parts without a record may be equal.

    Raises:
        InputError: two of them are one file, or have the same content.
    """
    seen: dict[object, Path] = {}
    starts = [_start(file) for file in files]
    frequency = Counter(starts)
    for file, start in zip(files, starts, strict=True):
        keys: list[object] = [os.path.realpath(file), (file.stat().st_dev, file.stat().st_ino)]
        if frequency[start] > 1 and readers.has_records(file, dialect):
            with file.open("rb") as content:
                keys.append(hashlib.file_digest(content, "sha256").digest())
        for key in keys:
            if (other := seen.setdefault(key, file)) is not file:
                raise InputError(
                    f"{path} has the same records in {other.name} and {file.name}, which would "
                    "count them twice; take one out of the folder, or join both if they are two"
                )


def _start(file: Path) -> tuple[int, bytes]:
    """Return the size of a file and its first bytes, in which all but copies mostly differ."""
    with file.open("rb") as content:
        return file.stat().st_size, content.read(_COMPARED)


def newest(path: Path, names: Sequence[str]) -> float:
    """Return when a file, or a folder or one of its parts, was changed last; 0 if it is gone."""
    try:
        # Beside the parts that a list names other files may come and go.
        files = {*parts(path, names), *([] if names else [path])}
        return max(file.stat().st_mtime for file in files)
    except (OSError, InputError):
        return path.stat().st_mtime if path.exists() else 0.0


def check_format(path: Path) -> None:
    """Check that a path has the suffix of a known format.

    Raises:
        InputError: it has not; the remedy depends on what it has.
    """
    if suffix(path) not in readers.READERS:
        formats = ", ".join(readers.READERS)
        raise InputError(f"{path} is no {formats} file; {conversion(path)}")


def conversion(path: Path) -> str:
    """Return what makes of a file that is not read one that is, by its suffix."""
    remedies = (text for kinds, text in _CONVERSIONS.items() if suffix(path) in kinds)
    return next(remedies, "convert it to one of these")


def check(path: Path, names: Sequence[str] = ()) -> None:
    """Check that a path is a file of a known format, which its content is not seen to contradict.

    Of a folder its parts are checked, or those of ``names``.

    Raises:
        InputError: it is not.
    """
    in_full = (
        " in full, as ~, variables, wildcards, backslashes and addresses stay as they are"
        if _UNRESOLVED.search(str(path))
        else ""
    )
    remedy = f"give the path of a file of records, or of a folder of them{in_full}"
    with as_input_error(
        f"{short(str(path))} cannot be looked up ({{why}})", remedy="correct the path"
    ):
        if path.is_dir():
            for part in parts(path, names):
                check(part)
            return
        # What a suffix asks for is said of a file that is there.
        if suffix(path) or path.exists():
            check_format(path)
        if not path.is_file():
            raise InputError(f"{path} is not there, or no file; {remedy}")
        with path.open("rb") as file:
            first_bytes = file.read(32).lower()
    stated = suffix(path)
    for signature, (seen, content, conversion) in _SIGNATURES.items():
        if first_bytes.startswith(signature) and stated != seen:
            raise InputError(f"{path} is {content} by its content; {conversion}")
        # The fifth byte of Parquet is the usual one alone: four make such a file.
        if stated == seen and not first_bytes.startswith(signature[:4]):
            raise InputError(f"{path} is no {stated} file by its content; save it anew")


def blocks(
    path: Path,
    columns: Sequence[str],
    fill: Array | None = None,
    people: People | None = None,
    dialect: notation.Dialect = notation.USUAL,
    *,
    frame: Any = None,
    keep_missing: bool = False,
    book: notation.CodeBook = MappingProxyType({}),
    names: Sequence[str] = (),
) -> Iterator[Array]:
    """Yield the records of a file, one per row, in blocks (k, m) of the requested columns.

    Columns of arrays go by their number from 0, those of other files by their name.

    Args:
        path: path of the file, or of a folder of parts; of records in memory what messages call
            them.
        columns: names of m columns; labels of a data frame count as texts.
        fill: replacement of a missing value in each column, (m,), NaN to refuse it; infinite values
            stay. None refuses both missing and infinite values.
        people: column of people, of whom the first records count. Others are read and dropped.
        dialect: how a file of CSV is written.
        frame: records in memory, a data frame or an array (n, columns); masked values are missing.
        keep_missing: whether missing values stay, as NaN; infinite ones do, too.
        book: what else stands for a missing value in columns.
        names: of those parts of the folder that are read; none for all.

    Raises:
        InputError: the file or a column does not exist, a value is not a number or is refused, or
            an identifier is missing. No message shows a value.
    """
    counts = people and FirstRecords(people.most, path, people.column)
    files = [path] if frame is not None else parts(path, names)
    if len(files) > 1:
        check_parts(path, files, dialect)
    for file in files:
        first = 1
        for block, persons in _blocks(file, columns, people, dialect, book, frame):
            full = block if fill is None else np.where(np.isnan(block), fill, block)
            bad = np.argwhere(~np.isfinite(full) if fill is None else np.isnan(full))
            if bad.size and not keep_missing:
                row, column = bad[0]
                raise InputError(
                    f"{file} has no finite number in record {first + row}, column "
                    f"{columns[column]!r}; put a public number there, and leave no record out"
                )
            yield full[counts.keep(persons)] if counts else full
            first += len(block)


def _blocks(
    file: Path,
    columns: Sequence[str],
    people: People | None,
    dialect: notation.Dialect,
    book: notation.CodeBook,
    frame: Any,
) -> Iterator[readers.Block]:
    """Yield the blocks of one file, or of records in memory, as their reader does."""
    person = people.column if people else ""
    if frame is not None:
        yield from readers.frame_blocks(frame, labels(frame), file, columns, person, book)
        return
    check(file)
    kind = suffix(file)
    remedy = f"save it {'as a table of numbers' if kind == '.npy' else 'anew'}"
    with as_input_error(f"{file} cannot be read as {kind[1:].upper()} ({{why}})", remedy):
        yield from readers.READERS[kind](file, columns, person, dialect, book)


def width(
    path: Path, dialect: notation.Dialect, frame: Any = None, names: Sequence[str] = ()
) -> int:
    """Return the number of columns of a file, or of records in memory, that can be read."""
    return readers.width(parts(path, names)[0], dialect) if frame is None else len(labels(frame))


def labels(frame: Any) -> list[Any]:
    """Return the labels of a data frame's columns; the numbers from 0 of those of an array.

    Raises:
        InputError: an array has no columns, or a label is no text and no whole number.
    """
    if hasattr(frame, "columns"):
        # Tables of pyarrow have their values under ``columns``.
        columns = [*getattr(frame, "column_names", frame.columns)]
        if all(isinstance(label, str | Integral) for label in columns):
            return columns
        raise InputError(
            f"the {type(frame).__name__} has columns whose names are no texts and no whole "
            "numbers; give a data frame with a name of one text per column"
        )
    if frame.ndim != 2:
        raise InputError(f"the array has shape {frame.shape}; give one record per row")
    return [*range(frame.shape[1])]


#: Suffixes of parts of a folder.
PARTS = (".csv", ".parquet")
#: Suffixes of files of records.
SUFFIXES = tuple(readers.READERS)
#: Suffixes that no specification and no account has, and no file of records that is read.
OTHERS = {kind for kinds in _CONVERSIONS for kind in kinds} - {*_TEXTS}
