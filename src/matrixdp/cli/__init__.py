"""Verbs for a person's own matrix; ``matrixdp VERB --help`` explains one.

Bad input ends with one sentence and exit status 2. A verb is a module of this package. The first
line of its docstring is the help text. Parameters of its function ``run`` are the verb's arguments;
keyword-only parameters are its options. Only the module of the verb is imported, and its
dependencies only when it runs, so that a verb starts quickly.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import difflib
import importlib
import inspect
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

#: The verbs, in the order of use.
_NAMES = ("recommend", "bounds", "release", "account")

_DESCRIPTION = f"""Release a matrix of your own with differential privacy:

  matrixdp recommend people.toml   the mechanisms and their noise, from public facts alone
  matrixdp bounds limits.toml      bounds of columns where nobody knows any, by a release of its own
  matrixdp release people.toml     the private numbers, a receipt, and a charge to the account
  matrixdp account people.csv      what is spent of the file's total, and what is left

people.toml says what is released; `matrixdp release --help` shows one. Every key is explained in
{Path(__file__).parents[1] / "own_matrix.md"}
"""


def texts(files: Iterable[Path]) -> dict[str, str]:
    """Return the help texts of verbs by name, from the first lines of their modules."""
    return {
        file.stem.replace("_", "-"): file.read_text(encoding="utf-8").partition(".")[0].strip('"')
        for file in files
    }


#: The help text of every verb.
VERBS = texts(Path(__file__).with_name(f"{name}.py") for name in _NAMES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    if words and words[0] not in VERBS and not words[0].startswith("-"):
        print(f"matrixdp: {_no_verb(words[0])}", file=sys.stderr)
        return 2
    return call(words, "matrixdp", __name__, VERBS, _DESCRIPTION, isolated=True)


def escape_output() -> None:
    """Have characters that the terminal cannot show printed as JSON and TOML escape them.

    Otherwise the answer of a charged release could end in an error of the terminal.
    """
    codecs.register_error("escape", _escaped)
    for stream in (sys.stdout, sys.stderr):
        # What stands in place of a stream may show every character.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="escape")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return the escapes of the characters of an error, and the place behind them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    codes = map(ord, error.object[error.start : error.end])
    return "".join(
        f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}" for code in codes
    ), error.end


def show(content: Mapping[str, Any]) -> None:
    """Print one JSON object, as verbs do under ``--json``."""
    print(json.dumps(_finite(content), indent=2, allow_nan=False, default=float))


def note(sentences: Iterable[str]) -> None:
    """Print notes for the owner of the records, on stderr."""
    for sentence in sentences:
        print(f"note: {sentence}", file=sys.stderr)


def _finite(content: Any) -> Any:
    """Return content with null for numbers that JSON has not."""
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _no_verb(word: str) -> str:
    """Return a sentence on a word that is no verb: the nearest one, or that of the study."""
    known = ", ".join(VERBS)
    if near := difflib.get_close_matches(word, VERBS, n=1):
        return f"{word!r} is no verb; did you mean {near[0]!r}? It must be one of {known}"
    sentence = f"{word!r} is no verb of the library, which has {known} (see `matrixdp --help`)"
    if word.lower().endswith(".toml"):
        return f"{sentence}; write `matrixdp release {word}`"
    if not word.isidentifier():
        return sentence
    return (
        f"{sentence}; a verb of the study runs in the project's folder, after `make`, as "
        f"`.venv/bin/python -m reproduction {word}`"
    )


def call(
    words: Sequence[str],
    program: str,
    package: str,
    verbs: Mapping[str, str],
    description: str,
    shared: Mapping[str, str] | None = None,
    isolated: bool = False,
) -> int:
    """Run one verb of a package of verbs and return the exit status.

    Args:
        words: the verb and its arguments.
        program: name of the program, which messages use.
        package: the package whose modules are the verbs.
        verbs: help texts by verb.
        description: help text of the program.
        shared: help texts of options that several verbs have.
        isolated: whether the verb runs as every door of the library, see
            :mod:`matrixdp.isolation`.
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
    from matrixdp.isolation import Isolation

    try:
        with Isolation() if isolated else contextlib.nullcontext():
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
