"""An interval covers the answer of the records within their bounds, or it is called otherwise."""

import harness
import numpy as np
import pytest

from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.release import choices, uncertainty
from matrixdp.release.outputs import noisy as noisy_module
from matrixdp.release.outputs.output import WHOLE

RELEASES = 200
#: Three standard errors of a share of .95 among the releases.
ERROR = 3 * np.sqrt(0.95 * 0.05 / RELEASES)
KEYS = {
    "mechanism": "clipped",
    "total": {"epsilon": 100, "delta": 1e-5},
    "bounds": {"a": [0, 4], "b": [-1, 1], "c": [100, 900]},
}


def rows(shape, count):
    """Return records in half ranges: skewed, close together, or in the corners."""
    stream = np.random.default_rng(5)
    if shape == "skewed":
        return np.clip(-1 + 0.2 * stream.exponential(1, (count, 3)), -1, 1)
    if shape == "narrow":
        return 0.3 + 0.05 * stream.standard_normal((count, 3))
    return stream.choice([-1.0, 1.0], (count, 3))


def truth(spec, X):
    """Return the exact answer, without any noise or private radius, under the names of files."""
    if spec.name == "components":
        return {"eigenvalue": np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]}
    units = np.outer(spec.half, spec.half)
    if spec.name == "second_moments":
        X = X + spec.box.middle / (spec.box.widths / 2)
        X = X * spec.box.widths / 2 / spec.half
        return X.T @ X / len(X) * units
    mean = X.mean(axis=0) * spec.half + spec.middle
    return {"mean": mean, "covariance": np.cov(X.T, bias=True) * units}


def inside(spec, outcome, content, key, X):
    """Return whether all numbers under a key hold the exact answer."""
    exact = truth(spec, X)
    if spec.name == "second_moments":
        widths = [[*row.values()] for row in content[f"{key}_plus_or_minus"].values()]
        answer = outcome.moments * np.outer(spec.half, spec.half)
        return (np.abs(answer - exact) <= widths).all()
    result = []
    for name, part in content[key].items():
        columns = [*part.values()] if isinstance(part, dict) else part
        limits = np.array([[*x.values()] if isinstance(x, dict) else x for x in columns])
        result.append((limits[..., 0] <= exact[name]) & (exact[name] <= limits[..., 1]))
    return all(part.all() for part in result)


@pytest.mark.parametrize("query", ["second_moments", "covariance", "components"])
@pytest.mark.parametrize(("shape", "epsilon"), [("skewed", 3), ("narrow", 3), ("corners", 12)])
def test_an_interval_covers_the_answer_without_the_private_radius(
    tmp_path, monkeypatch, query, shape, epsilon
):
    count = 2000 if shape == "corners" else 400
    spec = harness.spec(tmp_path, query=query, epsilon=epsilon, records=count, **KEYS)
    release = choices.by_noise(spec)[0].release
    assert isinstance(release, ComposedMoments)
    noise, ready = uncertainty.MomentNoise, {}
    monkeypatch.setattr(
        noisy_module,
        "MomentNoise",
        lambda part, std: ready.setdefault(part.query.domain.radius, noise(part, std)),
    )
    X, stream = rows(shape, count), np.random.default_rng(1)
    scaled = (
        X if query != "second_moments" else spec.scaled(X * spec.box.widths / 2 + spec.box.middle)
    )

    def answer(part, value):
        return value + part.noise.sample(stream, 1)[0]

    covered, alone, shares = [], [], []
    for _ in range(RELEASES):
        outcome = release.run(lambda: [scaled], answer)
        noisy = noisy_module.Noisy.of_parts(spec, release, outcome)
        content = spec.described(noisy)
        # The corner of the bounds that is farthest from the centre.
        far = np.linalg.norm(np.abs(outcome.centre) + 1)
        if query == "second_moments":
            far = release.radii[0].query.domain.radius
        whole = outcome.radius >= far * (1 - 1e-12)
        names = {name.removesuffix("_plus_or_minus") for name in content}
        assert ("noise_alone_95" in names) == (not whole)
        # The mean is released before any radius.
        assert ("interval_95" in names) == (whole or query == "covariance")
        if "interval_95" in names:
            covered.append(inside(spec, outcome, content, "interval_95", X))
        if whole:
            assert content["clipping"] == WHOLE
            continue
        assert "does not bound" in content["clipping"]
        alone.append(inside(spec, outcome, content, "noise_alone_95", X))
        lengths = np.linalg.norm(scaled - outcome.centre, axis=1)
        off = outcome.beyond - np.mean(lengths > outcome.radius)
        shares.append(off / outcome.beyond_std)
        assert 0 <= content["noisy_share_of_records_beyond_the_radius"] <= 1
    if covered:
        assert np.mean(covered) >= 0.95 - ERROR
    if shape == "corners":
        assert not alone
    else:
        # Why they are not called intervals.
        assert np.mean(alone) < 0.5 or shape == "narrow"
        assert np.std(shares) == pytest.approx(1, abs=0.2)
        assert np.mean(shares) == pytest.approx(0, abs=0.25)
