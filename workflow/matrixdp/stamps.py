"""What a table of numbers was when it was written, and what it was made from.

The stamp of ``summary/regression.csv`` is ``stamps/summary/regression.csv.json`` below the run's
folder, so that tables stay plain CSV. Whoever reads a table checks its stamp. A file without one is
taken as it is: kept results, for which git vouches, have none.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path

from matrixdp.checks import InputError
from matrixdp.places import SETTINGS


def write(path: str | os.PathLike, **facts: str) -> None:
    """Write the stamp of a CSV file, gzipped or not, that lies in a run's folder.

    Args:
        path: of the file; of another one, or elsewhere, nothing is written.
        facts: digests of the settings and the code that it was made from, where they are known.
    """
    file, stamp = Path(path), _place(path)
    if stamp is None:
        return
    content = file.read_bytes()
    text = gzip.decompress(content) if file.suffix == ".gz" else content
    said = {"rows": max(text.count(b"\n") - 1, 0), "sha256": _sha256(content), **facts}
    stamp.parent.mkdir(parents=True, exist_ok=True)
    # One job writes one file: nobody reads this before the job has ended.
    stamp.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def check(path: str | os.PathLike, **facts: str) -> None:
    """Check that a file is what was written, from what it must rest on.

    Args:
        path: of the file.
        facts: as for :func:`write`; those that its stamp lacks are not compared.

    Raises:
        InputError: it was changed since, or made from something else.
    """
    stamp = _place(path)
    if stamp is None or not stamp.is_file() or not Path(path).is_file():
        return
    try:
        said = dict(json.loads(stamp.read_text(encoding="utf-8")))
    except ValueError:
        raise InputError(f"{stamp} is damaged; delete {path} and run again") from None
    if said.get("sha256") != _sha256(Path(path).read_bytes()):
        raise InputError(
            f"{path} is not as it was written (with {said.get('rows')} rows); delete it and run "
            "again, which makes it anew"
        )
    for name, value in facts.items():
        if said.get(name, value) != value:
            raise InputError(f"{path} was made from other {name}; delete it and run again")


def _place(path: str | os.PathLike) -> Path | None:
    """Return where the stamp of a file lies: below the nearest folder that is a run's."""
    file = Path(path)
    if not file.name.endswith((".csv", ".csv.gz")):
        return None
    for folder in file.parents:
        if (folder / SETTINGS).is_file():
            return folder / "stamps" / f"{file.relative_to(folder)}.json"
    return None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
