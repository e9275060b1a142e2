"""What the commands of library and study share: a parser, and how a verb ends.

Bad input ends with one sentence and exit status 2.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that shows texts as they are written, and reports an error in one line."""

    def __init__(self, **options: object) -> None:
        options = {"formatter_class": argparse.RawDescriptionHelpFormatter, **options}
        super().__init__(**options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Report an error and exit."""
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")


class Version(argparse.Action):
    """Show the version, which is imported only here: no result depends on it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Show it and exit."""
        print(f"matrixdp {importlib.import_module('matrixdp.version').VERSION}")
        parser.exit()


def parser(program: str, description: str) -> Parser:
    """Return the parser of a program of verbs, which are yet to be added."""
    result = Parser(prog=program, description=description)
    text = "show the version and exit"
    result.add_argument("--version", action=Version, nargs=0, dest=argparse.SUPPRESS, help=text)
    return result


def perform(name: str, verb: Callable[[], None]) -> int:
    """Run a verb and return the exit status; ``name`` is that of program and verb in messages."""
    # It imports numpy, which takes a while.
    from matrixdp.checks import InputError, why

    try:
        verb()
        print(end="", flush=True)
    except InputError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is not None:
            remedy = f"{error.filename} cannot be used ({why(error)}); correct the path"
            print(f"{name}: {remedy}", file=sys.stderr)
            return 2
        # Python would write the rest of the output at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Who reads it, such as `head`, may have enough.
        if not isinstance(error, BrokenPipeError):
            sentence = f"the output cannot be written ({why(error)}); make room for it"
            print(f"{name}: {sentence}", file=sys.stderr)
            return 2
    return 0
