"""What trials draw in place of released records has Gram matrices of the release's law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from noisesamples import ALPHA, factor, repeated
from scipy import stats

from matrixdp.checks import InputError
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Box, RecordsQuery, SecondMomentQuery
from reproduction.experiments import draws, grams
from reproduction.experiments.tasks.components import AllComponents, FirstComponent
from reproduction.experiments.tasks.regression import Regression
from reproduction.mechanisms.jl import JohnsonLindenstrauss
from reproduction.mechanisms.noise import ColumnL2Exponential, MatrixNormal

TRIALS = 20_000
SIZES = np.array([0.5, 1.0, 2.0])
BASIS = np.linalg.qr(factor(3, 3))[0]
#: Noise of n records times a scale, by its row factor.
NOISES: dict[str, Callable[[int, float], Noise | MatrixNormal]] = {
    "number": lambda n, scale: MatrixNormal((3, n), 0.5 * scale),
    "diagonal": lambda n, scale: MatrixNormal((3, n), scale * SIZES),
    "dense": lambda n, scale: MatrixNormal((3, n), scale * factor(3)),
    "sizes": lambda n, scale: Noise(safe.NORMAL, scale * SIZES[:, None], (3, n)),
    "basis": lambda n, scale: Noise(safe.NORMAL, scale * SIZES[:, None], (3, n), basis=BASIS),
}

# Functions of a stack of Gram matrices, one number each.
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "trace": lambda gram: np.trace(gram, axis1=1, axis2=2),
    "off the diagonal": lambda gram: gram[:, 0, 1],
    "log determinant": lambda gram: np.linalg.slogdet(gram)[1],
    "largest eigenvalue": lambda gram: np.linalg.eigvalsh(gram)[:, -1],
    "first direction": lambda gram: np.abs(np.linalg.eigh(gram)[1][:, 0, -1]),
    "last direction": lambda gram: np.abs(np.linalg.eigh(gram)[1][:, 0, 0]),
}


def release(name: str, n: int, scale: float = 1.0) -> AdditiveGaussian:
    query = RecordsQuery(Box.cube(3, -1, 1), n)
    calibrated = Gaussian().calibrate(query, epsilon=1, delta=1e-3)
    return replace(calibrated, noise=NOISES[name](n, scale))


def records(n: int) -> np.ndarray:
    """Records whose rows are correlated, of the size of the noise."""
    return np.clip(factor(3, 1) @ np.random.default_rng(2).normal(0.1, 0.5, (3, n)), -1, 1)


def reduced(drawn: AdditiveGaussian, value: np.ndarray, seed: int) -> np.ndarray:
    triangles = [grams.triangle(drawn.query, value)]
    (stack,) = grams.simulate_all(drawn, triangles, lambda: repeated(TRIALS, seed))
    assert stack.shape == (TRIALS, *grams.shape(drawn)) == (TRIALS, 3, 6)
    return stack @ np.swapaxes(stack, 1, 2)


def p_value(one: np.ndarray, other: np.ndarray) -> float:
    """Smallest p-value of two samples of Gram matrices, corrected for their number."""
    pairs = ((of(one), of(other)) for of in FUNCTIONS.values())
    return len(FUNCTIONS) * min(stats.ks_2samp(*pair).pvalue for pair in pairs)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("n", [6, 60])
def test_gram_matrices_have_the_law_of_the_release_and_one_percent_of_scale_is_seen(name, n):
    value, drawn = records(n), release(name, n)
    full = drawn.simulate(value, np.random.default_rng(5), TRIALS)
    full = full @ np.swapaxes(full, 1, 2)
    assert p_value(full, reduced(drawn, value, 6)) > ALPHA
    if n == 60:
        for wrong in (0.99, 1.01):
            scaled = release(name, n, wrong)
            assert p_value(full, reduced(scaled, value, 6)) < ALPHA
    # Nor does the law without the records pass, or that of a record more.
    assert p_value(full, reduced(drawn, 0.9 * value, 6)) < ALPHA
    more = release(name, n + 1)
    assert p_value(full, reduced(more, np.pad(value, ((0, 0), (0, 1))), 6)) < ALPHA


def test_gram_matrices_of_sketches_have_their_law_and_one_percent_of_scale_is_seen():
    query, trials = SecondMomentQuery(Box.cube(3, -1, 1), 60), 6000
    value = query.value(records(60))
    for multiple in (1, 20):
        sketch = JohnsonLindenstrauss(multiple).calibrate(query, epsilon=1, delta=1e-3)
        full = sketch.simulate(value, np.random.default_rng(5), trials)
        (drawn,) = draws.simulate_all(sketch, [value], lambda: repeated(trials, 6))
        assert drawn.shape == (trials, 3, 3)
        lifted = np.linalg.inv(np.linalg.cholesky(60 * value + sketch.ridge * np.eye(3)))
        full, drawn = (gram @ np.swapaxes(gram, 1, 2) for gram in (lifted @ full, lifted @ drawn))
        assert p_value(full, drawn) > ALPHA
    # Many rows tell a scale from one a hundredth larger.
    assert p_value(full, 1.01**2 * drawn) < ALPHA


def test_what_is_not_reducible_is_drawn_in_full():
    cases = {
        "few records": release("number", 5),
        "a factor of columns": replace(release("number", 6), noise=MatrixNormal((3, 6), 1.0, 2.0)),
        "other noise": replace(release("number", 6), noise=ColumnL2Exponential((3, 6), 1.0)),
    }
    assert grams.is_reducible(release("number", 6))
    for drawn in cases.values():
        assert not grams.is_reducible(drawn)
        assert grams.shape(drawn) == drawn.query.shape


TASKS = [AllComponents(), *(Regression(1, 8, kernel=kernel) for kernel in ("linear", "rbf"))]
TASKS.append(Regression(1, 8, clip_released=True))


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_a_task_reads_gram_matrices_where_a_rotation_of_released_records_leaves_its_score(task):
    generator = np.random.default_rng(0)
    instance = task.instance(generator.uniform(-1, 1, (3, 12)), generator.spawn(5))
    released = generator.normal(size=(5, 3, 8))
    turned = released @ np.linalg.qr(generator.normal(size=(8, 8)))[0]
    one, other = (instance.score(each, output_type="matrix") for each in (released, turned))
    assert task.reads_gram == np.allclose(one, other, rtol=1e-9)


SKETCHED = [task for task in (*TASKS, FirstComponent()) if "sketch" in task.accepts]


@pytest.mark.parametrize("task", SKETCHED, ids=str)
def test_a_task_reads_gram_matrices_of_sketches_alone(task):
    generator = np.random.default_rng(0)
    instance = task.instance(generator.uniform(-1, 1, (3, 12)), generator.spawn(5))
    sketches = generator.normal(size=(5, 3, 8))
    factors = np.linalg.cholesky(sketches @ np.swapaxes(sketches, 1, 2))
    one, other = (
        instance.score(each, output_type="sketch", ridge=0.1) for each in (sketches, factors)
    )
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_values_outside_the_public_bounds_are_refused():
    with pytest.raises(InputError, match="outside its public bounds"):
        grams.triangle(release("number", 6).query, 2 + records(6))
