"""The data sets of workflow/datasets.yaml."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import files

FILE = Path(__file__).parents[2] / "datasets.yaml"

#: The folder of the modules with a function ``read``, one of the name of each data set.
READERS = Path(__file__).parent


@dataclass(frozen=True)
class File:
    """A file, its checksum and number of bytes, and its path on this machine or its addresses."""

    name: str
    sha256: str
    size: int | None = None
    urls: tuple[str, ...] = ()
    path: str = ""


@dataclass(frozen=True)
class Spec:
    """One data set; workflow/datasets.yaml explains the fields."""

    name: str
    title: str
    files: tuple[File, ...]
    shape: tuple[int, int]
    publisher: str = ""
    licence: str = ""
    citation: str = ""
    members: tuple[str, ...] = ()
    sha256: str | None = None
    columns: tuple[str, ...] = ()
    doi: str | None = None
    public: bool = False
    scalings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: The data set of which this is a lossy copy; empty for an original.
    copy_of: str = ""
    #: The path of a CSV file of one's own; empty for the data sets of workflow/datasets.yaml.
    file: str = ""

    @property
    def is_learning_set(self) -> bool:
        """Whether this is a learning set, of named arrays; otherwise it is a matrix in a box."""
        return not self.scalings


def parse(name: str, entry: Mapping[str, Any]) -> Spec:
    """Return the data set of one entry in workflow/datasets.yaml.

    Raises:
        InputError: a key is missing or unknown.
    """
    try:
        fields: dict[str, Any] = dict(entry)
        for key in {"shape", "members", "columns"} & fields.keys():
            fields[key] = tuple(fields[key])
        fields["files"] = tuple(
            File(label, **{key: _tuple(value) for key, value in file.items()})
            for label, file in fields["files"].items()
        )
        return Spec(name, **fields)
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(
            f"the entry {name!r} of datasets.yaml cannot be used ({error}); "
            "give it the keys that the other entries have"
        ) from None


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@functools.cache
def entries() -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of the file by name."""
    content: Mapping[str, Mapping[str, Any]] = files.read_yaml(FILE)
    return content


@functools.cache
def specs() -> Mapping[str, Spec]:
    """Return every data set by name."""
    return {name: parse(name, entry) for name, entry in entries().items()}


def find(name: str) -> Spec:
    """Return the data set of that name.

    Raises:
        InputError: there is none.
    """
    return specs()[checks.choice(specs(), dataset=name)]
