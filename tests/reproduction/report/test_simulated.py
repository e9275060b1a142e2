"""One simulated input is enough: whatever rests on it says SIMULATED, before anything else."""

from __future__ import annotations

import dataclasses
import shutil

import pandas as pd
import pytest
import runfiles
from samplerun import put, settle

from reproduction.report import markup, summary, tables
from reproduction.report.figures import style

NAMES = [f"figures/{name}" for name in runfiles.FIGURES]
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


def told(name, root):
    """Return what stands first in every form in which a reader meets a figure, and its status."""
    entry, files = runfiles.entry(name), runfiles.files(root, name)
    data, words = lambda *given: pd.DataFrame({"shown": [1.0]}), {"caption": "Words."}
    entry = dataclasses.replace(
        entry, data=data, **words, finding=None, draw=lambda frame: style.message("a drawing")
    )
    assert [*files] == runfiles.needed(name)
    frame = entry.frame(files)
    drawing = entry.render(frame)
    texts = [text.get_text() for text in drawing.texts] or [""]
    return [entry.describe(frame), texts[0], texts[-1]], {*frame["data_status"]}


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


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("table3", ["summary/regression"]),
        ("section10_2", ["summary/regression", "summary/section10_2"]),
        ("table1", ["data/adult", "data/imdb"]),
        ("imgm_imdb", ["summary/imdb"]),
    ],
)
def test_one_simulated_file_marks_a_table_in_every_form(name, sources, root, tmp_path):
    for source in sources:
        place = tmp_path / source
        shutil.copytree(root, place, ignore=shutil.ignore_patterns("figures"))
        file = place / source / "provenance.json"
        file = file if file.exists() else place / f"{source}.csv"
        file.write_text(file.read_text().replace("original", "simulated"))
        table = tables.build(name, runfiles.files(place, f"tables/{name}"))
        assert not tables.build(name, runfiles.files(root, f"tables/{name}")).warning
        assert table.warning.startswith("SIMULATED"), source
        assert markup.markdown(table).startswith("> **SIMULATED")
        assert r"\caption{\textbf{SIMULATED" in markup.latex(table)


def test_what_rests_on_data_is_among_the_cases():
    kinds = {source.partition("/")[0] for sources in CASES.values() for source in sources}
    assert kinds == {"readings", "summary", "tables"}
    for name in ("figures/nominal", "figures/noise_levels"):
        assert len(CASES[name]) > 1
