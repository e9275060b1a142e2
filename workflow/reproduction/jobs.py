"""The settings of a job, as it gets them: JSON on its command line."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError


def digest(text: str) -> str:
    """Return a short hash of a job's settings, which trial files carry."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read(text: str) -> dict[str, Any]:
    """Return the settings in a text of a command line.

    Raises:
        InputError: the text is not a JSON object with an experiment.
    """
    try:
        part = json.loads(text)
    except ValueError:
        part = None
    if isinstance(part, dict) and "experiment" in part:
        return part
    raise InputError(
        f"settings is {checks.short(text)}, no JSON object with an experiment; "
        "`snakemake --printshellcmds` prints the commands of a run"
    )
