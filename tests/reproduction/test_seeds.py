import numpy as np

from reproduction.seeds import streams

PINNED = 0.15166310978496536


def first(generators):
    return np.array([generator.standard_normal() for generator in generators])


def test_a_trial_has_the_same_stream_alone_and_among_others():
    together = first(streams(1, "noise", "laplace", trials=range(5)))
    alone = first(streams(1, "noise", "laplace", trials=[3]))
    assert together[3] == alone[0]


def test_every_part_of_the_key_matters():
    base = first(streams(1, "noise", "laplace", "1", trials=range(3)))
    for other in (
        streams(2, "noise", "laplace", "1", trials=range(3)),
        streams(1, "split", "laplace", "1", trials=range(3)),
        streams(1, "noise", "laplace", "10", trials=range(3)),
        streams(1, "noise", "laplace1", trials=range(3)),
        streams(1, "noise", "laplace", "1", trials=range(3, 6)),
    ):
        assert not np.isin(first(other), base).any()


def test_streams_are_pinned():
    # A change here changes every published number of a run.
    assert first(streams(2018, "noise", "regression", trials=[0]))[0] == PINNED
