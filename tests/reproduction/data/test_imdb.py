import itertools

import numpy as np
import pytest
from exactness import same_copies, same_integers

from reproduction.data import imdb

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
