"""Atomic writing of files, which appear complete or not at all; reading of YAML."""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matrixdp.checks import InputError, as_input_error, why


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` on success and is deleted on error.

    The rename is atomic, so that a killed or orphaned job never leaves half a file under a name
    that a later job would trust.

    Raises:
        InputError: the folder cannot be written or the disk is full.
    """
    target = Path(path)
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Delete leftovers of a killed job; two jobs never write the same file.
        prefix = f".matrixdp-{target.name}-"
        for stale in target.parent.glob(f"{glob.escape(prefix)}*"):
            stale.unlink(missing_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=prefix, suffix="".join(target.suffixes), dir=target.parent
        )
        os.close(handle)
        temporary = Path(name)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, target)
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


def read_yaml(path: str | os.PathLike) -> Any:
    """Return the content of a YAML file.

    Raises:
        InputError: it is missing, or no YAML.
    """
    import yaml  # which the library alone does without

    # The parser in C is ten times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with as_input_error(f"{path} is not valid YAML ({{why}}); correct it"):
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=loader)
