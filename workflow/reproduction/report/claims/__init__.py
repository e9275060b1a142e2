"""The ledger: a verdict on every claim of the papers, with its evidence.

No claim is reproduced by default. The verdicts are

- ``reproduced``: the test holds. A claim that orders rows is tested with Holm's correction over the
  claims on the same experiment, or decided by an argument without trials. An exact claim needs
  every number within its tolerance. Identically distributed rows are decided by identity;
- ``not reproduced``: the test shows the opposite;
- ``narrower``: the test fails or is undecided, but clearly holds under the ``condition`` beside
  the verdict, or in the other private reading of the papers that it names;
- ``undecided``: the interval covers 0, there are too few trials, or the test was not run;
- ``untestable here``: a claim about data, on simulated data.

A verdict says what happened. What it tells stands beside it, by controls that are corrected over
all claims (:mod:`reproduction.report.claims.controls`): whether the same noise on records of zeros
gives most of the effect (``alike``), whether a baseline that costs no privacy meets the claim too
(``met_by``) or is better than its subject (``beaten_by``), and what becomes of amounts in the unit
that we suspect.
"""

from __future__ import annotations

import os

from reproduction.files import write_text
from reproduction.report import inputs
from reproduction.report.claims import definitions
from reproduction.report.claims.definitions import Vocabulary
from reproduction.report.claims.judge import Judge
from reproduction.report.inputs import Files


def write(
    files: Files,
    out: str | os.PathLike,
    comparisons: str | os.PathLike,
    *,
    vocabulary: Vocabulary,
    path: str | os.PathLike = definitions.FILE,
) -> None:
    """Write the verdicts on the claims, and the comparisons behind them, as CSV.

    Args:
        files: files of the run by name.
        out: the verdicts.
        comparisons: the comparisons.
        vocabulary: names that claims may use.
        path: file of the claims (:func:`reproduction.report.claims.definitions.read`).
    """
    settings = inputs.read("settings", files)
    judge = Judge(files, epsilon=settings["table_epsilon"])
    tables = judge.judge(definitions.read(vocabulary, path))
    for file, table in zip((out, comparisons), tables, strict=True):
        write_text(file, table.to_csv(index=False, lineterminator="\n"))
