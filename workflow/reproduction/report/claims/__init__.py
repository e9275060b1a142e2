"""The ledger: a verdict on every claim of the papers, with its evidence.

No claim is reproduced by default. The verdicts are

- ``reproduced``: the test holds. A claim that orders rows is tested with Holm's correction over the
  claims on the same experiment, or decided by an argument without trials. An exact claim needs
  every number within its tolerance. Identically distributed rows are decided by identity;
- ``not reproduced``: the test shows the opposite;
- ``narrower``: the test fails or is undecided, but clearly holds under the ``condition`` beside
  the verdict;
- ``undecided``: the interval covers 0, there are too few trials, or the test was not run;
- ``untestable here``: a claim about data, on simulated data.

A verdict says what happened. What it tells stands beside it, by controls that are corrected over
all claims (:mod:`reproduction.report.claims.controls`): whether the same noise on records of zeros
gives most of the effect (``alike``), whether a baseline that costs no privacy meets the claim too
(``met_by``) or is better than its subject (``beaten_by``), and what becomes of amounts in the unit
that we suspect.
"""
