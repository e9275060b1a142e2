"""Quick classifiers of the learning sets: the share of test records that each gets right."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, RidgeClassifier


def adult(arrays):
    scale = np.maximum(arrays["train_inputs"].std(axis=0), 0.01)
    model = LogisticRegression(tol=1e-3, max_iter=200)
    model.fit(arrays["train_inputs"] / scale, arrays["train_labels"])
    return model.score(arrays["test_inputs"] / scale, arrays["test_labels"])


def cora(arrays):
    """From the words of a paper, averaged twice over those that it is linked with."""
    n, (one, other) = len(arrays["labels"]), arrays["edges"].T
    links = np.eye(n, dtype=np.float32)
    links[one, other] = links[other, one] = 1
    links /= np.sqrt(np.outer(links.sum(axis=0), links.sum(axis=1)))
    words = arrays["features"]
    averaged = links @ (links @ (words / np.maximum(1, words.sum(axis=1, keepdims=True))))
    parts = [(averaged[arrays[part]], arrays["labels"][arrays[part]]) for part in ("train", "test")]
    return RidgeClassifier(alpha=0.1).fit(*parts[0]).score(*parts[1])


def imdb(arrays):
    """From which of the known words a review has."""

    def bags(tokens):
        rows = np.repeat(np.arange(len(tokens)), tokens.shape[1])
        bag = sparse.coo_matrix(
            (np.ones(tokens.size), (rows, tokens.ravel())), (len(tokens), 10_000)
        ).tocsr()
        bag.data[:] = 1
        return bag[:, 2:]

    model = LogisticRegression(C=0.01, max_iter=200)
    model.fit(bags(arrays["train_tokens"]), arrays["train_labels"])
    return model.score(bags(arrays["test_tokens"]), arrays["test_labels"])


def mnist(arrays):
    """From the ink in blocks of 4 x 4 pixels, by least squares."""
    parts = [
        (
            arrays[f"{part}_images"].reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49),
            arrays[f"{part}_labels"],
        )
        for part in ("train", "official")
    ]
    return RidgeClassifier().fit(*parts[0]).score(*parts[1])
