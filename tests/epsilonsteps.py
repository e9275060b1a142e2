"""Whether more epsilon asks for more noise anywhere in the releases of a mechanism."""

import contextlib
import dataclasses

import numpy as np

from matrixdp.mechanisms.mechanism import CalibratedMechanism, NoGuarantee

EPSILONS = np.geomspace(0.01, 1000, 11)
#: What falls with epsilon, and what grows, wherever a release or a part of it has it.
FALLS = (
    "noise_std",
    "ridge",
    "centre_std",
    "count_std",
    "trace_std",
    "eigenvalue_std",
    "needed",
    "mean_std",
)
GROWS = ("mu", "kappa", "limit", "search", "rest")


def sizes(release, name=""):
    """Yield name and size of all that grows with the noise of a release and of its parts."""
    for field in dataclasses.fields(release):
        value = getattr(release, field.name)
        parts = value if isinstance(value, tuple) else (value,)
        for k, part in enumerate(parts):
            if isinstance(part, CalibratedMechanism):
                yield from sizes(part, f"{name}{field.name}{k}.")
        if field.name in FALLS and np.isfinite(value):
            yield name + field.name, value
        elif field.name in GROWS and value is not None and value:
            yield name + field.name, 1 / value


def rises(mechanism, query):
    """Return how often something rises, and how much there is to compare.

    There is nothing where no budget has a guarantee, which an honest mechanism may say.
    """
    found = {}
    for epsilon in EPSILONS.tolist():
        try:
            release = mechanism.calibrate(query, epsilon=epsilon, delta=1 / query.n_records)
        except NoGuarantee:
            continue
        for name, size in sizes(release):
            found.setdefault(name, []).append(size)
    if not found:
        return 0, 0
    steps = np.concatenate([np.diff(np.log(np.maximum(one, 1e-300))) for one in found.values()])
    return int((steps > 1e-9).sum()), len(steps)


def guaranteed(mechanism, query):
    """Return whether a mechanism has a guarantee at any budget."""
    for epsilon in EPSILONS.tolist():
        with contextlib.suppress(NoGuarantee):
            mechanism.calibrate(query, epsilon=epsilon, delta=1 / query.n_records)
            return True
    return False
