"""What the audit says of each mechanism's guarantee, for tables, figures, page and article.

This module alone turns a status into words. A refuted mechanism is
shown as not private, and is in no count, headline, advice or price.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from matrixdp import status
from matrixdp.status import CERTIFIED, DECLARED, NOT_REFUTED, REFUTED
from reproduction.report import statistics
from reproduction.report.markup import short
from reproduction.report.sheet import Cell

#: Columns of rows that are joined to the audit: the worst status of a mechanism's releases, empty
#: where nothing was audited, and the largest epsilon that a refutation shows.
COLUMNS = ["audit_status", "epsilon_least"]

#: Statuses of mechanisms that may be advised, and joined to others of the same distribution.
SOUND = (CERTIFIED, NOT_REFUTED)

NOT_PRIVATE = "not private"


def summarise_audit(audit: pd.DataFrame | None) -> pd.DataFrame:
    """Return ``COLUMNS`` by mechanism, from the audit of one experiment or of several.

    ``epsilon_least`` is what neighbours attain, or what runs prove, where that is above the claimed
    epsilon; otherwise NaN. What is not refuted counts as declared where no epsilon was computed.

    Raises:
        InputError: a status is none.
    """
    if audit is None or audit.empty:
        return pd.DataFrame(columns=COLUMNS).astype(
            {"audit_status": object, "epsilon_least": float}
        )
    statuses = audit["status"].astype(str)
    if "epsilon_attained" in audit:
        # Where no epsilon was computed, runs alone objected to nothing.
        doubtful = statuses.eq(NOT_REFUTED) & audit["epsilon_attained"].isna()
        statuses = statuses.mask(doubtful, DECLARED)
    known = audit.reindex(columns=["epsilon", "epsilon_attained", "epsilon_certified"])
    least = known[["epsilon_attained", "epsilon_certified"]].max(axis=1)
    wrong = statuses.eq(REFUTED) & ~least.le(known["epsilon"])
    groups = audit["mechanism"]
    return pd.DataFrame(
        {
            "audit_status": statuses.groupby(groups, sort=False).agg(status.worst),
            "epsilon_least": least.where(wrong).groupby(groups, sort=False).max(),
        }
    )


def add_audit_status(rows: pd.DataFrame, audit: pd.DataFrame | None) -> pd.DataFrame:
    """Return rows with ``COLUMNS`` of their mechanisms; the status is empty without an audit.

    Where there is one of other mechanisms, a result at an epsilon that it lacks is declared.
    """
    judged = summarise_audit(audit).reindex(rows["mechanism"])
    status = judged["audit_status"].astype(object).fillna("").to_numpy()
    if audit is not None and not audit.empty:
        results = rows.reindex(columns=["epsilon", "mean"]).notna().all(axis=1)
        lacking = results & ~rows["mechanism"].isin(audit["mechanism"])
        status = np.where(lacking, DECLARED, status)
    return rows.assign(
        audit_status=status,
        epsilon_least=judged["epsilon_least"].to_numpy(dtype=float),
    )


def refuted(rows: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows whose guarantee is refuted; none without ``audit_status``."""
    if "audit_status" not in rows:
        return pd.Series(False, rows.index)
    return rows["audit_status"].eq(REFUTED)


def text(row: Mapping[str, Any]) -> str:
    """Return ``not private: epsilon at least 3.1`` for a refuted row; else an empty text."""
    if row.get("audit_status") != REFUTED:
        return ""
    least = row.get("epsilon_least", np.nan)
    if np.isnan(least):
        return NOT_PRIVATE
    least_text = "no epsilon" if np.isinf(least) else f"epsilon at least {short(least)}"
    return f"{NOT_PRIVATE}: {least_text}"


def doubt(row: Mapping[str, Any]) -> str:
    """Return :func:`text`, or ``not private`` where more epsilon is delivered than is claimed."""
    above = statistics.exceeds(row["epsilon_delivered"], row["epsilon"])
    return text(row) or NOT_PRIVATE * bool(above)


def remark(row: Mapping[str, Any]) -> str:
    """Return :func:`text`, or ``declared only``; empty where the audit has no objection."""
    return text(row) or f"{DECLARED} only" * (row.get("audit_status") == DECLARED)


def words(row: Mapping[str, Any]) -> str:
    """Return :func:`text` for a refuted row, else its status."""
    return text(row) or str(row["audit_status"])


def mark(epsilon: str, row: Mapping[str, Any]) -> Cell:
    """Return an epsilon, with a note where it is only declared; what is refuted has none."""
    if wrong := text(row):
        return Cell(wrong)
    doubt = remark(row)
    return Cell(epsilon, note=f"({doubt})" if epsilon and doubt else "")
