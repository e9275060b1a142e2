"""Checks of input, with errors of one sentence: the name, the value, and the allowed values.

Every check takes the value as one keyword, so that the message can name it. It returns the value
in the type that the caller needs::

    >>> positive(epsilon=-1)
    Traceback (most recent call last):
    ...
    matrixdp.checks.InputError: epsilon is -1; it must be a finite number above 0
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Number
from typing import Any, SupportsFloat, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: Limits of ranges and norms: sensitivities contain fourth powers of them.
SMALLEST, LARGEST = 1e-70, 1e70


class InputError(ValueError):
    """Input that cannot be used; the message is one sentence that names the remedy.

    >>> mdp.Ball(-1.0, features=2)
    Traceback (most recent call last):
    ...
    matrixdp.checks.InputError: radius is -1.0; it must be a finite number above 0
    """


#: What helps against an error of reading a file, where its type says so.
_REMEDIES = {
    UnicodeDecodeError: "save it as UTF-8",
    FileNotFoundError: "correct the path",
    IsADirectoryError: "give a file, not a folder",
    PermissionError: "get leave to read it",
    MemoryError: "free some memory, or give a smaller one",
}


@contextlib.contextmanager
def as_input_error(sentence: str, remedy: str = "") -> Iterator[None]:
    """Turn any error of a parser or a reader into an InputError; an InputError passes unchanged.

    The new error does not hold the other one.

    Args:
        sentence: the message; ``{why}`` in it is replaced by the reason.
        remedy: end of the message, where the type of the error does not say what helps.
    """
    try:
        yield
        return
    except InputError:
        raise
    except Exception as error:
        text = sentence.replace("{why}", why(error))
        if remedy:
            helps = (text for kind, text in _REMEDIES.items() if isinstance(error, kind))
            text += f"; {next(helps, remedy)}"
    refusal = InputError(text)
    try:
        raise refusal
    finally:
        # The error may hold what was read, which may be private.
        refusal.__context__ = None


def why(error: BaseException) -> str:
    """Return the reason of an error, in a few words on one line."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    mark = getattr(error, "problem_mark", None)
    text = f"line {mark.line + 1}: {getattr(error, 'problem', '')}" if mark else str(error)
    return short(" ".join(text.split()).rstrip(".") or type(error).__name__, 200)


def short(text: str, most: int = 100) -> str:
    """Return a text; without its middle if it has more than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 30]}...{text[-25:]}"


def shown(value: object) -> str:
    """Return what a message shows of an argument: a number or a text.

    Of all else it is the type and the size: whatever argument it is, it may hold records, also a
    short list, or a table of a record's values by column. :func:`shown_public` shows more.
    """
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if value is None or isinstance(value, str | bytes | bool | Number):
        return short(_shown_number(value) if isinstance(value, int) else repr(value))
    kind = "array" if isinstance(value, np.ndarray) else type(value).__name__
    if isinstance(value, list | tuple | dict):
        return f"a {kind} of {len(value)}" if value else f"an empty {kind}"
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    shape = getattr(value, "shape", None)
    return f"{article} {kind}" + f" of shape {shape}" * isinstance(shape, tuple)


def shown_public(value: object) -> str:
    """Return what a message shows of an argument that holds no records, as a pair of bounds.

    It is a list of up to three numbers and texts as it is, else what :func:`shown` returns.
    """
    is_short = isinstance(value, list | tuple) and 0 < len(value) <= 3
    if is_short and all(isinstance(item, Number | str) for item in cast(list, value)):
        return short(repr(value))
    return shown(value)


def _shown_number(value: int) -> str:
    """Return a whole number; Python writes none of more than some thousand digits."""
    return repr(value) if value.bit_length() < 1 << 12 else "a number of over 1,000 digits"


def plural(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 record``, ``2 records``."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _single(argument: dict) -> tuple[str, object]:
    ((name, value),) = argument.items()
    return name, value


def _number(argument: dict, allowed: str, is_valid: Callable[[float], bool]) -> float:
    name, value = _single(argument)
    if not isinstance(value, str | bytes | bool | None):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            decimal: object = value
            if isinstance(value, np.floating) and value.dtype.itemsize < 8:
                # The decimal that people state, as .1, which is another float64 than this float.
                decimal = np.format_float_scientific(value)
            number = float(cast(SupportsFloat, decimal))
            if is_valid(number):
                return number
    raise InputError(f"{name} is {shown(value)}; it must be {allowed}")


def positive(**argument: object) -> float:
    """Return the value if it is a finite number above 0."""
    return _number(argument, "a finite number above 0", lambda x: 0 < x < np.inf)


def size(**argument: object) -> float:
    """Return the value if it is a finite number above 0 whose fourth power float64 can hold."""
    name, _ = _single(argument)
    number = positive(**argument)
    if not SMALLEST <= number <= LARGEST:
        raise InputError(
            f"{name} is {number:g}; choose a unit in which it is from {SMALLEST:g} to {LARGEST:g}"
        )
    return number


def not_negative(**argument: object) -> float:
    """Return the value if it is a finite number of at least 0."""
    return _number(argument, "a finite number of at least 0", lambda x: 0 <= x < np.inf)


def finite(**argument: object) -> float:
    """Return the value if it is a finite number."""
    return _number(argument, "a finite number", lambda x: -np.inf < x < np.inf)


def open_unit(**argument: object) -> float:
    """Return the value if it lies strictly between 0 and 1."""
    return _number(argument, "a number strictly between 0 and 1", lambda x: 0 < x < 1)


def delta(**argument: object) -> float:
    """Return the value if it is 0, of a pure guarantee, or lies strictly between 0 and 1."""
    return _number(argument, "0 or a number strictly between 0 and 1", lambda x: 0 <= x < 1)


def flag(**argument: object) -> bool:
    """Return the value if it is true or false."""
    name, value = _single(argument)
    if not isinstance(value, bool | np.bool):
        raise InputError(f"{name} is {shown(value)}; it must be true or false")
    return bool(value)


def fraction(**argument: object) -> float:
    """Return the value if it is above 0 and at most 1."""
    return _number(argument, "a number above 0 and at most 1", lambda x: 0 < x <= 1)


def count(**argument: object) -> int:
    """Return the value if it is a whole number of at least 1, of those that float64 can count."""
    allowed = "a whole number of at least 1, and below 2^53"
    return int(_number(argument, allowed, lambda x: 1 <= x < 2**53 and x.is_integer()))


def choice(allowed: Iterable[str], **argument: object) -> str:
    """Return the value if it is one of ``allowed``; the message names the nearest one."""
    name, value = _single(argument)
    options = [str(option) for option in allowed]
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{name} is {shown(value)}; {nearest(value, options)}")
    return str(value)


def columns(allowed: Iterable[object], *, table: str = "", **argument: object) -> None:
    """Check that a column, or each key of a table by column, is one of ``allowed``.

    This is the one remedy of all keys that name columns whose names are stated elsewhere.

    Args:
        allowed: names of columns.
        table: key that states them, to which another one can be added; empty where none can.
        argument: the key with its value.

    Raises:
        InputError: one is another column; the message names the nearest.
    """
    name, value = _single(argument)
    options = [*allowed]
    for column in value if isinstance(value, Mapping) else [value]:
        if column not in options:
            verb = "has the column" if isinstance(value, Mapping) else "is"
            more = f"; or state {table}.{column} too" * bool(table)
            raise InputError(f"{name} {verb} {shown(column)}; {nearest(column, options)}{more}")


def text(**argument: object) -> str:
    """Return the value if it is a text on one line, which can be stored and printed."""
    name, value = _single(argument)
    if not isinstance(value, str) or not value or not value.isprintable():
        raise InputError(
            f"{name} is {shown(value)}; it must be a text on one line, with a backslash in single "
            "quotes alone"
        )
    return value


def nearest(value: object, allowed: Iterable[object]) -> str:
    """Return the end of a message: the valid name closest to ``value``, and all valid names."""
    options = [str(option) for option in allowed]
    near = difflib.get_close_matches(str(value), options, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? It" if near else "it"
    return f"{hint} must be one of {', '.join(options)}"


def has_text(values: NDArray[Any]) -> bool:
    """Return whether an entry of an array is a text, of which numpy would make a number."""
    if values.dtype.kind == "O":
        return any(isinstance(value, str | bytes) for value in values.flat)
    return values.dtype.kind in "SUT"


def array(*, shape: Sequence[int | None] | None = None, **argument: ArrayLike) -> Array:
    """Return the value as finite float64; ``shape`` fixes the trailing axes (None: any length)."""
    name, value = _single(argument)
    try:
        result = np.asarray(value, dtype=np.float64)
        if has_text(np.asarray(value)):
            raise ValueError
    except (TypeError, ValueError):
        raise InputError(f"{name} is {shown(value)}; it must be an array of numbers") from None
    if shape is not None:
        trailing = result.shape[result.ndim - len(shape) :] if result.ndim >= len(shape) else ()
        if len(trailing) != len(shape) or any(
            required is not None and actual != required
            for actual, required in zip(trailing, shape, strict=True)
        ):
            expected = " x ".join("any" if size is None else str(size) for size in shape)
            raise InputError(f"{name} has shape {result.shape}; it must end in {expected}")
    # A sum is finite only if every entry is, and costs one pass without a temporary array.
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(result.sum()) and not np.isfinite(result).all():
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
            raise InputError(f"{name} is {result[index]} at index {index}; entries must be finite")
    return result


def shares(**argument: ArrayLike) -> Array:
    """Return precision or budget shares if each is positive and they sum to 1 (within 1e-9)."""
    name, _ = _single(argument)
    theta = array(shape=(None,), **argument)
    if theta.ndim != 1 or not (theta > 0).all():
        raise InputError(f"{name} is {shown_public(theta.tolist())}; every share must be above 0")
    if abs(theta.sum() - 1) > 1e-9:
        raise InputError(f"{name} sums to {theta.sum():.12g}; the shares must sum to 1")
    return theta / theta.sum()


def orthonormal(**argument: ArrayLike) -> Array:
    """Return directions, one per column, if they form an orthonormal basis (within 1e-8).

    The result is corrected to an exact basis, for which noise along the directions is private.
    """
    name, _ = _single(argument)
    basis = array(shape=(None, None), **argument)
    if basis.ndim != 2 or basis.shape[0] != basis.shape[1]:
        raise InputError(f"{name} has shape {basis.shape}; it must be a square matrix")
    gram = basis.T @ basis
    error = np.abs(gram - np.eye(len(basis))).max()
    if not error <= 1e-8:
        raise InputError(
            f"{name} is off an orthonormal basis by {error:.3g}; its columns must be orthonormal"
        )
    # A step of Newton's method for the nearest orthogonal matrix squares the error.
    return np.asarray(basis @ (1.5 * np.eye(len(basis)) - gram / 2))


def budget(**argument: object) -> float:
    """Return the value if it is an epsilon for calibration: a number above 0 and not tiny."""
    name, _ = _single(argument)
    number = positive(**argument)
    if number < 1e-100:
        raise InputError(
            f"{name} is {number!r}; choose one nearer to 1, as none below 1e-100 is computed with"
        )
    return number


def privacy(epsilon: object, delta: object) -> tuple[float, float]:
    """Return (epsilon, delta) of a guarantee for calibration: epsilon > 0, 0 < delta < 1."""
    return budget(epsilon=epsilon), open_unit(delta=delta)
