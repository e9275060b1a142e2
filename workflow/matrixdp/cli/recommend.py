"""Rank the mechanisms for a query by their noise, from public facts alone.

The specification is that of `matrixdp release`; its file of records is not looked at.
"""

from __future__ import annotations

from pathlib import Path


def run(specification: str) -> None:
    """List the mechanisms, the least noise first.

    Args:
        specification: the TOML file that says what is released
    """
    from matrixdp.practice import release
    from matrixdp.practice.specification import read

    asked = read(Path(specification))
    listed = release.options(asked)
    width = max(len(one.name) for one in listed)
    for one in listed:
        print(f"{one.name:{width}}  {release.says(one)}")
