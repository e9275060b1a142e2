"""Verbs: commands of people, and what the workflow's rules call.

``matrixdp VERB --help`` explains a verb. Bad input ends with one sentence and exit status 2.

A verb is a module of this package. The first line of its docstring is the help text. Parameters of
its function ``run`` are the verb's arguments; keyword-only parameters are its options. Only the
module of the verb is imported, and its dependencies only when it runs, so that jobs start quickly.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from matrixdp.version import VERSION

#: Verbs for a person's own matrix, in the order of use.
_LIBRARY = ("recommend", "release", "account")
_FILES = sorted(
    Path(__file__).parent.glob("[!_]*.py"), key=lambda file: (file.stem not in _LIBRARY, file.stem)
)

#: The help text of every verb, from the first line of its module.
VERBS = {
    file.stem: file.read_text(encoding="utf-8").partition(".")[0].strip('"') for file in _FILES
}

_DESCRIPTION = """Release a matrix of your own with differential privacy:

  matrixdp recommend people.toml   the mechanisms and their noise, from public facts alone
  matrixdp release people.toml     the private numbers, a receipt, and a charge to the account
  matrixdp account people.csv      what is spent of the file's total, and what is left

people.toml says what is released; `matrixdp release --help` shows one, docs/own_matrix.md explains
every key. The other verbs are the steps of the workflow, which `snakemake` calls.
"""

#: Options that several verbs have.
_SHARED = {
    "results": "a run's folder (default: results)",
    "seed": "root of all random streams (default: 0)",
    "mirror": "folder with the original files, looked in first (default: DATA_MIRROR)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    parser = _Parser(
        prog="matrixdp",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"matrixdp {VERSION}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, text in VERBS.items():
        added = verbs.add_parser(name, help=text, description=text)
        if words[:1] == [name]:
            module = importlib.import_module(f"{__name__}.{name}")
            run, added.description = module.run, module.__doc__
            added.formatter_class = argparse.RawDescriptionHelpFormatter
            _add_arguments(added, run)
    options = vars(parser.parse_args(words))
    verb = options.pop("verb")
    # It imports numpy, which takes a while.
    from matrixdp.checks import InputError

    try:
        run(**options)
    except InputError as error:
        print(f"matrixdp {verb}: {error}", file=sys.stderr)
        return 2
    return 0


def _add_arguments(parser: argparse.ArgumentParser, run: Callable[..., None]) -> None:
    """Add the parameters of a verb, with help from ``_SHARED`` and the lines of its docstring."""
    texts = _SHARED | dict(re.findall(r"^ +(\w+): (.+)", run.__doc__ or "", re.MULTILINE))
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


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors in one line, as the verbs do."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")
