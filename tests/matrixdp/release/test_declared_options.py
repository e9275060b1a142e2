"""A mechanism of another author is marked wherever options, releases and charges are shown."""

from dataclasses import dataclass, replace

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.mechanisms.mechanism import CalibratedMechanism, Mechanism
from matrixdp.release import ledger
from matrixdp.release.choices import candidates

QUERY = mdp.SecondMomentQuery(mdp.Ball(1.0, features=3), 400)
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
MARK = "declared by its class, not audited"


@dataclass(frozen=True)
class Weak(Mechanism):
    """Laplace noise a fifth too small, which states what it was asked for."""

    queries = frozenset({mdp.SecondMomentQuery})

    def calibrate(self, query, *, epsilon, delta):
        full = mdp.Laplace().calibrate(query, epsilon=epsilon / 0.8, delta=delta)
        return replace(full, epsilon=epsilon, epsilon_delivered=epsilon)


class Inheriting(mdp.Laplace):
    """A class that changes what it inherits by another way than ``calibrate``."""

    sensitivity_only = False


class Queries(mdp.SecondMomentQuery):
    """A query of another author, who may state a smaller sensitivity."""


def options(*mechanisms, query=QUERY):
    return mdp.compare_mechanisms(query, **BUDGET, mechanisms=mechanisms or None)


@pytest.mark.parametrize("mechanism", [Weak(), Inheriting(), mdp.MinMaxScaled(Weak())])
def test_a_class_of_another_author_is_declared(mechanism):
    query = mdp.SecondMomentQuery(mdp.Box((0, 0), (1, 9)), 400)
    query = query if isinstance(mechanism, mdp.MinMaxScaled) else QUERY
    listed = {option.name: option for option in options(mechanism, mdp.Gaussian(), query=query)}
    own = listed.pop("Gaussian")
    (foreign,) = listed.values()
    assert (own.status, foreign.status) == ("certified", "declared")
    assert MARK in str(foreign)
    assert MARK not in str(own)
    assert "status='declared'" in repr(foreign)
    assert MARK in foreign.release.explain()
    assert MARK not in own.release.explain()


def test_all_of_the_library_is_certified():
    mean = mdp.MeanQuery(mdp.Box((0, 0), (1, 9)), 400)
    listed = [*options(), *options(query=mean)]
    listed += options(mdp.DirectionalGaussian(weights=(1, 5)), query=mean)
    box = mdp.Box((0, 0, 0), (1, 1, 9))
    for query in ("second_moments", "covariance", "regression"):
        for mechanism in ("recommend", "clipped"):
            if (query, mechanism) != ("regression", "clipped"):
                listed += candidates(harness.fit(query, box, 5000, **BUDGET, mechanism=mechanism))
    assert {"Laplace", "DirectionalGaussian", "Centred"} <= {option.name for option in listed}
    assert {option.status for option in listed} == {"certified"}


def test_another_authors_query_is_declared():
    release = mdp.Gaussian().calibrate(QUERY, **BUDGET)
    assert release.of_library
    assert not replace(release, query=Queries(QUERY.domain, 400)).of_library


def test_an_account_notes_it(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("a,b,c\n1,1,1\n")
    account = mdp.Account(file, epsilon=3, delta=1e-5)
    for mechanism in (Inheriting(), mdp.Laplace()):
        account.spend(mechanism.calibrate(QUERY, **BUDGET))
    foreign, own = account.releases
    assert foreign["guarantee"].startswith(MARK)
    assert "guarantee" not in own
    with pytest.raises(mdp.InputError, match="its noise gives 1.25"):
        account.spend(Weak().calibrate(QUERY, **BUDGET))
    assert len(account.releases) == 2


def test_what_has_several_parts_is_as_its_class_and_its_program():
    (option,) = candidates(
        harness.fit("second_moments", mdp.Box((0, 0), (1, 9)), 5000, **BUDGET, mechanism="clipped")
    )
    release = option.release
    assert "guarantee" not in ledger.entry(release)

    class Silent(type(release)):
        def run(self, rows, answer=None):
            return super().run(rows, lambda question, value: value)

    silent = replace(release)
    object.__setattr__(silent, "run", lambda rows: None)
    for foreign in (
        replace(release, program=replace(release.program, author="Weak")),
        Silent(release.query, release.epsilon, release.delta, release.program),
        silent,
    ):
        assert ledger.entry(foreign)["guarantee"].startswith(MARK)
        assert replace(option, release=foreign).status == "declared"


@dataclass(frozen=True)
class Apart(Mechanism):
    queries = frozenset({mdp.SecondMomentQuery})

    def calibrate(self, query, *, epsilon, delta):
        class Nothing(CalibratedMechanism):
            def _draw(self, value, generator, count):
                return np.zeros((count, *value.shape))

        return Nothing(query=query, epsilon=epsilon, delta=delta, epsilon_delivered=epsilon)


def test_one_that_adds_no_noise_is_refused():
    with pytest.raises(mdp.InputError, match="mechanisms has Apart, which does not add noise"):
        options(Apart())
    assert MARK in Apart().calibrate(QUERY, **BUDGET).explain()
