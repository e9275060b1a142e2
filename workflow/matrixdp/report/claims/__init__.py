"""The ledger: a verdict on every claim of the papers, and what it rests on.

Nothing is taken as reproduced by default. The verdicts are

- ``reproduced``: the test holds (ordering claims: after Holm's correction over the claims on one
  experiment, or by an argument whatever the trials; exact claims: every number, within its
  tolerance; rows that are one law of noise: by identity);
- ``not reproduced``: the test says the opposite;
- ``reproduced only under <reading>``: it fails, or is undecided, but surely holds in another
  private reading of the papers;
- ``uninformative``: a baseline that costs no privacy meets the claim too; the same noise without
  data meets it or fails it alike; or it fails in a unit that the paper hardly meant;
- ``undecided``: the interval covers 0, there are too few trials, or the test was not run;
- ``untestable here``: a claim about data, on simulated data.
"""

from __future__ import annotations

import os
from pathlib import Path

from matrixdp import files, places
from matrixdp.report import inputs
from matrixdp.report.claims import ledger
from matrixdp.report.claims.judge import Judge
from matrixdp.report.claims.ledger import Vocabulary


def write(
    results: str | os.PathLike, *, vocabulary: Vocabulary, path: str | os.PathLike = ledger.FILE
) -> None:
    """Write claims.csv and tables/claims_comparisons.csv of a run.

    ``results`` is the run's folder, which is read and written. ``vocabulary`` has the names that
    claims may use. ``path`` is the file of claims (:func:`matrixdp.report.claims.ledger.read`).
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
