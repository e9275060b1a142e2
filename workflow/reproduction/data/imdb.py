"""Large Movie Review Dataset (IMDB): 50,000 film reviews, half of them positive.

Arrays:
    train_tokens (25000, 200), test_tokens (25000, 200): int16, a review's last 200 words as ids.
        Shorter reviews are padded with 0 in front, as Keras does, so that the last entry is always
        a word. A recurrent network that runs backwards without a mask reads the padding after the
        words.
    train_labels (25000,), test_labels (25000,): int8, 1 for a positive review.

The reviews are in the order of their file names, ``<number>_<stars>.txt``. Each number belongs to
one positive and one negative review, so that the first reviews have as many of both.

A word is a run of letters and digits, with apostrophes inside, in lower case. There are 10,000 ids:
0 (padding), 1 (any other word), and from 2 on the most frequent words of the training reviews.
Words of equal frequency are in alphabetical order.
"""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from reproduction.data.learning import Encoded

IDS = 10_000
LENGTH = 200
FILLING, UNKNOWN = 0, 1

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_FIRST = 2


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the reviews as ids.

    Raises:
        ValueError: a review is no UTF-8.
    """
    numbers: collections.defaultdict[str, int] = collections.defaultdict(itertools.count().__next__)

    def reviews(part: str) -> tuple[list[NDArray], NDArray]:
        names = [name for name in members if name.startswith(f"{part}/")]
        names.sort(key=lambda name: (name.rpartition("/")[2], name))
        texts = (members[name].decode("utf-8").replace("<br />", " ").lower() for name in names)
        words = [np.array([*map(numbers.__getitem__, _WORD.findall(text))], int) for text in texts]
        return words, np.array([name.startswith(f"{part}/pos/") for name in names], dtype=np.int8)

    train, train_labels = reviews("train")
    counts = np.bincount(np.concatenate(train))
    frequent = sorted(numbers, key=lambda word: (-counts[numbers[word]], word))[: IDS - _FIRST]
    places = [numbers[word] for word in frequent]
    test, test_labels = reviews("test")
    ids = np.full(len(numbers), UNKNOWN)
    ids[places] = _FIRST + np.arange(len(places))

    def tokens(part: list[NDArray]) -> NDArray:
        ends = [review[-LENGTH:] for review in part]
        filled = _filling([len(review) for review in ends])
        filled[filled != FILLING] = ids[np.concatenate(ends)]
        return filled

    labels = {"train": train_labels, "test": test_labels}
    return _encoded({"train": tokens(train), "test": tokens(test)}, labels)


def _filling(lengths: Sequence[int] | NDArray) -> NDArray:
    """Return tokens (n, 200) of reviews of these lengths: padding in front, then unknown words."""
    words = np.arange(LENGTH) >= LENGTH - np.asarray(lengths)[:, None]
    return np.where(words, UNKNOWN, FILLING).astype(np.int16)


def _encoded(tokens: Mapping[str, NDArray], labels: Mapping[str, NDArray]) -> Encoded:
    return Encoded(
        arrays={f"{part}_tokens": array for part, array in tokens.items()}
        | {f"{part}_labels": array.astype(np.int8) for part, array in labels.items()},
        shape=(sum(map(len, labels.values())), 1),
        description=(
            f"the last {LENGTH} words of a review as ids, shorter reviews filled up with "
            f"{FILLING} in front; {UNKNOWN} is a word that is none of the {IDS - _FIRST} most "
            "frequent ones of the training reviews"
        ),
        treated_as_public=("vocabulary",),
        facts={"ids": IDS}
        | {
            f"{part}_share_of_unknown_words": float(np.mean(array[array != FILLING] == UNKNOWN))
            for part, array in tokens.items()
        },
    )
