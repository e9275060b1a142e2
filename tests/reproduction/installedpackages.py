"""Small packages that lie in a folder as an installer leaves them, and wheels of such folders."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

GROUP = "matrixdp.mechanisms"


def install(
    folder: Path,
    modules: Mapping[str, str],
    points: Mapping[str, str],
    *,
    name: str = "matrix-noise",
    version: str = "1.0",
) -> Path:
    """Write a package with these modules and entry points, and return the folder of its notes.

    Args:
        folder: what is on the path of Python.
        modules: text by path, such as ``matrix_noise/calm.py``.
        points: value by name of mechanism, such as ``matrix_noise.calm:Calm``.
        name, version: of the package.
    """
    notes = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    texts = {
        **modules,
        f"{notes.name}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{notes.name}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{notes.name}/entry_points.txt": "\n".join(
            [f"[{GROUP}]", *(f"{key} = {value}" for key, value in points.items())]
        ),
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    listed = [*texts, f"{notes.name}/RECORD"]
    (notes / "RECORD").write_text("".join(f"{path},,\n" for path in listed))
    return notes


def build(source: Path, folder: Path) -> Path:
    """Return a wheel of the project in a folder, without network and without setuptools."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    modules = {
        file.relative_to(source).as_posix(): file.read_text() for file in source.rglob("*.py")
    }
    points = project["entry-points"][GROUP]
    with tempfile.TemporaryDirectory() as place:
        notes = install(
            Path(place), modules, points, name=project["name"], version=project["version"]
        )
        wheel = folder / f"{notes.name.removesuffix('.dist-info')}-py3-none-any.whl"
        folder.mkdir(exist_ok=True)
        with zipfile.ZipFile(wheel, "w") as archive:
            for file in sorted(Path(place).rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(place))
    return wheel


def add(wheel: Path, library: Path) -> None:
    """Install a wheel into a folder of packages, by pip where it is there."""
    if importlib.util.find_spec("pip"):
        words = ["install", "-q", "--no-deps", "--no-index", "--target", library, wheel]
        subprocess.run([sys.executable, "-m", "pip", *map(str, words)], check=True)
        return
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(library)
