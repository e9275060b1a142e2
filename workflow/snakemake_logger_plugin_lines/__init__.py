"""What `make` shows of a run, as Snakemake's logger `lines`: errors, and one line on how far it is.

On a terminal the line is renewed in its place; in a file there is one a minute. A dry run shows its
plan. :mod:`reproduction.terminal` has the words. It is imported where it is used: Snakemake imports
this module, wanted or not, before it reads a Snakefile, and that of another clone has a package of
its own.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

KEPT = Path("results/reference")

#: What to do about the lock of a run that was killed, also with its terminal.
UNLOCK = "If no other run is going on here, say `.venv/bin/snakemake --unlock` and start again."

#: Seconds from line to line, on a terminal and elsewhere.
ON_TERMINAL, IN_FILE = 1, 60


class LogHandler(LogHandlerBase):
    """Snakemake's handler of what it logs."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        from reproduction import terminal

        self.progress = terminal.Progress({})
        self.jobs: list[tuple[str, str]] = []
        self.counts: dict[str, int] = {}
        self.folder: Path | None = None
        self.on_terminal = sys.stderr.isatty()
        self.ended = threading.Event()
        self.shown = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Note an event; show what is wrong, and that there is nothing to do."""
        event, now = getattr(record, "event", None), time.time()
        if event == LogEvent.RUN_INFO and not self.counts:
            self.counts = dict(record.stats)
            self.progress.left.update({k: n for k, n in record.stats.items() if k != "total"})
            if not self.common_settings.dryrun:
                threading.Thread(target=self._repeat, daemon=True).start()
        elif event == LogEvent.RESOURCES_INFO:
            self.progress.cores = getattr(record, "cores", None) or self.progress.cores
        elif event == LogEvent.JOB_INFO:
            name = record.rule_msg or record.rule_name
            self.jobs.append((name, record.reason))
            self.progress.start(record.jobid, record.rule_name, name, now)
            self._find_folder(record.log)
        elif event == LogEvent.JOB_FINISHED:
            self.progress.end(record.job_id, now)
        elif event == LogEvent.SHELLCMD:
            if self.common_settings.printshellcmds and record.shellcmd:
                self._write(record.getMessage(), lasting=True)
        elif record.levelno >= logging.WARNING or record.getMessage().startswith("Nothing to be"):
            self.progress.running.pop(getattr(record, "jobid", None), None)
            text = self.format(record)
            self._write(text, lasting=True)
            if "--unlock" in text:
                self._write(UNLOCK, lasting=True)

    def close(self) -> None:
        """Show the plan, or that the last job has ended, and keep how long the jobs took."""
        from reproduction import terminal

        if not self.ended.is_set():
            self.ended.set()
            if self.common_settings.dryrun and self.counts:
                seconds = self.progress.seconds
                print(*terminal.plan(self.jobs, self.counts, seconds), sep="\n")
            elif self.counts:
                self._write(self.progress.line(time.time()), lasting=True)
                if self.folder and self.progress.times:
                    terminal.write_seconds(self.folder, self.progress.means())
        super().close()

    def _find_folder(self, logs: list[str]) -> None:
        """Find the folder of the results by the log of a job, and what is known of times there."""
        from reproduction import terminal

        if not self.folder and logs and "/logs/" in logs[0]:
            self.folder = Path(logs[0].partition("/logs/")[0])
            beside = KEPT / self.folder.name
            self.progress.seconds = terminal.read_seconds(self.folder, beside, KEPT)

    def _repeat(self) -> None:
        while not self.ended.wait(ON_TERMINAL if self.on_terminal else IN_FILE):
            with self.lock:
                self._write(self.progress.line(time.time()))

    def _write(self, text: str, lasting: bool = False) -> None:
        """Write a text; on a terminal the next one takes its place, but for one that lasts."""
        if not self.on_terminal:
            print(text, file=sys.stderr, flush=True)
            return
        end = "\n" if lasting else ""
        print(f"\r\033[K{text}", end=end, file=sys.stderr, flush=True)
