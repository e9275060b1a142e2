"""``python -m reproduction VERB``: a step of the workflow."""

from __future__ import annotations

import sys

from reproduction import environment, glibc

# Before anything else is imported, which might read them.
environment.fix()
glibc.keep_memory()


def main() -> int:
    """Run one verb and return the exit status; an interrupt ends without a traceback."""
    try:
        from reproduction import cli

        return cli.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
