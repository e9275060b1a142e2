"""What is computed for one record: the same alone and among any others, to the last bit."""

import numpy as np
import pytest
from exactness import same_copies, same_integers

import matrixdp as mdp
from matrixdp.mechanisms import clipped
from matrixdp.privacy import exact_sums
from matrixdp.privacy.domain import squared_norms
from matrixdp.release.outputs import Mean

FEATURES = 11


def layouts(rows):
    """Yield the same records (n, m) in several layouts of memory, and a name of each."""
    count, features = rows.shape
    yield "C", np.ascontiguousarray(rows)
    yield "Fortran", np.asfortranarray(rows)
    for name, order in (("every second row", "C"), ("every second row, Fortran", "F")):
        wide = np.full((2 * count, features + 3), 7.0, order=order)
        wide[::2, 1 : features + 1] = rows
        yield name, wide[::2, 1 : features + 1]
    yield "backwards", np.ascontiguousarray(rows[::-1, ::-1])[::-1, ::-1]
    yield "columns by number", np.ascontiguousarray(rows[:, ::-1])[:, [*reversed(range(features))]]
    for offset in range(1, 4):
        flat = np.empty(rows.size + offset)
        flat[offset:] = rows.ravel()
        yield f"offset {offset}", flat[offset:].reshape(rows.shape)
    yield "not aligned", np.frombuffer(b"1234" + rows.tobytes(), offset=4).reshape(rows.shape)


def per_record(name, radius=1.0):
    """Return a function of records (n, m) that gives one value for each of them."""
    ball, box = mdp.Ball(radius, FEATURES), mdp.Box.cube(FEATURES, -1.0, 0.7)

    def within(domain):
        return lambda rows: np.concatenate(
            list(exact_sums.clipped(mdp.RecordsQuery(domain, len(rows)), [rows]))
        )

    return {
        "squared norms": lambda rows: squared_norms(rows.T),
        "norms of a stack": lambda rows: squared_norms(rows[:, :, None])[:, 0],
        "clipped": lambda rows: ball.clip(rows.T).T,
        "clipped, a stack": lambda rows: ball.clip(rows[:, :, None])[:, :, 0],
        "of a ball": within(ball),
        "of a box": within(box),
        "scaled": Mean(
            columns=tuple("abcdefghijk"),
            box=box,
            records=10,
            epsilon=1.0,
            delta=0.0,
            fill=box.middle,
        ).scaled,
    }[name]


VALUES = [
    "squared norms",
    "norms of a stack",
    "clipped",
    "clipped, a stack",
    "of a ball",
    "of a box",
    "scaled",
]


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("count", [1, 2, 3, 300, 16_385, 16_386])
def test_a_value_of_a_record_is_the_same_in_any_layout_and_block(name, count):
    rows = np.random.default_rng(1).normal(size=(count, FEATURES))
    of = per_record(name)
    expected = of(rows)
    for layout, same in layouts(rows):
        assert same_copies(same, rows)
        assert of(same).tobytes() == expected.tobytes(), layout
        for k in {0, count // 2, count - 1}:
            assert of(same[k : k + 1]).tobytes() == expected[k : k + 1].tobytes(), (layout, k)
        for start in (count // 3, count - 1):
            assert of(same[start:]).tobytes() == expected[start:].tobytes(), (layout, start)


def test_the_shell_of_a_record_is_the_same_in_any_layout():
    """At radii for which it depends on the last bit of the norm."""
    rows = np.random.default_rng(2).normal(size=(100, FEATURES))
    middle = np.sqrt(2 * (rows**2).sum(axis=1))
    for row, radius in zip(rows, middle, strict=True):
        for near in radius * (1 + 2.0**-52 * np.arange(-3, 4)):
            several = np.array([row, row])
            counts = [
                clipped.shells(block.T, near, 9)
                for _, same in layouts(several)
                for block in (same[:1], same[1:], same)
            ]
            first = counts[0]
            assert all(same_integers(one, first * one.sum()) for one in counts)


def test_shells_are_exact_at_their_edges():
    edges = 2.0 ** -np.arange(12)
    above, below = np.nextafter(edges, 2), np.nextafter(edges, 0)
    assert clipped.halvings(edges).tolist() == [*range(12)]
    assert clipped.halvings(above).tolist() == [*range(-1, 11)]
    assert clipped.halvings(below).tolist() == [*range(12)]
    assert clipped.halvings(np.array([0.0, 5e-324])).tolist() == [np.inf, 1074]


def test_norms_are_exact_to_a_few_last_bits():
    rng = np.random.default_rng(3)
    for features, count in ((1, 3), (2, 1), (50, 700), (700, 2000)):
        records = rng.normal(size=(2, features, count)) * 10.0 ** rng.integers(-70, 70)
        expected = (records**2).sum(axis=1)
        assert squared_norms(records) == pytest.approx(expected, rel=features * 2.0**-53 * 2)
    assert squared_norms(np.zeros((3, 0))).shape == (0,)
