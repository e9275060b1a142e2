"""Neighbours that have one record more or less: noise for it, and nothing that tells how many."""

import numpy as np
import pytest

import matrixdp as mdp
from reproduction import my_matrix

SPECIFICATION = """
file = "people.csv"
query = "QUERY"
records = RECORDS
epsilon = 3.0
delta = 1e-6
adjacency = "add_or_remove"
total = {epsilon = 3.0, delta = 1e-6}
MORE
[bounds]
age = [20, 120]
income = [0, 200000]
"""
EXPERIMENTS = {"of_tomorrow": {"task": "covariance", "dataset": "ctg", "mechanisms": ["goe"]}}


def people(count):
    rng = np.random.default_rng(1)
    age = 40 + 10 * rng.standard_normal(count)
    return np.clip(np.column_stack([age, 3e4 + 500 * age + 1e4 * rng.normal(size=count)]), 20, 2e5)


def written(folder, query, rows, records=400, more=""):
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "people.csv", rows, delimiter=",", header="age,income", comments="")
    if query == "regression":
        more = f'target = "income"\n{more}'
    text = SPECIFICATION.replace("QUERY", query).replace("MORE", more)
    (folder / "s.toml").write_text(text.replace("RECORDS", str(records)))
    return folder / "s.toml"


def test_a_comparison_needs_a_public_number(tmp_path):
    path = written(tmp_path, "first_component", people(9))
    with pytest.raises(mdp.InputError, match="a public number of records"):
        my_matrix.configuration({"matrix": str(path), "experiments": EXPERIMENTS})
