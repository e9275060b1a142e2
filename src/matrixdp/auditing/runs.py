"""Runs of a function of records and random bits: its answers, and why there is none."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from matrixdp import checks
from matrixdp.auditing.places import Pair
from matrixdp.auditing.recorder import Recorder
from matrixdp.auditing.statistics import Sample
from matrixdp.checks import Array, InputError

#: Largest number of an answer, whose squares are finite.
LARGEST = 1e100

#: Draws that a run on records out of bounds may always take, and how many times those of a run on
#: records in bounds.
DRAWS_ALLOWED, FACTOR = 2000, 10


@dataclass
class Runs:
    """Runs of a function, with answers (r, c) of one shape.

    Attributes:
        many: function of records and several Generators, which gives as many answers at once.
        slow: whether runs take long, so that fewer choose the neighbours and the event.
        hidden: whether the function takes no Generator and has randomness of its own.
        shape: shape of an answer; others are failures.
        draws_limit: how many draws a run may take. A function that draws until its answer is small
            never ends where a record moves the answer away.
    """

    function: Callable[..., Any]
    many: Callable[[Array, Sequence[Generator]], Array] | None = None
    slow: bool = False
    hidden: bool = field(init=False)
    shape: tuple[int, ...] | None = field(default=None, init=False)
    draws_limit: float = field(default=math.inf, init=False)

    def __post_init__(self) -> None:
        self.hidden = not _takes_generator(self.function)

    @property
    def table(self) -> tuple[int, int]:
        """Shape (r, c) of an answer."""
        return (1, 1) if self.shape is None else _table(self.shape)

    def start(self, pairs: Sequence[Pair]) -> None:
        """Run once on each data set until an answer is an array of finite numbers.

        Raises:
            InputError: no answer is.
        """
        failures: dict[str, None] = {}
        for number, records in enumerate(records for pair in pairs for records in pair.sides):
            failures[self(records, np.random.default_rng(number))[1]] = None
            if self.shape is not None:
                return
        raise InputError(
            f"{next(iter(failures))} on all {2 * len(pairs)} data sets in bounds that were tried; "
            "return an array of finite numbers, or a number"
        )

    def limit(self, pair: Pair) -> None:
        """Let later runs draw a few times as often as runs on this pair, and no more."""
        recorders = [Recorder(seed) for seed in range(2)]
        for records, recorder in zip(pair.sides, recorders, strict=True):
            self(records, recorder)
        self.draws_limit = DRAWS_ALLOWED + FACTOR * max(
            len(recorder.tape.draws) for recorder in recorders
        )

    def __call__(self, records: Array, generator: Generator) -> tuple[Array, str]:
        """Return the answer to a copy of records (n, m), and in words why there is none.

        An answer that is not finite, and an exception, tell of the records as any answer does.

        Raises:
            TooManyDraws: the run draws more often than it may.
        """
        if isinstance(generator, Recorder):
            generator.tape.limit = self.draws_limit
        nothing = np.zeros(self.table)
        args = (records.copy(),) if self.hidden else (records.copy(), generator)
        try:
            answer = np.asarray(self.function(*args))
        except (Exception, SystemExit) as error:
            words = "" if self.shape else f": {checks.why(error)}"
            return nothing, f"the function raises an error, {type(error).__name__}{words}"
        if answer.dtype.kind not in "biuf" or not answer.size:
            words = f"type {answer.dtype} and shape {answer.shape}"
            return nothing, f"the function's answer has {words}"
        answer = answer.astype(float)
        if not np.abs(answer).max() <= LARGEST:
            wrong = ~(np.abs(answer) <= LARGEST)
            which = ", ".join(map(str, np.flatnonzero(wrong)[:4].tolist()))
            return (
                nothing,
                f"the function's answer is not finite, or beyond 1e100, in entry {which}",
            )
        if self.shape is None:
            self.shape = answer.shape
        if answer.shape != self.shape:
            return nothing, f"the function's answer has shape {answer.shape}"
        return answer.reshape(_table(answer.shape)), ""

    def sample(self, records: Array, seeds: Sequence[int]) -> Sample:
        """Return runs on records with bits of these seeds.

        Raises:
            TooManyDraws: a run draws more often than it may.
        """
        generators = [np.random.default_rng(seed) for seed in seeds]
        if self.many is not None and self.shape is not None:
            with contextlib.suppress(Exception):
                answers = np.asarray(self.many(records, generators), float)
                if answers.shape[1:] == self.shape and np.abs(answers).max() <= LARGEST:
                    shape = (len(answers), *self.table)
                    return Sample(answers.reshape(shape), np.full(len(answers), ""))
            generators = [np.random.default_rng(seed) for seed in seeds]
        if self.draws_limit < math.inf:
            # The same bits, and a count of the draws.
            generators = [Recorder(seed) for seed in seeds]
        results = [self(records, generator) for generator in generators]
        return Sample(
            np.stack([answer for answer, _ in results]), np.array([words for _, words in results])
        )

    def pair(self, pair: Pair, count: int, stream: Generator) -> list[Sample]:
        """Return runs on both neighbours; run k of both has the same bits."""
        seeds = stream.integers(2**63, size=count).tolist()
        return [self.sample(records, seeds) for records in pair.sides]


def _table(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape (r, c) of an answer."""
    return shape if len(shape) == 2 else (math.prod(shape), 1)


def _takes_generator(function: Callable[..., Any]) -> bool:
    """Return whether a function takes a generator as its second argument, by position.

    It does if that argument has no default, or is named ``generator`` or ``rng``.
    """
    try:
        arguments = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        raise InputError(
            "the arguments of the function are unknown; write one that calls it, as lambda "
            "records, generator: ..."
        ) from None
    second = arguments[1:2]
    names = ("generator", "rng")
    return any(one.default is one.empty or one.name in names for one in second) and all(
        one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in second
    )
