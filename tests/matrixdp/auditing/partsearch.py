"""The largest mu of a real release in parts: by a search of each part, without replays."""

import numpy as np

from matrixdp.auditing.neighbours import worst
from matrixdp.mechanisms.clipped import ShellQuery


def largest_mu(release, seed=0):
    """Return the norm of all parts' largest changes on neighbours, each over its noise."""
    stream = np.random.default_rng(seed)
    return float(
        np.linalg.norm([max(_mu(one, stream) for one in p.releases) for p in release.parts])
    )


def _mu(release, stream):
    query, whiten = release.query, release.noise.whiten
    if isinstance(query, ShellQuery):
        # All records of a person move from one shell to another, or are added to one.
        moves = np.array([[1.0], [0.0 if query.add_or_remove else -1.0]])
        return float(np.linalg.norm(whiten(query.group * np.eye(query.features)[:, :2] @ moves)))
    return worst(query, lambda change: np.linalg.norm(whiten(change), axis=-1), stream).size
