"""Files inside the page: figures and CSV files as short ``data:`` addresses.

A figure is an SVG, and another one for telephones. The page has its headline as text, and shows
what is below the headline in the drawing. In the dark its colours are turned by style.css.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

#: The page contains the data of a table or figure up to this size, in bytes.
DATA_LIMIT = 50_000

#: Unescaped characters of an address in double quotes in HTML: not ``"``, ``#``, ``%``, ``&``.
_SAFE = " !$'()*+,-./:;<=>?@[]^_`{|}~"
_ASIDE = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", flags=re.DOTALL
)
_LONG = re.compile(r"-?\d+\.\d{3,}")
_ID, _STYLE = re.compile(r' id="([^"]*)"'), re.compile(r' style="([^"]*)"')
_SHIFT = re.compile(r'(<use [^>]*)transform="translate\(([\d.]+) 0\)"')
_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_ZEROS = re.compile(r"\.00\b|(?<=\.\d)0\b|(?<!\d)0(?=\.\d*[1-9])")
_COORDINATES = re.compile(r'(?<=\s)(d|x|y)="([^"]*)"')


@dataclass(frozen=True)
class Picture:
    """A figure's address, and its width and height in pixels."""

    source: Markup
    width: int
    height: int


def read(svg: Path, above: float = 0) -> Picture:
    """Return a figure from its SVG file, without so many points at its top."""
    text = slim(svg.read_text(encoding="utf-8"))
    box = re.search(r"viewBox=['\"]([\d.-]+) ([\d.-]+) ([\d.]+) ([\d.]+)", text)
    left, top, width, height = map(float, box.groups()) if box else (0, 0, 675, 450)
    quote_mark = "'" if "viewBox='" in text else '"'
    cut = f"{left:g} {top + above:g} {width:g} {height - above:g}"
    text = re.sub(
        r"viewBox=(['\"])[^'\"]*\1", f"viewBox={quote_mark}{cut}{quote_mark}", text, count=1
    )
    # The size of the whole drawing would distort the part.
    text = re.sub(
        r"(<svg[^>]*?) (?:width=['\"][\d.]+pt['\"] height=['\"][\d.]+pt['\"])", r"\1", text
    )
    # Points are three quarters of a CSS pixel. The address is escaped here, and not again.
    size = (round(side * 4 / 3) for side in (width, height - above))
    return Picture(Markup(address("image/svg+xml", text)), *size)


def slim(svg: str) -> str:
    """Return an SVG without metadata, line ends and digits beyond a hundredth of a point.

    Styles of several elements become classes, and identifiers become short.
    """
    svg = _ASIDE.sub("", svg)
    svg = _COORDINATES.sub(_shorten, svg)
    # Shifts of a text's letters are in hundredths of a point.
    svg = _SHIFT.sub(lambda match: f'{match[1]}x="{float(match[2]):.1f}"', svg)
    svg = re.sub(r">\s+<", "><", re.sub(r"\s+", " ", svg)).strip()
    svg = svg.replace("xlink:href=", "href=")
    styles = Counter(_STYLE.findall(svg))
    names = {text: f"s{i}" for i, (text, n) in enumerate(styles.most_common()) if n > 1}
    svg = _STYLE.sub(
        lambda match: f' class="{names[match[1]]}"' if match[1] in names else match[0], svg
    )
    rules = "".join(f".{name}{{{text}}}" for text, name in names.items())
    svg = svg.replace("<defs>", f"<defs><style>{rules}</style>", 1) if rules else svg
    used = {*re.findall(r'(?:href="|url\()#([^")]+)', svg)}
    short = {name: f"i{i}" for i, name in enumerate(_ID.findall(svg)) if name in used}
    svg = _ID.sub(lambda match: f' id="{short[match[1]]}"' if match[1] in short else "", svg)
    svg = re.sub(
        r'((?:href="|url\()#)([^")]+)', lambda match: match[1] + short.get(match[2], match[2]), svg
    )
    # Single quotes need no escape inside an address.
    return svg if "'" in svg else svg.replace('"', "'")


def address(media_type: str, text: str) -> str:
    """Return text as a ``data:`` address that can stand between double quotes in HTML."""
    return f"data:{media_type};charset=utf-8,{quote(text, safe=_SAFE)}"


def data_uri(path: Path) -> str:
    """Return a CSV file as an address; empty if it is missing or too large."""
    if not path.is_file() or path.stat().st_size > DATA_LIMIT:
        return ""
    return address("text/csv", path.read_text(encoding="utf-8"))


def _shorten(match: re.Match[str]) -> str:
    numbers = _relative(match[2]) if match[1] == "d" else _LONG.sub(_round, match[2])
    return f'{match[1]}="{numbers}"'


def _relative(path: str) -> str:
    """Return a path of lines and curves with relative coordinates, which are shorter.

    Each step leads from one rounded point to the next, so that rounding errors do not add up.
    """
    parts, start, at = [], (0.0, 0.0), (0.0, 0.0)
    for letter, text in _COMMAND.findall(path):
        if letter not in "MLQCz":
            return _LONG.sub(_round, path)
        values = [round(float(number), 2) for number in text.split()]
        steps = (round(value - at[i % 2], 2) + 0.0 for i, value in enumerate(values))
        line = " ".join(f"{step:.2f}" for step in steps)
        parts.append(letter.lower() + _ZEROS.sub("", line).replace(" -", "-"))
        at = (values[-2], values[-1]) if values else start
        start = at if letter == "M" else start
    return "".join(parts)


def _round(match: re.Match[str]) -> str:
    digits = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits
