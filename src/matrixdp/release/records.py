"""The records of a release, block by block, as they count and as its mechanism takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from matrixdp.checks import Array, InputError, plural
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.release import Release, Rows
from matrixdp.privacy import exact_sums
from matrixdp.privacy.domain import block_rows
from matrixdp.release import tables
from matrixdp.release.outputs import Output
from matrixdp.release.sums import Sums

#: Numbers of records that are held in memory, half a gibibyte, so that a release in parts reads its
#: file once. To parse the text of a file takes longer than all that is computed from it.
_HELD = 1 << 26


def read_blocks(spec: Output) -> Iterator[Array]:
    """Yield blocks (k, m) of the records that count, however many, in the columns' units.

    Raises:
        InputError: the file is bad.
    """
    columns, fill, book = spec.layout
    return tables.blocks(
        *(spec.file, columns, fill, spec.people, spec.dialect),
        frame=spec.frame,
        keep_missing=spec.skips_missing,
        book=book,
        names=spec.parts,
    )


def read_records(spec: Output) -> Iterator[Array]:
    """Yield blocks (k, m) of the records that count, in the columns' units.

    A private number of records is not checked: an error would reveal it.

    Raises:
        InputError: the public number of records is not the stated one, or the file is bad.
    """
    count, expected, people = 0, spec.records, spec.people
    for block in read_blocks(spec):
        count += len(block)
        if count <= expected or spec.query.add_or_remove:
            yield block
    if count != expected and not spec.query.add_or_remove:
        which = f", at most {people.most} of each {people.column!r}" if people else ""
        raise InputError(
            f"{spec.file} has {plural(count, 'record')}{which}, and the specification says "
            f"records = {expected}; correct one"
        )


def prepare(spec: Output, release: Release) -> Callable[[], Any]:
    """Read the records of a specification, or their merged sums; return what draws the release.

    Raises:
        InputError: as :func:`read_records`; or the parts were summed for another query.
    """
    if not isinstance(spec.frame, Sums):
        return release.prepare(scaled_records(spec, release))
    assert isinstance(release, AdditiveMechanism)
    value = exact_sums.value_of_steps(release.query, spec.frame.count, spec.frame.steps)
    return lambda: release.release_value(value)


def scaled_records(spec: Output, release: Release) -> Rows:
    """Return a function that yields the scaled records in blocks, anew in each call.

    A release in parts reads its records again after its charge, when a file may have changed or
    gone. Those of up to ``_HELD`` numbers are therefore held in memory.
    """

    def scaled() -> Iterator[Array]:
        for block in read_records(spec):
            # A query may have many more numbers than a record has columns.
            step = block_rows(spec.query.features, len(block) or 1)
            for start in range(0, len(block), step):
                yield spec.scaled(block[start : start + step])

    if not release.costs or spec.records * spec.box.features > _HELD:
        return scaled
    blocks, held = [], 0
    for block in scaled():
        blocks.append(block)
        held += block.size
        # A private number of records may be far above the stated one.
        if held > _HELD:
            return scaled
    return lambda: blocks
