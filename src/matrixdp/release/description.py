"""What describes a draw: its answer, the notes beside it, and how large its files may be."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import plural, why
from matrixdp.mechanisms.in_parts import Outcome
from matrixdp.release import missing, provenance, receipt, tables, words
from matrixdp.release.answer import Answer, file_names
from matrixdp.release.outputs import Bounds, Output
from matrixdp.release.outputs.noisy import Draw, Noisy, draw_content
from matrixdp.release.outputs.output import DOUBTS, UNCLIPPED, WHOLE

#: Upper bounds in bytes: a number as text, a number with its interval in JSON, all else in a file.
NUMBER, ENTRY, FILE = 32, 128, 1 << 14

#: Largest number of notes of one kind.
_SENTENCES = 4


@dataclass(frozen=True)
class Description:
    """What makes an answer of a draw.

    Attributes:
        spec: what is released, with the output of the mechanism that is taken.
        statement: its receipt.
        read: maps a draw to what the output reads.
        notes: sentences on the file.
    """

    spec: Output
    statement: dict[str, Any]
    read: Callable[[Draw], Noisy]
    notes: Sequence[str] = ()

    def describe(self, draw: Draw) -> Answer:
        """Return the answer of a draw, with all that stands beside it."""
        spec, noisy = self.spec, self.read(draw)
        header, rows = spec.table(spec.answer(noisy))
        details = json.loads(json.dumps(spec.described(noisy)))
        notes = [
            *receipt.cautions(spec),
            *self.notes,
            *notes_of_release(spec, rows, details, self.statement),
        ]
        return Answer(spec.name, header, rows, details, self.statement, notes)

    def answer(self, draw: Draw, request: Output) -> Answer:
        """Return the answer of a draw, or its numbers alone where their description fails.

        Args:
            draw: what was drawn.
            request: what it was drawn for, by the mechanism that drew it. An answer that is one of
                several may have the columns in another order.
        """
        try:
            return self.describe(draw)
        # Whatever fails: what was charged is answered.
        except Exception as error:
            reason = why(error)
        content = draw_content(draw)
        rows = content["value" if "value" in content else "moments"]
        details = {
            "draw": content,
            "columns": [*request.columns],
            "middle": request.middle.tolist(),
            "half": request.half.tolist(),
        }
        undivided = "; the details state the centre and the weight that divides"
        note = (
            f"the description of this answer fails ({reason}), so that it has the noisy numbers as "
            f"they were drawn: {request.draw_title}{undivided * isinstance(draw, Outcome)}"
        )
        # Several answers of a release have the numbers in files of their own, with their receipts.
        name = f"draw_of_{self.spec.name}"
        return Answer(name, request.draw_header, rows, details, self.statement, [note])

    def sizes(self, numbers: int) -> dict[str, int]:
        """Return upper bounds in bytes on the files of an answer of so many numbers, by name."""
        output = self.spec
        columns, names = len(output.columns), len(json.dumps(output.columns))
        rows = len(json.dumps([*output.row_names]))
        # Numbers and intervals are named by column, or by row and column.
        entries = (len(output.row_names) + 2) * (ENTRY * (columns + 2) + 2 * names) + 4 * rows
        roles = file_names(output.name)
        texts = Answer(output.name, [], [], {}, self.statement).files()
        sizes = {name: len(text.encode()) for name, text in texts.items()}
        sizes[roles["release"]] = FILE + 2 * (names + rows) + NUMBER * numbers
        sizes[roles["details"]] = FILE + entries * (not isinstance(output, Bounds))
        return sizes


def columns_without_bounds(spec: Output) -> list[str]:
    """Return a sentence on the columns that have no bounds, if there are any.

    It counts them alone: the first line of a file may be a record.
    """
    if "bounds" in spec.lacks:
        return []
    used = len(spec.layout[0]) + bool(spec.people)
    rest = tables.width(spec.file, spec.dialect, spec.frame, spec.parts) - used
    if rest <= 0:
        return []
    verb = "has" if rest == 1 else "have"
    return [
        f"{plural(rest, 'column')} of {spec.file} {verb} no bounds, and nothing is said of them"
    ]


def notes_of_release(
    spec: Output,
    rows: Sequence[Sequence[Any]],
    details: Mapping[str, Any],
    statement: Mapping[str, Any],
) -> list[str]:
    """Return sentences on what no interval covers: missing values, clipping, and what is empty.

    They follow from what is public or released.
    """
    if isinstance(spec, Bounds):
        return provenance.failure(rows)
    notes = [statement["groups"]] if "groups" in statement else []
    fills = spec.skips_missing or not np.isnan(spec.fill).any()
    if fills and missing.can_occur(spec.file, spec.book):
        notes.append(statement["rule_for_missing_values"])
    if found := provenance.describe(statement):
        notes.append(found)
    if "readings" in statement:
        notes.append(statement["readings"])
    return [*notes, *answer_notes(spec, details)]


def answer_notes(
    output: Output, details: Mapping[str, Any], *, most: int = _SENTENCES
) -> list[str]:
    """Return sentences on what an answer is not, by its details, whatever the door.

    Args:
        output: what is released.
        details: what stands beside the answer.
        most: how many sentences of one kind.
    """
    notes = [details["clipping"]] if details.get("clipping", WHOLE) != WHOLE else []
    if clipped := details.get(UNCLIPPED, {}):
        names = words.join_columns([*clipped])
        notes.append(
            f"noise took the mean of {names} beyond its bounds, and the answer "
            f"has the nearest bound; {UNCLIPPED} in the details has it as the noise left it"
        )
    for key in ("empty", DOUBTS):
        sentences = details.get(key, [])
        notes += sentences[:most]
        if more := len(sentences[most:]):
            notes.append(f"the same holds of {more} more; {key} in the details has all of them")
    return notes
