"""Results of each experiment, beside Tables 3 to 5 of the MVG paper.

The paper's rows come first, in its order and under its labels; our further rows follow. The
published numbers, their units, and the mechanism of each row come from
``published/table{3,4,5}.csv``. An experiment without published results has our rows alone.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reproduction import catalogue, job_settings
from reproduction.experiments import readings
from reproduction.report import advisable, audit_status, comparisons, statistics, summary
from reproduction.report.inputs import Run
from reproduction.report.markup import epsilon_text, interval, middle, result, short, span
from reproduction.report.sheet import Cell
from reproduction.report.tables.base import Column, Table, lines
from reproduction.trials import NO_GUARANTEE, SKIPPED

#: The noise for a printed error, and for the ends of its interval.
NOISE = ("noise_factor", "noise_factor_low", "noise_factor_high")

#: Columns of the CSV, in order.
COLUMNS = (
    *("method", "mechanism", "configuration", "direction", "published", "published_ci"),
    *("unit_factor", "published_value", "mean", "ci95", "ratio", *NOISE, "base"),
    *("over_base", "over_base_ci", "published_over_base", "published_over_base_ci"),
    *("epsilon", "delta", "epsilon_delivered", *audit_status.COLUMNS, "mu", "noise_std"),
    *("n_trials", "data_status", "reading", "verdict", "against_paper", "against_baseline"),
    *("outcome", "note"),
)

#: Columns of a row that the CSV lacks.
MORE = ("epsilon_exact", "qualifier", "margin", "published_at", "brief", "advisable", "also")
#: Columns that are empty text where a row lacks them.
TEXT = [
    *("configuration", "direction", "published", "published_ci", "verdict", "qualifier"),
    *("audit_status", "against_baseline", "outcome", "note", "advisable"),
    "also",
]

NOT_RUN = "not run"
AT_BASELINE = "not clearly different"
#: Titles of our rows. The page leaves the second ones to the CSV file.
BEYOND, FURTHER = "Beyond the paper", "Beyond the paper, further rows"
#: Words for an error below or above the published one.
_DIRECTIONS = {"lower": "less error", "higher": "more error"}
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Base(NamedTuple):
    """The row by which ratios divide, ours and the paper's; ratios do not depend on the unit."""

    mechanism: str
    mean: float
    ci95: float
    published: float


class TableSetting(NamedTuple):
    """What all rows of a table share.

    ``about`` is the experiment, or the one whose unit it shares; ``baseline`` the best row that
    costs no privacy.
    """

    about: catalogue.Experiment
    metric: str
    epsilon: str
    level: Base
    baseline: str

    @property
    def base(self) -> str:
        """The row by which ratios divide, in words."""
        return catalogue.label(self.level.mechanism).lower()


def build(run: Run, experiment: str) -> Table:
    """Return the table of an experiment: the paper's rows, then ours."""
    about, settings = catalogue.experiment(experiment), run.settings
    rows_of_readings = dict(readings.find_reading(settings["reading"]).rows)
    results, published = run[f"rows/{experiment}"], run.published(about.results)
    published = published.assign(mechanism=published["mechanism"].replace(rows_of_readings))
    level = base(results, published, settings["reading"])
    shared, rows = compare(about, results, published, settings, level)
    ours = rows["published"].eq("")
    titles = _is_of_use(rows).map({True: BEYOND, False: FURTHER})
    groups = lines(rows, titles.where(ours & ~ours.all(), ""))
    return Table(
        title=f"Table {about.table}" if about.table else about.title,
        caption=caption(shared, rows),
        frame=rows[[*COLUMNS]],
        columns=columns(shared, rows),
        groups={title: groups[title] for title in ("", BEYOND, FURTHER) if title in groups},
        aside=[FURTHER],
    )


def _is_of_use(rows: pd.DataFrame) -> pd.Series:
    """Return a mask of baselines, of the papers' mechanisms, and of what one may use with gain."""
    own = {*itertools.chain(*catalogue.section("papers").values())}
    named = (comparisons.equal_names(row) for row in rows.to_dict("records"))
    of_papers = pd.Series([not own.isdisjoint(names) for names in named], rows.index)
    gain = rows["advisable"].eq(advisable.YES) & rows["against_baseline"].eq(comparisons.BETTER)
    return gain | of_papers | rows["mechanism"].isin(catalogue.RECORD_FREE)


def base(results: pd.DataFrame, published: pd.DataFrame, reading: str) -> Base:
    """Return the row without privacy; if its error is 0 here or in the paper, the best baseline.

    Baselines that the paper prints come before others.
    """
    ours = results[results["reading"].eq(reading)].drop_duplicates("mechanism")
    ours = ours.set_index("mechanism")
    theirs = {row["mechanism"]: _published(row)[0] for row in published.to_dict("records")}
    both = ours[ours.index.isin([*theirs])].reset_index()
    baselines = map(summary.best_free_baseline, (both, ours.reset_index()))
    baseline = next(filter(None, baselines), catalogue.RANDOM)
    ours = ours.reindex(["nonprivate", baseline])[["mean", "ci95"]]
    free = ours["mean"]["nonprivate"] > statistics.ROUNDING and theirs.get("nonprivate", 1.0)
    name = "nonprivate" if free else baseline
    mean, ci95 = ours.loc[name]
    return Base(name, mean, ci95, theirs.get(name) or np.nan)


def compare(
    about: catalogue.Experiment,
    results: pd.DataFrame,
    published: pd.DataFrame,
    settings: Mapping[str, Any],
    level: Base,
) -> tuple[TableSetting, pd.DataFrame]:
    """Return what rows share, and the rows, the paper's first, at one epsilon and in one reading.

    ``ratio`` is mean / published value; ``verdict`` says why a row has no result that counts: one
    of the paper's was not run, or one is not private. ``over_base`` is the ratio to ``level``, with
    a half-width as if the two shared no trials. ``against_paper`` compares these ratios where we
    suspect another unit, else the values. ``against_baseline`` is the verdict against the best
    baseline that costs no privacy. Both are empty below ``ENOUGH`` trials, and for rows whose
    guarantee the audit refutes. ``results`` are rows of :mod:`reproduction.report.rows`.

    The settings give the epsilon (``table_epsilon``) and the reading (``reading``). A parameter
    that is fixed in public, such as ``tau_untuned``, has rows of its own.
    """
    epsilon, reading = settings["table_epsilon"], settings["reading"]
    status = results["data_status"].iloc[0]
    results = results[results["reading"].eq(reading)]
    results = results[summary.mark_first_direction(results)]
    first = results.iloc[0]
    shared = TableSetting(about, first["metric"], epsilon, level, first["baseline"])
    rows = [_paper_row(cell, results, epsilon, level) for cell in published.to_dict("records")]
    rows += _further_rows(results, published, epsilon, job_settings.public_configurations(settings))
    table = pd.DataFrame(rows, columns=[*COLUMNS, *MORE])
    table["n_trials"] = table["n_trials"].astype("Int64")
    table[TEXT] = table[TEXT].astype(object).fillna("")
    table["verdict"] = [_verdict(row) for row in table.to_dict("records")]
    table["ratio"] = table["mean"] / table["published_value"].where(table["published_value"] > 0)
    ratio, half = statistics.quotient(table["mean"], table["ci95"], level.mean, level.ci95)
    table["over_base"], table["over_base_ci"] = ratio, half.where(table["mean"].ne(level.mean))
    against_paper = against_baseline = pd.Series("", table.index, dtype=object)
    if status != summary.SIMULATED:
        against_paper = _against_paper(table, shared)
        against_baseline = table["against_baseline"].replace(comparisons.EVEN, AT_BASELINE)
        against_baseline = against_baseline.mask(audit_status.refuted(table), "")
    table[[*NOISE]] = table[[*NOISE]].where(table["published"].ne(""))
    return shared, table.assign(
        data_status=status,
        reading=reading,
        base=level.mechanism,
        epsilon=table["epsilon"].map(epsilon_text),
        against_paper=against_paper,
        against_baseline=against_baseline,
    )


def _paper_row(
    cell: Mapping[str, str], results: pd.DataFrame, epsilon: str, level: Base
) -> dict[str, Any]:
    """Return a published result with ours beside it."""
    row = _find(results, cell["mechanism"], epsilon)
    value, margin = _published(cell)
    return row | {
        **_name(cell),
        "published": cell["value"],
        "published_at": cell["epsilon"],
        "published_ci": cell["interval"],
        "unit_factor": float(cell["unit_factor"]),
        "published_value": value,
        "published_over_base": value / level.published,
        "published_over_base_ci": margin / level.published,
        "margin": margin,
        "qualifier": cell["qualifier"],
    }


def _against_paper(table: pd.DataFrame, shared: TableSetting) -> pd.Series:
    """Return the verdicts on our rows against the published ones at the same epsilon, or empty."""
    names = ["published_value", "margin", "mean", "ci95"]
    if shared.about.conjecture:
        names = ["published_over_base", "published_over_base_ci", "over_base", "over_base_ci"]
    verdicts = [statistics.verdict(*row) for row in table[names].astype(float).to_numpy()]
    enough = table["n_trials"].ge(statistics.ENOUGH).fillna(False)
    at = pd.to_numeric(table["published_at"], errors="coerce")
    same = at.isna() | at.eq(float(shared.epsilon))
    comparable = enough & same & table[names[0]].notna() & table["verdict"].eq("")
    return pd.Series(verdicts, dtype=object).replace(_DIRECTIONS).where(comparable, "")


def caption(shared: TableSetting, rows: pd.DataFrame) -> str:
    """Return the setting, and the quantity that the verdicts compare."""
    first, delta = rows.iloc[0], rows["delta"].max()
    trials = span(rows["n_trials"][rows["n_trials"] > 0]) or "no"
    privacy = f"epsilon = {shared.epsilon}" + (f", delta = {_share(delta)}" if delta else "")
    reading = f", reading {first['reading']}" if first["reading"] != readings.DEFAULT else ""
    parts = [
        f"Means over {trials} trials ± half of the 95 % confidence interval at {privacy}; "
        f"{first['data_status']} data{reading}. Free parameters are chosen on separate trials.",
        ratios(shared, rows),
    ]
    if rows["epsilon_delivered"].map(short).eq("0").any():
        parts.append("A delivered epsilon of 0: delta alone covers what the noise lets through.")
    if rows["noise_factor"].notna().any():
        parts.append(
            "Noise for the printed error: the multiple of our noise, the textbook one, at which "
            "our error is the printed one in our unit, and those at the ends of its interval. We "
            "do not know why it is not 1."
        )
    return " ".join(filter(None, parts))


def ratios(shared: TableSetting, rows: pd.DataFrame, where: str = "") -> str:
    """Return the unit of published values, and what the verdict against the paper compares.

    The text is empty without a published value.
    """
    if rows["published"].eq("").all():
        return ""
    factor = 1 / (shared.about.conjecture or 1)
    guess = f", times {short(factor, 4)} as we suspect another unit" if factor != 1 else ""
    sentences = [f"Published values: in our unit{guess}, in brackets as printed."]
    if rows["against_paper"].ne("").any():
        ratio = " ".join(filter(None, ["ratios to", shared.base, where]))
        what = ratio if shared.about.conjecture else "errors"
        sentences += [f"Against the paper: by the 95 % interval of the difference of {what}."]
    printed = pd.to_numeric(rows["published_at"], errors="coerce").dropna()
    apart = printed[printed.ne(float(shared.epsilon))]
    if len(apart):
        sentences += [f"What the paper prints at epsilon {short(apart.iloc[0])} is not compared."]
    return " ".join(sentences)


def _find(
    results: pd.DataFrame, mechanism: str, epsilon: str, configuration: str | None = None
) -> dict[str, Any]:
    """Return the row of a mechanism, or one whose outcome and note say why there is none."""
    at = results["epsilon"].isna() | results["epsilon"].eq(float(epsilon))
    rows = results[at & results["mechanism"].eq(mechanism)]
    chosen = rows["chosen"] | rows["mean"].isna().all()
    matches = rows[chosen if configuration is None else rows["configuration"].eq(configuration)]
    if len(matches):
        return matches.iloc[0].to_dict()
    why = f"there is none at epsilon {epsilon}"
    if configuration is None and len(rows):
        why = "there are no select trials to choose a configuration on"
    absence = {"outcome": NOT_RUN, "note": why}
    return {"mechanism": mechanism, "epsilon": float(epsilon), **absence}


def _name(cell: Mapping[str, str]) -> dict[str, str]:
    """Return how the paper names a row, in ``brief`` without the number in its own references."""
    work, number = cell["work"], cell["reference"]
    if not work:
        return {"method": cell["method"], "brief": cell["method"]}
    method = f"{cell['method']} ({work} [{number}])"
    return {"method": method, "brief": f"{cell['method']} ({work})"}


def _published(cell: Mapping[str, str]) -> tuple[float, float]:
    """Return the published value of a cell in plain units, and half its interval."""
    unit = Decimal(cell["unit_factor"])
    return float(Decimal(cell["value"]) * unit), float(Decimal(cell["interval"] or 0) * unit)


def _verdict(row: Mapping) -> str:
    """Return why a row has no result that counts; empty for one that has.

    Rows beyond the paper have an outcome where they were not run.
    """
    if np.isnan(row["mean"]):
        why = NO_GUARANTEE if row["outcome"] == NO_GUARANTEE else NOT_RUN
        return why if row["published"] else ""
    return audit_status.doubt(row)


def _further_rows(
    results: pd.DataFrame, published: pd.DataFrame, epsilon: str, public: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return rows beyond the paper: public shares, and mechanisms that the paper lacks.

    Mechanisms of one distribution have one row under all their names.
    """
    theirs = {cell["mechanism"]: _name(cell) for cell in published.to_dict("records")}
    names = {*results["mechanism"]}
    alike = {
        row["mechanism"]: comparisons.equal_names(row)
        for row in results[~results["mechanism"].isin([*theirs])].to_dict("records")
    }
    named = {other for same in alike.values() for other in same[1:]}
    ours, rows = sorted(alike.keys() - named, key=catalogue.rank), []
    for mechanism in [*(name for name in theirs if name in names), *ours]:
        label = " = ".join(map(catalogue.label, alike.get(mechanism, [mechanism])))
        name = theirs.get(mechanism, {"method": label, "brief": label})
        if mechanism not in theirs:
            rows.append(_find(results, mechanism, epsilon) | name)
        configurations = {*results["configuration"][results["mechanism"] == mechanism]}
        if public.get(mechanism) in configurations and len(configurations) > 1:
            fixed = _find(results, mechanism, epsilon, public[mechanism])
            rows.append(fixed | {key: f"{text}, fixed in public" for key, text in name.items()})
    return [row for row in rows if row["outcome"] != SKIPPED]


def columns(shared: TableSetting, rows: pd.DataFrame) -> list[Column]:
    """Return the columns of a table; those on the paper only where it has results."""
    metric, factor = catalogue.metric(shared.metric), rows["unit_factor"].max()
    power = "" if np.isnan(factor) else f"{np.log10(factor):.0f}"
    base, unit = shared.base, power.translate(_POWERS)
    published = functools.partial(_published_cell, shared.about)
    # Elsewhere the values themselves are compared.
    in_doubt = "" if shared.about.conjecture else None
    in_print, searched = bool(power), rows["noise_factor"].notna().any()
    columns = {
        Column("Method", functools.partial(_method, shared.about), print="Method"): True,
        Column(
            f"Paper ({metric.name}; printed, 1e{power})",
            published,
            "published_value",
            print=f"Paper (printed, 10{unit})",
            published=True,
        ): in_print,
        Column(
            f"Ours ({metric.name})",
            functools.partial(result, metric=shared.metric),
            "mean",
            print="Here (1)",
        ): True,
        _ratio(base, in_doubt, published=True): in_print,
        _ratio(base, in_doubt, published=False): True,
        Column("Noise for the printed error", _noise_factor): searched,
        Column("Against the paper", "against_paper", badge=True): in_print,
        Column("Against baseline", _outcome, print="Against baseline", badge=True): True,
        Column("Delivered epsilon", privacy, "epsilon_delivered", print="Delivered ε"): True,
    }
    return [column for column, has_content in columns.items() if has_content]


def _method(about: catalogue.Experiment, row: Mapping[str, Any]) -> Cell:
    words = ""
    if row["published"] and (instead := about.runs.get(row["mechanism"])):
        words += f"; here: {instead}"
    if row["configuration"]:
        words += f" ({row['configuration'].replace('=', ' = ').replace('_', ' ')})"
    return Cell(row["method"] + words, brief=row["brief"] + words)


def _published_cell(about: catalogue.Experiment, row: Mapping[str, Any]) -> Cell:
    """Return a published value in our unit, and in brackets what the paper prints."""
    if not row["published"]:
        return Cell("")
    margin = f" ± {row['published_ci']}" if row["published_ci"] else ""
    value = row["published_value"] / (about.conjecture or 1)
    sign = row["qualifier"]
    return Cell(f"{sign}{short(value, 4)}", note=f"({sign}{row['published']}{margin})")


def _ratio(base: str, page: str | None, published: bool) -> Column:
    """Return the column of ratios to the row ``base``, of what the paper prints or of ours."""
    name = "published_over_base" if published else "over_base"
    whose, in_print = ("Paper", "Paper") if published else ("Ours", "Here")

    def text(row: Mapping[str, Any]) -> Cell:
        if abs(row[name]) < statistics.ROUNDING:
            return Cell("0")
        numbers = row[name], row[f"{name}_ci"]
        return Cell(interval(*numbers), brief=middle(*numbers))

    return Column(
        f"{whose} / {base}", text, name, f"{in_print} / {base}", page, published=published
    )


def _noise_factor(row: Mapping[str, Any]) -> str:
    """Return the noise that the printed error would need, as a multiple of ours."""
    if not row["noise_factor"] > 0:
        return ""
    factor, low, high = (short(row[name], 2) for name in NOISE)
    if low == high:
        return f"{factor} times"
    ends = f"{low} to {high}" if np.isfinite(row["noise_factor_high"]) else f"{low} or more"
    return f"{factor} times ({ends})"


def _outcome(row: Mapping[str, Any]) -> Cell:
    """Return a row's verdict against the baseline, or why it has none."""
    if np.isnan(row["mean"]):
        return Cell(row["verdict"] or row["outcome"])
    if row["verdict"]:
        return Cell(row["verdict"], word=audit_status.NOT_PRIVATE)
    return Cell(row["against_baseline"])


def privacy(row: Mapping[str, Any]) -> Cell:
    """Return the delivered epsilon, with mu where there is one: ``0 (mu = 2.6e-4)``."""
    delivered = audit_status.mark(short(row["epsilon_delivered"]), row)
    if np.isnan(row["mu"]) or audit_status.text(row):
        return delivered
    relation = "≤" if row["epsilon_exact"] == "False" else "="
    mu = f"(mu {relation} {short(row['mu'], 2)})"
    return replace(delivered, note=" ".join(filter(None, [delivered.note, mu])))


def _share(delta: float) -> str:
    """Return delta, also as 1/n where it is the inverse of a whole number."""
    records = round(1 / delta) if delta > 0 else 0
    is_share = records > 1 and abs(delta * records - 1) < 1e-9
    return short(delta) + (f" (1/{records:,})" if is_share else "")
