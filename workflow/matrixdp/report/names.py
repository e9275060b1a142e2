"""The names that a reader knows mechanisms, schemes and reference rows by."""

from __future__ import annotations

from matrixdp import mechanisms
from matrixdp.experiments import schemes
from matrixdp.report.tables import comparison


def labels() -> dict[str, str]:
    """Return a label per id: of reference rows, and of mechanisms before schemes of one name."""
    found = dict(comparison.LABELS)
    for kind in schemes.KINDS:
        found |= {name: scheme.label for name, scheme in schemes.registry(kind).items()}
    return found | {name: entry.label for name, entry in mechanisms.registry().items()}
