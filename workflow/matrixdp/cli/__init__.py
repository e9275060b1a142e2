"""The verbs that the workflow's rules call; each is also a person's command.

``python -m matrixdp VERB --help`` explains a verb. Bad input ends with one sentence and exit
status 2. What a verb needs is imported when it runs, so that every job starts quickly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from matrixdp.checks import InputError
from matrixdp.cli import data, pages, studies, tables, training


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        # Parallelism is over jobs; BLAS threads on top of them only fight for the cores.
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            options.run(options)
    except InputError as error:
        print(f"matrixdp {options.verb}: {error}", file=sys.stderr)
        return 2
    return 0


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as the verbs do."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="matrixdp", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(
        name: str, run: Callable[[argparse.Namespace], None], text: str
    ) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    for theme in (data, studies, training, tables, pages):
        theme.add(verb)
    return parser
