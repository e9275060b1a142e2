"""The commands as wholes: what they draw and score is what their files say.

A tiny run on stand-ins, with every release noted as it is drawn. All numbers are computed again
from the matrix on the disk, the configuration and the noted releases alone.
"""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.optimize import brentq
from scipy.stats import norm

from reproduction import cli, config, discovery, job_settings
from reproduction.auditing import negative_control
from reproduction.data import datasets, store
from reproduction.experiments import draws, grams
from reproduction.experiments.tasks.regression import Regression
from reproduction.trials import CONTROL

SHIPPED = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text())
TRIALS, TRAIN = 24, 200
FEATURES = ["drinks", "sgpt", "mcv", "alkphos"]
M, DELTA = len(FEATURES), 1 / TRAIN
#: sgpt, the target, gets the larger share of the precision along ``a``.
EXPERIMENT = {
    "task": "regression",
    "dataset": "liver",
    "features": FEATURES,
    "target": "sgpt",
    "train": TRAIN,
    "directions": {"a": ["sgpt"], "b": ["drinks", "mcv"], "iid": []},
}
#: l1 and l2 distance of two records in [-1, 1]^4, or of one and none.
DISTANCES = {"replace": (2 * M, 2 * np.sqrt(M)), "zero_out": (M, np.sqrt(M))}
GAUSSIANS = ["analytic_gaussian", "imgm", "directional_gaussian", "mvg_binary"]
MECHANISMS = ["nonprivate", "zero", *GAUSSIANS, "laplace", "knorm_frob", "jl_exact"]


def delta(epsilon, mu):
    """The delta of mu-Gaussian noise (Balle & Wang, 2018)."""
    return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def mu(epsilon):
    """The mu that just gives epsilon at 1 / n."""
    return brentq(lambda m: delta(epsilon, m) - DELTA, 1e-3, 100)


def call(*words):
    assert cli.main([str(word) for word in words]) == 0


class Run(NamedTuple):
    """The folder and the settings of a run."""

    folder: Path
    settings: dict


def run_trials(results, chosen, name, out):
    text = job_settings.dump_settings(job_settings.trials(chosen, "regression", name))
    data = results / "data" / "liver" / "matrix.npy"
    call("trials", name, "--settings", text, "--data", data, "--out", out / f"{name}.csv.gz")


@pytest.fixture(
    scope="module", params=["replace", pytest.param("zero_out", marks=pytest.mark.nightly)]
)
def ran(request, tmp_path_factory):
    """Return the adjacency, the folder of a run, its rows, and (release, value, drawn) of all.

    A release that is drawn for its Gram matrix alone has a triangle of the value in its place; the
    values themselves are those of the ``private`` list.
    """
    results = tmp_path_factory.mktemp("run") / "results"
    chosen = copy.deepcopy(SHIPPED) | {
        "experiment_defaults": {
            "trials": TRIALS, "trials_at_table_epsilon": 0, "epsilons": [0.5, 2],
        }, "table_epsilon": 2,
        "taus": [0.55, 0.9], "tau_untuned": 0.9, "sketch_multiples": [2, 4],
        "adjacency": request.param, "audit_runs": 2000,
        "experiments": {"regression": EXPERIMENT | {"mechanisms": MECHANISMS}},
    }  # fmt: skip
    chosen = config.resolve(chosen)
    store.prepare("liver", out=results / "data" / "liver", source="simulated", seed=3)
    drawn, private = [], []

    def noting(simulate_all):
        def noted(release, values, streams):
            for value, released in zip(values, simulate_all(release, values, streams), strict=True):
                if np.any(value):  # not of records of zeros
                    drawn.append((release, np.array(value), released.copy()))
                yield released

        return noted

    def triangle(query, value, of=grams.triangle):
        private.extend(np.array(value) if np.any(value) else ())
        return of(query, value)

    folder = results / "trials"
    with pytest.MonkeyPatch.context() as patch:
        for engine in (draws, grams):
            patch.setattr(engine, "simulate_all", noting(engine.simulate_all))
        patch.setattr(grams, "triangle", triangle)
        for name in MECHANISMS:
            run_trials(results, chosen, name, folder)
    frames = [pd.read_csv(folder / f"{name}.csv.gz", dtype={"epsilon": str}) for name in MECHANISMS]
    rows = pd.concat(frames)
    rows = rows[rows["phase"].ne(CONTROL)].reset_index(drop=True)
    assert rows["outcome"].isna().all()
    keys = ["configuration", "direction", "epsilon"]
    run = Run(results, chosen)
    return request.param, run, rows.fillna(dict.fromkeys(keys, "")), (drawn, private)


@pytest.fixture(scope="module")
def records(ran):
    """The kept features of all records, from the disk."""
    columns = datasets.entries()["liver"]["columns"]
    return np.load(ran[1].folder / "data" / "liver" / "matrix.npy")[
        [columns.index(f) for f in FEATURES]
    ]


def left_over(records, private):
    """The records that are not private, after checking that the private ones are of the data."""
    all_of_them = Counter(record.tobytes() for record in records.T)
    rest = all_of_them - Counter(record.tobytes() for record in private.T)
    assert rest.total() == records.shape[1] - TRAIN
    return np.stack([np.frombuffer(key) for key in rest.elements()], axis=1)


def error(gram, test, penalty):
    """The error of ridge regression of sgpt on the others, from their Gram matrix."""
    others = [0, 2, 3]
    weights = np.linalg.solve(gram[np.ix_(others, others)] + penalty * np.eye(3), gram[others, 1])
    return np.sqrt(np.mean((weights @ test[others] - test[1]) ** 2))


class Draw(NamedTuple):
    """A release of one trial: its private records, those left over, and its noise if it has one."""

    release: object
    private: np.ndarray
    test: np.ndarray
    released: np.ndarray
    noise: np.ndarray | None

    @property
    def error(self):
        penalty = 1 if self.noise is not None else max(1 - self.release.ridge, 0)
        return error(self.released @ self.released.T, self.test, penalty)


def noise_of(value, released):
    """The noise of a release, of records or of their triangle; None of a sketch."""
    if value.shape == (M, TRAIN):
        return released - value
    noise = released.copy()
    noise[:, :M] -= value
    return noise


@pytest.fixture(scope="module")
def matched(ran, records):
    """Each row with the draw that has its error."""
    _, _, rows, (drawn, private) = ran
    splits = {matrix.tobytes(): matrix for matrix in private}
    for _, value, _ in drawn:
        splits |= {matrix.tobytes(): matrix for matrix in value if matrix.shape == (M, TRAIN)}
    pairs = [(matrix, left_over(records, matrix)) for matrix in splits.values()]
    grams_of = np.stack([matrix @ matrix.T for matrix, _ in pairs])

    def split(value, sketch):
        gram = value * TRAIN if sketch else value @ value.T
        (own,) = np.flatnonzero(np.isclose(grams_of, gram, rtol=1e-9).all(axis=(1, 2)))
        return pairs[own]

    found = []
    for release, values, released in drawn:
        sketch = release.output_type == "sketch"
        for value, one in zip(values, released, strict=True):
            noise = None if sketch else noise_of(value, one)
            found.append(Draw(release, *split(value, sketch), one, noise))
    errors = np.array([draw.error for draw in found])
    result = []
    for _, row in rows[~rows["mechanism"].isin(["nonprivate", "zero"])].iterrows():
        near = np.flatnonzero(np.abs(errors / row["value"] - 1) < 1e-9)
        assert len(near) >= 1, f"no release has the error of {row.to_dict()}"
        result.append((row, found[near[0]]))
    assert len(rows[rows["mechanism"].eq("nonprivate")]) == TRIALS
    return result


def test_every_error_is_that_of_a_release_on_the_records_left_over(matched, ran, records):
    _, _, rows, _ = ran
    report = {row["trial"]: draw for row, draw in matched
              if row["phase"] == "report" and row["mechanism"] == "imgm"}  # fmt: skip
    for name, expected in (
        ("nonprivate", lambda draw: error(draw.private @ draw.private.T, draw.test, 1)),
        ("zero", lambda draw: np.sqrt(np.mean(draw.test[1] ** 2))),
    ):
        own = rows[rows["mechanism"].eq(name)].set_index("trial")["value"]
        for trial, draw in report.items():
            assert own[trial] == pytest.approx(expected(draw), rel=1e-9)


def test_trials_and_phases_split_the_records_anew_and_mechanisms_share_the_splits(matched):
    splits: dict[bytes, set] = {}
    for row, draw in matched:
        if draw.noise is not None:
            splits.setdefault(draw.private.tobytes(), set()).add((row["phase"], row["trial"]))
    assert all(len(trials) == 1 for trials in splits.values())
    assert len(splits) == 2 * TRIALS
    assert {row["phase"] for row, _ in matched} == {"report", "select"}


def test_rows_are_calibrated_to_the_private_records_and_the_neighbours_of_the_settings(ran):
    adjacency, _, rows, _ = ran
    l1, l2 = DISTANCES[adjacency]
    for (name, epsilon), part in rows.groupby(["mechanism", "epsilon"]):
        if not epsilon:
            continue
        claimed_epsilon = float(epsilon)
        pure = name in ("laplace", "knorm_frob")
        assert part["delta"].tolist() == pytest.approx([0.0 if pure else DELTA] * len(part))
        if name in ("analytic_gaussian", "imgm"):
            assert part["noise_std"].to_numpy() == pytest.approx(l2 / mu(claimed_epsilon), rel=1e-6)
        if name == "laplace":
            assert part["noise_std"].to_numpy() == pytest.approx(np.sqrt(2) * l1 / claimed_epsilon)
        if name in GAUSSIANS:
            actual, signal = part["epsilon_delivered"].to_numpy(), part["mu"].to_numpy()
            some = actual > 0
            assert delta(actual[some], signal[some]) == pytest.approx(DELTA, rel=1e-6)
            assert (delta(0.0, signal[~some]) <= DELTA).all()
        tight = name != "mvg_binary"
        assert (np.abs(part["epsilon_delivered"] / claimed_epsilon - 1) < 1e-6).all() == tight


def test_sketches_have_the_rows_of_their_variant(matched):
    sketches = [(row, draw) for row, draw in matched if draw.noise is None]
    sizes = {row["configuration"]: draw.release.sketch_size for row, draw in sketches}
    assert sizes == {"sketch_multiple=2": 2 * M, "sketch_multiple=4": 4 * M}
    # Trials draw what has their Gram matrix.
    assert {draw.released.shape for _, draw in sketches} == {(M, M)}


def test_the_noise_that_is_drawn_is_that_of_its_row(matched, ran):
    adjacency = ran[0]
    _, l2 = DISTANCES[adjacency]
    noise: dict[tuple, list] = {}
    for row, draw in matched:
        key = tuple(row[["mechanism", "configuration", "direction", "epsilon", "phase"]])
        if draw.noise is not None:
            noise.setdefault((*key, row["noise_std"]), []).append(draw.noise)
    assert {len(drawn) for drawn in noise.values()} == {TRIALS}
    for (name, configuration, direction, epsilon, _, declared), drawn in noise.items():
        # A rotation of the records leaves the sum of squares of a row's noise as it is.
        each = np.sqrt(np.square(drawn).sum(axis=(0, 2)) / (TRIALS * TRAIN))
        # 19,200 numbers: 1 % is two standard errors for normals.
        assert np.sqrt(np.mean(each**2)) == pytest.approx(declared, rel=0.04), name
        important = [FEATURES.index(f) for f in EXPERIMENT["directions"].get(direction, ())]
        others = [i for i in range(M) if i not in important]
        share = float(configuration.partition("=")[2] or 0) if important else 0.0
        if important:
            ratio = (1 - share) / len(others) / (share / len(important))
            # MVG shares out the sum of squared precisions.
            ratio = np.sqrt(ratio) if name == "mvg_binary" else ratio
            found = np.mean(each[important] ** 2) / np.mean(each[others] ** 2)
            assert found == pytest.approx(ratio, rel=0.1), (name, configuration, direction)
        if name != "mvg_binary" and name in GAUSSIANS:
            # mu of the noise as it is, for the worst record: all features at their bounds.
            size = np.full(M, l2 / np.sqrt(M))
            assert np.sqrt(np.sum((size / each) ** 2)) == pytest.approx(
                mu(float(epsilon)), rel=0.04
            )


def test_noise_is_drawn_anew_but_for_other_mechanisms_in_the_same_place(matched):
    """Mechanisms may share base draws: same epsilon, direction, configuration, phase and trial."""
    by_shape: dict[tuple, list] = {}
    for row, draw in matched:
        if draw.noise is not None:
            direction = row["direction"].replace("iid", "")
            place = (row["epsilon"], direction, row["configuration"], row["phase"], row["trial"])
            size = np.sqrt(np.mean(draw.noise**2, axis=1, keepdims=True))
            flat = (draw.noise / size).ravel()
            by_shape.setdefault(draw.noise.shape, []).append((place, row["mechanism"], flat))
    assert {*by_shape} == {(M, TRAIN), (M, 2 * M)}
    for shape, drawn in by_shape.items():
        # Seven standard errors of 800 numbers; of 32 numbers equal ones alone are seen.
        bound = 0.25 if shape == (M, TRAIN) else 0.999
        alike = np.corrcoef([flat for _, _, flat in drawn])
        for one, other in np.argwhere(np.triu(np.abs(alike) > bound, 1)):
            assert drawn[one][0] == drawn[other][0]
            assert drawn[one][1] != drawn[other][1]


@pytest.fixture(scope="module")
def audited(ran):
    _, (results, chosen), _, _ = ran
    data = ["--data", results / "data" / "liver" / "matrix.npy"]
    names = job_settings.rows(chosen, "regression")
    audits = {name: results / f"{name}.csv" for name in names if name in discovery.mechanisms()}
    for name, out in audits.items():
        part = job_settings.audit(chosen, "regression", name)
        call("audit", name, "--settings", job_settings.dump_settings(part), *data, "--out", out)
    places = [results / "audit.csv", results / "sensitivities.csv"]
    call("gather", "audit", *audits.values(), "--out", places[0])
    part = job_settings.attack(chosen, "regression")
    call("attack", "--settings", job_settings.dump_settings(part), *data, "--out", places[1])
    return [pd.read_csv(place) for place in places]


def test_the_audit_is_of_the_releases_that_trials_draw(ran, audited):
    adjacency, _, rows, _ = ran
    audit, _ = audited
    axes = ["mechanism", "configuration", "direction"]
    trials = rows[rows["epsilon"].eq("2")].drop_duplicates(axes).set_index(axes)
    assert len(audit) == len(trials)
    assert not audit["verdict"].str.startswith("refuted").any()
    assert 1000 < audit["runs"].max() <= 2000
    for row in audit.fillna(dict.fromkeys(axes, "")).to_dict("records"):
        own = trials.loc[tuple(row[axis] for axis in axes)]
        assert (row["adjacency"], row["records"], row["epsilon"]) == (adjacency, TRAIN, 2.0)
        assert row["delta"] == pytest.approx(own["delta"])
        assert row["noise_std"] == pytest.approx(own["noise_std"], rel=1e-9, nan_ok=True)
        if row["mechanism"] in ("analytic_gaussian", "imgm", "directional_gaussian"):
            assert row["mu"] == pytest.approx(mu(2.0), rel=1e-4)
            assert row["epsilon_attained"] == pytest.approx(2, rel=1e-3)


def test_the_attacked_sensitivities_are_those_of_the_settings(ran, audited):
    l1, l2 = DISTANCES[ran[0]]
    attacked = audited[1].set_index(["query", "measure"])
    assert set(attacked["records"]) == {TRAIN}
    assert set(attacked["adjacency"]) == {ran[0]}
    for measure, expected in (("l1", l1), ("l2", l2)):
        own = attacked.loc[("identity", measure)]
        assert [own["declared"], own["found"]] == pytest.approx([expected] * 2)


def test_no_split_serves_two_purposes(ran, monkeypatch):
    """The penalty is tuned on splits of its own, trials are chosen on others, and reported on."""
    splits: dict[str, list] = {"tuned": [], "instance": []}

    def noting(name):
        method = getattr(Regression, name)

        def noted(task, matrix, streams):
            drawn = [copy.deepcopy(stream).permutation(345) for stream in streams]
            splits[name].append({tuple(order) for order in drawn})
            return method(task, matrix, streams)

        monkeypatch.setattr(Regression, name, noted)

    for name in splits:
        noting(name)
    chosen = {**ran[1].settings, "reading": "ridge=chosen"}
    run_trials(ran[1].folder, chosen, "directional_gaussian", ran[1].folder / "chosen")
    (tuned,), (report, select) = splits["tuned"], splits["instance"]
    assert min(map(len, (tuned, report, select))) >= 20
    assert not tuned & report
    assert not tuned & select
    assert not report & select


def test_the_reading_and_the_seed_are_those_that_are_asked_for(ran, tmp_path):
    _, run, rows, _ = ran
    name = "analytic_gaussian"
    columns = ["reading", "epsilon", "noise_std", "value"]

    def again(**changes):
        run_trials(run.folder, {**run.settings, **changes}, name, tmp_path)
        rows = pd.read_csv(tmp_path / f"{name}.csv.gz", dtype={"epsilon": str})
        return rows.loc[rows["phase"].ne(CONTROL), columns].reset_index(drop=True)

    own = rows.loc[rows["mechanism"].eq(name), columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(again(), own)
    other = again(reading="zero_out")
    expected = DISTANCES["zero_out"][1] / other["epsilon"].astype(float).map(mu)
    np.testing.assert_allclose(other["noise_std"], expected, rtol=1e-6)
    seeded = again(seed=1)
    np.testing.assert_allclose(seeded["noise_std"], own["noise_std"], rtol=1e-9)
    assert not np.isin(seeded["value"], own["value"]).any()


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["prepare", "liver", "--source", "simulated", "--out"], "matrix.npy"),
        (["negative-control", "--out"], "negative_control.csv"),
    ],
)
def test_the_seed_of_stand_ins_and_wrong_mechanisms_is_the_one_that_is_given(
    words, file, tmp_path, monkeypatch
):
    names = "inverted Bingham ratio", "Wishart noise"
    quick = {name: negative_control.CASES[name] for name in names}
    monkeypatch.setattr(negative_control, "CASES", quick)

    def made(seed):
        call(*words, tmp_path if words[0] == "prepare" else tmp_path / file, "--seed", seed)
        return (tmp_path / file).read_bytes()

    assert made(1) == made(1)
    assert made(1) != made(2)
