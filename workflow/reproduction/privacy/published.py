"""The queries of the MVG paper's three experiments (section 8), for delta = 1 / n."""

from __future__ import annotations

from matrixdp.privacy.sensitivity import Box, IdentityQuery, Query, SecondMomentQuery

LIVER = IdentityQuery(Box.cube(6, -1, 1), 248)
MOVEMENT = SecondMomentQuery(Box.cube(4, -1, 1), 10176)
CTG = IdentityQuery(Box.cube(21, 0, 1), 2126)
EXPERIMENTS: tuple[Query, ...] = (LIVER, MOVEMENT, CTG)
