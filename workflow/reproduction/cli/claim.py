"""Judge one claim of the papers on its own rows, and print what decides it."""

from __future__ import annotations

from collections.abc import Sequence


def run(claim: str, files: Sequence[str], *, settings: str, out: str, kept: str = "") -> None:
    """Run the verb.

    Args:
        claim: identifier of the claim, such as M16
        files: what it is judged on, settings.yaml of the run among them
        settings: a JSON object with the settings of the summary of each of its experiments
        out: the verdict, text
        kept: folder of kept results (default: none)
    """
    import json
    from pathlib import Path

    from reproduction.cli.claims import names
    from reproduction.files import write_text
    from reproduction.report import inputs
    from reproduction.report.claims import definitions, one

    by_name = inputs.files_by_name(files)
    every = definitions.read_definitions(names(inputs.read_input("settings", by_name)))
    (chosen,) = (each for each in every if each.id == claim)
    beside = inputs.files_of_folder(kept) if kept else {}
    write_text(Path(out), one.verdict(chosen, by_name, json.loads(settings), beside))
