"""What a claim may say, what the papers' claims do, and those that numbers decide."""

import numpy as np
import pandas as pd
import pytest
import yaml
from claimentries import KNOWN, entry, exact_entry, noise, numbers, shared, verdict
from packages import KEPT
from trialrows import trials

from matrixdp.checks import InputError
from reproduction import catalogue
from reproduction.cli import claims as verb
from reproduction.report import comparisons, findings, inputs
from reproduction.report import rows as experiment_rows
from reproduction.report.claims import definitions, judge
from reproduction.theory import exact


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (entry("laplas beats ppca"), "claim M0: row is 'laplas'; did you mean 'laplace'?"),
        (entry("regresion:laplace beats ppca"), "claim M0: experiment is 'regresion'; did you"),
        (entry("laplace beats ppca", metric="rmsd"), "claim M0: metric is 'rmsd'; did you mean"),
        (entry("laplace beats ppca", need="some"), "claim M0: test.need is 'some'"),
        (entry("laplace beats ppca", epsilon="1"), "claim M0: test has the unknown key 'epsilon'"),
        (entry("laplace tops ppca"), "claim M0: test.compare[0]: 'laplace tops ppca' is no"),
        (entry("laplace within of ppca"), "is no comparison; write 'A beats B'"),
        (entry(), "claim M0: test.compare is []; it must be a list of 1 or more"),
        (exact_entry(exact=["M99"]), "claim M0: check is 'M99'"),
        (exact_entry(theory=[]), "claim M0: test has the unknown key 'theory'"),
        (exact_entry(), "claim M0: test must have one of compare, exact and not_run"),
        (exact_entry(exact=["M1"], need="any"), "claim M0: test has need, which goes with compare"),
        ({**entry("laplace beats ppca"), "shown_by": ["tables/table9"]}, "claim M0: shown_by is"),
        ({**entry("laplace beats ppca"), "paper": "XYZ"}, "claim M0: paper is 'XYZ'"),
        ({**entry("laplace beats ppca"), "kind": "theory"}, "claim M0: kind is 'theory'"),
        ({"id": "M0"}, "claim M0 lacks the key 'paper': the paper that makes it"),
    ],
)
def test_a_claim_that_names_something_unknown_is_one_sentence(tmp_path, bad, sentence):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([bad]))
    with pytest.raises(InputError) as raised:
        definitions.read_definitions(KNOWN, path)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_claim_is_there_twice(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([entry("laplace beats ppca")] * 2))
    with pytest.raises(InputError, match="claim M0 is there twice"):
        definitions.read_definitions(KNOWN, path)


def test_rows_of_claims_on_all_epsilons_have_more_trials_at_each():
    settings = yaml.safe_load((definitions.FILE.parents[1] / "config.yaml").read_text())
    tests = [
        (comparisons, epsilons)
        for claim in definitions.read_definitions(KNOWN)
        for comparisons, epsilons in (
            (claim.comparisons, claim.test.epsilons),
            (claim.otherwise, getattr(claim.test.otherwise, "epsilons", None)),
        )
    ]
    rows = {
        (row.experiment, row.mechanism)
        for comparisons, epsilons in tests
        if epsilons not in ("table", None)
        for row in definitions.rows(comparisons)
        if row.experiment in settings["experiments"] and row.mechanism not in catalogue.BASELINES
    }
    listed = {
        (name, mechanism)
        for name, experiment in settings["experiments"].items()
        for mechanism in experiment.get("claims_at_every_epsilon", [])
    }
    assert rows <= listed
    # What else is there is of one distribution with such a row: one value is not two means.
    equal = {
        (name, mechanism): {(name, other) for other in names}
        for name in settings["experiments"]
        for names in equal_distributions(name)
        for mechanism in names
    }
    assert listed == {one for row in rows for one in equal.get(row, {row})}


def equal_distributions(experiment):
    """Return the sets of mechanisms that the kept rows of an experiment show as one."""
    kept = experiment_rows.read_rows(
        definitions.FILE.parents[1] / f"results/reference/rows/{experiment}.csv"
    )
    both = kept[kept["also"].ne("")]
    return {frozenset(comparisons.equal_names(row)) for row in both.to_dict("records")}


def test_claims_may_name_what_some_run_has_and_nothing_else():
    known = verb.names({"experiments": {"of_tomorrow": {}}, "training": {"later": {}}})
    own = {"figures/curves_of_tomorrow", "tables/of_tomorrow", "tables/imgm_later"}
    assert KNOWN.exhibits | own <= known.exhibits
    assert {*KNOWN.experiments, "of_tomorrow", "later"} <= known.experiments
    assert (known.mechanisms, {*known.checks}) == (KNOWN.mechanisms, {*KNOWN.checks})
    # Recipes, a part of another experiment, and curves of trainings are no files of any run.
    for name in ("figures/curves", "figures/directions", "tables/experiment", "tables/training"):
        assert name not in known.exhibits
    for name in ("figures/curves_section10_2", "figures/curves_adult", "tables/adult"):
        assert name not in known.exhibits


def test_every_claim_of_the_papers_is_in_the_ledger():
    ids = [claim.id for claim in definitions.read_definitions(KNOWN)]
    assert {*ids} == {*(f"M{i}" for i in range(1, 36)), *(f"I{i}" for i in range(1, 20))}


@pytest.mark.parametrize(
    ("name", "subject", "experiment"),
    [
        ("M12", "mvg_binary", "regression"),
        ("M13", "mvg_maxpnr", "regression"),
        ("M15", "mvg_thm3", "first_pc"),
        ("M18", "mvg_binary", "covariance"),
    ],
)
def test_the_best_row_of_a_table_is_held_against_all_others_that_it_prints(
    name, subject, experiment
):
    (claim,) = [one for one in definitions.read_definitions(KNOWN) if one.id == name]
    results = catalogue.experiment(experiment).results
    printed = pd.read_csv(inputs.PUBLISHED / f"{results}.csv", dtype=str, keep_default_na=False)
    private = {*printed["mechanism"]} - {*catalogue.BASELINES}
    # Where MVG as a whole is meant, its other row is no rival.
    rivals = {one for one in private if not one.startswith("mvg")} | (
        {"mvg_binary"} if name == "M13" else set()
    )
    assert {one.first.mechanism for one in claim.comparisons} == {subject}
    assert {one.second.mechanism for one in claim.comparisons} == rivals
    assert {one.relation for one in claim.comparisons} == {"beats"}
    assert claim.every


def test_an_argument_decides_whatever_the_trials(run):
    rows = {"laplace": noise(1.0, 0.5, 1, n=20), "ppca": noise(1.0, 0.5, 2, n=20)}
    open_one = "ppca within 0.01 of laplace"
    for holds, said in ((True, "reproduced"), (False, "undecided")):
        numbers(run.folder, I9=holds)
        found = verdict(run, open_one, rows=rows, argument=["I9"])
        assert found["verdict"] == said
    numbers(run.folder, I9=True)
    found = verdict(run, open_one, rows=rows, argument=["I9"])
    assert found["said"].startswith("without trials, number of I9: 2; in trials it is open: ")
    assert (found["test"], found["claim_type"]) == ("argument", "experiment")
    assert np.isnan(found["p"])


def test_kinds_and_the_one_sentence_that_counts(run):
    numbers(run.folder, 3, M1=True, M2=True, M3=False)
    entries = [
        {**exact_entry(exact=["M1"]), "id": "M1"},
        {**exact_entry(exact=["M2"]), "id": "M2", "kind": "lemma", "identity": "by definition"},
        {**exact_entry(exact=["M3"]), "id": "M3"},
        {**exact_entry(not_run="a moon."), "id": "I1", "paper": "IMGM", "kind": "experiment"},
        entry("laplace beats ppca", name="M4"),
    ]
    table, _ = run(entries, {"laplace": noise(1.0, 0.1, 1), "ppca": noise(1.5, 0.1, 2)})
    kinds = ["theorem", "lemma", "theorem", "experiment", "experiment"]
    assert table["claim_type"].tolist() == kinds
    assert table["evidence"].tolist()[:4] == ["3 numbers"] * 3 + [""]


def test_exact_claims(run):
    plain = exact_entry(exact=["M1", "M2"])
    assert "exact.csv is missing" in run([plain])[0].loc["M0", "said"]
    numbers(run.folder, M1=True, M2=True, M3=False)
    good = run([plain])[0].loc["M0"]
    assert (good["verdict"], good["data_status"]) == ("reproduced", "")
    assert good["said"] == "number of M1: 2; the other number holds too"
    bad = run([exact_entry(exact=["M1", "M3"])])[0].loc["M0"]
    assert bad["verdict"] == "not reproduced"
    assert bad["said"] == "number of M3: 2, where the claim needs 1"
    under = {"reading": "a full moon", "exact": ["M2"]}
    found = run([exact_entry(exact=["M3"], otherwise=under)])[0].loc["M0"]
    assert (found["verdict"], found["condition"]) == ("narrower", "a full moon")
    under["exact"] = ["M3"]
    found = run([exact_entry(exact=["M3"], otherwise=under)])[0].loc["M0"]
    assert found["verdict"] == "not reproduced"
    absent = run([exact_entry(exact=["M4"])])[0].loc["M0"]
    assert (absent["verdict"], "a check is missing" in absent["said"]) == ("undecided", True)
    unrun = run([exact_entry(not_run="it needs a moon.")])[0].loc["M0"]
    assert (unrun["verdict"], unrun["said"]) == ("undecided", "not run: it needs a moon")


def test_a_run_is_judged_the_same_each_time(run):
    split = shared()
    rows = {
        name: trials(name, split + noise(1 + i / 10, 0.1, i))
        for i, name in enumerate(("mvg_binary", "gaussian_2006", "jl_2012", "laplace"))
    }
    run.put({**rows, "knorm_frob": trials("knorm_frob", split + noise(1.5, 0.1, 9), delta=0.0)})
    numbers(run.folder, 2, **dict.fromkeys(exact.CHECKS, True))
    settings = {"experiments": {"regression": {}}, "training": {}, "table_epsilon": "1"}
    (run.folder / "settings.yaml").write_text(yaml.safe_dump(settings))
    kept = []
    paths = [run.folder / "claims.csv", run.folder / "tables/claims_comparisons.csv"]
    for _ in range(2):
        judge.write_verdicts(
            definitions.read_definitions(KNOWN), inputs.files_of_folder(run.folder), *paths
        )
        kept.append([path.read_bytes() for path in paths])
    assert kept[0] == kept[1]
    table = findings.read_ledger(run.folder / "claims.csv").set_index("id")
    assert [*table.index] == [claim.id for claim in definitions.read_definitions(KNOWN)]
    assert table.loc["M12", ["verdict", "experiments"]].tolist() == ["reproduced", "regression"]
    assert table.loc["M15", "verdict"] == "undecided"
    assert findings.reasons(table.loc["I8"]) == ["not run: experiment imdb was not run"]


def test_a_claim_counts_with_another_one_only_if_it_states_nothing_beyond_it():
    claims = {claim.id: claim for claim in definitions.read_definitions(KNOWN)}
    # Several claims together, the same rows the other way round, and the same theorem.
    same = {name: claim.same_as for name, claim in claims.items() if claim.same_as}
    assert same == {"M31": "M15", "I4": "I3", "I14": "I8", "I17": "I3"}
    relations = {
        name: {one.relation for one in claim.comparisons} for name, claim in claims.items()
    }
    # An amount is more than an order.
    amounts = [name for name, some in relations.items() if some and some <= {"by", "times"}]
    assert amounts == ["M26", "M27", "M29", "M33", "M34"]
    assert same.keys().isdisjoint(amounts)


def test_failing_claims_of_one_comparison_are_named_together():
    columns = ("id", "statistic", "epsilons", "effect", "verdict")
    rows = [
        ("M1", "loss of A minus that of B", "1", -0.5, "not reproduced"),
        ("M2", "loss of A minus that of B", "1", -0.5, "not reproduced"),
        # Another epsilon, another comparison, another verdict, and numbers.
        ("M3", "loss of A minus that of B", "3", -0.5, "not reproduced"),
        ("M4", "loss of A minus that of C", "1", -0.5, "not reproduced"),
        ("M5", "loss of A minus that of B", "1", -0.5, "reproduced"),
        ("M6", "", "", np.nan, "not reproduced"),
        ("M7", "", "", np.nan, "not reproduced"),
    ]
    table = pd.DataFrame(rows, columns=columns)
    assert findings.shared_comparisons(table) == [["M1", "M2"]]


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({}, "rival"),
        ({"relation": "by", "effect_high": 0.002}, "less"),
        ({"relation": "times", "effect_high": 1.01}, "less"),
        ({"relation": "times", "effect_high": 0.99}, "rival"),
        ({"test": "identity", "effect_high": np.nan}, "same"),
        ({"test": "numeric", "effect_high": np.nan}, "exact"),
        ({"verdict": "undecided"}, ""),
    ],
)
def test_why_a_claim_fails(fields, cause):
    failing = {"verdict": "not reproduced", "test": "paired t, Holm", "relation": "beats"}
    assert findings.cause({**failing, "effect_high": -0.1, **fields}) == cause


@pytest.mark.parametrize(("zeros", "words"), [(-5.6e-17, "is 0,"), (-1.8e-5, "is -1.8e-5,")])
def test_what_rounding_leaves_of_no_effect_is_none(zeros, words):
    ledger = findings.read_ledger(KEPT / "claims.csv").set_index("id", drop=False)
    claim = {**ledger.loc["M16"], "alike": "False", "effect_zeros": zeros}
    assert f"with every record at zero the effect {words}" in "; ".join(findings.clauses(claim))
