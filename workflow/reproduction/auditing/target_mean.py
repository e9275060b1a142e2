"""The audit of the mean of a target."""

from __future__ import annotations

import numpy as np

from matrixdp import library
from matrixdp.auditing import proofs, sensitivities
from matrixdp.auditing.base import Audit
from matrixdp.auditing.projection import ComposedAudit
from reproduction.mechanisms.target_mean import TargetMean


def audit_target_mean(release: TargetMean, stream: np.random.Generator) -> Audit:
    """Return the audit of the mean of a target."""
    proven = proven_mus(release)
    change = sensitivities.largest_changes(release.query, stream)["mean of y"]
    return ComposedAudit(release, [change / release.mean_std], None, proven)


def proven_mus(release: TargetMean) -> list[float]:
    """Return upper bounds on the mu of the parts; NaN where nothing is proven."""
    query = release.query
    # The mean's sensitivity is that of one record.
    if not (library.owns(release) and proofs.owned(query) and query.group == 1):
        return [proofs.UNPROVEN]
    return [release.query.l2_mean / release.mean_std]
