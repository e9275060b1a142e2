"""Run an experiment under all its readings."""

from __future__ import annotations

from pathlib import Path


def run(experiment: str, *, results: str = "results", out: str) -> None:
    """Run the verb.

    Args:
        out: one row per mechanism and reading, CSV; the trials behind them go beside it
    """
    from matrixdp import config, dependence, files, sources, stamps, trials
    from matrixdp.experiments import study
    from matrixdp.report import specifications

    settings = config.read(results)
    part = dependence.swept(settings, experiment)
    folder = Path(results, "data", part["dataset"])
    file = specifications.trials_of(out)
    code = dependence.code_of(settings, "cli/sweep.py", experiment)
    made = sources.stamp([part, stamps.of_data(folder), code, dependence.choices()])
    if not files.restored(made, file):
        trials.write(study.specifications(part, config.rows(settings, experiment), folder), file)
        files.keep(made, file)
    specifications.write([file], out)
