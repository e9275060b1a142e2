"""The run in which the best mechanisms are refuted: nothing calls one private, or advises it.

What is read here is what the golden test holds of that run, as text.
"""

from __future__ import annotations

import re
import shutil

import goldenfiles
import pandas as pd
import runfiles
from refutedrun import DECLARED, REFUTED, SEARCHED, UNAUDITED

from reproduction import catalogue
from reproduction.report import inputs, numbers
from reproduction.report.page import cards
from reproduction.report.page.run import PageRun

LABELS = [catalogue.label(name) for name in REFUTED]
NAMED = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, LABELS))})(?![\w-])")
ADVISED = ("best", "runner_up", "tied_with", "best_mechanism", "runner_up_mechanism")


def shown(run):
    """Return the lines of texts that a run shows by exhibit, without its frames and curves."""
    found = {}
    for path in (goldenfiles.FOLDER / run).rglob("*.txt"):
        place = path.relative_to(goldenfiles.FOLDER / run)
        first = goldenfiles.kept(goldenfiles.FOLDER / "distinct" / place)
        lines = first if run == "distinct" else goldenfiles.kept(path, first)
        name = place.with_suffix("").as_posix()
        if name.startswith("tables/"):
            lines = [line for line in lines if line.startswith("|")]
        elif name.startswith("figures/"):
            lines = [line for line in lines if re.match("topic|caption|.*text #", line)]
        found[name] = lines
    return found


def told(lines, name):
    """Yield the parts of lines that name what is refuted: rows, words of legends, sentences."""
    for line in lines:
        whole = name.startswith("tables/") or name == "article"
        for part in [line] if whole else re.split(r"; |: (?=[A-Z])", line):
            if NAMED.search(part):
                yield part


def test_whoever_names_a_refuted_mechanism_says_that_it_is_not_private():
    seen = {}
    for name, lines in shown("refuted").items():
        # Schemes of training share names and are not refuted; rows of the other are in red.
        if name.startswith(("tables/imgm", "tables/against")) or name == "figures/nominal":
            continue
        seen[name] = [*told(lines, name)]
        for part in seen[name]:
            assert "not private" in part, (name, part)
            assert not re.search(r"\|\s*(better|declared)", part), (name, part)
    assert {name for name in seen if seen[name]} >= {
        *(f"tables/{name}" for name in ("table3", "table4", "table5", "section10_2", "audit")),
        *("figures/curves_regression", "figures/curves_first_pc", "figures/noise_levels"),
        *("tables/price", "article"),
    }
    text = " ".join(part for parts in seen.values() for part in parts)
    for words in ("not private: epsilon at least 7.5", "not private: no epsilon"):
        assert words in text
    assert not re.search(r"= of_tomorrow|of_tomorrow =", text)
    # The same rows of the run that refutes nothing say nothing of the kind.
    sound = shown("distinct")
    assert not any("not private" in part for part in told(sound["tables/table3"], "tables/table3"))


def test_no_refuted_mechanism_is_advised_priced_joined_or_counted(refuted):
    advice = pd.read_csv(refuted / "tables/advice.csv", keep_default_na=False)
    assert len(advice) > 5
    for column in ADVISED:
        for text in advice[column]:
            assert not NAMED.search(text), (column, text)
            assert not {*REFUTED} & {*re.findall(r"\w+", text)}
            assert catalogue.label(DECLARED) not in text
            assert catalogue.label(UNAUDITED) not in text
    named = advice["best"].str.cat(sep=";") + advice["tied_with"].str.cat(sep=";")
    assert f"{catalogue.label(SEARCHED)} (not refuted)" in named
    for file in refuted.glob("tables/*.csv"):
        frame = pd.read_csv(file)
        if "also" in frame:
            assert not frame["also"].astype(str).str.contains("of_tomorrow").any(), file
    price = pd.read_csv(refuted / "tables/price.csv").set_index("mechanism")
    assert price.loc[[*REFUTED], ["price", "low", "high"]].isna().all(axis=None)
    assert price.drop([*REFUTED])["price"].notna().all()
    for number in (3, 4, 5):
        table = pd.read_csv(refuted / f"tables/table{number}.csv")
        wrong = table["mechanism"].isin(REFUTED)
        assert wrong.any()
        assert table.loc[wrong, ["against_baseline", "against_paper"]].isna().all(axis=None)
        assert table.loc[wrong, "verdict"].str.startswith("not private").all()


def test_a_paper_whose_mechanism_is_refuted_is_not_called_private(refuted, tmp_path):
    root = shutil.copytree(refuted, tmp_path / "run")
    assert numbers.load_numbers(inputs.files_of_folder(root))["refuted.MVG"].value == 0
    # In one experiment of three.
    audit = pd.read_csv(root / "audit/regression.csv")
    audit.loc[audit["mechanism"].eq("mvg_binary"), ["status", "verdict"]] = (
        "refuted",
        "refuted: x",
    )
    audit.to_csv(root / "audit/regression.csv", index=False)
    runfiles.write_rows(root)
    runfiles.write(root, "tables/audit", "tables/effective_noise")
    # No sentence that calls it private is said then.
    assert numbers.load_numbers(inputs.files_of_folder(root))["refuted.MVG"].value > 0
    (card, *_) = cards.cards(PageRun(inputs.files_of_folder(root)))
    label = catalogue.label("mvg_binary")
    (mark,) = (mark for mark in card.marks if label in mark.label)
    assert mark.label.startswith(f"{label} (not private: epsilon at least ")
    assert not any(label in better for better in card.better)


def test_every_entry_that_shows_results_reads_the_audit():
    """Rows have what it says. No entry reads a summary, and one of readings reads the audit too."""
    names = [f"tables/{name}" for name in runfiles.TABLES]
    for name in [*names, *(f"figures/{name}" for name in runfiles.FIGURES)]:
        needed = runfiles.needed(name)
        for experiment in runfiles.RELEASES:
            assert f"summary/{experiment}" not in needed
            if f"readings/{experiment}" in needed:
                assert f"audit/{experiment}" in needed, (name, experiment)
