import numpy as np
import pytest
from exactness import same_copies

from matrixdp.checks import InputError
from reproduction.data import adult

TRAIN = """\
20, Private, 100, Bachelors, 13, Never-married, Sales, Wife, White, Male, 0, 0, 40, Peru, <=50K
40, ?, 300, Preschool, 1, Divorced, ?, Husband, Black, Female, 200, 0, 20, ?, >50K

"""
TEST = """\
|1x3 Cross validator
90, Never-worked, 100, 5th-6th, 3, Widowed, Sales, Wife, Other, Male, 0, 8, 60, Hong, >50K.
30, Private, 100, HS-grad, 9, Separated, Sales, Wife, White, Female, 0, 0, 9, United-States, <=50K.

"""


def read(train=TRAIN, test=TEST):
    return adult.read({"adult.data": train.encode(), "adult.test": test.encode()})


def place(attribute, category):
    """Return the column of a category."""
    column = 6
    for name, categories in adult.ATTRIBUTES.items():
        if name == attribute:
            return column + categories.index(category)
        column += len(categories)
    raise KeyError(attribute)


def test_records_worked_by_hand():
    encoded = read()
    train, test = encoded.arrays["train_inputs"], encoded.arrays["test_inputs"]
    assert (train.dtype, train.shape, test.shape) == (np.float32, (2, 105), (2, 105))
    # Divided by twice the training mean: 30, 200, 7, 100, 0 and 30; no one has a capital loss.
    np.testing.assert_allclose(train[0, :6], [1 / 3, 1 / 4, 13 / 14, 0, 0, 2 / 3], rtol=1e-7)
    np.testing.assert_allclose(train[1, :6], [2 / 3, 3 / 4, 1 / 14, 1, 0, 1 / 3], rtol=1e-7)
    np.testing.assert_allclose(test[0, :6], [1.5, 1 / 4, 3 / 14, 0, 8, 1], rtol=1e-7)
    assert encoded.constants["mean of age"] == 30
    expected = {
        place("workclass", "Private"),
        place("education", "Bachelors"),
        place("marital-status", "Never-married"),
        place("occupation", "Sales"),
        place("relationship", "Wife"),
        place("race", "White"),
        place("sex", "Male"),
        place("native-country", "Peru"),
    }
    assert set(6 + np.flatnonzero(train[0, 6:])) == expected
    # Three are missing.
    assert train[1, 6:].sum() == 5
    assert encoded.shape == (4, 15)


def test_a_full_stop_after_the_income_changes_nothing():
    arrays = read().arrays
    assert (arrays["train_labels"].tolist(), arrays["test_labels"].tolist()) == ([0, 1], [1, 0])
    assert arrays["test_labels"].dtype == np.int8


def test_columns_do_not_depend_on_the_records():
    one = read().arrays["train_inputs"]
    lines = TRAIN.splitlines(keepends=True)
    assert same_copies(read(lines[1] + lines[0]).arrays["train_inputs"], one[::-1])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Peru", "Perú", "ascii"),
        ("Peru", "Chile", "native-country 'Chile' is none of those"),
        ("Peru", "peru", "native-country 'peru' is none of those"),
        ("<=50K", "<=50k", "income '<=50k' is none of those"),
        ("<=50K", "?", r"income '\?' is none of those"),
        ("20, Private", "?, Private", "could not convert"),
        (", Peru", "", "columns"),
        (", 40", ", 40, 40", "columns"),
    ],
)
def test_other_records_are_refused(old, new, said):
    with pytest.raises(ValueError, match=said) as caught:
        read(TRAIN.replace(old, new))
    assert isinstance(caught.value, InputError) == ("none of those" in said)
