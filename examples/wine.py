# A data set: a reader, its entry in wine.yaml, and an experiment.
# Copy to workflow/reproduction/data
# Add to config.yaml:
#     experiments:
#       wine:
#         task: covariance
#         dataset: wine
#         directions:
#           a: [alcohol, proline]
#         mechanisms: [nonprivate, random, mvg_binary, laplace, analyze_gauss_analytic]
# Run: snakemake results/tables/wine.md results/figures/curves_wine.svg results/audit/wine.csv
"""Wine: thirteen chemical measurements of 178 wines, without a header."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from matrixdp.checks import Array


def read(members: Mapping[str, bytes]) -> Array:
    """Return the records, shape (178, 13); the first column, the cultivar, is left out."""
    return np.loadtxt(io.BytesIO(members["wine.data"]), delimiter=",", usecols=range(1, 14))
