"""Facts on a run's machine and time, which results do not contain."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import subprocess
import tomllib
from pathlib import Path

from reproduction import environment

ROOT = Path(__file__).parents[4]
UNKNOWN = "unknown"


def facts(root: Path = ROOT) -> dict[str, str]:
    """Return commit, processor, cores, system, Python and the host's choices, in this order."""
    return {
        "Git commit": commit(root),
        "Processor": _processor(),
        "Cores": str(
            len(getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0))
        ),
        "System": f"{platform.system()} {platform.release()} ({platform.machine()})",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **environment.choices(),
    }


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the installed version of every direct dependency of a run in ``pyproject.toml``."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, tomllib.TOMLDecodeError, KeyError):
        return {}
    needed = project["dependencies"] + project.get("optional-dependencies", {}).get("workflow", [])
    names = (re.split(r"[^A-Za-z0-9_.-]", text, maxsplit=1)[0] for text in needed)
    return {name: _version(name) for name in names}


def commit(root: Path = ROOT) -> str:
    """Return the checked-out commit and whether tracked files differ from it."""
    if not (root / ".git").exists():
        return "not in a git repository"
    words = ("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *words],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return done.stdout.strip().replace("-dirty", ", with changes that are not committed")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if match := re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, re.MULTILINE):
            return match[1]
    return platform.processor() or UNKNOWN
