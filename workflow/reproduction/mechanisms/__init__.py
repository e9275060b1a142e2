"""Mechanisms, one family a file, collected from each file's ``MECHANISMS``; and other packages'."""

from __future__ import annotations

import sys

from matrixdp import checks, library
from matrixdp.mechanisms.mechanism import Mechanism
from reproduction import audits, discovery, plugins
from reproduction.mechanisms.base import MechanismEntry

# The study vouches for its classes as for those of the library.
library.MODULES |= {f"{__name__}.{module}" for module in audits.MODULES}
library.AUDITS |= {
    f"{__name__}.{kind}": f"reproduction.auditing.{audit}" for kind, audit in audits.AUDITS.items()
}


def registry() -> dict[str, MechanismEntry]:
    """Return all mechanisms by their names in config.yaml."""
    return {name: find_mechanism(name) for name in discovery.mechanisms()}


def find_mechanism(name: str) -> MechanismEntry:
    """Return one mechanism by its name, without importing the other families.

    Raises:
        InputError: there is none, or its package is broken.
    """
    every = discovery.mechanisms()
    if every[checks.choice(every, mechanism=name)].distribution:
        return MechanismEntry(plugins.load(name, Mechanism))
    entry: MechanismEntry = discovery.find_entry(
        sys.modules[__name__], "MECHANISMS", mechanism=name
    )
    return entry
