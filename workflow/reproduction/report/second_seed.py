"""Which runs differ in the root seed alone, so that their verdicts stand beside each other.

Rules ask it for every plan, so that nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reproduction import job_settings

#: Keys of a configuration on which no verdict on a claim rests, and those of its experiments.
_ASIDE = {"data", "datasets", "experiment_defaults", "audit_runs", "experiments", "training"}


def is_second_seed(settings: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a run has all experiments of another one as they are there, and another seed.

    Args:
        settings, other: public configurations (:func:`reproduction.config.public`). The first may
            have further experiments.
    """
    keys = {*settings, *other} - {*_ASIDE, "seed"}
    return (
        settings["seed"] != other["seed"]
        and all(settings.get(key) == other.get(key) for key in keys)
        and job_settings.runs(other).items() <= job_settings.runs(settings).items()
    )
