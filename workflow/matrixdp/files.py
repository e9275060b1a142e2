"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from matrixdp import stamps
from matrixdp.checks import InputError, why


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it takes the name, on error it goes.

    The rename is atomic, so that a killed or orphaned job never leaves half a file under a name
    that a later job would trust.

    Raises:
        InputError: the folder cannot be written or the disk is full.
    """
    target = Path(path)
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # What a job left that was killed while it wrote; two jobs never write the same file.
        for stale in target.parent.glob(f".{target.name}.*"):
            stale.unlink(missing_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix="".join(target.suffixes), dir=target.parent
        )
        os.close(handle)
        temporary = Path(name)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, target)
        stamps.write(target)
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({why(error)}); free some space or choose a folder that "
            "you may write to"
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write ``text`` to ``path`` in one step (see :func:`replacing`)."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def restored(made: str, *paths: str | os.PathLike) -> bool:
    """Return whether these files were kept, made from just this, and then put them in place.

    Args:
        made: a digest of all that they rest on, which :func:`keep` was given.
        paths: of the files.
    """
    found = {os.fspath(path): stamps.kept(path) for path in paths}
    if any(one is None or one[1] != {"": made} for one in found.values()):
        return False
    for path, one in found.items():
        if one is not None:
            with replacing(path) as temporary:
                shutil.copyfile(one[0], temporary)
    keep(made, *paths)
    return True


def keep(made: str, *paths: str | os.PathLike) -> None:
    """Keep files for the next job that would make them from the same, see :func:`restored`."""
    for path in paths:
        stamps.write(path, {"": made})
