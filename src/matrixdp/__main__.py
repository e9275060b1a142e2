"""``python -m matrixdp VERB``, and the command ``matrixdp``."""

from __future__ import annotations

import os
import sys

# Jobs run in parallel; additional BLAS threads would compete for the cores.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> int:
    """Run one verb and return the exit status; an interrupt ends without a traceback."""
    try:
        from matrixdp import cli
        from matrixdp.cli import terminal

        terminal.escape_output()
        return cli.main()
    except KeyboardInterrupt as interrupt:
        # The verb `release` says what was charged.
        print(f"matrixdp: interrupted; {interrupt}".removesuffix("; "), file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
