"""A file of records, specifications of releases of it, and the releases."""

import numpy as np

from matrixdp import cli

ROWS = np.column_stack([np.linspace(0, 130, 400), np.linspace(3e5, 0, 400)])
SPECIFICATION = """
file = "people.csv"
query = "QUERY"
records = 400
epsilon = 2.0
delta = 1e-6
MORE
[bounds]
age = [0, 120]
income = [0, 200000]
"""


def save(path, rows=ROWS):
    """Write records to a CSV file."""
    np.savetxt(path, rows, delimiter=",", header="age,income", comments="")


def written(folder, query="mean", more="", **replaced):
    text = SPECIFICATION.replace("QUERY", query).replace("MORE", more)
    for old, new in replaced.items():
        lines = text.splitlines()
        text = "\n".join(
            f"{old} = {new}" if line.startswith(f"{old} =") else line for line in lines
        )
    if "missing" not in more:
        text = text.replace("[bounds]", 'missing = "refuse"\n[bounds]')
    if "total" not in more:
        values = {"epsilon": "2.0", "delta": "1e-6", **replaced}
        total = f"total = {{epsilon = {values['epsilon']}, delta = {values['delta']}}}"
        text = text.replace("[bounds]", f"{total}\n[bounds]")
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def release(folder, out="out", options=(), **given):
    words = ["release", str(written(folder, **given)), "--out", str(folder / out)]
    return cli.main([*words, *options])
