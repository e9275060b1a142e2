"""The best row of each task, by guarantee and epsilon."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from trialrows import SPLIT, reason, trials

from matrixdp.release import specification
from reproduction import catalogue
from reproduction.mechanisms import registry
from reproduction.report import comparisons, summary
from reproduction.report.tables.advice import TABLES, choice

ADVICE = TABLES["advice"]
PURE = {"delta": 0.0, "epsilon_delivered": 1.0}
GAUSSIAN = {"delta": 1e-5, "epsilon_delivered": 1.0}
LAW = {"noise_std": 2.0, "mu": 0.4}
RIVALS = ["ppca", "jl_2012", "mvg_binary"]


def row(mechanism, mean, seed, **fields):
    noise = 0.01 * np.random.default_rng(seed).standard_normal(20)
    return trials(mechanism, mean + 0.1 * SPLIT + noise - noise.mean(), **fields)


ROWS = [
    row("laplace", 1.0, 1, **PURE),
    row("knorm_linf", 1.0001, 2, **PURE),
    row("goe", 0.1, 3, **GAUSSIAN),
    # One distribution, and so the same trials.
    row("analytic_gaussian", 0.5, 5, **GAUSSIAN, **LAW),
    row("imgm", 0.5, 5, **GAUSSIAN, **LAW),
    row("gaussian_2014", 0.01, 6, **GAUSSIAN | {"epsilon_delivered": 1.3}),
    row("directional_gaussian", 0.3, 7, **GAUSSIAN),
    row("knorm_frob", 0.2, 8, **PURE),
    reason("gaussian_2006", "no guarantee: none"),
    row("zero", 0.9, 9, epsilon="", delta=np.nan),
    row("laplace", 0.4, 10, **PURE | {"epsilon": "3", "epsilon_delivered": 3.0}),
]
QUERIES = {"goe": "covariance", "adassp": "normal_equations"}
VERDICTS = {
    "directional_gaussian": "refuted: the noise is too small",
    "knorm_frob": "declared: the bound is above",
    "goe": "certified: tight",
}


@pytest.fixture
def advised(saved):
    """Return a function from trial rows to the advice, by task and guarantee."""

    def run(*parts, **tables):
        file = saved(*parts)
        results = summary.summarise([file])
        names = sorted({part["mechanism"].iloc[0] for part in parts} - {"zero"})
        audit = pd.DataFrame(
            {
                "mechanism": names,
                "query": [QUERIES.get(name, "identity") for name in names],
                "verdict": [VERDICTS.get(name, "certified") for name in names],
            }
        )
        return ADVICE.data(
            {
                "summary/regression": results,
                "comparisons/regression": comparisons.table([file], results),
                "audit/regression": audit,
                **tables,
            }
        )

    return run


def test_the_best_row_is_held_against_the_next_by_shared_trials(advised):
    found = advised(*ROWS)
    assert found["epsilon"].eq("1").all(), "two can serve at no other epsilon"
    rows = {(row.task.rpartition(": ")[2], row.guarantee): row for row in found.itertuples()}
    pure = rows["records", "pure"]
    assert (pure.best, pure.runner_up_mechanism) == ("Laplace", "knorm_linf")
    assert (pure.clear, pure.tied, pure.beats_baseline) == (False, 1, False)
    assert pure.difference == pytest.approx(1e-4)
    assert pure.low < 0 < pure.high
    approximate = rows["records", "approximate"]
    # Over its budget, or in doubt: not an option. Second moments are no records.
    assert (approximate.best, approximate.runner_up) == ("Gaussian, analytic = IMGM", "Laplace")
    assert (approximate.clear, approximate.tied, approximate.beats_baseline) == (True, 0, True)
    assert approximate.error == pytest.approx(0.5, abs=0.05)
    moments = rows["records or second moments", "approximate"]
    assert (moments.best_mechanism, moments.runner_up_mechanism) == ("goe", "analytic_gaussian")
    # The pure rows do not change.
    assert ("records or second moments", "pure") not in rows


def test_a_copy_of_declared_numbers_is_neither_joined_nor_advised(advised):
    """It declares the Gaussian's noise, draws other noise, and has the best result of all."""
    ran = [*ROWS, row("of_tomorrow", 0.01, 21, **GAUSSIAN, **LAW)]
    for verdict in ("refuted: the black box proves it", "declared: not certifiable", None):
        VERDICTS["of_tomorrow"] = verdict or "not run: no guarantee"
        found = advised(*ran)
        assert (
            not found.astype(str)
            .apply(lambda cells: cells.str.contains("of_tomorrow"))
            .any(axis=None)
        )
        assert "Best: Gaussian, analytic = IMGM" in {*found["advice"]}
    # What the audit lacks is not advised either.
    del VERDICTS["of_tomorrow"]


def test_what_is_not_refuted_is_advised_and_says_so(advised, monkeypatch):
    monkeypatch.setitem(VERDICTS, "goe", "not refuted")
    monkeypatch.setitem(VERDICTS, "imgm", "not refuted")
    found = advised(*ROWS)
    assert found["advice"].tolist()[1:] == [
        "Best: Gaussian, analytic = IMGM (not refuted)",
        "Best: Gaussian orthogonal ensemble (not refuted)",
    ]
    assert found["audit_status"].tolist()[1:] == ["certified", "not refuted"]


def test_a_mechanism_that_the_audit_lacks_is_not_advised(advised, saved):
    audit = pd.DataFrame(
        {"mechanism": ["laplace", "knorm_linf"], "query": "identity", "verdict": "certified"}
    )
    found = advised(*ROWS, **{"audit/regression": audit})
    assert {*found["best_mechanism"]} == {"laplace"}


def test_normal_equations_are_second_moments_too(advised):
    found = advised(*ROWS, row("adassp", 0.05, 11, **GAUSSIAN))
    assert found["task"].str.rpartition(": ")[2].drop_duplicates().tolist() == [
        "records",
        "records or second moments",
    ]
    best = found.set_index(["task", "guarantee"])["best_mechanism"]
    assert best.iloc[-1] == "adassp"
    assert best.iloc[1] == "analytic_gaussian"


def test_a_row_says_in_a_sentence_what_it_comes_to(advised):
    found = advised(*ROWS)
    assert found["advice"].tolist() == [
        "Do not release records: not even Laplace clearly beats the zero predictor",
        "Best: Gaussian, analytic = IMGM",
        "Best: Gaussian orthogonal ensemble",
    ]
    tied = advised(*ROWS[:2], row("zero", 2.0, 9, epsilon="", delta=np.nan))
    assert {*tied["advice"]} == {
        "Use: Laplace; no clear difference to K-norm, l-infinity per record"
    }


def test_few_trials_name_no_winner(advised):
    found = advised(*(part[part["trial"].isna() | part["trial"].lt(9)] for part in ROWS))
    assert found["n_trials"].eq(9).all()
    assert found["advice"].str.startswith("No winner in 9 trials; ahead: ").all()


def test_who_is_not_clearly_worse_is_named_whatever_its_mean(advised):
    """A rival that varies much is not clearly worse, though one with a better mean is."""
    wide = 3 * np.random.default_rng(12).standard_normal(20)
    found = advised(
        row("laplace", 1.0, 1, **PURE),
        row("knorm_linf", 1.1, 2, **PURE),
        trials("knorm_l2", 1.2 + wide - wide.mean(), **PURE),
    ).iloc[0]
    assert (found["best_mechanism"], found["runner_up_mechanism"]) == ("laplace", "knorm_linf")
    assert found["tied_with"] == "K-norm, l2 per record"
    assert not found["clear"]


def test_a_run_without_a_baseline_says_nothing_of_it(advised):
    found = advised(*(part for part in ROWS if part["mechanism"].iloc[0] != "zero"))
    assert found[["baseline_error", "beats_baseline"]].isna().all(axis=None)
    assert found["clear"].tolist() == advised(*ROWS)["clear"].tolist()
    assert not found["advice"].str.startswith("Do not").any()


def test_a_lone_mechanism_is_no_advice(advised):
    assert advised(ROWS[0]).empty


@pytest.mark.parametrize(("rivals", "clear"), [(RIVALS[:1], True), (RIVALS, False)])
def test_advice_repeats_the_verdicts_of_the_comparisons(advised, rivals, clear):
    # A difference whose paired t has p = 0.02.
    difference = np.random.default_rng(3).standard_normal(20)
    difference += stats.t.ppf(0.99, 19) * difference.std(ddof=1) / np.sqrt(20) - difference.mean()
    parts = [trials("laplace", SPLIT, **PURE)]
    parts += [trials(name, SPLIT + difference, **PURE) for name in rivals]
    found = advised(*parts, trials("zero", SPLIT + difference, epsilon="", delta=np.nan)).iloc[0]
    # Holm over the papers' pairs at an epsilon, and over their rows against the baseline.
    assert found["p"] == pytest.approx(0.02 if clear else 0.12)
    assert (found["clear"], found["beats_baseline"]) == (clear, clear)


def test_training_is_advised_by_what_is_private_in_it(saved):
    """Schemes over their budget, and those that are not what a paper defines, are no option."""
    fields = {"metric": "accuracy", "experiment": "adult", "dataset": "adult", "delta": 1e-5}
    level = fields | {"epsilon": "", "delta": np.nan}
    file = saved(
        row("pld_gaussian", 0.8, 1, **fields, epsilon_delivered=1.0),
        row("gaussian_2014", 0.7, 2, **fields, epsilon_delivered=0.3),
        row("moments_accountant", 0.95, 3, **fields, epsilon_delivered=1.1),
        row("mvg_code", 0.9, 4, **fields, epsilon_delivered=0.2),
        row("majority", 0.6, 5, **level),
        row("nonprivate", 0.99, 6, **level),
    )
    results = summary.summarise([file])
    tables = {"summary/adult": results, "comparisons/adult": comparisons.table([file], results)}
    (found,) = ADVICE.data(tables).to_dict("records")
    assert (found["best_mechanism"], found["runner_up_mechanism"]) == (
        "pld_gaussian",
        "gaussian_2014",
    )
    assert (found["task"], found["released"]) == ("Adult, private gradients", "gradients")
    assert (found["clear"], found["beats_baseline"]) == (True, True)
    assert found["baseline_error"] == pytest.approx(0.6, abs=0.1)


def test_a_scheme_that_nothing_vouches_for_is_not_advised(saved):
    fields = {"metric": "accuracy", "experiment": "adult", "dataset": "adult", "delta": 1e-5}
    level = fields | {"epsilon": "", "delta": np.nan}
    file = saved(
        row("pld_gaussian", 0.8, 1, **fields, epsilon_delivered=1.0),
        row("gaussian_2014", 0.7, 2, **fields, epsilon_delivered=0.3),
        row("of_tomorrow", 0.95, 3, **fields, epsilon_delivered=0.5),
        row("majority", 0.6, 5, **level),
    )
    results = summary.summarise([file])
    tables = {"summary/adult": results, "comparisons/adult": comparisons.table([file], results)}
    (found,) = ADVICE.data(tables).to_dict("records")
    assert found["best_mechanism"] == "pld_gaussian"


def test_a_rule_made_on_the_data_needs_evidence_from_other_data(advised):
    rows = [row("laplace", 1.0, 1, **PURE), row("knorm_linf", 1.1, 2, **PURE)]
    tuned = row("clipped_private", 0.1, 3, **PURE)
    level = row("zero", 3.0, 9, epsilon="", delta=np.nan)
    assert {*advised(*rows, tuned, level)["best_mechanism"]} == {"laplace"}
    rows += [tuned, level]
    evidence = pd.DataFrame(
        {
            "experiment": "regression",
            "dataset": ["diabetes", "wine"],
            "epsilon": 1.0,
            "simulated": False,
            "mechanism": "clipped_private",
            "verdict": ["better", "worse"],
        }
    )
    found = advised(*rows, held_out=evidence).iloc[0]
    assert found["best_mechanism"] == "clipped_private"
    assert re.match("better than .* in 1 of 2 .* 2 other .* worse in 1", found["held_out"])


BASELINE = row("zero", 3.0, 9, epsilon="", delta=np.nan)


def leading(*rows):
    """Return a row of each mechanism with a mean, and the baseline."""
    means = zip(("analytic_gaussian", "laplace", "knorm_l2"), rows, strict=True)
    return [*(row(name, mean, i, **PURE) for i, (name, mean) in enumerate(means)), BASELINE]


def test_among_ties_the_simplest_that_can_be_released_leads(advised):
    found = advised(*leading(1.0002, 1.0001, 1.0)).iloc[-1]
    assert found["best"] == "Gaussian, analytic"
    assert found["tied_with"] == "K-norm, l2 per record; Laplace"
    assert found["advice"].startswith("Use: Gaussian, analytic; no clear difference to K-norm")
    # One that is clearly worse does not, whatever it is.
    assert advised(*leading(1.2, 1.0001, 1.0)).iloc[-1]["best"] == "Laplace"
    assert advised(*leading(1.2, 1.1, 1.0)).iloc[-1]["best"] == "K-norm, l2 per record"


def test_where_the_best_does_not_beat_the_baseline_nothing_takes_its_place(advised):
    found = advised(*leading(4.0002, 4.0001, 4.0)).iloc[-1]
    assert (found["outcome"], found["best"]) == ("none", "K-norm, l2 per record")


def test_what_is_offered_is_what_a_specification_can_name():
    built = {name: entry.build() for name, entry in registry().items() if not entry.parameters}
    assert {*catalogue.section("offered")} == {
        name for name, mechanism in built.items() if specification.key_of(mechanism)
    }


def test_a_task_has_one_line_with_what_ties_and_what_it_gives(advised):
    rows = [found for _, found in advised(*leading(1.0002, 1.0001, 1.0)).iterrows()]
    frame = choice(rows[-1:], {"regression": "accuracy"}, 1.0)
    (line,) = (dict(zip(frame.header, cells, strict=True)) for cells in frame.groups[0][1])
    assert line["Task"] == "regression: accuracy in %"
    assert line["Use"] == "Gaussian, analytic"
    assert line["No clear difference to"] == "K-norm, l2 per record; Laplace"
    assert float(line["It gives"].split()[0]) == pytest.approx(100, abs=5)
    assert re.fullmatch(r"[\d.]+ \(zero predictor\)", line["Baseline"])
    (line,) = choice([{**rows[-1], "outcome": "none"}], {"regression": "rmse"}, 1.0).groups[0][1]
    assert line[1].startswith("Do not release records")
