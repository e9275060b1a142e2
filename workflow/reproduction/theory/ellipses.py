"""Samples of directional noise in two dimensions (MVG, section 5 and Figure 3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special

from matrixdp.checks import Array
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.privacy.sensitivity import Box, Query, RecordsQuery, SecondMomentQuery
from reproduction import seeds
from reproduction.mechanisms.allocation import Binary
from reproduction.mechanisms.directional import AllocatedGaussian
from reproduction.mechanisms.mvg import MVG

ANGLE = np.radians(35)
#: The important direction, and the one across it.
DIRECTIONS = np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])
#: Allocations: nearly all precision along the first direction, or equal precision.
DIRECTIONAL, EQUAL = Binary((0,), 0.95), Binary()

EPSILON = 1.0
DRAWS = 100_000
#: Number of draws that the figure shows as points.
POINTS = 300
#: Share of the noise inside a contour.
INSIDE = 0.95

DATA = RecordsQuery(Box.cube(2, -1, 1), 200)
MOMENTS = SecondMomentQuery(Box.cube(2, -1, 1), 100)


def ellipses(seed: int) -> pd.DataFrame:
    """Return the data of the three panels of Figure 3, from samples of mechanisms.

    ``left`` has directional MVG noise on records of two features. ``middle`` compares it with
    i.i.d. MVG noise of the same guarantee. ``right`` has the noise on second moments by Theorems 2
    and 3, at the same guarantee. ``middle`` and ``right`` also have exactly calibrated noise.

    Returns:
        Points of each noise, of these kinds:

        - ``sample``: ``POINTS`` of the draws;
        - ``covariance``: the two rows of their covariance;
        - ``axis``: one standard deviation along the principal axes, the longer first;
        - ``contour``: closed curve of equal density with 95 % of a normal distribution inside.

        Noise ``none`` has the ``utility`` direction, a unit vector.
    """
    mvg = MVG(theorem=2, allocation=DIRECTIONAL, directions=DIRECTIONS)
    exact = AllocatedGaussian(directions=DIRECTIONS, allocation=DIRECTIONAL)
    panels: list[tuple[str, str, Query, Mechanism]] = [
        ("left", "mvg_directional", DATA, mvg),
        ("middle", "mvg_iid", DATA, MVG(allocation=EQUAL)),
        ("middle", "mvg_directional", DATA, mvg),
        ("middle", "exact_iid", DATA, AllocatedGaussian(allocation=EQUAL)),
        ("middle", "exact_directional", DATA, exact),
        ("right", "mvg_thm2", MOMENTS, mvg),
        ("right", "mvg_thm3", MOMENTS, replace(mvg, theorem=3)),
        ("right", "exact_directional", MOMENTS, exact),
    ]
    tables = [
        _shape_rows(_noise(query, mechanism, seed, panel, name)).assign(panel=panel, noise=name)
        for panel, name, query, mechanism in panels
    ]
    for panel in ("middle", "right"):
        utility = _rows("utility", DIRECTIONS[:, :1].T)
        tables.append(utility.assign(panel=panel, noise="none"))
    return pd.concat(tables, ignore_index=True)[["panel", "noise", "role", "x", "y"]]


def _noise(query: Query, mechanism: Mechanism, seed: int, *key: str) -> Array:
    """Return ``DRAWS`` noise vectors, columns of releases, shape (draws, 2).

    All columns of released records have independent noise and are used. Only the first column of
    second moments is used; its covariance is a multiple of Sigma.
    """
    release = mechanism.calibrate(query, epsilon=EPSILON, delta=1 / query.n_records)
    columns = query.n_records if isinstance(query, RecordsQuery) else 1
    (stream,) = seeds.streams(seed, "theory", "ellipses", *key, trials=[0])
    noise = release.simulate(np.zeros(query.shape), stream, DRAWS // columns)
    return np.swapaxes(noise, 1, 2)[:, :columns].reshape(DRAWS, 2)


def _shape_rows(points: Array) -> pd.DataFrame:
    covariance = points.T @ points / len(points)
    variances, axes = np.linalg.eigh(covariance)
    deviations = axes[:, ::-1] * np.sqrt(variances[::-1])
    circle = np.linspace(0, 2 * np.pi, 73)
    contour = np.sqrt(special.chdtri(2, 1 - INSIDE)) * np.stack([np.cos(circle), np.sin(circle)], 1)
    parts = {
        "sample": points[:POINTS],
        "covariance": covariance,
        "axis": deviations.T,
        "contour": contour @ deviations.T,
    }
    return pd.concat([_rows(role, rows) for role, rows in parts.items()])


def _rows(role: str, points: Array) -> pd.DataFrame:
    return pd.DataFrame({"role": role, "x": points[:, 0], "y": points[:, 1]})


THEORY = {"ellipses": ellipses}
