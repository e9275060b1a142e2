"""Time of a private training step, as a ratio to the same step without privacy.

Run it as ``python benchmarks/training.py``; it takes about three minutes, on one thread. Data are
random numbers of the shapes of Adult, Cora and MNIST. The limit is one run of the same network by
plain SGD on the mean of the same lots, compiled in the same way; other rows are what our run is
instead of: steps that Python calls one by one, and gradients of single examples by
``jax.vmap(jax.grad)``, without noise and update, beside the same sums as we take them. Ratios are
medians of interleaved repeats, of CPU time. With the Python of an environment that has torch and
opacus as its argument it also times benchmarks/opacus_step.py there.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(
    0, str(Path(__file__).resolve().parents[1] / "tests/reproduction/experiments/training")
)

import reproduction.experiments.training  # noqa: F401  (sets jax up)
from reproduction.experiments.training import batches, gradients
from reproduction.experiments.training.models import GraphNetwork, LeNet, Model, Params, Perceptron

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import optax  # isort: skip
from exampleloss import losses  # isort: skip

REPEATS = 7
STEPS = 150


@dataclass
class Case:
    """One way to take ``steps`` steps, as a ratio to the limit of the same network."""

    name: str
    run: Callable[[], object]
    limit: Callable[[], object]
    steps: int
    target: float | None = None


def adult() -> Perceptron:
    rng = np.random.default_rng(0)
    return Perceptron.of(
        {
            "train_inputs": rng.random((32_561, 105)),
            "train_labels": rng.integers(0, 2, 32_561),
            "test_inputs": rng.random((1, 105)),
            "test_labels": np.zeros(1),
        }
    )


def cora() -> GraphNetwork:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 2708, (5278, 2))
    return GraphNetwork.of(
        {
            "features": (rng.random((2708, 1433)) < 0.013).astype(np.float32),
            "edges": edges[edges[:, 0] != edges[:, 1]],
            "labels": np.arange(2708) % 7,
            "train": np.arange(1140),
            "test": np.arange(1708, 2708),
        }
    )


def mnist() -> LeNet:
    rng = np.random.default_rng(0)
    return LeNet.of(
        {
            f"{part}_{name}": rng.integers(0, most, (count, *shape), dtype=np.uint8)
            for part, count in (("train", 55_000), ("test", 1))
            for name, most, shape in (("images", 256, (28, 28)), ("labels", 10, ()))
        }
    )


@jax.jit
def plain(model: Model, initial: Params, lots: jax.Array, sizes: jax.Array) -> Params:
    """Return the parameters after SGD without clipping and noise."""
    optimiser = optax.sgd(gradients.RATE, gradients.MOMENTUM, nesterov=True)

    def loss(params: Params, lot: jax.Array, size: jax.Array) -> jax.Array:
        return jnp.vdot(jnp.arange(len(lot)) < size, losses(model, params, lot)) / size

    def step(state: tuple, inputs: tuple) -> tuple[tuple, None]:
        params, memory = state
        changes, memory = optimiser.update(jax.grad(loss)(params, *inputs), memory, params)
        return (optax.apply_updates(params, changes), memory), None

    return jax.lax.scan(step, (initial, optimiser.init(initial)), (lots, sizes))[0][0]


def written_out(
    model: Model, params: Params, lot: jax.Array, size: jax.Array, clip: jax.Array
) -> Params:
    """Return what ``gradients.clipped_sum`` does, by gradients of single examples."""

    def one(example: jax.Array) -> Params:
        return jax.grad(lambda p: losses(model, p, example[None])[0])(params)

    each = jax.vmap(one)(lot)
    norms = jax.vmap(optax.global_norm)(each)
    weights = jnp.minimum(1, clip / norms) * (jnp.arange(len(lot)) < size)
    return jax.tree.map(lambda value: jnp.tensordot(weights, value, 1), each)


@partial(jax.jit, static_argnums=0)
def totals(
    clipped_sum: Callable, model: Model, params: Params, lots: jax.Array, sizes: jax.Array
) -> Params:
    """Return the total of the clipped sums of all lots."""

    def step(total: Params, inputs: tuple) -> tuple[Params, None]:
        # The total is part of the parameters, so that no step can be taken out of the loop.
        moved = jax.tree.map(lambda value, sums: value + 1e-9 * sums, params, total)
        return jax.tree.map(jnp.add, total, clipped_sum(model, moved, *inputs, 1.0)), None

    return jax.lax.scan(step, jax.tree.map(jnp.zeros_like, params), (lots, sizes))[0]


def cases(name: str, model: Model, lot: int, steps: int, target: float) -> list[Case]:
    rng = np.random.default_rng(1)
    initial = model.initial(rng)
    examples = len(model.labels)
    lots, sizes = batches.poisson(rng, examples, lot / examples, steps)
    model = model.for_lots(lots)
    deviations = dict.fromkeys(model.shapes, np.float32(3))
    key, bands = jax.random.key(0), np.ones(1, np.float32)

    def private(lots: np.ndarray, sizes: np.ndarray) -> Params:
        return gradients.descend(model, initial, lots, sizes, 1.0, lot, deviations, bands, key)

    def loop() -> None:
        for t in range(steps):
            jax.block_until_ready(private(lots[t : t + 1], sizes[t : t + 1]))

    limit = partial(plain, model, initial, lots, sizes)
    sums, singles = (
        partial(totals, way, model, initial, lots, sizes)
        for way in (gradients.clipped_sum, written_out)
    )
    return [
        Case(f"{name}, private, compiled", partial(private, lots, sizes), limit, steps, target),
        Case(f"{name}, private, step by step from Python", loop, limit, steps),
        Case(f"{name}, clipped sums alone", sums, limit, steps),
        Case(f"{name}, clipped sums by vmap(grad)", singles, limit, steps),
    ]


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    jax.block_until_ready(run())
    return time.process_time() - start


def main() -> int:
    """Print the table; return 1 if a target is missed."""
    rows = [
        *cases("Adult", adult(), 512, STEPS, 1.5),
        *cases("Cora", cora(), 200, 10, 1.5),
        *cases("MNIST", mnist(), 1024, 10, 2),
    ]
    for case in rows:
        seconds(case.run)
        seconds(case.limit)
    times = np.array([[(seconds(c.limit), seconds(c.run)) for c in rows] for _ in range(REPEATS)])
    each = np.median(times[:, :, 1], axis=0) / [case.steps for case in rows]
    ratios = np.median(times[:, :, 1] / times[:, :, 0], axis=0)
    print(f"{'training':52} {'ms/step':>10} {'ratio':>8} {'target':>7}  met")
    ours = next(e for c, e in zip(rows, each, strict=True) if c.name == "MNIST, private, compiled")
    missed = 0
    for case, time_each, ratio in zip(rows, each, ratios, strict=True):
        verdict = "" if case.target is None else "yes" if ratio <= case.target else "no"
        missed += verdict == "no"
        target = "" if case.target is None else f"{case.target:g}"
        print(f"{case.name:52} {time_each * 1e3:10.3f} {ratio:8.2f} {target:>7}  {verdict}")
    print("Ratios are to the same steps without privacy, compiled.")
    for peer in sys.argv[1:]:
        script = str(Path(__file__).with_name("opacus_step.py"))
        said = subprocess.check_output([peer, script], text=True)
        if said.startswith("not run"):
            print(f"{peer}: {said.strip()}")
            continue
        times = map(float, said.split())
        for of, theirs in zip(("plain torch", "Opacus"), times, strict=True):
            name = f"MNIST by {of}, to ours that is private"
            print(f"{name:52} {theirs * 1e3:10.3f} {theirs / ours:8.2f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
