import numpy as np
import pytest
import yaml
from exactness import same_integers

from reproduction.data import datasets, simulate
from reproduction.data.simulate import LEVELS, load_summary, spearman

MATRICES = [name for name, spec in datasets.specs().items() if not spec.is_learning_set]


@pytest.mark.parametrize("name", MATRICES)
def test_stand_ins_look_like_their_facts(name):
    spec, facts = datasets.find(name), load_summary(name)
    made = simulate.simulate(facts, np.random.default_rng(1))
    assert [*made.shape] == spec.shape
    assert [feature["name"] for feature in facts["features"]] == list(spec.columns)
    target = np.array(facts["rank_correlation"])
    assert np.abs(spearman(made) - target).max() < 0.05
    # The bound above could be met by chance only if all correlations were small.
    assert np.abs(target - np.eye(len(target))).max() > 0.3
    for column, feature in zip(made.T, facts["features"], strict=True):
        if "values" in feature:
            values, counts = np.unique(column, return_counts=True)
            assert (values.tolist(), counts.tolist()) == (feature["values"], feature["counts"])
            continue
        assert column.min() == feature["minimum"]
        assert column.max() == feature["quantiles_above"][-1]
        assert (column == column.min()).sum() >= feature["at_minimum"]
        above = np.sort(column)[feature["at_minimum"] :]
        table = np.array(feature["quantiles_above"])
        tolerance = 0.5 * feature["integer"] + 0.035 * np.ptp(table)
        assert np.abs(np.quantile(above, LEVELS) - table).max() <= tolerance
        assert not feature["integer"] or same_integers(column, np.round(column))


def test_the_seed_decides():
    facts = load_summary("liver")
    one, same, other = (simulate.simulate(facts, np.random.default_rng(s)) for s in (1, 1, 2))
    np.testing.assert_allclose(one, same)
    assert not np.allclose(one, other)
    np.testing.assert_allclose(np.sort(one, axis=0), np.sort(other, axis=0))


def test_facts_of_known_data():
    rng = np.random.default_rng(0)
    a = rng.permutation(1000).astype(float)
    records = np.column_stack([a, -a, np.where(a < 700, 0, a / 7), rng.integers(0, 3, 1000)])
    facts = simulate.summarise(records, ["up", "down", "zeros", "few"])
    up, _, zeros, few = facts["features"]
    assert (up["integer"], up["minimum"], up["at_minimum"]) == (True, 0, 1)
    assert up["quantiles_above"][LEVELS.tolist().index(0.5)] == 500
    assert (zeros["integer"], zeros["at_minimum"]) == (False, 700)
    assert few["values"] == [0, 1, 2]
    assert sum(few["counts"]) == 1000
    assert facts["rank_correlation"][0][1] == -1
    assert yaml.safe_load(simulate.as_yaml(facts)) == facts
    made = simulate.simulate(facts, rng)
    assert np.abs(spearman(made) - spearman(records)).max() < 0.02
