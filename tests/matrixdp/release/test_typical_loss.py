"""The mechanism of the least typical loss: simulated as it releases, compared at several fills."""

import re

import harness
import numpy as np
import pytest
from harness import charges, read, run

import matrixdp as mdp
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.release import outlooks, receipt
from matrixdp.release.outputs import OUTPUTS
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.uncertainty import MomentNoise

COMPARED = ["second_moments", "covariance", "components", "regression"]


def fit(query, features=4, count=500, side=100.0, **given):
    box = mdp.Box((0.0,) * features, (side,) * features)
    return harness.fit(query, box, count, **{"epsilon": 1.0, "delta": 1e-6, **given})


def drawn(spec, option, rows):
    """Return the answer of a real release of rows."""
    output = spec.by(option.key)
    private = option.release.release(output.scaled(rows))
    if isinstance(option.release, ComposedMoments):
        return output.answer(Noisy.of_parts(output, option.release, private))
    return output.answer(output.noisy(MomentNoise(option.release), private))


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "clipped"])
@pytest.mark.parametrize("query", ["regression", "covariance", "components"])
def test_the_simulated_loss_is_that_of_real_releases_of_such_records(query, mechanism):
    # Each simulated record stands for ten.
    spec = fit(query, count=5000, epsilon=0.3, mechanism=mechanism)
    (option,) = harness.options(spec)
    uniform = np.tile(outlooks._columns(4, query == "regression"), (10, 1))
    for fill, loss in zip(outlooks.FILLS[:3], option.losses, strict=False):
        rows = 50 + 50 * (fill * uniform - (1 - fill) / 2)
        exact, lost = np.cov(rows.T, bias=True), []
        for _ in range(30):
            answer = drawn(spec, option, rows)
            if query == "regression":
                wrong = rows[:, -1] - rows[:, :-1] @ answer[0, :-1] - answer[0, -1]
                lost.append(np.mean(wrong**2) / rows[:, -1].var() - (1 - outlooks.EXPLAINED))
            elif query == "covariance":
                lost.append(np.linalg.norm(answer[:, 1:] - exact) / np.linalg.norm(exact))
            else:
                first = answer[0, len(OUTPUTS[query].headers) :]
                lost.append(1 - first @ exact @ first / np.linalg.eigvalsh(exact)[-1])
        spread = 1.5 * np.std(lost) / np.sqrt(len(lost))
        assert np.median(lost) == pytest.approx(loss, abs=0.02 + 4 * spread)


def contradictions(text):
    """Return what a printed table says of typical losses and order that its losses do not."""
    rows = re.findall(r"^(\w+) +((?:\d+\.\d\d +){4})(\d+\.\d{3})$", text, re.M)
    losses = np.maximum([[*map(float, numbers.split())] for _, numbers, _ in rows], 0.02)
    typical = np.array([float(number) for *_, number in rows])
    close = typical <= 1.1 * typical.min()
    names = [name for name, *_ in rows][: close.sum()]
    held = {
        "typical": np.exp(np.log(losses).mean(axis=1)) == pytest.approx(typical, abs=6e-4),
        "first": close[: close.sum()].all(),
        "order": (np.diff(typical[~close]) >= 0).all(),
        "additive noise first": "clipped" not in names[:-1],
    }
    return [name for name, holds in held.items() if not holds]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("query", COMPARED)
def test_what_is_printed_decides_and_all_are_compared(query, epsilon):
    spec = fit(query, 5, 442, epsilon=epsilon)
    listed = harness.options(spec)
    assert {option.key for option in listed} == {"laplace", "gaussian", "analyze_gauss", "clipped"}
    text = "\n".join(receipt.comparison(spec, listed))
    assert not contradictions(text)
    assert all(f"; typical loss {option.typical_loss:.3f}; " in str(option) for option in listed)
    header, *rows, rule = text.splitlines()[1:]
    assert header.split() == ["100%", "50%", "25%", "10%", "typical"]
    assert "at most 1.1 times as large the first with additive noise" in rule
    assert "0.02 is the least that counts" in rule
    # A table whose first is not the least, or whose losses are others, is noticed.
    assert contradictions("\n".join([rows[-1], *rows[:-1]]))
    wrong = re.sub(r" \d", " 9", rows[0], count=1)
    assert "typical" in contradictions("\n".join([wrong, *rows[1:]]))


def test_a_cap_on_losses_does_not_decide():
    """Errors of 1 and of 20 were alike to a rule that counted all above 0.3 as 1."""
    listed = harness.options(fit("covariance", 5, 442))
    losses = {option.key: np.array(option.losses) for option in listed}
    assert listed[0].key == "clipped"
    assert losses["analyze_gauss"].max() > 10 * losses["clipped"].max()
    capped = {key: np.where(loss > 0.3, 1.0, loss) for key, loss in losses.items()}
    least = np.min([*capped.values()], axis=0)
    excess = {key: (loss - least).max() for key, loss in capped.items()}
    assert excess["analyze_gauss"] <= excess["clipped"]


@pytest.mark.parametrize(
    ("query", "features", "more", "compared"),
    [
        ("covariance", 4, {}, True),
        ("covariance", 4, {"max_norm": 10.0}, False),
        ("components", 101, {}, False),
        ("mean", 4, {}, False),
        ("records", 4, {}, False),
    ],
)
def test_what_is_not_compared_has_the_least_noise_first(query, features, more, compared):
    listed = harness.options(fit(query, features, 50_000, **more))
    assert [bool(option.losses) for option in listed] == [compared] * len(listed)
    errors = [option.error for option in listed]
    assert (errors == sorted(errors)) != compared


def test_where_noise_hides_every_answer_the_least_noise_is_first():
    """Losses of answers without any information differ by chance."""
    listed = harness.options(
        fit("components", 3, 400, epsilon=0.02, adjacency="add_or_remove"),
    )
    assert all(option.losses and option.useless for option in listed)
    errors = [option.error for option in listed if option.key != "clipped"]
    assert errors == sorted(errors)
    assert listed[-1].key == "clipped"


@pytest.mark.parametrize("count", [4406, 20_000])
def test_a_covariance_several_times_too_small_is_not_the_first_choice_of_many_records(count):
    spec = harness.fit("covariance", mdp.Box.cube(4, -1.0, 1.0), count, epsilon=1, delta=1e-6)
    assert harness.options(spec)[0].losses[0] < 0.1


def test_the_choice_does_not_depend_on_units_and_is_the_same_each_time():
    for query in COMPARED:
        first, again, other = (
            [(one.name, one.losses) for one in harness.options(fit(query, side=side))]
            for side in (1.0, 1.0, 1e5)
        )
        assert first == again
        assert [name for name, _ in first] == [name for name, _ in other]


def test_recommend_shows_all_mechanisms_and_release_takes_the_first(folder, capsys):
    keys = {"query": "regression", "target": "income"}
    assert run(folder, verb="recommend", **keys) == 0
    out = capsys.readouterr().out
    rows = re.findall(r"^(\w+) +(?:\d+\.\d\d +){4}(\d+\.\d{3})$", out, re.M)
    assert {key for key, _ in rows} == {"laplace", "gaussian", "analyze_gauss", "clipped"}
    assert not contradictions(out)
    assert out.startswith(rows[0][0])
    assert run(folder, **keys) == 0
    (charge,) = charges(folder)
    assert ("parts" in charge) == (rows[0][0] == "clipped")
    # The request is the one that was stated: its answer is found again.
    assert run(folder, "again", **keys) == 0
    assert charges(folder) == [charge]
    assert read(folder, "regression", "again").rows == read(folder, "regression").rows


def test_an_estimator_takes_the_least_typical_loss_and_refuses_what_is_useless():
    records = np.random.default_rng(0).normal(20, 3, (500, 5)).clip(0, 100)
    ridge = mdp.PrivateRidge(epsilon=1.0, bounds=(0, 100), target_bounds=(0, 100))
    ridge.fit(records[:, :4], records[:, 4])
    assert isinstance(ridge.mechanism_, ComposedMoments)
    weak = mdp.PrivatePCA(1, epsilon=0.01, bounds=(0, 100))
    with pytest.raises(mdp.InputError, match="hides everything.* even_if_useless=True"):
        weak.fit(records)
    assert weak.set_params(even_if_useless=True).fit(records).components_.shape == (1, 5)
