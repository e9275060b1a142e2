"""What was found, on one picture of 1,200 x 630 pixels for a slide or a social card."""

from __future__ import annotations

import textwrap

import pandas as pd

from reproduction import catalogue
from reproduction.report.claims import findings
from reproduction.report.claims.verdicts import EXPERIMENT, UNINFORMATIVE
from reproduction.report.entries import Tables
from reproduction.report.figures import base, explainer, style
from reproduction.report.markup import short, span
from reproduction.report.tables import audit, training

#: Inches; letters of a line of the headline.
WIDTH, HEIGHT, LETTERS = 6.0, 3.15, 48


def tidy(tables: Tables) -> pd.DataFrame:
    """Return the row of the explainer, and a row for each sentence in the column ``text``."""
    frame, words = explainer.tidy(tables), catalogue.section("social_card")
    if frame.empty:
        return frame
    texts = [audit.noise_finding(tables["tables/effective_noise"])]
    claims = tables["claims"]
    counts = findings.outcomes(claims[claims["paper"].eq("MVG")], EXPERIMENT)
    if count := counts.get(UNINFORMATIVE):
        texts.append(words["claims"].format(count=count, experiments=sum(counts.values())))
    tight, at = training.on_features(tables["theory/settings"]), tables["settings"]["table_epsilon"]
    if len(tight := tight.loc[tight["epsilon"].eq(float(at)), "epsilon_delivered"]):
        tight_range = span(tight, lambda value: short(value, 2))
        texts.append(words["features"].format(claimed_epsilon=at, tight_epsilon=tight_range))
    return pd.concat([frame, pd.DataFrame({"text": texts})], ignore_index=True)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw the explainer's panels between the first sentence and the others."""
    headline, *sentences = frame["text"].dropna()
    figure, grid = style.canvas(HEIGHT, 1, 2, width=WIDTH)
    left, right = grid[0]
    explainer.panels(left, right, frame.iloc[0])
    for axes in grid[0]:
        # The deviation alone: the card has no room for its units, nor needs them.
        axes.set_xlabel(axes.get_xlabel().partition(", in units")[0])
    title = textwrap.fill(headline, LETTERS)
    figure.suptitle(title, x=0.02, ha="left", fontsize=14, fontweight="bold", color=style.INK)
    topic = catalogue.section("social_card")["topic"]
    text = "\n".join([*sentences, topic])
    figure.supxlabel(text, x=0.02, ha="left", fontsize=8.5, color=style.INK)
    return figure


FIGURES = {
    "social_card": base.Figure(
        title="What was found, for a slide",
        caption=explainer.FIGURES["explainer"].caption,
        finding=lambda frame: frame["text"].dropna().iloc[0],
        data=tidy,
        draw=draw,
        in_column=True,
    ),
}
