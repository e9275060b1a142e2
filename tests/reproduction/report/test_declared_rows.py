"""A run with the best row of all, which others only declare: it moves nothing of one's own."""

from __future__ import annotations

import distinctrun
import numpy as np
import pandas as pd
import pytest
import runfiles

from reproduction.report import inputs, page, summary
from reproduction.report.page import cards, first_screen
from reproduction.trials import NOT_RERUN

THEIRS = f"calm (declared by calm-noise 1.0{NOT_RERUN}"
VERDICTS = {THEIRS: "declared: by calm-noise 1.0, not rerun", "calm": "certified: tight"}
RELEASES = ("regression", "first_pc", "covariance", "section10_2")
SHOWN = [*distinctrun.TABLES, *(f"figures/{name}" for name in distinctrun.FIGURES)]


def write(root, patch, name="", alone=None):
    """Write a run, with a row of the smallest errors by far under a name."""
    cell = distinctrun._cell

    def better(key):
        known = cell(key)
        if not name or key.mechanism != name:
            return known
        drawn = np.random.default_rng(5).random(distinctrun.N)
        noise = known.noise_std, known.mu, known.epsilon_delivered
        return distinctrun.Cell(1e-6 * (1 + drawn), known.select, *noise)

    more = {run: (*names, name) for run, names in distinctrun.MECHANISMS.items()}
    some = {**distinctrun.MECHANISMS, **{run: more[run] for run in RELEASES if name}}
    with patch.context() as own:
        own.setattr(distinctrun, "_cell", better)
        own.setattr(distinctrun, "MECHANISMS", some)
        distinctrun.write(root)
    for file in [*root.glob("audit/*.csv"), *root.glob("readings/*.csv")]:
        rows = pd.read_csv(file, keep_default_na=False, dtype=str)
        theirs = rows["mechanism"].eq(name) if "mechanism" in rows else rows.index < 0
        if file.parent.name == "readings":
            # They are of one's own mechanisms alone.
            rows[~theirs].to_csv(file, index=False)
        elif name:
            # Numbers of the sample's audit depend on how many rows there are.
            own = pd.read_csv(alone / "audit" / file.name, keep_default_na=False, dtype=str)
            further = rows[theirs][:1].assign(verdict=VERDICTS[name])
            known = ["experiment", "mechanism", "verdict"] if name == THEIRS else own.columns
            further = further.reindex(columns=known)
            pd.concat([own, further]).to_csv(file, index=False)
    runfiles.write(root, *distinctrun.TABLES)
    return root


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the folders of a run alone, of one with a declared row, and of one with an own row."""
    names = {"merged": THEIRS, "added": "calm"}
    folders = {key: tmp_path_factory.mktemp(key) for key in ("alone", *names)}
    patch, alone = pytest.MonkeyPatch, folders["alone"]
    write(alone, patch)
    for key, name in names.items():
        write(folders[key], patch, name, alone)
    return folders


def own(frame):
    return frame[summary.own(frame)].reset_index(drop=True) if "mechanism" in frame else frame


def collected(root, path):
    entry = runfiles.entry(path)
    frame, _ = entry.collect(runfiles.files(root, path))
    return frame, entry.headline(frame)


@pytest.mark.parametrize("path", SHOWN)
def test_it_moves_no_row_of_ones_own_and_no_headline(runs, path):
    alone, headline = collected(runs["alone"], path)
    merged, same = collected(runs["merged"], path)
    assert same == headline
    if path == "tables/errata":
        return
    pd.testing.assert_frame_equal(own(merged), own(alone), check_like=True)


def test_it_moves_no_verdict_and_no_price(runs):
    for name in RELEASES:
        file = f"comparisons/{name}.csv"
        alone, merged = (
            pd.read_csv(runs[key] / file, dtype=str, keep_default_na=False)
            for key in ("alone", "merged")
        )
        theirs = merged["mechanism"].eq(THEIRS) | merged["against"].eq(THEIRS)
        assert theirs.any()
        assert not merged.loc[theirs, "comparison"].eq("price").any()
        assert not merged.loc[theirs, "same_distribution"].eq("True").any()
        pd.testing.assert_frame_equal(merged[~theirs].reset_index(drop=True), alone)


def test_it_is_neither_advised_nor_priced_and_an_own_row_would_be(runs):
    for name in ("advice", "price"):
        texts = {key: (root / f"tables/{name}.csv").read_text() for key, root in runs.items()}
        assert texts["merged"] == texts["alone"]
        # The same errors as a row of one's own move both: the comparison above can fail.
        assert "calm" in texts["added"]


def test_every_row_says_who_declares_it(runs):
    seen = set()
    for file in runs["merged"].glob("tables/*.md"):
        for line in file.read_text().splitlines():
            if "calm" in line:
                seen.add(file.stem)
                assert "declared by calm-noise 1.0, not rerun" in line
    assert {"table3", "table4", "table5", "section10_2", "audit"} <= seen


def test_the_page_shows_it_and_answers_without_it(runs):
    decks, answers = {}, {}
    for key, root in runs.items():
        run = first_screen.Run(inputs.below(root))
        decks[key], answers[key] = cards.cards(run), first_screen.answers(run)
    assert decks["merged"] == decks["alone"]
    assert answers["merged"] == answers["alone"]
    assert decks["added"] != decks["alone"]
    assert "calm (declared by calm-noise 1.0, not rerun)" in page.build(
        inputs.below(runs["merged"]), run={}
    )
