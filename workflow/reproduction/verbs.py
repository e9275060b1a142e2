"""How the words of a command become the arguments of a verb: a module with a function ``run``.

The first line of a module's docstring is the help text of its verb. Parameters of ``run`` are the
verb's arguments; keyword-only parameters are its options. Only the module of the verb is imported,
and its dependencies only when it runs, so that a verb starts quickly.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from matrixdp import commands


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
    shared: Mapping[str, str],
) -> int:
    """Run one verb of a package of verbs and return the exit status.

    Args:
        words: the verb and its arguments.
        program: name of the program, which messages use.
        package: the package whose modules are the verbs.
        verbs: help texts by verb.
        description: help text of the program.
        shared: help texts of options that several verbs have.
    """
    parser = commands.parser(program, description)
    parsers = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, text in verbs.items():
        added = parsers.add_parser(name, help=text, description=text)
        if words[:1] == [name]:
            module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
            run, added.description = module.run, module.__doc__
            _add_arguments(added, run, shared)
    options = vars(parser.parse_args(words))
    return commands.perform(f"{program} {options.pop('verb')}", lambda: run(**options))


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
