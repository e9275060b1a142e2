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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import InputError
from reproduction.data import simulate as standins
from reproduction.data.learning import Encoded

INCOMES = ("<=50K", ">50K")
_MISSING = "?"
#: Categories of the 14 attributes in the order of adult.names; none for a continuous attribute. The
#: stand-in's facts list all categories after the missing one.
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    name: tuple(distribution[INCOMES[0]])[1:] if _MISSING in distribution[INCOMES[0]] else ()
    for name, distribution in standins.load_summary("adult")["attributes"].items()
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


def summarise(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the facts for a stand-in.

    Returns:
        ``records``: number of records by income in both files. ``levels`` and ``attributes``
        describe the training records by income: the distribution of each continuous attribute
        (:func:`reproduction.data.simulate.marginal`), and the number of records in each category of
        the others.
    """
    tables = {part: _table(members[file]) for part, file in _FILES.items()}
    train = tables["train"]
    attributes = {
        name: {
            income: _distribution(train[name][train["income"] == i], categories)
            for i, income in enumerate(INCOMES)
        }
        for name, categories in ATTRIBUTES.items()
    }
    records = {
        part: np.bincount(table["income"], minlength=len(INCOMES)).tolist()
        for part, table in tables.items()
    }
    return {"records": records, "levels": standins.LEVELS.tolist(), "attributes": attributes}


def simulate(facts: Mapping[str, Any], rng: np.random.Generator) -> Encoded:
    """Return a stand-in: conditional on the income, the attributes are independent.

    Husbands, for example, need not be married, and incomes are easier to predict.
    """
    tables: dict[str, Table] = {}
    for part in _FILES:
        incomes = rng.permutation(np.repeat(np.arange(len(INCOMES)), facts["records"][part]))
        table = tables[part] = {"income": incomes}
        for name, categories in ATTRIBUTES.items():
            table[name] = np.zeros(len(incomes), dtype=int if categories else float)
            for i, income in enumerate(INCOMES):
                distribution, n = facts["attributes"][name][income], facts["records"]["train"][i]
                pool = (
                    np.repeat(np.arange(-1, len(categories)), list(distribution.values()))
                    if categories
                    else standins.sorted_values(distribution, facts["levels"], n)
                )
                of_income = incomes == i
                table[name][of_income] = rng.choice(pool, size=of_income.sum())
    return _encode(tables)


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


def _distribution(column: NDArray, categories: Sequence[str]) -> dict[str, Any]:
    if not categories:
        return standins.marginal(column)
    counts = np.bincount(column + 1, minlength=len(categories) + 1)
    return dict(zip((_MISSING, *categories), counts.tolist(), strict=True))


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
