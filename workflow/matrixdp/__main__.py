"""``python -m matrixdp VERB``, and the command ``matrixdp``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run one verb and return the exit status; an interrupt ends without a traceback."""
    try:
        from matrixdp import cli

        return cli.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
