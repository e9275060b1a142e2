"""Joint readings, and the claims that hold in them."""

from sweeprows import CROSS, sweeps

from matrixdp.report.claims import across
from matrixdp.report.claims.ledger import Comparison, Row


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


def test_what_a_guess_meets_too_is_not_sure(tmp_path):
    one = Comparison(Row("regression", "mvg_binary"), Row("regression", "laplace"))
    guess = Comparison(Row("regression", "zero"), one.second)
    options = {"epsilon": "1", "larger": False, "every": True, "guesses": [[guess]]}
    for mean, sure in ((0.2, ()), (1.5, ("zeta=literal",))):
        rows = [*CROSS, ("zero", True, mean, 0.1, "", "")]
        table = across.read(sweeps(tmp_path, rows))
        assert across.share(table, [one], **options) == (1, 3, sure)
    # A guess that was not run cannot be asked.
    table = across.read(sweeps(tmp_path, CROSS))
    assert across.share(table, [one], **options).sure == ("zeta=literal",)
