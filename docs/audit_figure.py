"""Draw docs/audit.svg: the epsilon that audits prove of samplers of a first component.

The rows are those of benchmarks/audit_peers.csv.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from reproduction.report.figures import base, style

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "benchmarks/audit_peers.csv"
#: Inches; narrow enough for a telephone.
WIDTH, HEIGHT = 6.0, 3.3
#: Name, colour and marker of each sampler, and by how many points its name is moved up.
LOOKS = {
    "formula": ("their formula, our code", style.INK, "D", 10),
    "opendp": ("OpenDP", style.VERMILLION, "o", -12),
    "diffprivlib": ("diffprivlib", style.BLUE, "s", 9),
    "exact": ("exact sampler", style.GREEN, "^", 0),
}
PEERS = ("opendp", "diffprivlib")


def read() -> pd.DataFrame:
    """Return a row per sampler and number of columns."""
    return pd.read_csv(ROWS).sort_values("columns", kind="stable")


def finding(rows: pd.DataFrame) -> str:
    """Return the headline: whose samplers are refuted."""
    refuted = rows.loc[rows["status"] == "refuted", "sampler"].unique()
    names = [LOOKS[sampler][0] for sampler in PEERS if sampler in refuted]
    if not names:
        return "No peer's sampler is proved to exceed its ε"
    return f"Components of {' and '.join(names)} exceed their ε"


def curve(axes: Axes, part: pd.DataFrame, sampler: str) -> None:
    """Draw what is proved of one sampler; markers are full where its claim is refuted."""
    name, colour, marker, up = LOOKS[sampler]
    axes.plot(part["columns"], part["epsilon_lower"], color=colour, linewidth=1.4)
    refuted = part["status"] == "refuted"
    for rows, face in ((part[refuted], colour), (part[~refuted], "white")):
        options = {"color": colour, "markerfacecolor": face, "markersize": 6.5}
        axes.plot(rows["columns"], rows["epsilon_lower"], marker, **options)
    last = part.iloc[-1]
    axes.annotate(
        f"{name} {last['version']}" if sampler in PEERS else name,
        (last["columns"], last["epsilon_lower"]),
        xytext=(9, up),
        textcoords="offset points",
        color=colour,
        va="center",
        fontsize=10,
        annotation_clip=False,
    )


def draw() -> style.Drawing:
    """Return the figure."""
    rows = read()
    figure, grid = style.canvas(HEIGHT)
    figure.set_size_inches(WIDTH, HEIGHT)
    axes = grid[0, 0]
    wrong = rows[rows["sampler"] == "formula"]
    low, high, top = wrong["columns"].min(), wrong["columns"].max(), wrong["reached"].max()
    axes.plot(wrong["columns"], wrong["reached"], ":", color=style.INK, linewidth=1.3)
    options = {"fontsize": 10, "va": "center"}
    axes.text(high + 0.18, top, "what its density\nreaches", **options)
    (claim,) = wrong["epsilon"].unique()
    axes.hlines(claim, low - 0.3, high, color=style.INK, linewidth=1)
    axes.text(low - 0.2, claim + 0.09, f"claimed: ε = {claim:g}", **options)
    for sampler, part in rows.groupby("sampler"):
        curve(axes, part, sampler)
    axes.set(xlabel="columns of the records", ylabel="ε", xlim=(low - 0.3, high + 2.6))
    axes.set_xticks(wrong["columns"])
    axes.set_ylim(-0.05, 1.1 * top)
    axes.grid(axis="x", visible=False)
    records = int(wrong["records"].iloc[0])
    topic = f"The ε that runs prove on one of {records} records; full: the claim is refuted"
    style.headline(figure, finding(rows), topic)
    return figure


def main(out: Path = ROOT / "docs" / "audit.svg") -> None:
    """Write the figure."""
    with style.context("audit"):
        drawing = draw()
        base.settle(drawing)
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
