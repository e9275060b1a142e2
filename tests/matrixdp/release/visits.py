"""A folder of the parts of a file of records, and what is asked of it."""

import os

import harness
import numpy as np
import pandas as pd

#: Records, and the places where they are cut into parts; one part has none.
ROWS = harness.ROWS[np.random.default_rng(0).permutation(400)]
CUTS = (130, 130, 301)
TOTAL = {"epsilon": 4.0, "delta": 1e-5}
KEYS = {"file": "visits", "total": TOTAL, "mechanism": "gaussian"}
BOUNDS = {"age": (0, 120), "income": (0, 200_000)}
#: What all parts are summed for.
REQUEST = {"bounds": BOUNDS, "records": 400, "missing": "refuse", "account": "visits.privacy.json"}


def frames():
    """Return the parts as data frames."""
    return [pd.DataFrame(rows, columns=[*BOUNDS]) for rows in np.split(ROWS, CUTS)]


def save(folder):
    """Write the parts to ``visits`` in a folder, and all records to ``people.csv`` there."""
    (folder / "visits").mkdir()
    for number, frame in enumerate(frames()):
        frame.to_csv(folder / "visits" / f"2024-0{number}.csv", index=False)
    pd.DataFrame(ROWS, columns=[*BOUNDS]).to_csv(folder / "people.csv", index=False)


def bits(monkeypatch):
    """Let the next release draw the bits that each such release draws."""
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)


def alone(folder, **keys):
    """Release the first part by itself; return the exit status."""
    return harness.run(folder, "alone", **{**KEYS, "file": "visits/2024-00.csv", **keys})
