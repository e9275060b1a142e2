"""What `make` shows of a run: one line a job, the time left, warnings last, and where to look.

Snakemake finds a logger by its package's name, hence the name; running its folder runs Snakemake.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from snakemake_interface_logger_plugins.base import LogHandlerBase

#: Not empty once the user stops the run: what fails then is no failure.
STOPPED: list[bool] = []
PAGE = "results/report.html"


def duration(seconds: float) -> str:
    """Return a time in words, in minutes, of which it is at least one."""
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def unwritable(folder: str) -> str:
    """Return why nothing more can be written to a folder, or nothing if it can."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        return f"{os.path.abspath(folder)} cannot be written: {error.strerror}."
    return ""


def last_words(logs: Sequence[str]) -> str:
    """Return why a job failed: the end of its log, or that nothing can be written to it."""
    said = []
    for log in logs:
        said.append(unwritable(os.path.dirname(log) or "."))
        with contextlib.suppress(OSError), open(log, encoding="utf-8", errors="replace") as file:
            said += [line for line in file.read().splitlines() if line.strip()][-3:]
        said.append(f"(log: {log})")
    return textwrap.indent("\n".join(filter(None, said)), "    ")


class LogHandler(LogHandlerBase):
    """Shows the events of a run to a person; with ``--verbose`` and the like as Snakemake does."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        self.start = time.monotonic()
        self.done = self.total = self.failed = 0
        #: Running jobs by number: name; the first word of the rule's, of which all take about as
        #: long; start.
        self.running: dict[int, tuple[str, str, float]] = {}
        self.left: Counter[str] = Counter()
        self.took: defaultdict[str, list[float]] = defaultdict(list)
        self.wanted: list[str] = []
        self.last: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record if a user asks what it says."""
        shown, event = self.common_settings, getattr(record, "event", "message")
        with contextlib.suppress(OSError):  # a closed terminal stops no run
            if shown.verbose or shown.printshellcmds or shown.debug_dag:
                print(self.format(record), flush=True)
            elif not STOPPED:
                getattr(self, f"on_{event}", lambda _: None)(record)

    def on_message(self, record: logging.LogRecord) -> None:
        """Keep warnings for the end."""
        text = record.getMessage().strip()
        if text.startswith("Nothing to be done"):
            self.last.append("Nothing to be done: all that was asked for is up to date.")
        elif record.levelno >= logging.WARNING and not self.failed:
            self.last.append(text)

    def on_run_info(self, record: logging.LogRecord) -> None:
        """Say how many jobs there are."""
        stats = dict(vars(record)["stats"])
        self.total = stats.pop("total")
        for rule, count in stats.items():
            self.left[rule.split("_")[0]] += count
        if not self.common_settings.dryrun:
            print(f"{self.total} jobs. Ctrl-C stops; the same command goes on.", flush=True)

    def on_job_info(self, record: logging.LogRecord) -> None:
        """Show a job: that it starts, or in a dry run why it would."""
        job = vars(record)
        name = job["rule_msg"] or job["rule_name"]
        if name == job["rule_name"]:
            name = name.replace("_", " ").capitalize()
        if self.common_settings.dryrun and job["output"]:
            print(textwrap.shorten(f"{name}. {job['reason']}", 200, placeholder=" ..."))
        if self.common_settings.dryrun:
            return
        self.running[job["jobid"]] = name, job["rule_name"].split("_")[0], time.monotonic()
        if job["output"]:
            print(f"{self.done:5} of {self.total} done{self.time_left():20}{name}", flush=True)
        else:
            self.wanted += job["input"]

    def on_job_finished(self, record: logging.LogRecord) -> None:
        """Note how long a job took."""
        _, of, start = self.running.pop(vars(record)["job_id"])
        self.took[of].append(time.monotonic() - start)
        self.left[of] -= 1
        self.done += 1

    def on_job_error(self, record: logging.LogRecord) -> None:
        """Show why a job failed, in its own words."""
        job = vars(record)
        name, _, _ = self.running.pop(job["jobid"], (job["rule_name"], "", 0))
        self.failed += 1
        print(f"FAILED: {name}\n{last_words(job['log'])}", flush=True)

    def on_error(self, record: logging.LogRecord) -> None:
        """Show what is no job's failure, without the places in our files that Snakemake adds."""
        text = record.getMessage()
        if "CalledProcessError" in text or "At least one job did not complete" in text:
            return
        self.failed += 1
        lines = [
            one for one in text.splitlines() if not re.match(r' *File "|\w+( in file .*)?:$', one)
        ]
        print(unwritable(".") or "\n".join(filter(str.strip, lines)), flush=True)

    def time_left(self) -> str:
        """Return an estimate by the jobs of the same kind, once enough have been done."""
        times = [one for some in self.took.values() for one in some]
        if len(times) < max(3, self.total / 20):
            return ""
        now = time.monotonic()
        usual = {of: sum(some) / len(some) for of, some in self.took.items()}
        mean = sum(usual.values()) / len(usual)
        ages = [(now - start, usual.get(of, mean)) for _, of, start in self.running.values()]
        work = sum(count * usual.get(of, mean) for of, count in self.left.items())
        at_once = (sum(times) + sum(age for age, _ in ages)) / (now - self.start)
        return f", about {duration((work - sum(map(min, ages))) / at_once)} left"

    def close(self) -> None:
        """End with the warnings and with where to look; a second call says nothing."""
        last, self.last, total, self.total = self.last, [], self.total, 0
        if STOPPED or not (last or total):
            return
        shown = self.common_settings.dryrun
        if total and self.failed:
            last.append(
                f"{self.failed} of {total} jobs failed; once mended, the same command goes on."
            )
        elif total and shown:
            last.append(f"{total} jobs would run; this was a dry run.")
        elif total:
            last.append(f"{total} jobs done in about {duration(time.monotonic() - self.start)}.")
        made = [file for file in self.wanted if file.endswith(".html")] or self.wanted or [PAGE]
        if not self.failed and not shown and os.path.exists(made[0]):
            more = f" and {len(made) - 1} more" if made[1:] else ""
            last.append(f"Look at {made[0]}{more}.")
        with contextlib.suppress(OSError):
            print("\n".join(last), flush=True)
