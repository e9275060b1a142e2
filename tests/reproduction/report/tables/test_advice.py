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
from reproduction.report.inputs import Run
from reproduction.report.tables import advice

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
QUERIES = {"goe": "covariance"}
VERDICTS = {
    "directional_gaussian": "refuted: the noise is too small",
    "knorm_frob": "declared: the bound is above",
    "goe": "certified: tight",
}


class Memory(Run):
    """A run whose files are at hand."""

    def __init__(self, contents):
        names = [name.partition("/")[2] for name in contents if name.startswith("summary/")]
        experiments = {"experiments": dict.fromkeys(names)}
        self.files, self.settings = contents, experiments | contents.get("settings", {})

    def __getitem__(self, name):
        return self.files[name]


def advise(contents):
    """Return the advice on a run of these contents, by their names."""
    return advice.build(Memory(contents)).frame


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
        return advise(
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
        assert "Gaussian, analytic = IMGM" in {*found["best"]}
    del VERDICTS["of_tomorrow"]
    # What the audit lacks is not advised either.
    audit = pd.DataFrame(
        {"mechanism": ["laplace", "knorm_linf"], "query": "identity", "verdict": "certified"}
    )
    found = advised(*ROWS, **{"audit/regression": audit})
    assert {*found["best_mechanism"]} == {"laplace"}


def test_few_trials_name_no_winner(advised):
    found = advised(*(part[part["trial"].isna() | part["trial"].lt(9)] for part in ROWS))
    assert found["n_trials"].eq(9).all()
    assert found["outcome"].eq("few").all()


def test_training_is_advised_by_what_is_private_in_it(saved):
    """Schemes over budget, of no paper's definition, or that nothing vouches for, are no option."""
    fields = {"metric": "accuracy", "experiment": "adult", "dataset": "adult", "delta": 1e-5}
    level = fields | {"epsilon": "", "delta": np.nan}
    spent = {"pld_gaussian": 1.0, "gaussian_2014": 0.3, "moments_accountant": 1.1}
    spent |= {"mvg_code": 0.2, "of_tomorrow": 0.5}
    means = dict(zip(spent, (0.8, 0.7, 0.95, 0.9, 0.92), strict=True))
    file = saved(
        *(row(name, means[name], i, **fields, epsilon_delivered=spent[name])
          for i, name in enumerate(spent)),
        row("majority", 0.6, 5, **level),
        row("nonprivate", 0.99, 6, **level),
    )  # fmt: skip
    results = summary.summarise([file])
    tables = {"summary/adult": results, "comparisons/adult": comparisons.table([file], results)}
    (found,) = advise(tables).to_dict("records")
    best = found["best_mechanism"], found["runner_up_mechanism"]
    assert best == ("pld_gaussian", "gaussian_2014")
    assert (found["clear"], found["beats_baseline"]) == (True, True)
    assert found["baseline_error"] == pytest.approx(0.6, abs=0.1)


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


def test_what_is_offered_is_what_a_specification_can_name():
    built = {name: entry.build() for name, entry in registry().items() if not entry.parameters}
    named = {name for name, mechanism in built.items() if specification.key_of(mechanism)}
    # Both are ``gaussian``: for records and means, and for second moments.
    assert {*catalogue.section("offered")} == {*named, "analytic_gaussian", "goe"}
