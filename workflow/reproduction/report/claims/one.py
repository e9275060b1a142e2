"""The verdict on one claim as text, from the trials of its own rows alone."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.report import comparisons, findings, inputs, summary
from reproduction.report.claims import definitions
from reproduction.report.claims.definitions import Claim
from reproduction.report.claims.judge import Judge
from reproduction.report.inputs import Files, Run
from reproduction.report.markup import short


def verdict(
    claim: Claim,
    files: Files,
    summaries: Mapping[str, Mapping[str, Any]],
    kept: Files,
) -> str:
    """Return what decides a claim, one fact a line.

    It is the paper's sentence and place, the verdict with its effect and p-value, and by row the
    error here and in print, the delivered epsilon, and the noise that the printed error would need.

    Args:
        claim: the claim.
        files: settings, trials of its rows and of the baselines, numbers of theory and of the
            papers, by name.
        summaries: by experiment the settings of its summary (:func:`job_settings.summary`).
        kept: files of kept results by name, for the verdict among all claims and the needed noise;
            what is not among them is left out.

    Raises:
        InputError: a file is missing or damaged.
    """
    settings = inputs.read_input("settings", files)
    with tempfile.TemporaryDirectory() as folder:
        files = {**files, **_summaries(files, summaries, Path(folder))}
        table, _ = Judge(files, epsilon=settings["table_epsilon"]).judge([claim])
        rows = _rows(claim, files, settings["table_epsilon"], kept)
    (row,) = table.to_dict("records")
    lines = [
        f"{claim.id}, {claim.paper} paper, {claim.place}",
        f"{claim.claim}",
        "",
        f"Verdict: {findings.text(row)}, judged alone",
        f"Here: {findings.sentences(row)}",
    ]
    if pd.notna(row["effect_low"]):
        ends = " to ".join(short(row[name]) for name in ("effect_low", "effect_high"))
        lines.append(f"Effect: {row['statistic']}: {short(row['effect'])} ({ends})")
    if pd.notna(row["p"]):
        lines.append(f"p = {row['p']:.2g}, by {row['evidence']}")
    if among := _kept_verdict(claim, kept):
        lines.append(f"Corrected over all claims, in the kept run: {among}")
    return "\n".join([*lines, *rows]) + "\n"


def _summaries(
    files: Files, summaries: Mapping[str, Mapping[str, Any]], folder: Path
) -> dict[str, Path]:
    """Write the summary and the comparisons of each experiment's trials; return them by name."""
    written: dict[str, Path] = {}
    for run, job in summaries.items():
        trials = [path for name, path in files.items() if name.startswith(f"trials/{run}/")]
        names = {kind: f"{kind}/{run}" for kind in ("summary", "comparisons")}
        paths = {kind: folder / f"{kind}_{run}.csv" for kind in names}
        fixed, same_as = job.get("fixed", {}), job.get("same_as", {})
        summary.write_summary(trials, paths["summary"], same_as)
        comparisons.write_comparisons(
            trials, paths["summary"], paths["comparisons"], fixed, same_as
        )
        written |= {names[kind]: paths[kind] for kind in names}
    return written


def _rows(claim: Claim, files: Files, epsilon: str, kept: Files) -> list[str]:
    """Return a line for each row that the claim compares, at the tables' epsilon."""
    lines = []
    for run in claim.experiments:
        about, table = (
            catalogue.experiment(run),
            summary.default_rows(inputs.read_input(f"summary/{run}", files)),
        )
        printed = Run(files).published(about.results).set_index("mechanism")
        rows = definitions.rows(claim.comparisons)
        names = {row.mechanism for row in rows if row.experiment == run}
        selection = table["epsilon"].isin(["", epsilon]) & table["mechanism"].isin(names)
        selection &= table["chosen"] & table["n_trials"].gt(0)
        noise = _noise(run, kept)
        for row in table[selection].to_dict("records"):
            mechanism, direction = row["mechanism"], row["direction"]
            parts = [f"{short(row['mean'], 4)} ± {short(row['ci95'], 2)} here"]
            if mechanism in printed.index and direction in ("", "a"):
                value, interval, unit = printed.loc[mechanism, ["value", "interval", "unit_factor"]]
                parts.append(f"{value}{f' ± {interval}' if interval else ''} times {unit} in print")
            if pd.notna(row["epsilon_delivered"]):
                mu = "" if pd.isna(row["mu"]) else f" (mu = {short(row['mu'])})"
                parts.append(f"delivered epsilon {short(row['epsilon_delivered'])}{mu}")
            if direction in ("", "a") and mechanism in noise:
                times = short(noise[mechanism])
                parts.append(f"the printed error would need {times} times this noise")
            label = catalogue.label(mechanism) + (f", direction {direction}" if direction else "")
            lines.append(f"- {about.name}, {label}: {', '.join(parts)}")
    return lines


def _noise(run: str, kept: Files) -> dict[str, float]:
    """Return by mechanism the multiple of its noise that the printed error would need, if known."""
    if (name := f"implied_noise/{run}") not in kept:
        return {}
    table = inputs.read_input(name, kept).dropna(subset="noise_factor")
    return dict(zip(table["mechanism"], table["noise_factor"], strict=True))


def _kept_verdict(claim: Claim, kept: Files) -> str:
    """Return the kept verdict on a claim, with its corrected p-value; empty without one."""
    if "claims" not in kept:
        return ""
    table = inputs.read_input("claims", kept)
    for row in table[table["id"].eq(claim.id)].to_dict("records"):
        p = row["p_corrected"]
        return findings.text(row) + ("" if pd.isna(p) else f", p = {p:.2g}")
    return ""
