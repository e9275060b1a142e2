"""Typeset the replication article of a run."""

from __future__ import annotations

from collections.abc import Sequence


def run(files: Sequence[str] = (), *, out: str = "results/article.pdf") -> None:
    """Run the verb.

    Args:
        files: what it is made from, settings.yaml of the run among them; none: the kept results
        out: the PDF (default: results/article.pdf)
    """
    from reproduction.report import inputs
    from reproduction.report.article import build

    build.build(inputs.by_name(files) if files else inputs.below(build.KEPT), out)
    if not files:
        print(f"{out} shows {build.KEPT}")
