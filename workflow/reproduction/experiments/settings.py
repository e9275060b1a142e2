"""The settings of one experiment, on releases or on training."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The settings of one experiment in config.yaml.

    Attributes:
        experiment: name of the experiment.
        seed: root seed.
        trials: number of trials per row; trial numbers start at 0.
        claim_trials: number of trials per row at ``table_epsilon`` for judging claims, if larger
            than ``trials``; the first of them are those of the row.
        table_epsilon: the tables' epsilon as text.
        epsilons: claimed epsilons as text, e.g. ``"0.1"``; they also name the noise streams.
        delta: claimed delta; None stands for 1 / n, with n private records.
        directions: indices of favoured features by name of a noise direction; none: i.i.d. noise.
        grids: values of the mechanisms' parameters as text, by their key in config.yaml (see
            :class:`reproduction.mechanisms.base.Entry`).
        adjacency: neighbouring relation (see :mod:`matrixdp.privacy.sensitivity`).
        reading: name of a reading of the papers (see :mod:`reproduction.experiments.readings`).
        changes: parameters that the reading changes.
    """

    experiment: str
    seed: int
    trials: int
    epsilons: tuple[str, ...] = ()
    delta: float | None = None
    directions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    grids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adjacency: str = "replace"
    reading: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict)
    claim_trials: int = 0
    table_epsilon: str = ""

    @classmethod
    def of(cls, part: Mapping[str, Any], **others: Any) -> Settings:
        """Return the settings in a part of the configuration, with fields ``others``."""
        epsilons = tuple(part.get("epsilons", ()))
        grids = {key: tuple(values) for key, values in part.get("grids", {}).items()}
        plain = {key: part[key] for key in ("experiment", "seed", "trials")}
        plain |= {key: part[key] for key in ("claim_trials", "table_epsilon") if key in part}
        delta = part.get("delta", "1/n")
        plain |= {"delta": None if delta == "1/n" else float(delta)}
        return cls(**{**plain, "epsilons": epsilons, "grids": grids, **others})


@contextlib.contextmanager
def progress(total: int, name: str) -> Iterator[Callable[[], object]]:
    """Yield a function to call after each step; on a terminal it advances a progress bar."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    # A slow import.
    from tqdm import tqdm

    with tqdm(total=total, desc=name, leave=False) as bar:
        yield bar.update
