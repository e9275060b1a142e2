from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
import yaml
from packages import ROOT
from rowframes import run, sweep

from matrixdp.privacy.sensitivity import Box, RecordsQuery, SecondMomentQuery
from reproduction import discovery
from reproduction.data.datasets import specs
from reproduction.experiments import readings, study
from reproduction.experiments.readings import (
    Reading,
    acting_questions,
    adjust_mechanism,
    find_reading,
    parameters,
    questions,
    variations,
)
from reproduction.experiments.tasks.components import AllComponents, FirstComponent
from reproduction.experiments.tasks.regression import Regression
from reproduction.job_settings import Settings
from reproduction.mechanisms import registry
from reproduction.mechanisms.mvg import MVG
from reproduction.report import readings as results
from reproduction.report.claims import across
from reproduction.seeds import streams

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())
REGRESSION = Regression(target=3, train=40)
SETTINGS = Settings(
    experiment="regression",
    seed=7,
    trials=3,
    epsilons=("1",),
    directions={"a": (0, 3)},
    grids={
        "taus": ("0.75",),
        "sketch_multiples": ("2", "4"),
        "squared_radius_fractions": ("0.0625", "1"),
    },
)


def built():
    """Return every mechanism of the registry in one configuration, by name."""
    return {
        name: study.configurations(entry, SETTINGS)[0].mechanism
        for name, entry in registry().items()
    }


THINGS = [*built().values(), REGRESSION, FirstComponent(), AllComponents()]


# Names


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("default", "default"),
        ({}, "default"),
        ({"zeta": "sqrt"}, "default"),
        ("zeta_literal", "zeta=literal"),
        ("zeta=literal", "zeta=literal"),
        ("adjacency=zero_out+zeta=literal+kernel=linear", "zeta=literal+adjacency=zero_out"),
        ({"gaussian": 2014, "jl": "exact"}, "gaussian=2014+jl=exact"),
    ],
)
def test_a_reading_has_one_name(given, name):
    assert find_reading(given).name == name
    assert find_reading(find_reading(given).name) == find_reading(given)


# The catalogue


@pytest.mark.parametrize("question", questions().values(), ids=list(questions()))
def test_every_knob_acts_somewhere_and_its_first_value_is_what_runs_by_default(question):
    everyone = {"nonprivate", "random", "zero"} | registry().keys()
    assert question.title
    assert question.about
    assert set(question.experiments) <= discovery.tasks().keys()
    assert set(question.spares) <= everyone
    assert set(question.not_private) < set(question.values)
    first = question.values[question.default]
    if question.acts_on == readings.ADJACENCY:
        assert first == "replace"
    elif question.acts_on == readings.ROW:
        assert first == {}
        named = [name for pair in question.values.values() for name in [*pair, *pair.values()]]
        assert set(named) <= everyone
    elif question.acts_on.startswith(readings.DATA):
        scalings = specs()[question.acts_on.removeprefix(readings.DATA)].scalings
        assert first == "default"
        assert set(question.values.values()) == set(scalings)
    else:
        found = [parameters(thing) for thing in THINGS]
        found = [own[question.acts_on] for own in found if question.acts_on in own]
        assert found
        assert all(value == first for value in found)


def test_shipped_names_are_valid_and_the_default_changes_nothing():
    named = yaml.safe_load(readings.CATALOGUE.read_text())["readings"]
    assert find_reading("default").choices == {}
    assert len({find_reading(name).name for name in named}) == len(named)
    for thing in THINGS:
        assert adjust_mechanism(thing, find_reading("default").parameters) is thing


# What questions change


@pytest.mark.parametrize(
    "question", [question for question in questions().values() if question.is_parameter]
)
def test_a_parameter_changes_where_it_is_and_nowhere_else(question):
    for value in list(question.values)[1:]:
        changes = Reading({question.name: value}).parameters
        for thing in THINGS:
            before, after = parameters(thing), parameters(adjust_mechanism(thing, changes))
            # A dataclass inside another changes with its own parameters.
            plain = [
                place for place in before if not hasattr(before[place], "__dataclass_fields__")
            ]
            differ = {place for place in plain if before[place] is not after[place]}
            assert differ == {question.acts_on} & before.keys()


def test_readings_that_are_not_private_say_so_and_the_others_keep_their_guarantee(data):
    for name, mechanism in built().items():
        for query in (RecordsQuery, SecondMomentQuery):
            if type(query) not in mechanism.queries:
                continue
            open_here = acting_questions(
                "regression", name, dataset="liver", things=[mechanism], adjacent=True
            )
            for reading in variations(open_here):
                changes = {k: 1.0 if v == "data" else v for k, v in reading.parameters.items()}
                asked = query(Box(data.lower, data.upper), 40, reading.adjacency("replace"))
                made = adjust_mechanism(mechanism, changes).calibrate(
                    asked, epsilon=1.0, delta=1 / 40
                )
                assert (made.epsilon_delivered <= 1 + 1e-9) == reading.private
                if not reading.private:
                    assert made.epsilon_delivered == np.inf
                    assert made.mu == np.inf


def test_a_gamma_that_is_no_smaller_than_the_public_one_is_private():
    query = RecordsQuery(Box.cube(6, -1, 1), 248)
    for factor, private in ((1.0, True), (2.0, True), (0.5, False)):
        mechanism = MVG(gamma=factor * query.largest_norm)
        made = mechanism.calibrate(query, epsilon=1.0, delta=1 / 248)
        assert np.isfinite(made.epsilon_delivered) == private


@dataclass(frozen=True)
class Probe(Regression):
    """Scores by the norm of what the noise has added."""

    accepts = frozenset({"matrix"})
    reads_gram = False

    def instance(self, matrix, streams):
        instance = super().instance(matrix, streams)
        clean = instance.matrix
        instance.score = lambda released, **_: np.linalg.norm(released - clean, axis=(1, 2))
        return instance


def values(table, reading="default"):
    rows = table[table["reading"].eq(reading) & table["phase"].eq("report")]
    assert len(rows)
    return rows["value"].to_numpy(dtype=float)


def test_readings_share_their_base_draws(data):
    probe = Probe(target=3, train=40)
    table = sweep(probe, "knorm_frob", {"default": data}, SETTINGS)
    np.testing.assert_allclose(values(table, "factor_two=half"), 2 * values(table), rtol=1e-12)
    # What one record can change is halved in [-1, 1].
    halved = values(table, "adjacency=zero_out")
    np.testing.assert_allclose(halved, values(table) / 2, rtol=1e-12)


def test_gamma_of_the_data_is_that_of_the_private_records(data):
    probe = Probe(target=3, train=40)
    # Gamma weighs where epsilon is large.
    settings = replace(SETTINGS, epsilons=("1000000",))
    table = sweep(probe, "mvg_binary", {"default": data}, settings)
    splits = probe.instance(
        data.matrix, streams(7, "split", "regression", "report", trials=range(3000))
    )
    square = (np.linalg.norm(splits.matrix, axis=(1, 2)) ** 2).mean()
    query = RecordsQuery(Box(data.lower, data.upper), 40)
    noise = [
        MVG(gamma=gamma).calibrate(query, epsilon=1e6, delta=1 / 40).noise_std
        for gamma in (None, np.sqrt(square))
    ]
    ratio = values(table, "gamma=data") / values(table)
    assert noise[1] / noise[0] < 0.8
    np.testing.assert_allclose(ratio, noise[1] / noise[0], rtol=0.01)


# Runs


@pytest.mark.parametrize("mechanism", ["mvg_maxpnr", "jl_exact", "laplace", "nonprivate", "zero"])
def test_a_sweep_is_what_each_reading_gives_alone_and_the_default_is_the_plain_run(mechanism, data):
    table = sweep(REGRESSION, mechanism, {"default": data}, SETTINGS)
    names = list(dict.fromkeys(table["reading"]))
    assert "default" in names
    again = sweep(REGRESSION, mechanism, {"default": data}, SETTINGS)
    pd.testing.assert_frame_equal(table, again, rtol=1e-9)
    for name in names[:: max(1, len(names) // 6)]:
        reading = find_reading(name)
        own = replace(
            SETTINGS,
            adjacency=reading.adjacency("replace"),
            reading=name,
            changes=reading.parameters,
        )
        alone = run(adjust_mechanism(REGRESSION, reading.parameters), mechanism, data, own)
        assert_same(table[table["reading"].eq(name)], alone)
    plain = run(REGRESSION, mechanism, data, SETTINGS)
    assert_same(table[table["reading"].eq("default")], plain)


def assert_same(part, whole):
    """The same rows, whatever the types of whole columns."""
    pd.testing.assert_frame_equal(part.reset_index(drop=True), whole, check_dtype=False, rtol=1e-9)


def test_a_mechanism_varies_only_over_knobs_that_act_on_it():
    def varied(experiment, mechanism, dataset, *things, adjacent=True):
        found = variations(
            acting_questions(
                experiment, mechanism, dataset=dataset, things=things, adjacent=adjacent
            )
        )
        assert found[0].name == "default"
        assert all(len(reading.choices) == 1 for reading in found[1:])
        assert len({reading.name for reading in found}) == len(found)
        return {question for reading in found for question in reading.choices}, len(found)

    own = built()
    task = {"kernel", "ridge", "released", "predictions", "adjacency"}
    assert varied("regression", "laplace", "liver", REGRESSION, own["laplace"]) == (task, 1 + 5)
    questions, count = varied("regression", "mvg_maxpnr", "liver", REGRESSION, own["mvg_maxpnr"])
    assert questions == task | {"zeta", "gamma", "max_pnr", "unfilled"}
    assert count == 1 + 8 + 2
    assert varied("covariance", "laplace", "ctg", AllComponents(), own["laplace"]) == ({"ctg"}, 2)
    assert varied("regression", "zero", "liver", REGRESSION, adjacent=False) == (set(), 1)
    assert varied("first_pc", "ppca", "movement", FirstComponent(), own["ppca"]) == (
        {"movement", "adjacency"},
        1 + 3 + 1,
    )


# From trials to tables


def test_rows_that_others_stand_for_are_told_without_running_twice(data, tmp_path):
    names = ["jl_2012", "jl_exact", "knorm_frob", "knorm_l2", "mvg_binary", "nonprivate"]
    for name in names:
        table = sweep(REGRESSION, name, {"default": data}, SETTINGS)
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    table = results.summarise_readings([tmp_path / f"{name}.csv" for name in names])
    assert list(table.columns) == list(results.COLUMNS)
    assert not table.duplicated(["mechanism", "reading"]).any()
    by_name = table.set_index(["mechanism", "reading"])
    ours, theirs = (
        by_name.loc[("knorm_l2", "default")],
        by_name.loc[("knorm_frob", "exponential=l2")],
    )
    assert theirs["ran"] == "knorm_l2"
    assert theirs["mean"] == pytest.approx(ours["mean"], rel=1e-12)
    # Questions that do not act are empty; no row has changed two.
    assert (theirs["exponential"], theirs["zeta"], ours["exponential"]) == ("l2", "", "")
    assert ("knorm_l2", "factor_two=half") in by_name.index
    assert not table["reading"].str.contains("+", regex=False).any()
    # Sketches are compared with rows of the one kernel, and of the one release, that they know.
    sketches = table[table["mechanism"].eq("jl_2012")]
    assert {*sketches["kernel"], *sketches["released"]} == {"linear", "raw"}
    assert {*sketches["jl"]} == {"2012", "exact"}
    assert {*table.loc[~table["private"], "mechanism"]} == {"nonprivate", "mvg_binary"}
    bare = table[~table["private"] & table["mechanism"].eq("mvg_binary")]
    assert (bare["gamma"] == "data").all()
    assert np.isinf(bare["epsilon_delivered"]).all()


def test_each_row_of_a_sweep_goes_with_its_own_trials(data, tmp_path):
    out = tmp_path / "regression.csv"
    rows = [sweep(REGRESSION, n, {"default": data}, SETTINGS) for n in ("jl_2012", "jl_exact")]
    pd.concat(rows).to_csv(results.trial_file(out), index=False)
    results.write_readings([results.trial_file(out)], out)
    files = {
        "readings/regression": out,
        "readings/regression_trials.csv.gz": results.trial_file(out),
    }
    by_reading = across.read_reading_values("regression", files)
    assert {*by_reading.table["ran"]} == {"jl_2012", "jl_exact"}
    assert len(by_reading.table) == len(by_reading.values) > len({*by_reading.table["reading"]})
    np.testing.assert_allclose(
        by_reading.values.mean(axis=1), by_reading.table["mean"].astype(float)
    )
