"""Table 2 of the MVG paper: its set-ups, as printed and as run here."""

from __future__ import annotations

from reproduction import catalogue
from reproduction.report.inputs import Run
from reproduction.report.tables import setups
from reproduction.report.tables.base import Column, Table, lines
from reproduction.report.tables.setups import Settings

CAPTION = (
    "The set-ups of the MVG paper as it prints them, and as they were run. Where the paper is "
    "silent its cell is empty, and the choice is ours. Scaling constants and bounds count as "
    "public: the paper spends nothing on them."
)


def build(run: Run) -> Table:
    """Return the experiments beside each other."""
    frame = setups.frame(run, "table2", "experiments", describe_run)
    items = catalogue.setups("table2")
    columns = [Column("", lambda row: items[row["item"]])]
    for experiment, name in setups.experiments(frame).items():
        short = name.replace("Experiment", "Exp.")
        columns += [Column(f"{short}, paper", f"{experiment}_published")]
        columns += [Column(f"{short}, ours", experiment)]
    return Table(
        title="Table 2",
        caption=CAPTION,
        frame=frame,
        columns=columns,
        groups=lines(frame),
    )


def describe_run(
    config: Settings, about: catalogue.Experiment, facts: Settings, settings: Settings
) -> dict[str, str]:
    """Return what differs between the experiments of the MVG paper."""
    features, records, delta = facts["features"], facts["rows_used"], settings["delta"]
    private = config.get("train", records)
    size = private if about.setup["query"] == "X" else len(features)
    ends = {
        f"[{low:g}, {high:g}]" for low, high in zip(facts["lower"], facts["upper"], strict=True)
    }
    directions = [
        f"({name}) {', '.join(members) or 'none, i.i.d. noise'}"
        for name, members in config["directions"].items()
    ] + ["private SVD"] * ("mvg_maxpnr" in config["mechanisms"])
    return {
        "task": about.setup["task"] + (f", of {config['target']}" if "target" in config else ""),
        "samples": f"{private:,}" + (f", test {records - private}" if private < records else ""),
        "features": f"{len(features)}: {', '.join(features)}",
        "query_size": f"{len(features)} x {size:,}",
        "directions": "; ".join(directions),
        "scaling": facts["scaling"]["description"],
        "bounds": min(ends)
        if len(ends) == 1
        else f"{len(ends)} different intervals, one per feature",
        "adjacency": settings["adjacency"].replace("_", " ") + " one record",
        "delta": f"1/n = 1/{private:,}" if delta == "1/n" else delta,
        "trials": _trials(config, settings["table_epsilon"]),
    }


def _trials(config: Settings, table_epsilon: str) -> str:
    """Return the trials of a row, and where there are more of them."""
    usual, more = config["trials"], config.get("trials_at_table_epsilon", 0)
    if more <= usual:
        return f"{usual:,}"
    everywhere = bool(config.get("claims_at_every_epsilon"))
    claims = ", and for rows of claims at every one" if everywhere else ""
    return f"{usual:,}; {more:,} at epsilon {table_epsilon}{claims}"
