"""Replays of compositions find what is executed in place of what is declared."""

from dataclasses import replace

import numpy as np
import pytest

from matrixdp.audit import composition, releases
from matrixdp.laws import SymmetricNormal
from matrixdp.mechanisms.adaptive import AdaptiveCovariance
from matrixdp.mechanisms.adassp import AdaSSP
from matrixdp.mechanisms.allocation import MaxPNR
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PrivatelyClipped
from matrixdp.mechanisms.directions import PrivateDirections
from matrixdp.mechanisms.mvg import MVG
from matrixdp.privacy.sensitivity import Box, IdentityQuery, NormalEquations, SecondMomentQuery

BOX = Box.cube(6, -1, 1)
MOMENTS = SecondMomentQuery(BOX, 200)
RELEASES = {
    name: mechanism.calibrate(query, epsilon=1.0, delta=0.01)
    for name, mechanism, query in (
        ("histogram", PrivatelyClipped(), MOMENTS),
        ("search", AdaptiveCovariance(), MOMENTS),
        ("centred", Centred(), MOMENTS),
        ("centred, public", Centred(1 / 16), MOMENTS),
        ("adassp", AdaSSP(), NormalEquations(BOX, 200, target=5)),
        (
            "mvg",
            MVG(allocation=MaxPNR(), directions=PrivateDirections()),
            IdentityQuery(BOX, 200),
        ),
    )
}


def executed(release, declared=None, seed=0):
    """What replays show of a release, held against what another one declares."""
    model = composition.MODELS[type(release)]
    try:
        if declared is not None:
            composition.MODELS[type(release)] = lambda _, *others: model(declared, *others)
        return composition.executed(release, np.random.default_rng(seed))
    finally:
        composition.MODELS[type(release)] = model


@pytest.mark.parametrize("name", RELEASES)
def test_a_right_composition_is_executed_as_declared(name):
    finding = executed(RELEASES[name])
    assert finding.other == 0
    assert 0.7 < finding.mu <= 1 + releases.ROUNDING


def scaled(part, factor):
    law = part.noise
    noise = SymmetricNormal(law.shape, factor * law.diagonal_std, factor * law.off_diagonal_std)
    return replace(part, noise=noise)


def histogram(release, factor):
    return replace(release, count_std=factor * release.count_std)


PARTS = {
    ("histogram", "counts"): histogram,
    ("histogram", "moments"): lambda r, f: replace(
        r, candidates=tuple(scaled(one, f) for one in r.candidates)
    ),
    ("search", "trace"): lambda r, f: replace(r, trace_std=f * r.trace_std),
    ("search", "search"): lambda r, f: replace(r, search=r.search / f),
    ("search", "moments"): lambda r, f: replace(r, rest=r.rest / f),
    ("centred", "mean"): lambda r, f: replace(r, centre_std=f * r.centre_std),
    ("centred", "counts"): lambda r, f: replace(r, about=histogram(r.about, f)),
    ("adassp", "eigenvalue"): lambda r, f: replace(r, eigenvalue_std=f * r.eigenvalue_std),
    ("adassp", "moments"): lambda r, f: replace(r, explaining=scaled(r.explaining, f)),
    ("adassp", "target"): lambda r, f: replace(r, target_std=f * r.target_std),
    ("mvg", "moments"): lambda r, f: replace(r, moments=scaled(r.moments, f)),
    ("mvg", "noise"): lambda r, f: replace(r, limit=r.limit / f**2),
}


@pytest.mark.parametrize("factor", [1 - composition.SHORTFALL, 1 + composition.SHORTFALL])
@pytest.mark.parametrize(("name", "part"), PARTS)
def test_one_percent_less_or_more_noise_of_any_part_is_found(name, part, factor):
    release = RELEASES[name]
    other = PARTS[name, part](release, factor)
    assert executed(other, declared=release).other > 0


def test_a_stream_that_is_asked_for_other_draws_says_so():
    draws = [composition.Draw("normal", np.arange(3.0))]
    with pytest.raises(composition.Undeclared):
        composition.Script(draws).laplace(size=3)
    with pytest.raises(composition.Undeclared):
        composition.Script(draws).standard_normal(size=4)
    with pytest.raises(composition.Undeclared):
        composition.Script(draws).finish()
    script = composition.Script(draws)
    assert (script.standard_normal(out=np.empty((1, 3))) == np.arange(3.0)).all()
    script.finish()
    script.uniform()
    with pytest.raises(composition.Undeclared):
        script.finish()
