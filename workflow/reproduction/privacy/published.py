"""The queries of the MVG paper's three experiments (section 8), for delta = 1 / n.

Their l2 sensitivity as the paper states it stands beside them.
"""

from __future__ import annotations

from matrixdp.privacy.sensitivity import Box, Query, RecordsQuery, SecondMomentQuery

LIVER = RecordsQuery(Box.cube(6, -1, 1), 248)
MOVEMENT = SecondMomentQuery(Box.cube(4, -1, 1), 10176)
CTG = RecordsQuery(Box.cube(21, 0, 1), 2126)
EXPERIMENTS: tuple[Query, ...] = (LIVER, MOVEMENT, CTG)


def l2_sensitivity(query: Query) -> float:
    """Return the l2 sensitivity as the paper states it, exact but for second moments.

    Theirs is 2 R^2 / n (2 m c^2 / n in section 8.2.3): at least sqrt(2) too large, which is safe.
    """
    if isinstance(query, SecondMomentQuery):
        return 2 * query.largest_norm / query.effective_records
    return query.l2_sensitivity
