"""``python -m matrixdp VERB``."""

import sys

from matrixdp.cli import main

sys.exit(main())
