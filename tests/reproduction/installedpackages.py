"""Small packages that lie in a folder as an installer leaves them."""

from __future__ import annotations

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
