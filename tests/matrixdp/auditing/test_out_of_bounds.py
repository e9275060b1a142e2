"""Functions that do not clip: their claim holds only if the caller does, and a line says so.

A row is a function of records in bounds whose claim of epsilon 1 is right there, with what a line
of its own says of records beyond the bounds, and of missing and infinite values.
"""

from dataclasses import fields

import numpy as np
import pytest
from nights import nightly_but

import matrixdp as mdp
from matrixdp.testing import assert_not_refuted

N = 40
MEAN = mdp.MeanQuery(mdp.Box((0.0, 0.0), (1.0, 1.0)), N)
OFF_ZERO = mdp.MeanQuery(mdp.Box((2.0, 3.0), (3.0, 4.0)), N)
COUNTED = mdp.MeanQuery(MEAN.domain, N, "add_or_remove", per_person=2)
MOMENTS = mdp.SecondMomentQuery(mdp.Ball(1.0, 2), N)
OWN = np.random.default_rng(1)
RUNS = 500


def noisy(query, clean, digits=None):
    """Return a function of records that are made clean, with Laplace noise that is right."""

    def release(x, rng):
        value = query.value(clean(x).T)
        noisy = value + rng.laplace(0, query.l1_sensitivity, value.shape)
        return noisy if digits is None else np.round(noisy, digits)

    return release


def hidden(query, clean):
    """Return a function of the records alone."""
    release = noisy(query, clean)
    return lambda x: release(x, OWN)


def same(x):
    return x


def clipped(x):
    return np.clip(x, 0, 1)


def within(x):
    return np.clip(np.where(np.isfinite(x), x, 0.5), 0, 1)


def of_length_one(x):
    # A product by another way than the library's, with other last bits.
    return x / np.maximum(1, np.sqrt(np.einsum("ij,ij->i", x, x)))[:, None]


def one_column(x):
    return np.column_stack([np.clip(x[:, 0], 0, 1), x[:, 1]])


def all_but_the_last(x):
    return np.concatenate([np.clip(x[:-1], 0, 1), x[-1:]])


def near_ones(x):
    """Take what is a little beyond as it is, and clip the rest."""
    return np.where(np.abs(x - 0.5) < 2, x, np.clip(x, 0, 1))


def refused(x):
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError("out of bounds")
    return x


def dropped(x):
    # A sum over n, to which a record out of bounds adds nothing.
    return np.where(((x >= 0) & (x <= 1)).all(axis=1, keepdims=True), x, 0.0)


def a_copy(x, rng):
    """Clip a copy and sum the records, as in smartnoise-sdk, issue 622."""
    np.clip(x, 0, 1).mean(axis=0)
    return x.mean(axis=0) + rng.laplace(0, MEAN.l1_sensitivity, 2)


def not_replayed(x, rng):
    return noisy(MEAN, clipped)(x, OWN)


CLIPS, REPLACES = "its caller clips: ", "its caller replaces what is no finite number: "
BOTH = (CLIPS, REPLACES)
#: Name: function, query, the starts of lines, and what is not seen of records out of bounds.
ROWS = {
    "nothing": (noisy(MEAN, same), MEAN, BOTH, ""),
    "a copy": (a_copy, MEAN, BOTH, ""),
    "one column": (noisy(MEAN, one_column), MEAN, BOTH, ""),
    "all but the last": (noisy(MEAN, all_but_the_last), MEAN, BOTH, ""),
    "one side": (noisy(MEAN, lambda x: np.minimum(x, 1)), MEAN, BOTH, ""),
    "to wider bounds": (noisy(MEAN, lambda x: np.clip(x, -0.5, 1.5)), MEAN, BOTH, ""),
    "far ones alone": (noisy(MEAN, near_ones), MEAN, BOTH, ""),
    "to bounds of another column": (noisy(OFF_ZERO, clipped), MEAN, (REPLACES,), ""),
    "nothing, digits": (noisy(MEAN, same, 3), MEAN, BOTH, ""),
    "nothing, hidden": (hidden(MEAN, same), MEAN, BOTH, ""),
    "nothing, people": (noisy(COUNTED, same), COUNTED, BOTH, ""),
    "nothing, far from zero": (noisy(OFF_ZERO, same), OFF_ZERO, BOTH, ""),
    "squares": (noisy(MOMENTS, lambda x: 1.0 * x), MOMENTS, (REPLACES,), ""),
    "an error": (noisy(MEAN, refused), MEAN, BOTH, ""),
    # Honest ones.
    "clipped": (noisy(MEAN, clipped), MEAN, (REPLACES,), ""),
    "clipped, digits": (noisy(MEAN, clipped, 3), MEAN, (REPLACES,), ""),
    "clipped, people": (noisy(COUNTED, clipped), COUNTED, (REPLACES,), ""),
    "clipped, no number": (noisy(MEAN, within), MEAN, (), ""),
    "clipped, norms": (noisy(MOMENTS, of_length_one), MOMENTS, (REPLACES,), ""),
    "clipped, hidden": (hidden(MEAN, within), MEAN, (), "of which runs alone tell"),
    "clipped, not replayed": (not_replayed, MEAN, (REPLACES,), "of which runs alone tell"),
    "dropped": (noisy(MEAN, dropped), MEAN, (), "which it does not clip"),
}


#: Rows of every day; the others take long.
EVERY_DAY = (
    "a copy",
    "all but the last",
    "nothing, hidden",
    "an error",
    "clipped",
    "clipped, no number",
    "clipped, norms",
    "clipped, hidden",
    "dropped",
)


@pytest.mark.parametrize(("function", "query", "starts", "unseen"), nightly_but(EVERY_DAY, ROWS))
def test_a_line_says_whether_the_caller_must_clip(function, query, starts, unseen):
    result = mdp.audit(function, query, epsilon=1.0, runs=RUNS)
    assert result.status == "not refuted", str(result)
    lines = str(result).splitlines()
    assert len(lines) == 3 + len(starts)
    for condition, line, start in zip(result.conditions, lines[2:], starts, strict=False):
        assert line == f"only if {condition}"
        assert condition.startswith(start)
    assert ("records out of bounds" in lines[-1]) == bool(unseen)
    assert unseen in lines[-1]


def test_assert_not_refuted_fails_where_the_caller_must_clip():
    # Replays decide, which need no runs.
    claim = {"epsilon": 1.0, "runs": 100}
    with pytest.raises(AssertionError, match="only for records in bounds; clip in the func"):
        assert_not_refuted(a_copy, MEAN, **claim)
    assert_not_refuted(a_copy, MEAN, **claim, caller_clips=True)
    assert_not_refuted(noisy(MEAN, clipped), MEAN, **claim)


@pytest.mark.nightly
def test_a_class_that_does_not_clip_is_told_so():
    class Unclipped(mdp.AdditiveMechanism):
        def release(self, records):
            value = np.mean(records, axis=0)[:, None]
            return value + OWN.laplace(0, MEAN.l1_sensitivity, (2, 1))

    calibrated = mdp.Laplace().calibrate(MEAN, epsilon=1.0, delta=0.0)
    for kind, unclipped in ((Unclipped, True), (type(calibrated), False)):
        release = kind(**{one.name: getattr(calibrated, one.name) for one in fields(calibrated)})
        result = mdp.audit(release, MEAN, epsilon=1.0, runs=RUNS)
        assert bool(result.beyond) == unclipped, str(result)


def test_what_is_refuted_in_bounds_needs_no_condition():
    result = mdp.audit(noisy(MEAN, lambda x: 2 * x), MEAN, epsilon=1.0, runs=RUNS)
    assert result.status == "refuted"
    assert not result.conditions
    assert "records out of bounds" in result.limitations
