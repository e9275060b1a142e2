"""Every benchmark still runs: what it measures, on a few small numbers and once.

Those of coverage and audits have tests of their own, and benchmarks/opacus_step.py uses none of
our code.
"""

import importlib.util
import queue
import sys
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from packages import ROOT


def calibration(script, monkeypatch):
    for name in ("EPSILONS", "DELTAS", "MUS", "PAIRS"):
        monkeypatch.setattr(script, name, getattr(script, name)[500:502])
    cases = script.cases()
    assert max(abs(script.difference(case)) for case in cases) < 1e-8
    return [*script.measured(cases), *script.generalized().values()]


def files(script, monkeypatch):
    whole, parts = (script.Table("csv", 40, 2, number) for number in (1, 2))
    for case, took, base in script.results(whole, parts):
        yield from took
        strict = case._replace(limits=(1e-9, None))
        assert len(script.compared(strict, took, base)[1]) == (base is not None)
    pytest.importorskip("pyarrow")
    for _, took, _ in islice(script.results(script.Table("parquet", 40, 2), None), 3):
        yield from took


def practice_peers(script, monkeypatch):
    monkeypatch.setattr(script, "ANSWERS", 1)
    _, records = next(script.files())
    out = queue.Queue()
    for question in script.QUESTIONS.values():
        for package in (script.OURS, script.APPROXIMATE):
            script.measured(question, package, records[:, question.columns], out)
            errors, milliseconds = out.get()
            yield from (*errors, milliseconds)


def recommend_rule(script, monkeypatch):
    monkeypatch.setattr(script, "EPSILONS", (1.0,))
    monkeypatch.setattr(script, "BOUNDS", ("range", "round"))
    rows = np.random.default_rng(0).gamma(2, 1, (200, 3))
    cells = [cell for name in "AB" for cell in script.cells(name, name, rows)]
    for line in script.summary(cells):
        yield from (value for value in line.values() if isinstance(value, float))


def release(script, monkeypatch):
    cases = [
        *script.additive(2, 3, 4),
        script.bimodal(2, 3, 4),
        script.generalized_gamma(2, 3, 4),
        script.generalized_gamma(2, 4, 4),
        *(script.clipped_moments(2, 3, 20, shared, 1.0) for shared in (False, True)),
        *script.bingham(1.0),
    ]
    return [number for pair in script.measured(cases) for number in pair]


def safe_noise(script, monkeypatch):
    if Path("/proc/self/status").exists():
        script.stream(200, 2)
    return [script.cost(partial(script.safe.noise, unit, 10)) for unit in script.safe.LAWS]


def startup(script, monkeypatch):
    for statement in script.KINDS.values():
        exec(statement)
    return [script.cpu("pass")]


def training(script, monkeypatch):
    cases = script.cases("Adult", script.adult(), 4, 2, 1.5)
    return [script.seconds(run) for case in cases for run in (case.run, case.limit)]


@pytest.mark.parametrize(
    "measure",
    [calibration, files, practice_peers, recommend_rule, release, safe_noise, startup, training],
)
def test_a_benchmark_measures(measure, monkeypatch):
    name = f"benchmark_{measure.__name__}"
    spec = importlib.util.spec_from_file_location(name, ROOT / f"benchmarks/{measure.__name__}.py")
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, script)
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "REPEATS", 1, raising=False)
    numbers = [*measure(script, monkeypatch)]
    assert numbers
    assert np.isfinite(numbers).all()
