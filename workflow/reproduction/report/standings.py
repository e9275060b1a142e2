"""What the audit says of each mechanism's guarantee, for tables, figures, page and article.

This module alone turns verdicts into a standing, and a standing into words. A refuted mechanism is
shown as not private, and is in no count, headline, advice or price.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from matrixdp.auditing import standing
from matrixdp.auditing.standing import CERTIFIED, DECLARED, REFUTED, TESTED
from reproduction.report.markup import short

#: Columns of rows that are joined to the audit: the worst standing of a mechanism's releases, empty
#: where nothing was audited, and the largest epsilon that a refutation shows.
COLUMNS = ["standing", "epsilon_least"]

#: Standings of mechanisms that may be advised, and joined to others of the same distribution.
SOUND = (CERTIFIED, TESTED)

NOT_PRIVATE = "not private"


def by_mechanism(audit: pd.DataFrame | None) -> pd.DataFrame:
    """Return ``COLUMNS`` by mechanism, from the audit of one experiment or of several.

    ``epsilon_least`` is what neighbours attain, or what runs prove, where that is above the claimed
    epsilon; otherwise NaN.

    Raises:
        InputError: a verdict begins with no standing.
    """
    if audit is None or audit.empty:
        return pd.DataFrame(columns=COLUMNS).astype({"standing": object, "epsilon_least": float})
    verdicts = audit["verdict"].astype(str)
    shown = audit.reindex(columns=["epsilon_attained", "epsilon_certified"]).max(axis=1)
    claimed = pd.to_numeric(audit.reindex(columns=["epsilon"])["epsilon"])
    wrong = verdicts.map(standing.of).eq(REFUTED) & ~shown.le(claimed)
    groups = audit["mechanism"]
    return pd.DataFrame(
        {
            "standing": verdicts.groupby(groups, sort=False).agg(standing.worst),
            "epsilon_least": shown.where(wrong).groupby(groups, sort=False).max(),
        }
    )


def joined(rows: pd.DataFrame, audit: pd.DataFrame | None) -> pd.DataFrame:
    """Return rows with ``COLUMNS`` of their mechanisms; the standing is empty without an audit."""
    judged = by_mechanism(audit).reindex(rows["mechanism"])
    return rows.assign(
        standing=judged["standing"].astype(object).fillna("").to_numpy(),
        epsilon_least=judged["epsilon_least"].to_numpy(dtype=float),
    )


def refuted(rows: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows whose guarantee is refuted; none without ``standing``."""
    if "standing" not in rows:
        return pd.Series(False, rows.index)
    return rows["standing"].eq(REFUTED)


def text(row: Mapping[str, Any]) -> str:
    """Return ``not private: epsilon at least 3.1`` for a refuted row; else an empty text."""
    if row.get("standing") != REFUTED:
        return ""
    least = row.get("epsilon_least", np.nan)
    if np.isnan(least):
        return NOT_PRIVATE
    least_text = "no epsilon" if np.isinf(least) else f"epsilon at least {short(least)}"
    return f"{NOT_PRIVATE}: {least_text}"


def mark(epsilon: str, row: Mapping[str, Any]) -> str:
    """Return an epsilon as text, marked where it is only declared; what is refuted has none."""
    if words := text(row):
        return words
    return f"{epsilon} ({DECLARED} only)" if epsilon and row["standing"] == DECLARED else epsilon
