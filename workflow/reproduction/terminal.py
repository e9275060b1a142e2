"""What a person sees of a run: what is planned and why, how far it is, and how long it takes.

Times are those of earlier runs: the mean of a rule's jobs, which every run by `make` writes beside
its results, or else that of the kept run.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

#: The variable with the number of the stream that a job's rule has for what its log cannot take.
STREAM = "MATRIXDP_TERMINAL"

#: The mean seconds of a job of each rule, in a folder of results.
SECONDS = "job_seconds.csv"

#: In reasons of Snakemake: a file and its hash, see :func:`reproduction.imports.digests`.
_DIGEST = re.compile(r"'([^' ]+)(?: without [^']*)? ([0-9a-f]{12})'")
_CHANGE = re.compile(r"Params have changed since last execution: [^:]*: before: (.*) now: (.*)")
#: What follows from another job or says nothing of a cause.
_FOLLOWS = re.compile(r"(Input files updated by another job|Missing output files): [^;]*")


class LogOrTerminal(io.TextIOBase):
    """A log, and a terminal for what cannot be written there, as on a full disk."""

    def __init__(self, log: TextIO, terminal: TextIO) -> None:
        self.log, self.terminal = log, terminal

    def write(self, text: str) -> int:
        """Write a text at once, to the log if that is possible."""
        for stream in (self.log, self.terminal):
            try:
                stream.write(text)
                stream.flush()
                break
            except OSError:
                continue
        return len(text)

    def fileno(self) -> int:
        """Return the number of the log's stream."""
        return self.log.fileno()


def keep_last_words() -> None:
    """Let messages that the log cannot take go to the terminal, where a rule names its stream."""
    if (number := os.environ.pop(STREAM, "")).isdecimal():
        terminal = open(int(number), "w", encoding="utf-8", errors="replace")  # noqa: SIM115
        sys.stderr = LogOrTerminal(sys.stderr, terminal)


def read_seconds(*folders: Path) -> dict[str, float]:
    """Return the mean seconds of a job by rule; those of the first folders count first."""
    seconds: dict[str, float] = {}
    for path in (folder / SECONDS for folder in reversed(folders)):
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as stream:
                seconds |= {row["rule"]: float(row["seconds"]) for row in csv.DictReader(stream)}
    return seconds


def write_seconds(folder: Path, seconds: Mapping[str, float]) -> None:
    """Write the mean seconds of rules, beside those of rules that this run did not need."""
    from reproduction.files import write_text

    every = {**read_seconds(folder), **seconds}
    lines = [f"{rule},{every[rule]:.2f}\n" for rule in sorted(every)]
    write_text(folder / SECONDS, "rule,seconds\n" + "".join(lines))


def duration(seconds: float) -> str:
    """Return a rough duration in words."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def cause(reason: str) -> str:
    """Return why a job runs, in a few words; empty where it follows from another one.

    Args:
        reason: Snakemake's, of which edited files and changed settings are told by name.
    """
    parts = [part for part in reason.split("; ") if part]
    words = [_changes(part) for part in parts if not _FOLLOWS.fullmatch(part)]
    if not words and not any("updated by another" in part for part in parts):
        return "missing"
    return "; ".join(words)[:200]


def _changes(part: str) -> str:
    match = _CHANGE.fullmatch(part.strip())
    if not match:
        return part
    before, now = match.groups()
    files = {name for name, _ in {*_DIGEST.findall(before)} ^ {*_DIGEST.findall(now)}}
    others = [_DIGEST.sub("", text).strip(" ,[]()'") for text in (before, now)]
    others = ["" if text == "<nothing exclusive>" else text for text in others]
    words = [f"edited: {', '.join(sorted(files))}"] if files else []
    if any(others):
        words.append(f"settings: {_keys(*others) or ' -> '.join(others)}")
    return "; ".join(words)


def _keys(before: str, now: str) -> str:
    """Return what differs between two JSON objects; nothing of other texts."""
    try:
        old, new = json.loads(before), json.loads(now)
    except ValueError:
        return ""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return ""
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return ", ".join(f"{key} {old.get(key)} -> {new.get(key)}" for key in keys)


def plan(
    jobs: Iterable[tuple[str, str]], counts: Mapping[str, int], seconds: Mapping[str, float]
) -> Iterator[str]:
    """Yield the lines of a plan: jobs with a cause of their own, counts by rule, and the time.

    Args:
        jobs: name and reason of each job.
        counts: how many jobs of each rule there are, and in ``total``.
        seconds: the mean seconds of a job by rule.
    """
    for name, reason in jobs:
        if why := cause(reason):
            yield f"{name}: {why}"
    width = max(map(len, counts), default=0)
    for rule, count in counts.items():
        yield f"{rule:{width}}  {count:5}"
    if total := _total(counts, seconds):
        time = duration(total)
        yield f"This takes about {time} of one core, if jobs take as long as in earlier runs."


def _total(counts: Mapping[str, int], seconds: Mapping[str, float]) -> float:
    """Return the seconds of jobs on one core; 0 if nothing is known of most of them."""
    known = {rule: count for rule, count in counts.items() if rule in seconds}
    if 2 * sum(known.values()) < sum(counts.values()) - counts.get("total", 0):
        return 0
    return sum(count * seconds[rule] for rule, count in known.items())


@dataclass
class Progress:
    """How far a run is.

    Attributes:
        seconds: the mean seconds of a job by rule, of earlier runs.
        cores: how many jobs run at once.
        left: how many jobs of each rule have not ended.
        running: rule, name and start of the jobs that run, by their identifiers.
        times: the seconds of the jobs that have ended, by rule.
    """

    seconds: Mapping[str, float]
    cores: int = 1
    left: Counter[str] = field(default_factory=Counter)
    running: dict[Any, tuple[str, str, float]] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)

    def start(self, job: Any, rule: str, name: str, now: float) -> None:
        """Note that a job has started."""
        self.running[job] = rule, name, now

    def end(self, job: Any, now: float) -> None:
        """Note that a job has ended, well or not."""
        if job in self.running:
            rule, _, start = self.running.pop(job)
            self.times.setdefault(rule, []).append(now - start)
            self.left[rule] -= 1

    def means(self) -> dict[str, float]:
        """Return the mean seconds of a job by rule, in this run."""
        return {rule: sum(times) / len(times) for rule, times in self.times.items()}

    def line(self, now: float) -> str:
        """Return one line: done of all, how long is left, and the job that runs longest."""
        done = sum(map(len, self.times.values()))
        left = sum(self.left.values())
        words = [f"{done} of {done + left} jobs done"]
        means = {**self.means(), **self.seconds}
        # A job that takes longer than others of its rule takes nothing from the time of the rest,
        # and nobody knows how long it still takes.
        since = [(now - start, means.get(rule, 0)) for rule, _, start in self.running.values()]
        elapsed = sum(map(min, since))
        if (rest := _total(+self.left, means) - elapsed) > 0:
            about = "at least" if any(took > mean for took, mean in since) else "about"
            words.append(f"{about} {duration(rest / max(self.cores, 1))} left")
        if self.running:
            _, name, start = min(self.running.values(), key=lambda job: job[2])
            words.append(f"longest: {name} ({duration(now - start)})")
        return ", ".join(words)
