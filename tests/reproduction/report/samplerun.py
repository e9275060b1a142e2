"""A small run as the workflow leaves it, with known numbers, for tests of the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import runfiles
import yaml
from trialrows import absence, around, trials

from reproduction import job_settings
from reproduction.report import comparisons, summary

CONFIG = {
    "reading": "default",
    "seed": 1,
    "experiment_defaults": {"trials": 100},
    "delta": "1/n",
    "adjacency": "replace",
    "table_epsilon": "1",
    "taus": ["0.55", "0.75", "0.95"],
    "tau_untuned": "0.75",
    "sketch_multiples": ["2", "4", "8", "20", "50"],
    "squared_radius_fractions": ["0.015625", "0.0625", "0.25", "1"],
    "data": {"source": "auto", "mirror": "/home/somebody/private-folder"},
    "experiments": {"regression": {"dataset": "liver", "mechanisms": ["laplace"]}},
    "training": {},
}

#: The publicly fixed configurations of the mechanisms.
FIXED = job_settings.public_configurations(CONFIG, middle=True)

#: A drawing as matplotlib writes it, 100 x 50 points.
SVG = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<svg width="100pt" height="50pt" viewBox="0 0 100 50" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
 <metadata><date>none</date></metadata>
 <defs><path id="m#1" d="M 0.123456 1.5 L 5 6"/></defs>
 <use xlink:href="#m#1" transform="translate(62.5 0)" style="fill: #ff0000"/>
 <g><path d="M 10.987654 20.000001
L -30.5 -0.0001
z
" style="fill: #ff0000"/></g>
</svg>
"""


def regression() -> list[pd.DataFrame]:
    """Return trials of Table 3."""
    level = {"nonprivate": 0.18, "random": 0.62, "zero": 0.2, "laplace": 0.2, "imgm": 0.2}
    level |= {"mvg_binary": 0.2, "directional_gaussian": 0.199}
    free = {"epsilon": "", "delta": np.nan}
    spent = {"epsilon_delivered": 0.0, "mu": 1e-4, "epsilon_exact": True, "noise_std": 2e4}
    exact = {"epsilon_delivered": 1.0, "mu": 0.5, "epsilon_exact": True, "noise_std": 4.0}
    pure = {"delta": 0.0, "epsilon_delivered": 1.0, "noise_std": 17.0}
    known = dict.fromkeys(("nonprivate", "random", "zero"), free)
    known |= {"mvg_binary": spent, "laplace": pure}
    rows = [
        trials(name, around(mean, 0.004), **known.get(name, exact)) for name, mean in level.items()
    ]
    rows.append(absence("gaussian_2006", "no guarantee", "delta is 0.1 at epsilon 1"))
    rows.append(absence("goe", "skipped", "<b>it</b> answers covariance queries", **free))
    return rows


def write(root: Path) -> Path:
    """Write summary, Table 3, provenance and a figure below ``root``; return it."""
    file = root / "trials.csv.gz"
    root.mkdir(parents=True, exist_ok=True)
    pd.concat(regression()).to_csv(file, index=False)
    summary.write_summary([file], root / "summary/regression.csv")
    made = root / "summary/regression.csv", root / "comparisons/regression.csv"
    comparisons.write_comparisons([file], *made, FIXED)
    settle(root)
    runfiles.write_rows(root)
    runfiles.write(root, "tables/table3")
    provenance = {
        "name": "liver",
        "title": "Liver Disorders",
        "status": "original",
        "shape": [6, 345],
        "files": [{"file": "bupa.data", "sha256": "ab" * 32}],
        "content_sha256": {"expected": "cd", "found": "cd"},
        "licence": "CC BY 4.0",
    }
    put(root / "data/liver/provenance.json", json.dumps(provenance))
    words = {"topic": "Directions", "caption": "The error is <0.201>."}
    draw(root, "figure4_left", words)
    return root


def draw(root: Path, name: str, words: dict[str, str]) -> None:
    """Write a figure with the words that stand beside it."""
    put(root / f"figures/{name}.svg", SVG)
    put(root / f"figures/{name}.json", json.dumps(words))
    put(root / f"figures/data/{name}.csv", "epsilon,mean\n1,0.5\n")


def settle(root: Path, **settings: object) -> None:
    """Write the settings of a run: those of ``CONFIG``, but for ``settings``."""
    put(root / "settings.yaml", yaml.safe_dump(CONFIG | settings, sort_keys=False))


def put(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
