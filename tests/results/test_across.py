"""Joint readings, and the claims that hold in them."""

from sweeprows import CROSS, sweeps

from matrixdp.results import across
from matrixdp.results.ledger import Comparison, Row


def test_joint_readings_share_their_knobs_and_are_private(tmp_path):
    table = across.read(sweeps(tmp_path, CROSS))
    one = Comparison(Row("regression", "mvg_binary"), Row("regression", "laplace"))
    options = {"epsilon": "1", "larger": False}
    share = across.share(table, [one], every=True, **options)
    assert share == (1, 3, ("zeta=literal",))
    other = Comparison(one.second, one.first)
    assert across.share(table, [other], every=True, **options)[:2] == (2, 3)
    assert across.share(table, [one, other], every=True, **options)[:2] == (0, 3)
    assert across.share(table, [one, other], every=False, **options)[:2] == (3, 3)
    unknown = Comparison(Row("regression", "goe"), one.second)
    assert across.share(table, [unknown], every=True, **options) == (None, None, ())
    assert across.read(tmp_path / "none.csv") is None
