from exactness import same_integers

from reproduction.data import movement


def test_walks_are_read_in_the_order_of_their_numbers():
    walks = {f"set/RSS_{i}.csv": f"#RSS_anchor1, RSS_anchor2\n{i},0\n{i},1\n" for i in (10, 2, 1)}
    records = movement.read({name: text.encode() for name, text in walks.items()})
    assert same_integers(records, [[1, 0], [1, 1], [2, 0], [2, 1], [10, 0], [10, 1]])
