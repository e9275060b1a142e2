"""Texts of a figure that are drawn, those that cover each other, and those that are cut."""

from unittest import mock

from matplotlib.text import Text


def texts_of(drawing):
    """Return the texts that drawing a figure draws, each once."""
    drawn = {}
    draw = Text.draw
    with mock.patch.object(Text, "draw", lambda self, at: (drawn.setdefault(self), draw(self, at))):
        drawing.draw_without_rendering()
    return [text for text in drawn if text.get_text().strip()]


def overlaps(texts):
    """Return the pairs of texts that cover each other by more than a pixel."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [
        (first, second)
        for i, (first, a) in enumerate(boxes)
        for second, b in boxes[:i]
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]


def outside(texts, drawing):
    """Return the texts that leave the figure by more than a pixel."""
    box = drawing.bbox
    extents = [(text.get_text(), text.get_window_extent()) for text in texts]
    return [
        text
        for text, a in extents
        if min(a.x0, a.y0) < -1 or a.x1 > box.x1 + 1 or a.y1 > box.y1 + 1
    ]
