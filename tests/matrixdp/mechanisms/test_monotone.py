"""More epsilon never asks for more noise, and a test of it notices where it does."""

from epsilonsteps import guaranteed, rises
from mechanismqueries import LIVER

from matrixdp.mechanisms.base import Mechanism, NoGuarantee
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.sensitivity import IdentityQuery


class Honest(Mechanism):
    """Refuses every budget."""

    queries = frozenset({IdentityQuery})

    def calibrate(self, query, *, epsilon, delta):
        raise NoGuarantee("delta is too small at any epsilon")


def test_a_mechanism_may_refuse_every_budget():
    assert rises(Honest(), LIVER) == (0, 0)
    assert not guaranteed(Honest(), LIVER)
    assert guaranteed(Gaussian(), LIVER)


class Switching(Mechanism):
    """Another formula from epsilon = 1 on, which asks for more noise there."""

    queries = Gaussian.queries

    def calibrate(self, query, *, epsilon, delta):
        return Gaussian().calibrate(query, epsilon=epsilon / (1 + 3 * (epsilon > 1)), delta=delta)


def test_a_formula_that_jumps_is_noticed():
    assert rises(Gaussian(), LIVER)[0] == 0
    # Noise and mu, each once.
    assert rises(Switching(), LIVER)[0] == 2
