"""The queries of the MVG paper's three experiments (section 8), for delta = 1 / n."""

from __future__ import annotations

from matrixdp.privacy.sensitivity import Box, Covariance, Identity, Query

LIVER = Identity(Box.cube(6, -1, 1), 248)
MOVEMENT = Covariance(Box.cube(4, -1, 1), 10176)
CTG = Identity(Box.cube(21, 0, 1), 2126)
EXPERIMENTS: tuple[Query, ...] = (LIVER, MOVEMENT, CTG)
