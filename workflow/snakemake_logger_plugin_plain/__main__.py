"""Snakemake as `make` runs it: by this folder's path, to meet Ctrl-C from the first import on."""

import os
import signal
import sys
from types import FrameType

stopped: list[bool] = []


def stop(number: int, frame: FrameType | None) -> None:
    """Note that the user stops the run, before anything fails of it."""
    stopped.append(True)
    raise KeyboardInterrupt


def main() -> None:
    """Run Snakemake with the arguments of this process."""
    signal.signal(signal.SIGINT, stop)
    try:
        import logging

        from snakemake.cli import main as snakemake

        import snakemake_logger_plugin_plain as plain

        plain.STOPPED = stopped
        logging.raiseExceptions = False  # a full disk is told once, not for every line of the log
        snakemake(["--logger=plain", *sys.argv[1:]])
    except (KeyboardInterrupt, SystemExit):
        if not stopped:
            raise
    if stopped:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        print("\nStopped. The same command goes on from here.", flush=True)
        os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
