"""The ledger: a verdict on every claim of the papers, with its evidence.

No claim is reproduced by default. The verdicts are

- ``reproduced``: the test holds. A claim that orders rows is tested with Holm's correction over the
  claims on the same experiment, or decided by an argument without trials. An exact claim needs
  every number within its tolerance. Identically distributed rows are decided by identity;
- ``not reproduced``: the test shows the opposite;
- ``reproduced only under <reading>``: the test fails or is undecided, but clearly holds under
  another private reading of the papers;
- ``uninformative``: a baseline that costs no privacy meets the claim too. Or the same noise without
  data gives the same verdict. Or the claim fails in a unit that the paper hardly meant;
- ``undecided``: the interval covers 0, there are too few trials, or the test was not run;
- ``untestable here``: a claim about data, on simulated data.
"""

from __future__ import annotations

import os
from pathlib import Path

from reproduction import files, places
from reproduction.report import inputs
from reproduction.report.claims import ledger
from reproduction.report.claims.judge import Judge
from reproduction.report.claims.ledger import Vocabulary


def write(
    results: str | os.PathLike, *, vocabulary: Vocabulary, path: str | os.PathLike = ledger.FILE
) -> None:
    """Write claims.csv and tables/claims_comparisons.csv of a run.

    Args:
        results: folder of the run, which is read and written.
        vocabulary: names that claims may use.
        path: file of the claims (:func:`reproduction.report.claims.ledger.read`).
    """
    settings = inputs.read("settings", results)
    experiments = {**settings["experiments"], **(settings.get("training") or {})}
    judge = Judge(results, experiments=experiments, epsilon=settings["table_epsilon"])
    for name, table in zip(
        ("claims", "tables/claims_comparisons"),
        judge.judge(ledger.read(vocabulary, path)),
        strict=True,
    ):
        text = table.to_csv(index=False, lineterminator="\n")
        files.write_text(places.place(name, Path(results)), text)
