"""Snakemake as `make` runs it; Ctrl-C ends it with a sentence."""

import logging
import os
import signal
import sys
from types import FrameType

from snakemake_logger_plugin_plain import AGAIN, STOPPED


def stop(number: int, frame: FrameType | None) -> None:
    """Note that the user stops the run, before anything fails of it."""
    STOPPED.set()
    raise KeyboardInterrupt


def main() -> None:
    """Run Snakemake with the arguments of this process."""
    signal.signal(signal.SIGINT, stop)
    logging.raiseExceptions = False  # a full disk is told once, not for every line of the log
    try:
        from snakemake.cli import main as snakemake

        snakemake(["--logger=plain", *sys.argv[1:]])
    except (KeyboardInterrupt, SystemExit):
        if not STOPPED.is_set():
            raise
    if STOPPED.is_set():
        print(f"\nStopped. {AGAIN}", flush=True)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
