"""The audit of one mechanism in one experiment: a row per configuration and epsilon."""

from __future__ import annotations

from matrixdp import checks, status
from matrixdp.auditing.releases import NO_LIMITS, Limits, judge_release
from matrixdp.privacy.sensitivity import Query
from matrixdp.status import NO_GUARANTEE, NOT_RUN, REFUTED
from reproduction import discovery
from reproduction.auditing.table import COLUMNS as COLUMNS
from reproduction.experiments import study
from reproduction.experiments.study import Calibration, Settings, calibrate_all
from reproduction.seeds import streams


def run(
    mechanism: str, queries: dict[str, Query], settings: Settings, limits: Limits = NO_LIMITS
) -> list[dict[str, object]]:
    """Return one row per configuration and epsilon of a mechanism, with the columns ``COLUMNS``.

    Args:
        mechanism: name of the mechanism.
        queries: queries of the experiment's task by name, the paper's query first.
        settings: settings; their seed makes the rows reproducible.
        limits: limits on each audit.

    Raises:
        InputError: no mechanism has the name.
    """
    if mechanism not in discovery.mechanisms():
        study.find_mechanism(mechanism)
    failed: dict[str, object] = {"experiment": settings.experiment, "mechanism": mechanism}
    try:
        cases = calibrate_all(mechanism, queries, settings)
    except Exception as error:
        # A mechanism of another author may raise anything. The audit of the others goes on.
        return [_stated(failed, _failure(error))]
    rows = []
    for case in cases:
        row = {
            "experiment": settings.experiment,
            "mechanism": mechanism,
            **case.where,
            "query": case.query.name,
            "adjacency": case.query.adjacency,
            "records": case.query.n_records,
            "epsilon": float(case.epsilon),
            "delta": case.delta,
        }
        try:
            columns = _judged(mechanism, case, settings, limits)
        except Exception as error:
            columns = _failure(error)
        rows.append(_stated(row, columns))
    return rows


def _failure(error: Exception) -> dict[str, object]:
    return {"verdict": f"{NOT_RUN}: {type(error).__name__}: {checks.why(error)}"}


def _stated(row: dict[str, object], columns: dict[str, object]) -> dict[str, object]:
    """Return a row with the columns of an audit, and the status of its verdict."""
    return {**row, **columns, "status": status.of(str(columns["verdict"]))}


def _judged(
    mechanism: str, case: Calibration, settings: Settings, limits: Limits
) -> dict[str, object]:
    """Return the columns of all tools for one configuration at one epsilon."""
    if case.release is None:
        refused = f"{REFUTED}: it promises less than what is asked"
        return {"verdict": refused if case.broken else NO_GUARANTEE, "note": case.note}
    configuration = case.configuration
    words = (
        *(settings.experiment, mechanism),
        *(configuration.direction, configuration.stream, case.epsilon),
    )
    generators = streams(settings.seed, "audit", *words, trials=range(7))
    return judge_release(case.release, case.query, generators, limits)
