import pickle

import numpy as np
import pytest
from exactness import same_copies, same_integers
from python2 import array, dictionary, numbers, pickled

from matrixdp.checks import InputError
from reproduction.data import cora

# Six papers with three words; the last three are the test papers, and line i of the index says
# which of them row i of tx and ty is.
FEATURES = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 1]], np.float32)
LABELS = np.array([0, 6, 2, 3, 4, 5])
INDEX = [4, 5, 3]
GRAPH = {0: [1, 2, 2], 1: [0, 5], 2: [0, 2], 5: [1], 4: [], 3: [5]}


def sparse(rows):
    """Return the opcodes of a csr_matrix as Python 2 pickled it."""
    where = np.nonzero(rows)
    parts = {
        "data": array(rows[where], "f4"),
        "indices": array(where[1], "i4"),
        "indptr": array(np.r_[0, np.cumsum((rows != 0).sum(axis=1))], "i4"),
        "_shape": b"(" + b"".join(b"K" + bytes([size]) for size in rows.shape) + b"t",
    }
    return b"cscipy.sparse.csr\ncsr_matrix\n)\x81" + dictionary(parts) + b"b"


def graph(neighbours):
    """Return the opcodes of a defaultdict of lists as Python 2 pickled it."""
    items = b"".join(b"K" + bytes([node]) + numbers(others) for node, others in neighbours.items())
    return b"ccollections\ndefaultdict\n(c__builtin__\nlist\ntR(" + items + b"u"


def members(**changed):
    one_hot = np.eye(7, dtype=int)[LABELS]
    found = {
        "x": pickled(sparse(FEATURES[:1])),
        "y": pickled(array(one_hot[:1], "i4")),
        "allx": pickled(sparse(FEATURES[:3])),
        "ally": pickled(array(one_hot[:3], "i4")),
        "tx": pickled(sparse(FEATURES[INDEX])),
        "ty": pickled(array(one_hot[INDEX], "i4")),
        "graph": pickled(graph(GRAPH)),
        "test.index": "".join(f"{node}\n" for node in INDEX).encode(),
    }
    return {f"ind.cora.{name}": data for name, data in (found | changed).items()}


def test_test_papers_are_put_in_their_places():
    arrays = cora.read(members()).arrays
    assert same_copies(arrays["features"], FEATURES)
    assert same_integers(arrays["labels"], LABELS)
    assert same_integers(arrays["test"], [3, 4, 5])
    assert (arrays["features"].dtype, arrays["labels"].dtype) == (np.float32, np.int8)


def test_links_are_undirected_and_single():
    edges = cora.read(members()).arrays["edges"]
    assert same_integers(edges, [[0, 1], [0, 2], [1, 5], [3, 5]])
    assert edges.dtype == np.int32


@pytest.mark.parametrize(
    "body",
    [
        b"cos\nsystem\n(U\x02lstR",
        b"c__builtin__\neval\n(U\x011tR",
        b"cnumpy\nload\n(U\x011tR",
        b"cscipy.sparse.csr\nisspmatrix_csr\n",
        b"cfunctools\npartial\n",
    ],
)
def test_a_pickle_may_name_nothing_else(body):
    with pytest.raises(InputError, match=r"^it would run (os|__builtin__|numpy|scipy|functools)"):
        cora.read(members(graph=pickled(body)))


def test_a_pickle_of_this_time_is_no_way_in(tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(InputError, match="it would run "):
            cora.read(members(graph=pickle.dumps(Harm(), protocol)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"graph": b""}, "no pickle of arrays"),
        ({"graph": members()["ind.cora.graph"][:-9]}, "no pickle of arrays"),
        ({"y": b"\x80\x02cnumpy\nndarray\n)R."}, "no pickle of arrays"),
        ({"test.index": b"4\n5\n6\n"}, "the test papers are not the last ones"),
        ({"test.index": b"4\n5\n"}, "the test papers are not the last ones"),
        ({"test.index": b"a\n"}, "invalid literal"),
        ({"graph": pickled(graph({0: [1], 5: [6]}))}, "the graph has other papers"),
        ({"tx": pickled(sparse(FEATURES[:2]))}, "shape mismatch"),
    ],
)
def test_other_files_are_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        cora.read(members(**changed))
