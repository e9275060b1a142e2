"""Entries of the registry of mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matrixdp.mechanisms.mechanism import Mechanism


@dataclass(frozen=True)
class MechanismEntry:
    """A mechanism that config.yaml names, with the grid of its parameter.

    The keywords are literals, which :mod:`reproduction.discovery` reads without an import.

    Attributes:
        build: makes the mechanism from one value of the grid, and from a direction.
        parameter: the argument of ``build`` that the grid varies, as configurations name it;
            empty for none.
        values: the key of config.yaml with the values of the grid, a list of numbers. The key
            ``<parameter>_untuned``, where there is one, has the value that nobody tunes.
        stream: the parameter in keys of random streams, if they name it otherwise: a change here is
            other noise.
        directed: whether ``build`` also takes ``direction``, the indices of the features that a
            direction favours. Of none, which is i.i.d. noise, it gets no value of the grid.
    """

    build: Callable[..., Mechanism]
    parameter: str = ""
    values: str = ""
    stream: str = ""
    directed: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """What varies between the configurations of the mechanism; empty for a single one."""
        return ("direction",) * self.directed + (self.parameter,) * bool(self.parameter)
