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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data import simulate as standins
from reproduction.data.learning import Encoded

IDS = 10_000
LENGTH = 200
FILLING, UNKNOWN = 0, 1

_PARTS = ("train", "test")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_FIRST = 2
#: Last rank of each band of words in a stand-in's facts, and levels of the log odds' quantiles.
_BANDS = (10, 30, 100, 300, 1000, 3000, IDS - _FIRST)
_LEVELS = np.array([0, 0.01, 0.05, *np.linspace(0.1, 0.9, 9).round(1), 0.95, 0.99, 1])
_RANKS = np.unique(np.geomspace(1, IDS - _FIRST, 60).round().astype(int))
#: Number of values that represent the distribution of the polarity of reviews.
_POLARITIES = 25


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


def summarise(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the facts for a stand-in.

    Returns:
        ``reviews`` has the numbers of negative and positive reviews in both parts. All other facts
        are on the encoded training reviews:

        - ``levels`` and ``lengths``: distribution of lengths
          (`reproduction.data.simulate.marginal`);
        - ``unknown``: number of unknown words;
        - ``ranks`` and ``counts``: frequency of the word at each rank;
        - ``log_odds``: log odds of a word in positive reviews, as quantiles at
          ``log_odds_levels`` over the words of each of ``bands``;
        - ``polarity_sd``: see :func:`simulate`.
    """
    arrays = read(members).arrays
    tokens, labels = arrays["train_tokens"], arrays["train_labels"]
    counts = np.array([np.bincount(tokens[labels == c].ravel(), minlength=IDS) for c in (0, 1)])
    counts[:, FILLING] = 0
    smoothed = counts + 1.0
    log_odds = np.log(smoothed[1] / smoothed[1].sum()) - np.log(smoothed[0] / smoothed[0].sum())
    lengths = (tokens != FILLING).sum(axis=1)
    totals = counts[:, _FIRST:].sum(axis=0)
    return {
        "reviews": {
            part: np.bincount(arrays[f"{part}_labels"], minlength=2).tolist() for part in _PARTS
        },
        "levels": standins.LEVELS.tolist(),
        "lengths": standins.marginal(lengths.astype(np.float64)),
        "unknown": int(counts[:, UNKNOWN].sum()),
        "ranks": _RANKS.tolist(),
        "counts": np.sort(totals)[::-1][_RANKS - 1].tolist(),
        "bands": list(_BANDS),
        "log_odds_levels": _LEVELS.tolist(),
        "log_odds": [
            np.quantile(band, _LEVELS).round(3).tolist()
            for band in np.split(log_odds[_FIRST:], _BANDS[:-1])
        ],
        "polarity_sd": round(_polarity_sd(tokens, labels, log_odds), 3),
    }


def simulate(facts: Mapping[str, Any], rng: np.random.Generator) -> Encoded:
    """Return a stand-in: reviews of independent words, whose frequencies follow their polarity.

    A review of polarity t has each word in proportion to its frequency and the square root of its
    odds to the power of t. Polarities are normal, with mean 1 in positive and -1 in negative
    reviews. Their standard deviation gives the mean log odds of a review's words the variance of
    the original. Some reviews are mixed, so that not all can be classified.
    """
    from scipy.special import ndtri

    log_counts = np.interp(
        np.log(np.arange(1, IDS - _FIRST + 1)), np.log(facts["ranks"]), np.log(facts["counts"])
    )
    log_frequencies = np.concatenate([[-np.inf, np.log(facts["unknown"])], log_counts])
    sizes = np.diff(facts["bands"], prepend=0)
    log_odds = np.zeros(IDS)
    log_odds[_FIRST:] = np.concatenate(
        [
            np.interp(rng.random(size), facts["log_odds_levels"], quantiles)
            for size, quantiles in zip(sizes, facts["log_odds"], strict=True)
        ]
    )
    scores = ndtri((np.arange(_POLARITIES) + 0.5) / _POLARITIES)
    pool = standins.sorted_values(facts["lengths"], facts["levels"], sum(facts["reviews"]["train"]))
    parts: dict[str, NDArray] = {}
    classes: dict[str, NDArray] = {}
    for part in _PARTS:
        labels = classes[part] = rng.permutation(np.repeat([0, 1], facts["reviews"][part]))
        tokens = parts[part] = _filling(rng.choice(pool, size=len(labels)))
        groups = rng.integers(_POLARITIES, size=len(labels)) + _POLARITIES * labels
        for group in range(2 * _POLARITIES):
            c, place = divmod(group, _POLARITIES)
            polarity = 2 * c - 1 + facts["polarity_sd"] * scores[place]
            distribution = np.cumsum(np.exp(log_frequencies + polarity / 2 * log_odds))
            reviews = tokens[groups == group]
            words = reviews != FILLING
            reviews[words] = np.searchsorted(
                distribution, distribution[-1] * rng.random(words.sum()), side="right"
            )
            tokens[groups == group] = reviews
    return _encoded(parts, classes)


def _filling(lengths: Sequence[int] | NDArray) -> NDArray:
    """Return tokens (n, 200) of reviews of these lengths: padding in front, then unknown words."""
    words = np.arange(LENGTH) >= LENGTH - np.asarray(lengths)[:, None]
    return np.where(words, UNKNOWN, FILLING).astype(np.int16)


def _polarity_sd(tokens: NDArray, labels: NDArray, log_odds: NDArray) -> float:
    """Return the standard deviation of the reviews' polarity within a class, averaged over classes.

    Each review has a polarity t, see :func:`simulate`. Its words' log odds have a variance v, and a
    mean that grows by v / 2 per unit of t. Sampling words gives a review's mean log odds a variance
    of v / length. The remaining variance of the means comes from polarity.

    Args:
        tokens: word ids, shape (reviews, LENGTH).
        labels: 0 or 1, shape (reviews,).
        log_odds: log odds of a word in positive reviews, by id, shape (IDS,).
    """
    words = tokens != FILLING
    lengths = words.sum(axis=1)
    values = np.where(words, log_odds[tokens], 0)
    deviations = []
    for c in (0, 1):
        of_class = (labels == c) & (lengths > 0)
        v = values[of_class][words[of_class]].var()
        means = values[of_class].sum(axis=1) / lengths[of_class]
        beyond = means.var() - v * np.mean(1 / lengths[of_class])
        deviations.append(np.sqrt(max(0.0, beyond)) / (v / 2))
    return float(np.mean(deviations))


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
