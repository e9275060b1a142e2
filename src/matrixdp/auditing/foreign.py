"""The audit of a calibrated mechanism of another author: as functions, by all doors to its noise.

Nothing that a class says of itself counts for it. What a user calls is run: ``release``, and
``simulate``, whose draws can be replayed. A program of parts is replayed with the same noisy
answers. What a class declares beside its claim is held to what is attained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrixdp.auditing import alignment, declarations, real
from matrixdp.auditing.audit import CLOSE, OTHER_LAW, row
from matrixdp.auditing.functions import Findings, columns, examine, largest
from matrixdp.auditing.runs import Runs
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism
from matrixdp.mechanisms.programs import Program
from matrixdp.privacy.sensitivity import Query
from matrixdp.status import NOT_REFUTED, REFUTED

#: Runs of a real release on each neighbour, which draws from the system and takes long.
REAL = 300

Generators = Sequence[np.random.Generator]


def doors(release: CalibratedMechanism) -> dict[str, Runs]:
    """Return runs of functions of records (n, m) that draw a release, by name."""

    def simulate(records: Array, generators: Generators) -> Array:
        value = release.query.value(records.T)
        return np.concatenate([release.simulate(value, one, 1) for one in generators])

    def simulate_one(records: Array, generator: np.random.Generator) -> Array:
        return simulate(records, [generator])[0]

    def real(records: Array) -> Array:
        return release.release(records)  # type: ignore[attr-defined]

    result = {"simulate": Runs(simulate_one, simulate)}
    if hasattr(release, "release"):
        result["release"] = Runs(real, slow=True)
    return result


def judge(
    release: CalibratedMechanism,
    source: Query,
    generators: list[np.random.Generator],
    runs: int,
    pairs: int | None = None,
) -> dict[str, Any]:
    """Return the columns of an audit, see :func:`matrixdp.auditing.releases.judge`.

    Args:
        release: the calibrated mechanism.
        source: the query whose records it gets.
        generators: seven streams, of which the last one is not used.
        runs: largest number of counted runs on each neighbour, by each door.
        pairs: how many pairs of data sets replays of a program try, see :func:`alignment.replay`.

    Raises:
        InputError: the class never simulates a release.
    """
    results, verdict = _examine_doors(release, source, generators, runs, pairs)
    return row(release, **columns(results, verdict))


def _examine_doors(
    release: CalibratedMechanism,
    source: Query,
    generators: list[np.random.Generator],
    runs: int,
    pairs: int | None,
) -> tuple[list[Findings], str]:
    """Return what the doors showed until one refuted the claim, and the verdict."""
    if other_shape := declarations.shape_flaw(release):
        return [], other_shape
    of_doors, (of_flaws, of_factor, of_replays) = generators[:3], generators[3:6]
    doubts: list[str] = []
    if isinstance(release, AdditiveMechanism):
        factor = real.factor(release, of_factor)
        if factor < 1 - CLOSE:
            words = f"a real release has {factor:.3g} of the noise it needs"
            return [], f"{REFUTED}: {words}"
        if np.isnan(factor):
            doubts.append(OTHER_LAW)
    if isinstance(release, Program):
        of_replay = alignment.verdict(alignment.replay(release, of_replays, pairs))
        if of_replay == alignment.REPLAYED:
            return [], of_replay
        doubts += filter(None, [of_replay])
    claim = Budget(release.epsilon, release.delta)
    results: list[Findings] = []
    by_door = doors(release)
    assert len(by_door) <= len(of_doors)
    for (name, door), stream in zip(by_door.items(), of_doors, strict=False):
        count = min(runs, REAL) if name == "release" else runs
        try:
            streams = stream.spawn(4)
            # What simulates gets values in bounds; what releases gets records of any kind.
            results.append(examine(door, source, claim, streams, count, name == "release"))
        except InputError:
            if name != "release":
                raise
            # It never releases anything.
            continue
        if results[-1].refutes(claim):
            words = results[-1].verdict(claim)
            return results, f"{words}; by {name}"
    attained = largest(result.attained for result in results)
    shown = declarations.Attained(release, attained, largest(result.mu for result in results))
    against = dict.fromkeys(objection for result in results for objection in result.objections)
    verdict = f"{NOT_REFUTED}{': ' * bool(against)}{'; '.join(against)}"
    verdicts = [*doubts, *declarations.flaws(shown, of_flaws), verdict]
    return results, min(verdicts, key=lambda words: not words.startswith(REFUTED))
