"""Ask every address of the data sets, each by itself: does it still give what its checksum says?

One line for each that does not, with the sentence that a user would get; then the exit code is 1.
Mend workflow/datasets.yaml then.
"""

import functools
import sys
import tempfile
from pathlib import Path

from matrixdp.checks import InputError
from reproduction.data import datasets, download, store

code = 0
for spec in datasets.specs().values():
    for name, file in spec.files.items():
        for url in file.urls or ():
            print(f"{spec.name}: {url}", flush=True)
            one = file.model_copy(update={"urls": [url]})
            alone = spec.model_copy(update={"files": {name: one}})
            try:
                with tempfile.TemporaryDirectory() as folder:
                    # Of an archive without a known checksum the records decide.
                    read = functools.partial(store.decode, spec) if spec.members else None
                    download.fetch(alone, Path(folder), read=read)
            except InputError as error:
                print(f"FAILED: {error}", flush=True)
                code = 1
sys.exit(code)
