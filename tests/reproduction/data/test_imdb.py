import itertools

import classifiers
import numpy as np
import pytest
from exactness import same_copies, same_integers

from reproduction.data import imdb, simulate

REVIEWS = {
    "train/pos/0_9.txt": "Great!<br /><br />A GREAT film; don't miss 'it'.",
    "train/pos/10_8.txt": "It is great_fun -- 10/10 caf\u00e9",
    "train/neg/0_2.txt": "It is bad. Don't!",
    "train/neg/10_1.txt": "a bad, bad film",
    "test/pos/0_10.txt": "new words: unseen great",
    "test/neg/0_3.txt": "BAD's",
}
# Those of the training reviews: three come three times, five twice, three once.
WORDS = ["bad", "great", "it", "10", "a", "don't", "film", "is", "café", "fun", "miss"]


def read(reviews=REVIEWS):
    return imdb.read({name: text.encode() for name, text in reviews.items()})


def words(tokens):
    """Return the words of one review."""
    names = {imdb.UNKNOWN: "?", **dict(enumerate(WORDS, start=2))}
    return " ".join(names[i] for i in tokens[tokens != imdb.FILLING].tolist())


def test_reviews_become_words_in_lower_case_with_apostrophes_inside():
    arrays = read().arrays
    assert [words(tokens) for tokens in arrays["train_tokens"]] == [
        "it is bad don't",
        "great a great film don't miss it",
        "a bad bad film",
        "it is great fun 10 10 café",
    ]
    assert [words(tokens) for tokens in arrays["test_tokens"]] == ["? ? ? great", "?"]


def test_the_first_reviews_are_half_positive():
    assert read().arrays["train_labels"].tolist() == [0, 1, 0, 1]
    assert read().arrays["train_labels"].dtype == np.int8
    stars = {"pos": 7, "neg": 1}
    names = [f"train/{c}/{i}_{s + i % 4}.txt" for i in range(2000) for c, s in stars.items()]
    many = dict.fromkeys([*names, *(name.replace("train", "test") for name in names)], "word")
    pairs = read(many).arrays["test_labels"].reshape(-1, 2)
    assert (pairs.sum(axis=1) == 1).all()


def test_the_order_of_the_members_does_not_matter():
    for order in itertools.islice(itertools.permutations(REVIEWS), 0, 720, 90):
        again = read({name: REVIEWS[name] for name in order}).arrays
        for name, array in read().arrays.items():
            assert same_copies(array, again[name])


def test_short_reviews_are_filled_in_front_and_the_end_of_long_ones_is_kept():
    long = f"bad {' '.join(f'w{i}' for i in range(198))} great film"
    arrays = read(REVIEWS | {"train/pos/0_9.txt": long, "train/neg/0_2.txt": ""}).arrays
    tokens = arrays["train_tokens"]
    assert (tokens.dtype, tokens.shape) == (np.int16, (4, 200))
    assert (tokens[0] == imdb.FILLING).all()
    assert (tokens[2][:196] == imdb.FILLING).all()
    _, bad, _, film = tokens[2][196:]
    assert len(set(tokens[1])) == 200
    assert tokens[1][-1] == film
    assert bad not in tokens[1]
    assert tokens[1].min() > imdb.UNKNOWN


def test_the_vocabulary_is_of_the_training_reviews_and_has_ten_thousand_ids():
    rare = [f"w{i:05}" for i in range(12_000)]
    lines = {
        f"train/pos/{100 + i // 200}_9.txt": " ".join(rare[i : i + 200])
        for i in range(0, 12_000, 200)
    }
    tokens = read(REVIEWS | lines).arrays["train_tokens"]
    counts = np.bincount(tokens.ravel())
    assert len(counts) == imdb.IDS == 10_000
    assert counts[imdb.UNKNOWN] == 12_000 + len(WORDS) - 9_998
    # Words of test reviews count for nothing.
    more = {f"test/pos/{i}_7.txt": "unseen film" for i in range(9)}
    arrays = read(REVIEWS | more).arrays
    assert same_integers(arrays["train_tokens"], read().arrays["train_tokens"])
    assert [words(tokens) for tokens in arrays["test_tokens"]].count("? film") == 9


def test_other_bytes_are_refused():
    with pytest.raises(ValueError, match="utf-8"):
        imdb.read({"train/pos/0_9.txt": b"caf\xe9", "test/pos/0_9.txt": b"x"})


@pytest.fixture(scope="module")
def stand_in():
    return imdb.simulate(simulate.load_summary("imdb"), np.random.default_rng(1))


def test_a_stand_in_has_the_shapes_and_laws_of_the_original(stand_in):
    facts, arrays = simulate.load_summary("imdb"), stand_in.arrays
    assert {name: (array.dtype, array.shape) for name, array in arrays.items()} == {
        "train_tokens": (np.int16, (25000, 200)),
        "train_labels": (np.int8, (25000,)),
        "test_tokens": (np.int16, (25000, 200)),
        "test_labels": (np.int8, (25000,)),
    }
    for part in ("train", "test"):
        assert np.bincount(arrays[f"{part}_labels"]).tolist() == facts["reviews"][part]
        tokens = arrays[f"{part}_tokens"]
        assert (tokens.min(), tokens.max()) == (0, 9999)
        # Filling is in front of a review and nowhere else.
        assert (np.diff((tokens != imdb.FILLING).astype(int), axis=1) >= 0).all()
        lengths = (tokens != imdb.FILLING).sum(axis=1)
        assert lengths.min() >= facts["lengths"]["minimum"]
        middle = facts["lengths"]["quantiles_above"][facts["levels"].index(0.25)]
        assert np.quantile(lengths, 0.25) == pytest.approx(middle, abs=3)
        counts = np.bincount(tokens.ravel(), minlength=imdb.IDS)
        for rank in (1, 10, 108, 1124):
            expected = facts["counts"][facts["ranks"].index(rank)]
            assert counts[1 + rank] == pytest.approx(expected, rel=0.35)
        assert counts[imdb.UNKNOWN] == pytest.approx(facts["unknown"], rel=0.1)


def test_a_stand_in_follows_its_stream_and_can_be_learnt(stand_in):
    again = imdb.simulate(simulate.load_summary("imdb"), np.random.default_rng(1))
    other = imdb.simulate(simulate.load_summary("imdb"), np.random.default_rng(2))
    for name, array in stand_in.arrays.items():
        np.testing.assert_allclose(array, again.arrays[name])
        assert not np.allclose(array, other.arrays[name])
    assert classifiers.imdb(stand_in.arrays) == pytest.approx(0.85, abs=0.03)
