"""Stand-ins: simulated data with the shape of a data set, made from summary facts alone.

The facts are committed under ``standins``; no record is. A stand-in lets the workflow run where
the data are not available. Its results are evidence of nothing else.

The facts of a matrix (:func:`summarise`) are the number of records, the rank correlations, and a
table of each feature's quantiles, or of its values if they are few. The stand-in has exactly these
marginal distributions, including the range, joined by a Gaussian copula with those rank
correlations. It has no other dependence, such as that of MovementAAL's rows along a walk. Each
learning set's module has a separate ``summarise`` and ``simulate``.

The facts of a data set are rewritten from its records, or from the members of a learning set::

    standin_path("liver").write_text(as_yaml(summarise(records, spec.columns)))
    standin_path("adult").write_text(as_yaml(adult.summarise(members), adult.__name__))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from matrixdp.checks import Array, InputError

#: Levels of the quantiles: finer in the tails, where features are skewed.
LEVELS = np.array(
    [0, 0.005, 0.01, *np.linspace(0.025, 0.975, 39).round(3), 0.99, 0.995, 1], dtype=np.float64
)
#: Features with at most this many values are described by the number of records at each value.
FEW = 24

_ROUNDS = 60
_COARSE = 0.05


def standin_path(name: str) -> Path:
    """Return the path of the facts of a data set."""
    return Path(__file__).parent / "standins" / f"{name}.yaml"


def load_summary(name: str) -> dict[str, Any]:
    """Return the committed facts of a data set.

    Raises:
        InputError: there are none.
    """
    path = standin_path(name)
    if not path.is_file():
        raise InputError(f"dataset is {name!r}; it has no stand-in, set data.source to original")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def summarise(records: Array, columns: Sequence[str]) -> dict[str, Any]:
    """Return the facts for a stand-in.

    Args:
        records: n x m, original units.
        columns: m names.

    Returns:
        The facts ``records`` (n), ``levels`` of the quantiles, ``features`` and
        ``rank_correlation`` (Spearman, m x m, to three digits). A feature has a ``name`` and either
        ``values`` and ``counts``, or ``integer``, ``minimum``, ``at_minimum`` (number of records
        there: many rates are 0) and ``quantiles_above`` the minimum.
    """
    features = [
        {"name": name, **marginal(column)} for name, column in zip(columns, records.T, strict=True)
    ]
    correlation = spearman(records).round(3) + 0.0
    return {
        "records": len(records),
        "levels": LEVELS.tolist(),
        "features": features,
        "rank_correlation": correlation.tolist(),
    }


def as_yaml(summary: Mapping[str, Any], module: str = __name__) -> str:
    """Return the facts from ``module.summarise`` as the text of a committed file."""
    head = f"# Facts about a public data set, from {module}.summarise; no records.\n"
    return head + yaml.safe_dump(dict(summary), sort_keys=False, width=100, default_flow_style=None)


def spearman(records: Array) -> Array:
    """Return the rank correlations of the columns (tied values share their mean rank), m x m."""
    from scipy.stats import rankdata

    return np.corrcoef(rankdata(records, axis=0), rowvar=False)


def simulate(summary: Mapping[str, Any], rng: np.random.Generator) -> Array:
    """Return a stand-in, shape (n, m), original units.

    Random normal scores with a correlation are replaced by the values of the same rank (Iman &
    Conover 1982). Ties weaken rank correlations. The correlation of the scores is therefore
    adjusted until the stand-in's rank correlations are those of the summary.
    """
    from scipy.stats import rankdata

    n, target = summary["records"], np.array(summary["rank_correlation"])
    ordered = np.column_stack(
        [sorted_values(feature, summary["levels"], n) for feature in summary["features"]]
    )
    ordered_ranks = rankdata(ordered, axis=0)
    scores: Array = rng.standard_normal(ordered.shape)
    scores -= scores.mean(axis=0)
    # Exactly uncorrelated scores, so that chance changes the ranks but not their correlation.
    scores = scores @ np.linalg.inv(np.linalg.cholesky(scores.T @ scores / n)).T
    correlation = 2 * np.sin(np.pi / 6 * target)
    places, nearest = np.empty(0, dtype=np.intp), np.inf
    for _ in range(_ROUNDS):
        factor = np.linalg.cholesky(_valid(correlation))
        order = (scores @ factor.T).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
        ranks = np.take_along_axis(ordered_ranks, order, axis=0)
        gap = target - np.corrcoef(ranks, rowvar=False)
        if np.abs(gap).max() < nearest:
            places, nearest = order, np.abs(gap).max()
        # A Gaussian copula cannot have every set of rank correlations: small gaps get less weight,
        # so that the largest gap shrinks and not their number.
        correlation = correlation + gap * np.minimum(1, np.abs(gap) / _COARSE)
    return np.take_along_axis(ordered, places, axis=0)


def marginal(column: Array) -> dict[str, Any]:
    """Return the facts of a column (n,): an entry of ``features`` (:func:`summarise`), unnamed."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) <= FEW:
        return {"values": values.tolist(), "counts": counts.tolist()}
    quantiles = np.quantile(column[column > values[0]], LEVELS)
    return {
        "integer": bool((column == np.round(column)).all()),
        "minimum": float(values[0]),
        "at_minimum": int(counts[0]),
        "quantiles_above": [
            *(float(f"{quantile:.6g}") for quantile in quantiles[:-1]),
            float(values[-1]),
        ],
    }


def sorted_values(feature: Mapping[str, Any], levels: Sequence[float], n: int) -> Array:
    """Return a sorted column (n,) with the facts that :func:`marginal` gives of n records."""
    if "values" in feature:
        return np.repeat(np.array(feature["values"], dtype=np.float64), feature["counts"])
    lowest = np.full(feature["at_minimum"], feature["minimum"])
    above = np.interp(np.linspace(0, 1, n - len(lowest)), levels, feature["quantiles_above"])
    return np.concatenate([lowest, np.round(above) if feature["integer"] else above])


def _valid(correlation: Array) -> Array:
    """Return a positive definite correlation matrix close to a symmetric one."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 1e-8))
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    return root @ root.T
