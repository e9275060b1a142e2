"""Describe the files of a run for programs that read: an RO-Crate."""

from __future__ import annotations

from collections.abc import Sequence


def run(files: Sequence[str], *, out: str) -> None:
    """Run the verb.

    Args:
        files: files of the run, all in the folder of settings.yaml, which is one of them
        out: ro-crate-metadata.json
    """
    from reproduction.report import inputs
    from reproduction.report.page import crate

    crate.write_crate(inputs.files_by_name(files)["settings"].parent, files, out)
