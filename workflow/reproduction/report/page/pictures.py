"""Files inside the page: figures and CSV files as short ``data:`` addresses.

The page has a figure's headline as text, and shows what is below the headline in the drawing. In
the dark its colours are turned by style.css.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

#: The page contains the data of a table or figure up to this size, in bytes.
DATA_LIMIT = 100_000

#: Unescaped characters of an address in double quotes in HTML: not ``"``, ``#``, ``%``, ``&``.
_SAFE = " !$'()*+,-./:;<=>?@[]^_`{|}~"
_ASIDE = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", flags=re.DOTALL
)


@dataclass(frozen=True)
class Picture:
    """A figure's address, and its width and height in pixels."""

    source: Markup
    width: int
    height: int


def read_picture(svg: Path, above: float = 0) -> Picture:
    """Return a figure from its SVG file, without so many points at its top."""
    text = re.sub(r"\s+", " ", _ASIDE.sub("", svg.read_text(encoding="utf-8"))).strip()
    # Single quotes need no escape inside an address.
    text = text if "'" in text else text.replace('"', "'")
    # The size of the whole drawing would distort the part.
    text = re.sub(r"(<svg[^>]*?) width=.[\d.]+pt. height=.[\d.]+pt.", r"\1", text)
    box = re.search(r"(?<=viewBox=.)([\d.-]+) ([\d.-]+) ([\d.]+) ([\d.]+)", text)
    left, top, width, height = map(float, box.groups()) if box else (0, 0, 675, 450)
    if box:
        part = f"{left:g} {top + above:g} {width:g} {height - above:g}"
        text = text[: box.start()] + part + text[box.end() :]
    # Points are three quarters of a CSS pixel. The address is escaped here, and not again.
    size = (round(side * 4 / 3) for side in (width, height - above))
    return Picture(Markup(address("image/svg+xml", text)), *size)


def address(media_type: str, text: str) -> str:
    """Return text as a ``data:`` address that can stand between double quotes in HTML."""
    return f"data:{media_type};charset=utf-8,{quote(text, safe=_SAFE)}"


def data_uri(path: Path) -> str:
    """Return a CSV file as an address; empty if it is missing or too large."""
    if not path.is_file() or path.stat().st_size > DATA_LIMIT:
        return ""
    return address("text/csv", path.read_text(encoding="utf-8"))
