"""Commands of verbs: a package of modules, each with a function ``run``.

Bad input ends with one sentence and exit status 2. The first line of a module's docstring is the
help text of its verb. Parameters of ``run`` are the verb's arguments; keyword-only parameters are
its options. Only the module of the verb is imported, and its dependencies only when it runs, so
that a verb starts quickly.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn


def texts(files: Iterable[Path]) -> dict[str, str]:
    """Return the help texts of verbs by name, from the first lines of their modules."""
    return {
        file.stem.replace("_", "-"): file.read_text(encoding="utf-8").partition(".")[0].strip('"')
        for file in files
    }


def call(
    words: Sequence[str],
    program: str,
    package: str,
    verbs: Mapping[str, str],
    description: str,
    shared: Mapping[str, str] | None = None,
    around: Callable[[], contextlib.AbstractContextManager] = contextlib.nullcontext,
) -> int:
    """Run one verb of a package of verbs and return the exit status.

    Args:
        words: the verb and its arguments.
        program: name of the program, which messages use.
        package: the package whose modules are the verbs.
        verbs: help texts by verb.
        description: help text of the program.
        shared: help texts of options that several verbs have.
        around: what makes the context that the verb runs in.
    """
    parser = _Parser(
        prog=program,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    text = "show the version and exit"
    parser.add_argument("--version", action=_Version, nargs=0, dest=argparse.SUPPRESS, help=text)
    parsers = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, text in verbs.items():
        added = parsers.add_parser(name, help=text, description=text)
        if words[:1] == [name]:
            module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
            run, added.description = module.run, module.__doc__
            added.formatter_class = argparse.RawDescriptionHelpFormatter
            _add_arguments(added, run, shared or {})
    options = vars(parser.parse_args(words))
    verb = options.pop("verb")
    # It imports numpy, which takes a while.
    from matrixdp.checks import InputError, why

    try:
        with around():
            run(**options)
        print(end="", flush=True)
    except InputError as error:
        print(f"{program} {verb}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.filename is not None:
            remedy = f"{error.filename} cannot be used ({why(error)}); correct the path"
            print(f"{program} {verb}: {remedy}", file=sys.stderr)
            return 2
        # Python would write the rest of the output at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Who reads it, such as `head`, may have enough.
        if not isinstance(error, BrokenPipeError):
            sentence = f"the output cannot be written ({why(error)}); make room for it"
            print(f"{program} {verb}: {sentence}", file=sys.stderr)
            return 2
    return 0


def _add_arguments(
    parser: argparse.ArgumentParser, run: Callable[..., None], shared: Mapping[str, str]
) -> None:
    """Add the parameters of a verb, with help from ``shared`` and the lines of its docstring."""
    texts = {**shared, **dict(re.findall(r"^ +(\w+): (.+)", run.__doc__ or "", re.MULTILINE))}
    for name, parameter in inspect.signature(run).parameters.items():
        required, text = parameter.default is parameter.empty, texts.get(name)
        if parameter.annotation == "Sequence[str]":
            count = "+" if required else "*"
            parser.add_argument(name, nargs=count, metavar=name.removesuffix("s"), help=text)
        elif parameter.kind != parameter.KEYWORD_ONLY:
            parser.add_argument(name, help=text)
        elif parameter.annotation == "bool":
            spelled = name.replace("_", "-")
            parser.add_argument(f"--{spelled}", action="store_true", help=text)
        else:
            kind = _seed if name == "seed" else str
            options = {"required": required, "default": parameter.default, "type": kind}
            parser.add_argument(f"--{name}", help=text, **options)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


class _Version(argparse.Action):
    """Show the version, which is imported only here: no result depends on it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"matrixdp {importlib.import_module('matrixdp.version').VERSION}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors in one line, as the verbs do."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")
