import numpy as np

from reproduction.seeds import shared_streams, streams

PINNED = 0.15166310978496536


def first(generators):
    return np.array([generator.standard_normal() for generator in generators])


def states(generators):
    return [generator.bit_generator.state for generator in generators]


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


def test_trials_of_a_block_share_its_stream_whatever_other_blocks_there_are():
    key = ("noise", "laplace")
    together = shared_streams(1, *key, trials=range(12), block=4)
    alone = shared_streams(1, *key, trials=range(4, 8), block=4)
    assert [together.index(stream) for stream in together] == [0] * 4 + [4] * 4 + [8] * 4
    assert states(together[4:8]) == states(alone)
    by_one = shared_streams(1, *key, trials=range(3), block=1)
    assert states(by_one) == states(streams(1, *key, trials=range(3)))


def test_streams_are_pinned():
    # A change here changes every published number of a run.
    assert first(streams(2018, "noise", "regression", trials=[0]))[0] == PINNED
