"""The verbs that the workflow's rules call; each is also a person's command.

``python -m matrixdp VERB --help`` explains a verb. Bad input ends with one sentence and exit
status 2. A verb is the module of its name here, with ``add(parser)`` and ``run(options)``; of the
others nothing is imported, and what a verb needs only when it runs: every job starts quickly.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from matrixdp.checks import InputError

VERBS = {
    "data": "fetch, check and prepare a data set",
    "refresh": "try again for originals where data are simulated, or say where they are",
    "trials": "run mechanisms of an experiment, all epsilons and trials",
    "sweep": "run an experiment under all its readings",
    "extract": "train a feature extractor and write its features",
    "train": "train under one scheme, all epsilons and trials",
    "summary": "summarise an experiment's trials to one row per cell, and compare the rows",
    "audit": "judge the privacy of an experiment's mechanisms, or try known mistakes",
    "theory": "compute what needs no data set",
    "judge": "judge the papers' claims",
    "table": "write tables",
    "figure": "draw figures and write the data that they show, or draw all kept ones again",
    "report": "put everything that a run has made on one page",
    "timing": "sum the jobs' run times in one table",
    "verify": "compare a run with the kept results of a full one",
    "keep": "keep a full run on original data as the reference",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _Parser(prog="matrixdp", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, text in VERBS.items():
        added = verbs.add_parser(name, help=text, description=text)
        if words[:1] == [name]:
            module = importlib.import_module(f"{__name__}.{name}")
            module.add(added)
            added.set_defaults(run=module.run)
    options = parser.parse_args(words)
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
