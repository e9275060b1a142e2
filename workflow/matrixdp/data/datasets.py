"""What workflow/datasets.yaml says about each data set."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from matrixdp import checks
from matrixdp.checks import InputError

FILE = Path(__file__).parents[2] / "datasets.yaml"


@dataclass(frozen=True)
class Member:
    """Files that a reader needs: a name, with ``*`` for any part of it, and how many there are."""

    name: str
    count: int = 1
    sha256: str | None = None


@dataclass(frozen=True)
class File:
    """A file that holds members; without ``url`` it is looked for in a mirror folder only."""

    kind: str
    name: str
    holds: tuple[str, ...]
    url: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Spec:
    """One data set; workflow/datasets.yaml explains the fields."""

    name: str
    title: str
    publisher: str
    files: tuple[File, ...]
    members: tuple[Member, ...]
    shape: tuple[int, int]
    licence: str
    citation: str
    sha256: str | None = None
    columns: tuple[str, ...] = ()
    doi: str | None = None
    scalings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_learning_set(self) -> bool:
        """Whether it becomes named arrays to learn from; else it becomes one matrix in a box."""
        return not self.scalings


def parse(name: str, entry: Mapping[str, Any]) -> Spec:
    """Return one entry of the file.

    Raises:
        InputError: a key is missing or unknown.
    """
    try:
        fields = dict(entry)
        members = tuple(Member(**member) for member in fields.pop("members"))
        files = tuple(_file(file, members) for file in fields.pop("files"))
        shape = tuple(fields.pop("shape"))
        columns = tuple(fields.pop("columns", ()))
        if "sha256" not in fields and not all(member.sha256 for member in members):
            raise KeyError("sha256")
        return Spec(name, files=files, members=members, shape=shape, columns=columns, **fields)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"the entry {name!r} of datasets.yaml cannot be used ({error}); "
            "give it the keys that the other entries have"
        ) from None


def _file(entry: Mapping[str, Any], members: tuple[Member, ...]) -> File:
    fields = dict(entry)
    if "url" in fields:
        fields["name"] = PurePosixPath(unquote(urlsplit(fields["url"]).path)).name
    name = fields["name"]
    itself = {"file": name, "xls": name, "gz": name.removesuffix(".gz")}.get(fields["kind"])
    every = (itself,) if itself else tuple(member.name for member in members)
    return File(**{**fields, "holds": tuple(fields.get("holds", every))})


@functools.cache
def specs() -> Mapping[str, Spec]:
    """Return every data set by name."""
    entries = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return {name: parse(name, entry) for name, entry in entries.items()}


def find(name: str) -> Spec:
    """Return the data set of that name.

    Raises:
        InputError: there is none.
    """
    return specs()[checks.choice(specs(), dataset=name)]
