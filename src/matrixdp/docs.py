"""Docstrings of public classes whose arguments a base without a public name explains."""

from __future__ import annotations

import inspect


def inherit_arguments(cls: type, base: type) -> None:
    """Append the arguments and errors in the docstring of ``base`` to that of ``cls``, for help."""
    # Python has none with -OO.
    if "__doc__" not in vars(cls) or not (cls.__doc__ and base.__doc__):
        return
    _, heading, arguments = inspect.cleandoc(base.__doc__).partition("Args:\n")
    cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\n{heading}{arguments}\n"
