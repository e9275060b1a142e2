"""Whole people: which of their rows count, what neighbours may change, and what is said of it."""

import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp
from reproduction import my_matrix

SPECIFICATION = """
file = "visits.csv"
query = "QUERY"
records = RECORDS
epsilon = 3.0
delta = 1e-6
person = "patient"
per_person = 3
adjacency = "RELATION"
total = {epsilon = 6.0, delta = 1e-5}
MORE
[bounds]
age = [20, 120]
income = [0, 200000]
"""
LOWER, UPPER = np.array([20.0, 0.0]), np.array([120.0, 2e5])


def visits(rows, names):
    frame = pd.DataFrame(np.reshape(rows, (-1, 2)), columns=["age", "income"])
    frame.insert(1, "patient", names)
    return frame


def specified(folder, query="mean", relation="add_or_remove", records=40, more="", **replaced):
    if query == "regression":
        more = f'target = "income"\n{more}'
    text = SPECIFICATION.replace("QUERY", query).replace("MORE", more)
    text = text.replace("RELATION", relation).replace("RECORDS", str(records))
    for old, new in replaced.items():
        lines = text.splitlines()
        text = "\n".join(
            (f"{old} = {new}" if new else "") if line.startswith(f"{old} =") else line
            for line in lines
        )
    (folder / "s.toml").write_text(text)
    return folder / "s.toml"


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(1)
    names = [f"p{k}" for k in rng.integers(0, 12, 60)]
    visits(rng.uniform(LOWER, UPPER, (60, 2)), names).to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path


def test_a_comparison_of_all_mechanisms_has_no_people(folder):
    path = specified(folder, query="first_component", relation="replace")
    experiments = {"first": {"task": "covariance", "dataset": "ctg", "mechanisms": ["goe"]}}
    with pytest.raises(mdp.InputError, match="no person and no radius"):
        my_matrix.configuration({"matrix": str(path), "experiments": experiments})
