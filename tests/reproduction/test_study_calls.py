"""What Python refuses in the study, as tables: each call of ``calls.toml`` is one sentence."""

from pathlib import Path

import numpy as np
import pytest
import refusals
from mechanismqueries import LIVER, MOVEMENT, budget

import matrixdp as mdp
from matrixdp.mechanisms import scaled
from reproduction.data.scaling import scale
from reproduction.experiments import schemes
from reproduction.experiments.schemes.features import Features
from reproduction.experiments.schemes.gradients import Gradients
from reproduction.experiments.tasks import components, regression
from reproduction.mechanisms import (
    adassp,
    allocation,
    clipped,
    directional,
    directions,
    gaussian,
    jl,
    mvg,
)
from reproduction.privacy import accountants, banded, generalized_gamma, kov, sampling, sketching

TABLES = Path(__file__).with_name("calls.toml")


def calibrated(mechanism, query=LIVER):
    return mechanism.calibrate(query, **budget(query))


def scaled_records(method, records=((1.0, 2.0), (3.0, 4.0), (5.0, 6.0)), **words):
    return scale(np.array(records), ("a", "b"), method=method, **words)


def gradients(**changes):
    plan = {"records": 32561, "lot": 512, "epochs": 50, "clip": 1.0, "shapes": {"all": (2, 1)}}
    return Gradients(**plan | changes)


def features(**changes):
    return Features(**{"features": 150, "records": 25000, "lot": 256} | changes)


def gamma_scale(**changes):
    words = {"epsilon": 1.0, "delta": 1e-5, "power": 1.25, "dimension": 6}
    return generalized_gamma.scale(**words | changes)


MODULES = (adassp, allocation, clipped, components, directional, directions, gaussian, jl, mvg)
MODULES += (regression, scaled)
PLAIN = (accountants, banded, kov, mdp, sampling, schemes, sketching)
NAMES = {name: value for module in MODULES for name, value in vars(module).items()}
NAMES |= {module.__name__.rpartition(".")[2]: module for module in PLAIN}
NAMES |= {**globals(), "MOVEMENT": MOVEMENT}
CALLS = [row for table in refusals.tables(TABLES) for row in refusals.rows(TABLES, table)]


@pytest.mark.parametrize(("call", "says"), CALLS)
def test_a_call_of_the_study(tmp_path, call, says):
    refusals.call(lambda: eval(call, dict(NAMES)), tmp_path, says)
