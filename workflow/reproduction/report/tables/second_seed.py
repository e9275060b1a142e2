"""The verdicts of a run beside those of a kept one that differs from it in the root seed alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from reproduction.report import findings
from reproduction.report.inputs import SECOND_SEED, Run
from reproduction.report.markup import short
from reproduction.report.sheet import Cell
from reproduction.report.tables.base import Column, Table, lines

#: The end of the names of columns of the other run.
OTHER = "_other"

#: Columns of a ledger that say what is claimed, and on which data it was judged.
_CLAIM = ("id", "paper", "place", "claim", "data_status")
#: Those that make a verdict, and the numbers that it rests on.
_VERDICT = ("verdict", "condition")
_NUMBERS = ("p", "p_corrected", "effect", "effect_low", "effect_high")


def build(run: Run) -> Table:
    """Return all verdicts that both runs have, of which those that differ are shown."""
    seeds = run.settings["seed"], run[f"{SECOND_SEED}/settings"]["seed"]
    frame = compare_verdicts(run["claims"], run[f"{SECOND_SEED}/claims"])
    frame = frame.assign(seed=seeds[0], **{f"seed{OTHER}": seeds[1]})
    different = frame[frame["differs"]]
    columns = [Column("", "id", print="Claim"), Column("Claim", "claim")]
    for seed, end in zip(seeds, ("", OTHER), strict=True):
        name, number = f"Seed {seed}", f"p, seed {seed}"
        columns += [
            Column(name, _verdict(end), print=name, badge=True),
            Column(number, _number(end), f"p_corrected{end}", print=number),
        ]
    return Table(
        title="Second root seed",
        caption=caption(len(frame)),
        frame=frame,
        columns=columns,
        groups=lines(different) if len(different) else {},
    )


def compare_verdicts(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the claims that two runs have judged on data of one status, in the order of the first.

    Args:
        first, second: ledgers (:func:`reproduction.report.findings.read_ledger`).

    Returns:
        One row per claim: verdict, condition and numbers of both (those of the second end in
        ``OTHER``), and in ``differs`` whether the verdict or its condition is another one.
    """
    # What was not run has a verdict and no test.
    tables = [table[table["test"].ne("")] for table in (first, second)]
    columns = [[*_CLAIM, *_VERDICT, *_NUMBERS], ["id", "data_status", *_VERDICT, *_NUMBERS]]
    parts = [table[names] for table, names in zip(tables, columns, strict=True)]
    pairs = parts[0].merge(parts[1], on=["id", "data_status"], suffixes=("", OTHER))
    different = [pairs[name].ne(pairs[f"{name}{OTHER}"]) for name in _VERDICT]
    return pairs.assign(differs=pd.concat(different, axis=1).any(axis=1))


def verdicts(table: pd.DataFrame) -> dict[str, str]:
    """Return the verdicts of the other run in words, of the claims on which the two differ.

    Args:
        table: the file of this table, or an empty frame where there is none.
    """
    text = _verdict(OTHER)
    filled = table.fillna({f"condition{OTHER}": ""})
    rows = filled[filled["differs"]].to_dict("records") if len(table) else ()
    return {row["id"]: text(row).text for row in rows}


def caption(count: int) -> str:
    """Return what is shown of so many verdicts."""
    return (
        f"Of {count} verdicts those that another root seed changes, in a kept run with the same "
        "settings. p: after Holm's correction; where no trials decide, the number that does. "
        "What the seed changes rests on chance, of the trials or of the parameters that they "
        "choose: read it as open. The CSV file has all numbers."
    )


def _verdict(end: str) -> Callable[[Mapping[str, Any]], Cell]:
    """Return a function from a line to the verdict of one of the runs."""

    def cell(line: Mapping[str, Any]) -> Cell:
        claim = {name: line[f"{name}{end}"] for name in _VERDICT}
        return Cell(findings.text(claim), word=findings.word(claim["verdict"]))

    return cell


def _number(end: str) -> Callable[[Mapping[str, Any]], Cell]:
    """Return a function from a line to the number that the verdict of one of the runs rests on."""

    def cell(line: Mapping[str, Any]) -> Cell:
        if math.isnan(p := line[f"p_corrected{end}"]):
            return Cell(short(line[f"effect{end}"], 4), note="(no p)")
        return Cell(short(p, 2))

    return cell
