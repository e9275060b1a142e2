"""Time of a private step by Opacus on torch: the LeNet, lot and thread of benchmarks/training.py.

That calls it, as ``python benchmarks/training.py PYTHON``, with the Python of an environment that
has torch and opacus; it prints CPU seconds per step, one line for plain SGD and one for DP-SGD.
"""

from __future__ import annotations

import sys
import time

try:
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer
    from torch import nn
except ModuleNotFoundError as error:
    print(f"not run: {error.name} would have to be installed")
    sys.exit()

LOT, STEPS, REPEATS = 1024, 10, 3


def lenet() -> nn.Module:
    """Return LeNet-5 with 400 features after its convolutions, averaged before the tanh."""
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.AvgPool2d(2), nn.Tanh()),
        *(nn.Conv2d(6, 16, 5), nn.AvgPool2d(2), nn.Tanh(), nn.Flatten()),
        *(nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10)),
    )


def seconds(private: bool) -> float:
    """Return the CPU time of a step, the least of several runs."""
    model = lenet()
    if private:
        model = GradSampleModule(model)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    if private:
        optimiser = DPOptimizer(
            optimiser, noise_multiplier=3.0, max_grad_norm=1.0, expected_batch_size=LOT
        )
    images, labels = torch.rand(55_000, 1, 28, 28), torch.randint(10, (55_000,))
    found = []
    for _ in range(REPEATS + 1):
        start = time.process_time()
        for _ in range(STEPS):
            lot = torch.randint(len(images), (LOT,))
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(images[lot]), labels[lot]).backward()
            optimiser.step()
        found.append((time.process_time() - start) / STEPS)
    # The first run warms up.
    return min(found[1:])


if __name__ == "__main__":
    torch.set_num_threads(1)
    for private in (False, True):
        print(seconds(private))
