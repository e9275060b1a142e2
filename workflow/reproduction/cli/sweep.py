"""Run an experiment under all its readings."""

from __future__ import annotations

from pathlib import Path


def run(*, settings: str, data: str, out: str, trials: str) -> None:
    """Run the verb.

    Args:
        settings: settings that the rows depend on, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per mechanism and reading, CSV
        trials: one row per trial, .csv.gz
    """
    from reproduction import parts
    from reproduction import trials as tidy
    from reproduction.experiments import study
    from reproduction.report import all_readings

    part = parts.read(settings)
    rows = study.all_readings(part, part["mechanisms"], Path(data).parent)
    tidy.write(tidy.assigned(rows, settings=parts.digest(settings)), trials)
    all_readings.write([trials], out)
