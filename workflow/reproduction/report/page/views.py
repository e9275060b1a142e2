"""The page's ledger: counts of verdicts by paper, and claims, errata and readings as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.experiments import readings
from reproduction.report import findings
from reproduction.report.page import pictures
from reproduction.report.tables import claims

#: Kinds of rows, in their order.
KINDS = CLAIMS, ERRATA, READINGS = ("claims", "errata", "readings")

#: Rows of the ledger by their kind and the title of their group.
Rows = dict[tuple[str, str], list[dict[str, Any]]]


def ledger(
    table: pd.DataFrame, errors: pd.DataFrame, verdicts: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the variables of ``ledger.html.j2``.

    ``table`` is ``claims.csv``, ``errors`` the table of errata, ``verdicts`` has those that another
    root seed gives in place of these. Of errata and readings those that cost privacy are shown; all
    others stand in a file. Theorems, other statements and experiments are counted apart; claims
    that one fact decides count once.
    """
    rows = table.assign(word=table["verdict"].map(findings.word))
    meanings: dict[str, str] = catalogue.section("verdicts")
    order = [name for name in meanings if rows["word"].eq(name).any()]
    papers, totals = [], [1]
    groups: Rows = {}
    rows["group"] = findings.group(rows["claim_type"])
    for paper, of_paper in rows.groupby("paper", sort=False):
        counts = findings.facts(of_paper).groupby("group")["word"].value_counts()
        bars: list[dict[str, Any]] = [
            {
                "group": title,
                "total": int(counts[name].sum()),
                "parts": [
                    (verdict, int(counts[name][verdict]))
                    for verdict in order
                    if verdict in counts[name]
                ],
            }
            for name, title in findings.GROUPS.items()
            if name in counts
        ]
        groups[CLAIMS, f"{paper}: claims"] = [
            _claim(row, verdicts.get(row["id"], "")) | {"tags": [paper, row["word"]]}
            for row in of_paper.to_dict("records")
        ]
        title = claims.PAPERS.get(str(paper), str(paper))
        facts = findings.facts(of_paper)
        shared = [*map(findings.join_words, findings.shared_comparisons(facts))]
        words = {"causes": _causes(facts), "shared": shared}
        papers.append({"title": title, "bars": bars, **words})
        totals += [bar["total"] for bar in bars]
    costly = errors[errors["costs_privacy"]] if len(errors) else errors
    for paper, part in costly.groupby("paper", sort=False) if len(costly) else ():
        groups[ERRATA, f"{paper}: errata that cost privacy"] = [
            _erratum(row) | {"tags": [paper, ERRATA]} for row in part.to_dict("records")
        ]
    questions = [*readings.questions().values()]
    groups[READINGS, "MVG: readings that cost privacy"] = [
        _reading(each) | {"tags": [READINGS]} for each in questions if each.not_private
    ]
    sizes = dict.fromkeys(KINDS, 0)
    for (kind, _), members in groups.items():
        sizes[kind] += len(members)
    return {
        "papers": papers,
        "longest": max(totals),
        "verdicts": {name: meanings[name] for name in order},
        "conditional": [*map(findings.word, (findings.NARROWER, findings.DEPENDS))],
        "groups": [(title, members) for (_, title), members in groups.items()],
        "kinds": [(kind, count) for kind, count in sizes.items() if count],
        "errors": len(errors),
        "questions": len(questions),
        "readings": pictures.address("text/csv", _readings_file(questions)),
        # The page's filter: one tag of each group.
        "filters": [[*map(str, rows["paper"].unique())], [*order, ERRATA, READINGS]],
    }


def _causes(rows: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return why claims fail, in words, and the identifiers of those that do for it."""
    names: dict[str, list[str]] = {}
    for row in rows.to_dict("records"):
        names.setdefault(findings.cause(row), []).append(row["id"])
    return [(words, names[cause]) for cause, words in findings.CAUSES.items() if cause in names]


def _claim(row: Mapping[str, Any], other: str) -> dict[str, Any]:
    # What else decides it is printed by `make claim`.
    seed = [f"with another root seed {other}: read it as open"] * bool(other)
    why = "; ".join([findings.reasons(row)[0], *findings.weaknesses(row), *seed])
    counts = f"counts with {row['same_as']}" if row["same_as"] else ""
    return {
        "id": row["id"],
        "anchor": f"claim-{row['id']}",
        "text": row["claim"],
        "place": ", ".join(filter(None, [*findings.place(row), counts])),
        "verdict": findings.text(row),
        "word": row["word"],
        "why": f"{why}.",
        "shown_by": [name.rpartition("/")[2] for name in row["shown_by"].split()],
    }


def _erratum(row: Mapping[str, Any]) -> dict[str, Any]:
    anchor = f"erratum-{row['id'].lower()}"
    words = {"text": row["printed"], "verdict": row["consequence"], "why": row["right"]}
    return {"id": row["id"], "anchor": anchor, "place": row["place"], **words}


def _readings_file(questions: Sequence[readings.Question]) -> str:
    """Return all questions that the paper leaves open as CSV."""
    rows = [
        {
            "name": each.name,
            "symbol": each.title,
            "question": each.about,
            "read_as": each.default,
            "also_run": " ".join(value for value in each.values if value != each.default),
            "not_private": " ".join(each.not_private),
        }
        for each in questions
    ]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


def _reading(question: readings.Question) -> dict[str, Any]:
    others = [value for value in question.values if value != question.default]
    bare = [f"{value} is not private" for value in question.not_private]
    return {
        "id": question.name,
        "anchor": f"reading-{question.name}",
        "text": question.about,
        "place": question.title,
        "verdict": f"read as {question.default}",
        "why": "; ".join([f"Also run: {', '.join(others)}", *bare]) + ".",
        "shown_by": ["readings"],
    }
