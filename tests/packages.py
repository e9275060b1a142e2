"""Where the packages lie, for programs that tests start."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Results that stand in the repository.
KEPT = ROOT / "results/reference"

#: PYTHONPATH with the library, and the study that uses it.
PATH = os.pathsep.join([str(ROOT / "src"), str(ROOT / "workflow")])
