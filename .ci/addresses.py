"""Ask every address of the data sets, each by itself: does it still give what its checksum says?

One line for each that does not, with the sentence that a user would get; then the exit code is 1.
Mend workflow/datasets.yaml then.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from matrixdp.checks import InputError
from reproduction.data import datasets, download

code = 0
for spec in datasets.specs().values():
    for file in spec.files:
        for url in file.urls:
            print(f"{spec.name}: {url}", flush=True)
            alone = replace(spec, files=(replace(file, urls=(url,)),))
            try:
                with tempfile.TemporaryDirectory() as folder:
                    download.fetch(alone, Path(folder))
            except InputError as error:
                print(f"FAILED: {error}", flush=True)
                code = 1
sys.exit(code)
