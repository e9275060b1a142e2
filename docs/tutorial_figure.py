"""Draw docs/tutorial.svg: what noise does to the numbers of docs/tutorial.md, by epsilon.

The file is public, so that its exact numbers may be shown beside simulated releases. The bounds are
those of the tutorial's specifications.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

import matrixdp as mdp
from matrixdp.mechanisms.moments import with_constant
from matrixdp.privacy.sensitivity import second_moments
from matrixdp.release import answers
from reproduction.report.figures import base, style
from reproduction.report.markup import short

ROOT = Path(__file__).resolve().parents[1]
EPSILONS = (0.3, 1.0, 3.0, 10.0)
#: Simulated releases at each epsilon, how many of them are drawn, and their seed.
RELEASES, DOTS, SEED = 1000, 15, 442
#: Of a normal distribution: half of the interval that holds 95 %, in standard deviations.
NORMAL = 1.96


def specification(name: str) -> dict[str, Any]:
    """Return a specification of the tutorial by the name of its file."""
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```toml\n(# {name}\n.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return tomllib.loads(block)


def streams() -> list[np.random.Generator]:
    """Return one stream per release, the same at each epsilon."""
    return [np.random.default_rng([SEED, number]) for number in range(RELEASES)]


def means(records: NDArray, box: mdp.Box, epsilon: float) -> NDArray:
    """Return simulated releases of the mean, shape (releases, m)."""
    query = mdp.MeanQuery(box, len(records))
    guarantee = {"epsilon": epsilon, "delta": 0}
    release = mdp.recommend(query, **guarantee).calibrate(query, **guarantee)
    return release.simulate(query.value(records.T), streams())[:, :, 0]


def slopes(records: NDArray, box: mdp.Box, epsilon: float) -> NDArray:
    """Return simulated coefficients of a regression on the last column, (releases, m - 1)."""
    middle, half = box.middle, box.widths / 2
    rows = with_constant((records - middle) / half)
    query = mdp.SecondMomentQuery(mdp.Box.cube(rows.shape[1], -1, 1), len(rows))
    guarantee = {"epsilon": epsilon, "delta": 0}
    release = mdp.recommend(query, **guarantee).calibrate(query, **guarantee)
    noisy = release.simulate(second_moments(rows.T), streams())
    noisy = (noisy + np.swapaxes(noisy, 1, 2)) / 2
    output = answers.Output("regression", middle, half)
    lines = [answers.answer(output, one, release.noise_std) for one in noisy]
    return np.array(lines)[:, 0, :-1]


def panel(axes: Axes, exact: float, chance: float, drawn: list[NDArray], title: str) -> None:
    """Draw releases (releases,) of one number at each epsilon, around its exact value."""
    axes.axhspan(exact - chance, exact + chance, color=style.FAINT, alpha=0.5, linewidth=0)
    axes.axhline(exact, color=style.INK, linewidth=1)
    for place, values in enumerate(drawn):
        low, high = np.quantile(values, [0.025, 0.975])
        axes.vlines(place, low, high, color=style.BLUE, linewidth=5, alpha=0.3)
        axes.plot(np.full(DOTS, place), values[:DOTS], ".", color=style.BLUE, markersize=3)
    axes.set_xticks(range(len(EPSILONS)), [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.set(title=title, xlabel="ε", xlim=(-0.6, len(EPSILONS) - 0.4))
    axes.grid(axis="x", visible=False)


def draw() -> style.Drawing:
    """Return the figure."""
    spec = specification("patients.toml")
    names, limits = [*spec["bounds"]], np.array([*spec["bounds"].values()], dtype=float)
    box = mdp.Box(*map(tuple, limits.T))
    frame = load_diabetes(as_frame=True, scaled=False).frame
    records = frame[names].to_numpy().clip(*limits.T)
    count = len(records)
    chance = NORMAL * records.std(axis=0, ddof=1) / np.sqrt(count)
    design = np.column_stack([records[:, :-1], np.ones(count)])
    line, squares, *_ = np.linalg.lstsq(design, records[:, -1], rcond=None)
    errors = np.sqrt(squares / (count - len(names)) * np.linalg.inv(design.T @ design).diagonal())
    of_means = [means(records, box, epsilon) for epsilon in EPSILONS]
    of_slopes = [slopes(records, box, epsilon) for epsilon in EPSILONS]
    figure, grid = style.canvas(2.6, 1, 4)
    titles = {"age": "mean age (years)", "bmi": "mean BMI", "bp": "mean pressure (mmHg)"}
    for column, name in enumerate(names):
        drawn = [values[:, column] for values in of_means]
        mean = float(records[:, column].mean())
        panel(grid[0, column], mean, chance[column], drawn, titles[name])
    place = names.index("bmi")
    drawn = [values[:, place] for values in of_slopes]
    title = "mmHg for a unit of BMI"
    panel(grid[0, -1], line[place], NORMAL * errors[place], drawn, title)
    low, high = np.quantile(of_means[EPSILONS.index(1.0)][:, place], [0.025, 0.975])
    finding = (
        f"At ε = 1 noise moves the mean BMI by {short((high - low) / 2, 2)}, "
        f"the choice of patients by {short(chance[place], 2)} (95 %)"
    )
    style.headline(figure, finding, "Simulated releases of 442 patients' records, by epsilon")
    return figure


def main(out: Path = ROOT / "docs" / "tutorial.svg") -> None:
    """Write the figure."""
    with style.context("tutorial"):
        drawing = draw()
        base.settle(drawing)
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
