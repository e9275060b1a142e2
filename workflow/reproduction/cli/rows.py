"""Join what is known of an experiment's rows in one frame."""

from __future__ import annotations

from collections.abc import Sequence


def run(files: Sequence[str], *, settings: str, out: str) -> None:
    """Run the verb.

    Args:
        files: summary and comparisons of an experiment, what else is known of its rows, and trial
            files, which means on shared trials need
        settings: a JSON object with the experiment, the tables' epsilon, and by scheme that is not
            run the one whose rows it has (same_as)
        out: one line per row, CSV, in a folder beside those of the files
    """
    from pathlib import Path

    from reproduction import job_settings
    from reproduction.report import inputs, rows

    job, by_name = (
        job_settings.load_settings(settings),
        inputs.files_by_name(files, Path(out).parents[1]),
    )
    rows.write_rows(
        job["experiment"],
        inputs.Run(by_name),
        out,
        epsilon=float(job["table_epsilon"]),
        trials=[path for name, path in by_name.items() if name.startswith("trials/")],
        same_as=job["same_as"],
    )
