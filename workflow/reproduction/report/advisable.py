"""Whether a row may be advised: the one rule behind every "best", headline and recommendation."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from matrixdp.status import DECLARED, REFUTED
from reproduction import catalogue
from reproduction.report import audit_status
from reproduction.report.statistics import exceeds

#: What the column ``advisable`` says of a row that may be advised; of others it has the reason.
YES = "yes"

#: Reasons against a row; ``BY_RESULTS`` is a parameter that results chose.
NEEDS_RECORDS = "needs the records"
UNKNOWN = "epsilon unknown"
DELIVERS_MORE = "delivers more than it claims"
BY_RESULTS = "by results"
ON_THESE_DATA = "made on these data, without a result on others"

#: Baselines that nobody can use in place of a private release.
NOT_FREE = {*catalogue.BASELINES} - {*catalogue.RECORD_FREE}


def add_advisable(rows: pd.DataFrame, tested: Collection[str] = ()) -> pd.DataFrame:
    """Return rows with the column ``advisable``: ``YES``, or the first reason against a row.

    A guarantee must not be in doubt. A parameter that results chose on the data cannot be chosen by
    a private run. The same holds for a rule that was made on these data, unless it is tested on
    others.

    Args:
        rows: rows of the summary of one experiment, with ``audit_status`` where there is an audit.
        tested: mechanisms with results on other data (:mod:`reproduction.report.held_out_table`).
    """
    names, delivered = rows["mechanism"], rows["epsilon_delivered"]
    claimed = pd.to_numeric(rows["epsilon"], errors="coerce")
    status = rows.get("audit_status", pd.Series("", rows.index))
    # Schemes of private training have no audit.
    perturbation = catalogue.experiment(str(rows["experiment"].iloc[0])).perturbation
    schemes = catalogue.schemes(perturbation) if perturbation else {}
    doubtful = {name for name, scheme in schemes.items() if scheme.status != "private"}
    reasons = {
        NEEDS_RECORDS: names.isin(NOT_FREE),
        audit_status.NOT_PRIVATE: status.eq(REFUTED) | names.isin(doubtful),
        f"{DECLARED} only": status.eq(DECLARED),
        UNKNOWN: claimed.notna() & delivered.isna(),
        DELIVERS_MORE: exceeds(delivered, claimed),
        BY_RESULTS: rows["configuration"].ne(""),
        ON_THESE_DATA: names.isin(catalogue.tuned() - {*tested}),
    }
    return rows.assign(advisable=np.select([*reasons.values()], [*reasons], default=YES))


def common_advice(rows: pd.DataFrame) -> str:
    """Return ``YES`` if all rows may be advised, or else the first reason."""
    return str(next((text for text in rows["advisable"] if text != YES), YES))
