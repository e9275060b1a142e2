"""Adult (Census Income): incomes above 50,000 dollars a year, with 14 attributes of a person.

Arrays:
    train_inputs (32561, 105), test_inputs (16281, 105): float32. Six continuous attributes come
        first, then one-hot blocks of eight categorical ones, both in the order of the file. A
        missing category is a block of zeros.
    train_labels (32561,), test_labels (16281,): int8, 1 for an income above 50,000.

A continuous attribute is divided by twice its mean, which makes its mean 1/2. The mean is that of
the training records; the code of the IMGM paper's authors takes test records in too. An attribute
that is 0 for everyone, as may be in a few records, stays 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import InputError
from reproduction.data.learning import Encoded

INCOMES = ("<=50K", ">50K")
_MISSING = "?"
#: Categories of the 14 attributes in the order of adult.names; none for a continuous attribute.
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "age": (),
    "workclass": (
        *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov"),
        *("Without-pay", "Never-worked"),
    ),
    "fnlwgt": (),
    "education": (
        *("Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm"),
        *("Assoc-voc", "9th", "7th-8th", "12th", "Masters", "1st-4th", "10th", "Doctorate"),
        *("5th-6th", "Preschool"),
    ),
    "education-num": (),
    "marital-status": (
        *("Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed"),
        *("Married-spouse-absent", "Married-AF-spouse"),
    ),
    "occupation": (
        *("Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial"),
        *("Prof-specialty", "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical"),
        *("Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv"),
        "Armed-Forces",
    ),
    "relationship": (
        *("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative"),
        "Unmarried",
    ),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
    "sex": ("Female", "Male"),
    "capital-gain": (),
    "capital-loss": (),
    "hours-per-week": (),
    "native-country": (
        *("United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany"),
        *("Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba"),
        *("Iran", "Honduras", "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico"),
        *("Portugal", "Ireland", "France", "Dominican-Republic", "Laos", "Ecuador", "Taiwan"),
        *("Haiti", "Columbia", "Hungary", "Guatemala", "Nicaragua", "Scotland", "Thailand"),
        *("Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong", "Holand-Netherlands"),
    ),
}

_FILES = {"train": "adult.data", "test": "adult.test"}

#: Records by column: numbers, or indices into the list of categories (-1: missing), and ``income``.
Table = dict[str, NDArray]


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the encoded records of both files.

    Raises:
        InputError: there is an unknown category or income.
        ValueError: a line is not a record.
    """
    return _encode({part: _table(members[file]) for part, file in _FILES.items()})


def _table(data: bytes) -> Table:
    """Return the records of a file; adult.test has a comment line and a full stop after incomes."""
    text = data.decode("ascii").splitlines()
    lines = [line for line in text if line and not line.startswith("|")]
    names = [*ATTRIBUTES, "income"]
    cells = np.loadtxt(lines, dtype=str, delimiter=",", comments=None, ndmin=2)
    if cells.shape[1] != len(names):
        raise ValueError(f"{cells.shape[1]} columns")
    columns = dict(zip(names, np.char.strip(cells).T, strict=True))
    table: Table = {
        name: (
            _codes(name, columns[name], (_MISSING, *categories)) - 1
            if categories
            else columns[name].astype(np.float64)
        )
        for name, categories in ATTRIBUTES.items()
    }
    return table | {"income": _codes("income", np.char.rstrip(columns["income"], "."), INCOMES)}


def _codes(name: str, column: NDArray, categories: Sequence[str]) -> NDArray:
    """Return the index of each entry in a list of categories."""
    values, places = np.unique(column, return_inverse=True)
    for value in values.tolist():
        if value not in categories:
            raise InputError(f"{name} {value!r} is none of those in adult.names")
    return np.array([categories.index(value) for value in values.tolist()])[places]


def _encode(tables: Mapping[str, Table]) -> Encoded:
    train = tables["train"]
    # Sums of whole numbers are exact in any order.
    means = {
        name: float(train[name].mean()) for name, categories in ATTRIBUTES.items() if not categories
    }

    def inputs(table: Table) -> NDArray:
        scales = {name: 2 * mean if mean else 1.0 for name, mean in means.items()}
        continuous = [(table[name] / scale)[:, None] for name, scale in scales.items()]
        blocks = [
            table[name][:, None] == np.arange(len(categories))
            for name, categories in ATTRIBUTES.items()
            if categories
        ]
        return np.hstack([*continuous, *blocks]).astype(np.float32)

    return Encoded(
        arrays={f"{part}_inputs": inputs(table) for part, table in tables.items()}
        | {f"{part}_labels": table["income"].astype(np.int8) for part, table in tables.items()},
        shape=(sum(len(table["income"]) for table in tables.values()), len(ATTRIBUTES) + 1),
        description=(
            "continuous attributes divided by twice their mean over the training records, "
            "categories as blocks of zeros and a one, a missing category as zeros"
        ),
        constants={f"mean of {name}": mean for name, mean in means.items()},
        facts={
            f"{part}_share_above_50k": float(table["income"].mean())
            for part, table in tables.items()
        },
    )
