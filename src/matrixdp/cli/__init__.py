"""Verbs for a person's own matrix; ``matrixdp VERB --help`` explains one.

A verb is a module of this package, with functions ``add_arguments`` and ``run``. The first sentence
of its docstring is its help text. What it depends on is imported only when it runs.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from matrixdp import commands
from matrixdp.cli import account, bounds, recommend, release

#: The modules of the verbs, in the order of use.
VERBS = {"recommend": recommend, "bounds": bounds, "release": release, "account": account}

_DESCRIPTION = f"""Release a matrix of your own with differential privacy:

  matrixdp recommend people.toml   the mechanisms and their noise, from public facts alone
  matrixdp bounds limits.toml      bounds of columns where nobody knows any, by a release of its own
  matrixdp release people.toml     the private numbers, a receipt, and a charge to the account
  matrixdp account people.csv      what is spent of the file's total, and what is left

people.toml says what is released; `matrixdp release --help` shows one. Every key is explained in
{Path(__file__).parents[1] / "own_matrix.md"}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    if words and words[0] not in VERBS and not words[0].startswith("-"):
        print(f"matrixdp: {_no_verb(words[0])}", file=sys.stderr)
        return 2
    parser = commands.parser("matrixdp", _DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, module in VERBS.items():
        # Python has no docstring with -OO.
        text = module.__doc__ or name
        added = verbs.add_parser(name, help=text.partition(".")[0], description=text)
        module.add_arguments(added)
        added.add_argument(
            "--json", action="store_true", help="print one JSON object instead of text"
        )
        added.set_defaults(run=module.run)
    options = vars(parser.parse_args(words))
    verb, run = options.pop("verb"), options.pop("run")

    def isolated() -> None:
        # Every door of the library has an arithmetic of its own; its import takes a while.
        from matrixdp.isolation import Isolation

        with Isolation():
            run(**options)

    return commands.perform(f"matrixdp {verb}", isolated)


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
