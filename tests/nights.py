"""Cases of which a few are tested every day, and all at night."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest


def nightly_but(every_day: Collection[str], cases: Mapping[str, Any]) -> list[Any]:
    """Return parameters of pytest for cases by name; those not of every day are nightly.

    Raises:
        ValueError: no case has a name of every day.
    """
    if missing := {*every_day} - {*cases}:
        raise ValueError(f"no case is called {', '.join(sorted(missing))}")
    nightly = [pytest.mark.nightly]
    return [
        pytest.param(
            *(case if type(case) is tuple else (case,)),
            id=name,
            marks=[] if name in every_day else nightly,
        )
        for name, case in cases.items()
    ]
