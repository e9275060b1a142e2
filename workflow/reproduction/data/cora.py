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
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reproduction.data import pickles
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
