"""Typeset the replication article of a run."""

from __future__ import annotations

from collections.abc import Sequence


def run(files: Sequence[str] = (), *, results: str = "", out: str = "") -> None:
    """Run the verb.

    Args:
        files: what it is made from, settings.yaml of the run among them
        results: or the folder of a run; without both, the kept results are typeset
        out: the PDF (default: article.pdf beside settings.yaml, or results/kept/article.pdf)
    """
    from reproduction.report import inputs
    from reproduction.report.article import build

    of_run = (
        inputs.files_by_name(files) if files else build.files_of_run(results) if results else {}
    )
    out = out or str(of_run["settings"].with_name("article.pdf") if of_run else build.KEPT_ARTICLE)
    print(f"{out} shows {build.build(of_run or inputs.files_of_folder(build.KEPT), out)}")
