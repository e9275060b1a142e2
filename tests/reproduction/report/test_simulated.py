"""One simulated input is enough: whatever rests on it says SIMULATED, before anything else."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
import runfiles
from samplerun import put, settle

from reproduction.report import markup, summary
from reproduction.report.figures import style
from reproduction.report.figures.base import Figure

NAMES = [
    *(f"tables/{name}" for name in runfiles.TABLES),
    *(f"figures/{name}" for name in runfiles.FIGURES),
]
#: Inputs that rest on no data set, or stand beside a summary of the same trials.
WITHOUT_DATA = (
    "audit",
    "comparisons",
    "errata",
    "implied_noise",
    "published",
    "settings",
    "theory",
)
CASES = {
    name: [one for one in runfiles.needed(name) if one.partition("/")[0] not in WITHOUT_DATA]
    for name in NAMES
}


def lay(root, source, status):
    """Write an input that says where its data are from, and little else."""
    path = root / f"{source}.csv"
    folder = source.partition("/")[0]
    if folder == "data":
        put(root / source / "provenance.json", f'{{"status": "{status}"}}')
    elif source == "settings":
        settle(root)
    elif folder == "summary":
        row = dict.fromkeys(summary.COLUMNS, "") | {"n_trials": 1, "chosen": True}
        rows = pd.DataFrame([row | {"data_status": status}] * 2)
        put(path, rows.to_csv(index=False))
    elif folder not in ("published", "errata"):
        put(path, f"data_status,other\n{status},1\n{status},2\n")


def stub(entry):
    """Return an entry whose data are one number, whatever its inputs hold."""
    return dataclasses.replace(
        entry,
        data=lambda *given: pd.DataFrame({"shown": [1.0]}),
        caption="Words.",
        finding=None,
        **(
            {"draw": lambda frame: style.message("a drawing")}
            if isinstance(entry, Figure)
            else {"grid": lambda frame: markup.Grid(["a"], [("", [["1"]])], warning="Own.")}
        ),
    )


def told(name, root):
    """Return what stands first in every form in which a reader meets an entry."""
    entry, files = stub(runfiles.entry(name)), runfiles.files(root, name)
    assert [*files] == runfiles.needed(name)
    if isinstance(entry, Figure):
        frame = entry.frame(files)
        drawing = entry.render(frame)
        texts = [text.get_text() for text in drawing.texts] or [""]
        return [entry.describe(frame), texts[0], texts[-1]], {*frame["data_status"]}
    frame, status = entry.collect(files)
    grid = entry.show(frame, status)
    latex = markup.latex(grid).partition(r"\caption{\textbf{")[2]
    return [grid.warning, markup.markdown(grid).removeprefix("> **"), latex], {status}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Return a function that gives a folder in which one input alone is simulated, or none."""
    root = tmp_path_factory.mktemp("mixed")
    for name in NAMES:
        for source in runfiles.needed(name):
            lay(root, source, "original")
    changed: list[str] = []

    def change(source=None):
        for before in changed:
            lay(root, before, "original")
        changed.clear()
        if source:
            lay(root, source, "simulated")
            changed.append(source)
        return root

    return change


@pytest.mark.parametrize("name", [name for name, sources in CASES.items() if sources])
def test_one_simulated_input_marks_the_whole(name, mixed):
    texts, status = told(name, mixed())
    assert "SIMULATED" not in " ".join(texts)
    assert status == {"original"}
    for source in CASES[name]:
        texts, status = told(name, mixed(source))
        assert status == {"simulated"}, source
        for text in texts:
            assert text.startswith("SIMULATED"), (source, text)
        assert any("Own." in text for text in texts) == name.startswith("tables/")


def test_what_rests_on_data_is_among_the_cases():
    kinds = {source.partition("/")[0] for sources in CASES.values() for source in sources}
    assert kinds == {"claims", "data", "held_out", "readings", "summary", "tables"}
    for name in ("tables/advice", "tables/price", "figures/noise_levels"):
        assert len(CASES[name]) > 1
