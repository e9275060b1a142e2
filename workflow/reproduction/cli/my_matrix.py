"""Prepare a matrix of your own for a comparison of all mechanisms on it."""

from __future__ import annotations


def run(*, settings: str, out: str) -> None:
    """Run the verb.

    Args:
        settings: the file and what is public of it, a JSON object
        out: folder for the matrix and provenance.json
    """
    import json

    from reproduction.my_matrix import prepare

    prepare(json.loads(settings), out)
