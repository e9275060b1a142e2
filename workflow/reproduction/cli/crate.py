"""Describe the files of a run for programs that read: an RO-Crate."""

from __future__ import annotations

from collections.abc import Sequence


def run(files: Sequence[str], *, results: str = "results", out: str) -> None:
    """Run the verb.

    Args:
        files: files of the run, all below its folder
        out: ro-crate-metadata.json
    """
    from reproduction.report.page import crate

    crate.write(results, files, out)
