"""Data frames and arrays: what estimators and releases in Python take from them, and give back."""

import numpy as np
import pandas as pd
import pytest

import matrixdp as mdp

BOUNDS = {"age": (0, 120), "income": (0, 200_000), "score": (-3, 5)}


@pytest.fixture
def people():
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.uniform(*sides, 400) for name, sides in BOUNDS.items()})


def test_an_estimator_keeps_names_of_columns_and_names_its_components(people):
    pca = mdp.PrivatePCA(2, bounds=BOUNDS).set_output(transform="pandas").fit(people)
    assert [*pca.feature_names_in_] == [*BOUNDS]
    coordinates = pca.transform(people)
    assert (
        [*coordinates.columns] == [*pca.get_feature_names_out()] == ["privatepca0", "privatepca1"]
    )
    assert coordinates.index is not None
    assert len(coordinates) == len(people)
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(people[["score", "age", "income"]])


def test_the_inverse_of_all_components_gives_the_records_back(people):
    pca = mdp.PrivatePCA(3, bounds=BOUNDS).fit(people)
    assert pca.inverse_transform(pca.transform(people)) == pytest.approx(people.to_numpy())
    few = mdp.PrivatePCA(1, bounds=BOUNDS).fit(people)
    projected = few.inverse_transform(few.transform(people))
    frame = pd.DataFrame(projected, columns=people.columns)
    assert few.transform(frame) == pytest.approx(few.transform(people))


@pytest.mark.parametrize("X", [[[7077.25]], [["secret", 1.0]], [[np.nan, 7077.25]]])
def test_the_inverse_shows_no_value(people, X):
    pca = mdp.PrivatePCA(2, bounds=BOUNDS).fit(people)
    with pytest.raises(mdp.InputError, match="give 2 numbers per record") as caught:
        pca.inverse_transform(X)
    assert caught.value.__context__ is None
