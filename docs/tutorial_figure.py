"""Draw docs/tutorial.svg: what noise does to the answers of docs/tutorial.md, by epsilon.

``.venv/bin/python docs/tutorial_figure.py`` writes it. The file of patients is public, so that its
exact numbers may be shown beside simulated releases. Each release gives all answers, by the
specification that the tutorial prints.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_diabetes

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "workflow")]

from matrixdp.checks import Array  # noqa: E402
from matrixdp.release import choices  # noqa: E402
from matrixdp.release.outputs.noisy import reader  # noqa: E402
from matrixdp.release.parser import from_table  # noqa: E402
from reproduction import catalogue  # noqa: E402
from reproduction.report.figures import base, style  # noqa: E402
from reproduction.report.markup import short  # noqa: E402

EPSILONS = (0.3, 1.0, 3.0, 10.0)
#: Simulated releases at each epsilon, how many of them are drawn, and their seed.
RELEASES, DOTS, SEED = 1000, 15, 442
#: Half of the interval that holds 95 % of a normal distribution, in standard deviations.
NORMAL = 1.96
#: The column of which the headline speaks, and its slope.
COLUMN = "bmi"
TITLES = {
    "age": "mean age (years)",
    "bmi": "mean BMI",
    "bp": "mean pressure (mmHg)",
    "slope": "slope of BMI (mmHg)",
}


def specification() -> dict[str, Any]:
    """Return the tutorial's specification."""
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```toml\n(# patients.toml\n.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return tomllib.loads(block)


def answers(table: dict[str, Any], records: Array, epsilon: float) -> dict[str, Array]:
    """Return simulated means and a slope at an epsilon, each of shape (releases,)."""
    budget = {"epsilon": epsilon, "total": {"epsilon": epsilon, "delta": 0}}
    spec = from_table(Path("patients.toml"), table | budget)
    (option, *_) = choices.by_noise(spec)
    value = option.release.query.value(spec.scaled(records).T)
    draws = option.release.simulate(value, np.random.default_rng(SEED), RELEASES)
    of_name = {output.name: output for output in spec.readings}
    mean, line = (
        np.array([output.answer(read(draw))[0] for draw in draws])
        for output in (of_name["mean"], of_name["regression"])
        for read in [reader(output, option.release, spec.columns, draws=1)]
    )
    slope = of_name["regression"].header.index(COLUMN)
    return {**dict(zip(of_name["mean"].columns, mean.T, strict=True)), "slope": line[:, slope]}


def exact_answers(names: list[str], records: Array) -> dict[str, tuple[float, float]]:
    """Return the exact means and slope, each with its standard error by the choice of patients."""
    count = len(records)
    errors = records.std(axis=0, ddof=1) / np.sqrt(count)
    exact = {
        name: (float(mean), float(error))
        for name, mean, error in zip(names, records.mean(axis=0), errors, strict=True)
    }
    design = np.column_stack([records[:, :-1], np.ones(count)])
    line, squares, *_ = np.linalg.lstsq(design, records[:, -1], rcond=None)
    variances = squares / (count - len(names)) * np.linalg.inv(design.T @ design).diagonal()
    place = names.index(COLUMN)
    return exact | {"slope": (float(line[place]), float(np.sqrt(variances[place])))}


def panel(axes: Axes, exact: tuple[float, float], by_epsilon: list[Array], title: str) -> None:
    """Draw releases (releases,) of one number at each epsilon, around its exact value."""
    middle, error = exact
    low, high = middle - NORMAL * error, middle + NORMAL * error
    axes.axhspan(low, high, color=style.FAINT, alpha=0.5, linewidth=0)
    axes.axhline(middle, color=style.INK, linewidth=1)
    for place, values in enumerate(by_epsilon):
        low, high = np.quantile(values, [0.025, 0.975])
        axes.vlines(place, low, high, color=style.BLUE, linewidth=5, alpha=0.3)
        axes.plot(np.full(DOTS, place), values[:DOTS], ".", color=style.BLUE, markersize=3)
    axes.set_xticks(range(len(EPSILONS)), [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.set(title=title, xlabel="ε", xlim=(-0.6, len(EPSILONS) - 0.4))
    axes.grid(axis="x", visible=False)


def draw() -> style.Drawing:
    """Return the figure."""
    table = specification()
    names, limits = [*table["bounds"]], np.array([*table["bounds"].values()], dtype=float)
    frame = load_diabetes(as_frame=True, scaled=False).frame
    records = frame[names].to_numpy().clip(*limits.T)
    exact = exact_answers(names, records)
    simulated = [answers(table, records, epsilon) for epsilon in EPSILONS]
    figure, grid = style.canvas(2.6, 1, len(TITLES))
    for axes, (name, title) in zip(grid[0], TITLES.items(), strict=True):
        panel(axes, exact[name], [values[name] for values in simulated], title)
    epsilon = table["epsilon"]
    low, high = np.quantile(simulated[EPSILONS.index(epsilon)][COLUMN], [0.025, 0.975])
    topic = (
        f"At ε = {epsilon:g} noise moves the mean BMI by {short((high - low) / 2, 2)}, "
        f"the choice of patients by {short(NORMAL * exact[COLUMN][1], 2)} (95 %)"
    )
    style.headline(figure, topic, catalogue.Mark())
    return figure


def main(out: Path = ROOT / "docs/tutorial.svg") -> None:
    """Write the figure."""
    with style.context("tutorial"):
        drawing = draw()
        base.settle(drawing)
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
