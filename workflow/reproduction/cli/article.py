"""Typeset the replication article of a run."""

from __future__ import annotations

from pathlib import Path


def run(*, results: str = "results", out: str = "") -> None:
    """Run the verb.

    Args:
        results: a run's folder; without claims there, the kept results
        out: the PDF (default: results/article.pdf)
    """
    from reproduction.report.article import build

    source = Path(results)
    if not (source / "claims.csv").is_file():
        source = build.KEPT
    build.build(source, out or Path(results, "article.pdf"))
    print(f"{out or Path(results, 'article.pdf')} shows {source}")
