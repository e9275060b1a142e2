"""The data sets of workflow/datasets.yaml."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, RootModel, model_validator

from matrixdp import checks
from matrixdp.checks import nearest
from reproduction import files
from reproduction.data import scaling
from reproduction.models import Model, Name, Texts, check, optional_field

FILE = Path(__file__).parents[2] / "datasets.yaml"

#: The folder of the modules with a function ``read``, one of the name of each data set.
READERS = Path(__file__).parent

#: What is said of a data set that anybody may not have.
NOT_PUBLIC = (
    "does not state public: true; this workflow reads records without noise; for private records "
    "use matrixdp"
)

_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Text = Annotated[str, Field(min_length=1)]
_Url = Annotated[
    str, Field(pattern="^https?://[^/]+/.*[^/]$", description="an address, https://...")
]
_Count = Annotated[int, Field(ge=1)]


def _method(name: str) -> str:
    if name not in scaling.METHODS:
        raise ValueError
    return name


class File(Model):
    """Its sha256, and its urls."""

    sha256: _Sha256
    """A SHA-256 of 64 digits from 0 to f, which `sha256sum FILE` prints."""
    urls: list[_Url] = optional_field(min_length=1)
    """Addresses; left out for a file that the mirror has."""


class Scaling(Model):
    """The method, and its options."""

    method: Annotated[str, AfterValidator(_method)] = Field(
        json_schema_extra={"enum": [*scaling.METHODS]}
    )
    """A function of workflow/reproduction/data/scaling.py."""
    rows: int = optional_field(ge=1)
    """How many of the first records to take, or left out."""
    lower: list[float] = optional_field()
    """The public lower bounds of the method bounds, one for each column."""
    upper: list[float] = optional_field()
    """Its public upper bounds."""
    middle: list[float] = optional_field()
    """What it subtracts, one public number for each column."""

    @model_validator(mode="after")
    def _has_bounds(self) -> Scaling:
        for key in ("lower", "upper", "middle"):
            stated = getattr(self, key) is not None
            if (self.method == "bounds") != stated:
                verb = "has" if stated else "lacks"
                raise ValueError(
                    f" {verb} the key {key!r}, which the method bounds needs and no other has"
                )
        return self


class Words(Model):
    """What is said of a data set, and affects no number."""

    publisher: _Text = optional_field()
    """Who published it, or left out."""
    licence: _Text = optional_field()
    """The terms of use, or left out."""
    citation: _Text = optional_field()
    """What to cite, or left out."""
    doi: str = optional_field(pattern=r"^10\.[0-9]+/\S+$")
    """A DOI such as 10.24432/C54G67, or left out."""
    public: bool = optional_field()
    """True, as anybody may have the records; this workflow reads them without noise."""

    @model_validator(mode="after")
    def _is_public(self) -> Words:
        if not self.public:
            raise ValueError(f" {NOT_PUBLIC}")
        return self


class Entry(Words):
    """A data set."""

    title: _Text
    """What readers call the data set."""
    copy_of: _Text = optional_field()
    """The data set that this lossy copy stands for, or left out."""
    files: dict[str, File] = Field(min_length=1)
    """The original files by their names."""
    members: list[_Text] = optional_field(min_length=1)
    """The files in an archive that the reader needs, * for any part of a name."""
    shape: list[_Count] = Field(min_length=2, max_length=2)
    """[records, columns], two whole numbers."""
    columns: Texts = optional_field()
    """A name for each column."""
    sha256: _Sha256 = optional_field()
    """A SHA-256 of 64 digits from 0 to f, that of the records, or left out."""
    scalings: dict[Name, Scaling] = optional_field(min_length=1)
    """Scalings by name, default among them."""

    @model_validator(mode="after")
    def _fits(self) -> Entry:
        records, width = self.shape
        if self.scalings and "default" not in self.scalings:
            raise ValueError(".scalings lacks the key 'default', that of the experiments")
        if self.scalings and self.columns is None:
            raise ValueError(" lacks the key 'columns', the names of the features")
        if self.columns is not None and len(self.columns) != width:
            raise ValueError(f".columns has {len(self.columns)} names where shape has {width}")
        for label, way in (self.scalings or {}).items():
            if (way.rows or 1) > records:
                raise ValueError(f".scalings.{label}.rows is {way.rows} of {records} records")
            for key in ("lower", "upper", "middle"):
                numbers = getattr(way, key)
                if numbers is not None and len(numbers) != width:
                    raise ValueError(
                        f".scalings.{label}.{key} has {len(numbers)} numbers where shape has "
                        f"{width} columns"
                    )
        return self


class Spec(Entry):
    """One data set; workflow/datasets.yaml explains the keys.

    Attributes:
        file: the path of a CSV file of one's own; empty for the others.
    """

    name: str
    file: str = ""
    files: dict[str, File]

    @property
    def is_learning_set(self) -> bool:
        """Whether this is a learning set, of named arrays; otherwise it is a matrix in a box."""
        return not self.scalings


class Entries(RootModel[dict[Name, Entry]]):
    """A mapping of data sets."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="after")
    def _have_readers(self) -> Entries:
        readers = [path.stem for path in READERS.glob("*.py") if _reads(path)]
        for name in (name for name in self.root if name not in readers):
            raise ValueError(
                f": {name} has no reader, a file workflow/reproduction/data/{name}.py with a "
                f"function read; {nearest(name, readers)}"
            )
        return self


def _reads(file: Path) -> bool:
    """Return whether a module has a function ``read``."""
    return "\ndef read(" in file.read_text(encoding="utf-8")


def parse(name: str, entry: Mapping[str, Any]) -> Spec:
    """Return the data set of one entry in workflow/datasets.yaml.

    Raises:
        InputError: a key is missing or unknown, or a value is not allowed.
    """
    return check(Spec, {"name": name, **entry}, f"the entry {name!r} of datasets.yaml")


@functools.cache
def entries() -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of the file by name."""
    content: Mapping[str, Mapping[str, Any]] = files.read_yaml(FILE)
    return content


@functools.cache
def specs() -> Mapping[str, Spec]:
    """Return every data set by name."""
    return {name: parse(name, entry) for name, entry in entries().items()}


def find_dataset(name: str) -> Spec:
    """Return the data set of that name.

    Raises:
        InputError: there is none.
    """
    return specs()[checks.choice(specs(), dataset=name)]
