"""A Generator that lists what a function draws, and may give chosen numbers in its place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from matrixdp.checks import Array

#: Relative difference at which two parameters of a draw are equal.
EQUAL = 1e-9

#: Parameters of a draw that may depend on the records: the location of noise, and what is shuffled.
_PLACES: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("normal", "laplace", "logistic", "gumbel", "vonmises"), ("loc", "mu")
)
_PLACES |= {"multivariate_normal": ("mean",), "choice": ("a",)}
_PLACES |= dict.fromkeys(("shuffle", "permutation", "permuted"), ("x",))


class Draw(NamedTuple):
    """What a function asks of its Generator: a method, its parameters, the shape of the result."""

    method: str
    parameters: tuple[Any, ...]
    shape: tuple[int, ...]

    def differs(self, other: Draw) -> str:
        """Return in words what differs in another draw; empty where nothing does."""
        if self.method != other.method:
            return "what it draws depends on the records"
        if self.shape != other.shape:
            return "how many numbers it draws depends on the records"
        if not all(map(_equal, self.parameters, other.parameters)):
            return f"the noise's scale, a parameter of {self.method}, depends on the records"
        return ""


class TooManyDraws(BaseException):
    """A run draws more often than it may; no ``except Exception`` of a function takes it."""


class Tape:
    """What a Generator and its children have drawn.

    Args:
        noise: chosen standard normal and Laplace numbers, in the order of draws; None for random
            ones.

    Attributes:
        draws: all draws, in their order.
        laws: ``normal`` and ``laplace``, where such numbers were drawn, and how many of both.
        plain: whether nothing else was drawn, and no more numbers than were chosen.
        limit: how many draws there may be.
    """

    def __init__(self, noise: Array | None = None) -> None:
        self.draws: list[Draw] = []
        self.laws: set[str] = set()
        self.count = 0
        self.plain = True
        self.limit = math.inf
        self.generators: list[Recorder] = []
        #: Signs of exponential numbers, for which bytes must follow; without chosen numbers, zeros.
        self.signs: NDArray[np.bool_] | None = None
        self._noise = noise

    @property
    def chosen(self) -> bool:
        """Whether numbers are chosen."""
        return self._noise is not None

    @property
    def states(self) -> list[Any]:
        """States of all sources of bits."""
        return [generator.state for generator in self.generators]

    @property
    def finished(self) -> bool:
        """Whether all chosen numbers were drawn, and nothing else."""
        if not self.plain or self.signs is not None or self._noise is None:
            return False
        return not self._noise.size and not any(g.moved for g in self.generators)

    def take(self, law: str, count: int) -> Array:
        """Return the next numbers; zeros where none are chosen."""
        self.laws.add(law)
        self.count += count
        if self._noise is None or count > self._noise.size:
            self.plain &= self._noise is None
            return np.zeros(count)
        numbers, self._noise = self._noise[:count], self._noise[count:]
        return numbers


class Recorder(Generator):
    """A Generator that keeps a list of its draws, and that may give chosen numbers in their place.

    Normal and Laplace numbers are followed, also those that the library makes of an exponential
    number and a bit each, and those of children.

    Args:
        seed: seed of the bits, or their source.
        noise: see :class:`Tape`.
        tape: that of the parent, for a child.
    """

    def __init__(
        self,
        seed: int | np.random.BitGenerator,
        noise: Array | None = None,
        tape: Tape | None = None,
    ) -> None:
        super().__init__(seed if not isinstance(seed, int) else np.random.PCG64(seed))
        self.tape = Tape(noise) if tape is None else tape
        self.tape.generators.append(self)
        self._start = self.state
        self._in_bytes = False

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """The source of bits, from which draws are not recorded."""
        self.tape.plain = False
        return super().bit_generator

    @property
    def state(self) -> Any:
        """State of the source of bits."""
        return super().bit_generator.state

    @property
    def moved(self) -> bool:
        """Whether bits were taken."""
        return bool(self.state != self._start)

    def spawn(self, n_children: int) -> list[Generator]:
        """Return Generators on the same tape."""
        children = super().bit_generator.spawn(n_children)
        return [Recorder(child, tape=self.tape) for child in children]

    def record(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a method of Generator, which is recorded.

        Raises:
            TooManyDraws: there are as many draws as there may be.
        """
        tape = self.tape
        if len(tape.draws) >= tape.limit:
            raise TooManyDraws
        if self._in_bytes:
            # Bytes are made of integers.
            return getattr(Generator, method)(self, *args, **kwargs)
        signed = method == "bytes" and tape.signs is not None
        noise = method in _NOISE and method != "bytes"
        simple = signed or (noise and kwargs.keys() <= {*_NOISE[method]})
        # The numbers of multivariate_normal are recorded as standard normal ones, too.
        tape.plain &= simple or method == "multivariate_normal"
        # Exponential numbers without a sign each are no Laplace numbers.
        tape.plain &= signed or tape.signs is None
        if simple:
            terms = dict(zip(_NOISE[method], args, strict=False)) | kwargs
            result: Any = self._noise(method, terms) if tape.plain else None
        if not (simple and tape.plain and tape.chosen):
            self._in_bytes = method == "bytes"
            result = getattr(Generator, method)(self, *args, **kwargs)
            self._in_bytes = False
        places = _PLACES.get(method, ())
        others = [value for name, value in sorted(kwargs.items()) if name not in (*places, "out")]
        parameters = (*args[bool(places) :], *others)
        tape.draws.append(Draw(method, parameters, np.shape(result)))
        return result

    def _noise(self, method: str, terms: dict[str, Any]) -> Any:
        """Return chosen numbers in place of those of a method, and count them."""
        tape = self.tape
        if method == "bytes":
            signs, tape.signs = tape.signs, None
            assert signs is not None
            bits = np.packbits(signs)
            if len(bits) != terms.get("length"):
                tape.plain = False
            return bits.tobytes()
        loc, scale = terms.get("loc", 0.0), terms.get("scale", 1.0)
        out, size = terms.get("out"), terms.get("size")
        if out is not None:
            size = out.shape
        shape: Any = size
        if size is None:
            shape = np.broadcast_shapes(np.shape(loc), np.shape(scale))
        law = "laplace" if method in ("laplace", "standard_exponential") else "normal"
        numbers = tape.take(law, int(np.prod(shape)))
        if method == "standard_exponential":
            tape.signs, numbers = numbers < 0, np.abs(numbers)
        if not tape.chosen:
            return None
        if out is not None:
            out[...] = numbers.reshape(shape)
            return out
        return loc + scale * (numbers.reshape(shape) if shape != () else float(numbers[0]))


#: Methods that draw noise, and their arguments in order.
_NOISE: dict[str, tuple[str, ...]] = {
    "normal": ("loc", "scale", "size"),
    "laplace": ("loc", "scale", "size"),
    "standard_normal": ("size", "dtype", "out"),
    "standard_exponential": ("size", "dtype", "method", "out"),
    "bytes": ("length",),
}


def _recording(method: str) -> Callable[..., Any]:
    def record(self: Recorder, *args: Any, **kwargs: Any) -> Any:
        return self.record(method, args, kwargs)

    return record


for _name in vars(Generator):
    if not _name.startswith("_") and _name not in ("bit_generator", "spawn"):
        setattr(Recorder, _name, _recording(_name))


def _equal(first: Any, second: Any) -> bool:
    """Return whether two parameters are equal up to rounding."""
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=EQUAL) or (
            math.isnan(first) and math.isnan(second)
        )
    try:
        one, other = np.asarray(first, float), np.asarray(second, float)
    except (TypeError, ValueError):
        return bool(first == second)
    return one.shape == other.shape and np.allclose(one, other, rtol=EQUAL, atol=0, equal_nan=True)
