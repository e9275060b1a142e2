"""What jobs may take on a cluster, from their settings: minutes and megabytes.

Measured on one core of a shared machine (docs/clusters.md). A limit that is too low ends a job, and
one that is too high makes it wait: each is three times what was measured, and a base. Snakemake
multiplies it by the attempt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

#: Seconds of a training record in an epoch, at one epsilon, by training. Another one may take as
#: long as the dearest.
PER_RECORD = {"adult": 3e-7, "imdb": 6e-7, "mnist_features": 2e-6, "cora": 6e-5, "mnist": 6e-5}
DEAREST = max(PER_RECORD.values())

#: Seconds of a record in an epoch of the dearest extractor, the LSTM.
PER_EXTRACTED = 2.5e-3

#: Seconds of a trial at one epsilon: of MVG with all its shares and directions, of all mechanisms
#: in all readings, and of all mechanisms on all held-out data.
PER_TRIAL, PER_READING_TRIAL, PER_HELD_OUT = 1.1e-2, 0.15, 0.5

#: Seconds of a run of the audit, in all configurations of a mechanism.
PER_AUDITED = 2e-3

#: Megabytes of any job, of an epsilon in a trial, and of a training record.
BASE, PER_ROW, PER_STORED = 1200, 0.02, 0.015

#: Minutes and megabytes of a computation without data, and of all wrong mechanisms.
THEORY, NEGATIVE_CONTROL = (12, BASE), (11, 2 * BASE)


def minutes(seconds: float) -> int:
    """Return the limit of a job that takes so many seconds, with its start."""
    return 10 + math.ceil(3 * seconds / 60)


def trials(job: Mapping[str, Any]) -> tuple[int, int]:
    """Return minutes and megabytes of trials, from :func:`reproduction.job_settings.trials`."""
    count = job["trials"] * len(job.get("epsilons", [0]))
    count += job.get("claim_trials", 0) * len(job.get("claim_epsilons", [0]))
    return minutes(count * PER_TRIAL), BASE + round(count * PER_ROW)


def training(job: Mapping[str, Any], records: int) -> tuple[int, int]:
    """Return minutes and megabytes of a scheme's training, from its ``training``.

    Args:
        job: settings of a job; their ``records``, if any, limit those of the data set.
        records: number of records of the data set.
    """
    records = min(job.get("records") or records, records)
    count = job["trials"] * len(job.get("epsilons", [0])) * job["epochs"] * records
    seconds = count * PER_RECORD.get(job["experiment"], DEAREST)
    return minutes(seconds), BASE + round(records * PER_STORED)


def extraction(job: Mapping[str, Any], records: int) -> tuple[int, int]:
    """Return minutes and megabytes of an extractor, as :func:`training` does."""
    records = min(job.get("records") or records, records)
    seconds = job["extractor_epochs"] * records * PER_EXTRACTED
    return minutes(seconds), BASE + round(records * PER_STORED)


def readings(job: Mapping[str, Any]) -> tuple[int, int]:
    """Return minutes and megabytes of an experiment under all readings, from its ``readings``."""
    return minutes(job["trials"] * PER_READING_TRIAL), BASE + round(job["trials"] * PER_ROW)


def audit(job: Mapping[str, Any]) -> tuple[int, int]:
    """Return minutes and megabytes of the audit of a mechanism, from its ``audit``."""
    return minutes(120 + (job["audit_runs"] or 0) * PER_AUDITED), BASE


def held_out(trials: int) -> tuple[int, int]:
    """Return minutes and megabytes of all mechanisms on held-out data."""
    return minutes(trials * PER_HELD_OUT), BASE + round(trials * PER_ROW)
