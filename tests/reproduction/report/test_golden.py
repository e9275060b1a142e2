"""All that is shown of four known runs stays as it was kept, to the digits that a reader sees.

``pytest tests/reproduction/report/test_golden.py -n 0 --keep-golden`` keeps what is shown now; what
has changed is then read in the diff of the files in ``golden``.
"""

from __future__ import annotations

import distinctrun
import goldenfiles
import pytest
import refutedrun
import runfiles
import samplerun
import showntexts
from packages import KEPT

_TABLES = [name for name in distinctrun.TABLES if name != "tables/errata"]
_MARKED = ("curves_regression", "noise_levels")
#: What each run shows. Of the kept one frames and drawings are summarised; of those with a base
#: only what they show otherwise is kept. Each exhibit stands at least once.
SHOWN = {
    "distinct": [*_TABLES, *(f"figures/{name}" for name in distinctrun.FIGURES)],
    "simulated": [
        *(name for name in _TABLES if name not in ("tables/advice", "tables/price")),
        *(f"figures/{name}" for name in _MARKED),
    ],
    "refuted": [
        *_TABLES,
        *refutedrun.ON_REQUEST,
        *(f"figures/{name}" for name in (*_MARKED, "curves_first_pc", "nominal", "readings")),
    ],
    "kept": [
        *(f"tables/{name}" for name in runfiles.TABLES),
        *(f"figures/{name}" for name in runfiles.FIGURES),
    ],
}
CASES = [(run, name) for run, names in SHOWN.items() for name in [*names, "page", "article"]]
BASE = {"simulated": "distinct", "refuted": "distinct"}


@pytest.fixture(scope="module")
def folder(request):
    """Return a function from the name of a run to its folder."""
    fixtures = {"distinct": "root", "simulated": "simulated", "refuted": "refuted"}
    return lambda run: KEPT if run == "kept" else request.getfixturevalue(fixtures[run])


@pytest.fixture(scope="module")
def with_figures(folder, common):
    """Return a function from the name of a run to a folder whose figures have words, for a page."""

    def find(run):
        return KEPT if run == "kept" else common(f"{run}_page", lambda page: _draw(run, page))

    def _draw(run, page):
        for part in folder(run).iterdir():
            (page / part.name).symlink_to(part)
        for name in (name for name in SHOWN[run] if name.startswith("figures/")):
            stem = name.partition("/")[2]
            figure = runfiles.figure(page, stem)
            words = {"topic": figure.title}
            samplerun.draw(page, stem, words | {"caption": figure.caption})

    return find


@pytest.mark.parametrize(("run", "name"), CASES)
def test_what_is_shown_is_as_it_was_kept(run, name, folder, with_figures, request):
    if name == "page":
        now = showntexts.page_lines(with_figures(run))
    elif name == "article":
        now = showntexts.article(folder(run))
    else:
        show = showntexts.table if name.startswith("tables/") else showntexts.figure
        now = show(folder(run), name, whole=run != "kept")
    file = goldenfiles.FOLDER / run / f"{name}.txt"
    base = goldenfiles.kept(goldenfiles.FOLDER / BASE[run] / f"{name}.txt") if run in BASE else None
    if request.config.getoption("--keep-golden"):
        goldenfiles.keep(file, now, base)
    difference = goldenfiles.differences(goldenfiles.kept(file, base), now)
    assert not difference, f"{file}\n{difference}\nIs it right now? Run again with --keep-golden."


def test_nothing_else_is_kept():
    files = {path.relative_to(goldenfiles.FOLDER) for path in goldenfiles.FOLDER.rglob("*.txt")}
    assert {file.with_suffix("").as_posix() for file in files} == {"/".join(case) for case in CASES}


@pytest.mark.parametrize(
    ("kept", "now", "same"),
    [
        ("0.197 ± 0.02", "0.198 ± 0.02", True),
        ("0.197", "0.199", False),
        ("0.2", "0.199", True),
        ("12,300 times", "12,400 times", True),
        ("30 trials", "31 trials", False),
        ("2.6e-4", "2.6e-3", False),
        ("better", "worse", False),
        ("| a | b |", "| b | a |", False),
        ("1.1, 1.1, 1.1, 1.1", "1.2, 1.2, 1.2, 1.2", False),
    ],
)
def test_words_are_exact_and_numbers_may_round_another_way(kept, now, same):
    assert (goldenfiles.differences([kept], [now]) == "") == same
