"""Cora: 2,708 papers on machine learning of seven classes, their words and their citations.

Arrays:
    features (2708, 1433): float32, 1 where a paper has a word, else 0.
    edges (5278, 2): int32, papers that are linked by a citation, the smaller number first, each
        pair once, in order, none with itself.
    labels (2708,): int8, the class.
    train (1140,), test (1000,): int32, papers in order.

The files are those of the Planetoid split (Yang, Cohen and Salakhutdinov, ICML 2016), with its
1,000 test papers. The IMGM paper says only that 1,140 papers train. Here these are Planetoid's 140
training papers, its 500 for validation and the next 500.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data import pickles
from reproduction.data import simulate as standins
from reproduction.data.learning import Encoded

_CLASSES = 7
_VALIDATION = _NEXT = 500


class _Sparse:
    """The content of a pickled scipy.sparse.csr_matrix, without running SciPy's code on it."""

    data: NDArray
    indices: NDArray
    indptr: NDArray
    _shape: tuple[int, int]

    def dense(self) -> NDArray:
        """Return the matrix, float32."""
        matrix = np.zeros(self._shape, dtype=np.float32)
        matrix[np.repeat(np.arange(len(matrix)), np.diff(self.indptr)), self.indices] = self.data
        return matrix


#: Classes that these pickles contain beyond arrays.
_PICKLED_TYPES = {
    ("scipy.sparse.csr", "csr_matrix"): _Sparse,
    ("collections", "defaultdict"): collections.defaultdict,
    ("__builtin__", "list"): list,
}


def read(members: Mapping[str, bytes]) -> Encoded:
    """Return the papers, their links and the split.

    Raises:
        InputError: a pickle has more than arrays and lists.
        ValueError: the files do not fit together.
    """
    y, allx, ally, tx, ty, graph = (
        pickles.load(members[f"ind.cora.{part}"], _PICKLED_TYPES)
        for part in ("y", "allx", "ally", "tx", "ty", "graph")
    )
    # Row i of tx and ty is the paper of line i of the index, which is not in order.
    index = np.array(members["ind.cora.test.index"].split(), dtype=np.int32)
    n, test = len(ally) + len(index), np.sort(index)
    if not np.array_equal(test, np.arange(len(ally), n)):
        raise ValueError("the test papers are not the last ones")
    place = np.concatenate([np.arange(len(ally)), index])
    features, labels = np.zeros((n, allx._shape[1]), np.float32), np.zeros(n, np.int8)
    features[place] = np.concatenate([allx.dense(), tx.dense()])
    labels[place] = np.concatenate([ally, ty]).argmax(axis=1)
    citing = np.repeat(list(graph), [len(cited) for cited in graph.values()])
    cited = np.concatenate(list(graph.values()))
    edges = _edges(np.column_stack([citing, cited]))
    if edges.min() < 0 or edges.max() >= n:
        raise ValueError("the graph has other papers")
    return _encoded(features, edges, labels, len(y) + _VALIDATION + _NEXT, len(index))


def summarise(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the facts for a stand-in.

    Returns:
        ``papers`` by class in the training part, the rest and the test part; ``links`` between the
        classes (7 x 7, each link once, above the diagonal); ``levels`` and ``degrees``, the
        distribution of a paper's number of links (:func:`reproduction.data.simulate.marginal`); and
        ``words``: for each class the number of papers that have each word.
    """
    arrays = read(members).arrays
    features, edges, labels = (arrays[name] for name in ("features", "edges", "labels"))
    classes = np.eye(_CLASSES, dtype=int)
    first, last = len(arrays["train"]), len(labels) - len(arrays["test"])
    parts = np.split(labels, [first, last])
    links = np.zeros((_CLASSES, _CLASSES), dtype=int)
    np.add.at(links, tuple(np.sort(labels[edges], axis=1).T), 1)
    degrees = np.bincount(edges.ravel(), minlength=len(labels)).astype(np.float64)
    return {
        "papers": {
            name: np.bincount(part, minlength=_CLASSES).tolist()
            for name, part in zip(("train", "rest", "test"), parts, strict=True)
        },
        "links": links.tolist(),
        "levels": standins.LEVELS.tolist(),
        "degrees": standins.marginal(degrees),
        "words": (classes[labels].T @ features).astype(int).tolist(),
    }


def simulate(facts: Mapping[str, Any], rng: np.random.Generator) -> Encoded:
    """Return a stand-in: a degree-corrected block model whose papers have words by class.

    Between two classes there are as many links as in the original (Karrer & Newman 2011). Each end
    is a random paper of its class, in proportion to a random degree from the distribution of
    degrees; some papers get no link. A paper has each word with the rate of its class,
    independently of its other words and its links. This makes classes easier to predict.
    """
    counts = np.array(list(facts["papers"].values()))
    labels = np.concatenate([rng.permutation(np.repeat(np.arange(_CLASSES), c)) for c in counts])
    rates = np.array(facts["words"]) / counts.sum(axis=0)[:, None]
    features = (rng.random((len(labels), rates.shape[1])) < rates[labels]).astype(np.float32)
    ordered = standins.sorted_values(facts["degrees"], facts["levels"], len(labels))
    degrees = rng.permutation(ordered)
    links = []
    for a, b in itertools.combinations_with_replacement(range(_CLASSES), 2):
        count = facts["links"][a][b]
        ends = [
            rng.choice(papers, size=4 * count, p=degrees[papers] / degrees[papers].sum())
            for papers in (np.flatnonzero(labels == c) for c in (a, b))
        ]
        # Draw a surplus, because some pairs repeat or link a paper with itself.
        links.append(rng.permutation(_edges(np.column_stack(ends)))[:count])
    return _encoded(features, _edges(np.concatenate(links)), labels, *counts.sum(axis=1)[[0, 2]])


def _edges(pairs: NDArray) -> NDArray:
    """Return each undirected pair once, in order, without self-links."""
    different = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.unique(np.sort(different, axis=1), axis=0).astype(np.int32)


def _encoded(features: NDArray, edges: NDArray, labels: NDArray, train: int, test: int) -> Encoded:
    n = len(labels)
    return Encoded(
        arrays={
            "features": features,
            "edges": edges,
            "labels": labels.astype(np.int8),
            "train": np.arange(train, dtype=np.int32),
            "test": np.arange(n - test, n, dtype=np.int32),
        },
        shape=(n, features.shape[1]),
        description="words as 0 and 1, links undirected, each once, none of a paper with itself",
        facts={
            "links": len(edges),
            "share_of_links_within_a_class": float(np.mean(np.diff(labels[edges]) == 0)),
            "papers_by_class": np.bincount(labels, minlength=_CLASSES).tolist(),
        },
    )
