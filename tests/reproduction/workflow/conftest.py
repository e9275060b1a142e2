from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tinyproject import ROOT, TinyProject, clone


@pytest.fixture(scope="session")
def once(common: Callable[..., Path]) -> Callable:
    """Return a function that makes a folder once for all test processes."""

    def make(name: str, fill: Callable[[Path], object]) -> TinyProject:
        return TinyProject(common(name, lambda folder: fill(folder / "project")) / "project")

    return make


@pytest.fixture(scope="session")
def shipped(once: Callable) -> TinyProject:
    """A fresh clone with the configuration that it comes with; only for looking."""
    return once("shipped", clone)


@pytest.fixture(scope="session")
def unrun(once: Callable, shipped: TinyProject) -> TinyProject:
    """A fresh clone with the tiny configuration; only for copying."""
    return once("unrun", lambda folder: shipped.copy(folder).configure())


@pytest.fixture(scope="session")
def finished(once: Callable, unrun: TinyProject) -> TinyProject:
    """A finished run of the tables on simulated data; only for looking and copying."""
    return once("finished", lambda folder: unrun.copy(folder).make("mvg", "-c2"))


@pytest.fixture
def fresh(unrun: TinyProject, tmp_path: Path) -> TinyProject:
    """A clone of its own to run."""
    return unrun.copy(tmp_path / "my project")


@pytest.fixture
def again(finished: TinyProject, tmp_path: Path) -> TinyProject:
    """A finished run of its own to change."""
    return finished.copy(tmp_path / "my project")


@pytest.fixture(scope="session")
def mirror() -> str:
    """The original files, where a copy of them lies beside the project."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no copy of the original files lies beside the project")
    return str(folder)
