"""Several answers of one release: one charge, one draw, and each answer a reading of it."""

import os

import harness
import numpy as np
import pytest
from harness import HALF, TOTAL, moments, stored
from packages import ROOT

import matrixdp as mdp
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.mechanisms.scaled import WeightedConstant
from matrixdp.release import choices, plans
from matrixdp.release.outputs.about_mean import balanced_weight
from matrixdp.release.outputs.covariance import Covariance
from matrixdp.release.outputs.moments import READINGS, TOGETHER

pytestmark = pytest.mark.usefixtures("few_draws")
ALL = {**TOTAL, "query": [*READINGS], "target": "age"}


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        ("laplace", {}),
        ("gaussian", {}),
        ("analyze_gauss", {}),
        ("clipped", {}),
        ("analyze_gauss", {"adjacency": "add_or_remove"}),
        ("clipped", {"adjacency": "add_or_remove"}),
        ("gaussian", {"mean_weight": 3.0}),
    ],
)
def test_a_list_is_charged_once_and_answers_are_read_from_one_draw(folder, capsys, mechanism, more):
    rows = np.random.default_rng(0).uniform(0, [120, 200_000], (4000, 2))
    rows[:, 0] = rows[:, 0] / 2 + rows[:, 1] / 3000
    harness.save(folder / "people.csv", rows)
    assert harness.run(folder, **{**ALL, "records": 4000, "mechanism": mechanism, **more}) == 0
    printed = capsys.readouterr()
    assert printed.out.count("account: ") == 1
    for lines in (printed.out.splitlines(), printed.err.splitlines()):
        assert len({*lines}) == len(lines)
    (charge,), (kept,) = harness.charges(folder), stored(folder)
    assert charge["query"] == "mean, covariance, components, regression"
    mean, covariance = moments(kept.release["draw"], "adjacency" in more)
    answers = {name: harness.read(folder, name) for name in READINGS}
    assert answers["mean"].numbers[0] == pytest.approx(mean * HALF + HALF)
    table = answers["covariance"].numbers
    assert table[:, 0] == pytest.approx(mean * HALF + HALF)
    assert table[:, 1:] == pytest.approx(covariance * np.outer(HALF, HALF))
    first = answers["components"].numbers[0, 2:]
    assert first @ covariance @ first == pytest.approx(np.linalg.eigvalsh(covariance)[-1])
    # The target of the regression is the first column.
    slope = covariance[0, 1] / covariance[1, 1] * 60 / 100_000
    assert answers["regression"].numbers[0, 0] == pytest.approx(slope, rel=1e-6)
    assert {answer.receipt["digest"] for answer in answers.values()} == {charge["receipt"]}
    assert all(TOGETHER in answer.page for answer in answers.values())
    assert answers["regression"].receipt["answer"] == {"query": "regression", "target": "age"}
    assert "a linear regression of age, of" in answers["regression"].page


def fail(*_):
    raise RuntimeError("it fails")


@pytest.mark.parametrize("fault", [fail, lambda *_: os._exit(9)], ids=["error", "kill"])
def test_a_list_that_fails_after_its_charge_is_answered(folder, capsys, monkeypatch, fault):
    answer = Covariance.answer
    with monkeypatch.context() as patch:
        # A trial comes before the charge.
        charged = lambda: bool(harness.charges(folder))  # noqa: E731
        act = lambda *given: (fault() if charged() else None) or answer(*given)  # noqa: E731
        patch.setattr(Covariance, "answer", act)
        process = os.fork()
        if not process:
            os._exit(harness.run(folder, **ALL))
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) in (2, 9)
    (kept,) = stored(folder)
    assert not kept.readings
    assert harness.run(folder, **ALL) == 0
    assert "not charged" in capsys.readouterr().err
    assert len(harness.charges(folder)) == 1
    mean, _ = moments(kept.release["draw"])
    assert harness.read(folder).numbers[0] == pytest.approx(mean * HALF + HALF)


def test_python_gives_one_answer_each_at_one_charge(tmp_path):
    rows = np.random.default_rng(0).uniform(0, [120, 200_000], (4000, 2))
    account = mdp.Account(tmp_path / "a.json", epsilon=9, delta=1e-5)
    keys = {"bounds": {"0": (0, 120), "1": (0, 200_000)}, "epsilon": 2, "delta": 1e-6}
    keys |= {"missing": "refuse", "mechanism": "gaussian"}
    made = mdp.make_release(
        rows, query=["covariance", "mean", "regression"], target=0, account=account, **keys
    )
    assert [*made] == ["covariance", "mean", "regression"]
    assert [answer.query for answer in made.values()] == [*made]
    (charge,) = account.releases
    alone = mdp.make_release(rows, query="covariance", **keys).receipt
    # It is charged as one of its answers is, which has all of the budget, too.
    assert charge["mu"] == pytest.approx(alone["mu"], rel=1e-3)
    assert np.ravel([row[1] for row in made["covariance"].rows]) == pytest.approx(
        made["mean"].rows[0]
    )
    assert set(made["mean"].receipt["interval_95_plus_or_minus"]) == {"0", "1"}
    # Records in memory have no name: each call is a release of its own.
    mdp.make_release(rows, query=["covariance", "mean"], account=account, **keys)
    assert len(account.releases) == 2


def test_sums_of_parts_serve_a_list(tmp_path):
    rows = np.random.default_rng(0).uniform(0, 1, (400, 2))
    account = tmp_path / "a.privacy.json"
    keys = {"bounds": {0: (0, 1), 1: (0, 1)}, "records": 400, "missing": "refuse"}
    keys |= {"account": account, "target": 0}
    merged = sum(mdp.sums(["mean", "regression"], part, **keys) for part in np.split(rows, 4))
    total = {"epsilon": 10, "delta": 1e-5}
    made = mdp.make_release(merged, epsilon=10, delta=1e-6, total=total)
    assert made["mean"].rows[0] == pytest.approx(rows.mean(axis=0), abs=0.02)
    assert len(mdp.Account(account).releases) == 1


#: Relation, mechanism, and what the docstring of the weight says of both factors.
FACTORS = [
    ("replace", mdp.AnalyzeGauss, 5 / 4),
    ("replace", mdp.Laplace, 13 / 8),
    ("add_or_remove", mdp.AnalyzeGauss, 1.6),
    ("add_or_remove", mdp.Laplace, 5 / 2),
]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 20])
@pytest.mark.parametrize(("adjacency", "kind", "most"), FACTORS)
def test_the_weight_costs_a_mean_and_moments_one_factor_the_least(columns, adjacency, kind, most):
    budget, laplace = {"epsilon": 1.0, "delta": 1e-6}, kind is mdp.Laplace
    query = mdp.SecondMomentQuery(mdp.Box.cube(columns + 1, -1.0, 1.0), 100, adjacency)
    constant = adjacency == "add_or_remove"
    alone = mdp.MeanQuery(mdp.Box.cube(columns + constant, -1.0, 1.0), 100, adjacency)
    mean_alone = (mdp.Laplace() if laplace else mdp.Gaussian()).calibrate(alone, **budget)
    moments_alone = kind().calibrate(query, **budget)

    def factors(weight):
        size = WeightedConstant(kind(), weight).calibrate(query, **budget).noise.size
        of_mean = size[0, CONSTANT] if columns > 1 else size[1, 0]
        # The constant stands before the last column.
        return of_mean / mean_alone.noise.size[0, 0], size[-1, -1] / moments_alone.noise.size[
            -1, -1
        ]

    weight = balanced_weight(query, laplace=laplace)
    mean, rest = factors(weight)
    # Of few columns a larger one gives a mean no less noise.
    assert mean == pytest.approx(rest, rel=0.02) or (mean > rest and columns < 4)
    assert max(mean, rest) < most
    # One more of either would cost the other more.
    assert max(factors(1.2 * weight)) > max(mean, rest)
    assert max(factors(weight / 1.2)) > max(mean, rest)
    if adjacency == "replace" and not laplace:
        assert weight == pytest.approx((columns + 1) / (2 * np.sqrt(columns)), rel=0.1)


def test_recommend_says_what_a_list_costs_each_answer(folder, capsys):
    assert harness.run(folder, verb="recommend", **ALL) == 0
    text = capsys.readouterr().out
    for name in READINGS:
        assert f"{name}: 1." in text
        assert text.count(f"{name}: noise ") + text.count(f"{name}: R^2") >= 1
    # A list without the mean has the noise of each of its answers.
    keys = {**TOTAL, "query": ["covariance", "components"]}
    assert harness.run(folder, verb="recommend", **keys) == 0
    assert capsys.readouterr().out.count(": 1.00 times the noise of a release for it alone") == 2


def test_the_typical_loss_of_a_list_is_the_geometric_mean_over_its_answers():
    keys = {"bounds": (0, 1), "epsilon": 1, "delta": 1e-6, "missing": "refuse", "target": 2}
    listed = mdp.recommend(np.zeros((2000, 3)), query=[*READINGS], **keys)
    assert {option.key for option in listed} == {"clipped", "laplace", "gaussian", "analyze_gauss"}
    for option in listed:
        parts = [one.typical_loss for one in option.readings]
        assert option.readings
        if option.typical_loss is not None:
            mean = np.exp(np.mean(np.log(np.maximum(parts, 0.02))))
            assert option.typical_loss == pytest.approx(mean, rel=0.02)


@pytest.mark.parametrize("columns", [2, 101])
def test_noise_that_hides_one_answer_makes_a_list_useless(folder, columns):
    """Of two columns losses are simulated, and of 101 they are not."""
    keys = {"query": ["mean", "covariance"], "mechanism": "analyze_gauss", "epsilon": 1.0}
    keys["bounds"] = {str(k): [0, 1] for k in range(columns)}

    def listed(weight, records):
        spec = harness.spec(folder, mean_weight=weight, records=records, **keys)
        (option,) = choices.possible(spec, choices.alone(spec))
        assert bool(option.losses) == (columns == 2)
        return option, spec

    # Noise is in proportion to 1 / records, and that of a mean to 1 / weight, too.
    records = round(400_000 * listed(1, 400_000)[0].readings[0].error / 0.12)
    option, spec = listed(0.1, records)
    assert [one.useless for one in option.readings] == [True, False]
    assert option.useless
    # The noise of all moments together is not too large.
    assert option.error < 0.5 or columns == 2
    with pytest.raises(mdp.InputError, match="leave mean_weight out"):
        plans.plan(spec)
    # The control, and a remedy.
    assert not listed(0.8, records)[0].useless
    assert not listed(None, records)[0].useless


def test_estimators_are_read_of_one_fit(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    frame = pytest.importorskip("pandas").DataFrame(
        np.random.default_rng(0).uniform(0, 1, (4000, 3)), columns=["a", "b", "c"]
    )
    frame["b"] = (frame["a"] + frame["c"]) / 2
    account = mdp.Account(tmp_path / "a.json", epsilon=9, delta=1e-5)
    keys = {"epsilon": 2, "delta": 1e-6, "mechanism": "gaussian"}
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
    fitted = mdp.PrivateMoments(bounds=(0, 1), account=account, **keys).fit(frame)
    covariance, pca = fitted.covariance(), fitted.pca(2)
    ridge = fitted.ridge("b", alpha=1.0)
    assert len(account.releases) == 1
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
    made = mdp.make_release(
        frame,
        query=[*READINGS],
        target="b",
        alpha=1.0,
        bounds=(0, 1),
        number=2,
        missing="refuse",
        **keys,
    )
    # Their noise is the same but for the part of delta that an account sets aside.
    assert fitted.mean_ == pytest.approx(made["mean"].rows[0], rel=1e-3)
    table = np.array([row[1:] for row in made["covariance"].rows], dtype=float)
    assert covariance.location_ == pytest.approx(table[:, 0], rel=1e-3)
    assert covariance.covariance_ == pytest.approx(table[:, 1:], abs=1e-4)
    assert pca.components_ == pytest.approx(np.array(made["components"].rows)[:, 2:], abs=1e-2)
    line = [*ridge.coef_, ridge.intercept_]
    assert line == pytest.approx(made["regression"].rows[0], abs=1e-2)
    assert ridge.feature_names_in_.tolist() == ["a", "c"]
    assert ridge.predict(frame[["a", "c"]]) == pytest.approx(frame["b"], abs=0.2)
    assert all(TOGETHER in one.notes_ for one in (covariance, pca, ridge))
    for target in ("d", 1):
        with pytest.raises(mdp.InputError, match="[iI]t must be one of a, b, c"):
            fitted.ridge(target)
    with pytest.raises(mdp.InputError, match="n_components is 4; it must be from 1 to 3"):
        fitted.pca(4)
    with pytest.raises(
        mdp.InputError, match="mean: .* do not release this; .*mean_weight"
    ) as error:
        mdp.PrivateMoments(bounds=(0, 1), mean_weight=1e-9, **keys).fit(frame)
    # An estimator has no such argument.
    assert "query" not in str(error.value)


def test_an_estimator_that_was_read_is_fitted_again_for_a_charge_alone():
    pytest.importorskip("sklearn")
    rows = np.random.default_rng(0).uniform(0, 1, (400, 3))
    fitted = mdp.PrivateMoments(bounds=(0, 1), mechanism="gaussian").fit(rows)
    for one, data in (
        (fitted.covariance(), (rows,)),
        (fitted.pca(), (rows,)),
        (fitted.ridge(2), (rows[:, :2], rows[:, 2])),
    ):
        with pytest.raises(mdp.InputError, match="may be fitted once"):
            one.fit(*data)


def test_the_instructions_state_the_weight_and_its_factor():
    lines = (ROOT / "src/matrixdp/own_matrix.md").read_text(encoding="utf-8").splitlines()
    for laplace, kind in ((False, "Gaussian"), (True, "Laplace")):
        (line,) = [one for one in lines if one.startswith(f"| {kind} noise: w, factor |")]
        cells = line.split("|")[2:5]
        for columns, cell in zip((2, 5, 20), cells, strict=True):
            query = mdp.SecondMomentQuery(mdp.Box.cube(columns + 1, -1.0, 1.0), 100)
            weight, m = balanced_weight(query, laplace=laplace), columns
            size = [m + w**2 for w in (weight, 1)]
            if laplace:
                size = [m * (m + 1) / 2 + w * m + w**2 for w in (weight, 1)]
            stated = [float(number) for number in cell.split(",")]
            assert stated == pytest.approx([weight, size[0] / size[1]], abs=0.03)
